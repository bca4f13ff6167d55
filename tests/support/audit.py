"""The rows of a store held against the fake API's ledger: was anything lost, begun twice, over cap?

The scripts that are audited tag each effect with their execution's id (TAGGED), and their
identifier says how many effects a success has. Pure: what it judges is handed to it.
"""

import dataclasses
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .rows import most_at_once

Row = Mapping[str, Any]

FINISHED = ("success", "error")


def tagged(effects: int, then: str = "") -> str:
    """A script with that many effects, each tagged; `then` comes after them."""
    return (f"for i = 1, {effects} do api.post('/cards', {{title = execution.id .. ':' .. i, "
            f"column_id = 1, lane_id = 1}}) end {then}")


@dataclasses.dataclass(frozen=True)
class Caps:
    concurrency: int = 4
    per_account: int = 2


@dataclasses.dataclass
class Finding:
    kind: str  # lost, twice, over cap, untrue, order
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


@dataclasses.dataclass(frozen=True)
class Evidence:
    executions: Sequence[Row]
    jobs: Mapping[int, Row]               # by job id
    logs: Mapping[int, Sequence[Row]]     # by execution id
    effects: Sequence[Mapping[str, Any]]  # of the ledger
    acknowledged: Iterable[int]           # ids a client was told


def collect(store, effects: Sequence[Mapping[str, Any]], acknowledged: Iterable[int]) -> Evidence:
    """From a StoreReader, whose rows nobody changes any more."""
    logs: dict[int, list[Row]] = defaultdict(list)
    for line in store.rows("SELECT * FROM codeRunner_logs ORDER BY log_id"):
        logs[line["execution_id"]].append(line)
    jobs = {job["job_id"]: job for job in store.rows("SELECT * FROM codeRunner_jobs")}
    return Evidence(store.executions(), jobs, logs, effects, list(acknowledged))


def audit(evidence: Evidence, caps: Caps = Caps()) -> list[Finding]:
    """What is wrong, in no order; nothing where everything is as it must be."""
    tags = Counter(effect["body"]["title"] for effect in evidence.effects)
    of_execution: Counter[int] = Counter()
    for tag, times in tags.items():
        of_execution[int(tag.partition(":")[0])] += times
    findings = [Finding("twice", f"effect {tag} took place {times} times")
                for tag, times in tags.items() if times > 1]
    findings += _lost(evidence, of_execution)
    for row in evidence.executions:
        findings += _untrue(row, evidence.logs.get(row["execution_id"], ()),
                            of_execution[row["execution_id"]])
    findings += _over_cap(evidence.executions, caps)
    findings += _out_of_order(evidence)
    return findings


def _lost(evidence: Evidence, of_execution: Counter) -> list[Finding]:
    known = {row["execution_id"]: row for row in evidence.executions}
    findings = [Finding("lost", f"execution {one} was acknowledged and has no row")
                for one in evidence.acknowledged if one not in known]
    findings += [Finding("lost", f"effects of execution {one}, which has no row")
                 for one in of_execution if one not in known]
    findings += [Finding("lost", f"execution {one} is {row['status']} and nobody will end it")
                 for one, row in known.items() if row["status"] not in FINISHED]
    return findings


def announced(logs: Iterable[Row]) -> int:
    """The changes the log says may have been sent."""
    return sum(1 for line in logs if line["message"].startswith("sending "))


def _told(message: str) -> int:
    """The changes the row of a run that was cut says it had sent; fewer than none: not a word."""
    said = re.search(r"it had sent (no change|\d+)", message)
    if said is None:
        return -1
    return 0 if said[1] == "no change" else int(said[1])


def _untrue(row: Row, logs: Sequence[Row], effects: int) -> list[Finding]:
    name = f"execution {row['execution_id']} ({row['status']} {row['error_code']})"

    def untrue(text: str) -> Finding:
        return Finding("untrue", f"{name} {text}")

    if row["started_at"] is None:
        return [untrue(f"never began and has {effects} effects")] if effects else []
    findings = []
    if announced(logs) < effects:
        findings.append(untrue(f"has {effects} effects and its log names {announced(logs)}"))
    if row["status"] == "success" and effects != int(row["identifier"]):
        findings.append(untrue(f"has {effects} effects, not {row['identifier']}"))
    if row["status"] == "error" and not row["error_message"]:
        findings.append(untrue("does not say why"))
    if row["error_code"] == 303 and _told(row["error_message"] or "") < effects:
        findings.append(untrue(f"has {effects} effects and says: {row['error_message']}"))
    if row["finished_at"] and row["finished_at"] < row["started_at"]:
        findings.append(untrue("ended before it began"))
    return findings


def _over_cap(rows: Sequence[Row], caps: Caps) -> list[Finding]:
    findings = []
    if (most := most_at_once(rows)) > caps.concurrency:
        findings.append(Finding("over cap", f"{most} runs at once, allowed are {caps.concurrency}"))
    accounts: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        accounts[row["subdomain"]].append(row)
    for account, own in accounts.items():
        if (most := most_at_once(own)) > caps.per_account:
            findings.append(Finding("over cap", f"{most} runs of {account} at once, allowed are "
                                                f"{caps.per_account}"))
    return findings


def _out_of_order(evidence: Evidence) -> list[Finding]:
    """A lane is minted first in, first out.

    Only a row's last mint is stored, so only a row with a single one tells when it was first.
    """
    lanes: dict[tuple, list[Row]] = defaultdict(list)
    for row in evidence.executions:
        if row["job_id"] in evidence.jobs:
            lanes[(row["subdomain_hash"], row["apikey_hash"])].append(row)
    findings = []
    for rows in lanes.values():
        earliest = None  # the earliest last mint among the later rows
        for row in sorted(rows, key=lambda one: (one["queued_at"], one["execution_id"]),
                          reverse=True):
            job = evidence.jobs[row["job_id"]]
            minted = job["started_at"] if job["dispatch_attempts"] else None
            if minted is None:
                continue
            if job["dispatch_attempts"] == 1 and earliest and minted > earliest[0]:
                findings.append(Finding("order", f"execution {row['execution_id']} was dispatched "
                                                 f"after {earliest[1]} of the same lane"))
            if earliest is None or minted < earliest[0]:
                earliest = (minted, row["execution_id"])
    return findings


def describe(evidence: Evidence) -> str:
    """Small enough for a failure's text."""
    status = Counter((row["status"], row["error_code"]) for row in evidence.executions)
    return json.dumps({f"{word} {code or ''}".strip(): n for (word, code), n in status.items()})
