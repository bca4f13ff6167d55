#!/usr/bin/env python3
"""The executor through the real daemon on SQLite: rate, spawn, overshoot of the wall, and a soak.

Usage: bench/executor_rate.py [--rounds N] [--runs N] [--wall-runs N] [--soak N]

  rate    no-op scripts, all queued before the drainer starts: executions a second from the first
          begin to the last end, rounds' median and spread (queue.concurrency 8, per_account 8)
  spawn   lone runs: begin to the first log line, by the row's and the line's own times
  wall    endless scripts under a wall of 500 ms: how far beyond it the row ended
  soak    with --soak N: N runs, then the daemon's processes and descriptors as before them
"""

import argparse
import os
import pathlib
import statistics
import sys
import tempfile
from typing import Any

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests"))

from support.daemon import Daemon
from support.flood import percentile
from support.http import Client
from support.rows import seconds
from support.wait import wait_until

WALL_MS = 500
ACCOUNTS = 8
BATCH = 400  # below the depth cap of one account
WIDE: dict[str, Any] = {"queue.concurrency": 8, "queue.per_account": 8, "queue.max_queued": 100_000,
                        "queue.max_queued_per_account": 100_000, "log.level": "warn"}


def spread(values: list[float], unit: str) -> str:
    return (f"n={len(values)} p50={statistics.median(values):.1f} min={min(values):.1f} "
            f"p95={percentile(values, 0.95):.1f} max={max(values):.1f} {unit}")


def fill(daemon: Daemon, count: int, source: str) -> None:
    client = Client(daemon.address)
    for number in range(count):
        account = f"account-{number % ACCOUNTS}"
        answer = client.post("/codeRunner", {"account": account, "apikey": f"key-of-{account}",
                                             "source": source})
        assert answer.status == 202, answer.text


def rate_of(folder: pathlib.Path, runs: int) -> float:
    daemon = Daemon(folder, WIDE)
    try:
        daemon.start()
        assert daemon.client.post("/queue/pause", {}).status == 200
        fill(daemon, runs, "return 1")
        assert daemon.client.post("/queue/resume", {}).status == 200
        daemon.wait_drained(60 + runs / 20)
        rows = daemon.store.executions()
        assert all(row["status"] == "success" for row in rows), "a run failed"
        began = min(seconds(row["started_at"]) for row in rows)
        return runs / (max(seconds(row["finished_at"]) for row in rows) - began)
    finally:
        daemon.destroy()


def first_lines(folder: pathlib.Path, runs: int) -> list[float]:
    """Milliseconds from begin to the first log line."""
    daemon = Daemon(folder)
    try:
        daemon.start()
        waits = []
        for _ in range(runs):
            execution = daemon.submit("acme", "log('first')")
            row = daemon.wait_finished(execution)
            line = daemon.store.logs(execution)[0]
            waits.append((seconds(line["at"]) - seconds(row["started_at"])) * 1000)
        return waits[1:]  # the first run also started its worker
    finally:
        daemon.destroy()


def overshoots(folder: pathlib.Path, runs: int) -> list[float]:
    """Milliseconds from the wall to the row's end."""
    daemon = Daemon(folder, WIDE | {"queue.concurrency": 2, "executor.wall": f"{WALL_MS}ms",
                                    "executor.loop_budget": "60s"})
    try:
        daemon.start()
        fill(daemon, runs, "while true do end")
        daemon.wait_drained(60 + runs * 2)
        rows = daemon.store.executions()
        assert all(row["error_code"] == 303 and "wall" in row["error_message"] for row in rows)
        return [(seconds(row["finished_at"]) - seconds(row["started_at"])) * 1000 - WALL_MS
                for row in rows]
    finally:
        daemon.destroy()


def held(daemon: Daemon) -> dict[str, int]:
    """Descriptors by the name of their process; a zombie has none but is counted."""
    counts: dict[str, int] = {}
    for process in daemon.all_processes():
        counts[f"{process.name}:{process.pid}"] = len(os.listdir(f"/proc/{process.pid}/fd"))
    return counts


def soak(folder: pathlib.Path, runs: int) -> bool:
    daemon = Daemon(folder, WIDE | {"queue.concurrency": 4})
    try:
        daemon.start()
        fill(daemon, 50, "log('warm')")
        daemon.wait_drained()
        before = held(daemon)
        for start in range(0, runs, BATCH):
            fill(daemon, min(BATCH, runs - start), "log('done')")
            daemon.wait_drained(300)
        wait_until(lambda: not daemon.scripts(), 10, "no script left")
        after = held(daemon)
        zombies = [one for one in os.listdir("/proc") if one.isdigit() and is_zombie_of(one, before)]
        print(f"soak: {runs} runs; descriptors before {before}, after {after}; zombies {zombies}")
        grown = {name: (before.get(name), count) for name, count in after.items()
                 if name in before and count > before[name] + 2}
        return not grown and not zombies
    finally:
        daemon.destroy()


def is_zombie_of(pid: str, parents: dict[str, int]) -> bool:
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    state, parent = stat[stat.rindex(")") + 2:].split()[:2]
    return state == "Z" and any(name.endswith(f":{parent}") for name in parents)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=1500)
    parser.add_argument("--wall-runs", type=int, default=50)
    parser.add_argument("--soak", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="coderunner-bench-") as name:
        folder = pathlib.Path(name)
        if options.soak:
            return 0 if soak(folder / "soak", options.soak) else 1
        rates = [rate_of(folder / f"rate-{number}", options.runs) for number in range(options.rounds)]
        print("rate:  " + spread(rates, "executions a second"))
        print("spawn: " + spread(first_lines(folder / "spawn", 51), "ms from begin to first line"))
        over = overshoots(folder / "wall", options.wall_runs)
        print("wall:  " + spread(over, "ms beyond the wall"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
