#!/usr/bin/env python3
"""Kills every process of the queue after every named step, at every system call of the commit path
and at random times under load, and stops some in between; restarts, and audits the rows against the
API's ledger each time.

Usage: tests/crash/matrix.py [--kills N] [--seed S] [--keep FOLDER]
"""

import argparse
import dataclasses
import itertools
import os
import pathlib
import random
import re
import shutil
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from crash.rig import Rig, send
from crash.steps import STEPS, Leaves, Step, killed_at_call, stopped_at_call
from support import injection, processes
from support.audit import Finding, announced
from support.injection import Trace

CALLS = ("pwrite64", "fdatasync", "sendto", "sendmsg")
ACCOUNTS = ("a", "b", "c", "d")
FULL_LOAD = 8                     # executions submitted before a kill at a random time
KILLS_PER_STOP = 5
SLOW_S = 2.0                      # from a kill to the next dispatch: worth a line
VICTIMS = ("main", "main", "group", "master", "worker", "worker", "zygote", "script")

Kill = Callable[[Rig], float | None]


@dataclasses.dataclass
class Round:
    victim: str
    how: str                      # step, call, random, stop
    name: str
    ready: float | None           # seconds; None where the main pid lived on
    next_dispatch: float | None   # seconds from the kill
    findings: list[Finding]

    @property
    def label(self) -> str:
        return f"{self.victim}, {self.how}: {self.name}"


# ---- One kill


def play(rig: Rig, attempt: Step, how: str, known: set[str]) -> Round | None:
    """None where nobody met it, because the run ended before."""
    outcome = Round(attempt.victim, how, attempt.name, None, None, [])
    killed_at = attempt.kill(rig)
    if killed_at is None:
        return None
    if attempt.victim in ("main", "group") and attempt.kills and not rig.has_restarted:
        outcome.ready = rig.restart()
    rig.has_restarted = False
    outcome.next_dispatch = rig.next_dispatch(killed_at)  # or from its waking
    outcome.findings += missed(rig, attempt)
    for finding in rig.audit():
        if str(finding) not in known:
            known.add(str(finding))
            outcome.findings.append(finding)
    return outcome


def missed(rig: Rig, attempt: Step) -> list[Finding]:
    """Where the kill made something else of the execution than it does at its step."""
    if attempt.leaves is None:
        return []
    rig.daemon.wait_drained()
    row = rig.daemon.store.row("SELECT * FROM codeRunner_executions WHERE subdomain = 'a' "
                               "ORDER BY execution_id DESC LIMIT 1")
    number = row["execution_id"]
    effects = sum(effect["body"]["title"].startswith(f"{number}:") for effect in rig.fake.effects())
    seen = Leaves(row["error_code"], announced(rig.daemon.store.logs(number)), effects)
    wanted = attempt.leaves
    if all(want in (None, had) for want, had in ((wanted.announced, seen.announced),
                                                 (wanted.effects, seen.effects))) \
            and wanted.code == seen.code:
        return []
    return [Finding("missed", f"execution {number} is left as {seen}, not {wanted}")]


# ---- Which kills


