"""Hostile scripts through the real daemon: each of tests/data/hostile ends as its first line says.

`-- expect: STATE [CODE] ["part of the message"] [or ...]`, the states of contract section 4. While
they run health answers; afterwards the daemon's memory, descriptors and processes are where they
were, and no API key has shown up in anything a script left behind.
"""

import dataclasses
import pathlib
import re
import threading
import time

from support.case import DaemonCase
from support.daemon import Daemon
from support.hostile_api import HostileApi
from support.wait import wait_until

SCRIPTS = pathlib.Path(__file__).resolve().parent.parent / "data" / "hostile"
SETTINGS = {"executor.loop_budget": "1s", "executor.wall": "6s", "executor.memory": "16MiB",
            "reaper.running_after": "60s", "queue.concurrency": 4, "log.level": "error"}
HEALTH_LIMIT = 5.0     # seconds one answer may take, with other tests beside it
MEMORY_SLACK = 64 * 1024 * 1024
ALTERNATIVE = re.compile(r'(\w+)(?: (\d+))?(?: "([^"]*)")?')


@dataclasses.dataclass(frozen=True)
class Expected:
    state: str
    code: int | None
    message: str

    def __str__(self) -> str:
        return f"{self.state} {self.code} {self.message!r}"


def expectations(source: str) -> list[Expected]:
    """Of a script's first line."""
    said = re.match(r"-- expect: (.*)\n", source)
    assert said, f"no expectation in {source[:80]!r}"
    found = [ALTERNATIVE.fullmatch(part) for part in said[1].split(" or ")]
    assert all(found), said[0]
    return [Expected(one[1], int(one[2]) if one[2] else None, one[3] or "") for one in found]


def is_as(shown: dict, expected: Expected) -> bool:
    return (shown["state"], shown["error_code"]) == (expected.state, expected.code) \
        and expected.message in (shown["error_message"] or "")


class Health:
    """Asks /healthz ten times a second, and keeps what went wrong."""

    def __init__(self, daemon: Daemon):
        self._client = daemon.client
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._ask)
        self.slowest = 0.0
        self.asked = 0
        self.failures: list[str] = []

    def __enter__(self) -> "Health":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join(30)

    def _ask(self) -> None:
        while not self._ended.wait(0.1):
            asked_at = time.monotonic()
            try:
                status = self._client.get("/healthz").status
                if status != 200:
                    self.failures.append(f"status {status}")
            except OSError as error:
                self.failures.append(repr(error))
            self.slowest = max(self.slowest, time.monotonic() - asked_at)
            self.asked += 1


@dataclasses.dataclass(frozen=True)
class Footprint:
    """What the daemon's processes hold; workers come and go, so the others are counted apart."""

    workers: int
    others: int
    most_descriptors: int
    memory: int  # bytes, the private part of each

    @staticmethod
    def of(daemon: Daemon) -> "Footprint":
        workers = {one.pid for one in daemon.workers()}
        every = [one.pid for one in daemon.all_processes()]
        return Footprint(len(workers), len(every) - len(workers),
                         max(len(list(pathlib.Path(f"/proc/{pid}/fd").iterdir())) for pid in every),
                         sum(private_bytes(pid) for pid in every))


def private_bytes(pid: int) -> int:
    text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    return sum(int(kib) * 1024 for kib in re.findall(r"^Private_\w+: +(\d+) kB", text, re.MULTILINE))


class HostileScriptsTest(DaemonCase):
    time_limit = 400.0

    def start(self) -> Daemon:
        api = HostileApi().start()
        self.addCleanup(api.stop)
        return self.start_daemon(SETTINGS | {"api.base_url": api.base_url})

    def warm_up(self, daemon: Daemon) -> None:
        """As many runs at once as there will be, so that no worker is new afterwards."""
        for number in range(8):
            daemon.submit(f"warm-{number}", "log(event) pcall(api.get, '/slow')")
        daemon.wait_drained()

    def submit_all(self, daemon: Daemon) -> dict[str, int]:
        """The executions by their scripts' names."""
        numbers = {}
        for place, path in enumerate(sorted(SCRIPTS.glob("*.lua"))):
            answer = daemon.post_submission(f"hostile-{place}", path.read_text(encoding="utf-8"),
                                            f"key-sentinel-{place}", payload={"card": {"id": 7}})
            self.assertIn(answer.status, (202, 422), f"{path.stem}: {answer.text}")
            numbers[path.stem] = (answer.json["execution_id"] if answer.status == 202
                                  else answer.json["error"]["details"]["execution_id"])
        return numbers

    def log_text(self, daemon: Daemon, number: int) -> str:
        text, after = "", 0
        while True:
            page = daemon.client.get(f"/executions/{number}/logs?after={after}&limit=500").json
            if not page["logs"]:
                return text
            text += "".join(line["message"] + "\n" for line in page["logs"])
            after = page["next"]

    def test_each_ends_as_it_should_and_leaves_nothing_behind(self):
        daemon = self.start()
        self.warm_up(daemon)
        before = Footprint.of(daemon)
        with Health(daemon) as health:
            numbers = self.submit_all(daemon)
            daemon.wait_drained(300)
        self.assertGreaterEqual(len(numbers), 60)
        self.assertEqual(health.failures, [])
        self.assertGreater(health.asked, 20)
        self.assertLess(health.slowest, HEALTH_LIMIT)
        wait_until(lambda: not daemon.scripts(), 10, "no script process left")
        after = Footprint.of(daemon)
        print(f"  {len(numbers)} scripts; health asked {health.asked} times, slowest "
              f"{health.slowest * 1000:.0f} ms; before {before}, after {after}")

        for name, number in numbers.items():
            with self.subTest(script=name):
                shown = daemon.execution(number)
                wanted = expectations((SCRIPTS / f"{name}.lua").read_text(encoding="utf-8"))
                self.assertTrue(any(is_as(shown, one) for one in wanted),
                                f"expected {' or '.join(map(str, wanted))}, got {shown['state']} "
                                f"{shown['error_code']} {shown['error_message']!r}")
                left = f"{shown} {self.log_text(daemon, number)}"
                self.assertNotIn("key-sentinel", left)

        self.assertEqual(after.others, before.others)
        self.assertLessEqual(after.workers, 8)
        self.assertLessEqual(after.most_descriptors, before.most_descriptors + 4)
        self.assertLess(after.memory, before.memory + MEMORY_SLACK)
        self.assertEqual([one for one in daemon.all_processes() if one.is_zombie], [])
        fresh = daemon.submit("afterwards", "log('still here')")
        self.assertEqual(daemon.wait_finished(fresh)["status"], "success")

    def test_a_source_that_takes_long_to_parse_is_refused_while_health_answers(self):
        daemon = self.start()
        names = ",".join(f"a{number}" for number in range(190))
        head = f"local {names}\nlocal f = function()\n" * 90
        source = head + "x = x " * ((900_000 - len(head)) // 6) + " end\n" * 90
        with Health(daemon) as health:
            answer = daemon.post_submission("acme", source)
        self.assertEqual((answer.status, answer.json["error"]["code"]), (422, 201), answer.text[:300])
        self.assertIn("too long", answer.text)
        self.assertEqual(health.failures, [])
        self.assertLess(health.slowest, HEALTH_LIMIT)
