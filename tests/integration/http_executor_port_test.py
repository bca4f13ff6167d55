"""The executor's port, met by somebody who is not the drainer."""

import socket
import time

from support.case import DaemonCase

CHILDREN = 4
HALF = b"POST /codeRunner/runAsync HTTP/1.1\r\nHost: h\r\nContent-Length: 50\r\n\r\njobId="


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class ExecutorPortTest(DaemonCase):
    def setUp(self):
        super().setUp()
        self.port = free_port()
        self.daemon = self.start_daemon({"executor.listen": f"127.0.0.1:{self.port}",
                                         "executor.max_children": CHILDREN})

    def connect(self) -> socket.socket:
        client = socket.create_connection(("127.0.0.1", self.port), 60)
        self.addCleanup(client.close)
        return client

    def test_half_requests_on_every_worker_hold_up_an_execution_for_seconds_only(self):
        clients = [self.connect() for _ in range(CHILDREN)]
        for client in clients:
            client.sendall(HALF)
        begun = time.monotonic()
        for client in clients:
            self.assertEqual(client.recv(1000), b"")
        self.daemon.wait_finished(self.daemon.submit("acme", "return"))
        # Two seconds for a half request; http.request_timeout would give it 30.
        self.assertLess(time.monotonic() - begun, 15)

    def test_trailers_over_64_kib_are_refused_and_the_worker_lives_on(self):
        self.daemon.wait_finished(self.daemon.submit("acme", "return"))
        workers = {one.pid for one in self.daemon.workers()}
        client = self.connect()
        client.sendall(b"POST /codeRunner/runAsync HTTP/1.1\r\nHost: h\r\n"
                       b"Transfer-Encoding: chunked\r\n\r\n0\r\nX: " + b"y" * 66000 + b"\r\n\r\n")
        self.assertTrue(client.recv(1000).startswith(b"HTTP/1.1 431 "))
        client.close()
        self.daemon.wait_finished(self.daemon.submit("acme", "return"))
        self.assertLessEqual(workers, {one.pid for one in self.daemon.workers()})
