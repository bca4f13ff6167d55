#!/usr/bin/env python3
"""A flooder trace in full, live against the daemon: how long the light accounts and the floods waited.

Usage: bench/replay_live.py [--scale N] [--order fair|fifo] [one-flooder|two-flooders|five-flooders ...]

Offsets and call times are divided by the scale (20); waits are printed as measured. Every call costs
the fake the trace's mean, and no quota is met.
"""

import argparse
import pathlib
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from typing import Any

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests"))

from support.daemon import Daemon
from support.fake import FakeApi
from support.flood import latency_ms, percentile, read_trace, service_of, submit_all, wait_of, waits_table
from support.rows import most_at_once

TRACES = ("one-flooder", "two-flooders", "five-flooders")
DRAIN_LIMIT = 600.0


def summary(name: str, rows: Sequence[Mapping[str, Any]]) -> str:
    waits = [wait_of(row) for row in rows]
    return (f"{name:<15} n={len(waits):<4} p50={percentile(waits, 0.5):.2f} s "
            f"p95={percentile(waits, 0.95):.2f} s max={max(waits):.2f} s")


def replay(trace: str, options: argparse.Namespace, folder: pathlib.Path) -> bool:
    arrivals = read_trace(trace)
    fake = FakeApi(folder, per_minute=10_000_000, per_hour=100_000_000,
                   latency_ms=latency_ms(arrivals, options.scale))
    daemon = Daemon(folder / "daemon", {"queue.order": options.order})
    try:
        daemon.settings["api.base_url"] = fake.start().base_url
        daemon.start()
        began = time.monotonic()
        admitted = submit_all(daemon, arrivals, options.scale)
        daemon.wait_drained(DRAIN_LIMIT)
        took = time.monotonic() - began
        rows = daemon.store.executions()
    finally:
        daemon.destroy()
        fake.destroy()
    light = [row for row in rows if not admitted[row["execution_id"]].is_flood]
    flood = [row for row in rows if admitted[row["execution_id"]].is_flood]
    failed = sum(row["status"] != "success" for row in rows)
    accounts = {row["subdomain"] for row in rows}
    most = most_at_once(rows)
    most_of_one = max(most_at_once(row for row in rows if row["subdomain"] == one) for one in accounts)
    services = [service_of(row) for row in rows]
    good = not failed and len(rows) == len(arrivals) and most <= 4 and most_of_one <= 2
    print(f"\n{trace}, {options.order}, {options.scale:g} times faster: {len(rows)} executions in {took:.0f} s")
    print(waits_table(rows))
    print(summary("light accounts", light))
    print(summary("floods", flood))
    print(f"{'ok' if good else 'FAIL'}: {trace} {options.order}: {failed} failed, at most {most} in flight and "
          f"{most_of_one} of one account; one service time p50={percentile(services, 0.5):.2f} s "
          f"max={max(services):.2f} s, light accounts waited at most {max(map(wait_of, light)):.2f} s", flush=True)
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("traces", nargs="*", default=list(TRACES), metavar="TRACE")
    parser.add_argument("--scale", type=float, default=20.0)
    parser.add_argument("--order", choices=("fair", "fifo"), default="fair")
    options = parser.parse_args()
    if unknown := set(options.traces) - set(TRACES):
        parser.error(f"no such trace: {', '.join(sorted(unknown))}")
    good = True
    for trace in options.traces:
        with tempfile.TemporaryDirectory(prefix="coderunner-bench-") as folder:
            good = replay(trace, options, pathlib.Path(folder)) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
