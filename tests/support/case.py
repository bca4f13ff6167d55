"""The base class of the tests from outside: a folder of its own, and an end for all it starts."""

import pathlib
import shutil
import tempfile
import unittest
from collections.abc import Mapping
from typing import Any

from .daemon import Daemon
from .fake import FakeApi

NOTES_BYTES = 6000


class DaemonCase(unittest.TestCase):
    # One test's limit; tests/run interrupts what takes longer.
    time_limit = 120.0

    def setUp(self) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="coderunner-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def make_daemon(self, settings: Mapping[str, Any] | None = None, name: str = "daemon",
                    fake: FakeApi | None = None, **options: Any) -> Daemon:
        """A daemon that is not started yet; ended with the test whatever happens."""
        chosen = ({"api.base_url": fake.base_url} if fake else {}) | dict(settings or {})
        daemon = Daemon(self.folder / name, chosen, **options)
        self.addCleanup(daemon.destroy)
        return daemon

    def start_daemon(self, settings: Mapping[str, Any] | None = None, **options: Any) -> Daemon:
        return self.make_daemon(settings, **options).start()

    def start_fake(self, name: str = "fake", **flags: Any) -> FakeApi:
        fake = FakeApi(self.folder, name, **flags)
        self.addCleanup(fake.destroy)
        return fake.start()

    def failure_notes(self, keep_in: pathlib.Path) -> str:
        """The ends of all logs, for whoever reads the failure; whole ones are kept in `keep_in`."""
        notes = []
        for log in sorted(self.folder.rglob("*.log")):
            text = log.read_text(errors="replace")
            if not text:
                continue
            name = log.relative_to(self.folder).as_posix().replace("/", "-")
            keep_in.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(log, keep_in / name)
            notes.append(f"--- {name} (its end; whole in {keep_in})\n{text[-NOTES_BYTES:]}")
        return "\n".join(notes)
