"""`coderunner serve` as a process group of its own: started, watched, killed in every way."""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
from collections.abc import Iterable, Mapping
from typing import Any

from . import processes, programs
from .http import Answer, Client
from .processes import Process
from .store import StoreReader
from .wait import wait_until

READY_LIMIT = 15.0
STOP_LIMIT = 60.0   # more than serve.stop_budget's default
NOWHERE = "http://127.0.0.1:9/{account}/api/v2"  # discard: refused at once, reaches nobody
FINISHED = ("success", "error")

# Port 0 everywhere: tests run beside each other.
DEFAULTS: dict[str, Any] = {"http.listen": "127.0.0.1:0", "api.base_url": NOWHERE}


def to_toml(settings: Mapping[str, Any]) -> str:
    """{'queue.concurrency': 4} as a configuration file; strings, numbers and booleans."""
    sections: dict[str, list[str]] = {}
    for name, value in sorted(settings.items()):
        section, key = name.split(".", 1)
        sections.setdefault(section, []).append(f"{key} = {json.dumps(value)}")
    return "\n".join(f"[{section}]\n" + "\n".join(lines) + "\n"
                     for section, lines in sections.items())


class Daemon:
    """One working directory with its var/, and the generations of `serve` that ran in it.

    kill9() kills the main process alone: its executor lives on, and is still found by master(),
    workers(), zygote() and scripts(), which look at all generations.
    """

    def __init__(self, folder: pathlib.Path, settings: Mapping[str, Any] | None = None,
                 arguments: Iterable[str] = (), extra: Mapping[str, str] | None = None):
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.settings = DEFAULTS | dict(settings or {})
        self.arguments = list(arguments)
        self.extra = dict(extra or {})
        self.stdout = folder / "stdout.log"
        self.stderr = folder / "stderr.log"
        self.process: subprocess.Popen | None = None
        self.address = ""
        self._sessions: list[int] = []
        self._read_from = 0

    # ---- Starting and ending

    def launch(self) -> "Daemon":
        """Starts `serve` and does not wait for it."""
        # Whole or not at all: another daemon of this folder may be reading it.
        draft = self.folder / f"coderunner-{id(self)}.toml"
        draft.write_text(to_toml(self.settings), encoding="utf-8")
        draft.replace(self.folder / "coderunner.toml")
        self._read_from = self.stdout.stat().st_size if self.stdout.exists() else 0
        self.process = programs.start(
            [programs.program("coderunner"), "serve", "--config", "coderunner.toml",
             *self.arguments], self.folder, self.stdout, self.stderr, self.extra)
        self._sessions.append(self.process.pid)
        return self

    def start(self, timeout: float = READY_LIMIT) -> "Daemon":
        self.launch()
        self.wait_ready(timeout)
        return self

    def wait_ready(self, timeout: float = READY_LIMIT) -> None:
        """Until the line `ready http=ADDRESS` of this generation; its end before that is a failure.

        Roles without the api say `ready executor=ADDRESS` or `ready`: the address then stays empty.
        """
        said = wait_until(self._ready, timeout, "the line 'ready' on stdout")
        self.address = said.get("http", "")

    def _ready(self) -> dict[str, str]:
        assert self.process is not None
        ended = self.process.poll()
        with open(self.stdout, encoding="utf-8", errors="replace") as file:
            file.seek(self._read_from)
            match = re.search(r"^ready(?: (.*))?\n", file.read(), re.MULTILINE)
        if match:
            pairs = (pair.partition("=") for pair in (match[1] or "").split())
            return {"": "ready"} | {name: value for name, _, value in pairs}
        if ended is not None:
            raise AssertionError(f"serve ended with {ended} and never was ready:\n"
                                 f"{self.log_tail()}")
        return {}

    def wait_ended(self, timeout: float) -> int:
        """The exit status of the main process (negative: the signal)."""
        assert self.process is not None
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"serve still runs after {timeout:g} s") from None

    def stop(self, timeout: float = STOP_LIMIT) -> int:
        """SIGTERM to the main process, and its exit status."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self.wait_ended(timeout)

    def kill9(self) -> None:
        """SIGKILL to the main process alone."""
        assert self.process is not None
        self.process.kill()
        self.process.wait(10)

    def kill9_group(self) -> None:
        """SIGKILL to the main process's whole group, and until every process of it is gone."""
        assert self.process is not None
        group = self.process.pid
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)
        self.process.wait(10)
        wait_until(lambda: not [one for one in self.all_processes() if one.group == group], 10,
                   "the process group gone")

    def restart(self, timeout: float = READY_LIMIT) -> "Daemon":
        """Starts the next generation in the same folder; the one before has ended already."""
        assert self.process is None or self.process.poll() is not None, "still running"
        return self.start(timeout)

    def destroy(self) -> None:
        """Ends whatever is left of every generation. Safe to call at any time."""
        processes.kill_sessions(*self._sessions)
        if self.process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(5)

    # ---- Its processes

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def all_processes(self) -> list[Process]:
        """The living processes of all generations, oldest first."""
        return processes.of_sessions(*self._sessions)

    def _of_role(self, role: str) -> list[Process]:
        return [one for one in self.all_processes() if role in one.arguments]

    def masters(self) -> list[Process]:
        return self._of_role("executor-master")

    def master(self) -> Process:
        """The newest executor master; waits for it."""
        return wait_until(self.masters, 5, "an executor master")[-1]

    def workers(self) -> list[Process]:
        return self._of_role("executor-worker")

    def _zygotes_and_forks(self) -> list[Process]:
        """Without the init of the scripts' pid namespace, which runs no script."""
        return [one for one in self._of_role("executor-zygote") if one.name != "cr-script-init"]

    def zygotes(self) -> list[Process]:
        forks = self._zygotes_and_forks()
        pids = {one.pid for one in forks}
        return [one for one in forks if one.parent not in pids]

    def zygote(self) -> Process:
        """The newest zygote; waits for it."""
        return wait_until(self.zygotes, 5, "a zygote")[-1]

    def scripts(self) -> list[Process]:
        """The script processes: forks of a zygote, under its arguments."""
        zygotes = {one.pid for one in self.zygotes()}
        return [one for one in self._zygotes_and_forks() if one.parent in zygotes]

    # ---- What it says

    @property
    def url(self) -> str:
        return f"http://{self.address}"

    @property
    def client(self) -> Client:
        return Client(self.address)

    @property
    def store(self) -> StoreReader:
        path = str(self.settings.get("store.url", "sqlite:var/coderunner.db"))
        return StoreReader(self.folder / path.removeprefix("sqlite:"))

    def log_tail(self, size: int = 4000) -> str:
        text = self.stderr.read_text(errors="replace") if self.stderr.exists() else ""
        return text[-size:]

    def post_submission(self, account: str, source: str, apikey: str = "", **fields: Any) -> Answer:
        return self.client.post("/codeRunner", {
            "account": account, "apikey": apikey or f"key-of-{account}", "source": source} | fields)

    def submit(self, account: str, source: str, apikey: str = "", **fields: Any) -> int:
        """Admits an execution and answers its id; anything but 202 is a failure."""
        answer = self.post_submission(account, source, apikey, **fields)
        assert answer.status == 202, f"{answer.status}: {answer.text}"
        return answer.json["execution_id"]

    def execution(self, execution_id: int) -> dict[str, Any]:
        answer = self.client.get(f"/executions/{execution_id}")
        assert answer.status == 200, f"{answer.status}: {answer.text}"
        return answer.json

    def wait_finished(self, execution_id: int, timeout: float = 30) -> dict[str, Any]:
        """The row once it has ended; read from the store, so that it works while nobody serves."""
        def finished() -> dict[str, Any] | None:
            row = self.store.execution(execution_id)
            return row if row and row["status"] in FINISHED else None
        row = wait_until(finished, timeout, f"execution {execution_id} finished", 0.05)
        assert row is not None
        return row

    def wait_drained(self, timeout: float = 60) -> None:
        """Until no row is queued or running."""
        wait_until(lambda: not set(self.store.count_by_status()) - set(FINISHED), timeout,
                   "every row finished", 0.1)

    def command(self, *arguments: str, timeout: float = 30,
                stdin: str = "") -> subprocess.CompletedProcess:
        """Runs `coderunner ARGUMENTS` against this daemon, in its folder."""
        return programs.run([programs.program("coderunner"), *arguments], self.folder, timeout,
                            {"CODERUNNER_URL": self.url}, stdin)
