"""What the crash tests kill: one daemon over a fake API, and everything a client was told."""

import contextlib
import http.client
import os
import pathlib
import signal
import time

from support.audit import Caps, Finding, audit, collect, tagged
from support.daemon import Daemon
from support.fake import FakeApi
from support.rows import seconds
from support.wait import wait_until

LATENCY_MS = 60        # of the fake's answers: long enough to die between an effect and its answer
DRAIN_LIMIT = 60.0
FOREVER = "while true do end"


class Rig:
    def __init__(self, folder: pathlib.Path, settings: dict | None = None, latency_ms: int = LATENCY_MS):
        folder.mkdir(parents=True, exist_ok=True)
        self.fake = FakeApi(folder, per_minute=10**6, per_hour=10**8, latency_ms=latency_ms)
        self.daemon: Daemon | None = None
        self._folder = folder
        self._settings = settings or {}
        self.acknowledged: list[int] = []
        self.has_restarted = False  # by the step itself

    def __enter__(self) -> "Rig":
        self.fake.start()
        self.daemon = Daemon(self._folder / "daemon",
                             {"api.base_url": self.fake.base_url} | self._settings).start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.daemon is not None:
            self.daemon.destroy()
        self.fake.destroy()

    def submit(self, account: str = "a", effects: int = 2, then: str = "") -> int | None:
        """None where the server died before it acknowledged."""
        try:
            answer = self.daemon.post_submission(account, tagged(effects, then),
                                                 identifier=str(effects))
        except (OSError, http.client.HTTPException):
            return None
        assert answer.status == 202, f"{answer.status}: {answer.text}"
        self.acknowledged.append(answer.json["execution_id"])
        return answer.json["execution_id"]

    def row(self, number: int) -> dict:
        return self.daemon.store.execution(number)

    def wait_begun(self, number: int) -> dict:
        def begun():
            row = self.row(number)
            return row if row["started_at"] else None
        return wait_until(begun, 15, f"execution {number} begun", 0.004)

    def wait_effects(self, number: int, count: int = 1) -> None:
        """Until that many effects took place, which may be before they are answered."""
        tag = f"{number}:"
        wait_until(lambda: sum(effect["body"]["title"].startswith(tag)
                               for effect in self.fake.effects()) >= count,
                   15, f"{count} effects of execution {number}", 0.004)

    def idle_worker(self) -> int:
        """The pid of the one that takes the next run."""
        self.daemon.wait_finished(self.submit("warm", 0), 15)
        return int(self.row(self.acknowledged[-1])["executor_id"].split("|")[3])

    def worker_of(self, number: int) -> int:
        return int(self.wait_begun(number)["executor_id"].split("|")[3])

    def has_ended(self, number: int | None) -> bool:
        """Never, where nobody was told of it."""
        return number is not None and self.row(number)["finished_at"] is not None

    def kill_main(self) -> None:
        self.daemon.kill9()

    def restart(self) -> float:
        """After the main pid's death: how long the daemon took to be ready again, in seconds."""
        self.daemon.wait_ended(10)
        began = time.monotonic()
        self.daemon.restart()
        self.has_restarted = True
        return time.monotonic() - began

    def next_dispatch(self, since: float) -> float:
        """From `since`, a time(), until a run submitted now has begun, in seconds."""
        number = self.submit("next", 1)
        assert number is not None, "nobody serves"
        return seconds(self.wait_begun(number)["started_at"]) - since

    def audit(self, **caps: int) -> list[Finding]:
        """`caps`: those of the settings, where they are not the defaults."""
        self.daemon.wait_drained(DRAIN_LIMIT)
        return audit(collect(self.daemon.store, self.fake.effects(), self.acknowledged),
                     Caps(**caps))


def send(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
