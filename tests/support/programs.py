"""The programs under test: where they are, how one is started and how one is run to its end."""

import os
import pathlib
import subprocess
from collections.abc import Mapping, Sequence

from . import processes

ROOT = pathlib.Path(__file__).resolve().parents[2]


def program(name: str) -> str:
    """The path of a built program; CODERUNNER_BIN names another folder than build/bin."""
    path = pathlib.Path(os.environ.get("CODERUNNER_BIN", ROOT / "build" / "bin")) / name
    if not path.exists():
        raise AssertionError(f"{path} is not there (run ./dev build, or set CODERUNNER_BIN)")
    return str(path.resolve())


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """This environment without any setting of the product, and `extra`."""
    clean = {name: value for name, value in os.environ.items()
             if not name.startswith("CODERUNNER_")}
    return clean | dict(extra or {})


def start(arguments: Sequence[str], folder: pathlib.Path, stdout: pathlib.Path,
          stderr: pathlib.Path, extra: Mapping[str, str] | None = None) -> subprocess.Popen:
    """Started in a session and group of its own; its output is appended to the two files."""
    with open(stdout, "ab") as out, open(stderr, "ab") as err:
        started = subprocess.Popen(list(arguments), cwd=folder, stdin=subprocess.DEVNULL,
                                   stdout=out, stderr=err, env=environment(extra),
                                   start_new_session=True)
    processes.own_session(started.pid)
    return started


def run(arguments: Sequence[str], folder: pathlib.Path | None = None, timeout: float = 30,
        extra: Mapping[str, str] | None = None, stdin: str = "") -> subprocess.CompletedProcess:
    """Runs a program to its end; whatever of it outlives the time limit is killed."""
    started = subprocess.Popen(list(arguments), cwd=folder, stdin=subprocess.PIPE, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=environment(extra), start_new_session=True)
    processes.own_session(started.pid)
    try:
        out, err = started.communicate(stdin, timeout=timeout)
        return subprocess.CompletedProcess(list(arguments), started.returncode, out, err)
    finally:
        if started.poll() is None:
            processes.kill_sessions(started.pid)
            started.communicate()
