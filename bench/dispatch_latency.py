#!/usr/bin/env python3
"""From queued to started with nothing else to do: by the wake-up, and by the poll alone.

Usage: bench/dispatch_latency.py [--submissions N]

Two daemons beside each other, one with queue.wakeup = false; lone submissions go to them in turn, at
odd moments of the poll's second, each after the one before has ended.
"""

import argparse
import pathlib
import random
import statistics
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests"))

from support.daemon import Daemon
from support.flood import percentile, wait_of

SEED = 7


def lone_wait(daemon: Daemon) -> float:
    """Milliseconds from queued_at to started_at of one submission."""
    return wait_of(daemon.wait_finished(daemon.submit("acme", "return 1"))) * 1000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--submissions", type=int, default=60)
    options = parser.parse_args()
    chance = random.Random(SEED)
    with tempfile.TemporaryDirectory(prefix="coderunner-bench-") as folder:
        daemons = {name: Daemon(pathlib.Path(folder) / name, {"queue.wakeup": wakeup})
                   for name, wakeup in (("wake-up", True), ("poll only", False))}
        try:
            for daemon in daemons.values():
                daemon.start()
                lone_wait(daemon)  # the first run also starts its worker
            waits: dict[str, list[float]] = {name: [] for name in daemons}
            for _ in range(options.submissions):
                for name, daemon in daemons.items():
                    time.sleep(chance.uniform(0.0, 1.0))
                    waits[name].append(lone_wait(daemon))
        finally:
            for daemon in daemons.values():
                daemon.destroy()
    for name, some in waits.items():
        print(f"{name:<10} n={len(some)} p50={statistics.median(some):.0f} ms "
              f"p95={percentile(some, 0.95):.0f} ms max={max(some):.0f} ms")
    good = statistics.median(waits["wake-up"]) < statistics.median(waits["poll only"])
    print("ok: the wake-up is sooner than the poll" if good else "FAIL: the wake-up is no sooner than the poll")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
