"""What ./dev runs: suites, how each is counted, and the plans that put them in order."""

import contextlib
import dataclasses
import functools
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree
from collections.abc import Callable, Sequence

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "build" / "results"
JOBS = str(os.cpu_count() or 1)


@dataclasses.dataclass
class Counts:
    passed: int = 0
    failed: list[str] = dataclasses.field(default_factory=list)
    skipped: list[str] = dataclasses.field(default_factory=list)

    @property
    def total(self) -> int:
        return self.passed + len(self.failed) + len(self.skipped)


@dataclasses.dataclass(frozen=True)
class Suite:
    name: str
    command: Sequence[str | pathlib.Path]
    # Reads what the command left; None: the command is one check, counted by its exit status.
    read: Callable[[pathlib.Path], Counts] | None = None
    report: str = ""             # below RESULTS; deleted before the run
    limit_seconds: int = 1800
    quiet: bool = False          # what it prints is shown only when it fails
    cut_off: bool = False        # runs in a network namespace of its own, which is empty


# ---- Counting


def read_junit(path: pathlib.Path) -> Counts:
    """CTest's --output-junit."""
    counts = Counts()
    for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
        name = case.get("name", "?")
        skipped = case.find("skipped")
        if case.get("status") == "run" and case.find("failure") is None:
            counts.passed += 1
        elif skipped is not None and case.get("status") in ("notrun", "disabled") \
                and "SKIP" in (skipped.get("message") or ""):
            counts.skipped.append(name)
        else:
            counts.failed.append(name)  # failed, timed out, not built, disabled
    return counts


def read_python(path: pathlib.Path) -> Counts:
    """The --report of tests/run."""
    report = json.loads(path.read_text(encoding="utf-8"))
    return Counts(report["passed"], report["failed"], report["skipped"])


# ---- Running


def run_suite(suite: Suite, results: pathlib.Path = RESULTS) -> Counts:
    results.mkdir(parents=True, exist_ok=True)
    report = results / suite.report
    if suite.report:
        report.unlink(missing_ok=True)
    status = _run(suite, results)
    if suite.read is None:
        return Counts(1) if status == 0 else Counts(0, [f"{suite.name} ({_words(status)})"])
    try:
        counts = suite.read(report)
    except (OSError, ValueError, KeyError, xml.etree.ElementTree.ParseError) as error:
        return Counts(0, [f"{suite.name} ({_words(status)}, and left no report: {error})"])
    if counts.total == 0:
        counts.failed.append(f"{suite.name} (ran no test)")
    elif status != 0 and not counts.failed:
        counts.failed.append(f"{suite.name} ({_words(status)} though no test failed)")
    if suite.cut_off and not cut_off_prefix():
        counts.skipped.append("no right to make a network namespace: these ran with a network")
    return counts