def named(count: int) -> list[Step]:
    """Every step at least once where `count` allows; otherwise spread over them."""
    steps = [one for one in STEPS if not (one.traced and injection.why_not())]
    if count < len(steps):
        return [steps[i * len(steps) // count] for i in range(count)]
    return [steps[i % len(steps)] for i in range(count)]


def call_points(rig: Rig) -> list[tuple[str, str, int]]:
    """Every call of one run that the injection can tell apart: (victim, call, n-th)."""
    points = []
    for victim in ("main", "worker"):
        worker = rig.idle_worker()
        with Trace(rig.daemon.pid if victim == "main" else worker, ",".join(CALLS)) as trace:
            number = rig.submit("a")
            rig.daemon.wait_finished(number, 15)
            trace.wait_for("sendto|sendmsg")
            time.sleep(0.1)  # the answer, and what the drainer does with it
            lines = trace.lines()
        per_thread = Counter(tuple(match) for line in lines
                             for match in re.findall(r"^(\d+) +(\w+)\(", line))
        for call in CALLS:
            most = max((n for (_, name), n in per_thread.items() if name == call), default=0)
            points += [(victim, call, n + 1) for n in range(most)]
    return points


def at_call(victim: str, call: str, when: int) -> Step:
    def kill(rig: Rig) -> float | None:
        worker = rig.idle_worker()
        return killed_at_call(rig, rig.daemon.pid if victim == "main" else worker, call, when)
    return Step(victim, f"{call} {when}", kill)


def thinned(points: list, count: int) -> list:
    return points if count >= len(points) else [points[i * len(points) // count]
                                                for i in range(count)]


def at_random(rng: random.Random, kills: bool = True) -> Step:
    """A kill under load, a third of them of a process that has lain still; or a stop alone."""
    victim = rng.choice(VICTIMS)
    delay = rng.uniform(0.0, 0.5)
    stopped_for = rng.choice((0.0, 0.0, rng.uniform(0.02, 0.3))) if kills else rng.uniform(0.1, 1.0)
    load = [(rng.choice(ACCOUNTS), rng.randint(0, 2)) for _ in range(FULL_LOAD)]

    def kill(rig: Rig) -> float | None:
        for account, effects in load:
            rig.submit(account, effects)
        time.sleep(delay)
        alive = {"main": lambda: [], "group": lambda: [], "master": rig.daemon.masters,
                 "worker": rig.daemon.workers, "zygote": rig.daemon.zygotes,
                 "script": rig.daemon.scripts}[victim]()
        if victim not in ("main", "group") and not alive:
            return None
        pid = alive[-1].pid if alive else rig.daemon.pid
        deliver = os.killpg if victim == "group" else send
        if stopped_for:
            deliver(pid, signal.SIGSTOP)
            time.sleep(stopped_for)
        now = time.time()
        if not kills:
            deliver(pid, signal.SIGCONT)
        elif victim == "group":
            rig.daemon.kill9_group()
        elif victim == "main":
            rig.daemon.kill9()
        else:
            send(pid, signal.SIGKILL)
        return now

    how = [f"stopped for {stopped_for * 1000:.0f} ms"] * (stopped_for > 0) + ["killed"] * kills
    return Step(victim, f"{' and '.join(how)}, {delay * 1000:.0f} ms into the load", kill,
                kills=kills)


def stop(rng: random.Random, points: list[tuple[str, str, int]]) -> Step:
    """At one of these calls, or under load."""
    if not points or rng.random() < 0.5:
        return at_random(rng, kills=False)
    victim, call, when = rng.choice(points)
    pause = rng.uniform(0.05, 0.5)

    def lie_still(rig: Rig) -> float | None:
        worker = rig.idle_worker()
        return stopped_at_call(rig, rig.daemon.pid if victim == "main" else worker, call, when, pause)
    return Step(victim, f"at {call} {when} for {pause * 1000:.0f} ms", lie_still, kills=False)


def plan(kills: int, rng: random.Random, rig: Rig) -> Iterator[tuple[str, Step]]:
    """About a quarter each at named steps and at random times, the rest at single calls; and a stop
    after every few kills."""
    points = [] if injection.why_not() else call_points(rig)
    steps = named(max(kills // 4, min(kills, len(STEPS))))
    kinds = [("step", one) for one in steps]
    kinds += [("call", at_call(*one)) for one in thinned(points, (kills - len(steps)) * 2 // 3)]
    for number in itertools.count(1):
        yield kinds[number - 1] if number <= len(kinds) else ("random", at_random(rng))
        if number % KILLS_PER_STOP == 0:
            yield "stop", stop(rng, points)


# ---- All of them


class Matrix:
    def __init__(self, folder: pathlib.Path, kills: int, seed: int,
                 say: Callable[[str], None] = print):
        self.folder, self.kills, self.seed, self.say = folder, kills, seed, say
        self.rounds: list[Round] = []
        self._known: set[str] = set()

    def run(self) -> list[Round]:
        self.say(f"seed {self.seed}")
        if why := injection.why_not():
            self.say(f"skipped: every kill at a system call ({why})")
        rng = random.Random(self.seed)
        with Rig(self.folder / "planner") as planner:
            attempts = plan(self.kills, rng, planner)
            number = 0
            while self._has_more():
                number += 1
                self._run_until_it_breaks(self.folder / f"rig-{number}", attempts)
        return self.rounds

    def _run_until_it_breaks(self, folder: pathlib.Path, attempts: Iterator) -> None:
        """A rig that does not come to rest is a finding, and what follows gets another one."""
        with Rig(folder) as rig:
            self._known.clear()
            while self._has_more():
                how, attempt = next(attempts)
                try:
                    outcome = play(rig, attempt, how, self._known)
                except AssertionError as error:
                    outcome = Round(attempt.victim, how, attempt.name, None, None,
                                    [Finding("stuck", f"{error}; see {folder}")])
                if outcome is None:
                    continue
                self.rounds.append(outcome)
                if (outcome.next_dispatch or 0) > SLOW_S:
                    self.say(f"slow {outcome.label}: next dispatch after "
                             f"{outcome.next_dispatch:.1f} s")
                for finding in outcome.findings:
                    self.say(f"FAIL {outcome.label}: {finding}")
                if any(finding.kind == "stuck" for finding in outcome.findings):
                    return

    def _has_more(self) -> bool:
        return sum(one.how != "stop" for one in self.rounds) < self.kills

    def table(self) -> str:
        groups: dict[tuple[str, str], list[Round]] = defaultdict(list)
        for one in self.rounds:
            groups[(one.victim, one.how)].append(one)
        lines = ["victim  at      times  ready ms med/max  next dispatch ms med/max  "
                 "lost  twice  over cap  other"]
        for (victim, how), rounds in sorted(groups.items()):
            kinds = Counter(finding.kind for one in rounds for finding in one.findings)
            other = sum(kinds.values()) - kinds["lost"] - kinds["twice"] - kinds["over cap"]
            lines.append(f"{victim:<7} {how:<7} {len(rounds):5}  "
                         f"{_spread(one.ready for one in rounds):>16}  "
                         f"{_spread(one.next_dispatch for one in rounds):>24}  "
                         f"{kinds['lost']:4}  {kinds['twice']:5}  {kinds['over cap']:8}  {other:5}")
        return "\n".join(lines)


def _spread(values) -> str:
    known = [value * 1000 for value in values if value is not None]
    return f"{statistics.median(known):.0f} / {max(known):.0f}" if known else "-"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--keep", type=pathlib.Path, help="leave stores and logs in this folder")
    options = parser.parse_args()
    folder = options.keep or pathlib.Path(tempfile.mkdtemp(prefix="coderunner-crash-"))
    matrix = Matrix(folder, options.kills, options.seed, lambda text: print(text, flush=True))
    began = time.monotonic()
    try:
        rounds = matrix.run()
    finally:
        processes.kill_all_started()
    failed = sum(bool(one.findings) for one in rounds)
    if not options.keep and not failed:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{matrix.table()}\n{time.monotonic() - began:.0f} s, seed {options.seed}\n"
          f"{len(rounds) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
