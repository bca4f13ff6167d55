#!/usr/bin/env python3
"""How soon the queue goes on after SIGKILL, measured from the kill and with the restart in it.

Usage: bench/recovery.py [--rounds N]
"""

import argparse
import pathlib
import signal
import statistics
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests"))

from crash.rig import FOREVER, Rig, send
from support import processes
from support.rows import seconds
from support.wait import wait_until

NEXT_DISPATCH_LIMIT = 2.0   # where a slot is free
SLOTS_LIMIT = 5.0           # of the runs that are proved dead
IMPATIENT = {"executor.wall": "60s"}


def next_dispatch(folder: pathlib.Path) -> float:
    """The main pid dies with a row waiting and every slot free: until that row has begun."""
    with Rig(folder, IMPATIENT) as rig:
        # A stopped master reads no dispatch, so that the row is still queued at the kill.
        master = rig.daemon.master().pid
        send(master, signal.SIGSTOP)
        number = rig.submit("a", 0)
        wait_until(lambda: rig.daemon.store.job_of(number)["nonce_hash"], 10, "the row minted")
        killed_at = time.time()
        rig.kill_main()
        send(master, signal.SIGKILL)
        rig.restart()
        return seconds(rig.wait_begun(number)["started_at"]) - killed_at


def slots_free(folder: pathlib.Path) -> tuple[float, float]:
    """Everything dies with every slot taken: until the last of the cut runs has its end, and until
    the first row that waited has begun."""
    with Rig(folder, IMPATIENT) as rig:
        cut = [rig.submit(account, 0, FOREVER) for account in ("a", "a", "b", "b")]
        for number in cut:
            rig.wait_begun(number)
        waiting = rig.submit("c", 0)
        killed_at = time.time()
        rig.daemon.kill9_group()
        rig.restart()
        ended = [rig.daemon.wait_finished(number, 30) for number in cut]
        assert {row["error_code"] for row in ended} == {303}, ended
        return (max(seconds(row["finished_at"]) for row in ended) - killed_at,
                seconds(rig.wait_begun(waiting)["started_at"]) - killed_at)


def show(what: str, values: list[float], limit: float) -> bool:
    good = max(values) < limit
    print(f"{what:<58} {statistics.median(values):6.2f} {min(values):6.2f} {max(values):6.2f}  "
          f"{limit:.0f} s {'ok' if good else 'TOO SLOW'}")
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory(prefix="coderunner-recovery-") as name:
        folder = pathlib.Path(name)
        try:
            dispatched = [next_dispatch(folder / f"main-{i}") for i in range(rounds)]
            freed = [slots_free(folder / f"group-{i}") for i in range(rounds)]
        finally:
            processes.kill_all_started()
    print(f"{f'seconds from SIGKILL, {rounds} rounds':<58} {'median':>6} {'min':>6} {'max':>6}  limit")
    good = [show("main pid, a slot free: next row begun", dispatched, NEXT_DISPATCH_LIMIT),
            show("whole group, 4 in flight: all 4 proved dead and ended",
                 [ended for ended, _ in freed], SLOTS_LIMIT),
            show("whole group, 4 in flight: next row begun in a freed slot",
                 [begun for _, begun in freed], SLOTS_LIMIT)]
    print(f"{sum(good)} passed, {len(good) - sum(good)} failed")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
