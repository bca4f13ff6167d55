"""fake-businessmap as a process: quotas as flags, the ledger as the proof of what took place."""

import contextlib
import pathlib
import re
import signal
import subprocess
from typing import Any

from . import processes, programs
from .http import Client
from .wait import wait_until

START_LIMIT = 10.0


class FakeApi:
    """Flags by their names with underscores: FakeApi(folder, per_minute=30, window_ms=1000)."""

    def __init__(self, folder: pathlib.Path, name: str = "fake", **flags: Any):
        self.folder = folder
        self.stdout = folder / f"{name}.stdout.log"
        self.stderr = folder / f"{name}.stderr.log"
        self.arguments = [programs.program("fake-businessmap"), "--port", "0"]
        for flag, value in flags.items():
            option = "--" + flag.replace("_", "-")
            self.arguments += [option] if value is True else [option, str(value)]
        self.process: subprocess.Popen | None = None
        self.address = ""

    def start(self) -> "FakeApi":
        self.process = programs.start(self.arguments, self.folder, self.stdout, self.stderr)
        self.address = wait_until(self._listening, START_LIMIT, "fake-businessmap listening")
        return self

    def _listening(self) -> str:
        if self.process is not None and self.process.poll() is not None:
            raise AssertionError(f"fake-businessmap ended with {self.process.returncode}: "
                                 f"{self.stderr.read_text(errors='replace')[-2000:]}")
        match = re.search(r"^listening on (\S+)\n", self.stdout.read_text(errors="replace"))
        return match[1] if match else ""

    @property
    def base_url(self) -> str:
        """The value for api.base_url."""
        return f"http://{self.address}/{{account}}/api/v2"

    @property
    def client(self) -> Client:
        return Client(self.address)

    def ledger(self) -> dict[str, Any]:
        answer = self.client.get("/_ledger")
        assert answer.status == 200, answer
        return answer.json

    def effects(self) -> list[dict[str, Any]]:
        """Every side effect that took place, in order."""
        return self.ledger()["effects"]

    def reset(self) -> None:
        answer = self.client.post("/_reset")
        assert answer.status in (200, 204), answer

    def stop(self) -> int:
        """SIGTERM, and the exit status."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(10)

    def destroy(self) -> None:
        if self.process is not None:
            processes.kill_sessions(self.process.pid)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(5)
