#!/usr/bin/env python3
"""What a flood of refused submissions costs: the store's growth, and another account's admission.

Usage: bench/refusal_flood.py [--refusals N] [--threads N] [--probes N] [--junk]

One account sits at its cap and keeps submitting (--junk: scripts that do not parse, 16 KiB and more
each); another one is admitted a few times a second, before the flood and during it.
"""

import argparse
import http.client
import json
import pathlib
import statistics
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests"))

from support.daemon import Daemon

KEPT_AN_HOUR = 1000           # rulings 20, domain/limits.h
BYTES_OF_A_REJECTION = 2048   # a row and its index entries; 400 are usual
BYTES_OF_JUNK = 20 * 1024     # with the 16 KiB of source that are kept
PROBE_INTERVAL = 0.05


class Submitter:
    """One kept-alive connection."""

    def __init__(self, address: str, account: str, source: str):
        self.connection = http.client.HTTPConnection(address, timeout=60)
        self.body = json.dumps({"account": account, "apikey": "k", "source": source})

    def submit(self) -> tuple[int, float]:
        began = time.perf_counter()
        self.connection.request("POST", "/codeRunner", self.body, {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        answer.read()
        return answer.status, time.perf_counter() - began


def flood(address: str, count: int, source: str, expected: int, wrong: list[int]) -> None:
    submitter = Submitter(address, "flooder", source)
    wrong += [status for status in (submitter.submit()[0] for _ in range(count)) if status != expected]


def probe(address: str, count: int, going: threading.Event) -> list[float]:
    """Milliseconds of up to `count` admissions of another account."""
    submitter = Submitter(address, "other", "return 1")
    took = []
    while len(took) < count and going.is_set():
        status, seconds = submitter.submit()
        assert status == 202, status
        took.append(seconds * 1000)
        time.sleep(PROBE_INTERVAL)
    return took


def stored_bytes(daemon: Daemon) -> int:
    return sum(file.stat().st_size for file in (daemon.folder / "var").glob("coderunner.db*"))


def show(what: str, took: list[float]) -> None:
    cuts = statistics.quantiles(took, n=20) if len(took) > 1 else took * 19
    print(f"admission of another account, {what}: n={len(took)} p50={statistics.median(took):.1f} ms "
          f"p95={cuts[18]:.1f} ms max={max(took):.1f} ms")


def run(options: argparse.Namespace, folder: pathlib.Path) -> bool:
    junk = options.junk
    cap = options.probes * 2 + 1  # the other account stays below it
    daemon = Daemon(folder, {"queue.max_queued_per_account": cap, "queue.max_queued": 1_000_000},
                    ["--roles", "api"])
    try:
        daemon.start()
        source = "if then " + "z" * 40_000 if junk else "return 1"
        for _ in range(cap):
            daemon.submit("flooder", "return 1")
        going = threading.Event()
        going.set()
        alone = probe(daemon.address, options.probes, going)
        before, wrong = stored_bytes(daemon), []
        each = options.refusals // options.threads
        floods = [threading.Thread(target=flood, args=(
            daemon.address, each, source, 422 if junk else 429, wrong)) for _ in range(options.threads)]
        began = time.monotonic()
        for one in floods:
            one.start()
        flooded: list[float] = []
        prober = threading.Thread(
            target=lambda: flooded.extend(probe(daemon.address, options.probes, going)))
        prober.start()
        for one in floods:
            one.join()
        seconds = time.monotonic() - began
        going.clear()
        prober.join()
        grown = stored_bytes(daemon) - before
        code = 201 if junk else 107
        kept = daemon.store.row("SELECT count(*) AS n, count(DISTINCT substr(queued_at, 1, 13)) AS hours "
                                "FROM codeRunner_executions WHERE error_code = ?", [code])
        assert kept is not None
        row_bound = (KEPT_AN_HOUR + 1) * kept["hours"]
        byte_bound = row_bound * (BYTES_OF_JUNK if junk else BYTES_OF_A_REJECTION) + 8 * 1024 * 1024
        print(f"{each * options.threads} refused in {seconds:.1f} s "
              f"({each * options.threads / seconds:.0f}/s), {len(wrong)} answered otherwise")
        print(f"rows kept: {kept['n']} (bound {row_bound}), "
              f"store and its log grown by {grown / 1024:.0f} KiB (bound {byte_bound // 1024} KiB)")
        show("alone", alone)
        show("in the flood", flooded)
        return not wrong and kept["n"] <= row_bound and grown <= byte_bound
    finally:
        daemon.destroy()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--refusals", type=int, default=100_000)
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--probes", type=int, default=200)
    parser.add_argument("--junk", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="coderunner-bench-") as folder:
        return 0 if run(options, pathlib.Path(folder)) else 1


if __name__ == "__main__":
    sys.exit(main())
