"""Signals at an exact system call, and a look at a process's calls: by strace, unknown to the product.

A signal is delivered as the call is entered: what the process did before it stands, the call itself
does not take place. (SQLite shows a commit to others only after its fdatasync: killed there, it never
was. To die right after a commit, die at the first call that follows it.)
"""

import functools
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from . import processes
from .wait import wait_until

ATTACH_LIMIT = 10.0
DETACH_LIMIT = 0.2


class Trace:
    """Follows a process until close(); `signal` is sent at a thread's `when`-th call.

    With `call`, each of `calls` is made as that one instead: one that takes nothing and changes
    nothing. With the id of a thread and `follow` false: that thread alone.
    """

    def __init__(self, pid: int, calls: str, signal: str = "", when: int = 0, follow: bool = True,
                 call: str = ""):
        handle, name = tempfile.mkstemp(prefix="coderunner-trace-")
        os.close(handle)
        self._file = pathlib.Path(name)
        inject = [f"--inject={calls}:signal={signal}:when={when}"] if signal else []
        inject += [f"--inject={calls}:retval=0:syscall={call}"] if call else []
        self._strace = subprocess.Popen(
            ["strace", *(["-f"] if follow else []), "-p", str(pid), f"--trace={calls}", "-s", "64",
             "-o", name, *inject],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            start_new_session=True)
        processes.own_session(self._strace.pid)
        assert self._strace.stderr is not None
        said = self._strace.stderr.readline()
        if "attached" not in said:
            self.close()
            raise OSError(f"strace: {said.strip()}")

    def lines(self) -> list[str]:
        return self._file.read_text(errors="replace").splitlines()

    def has(self, pattern: str) -> bool:
        return any(re.search(pattern, line) for line in self.lines())

    def wait_for(self, pattern: str, timeout: float = ATTACH_LIMIT) -> None:
        wait_until(lambda: self.has(pattern), timeout, f"a call like {pattern}", 0.005)

    def close(self) -> list[str]:
        """Lets the process go, and answers what it did."""
        self._strace.terminate()
        try:
            self._strace.wait(DETACH_LIMIT)
        except subprocess.TimeoutExpired:  # it may wait for threads of a dead process to be buried
            self._strace.kill()
            self._strace.wait(5)
        assert self._strace.stderr is not None
        self._strace.stderr.close()
        lines = self.lines()
        self._file.unlink(missing_ok=True)
        return lines

    def __enter__(self) -> "Trace":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@functools.cache
def why_not() -> str:
    """Empty where a process can be traced here; otherwise the reason, for a counted skip."""
    if shutil.which("strace") is None:
        return "strace is not installed"
    sleeper = subprocess.Popen(["sleep", "60"], start_new_session=True)
    processes.own_session(sleeper.pid)
    try:
        with Trace(sleeper.pid, "write"):
            return ""
    except OSError as error:
        return f"this machine permits no ptrace ({error})"
    finally:
        sleeper.kill()
        sleeper.wait()
