"""Arrival traces replayed against a living daemon, `scale` times faster than they were recorded."""

import concurrent.futures
import csv
import dataclasses
import pathlib
import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .daemon import Daemon
from .rows import seconds

TRACES = pathlib.Path(__file__).resolve().parents[1] / "data" / "traces"
MAKES_CALLS = 'for i = 1, event.calls do api.get("/cards") end'
SUBMITTERS = 16


@dataclasses.dataclass(frozen=True)
class Arrival:
    at: float     # seconds since the trace's zero
    account: str
    key: str
    calls: int
    call: float   # seconds of one call, when served

    @property
    def is_flood(self) -> bool:
        return "flood" in self.account


def read_trace(name: str, first_seconds: float = float("inf")) -> list[Arrival]:
    with open(TRACES / f"{name}.csv", newline="", encoding="utf-8") as file:
        rows = [Arrival(int(row["offset_ms"]) / 1000, row["account"], row["key"],
                        int(row["api_calls"]), int(row["call_ms"]) / 1000)
                for row in csv.DictReader(file)]
    return [row for row in rows if row.at < first_seconds]


def latency_ms(arrivals: Sequence[Arrival], scale: float) -> int:
    """What the one latency of the fake must be for the mean call of the trace."""
    mean = statistics.fmean(row.call for row in arrivals)
    return max(1, round(mean * 1000 / scale))


def submit_all(daemon: Daemon, arrivals: Iterable[Arrival], scale: float) -> dict[int, Arrival]:
    """Each arrival at its time, or as soon after as the machine manages; the ids it was answered."""
    began = time.monotonic()
    admitted: dict[int, Arrival] = {}
    with concurrent.futures.ThreadPoolExecutor(SUBMITTERS) as pool:
        under_way = []
        for row in arrivals:
            time.sleep(max(0.0, began + row.at / scale - time.monotonic()))
            under_way.append((pool.submit(
                daemon.submit, row.account, MAKES_CALLS, row.key, payload={"calls": row.calls}), row))
        for future, row in under_way:
            admitted[future.result()] = row
    return admitted


def wait_of(row: Mapping[str, Any]) -> float:
    return seconds(row["started_at"]) - seconds(row["queued_at"])


def service_of(row: Mapping[str, Any]) -> float:
    return seconds(row["finished_at"]) - seconds(row["started_at"])


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def waits_table(rows: Iterable[Mapping[str, Any]]) -> str:
    """A line for each account that began anything: executions, and how long they waited."""
    waits: dict[str, list[float]] = {}
    for row in rows:
        if row["started_at"]:
            waits.setdefault(row["subdomain"], []).append(wait_of(row))
    lines = [f"{'account':<14}{'began':>7}{'p50 s':>9}{'p95 s':>9}{'max s':>9}"]
    lines += [f"{account:<14}{len(some):>7}{percentile(some, 0.5):>9.2f}"
              f"{percentile(some, 0.95):>9.2f}{max(some):>9.2f}"
              for account, some in sorted(waits.items())]
    return "\n".join(lines)
