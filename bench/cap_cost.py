#!/usr/bin/env python3
"""What the depth caps cost admission: a queue is counted up to its caps, so the deeper the dearer.

Usage: bench/cap_cost.py [--rounds N] [--admissions N] [--threads N]

The api role alone and a new store each time, with so many rows before: about as many as the recorded
incident would have queued, which the verdict is about (a tenth at most), and as many as fit below the
caps, the dearest there is. They are queued, or they have ended: a store of the same size where there
is next to nothing to count. Prints admissions a second and the daemon's CPU time for each admission,
which the verdict is about, because it is less at the mercy of what else the machine does.
"""

import argparse
import http.client
import json
import pathlib
import sqlite3
import statistics
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests"))

from support.daemon import Daemon

ACCOUNTS = 8
DEPTHS = (300, 1400)
MOST_COST = 0.10


def plant(daemon: Daemon, count: int, status: str) -> None:
    """Rows of the accounts the admissions are for."""
    for number in range(ACCOUNTS):
        daemon.submit(f"t{number}", "return 1", "k")
    connection = sqlite3.connect(daemon.store.path, timeout=30)
    with connection:
        for turn in range(count):
            job = connection.execute("INSERT INTO codeRunner_jobs (payload) VALUES (NULL)").lastrowid
            connection.execute(
                "INSERT INTO codeRunner_executions (job_id, subdomain, subdomain_hash, status, queued_at, apikey_hash) "
                "SELECT ?, subdomain, subdomain_hash, ?, queued_at, apikey_hash FROM codeRunner_executions "
                "WHERE execution_id = ?", [job, status, 1 + turn % ACCOUNTS])
    connection.close()


def submit(address: str, numbers: range, wrong: list[int]) -> None:
    connection = http.client.HTTPConnection(address, timeout=60)
    for number in numbers:
        body = json.dumps({"account": f"t{number % ACCOUNTS}", "apikey": "k", "source": "return 1"})
        connection.request("POST", "/codeRunner", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        answer.read()
        if answer.status != 202:
            wrong.append(answer.status)
    connection.close()


def cpu_seconds(pid: int) -> float:
    tasks = (pathlib.Path("/proc") / str(pid) / "task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def admit(depth: int, status: str, options: argparse.Namespace) -> tuple[float, float]:
    """Admissions a second, and the daemon's microseconds of CPU for each."""
    with tempfile.TemporaryDirectory(prefix="coderunner-bench-") as folder:
        daemon = Daemon(pathlib.Path(folder), {}, ["--roles", "api"])
        try:
            daemon.start()
            plant(daemon, depth, status)
            wrong: list[int] = []
            threads = [threading.Thread(target=submit, args=(
                daemon.address, range(n, options.admissions, options.threads), wrong))
                for n in range(options.threads)]
            began, used = time.monotonic(), cpu_seconds(daemon.pid)
            for one in threads:
                one.start()
            for one in threads:
                one.join()
            took, used = time.monotonic() - began, cpu_seconds(daemon.pid) - used
            assert not wrong, wrong[:5]
        finally:
            daemon.destroy()
    return options.admissions / took, used / options.admissions * 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--admissions", type=int, default=550, help="and what is queued before: below 2,000")
    parser.add_argument("--threads", type=int, default=16)
    options = parser.parse_args()
    cases = [(depth, status) for depth in DEPTHS for status in ("success", "queued")]
    seen: dict[tuple[int, str], list[tuple[float, float]]] = {case: [] for case in cases}
    for turn in range(options.rounds):
        # Who goes first changes, so that what else the machine does weighs on neither.
        for case in sorted(cases, reverse=turn % 2 == 1):
            seen[case].append(admit(*case, options))
    cpu = {}
    for (depth, status), some in seen.items():
        rates, used = sorted(rate for rate, _ in some), sorted(used for _, used in some)
        cpu[depth, status] = statistics.median(used)
        print(f"{depth:>5} {status:>7} before: "
              f"median {statistics.median(rates):.0f}/s, {rates[0]:.0f} to {rates[-1]:.0f}; "
              f"{cpu[depth, status]:.0f} us of CPU each, {used[0]:.0f} to {used[-1]:.0f}")
    cost, worst = (cpu[depth, "queued"] / cpu[depth, "success"] - 1 for depth in DEPTHS)
    good = cost < MOST_COST
    print(f"{'ok' if good else 'FAIL'}: counting costs {cost:.1%} of an admission's CPU over {DEPTHS[0]} queued, "
          f"{worst:.1%} just below the caps")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
