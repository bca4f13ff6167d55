"""What a process that only serves the api says of a drainer and an executor of another process."""

import socket

from support.case import DaemonCase
from support.wait import wait_until

CALLS_ONCE = 'api.get("/cards")'


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class SplitRolesTest(DaemonCase):
    def start(self, doers="drainer,executor", **doers_settings):
        fake = self.start_fake(latency_ms=5000)
        shared = {"store.url": f"sqlite:{self.folder}/shared.db",
                  "secrets.salt_file": f"{self.folder}/salt",
                  "secrets.key_file": f"{self.folder}/key"}
        self.doers = self.start_daemon(
            shared | {name.replace("__", "."): value for name, value in doers_settings.items()},
            name="doers", fake=fake, arguments=["--roles", doers])
        self.api = self.start_daemon(shared, name="api", fake=fake,
                                     arguments=["--roles", "api"])

    def queue(self):
        return self.api.client.get("/queue/data").json

    def wait_state(self, state):
        wait_until(lambda: self.queue()["drainer"]["state"] == state, 30, state)

    def test_an_executor_that_can_not_be_reached_is_said_with_its_last_error(self):
        self.start("drainer", executor__mode="http",
                   executor__url=f"http://127.0.0.1:{closed_port()}/codeRunner/runAsync")
        self.wait_state("idle")
        number = self.api.submit("acme", "return")
        self.wait_state("executor_unavailable")
        self.assertTrue(self.queue()["drainer"]["executor_error"])
        self.assertEqual(self.api.execution(number)["queued_reason"], "executor_unavailable")

    def test_two_that_run_are_in_flight(self):
        self.start()
        for _ in range(3):
            self.api.submit("acme", CALLS_ONCE)
        wait_until(lambda: self.queue()["in_flight"] == 2, 30, "both in flight")
        self.assertEqual(self.queue()["accounts"][0]["in_flight"], 2)

    def test_a_dispatch_nobody_has_taken_up_is_in_flight(self):
        with socket.socket() as silent:  # connects, and never answers
            silent.bind(("127.0.0.1", 0))
            silent.listen(8)
            port = silent.getsockname()[1]
            self.start("drainer", executor__mode="http",
                       executor__url=f"http://127.0.0.1:{port}/codeRunner/runAsync")
            numbers = [self.api.submit("acme", "return") for _ in range(3)]
            wait_until(lambda: self.queue()["in_flight"] == 2, 30, "both in flight")
            self.assertEqual(self.queue()["accounts"][0]["in_flight"], 2)
            self.assertEqual([self.api.execution(one)["queued_reason"] for one in numbers],
                             ["next", "next", "account_at_cap"])
            self.doers.kill9()
            self.wait_state("stalled")
