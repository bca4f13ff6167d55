"""How soon the queue goes on after SIGKILL: what bench/recovery.py measures, with generous limits."""

import sys

from support.case import DaemonCase
from support.programs import ROOT

sys.path.append(str(ROOT / "bench"))

import recovery

PATIENCE = 3  # times the limit: other things run beside a test


class RecoveryTest(DaemonCase):
    def test_the_next_row_begins_soon_after_the_kill_of_the_main_pid(self):
        taken = recovery.next_dispatch(self.folder / "main")
        self.assertLess(taken, PATIENCE * recovery.NEXT_DISPATCH_LIMIT)

    def test_slots_of_runs_proved_dead_are_free_soon_after_the_kill_of_everything(self):  # R01
        ended, begun = recovery.slots_free(self.folder / "group")
        self.assertLess(ended, PATIENCE * recovery.SLOTS_LIMIT)
        self.assertLess(begun, PATIENCE * recovery.SLOTS_LIMIT)
