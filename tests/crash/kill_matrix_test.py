"""Some of ./dev crash: every process killed after every named step, at system calls and at random."""

import os
import random

from crash.matrix import Matrix
from support import injection
from support.case import DaemonCase

KILLS = 40


class KillMatrixTest(DaemonCase):
    time_limit = 400.0

    def test_forty_kills_of_every_process_lose_nothing_repeat_nothing_and_keep_the_caps(self):
        # R08, R24, R29 among the steps
        seed = int(os.environ.get("CRASH_SEED", random.SystemRandom().randrange(10**6)))
        matrix = Matrix(self.folder, KILLS, seed)
        rounds = matrix.run()
        print(matrix.table())
        wrong = [f"{one.label}: {finding}" for one in rounds for finding in one.findings]
        self.assertEqual(wrong, [], f"replay with ./dev crash --kills {KILLS} --seed {seed}")
        self.assertEqual(sum(one.how != "stop" for one in rounds), KILLS)

    def test_this_machine_lets_the_suite_kill_at_an_exact_system_call(self):
        if why := injection.why_not():
            self.skipTest(f"{why}: no kill at a named commit was made")
