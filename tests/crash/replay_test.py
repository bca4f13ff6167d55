"""A dispatch that arrives twice, or late: whoever stands between drainer and executor can do both."""

import http.client
import http.server
import threading

from support.case import DaemonCase
from support.rows import CREATES_A_CARD
from support.wait import wait_until


class Relay(http.server.ThreadingHTTPServer):
    """Passes dispatches on to the executor, remembers them, and can send one again."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.executor = ""           # host:port
        self.seen: list[bytes] = []  # the bodies, in order
        self.times = 1               # each is passed on that often, at once
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def pass_on(self, body: bytes) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(self.executor, timeout=60)
        try:
            connection.request("POST", "/codeRunner/runAsync", body,
                               {"Content-Type": "application/x-www-form-urlencoded"})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.seen.append(body)
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(self.server.pass_on(body)))
                   for _ in range(self.server.times)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        status, text = min(answers)  # of 200 and 403 the run's
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


class ReplayTest(DaemonCase):
    def setUp(self):
        super().setUp()
        self.fake = self.start_fake(per_minute=10000, latency_ms=200)
        self.relay = Relay()
        self.addCleanup(self.relay.server_close)
        self.addCleanup(self.relay.shutdown)
        store = f"sqlite:{self.folder}/shared.db"
        secrets = {"secrets.salt_file": f"{self.folder}/salt", "secrets.key_file": f"{self.folder}/key"}
        self.daemon = self.start_daemon(
            {"store.url": store, "executor.mode": "http", "executor.url": self.relay.url} | secrets,
            fake=self.fake, arguments=["--roles", "api,drainer"])
        executor = self.start_daemon({"store.url": store} | secrets, name="executor", fake=self.fake,
                                     arguments=["--roles", "executor"])
        said = wait_until(lambda: executor.stdout.read_text(), 10, "its address")
        self.relay.executor = said.split("executor=")[1].split()[0]

    def submit(self):
        return self.daemon.submit("acme", CREATES_A_CARD, identifier="x")

    def test_a_dispatch_that_is_sent_again_after_the_run_is_refused_by_the_used_nonce(self):  # R19
        number = self.submit()
        ended = self.daemon.wait_finished(number)
        self.assertEqual(ended["status"], "success")
        status, body = self.relay.pass_on(self.relay.seen[0])
        self.assertEqual((status, b'"code":113' in body), (403, True), body)
        self.assertEqual(self.daemon.store.execution(number), ended)
        self.assertEqual(len(self.fake.effects()), 1)

    def test_a_dispatch_that_arrives_three_times_at_once_begins_once(self):  # R19
        self.relay.times = 3
        for _ in range(5):
            self.assertEqual(self.daemon.wait_finished(self.submit())["status"], "success")
        self.assertEqual(len(self.fake.effects()), 5)

    def test_a_dispatch_sent_again_while_its_run_goes_on_is_refused(self):  # R19
        number = self.submit()
        wait_until(lambda: self.daemon.store.execution(number)["status"] == "running", 10, "it runs")
        self.assertEqual(self.relay.pass_on(self.relay.seen[0])[0], 403)
        self.assertEqual(self.daemon.wait_finished(number)["status"], "success")
        self.assertEqual(len(self.fake.effects()), 1)
