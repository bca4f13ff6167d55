"""What a 429 asks for, in every form in use, and what becomes of it."""

import http.server
import json
import threading

from support.case import DaemonCase
from support.rows import seconds

MINUTE, MOST = 60, 3900   # gate.minute and gate.max, in seconds
MARGIN = 5

# account: (header or headers, error.details.retry_after), the wait it means
FORMS = {
    "header-10": ((["10"], None), 10),
    "body-10": ((None, 10), 10),
    "zero": ((["0"], None), 1),
    "negative": ((["-1"], None), MINUTE),
    "fraction": ((["1.5"], None), 2),
    "body-fraction": ((None, 1.5), 2),
    "a-day": ((["86400"], None), MOST),
    "missing": ((None, None), MINUTE),
    "words": ((["soon"], None), MINUTE),
    "empty": (([""], None), MINUTE),
    "body-text": ((None, "10"), 10),
    "later-in-body": ((["3"], 20), 20),
    "later-in-header": ((["20"], 3), 20),
    "bad-header": ((["soon"], 7), 7),
    "endless": ((["9" * 400], None), MOST),
    "99": ((["99"], None), 99),
    "100": ((["100"], None), 100),
    "two-headers": ((["30", "10"], None), 30),
    # Against the Date these answers carry, whatever the clocks of both ends say.
    "date": ((["Sat, 01 Jan 2028 00:00:20 GMT"], None), 20),
    "date-old-form": ((["Saturday, 01-Jan-28 00:00:21 GMT"], None), 21),
    "date-asctime": ((["Sat Jan  1 00:00:22 2028"], None), 22),
    "date-past": ((["Fri, 31 Dec 2027 00:00:00 GMT"], None), 1),
    "date-far": ((["Sun, 02 Jan 2028 00:00:00 GMT"], None), MOST),
    "date-no-such-day": ((["Thu, 31 Feb 2028 00:00:00 GMT"], None), MINUTE),
}


class Limited(http.server.BaseHTTPRequestHandler):
    """429 for every call; the account in the path says in which form."""

    def do_GET(self):
        (headers, hint), _ = FORMS[self.path.split("/")[1]]
        details = {} if hint is None else {"retry_after": hint}
        body = json.dumps({"error": {"code": "RL02", "message": "too many", "details": details}}).encode()
        self.send_response_only(429)
        self.send_header("Date", "Sat, 01 Jan 2028 00:00:00 GMT")
        for value in headers or ():
            self.send_header("Retry-After", value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *arguments):
        pass


class RetryHintTest(DaemonCase):
    def setUp(self):
        super().setUp()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Limited)
        thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        thread.start()
        self.addCleanup(thread.join, 5)
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)

    # R53
    def test_each_form_of_a_hint_closes_the_gate_for_as_long_as_it_means_and_the_log_says_so(self):
        base = f"http://127.0.0.1:{self.server.server_port}/{{account}}/api/v2"
        # One attempt: what would be waited for is in the gate, and nobody waits here.
        daemon = self.start_daemon({"api.base_url": base, "api.max_attempts": 1})
        numbers = {account: daemon.submit(account, 'api.get("/cards")') for account in FORMS}
        rows = {account: daemon.wait_finished(number) for account, number in numbers.items()}
        gates = {gate["key"]: gate for gate in daemon.client.get("/gates").json["gates"]}
        for account, (_, wait) in FORMS.items():
            with self.subTest(account):
                row = rows[account]
                self.assertEqual((row["status"], row["error_code"]), ("error", 301))
                gate = gates[row["apikey_hash"]]
                self.assertEqual((gate["status"], gate["hint_s"]), (429, wait))
                closed = seconds(gate["until"]) - seconds(gate["seen_at"])
                self.assertAlmostEqual(closed, min(wait + MARGIN, MOST), 2)
                self.assertIn("rate limited", row["error_message"])
                if wait >= 100:  # too long to be waited for in a slot
                    self.assertRegex(row["error_message"], r"rate limited for \d")
                lines = [line["message"] for line in daemon.store.logs(row["execution_id"])]
                self.assertIn("GET /cards: 429", lines)
