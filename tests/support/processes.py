"""The process table as /proc shows it, and the promise that whatever a test started is ended.

Every program is started as the leader of its own session, so its descendants are found by that
session however often they are re-parented; nothing is ever looked up by its name alone.
"""

import contextlib
import dataclasses
import os
import pathlib
import signal
import time
from collections.abc import Iterator

PROC = pathlib.Path("/proc")
_sessions: set[int] = set()


@dataclasses.dataclass(frozen=True)
class Process:
    pid: int
    parent: int
    group: int
    session: int
    state: str
    start_time: int          # in clock ticks since boot: with the pid, an identity
    arguments: tuple[str, ...]
    name: str = ""           # as it calls itself

    @property
    def is_zombie(self) -> bool:
        return self.state in ("Z", "X")


def read_process(pid: int) -> Process | None:
    """None where there is no such process (any more)."""
    try:
        stat = (PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
        arguments = (PROC / str(pid) / "cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = stat[stat.rindex(")") + 2:].split()  # the name before it may hold anything
    return Process(pid, int(fields[1]), int(fields[2]), int(fields[3]), fields[0], int(fields[19]),
                   tuple(arguments.decode(errors="replace").split("\0")[:-1]),
                   stat[stat.index("(") + 1:stat.rindex(")")])


def every_process() -> Iterator[Process]:
    for entry in PROC.iterdir():
        if entry.name.isdigit() and (process := read_process(int(entry.name))):
            yield process


def of_sessions(*sessions: int) -> list[Process]:
    """The living processes of these sessions, oldest first."""
    return sorted((process for process in every_process()
                   if process.session in sessions and not process.is_zombie),
                  key=lambda process: (process.start_time, process.pid))


def is_alive(pid: int) -> bool:
    process = read_process(pid)
    return process is not None and not process.is_zombie


def own_session(session: int) -> None:
    """From now on kill_all_started() ends what lives in this session."""
    _sessions.add(session)


def kill_sessions(*sessions: int, timeout: float = 5.0) -> None:
    """SIGKILL to every process of these sessions until none is left."""
    end = time.monotonic() + timeout
    while left := of_sessions(*sessions):
        for process in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
        if time.monotonic() > end:
            raise AssertionError(f"still alive after SIGKILL: {left}")
        time.sleep(0.01)
    _sessions.difference_update(sessions)


def kill_all_started() -> None:
    kill_sessions(*list(_sessions))