@functools.cache
def cut_off_prefix() -> tuple[str, ...]:
    """What starts a program where there is no network; empty where this user may not."""
    for prefix in (("unshare", "--net"), ("unshare", "--map-root-user", "--net")):
        with contextlib.suppress(OSError):
            if subprocess.run([*prefix, "true"], check=False, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode == 0:
                return prefix
    return ()


def _words(status: int | None) -> str:
    if status is None:
        return "out of time"
    return f"killed by signal {-status}" if status < 0 else f"exit {status}"


def _run(suite: Suite, results: pathlib.Path) -> int | None:
    """The exit status; None where the time ran out. What it started goes with it."""
    with contextlib.ExitStack() as stack:
        log = None
        if suite.quiet:
            log = stack.enter_context(
                open(results / f"{suite.name.replace(' ', '-')}.log", "w+", encoding="utf-8"))
        command = [*(cut_off_prefix() if suite.cut_off else ()), *map(str, suite.command)]
        process = subprocess.Popen(command, cwd=ROOT, stdout=log,
                                   stderr=log and subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                   start_new_session=True)
        status = None
        try:
            status = process.wait(suite.limit_seconds)
        except subprocess.TimeoutExpired:
            pass
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if log is not None and status != 0:
            log.seek(0)
            print(log.read(), flush=True)
        return status


def run_plan(suites: Sequence[Suite], results: pathlib.Path = RESULTS) -> int:
    table, every = [], Counts()
    for suite in suites:
        print(f"== {suite.name}", flush=True)
        began = time.monotonic()
        counts = run_suite(suite, results)
        table.append((suite.name, counts, time.monotonic() - began))
        every.passed += counts.passed
        every.failed += [f"{suite.name}: {name}" for name in counts.failed]
        every.skipped += [f"{suite.name}: {name}" for name in counts.skipped]
    print("\nsuite                 passed  failed  skipped  seconds")
    for name, counts, seconds in table:
        print(f"{name:<20} {counts.passed:7} {len(counts.failed):7} {len(counts.skipped):8} "
              f"{seconds:8.1f}")
    for title, names in (("skipped", every.skipped), ("FAILED", every.failed)):
        for name in names:
            print(f"{title}: {name}")
    skipped = f", {len(every.skipped)} skipped" if every.skipped else ""
    print(f"{every.passed} passed, {len(every.failed)} failed{skipped}", flush=True)
    return 1 if every.failed or every.total == 0 else 0


def without_network(suite: Suite) -> Suite:
    """Not even loopback is up there: a test that opens a connection fails."""
    return dataclasses.replace(suite, cut_off=True)


# ---- The plans

STEPPED = "^(unit|property|contract|simulation)$"

def ctest(preset: str, labels: str = "", quiet: bool = False, name: str = "") -> Suite:
    name = name or f"ctest {preset}"
    report = f"{name.replace(' ', '-')}.xml"
    selection = ["--label-regex", labels] if labels else []
    return Suite(name,
                 ["ctest", "--preset", preset, "--parallel", JOBS, "--output-junit",
                  RESULTS / report, *selection], read_junit, report, quiet=quiet)


def python_tests(folder: str) -> Suite:
    report = f"{folder}.json"
    return Suite(folder, [sys.executable, "tests/run", "--report", RESULTS / report, folder],
                 read_python, report)


def shell_scripts() -> list[str]:
    candidates = [ROOT / "dev", ROOT / ".ci/run"]
    for folder in ("tools", "deploy", "examples", "tests", "bench"):
        candidates += (ROOT / folder).glob("**/*")
    scripts = []
    for path in candidates:
        if path.is_file() and path.suffix in ("", ".sh"):
            with path.open("rb") as file:
                if file.readline().startswith((b"#!/usr/bin/env bash", b"#!/bin/sh")):
                    scripts.append(path.relative_to(ROOT).as_posix())
    return sorted(scripts)


TIDY = Suite("tidy", ["tools/tidy"])
FORMAT = Suite("format", ["tools/format"])
SHELL = Suite("shellcheck", ["shellcheck", *shell_scripts()])

PLANS: dict[str, list[Suite]] = {
    "quick": [ctest("release", "^(unit|property)$", quiet=True), TIDY, FORMAT,
              Suite("clang-tidy", ["tools/clang_tidy"])],
    "tidy": [TIDY, FORMAT, SHELL, Suite("clang-tidy", ["tools/clang_tidy"])],
    "all": [python_tests("tools"), TIDY, FORMAT, SHELL,
            Suite("clang-tidy", ["tools/clang_tidy", "--all"]),
            without_network(ctest("release", STEPPED, name="ctest no network")),
            ctest("release", "^integration$"), ctest("asan"),
            Suite("coverage", ["tools/coverage"]),
            Suite("fuzz", ["tools/fuzz", "--seconds", "20", "--report", RESULTS / "fuzz.json"],
                  read_python, "fuzz.json"),
            python_tests("integration"), python_tests("crash")],
    "tsan": [ctest("tsan", STEPPED)],
}
