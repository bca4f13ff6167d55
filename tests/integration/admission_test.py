"""What a submission is answered at the door: depth caps, Idempotency-Key, and floods of refusals."""

import concurrent.futures
import json
import sqlite3
import time
import urllib.parse

from support.case import DaemonCase
from support.http import Client

KEY = "Idempotency-Key"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def body(account="acme", source="return 1", **fields):
    return {"account": account, "apikey": f"key-of-{account}", "source": source} | fields


class DoorCase(DaemonCase):
    def start(self, per_account=500, in_all=2000, name="daemon"):
        """The api role alone: what is admitted stays queued."""
        return self.start_daemon({"queue.max_queued_per_account": per_account, "queue.max_queued": in_all},
                                 arguments=["--roles", "api"], name=name)

    def post(self, value, key=None):
        return self.daemon.client.post("/codeRunner", value, {KEY: key} if key is not None else None)

    def plant(self, count, account_of):
        """Queued rows as another program writes them: one jobs row and the brief's columns each."""

        with sqlite3.connect(self.daemon.store.path, timeout=30) as connection:
            for i in range(count):
                job = connection.execute("INSERT INTO codeRunner_jobs (payload) VALUES (NULL)").lastrowid
                connection.execute(
                    "INSERT INTO codeRunner_executions (job_id, subdomain, subdomain_hash, status, queued_at) "
                    "VALUES (?, ?, ?, 'queued', '2026-08-24 12:00:00.000')", [job, *account_of(i)])
        connection.close()

    def assert_rejected(self, answer, status, *numbers):
        self.assertEqual(answer.status, status, answer.text)
        error = answer.json["error"]
        self.assertEqual(error["code"], 107)
        for number in numbers:
            self.assertIn(str(number), error["message"])
        self.assertRegex(answer.headers.get("retry-after", ""), r"^[1-9]\d*$")
        row = self.daemon.execution(error["details"]["execution_id"])
        self.assertEqual((row["state"], row["error_code"], row["started_at"]), ("rejected", 107, None))
        self.assertEqual(row["error_message"], error["message"])
        return row


class DepthCapTest(DoorCase):
    # R47, R83
    def test_the_501st_of_an_account_is_429_and_the_2001st_in_all_503_by_default(self):
        self.daemon = self.start_daemon(arguments=["--roles", "api"])
        first = self.daemon.submit("acme", "return 1")
        name_and_hash = self.daemon.store.row("SELECT subdomain, subdomain_hash FROM codeRunner_executions "
                                              "WHERE execution_id = ?", [first])
        acme = (name_and_hash["subdomain"], name_and_hash["subdomain_hash"])
        self.plant(498, lambda i: acme)
        self.assertEqual(self.post(body()).status, 202, "the 500th")
        row = self.assert_rejected(self.post(body(identifier="x")), 429, 500)
        self.assertEqual((row["account"], row["identifier"]), ("acme", "x"))
        kept = self.daemon.client.get(f"/executions/{row['execution_id']}?source=1").json
        self.assertEqual((kept["source"], kept["payload"]), (None, None))
        self.assertEqual(self.post(body("other")).status, 202, "another account is admitted")

        self.plant(1498, lambda i: (f"t{i % 4}", f"hash-{i % 4}"))
        self.assertEqual(self.post(body("other")).status, 202, "the 2,000th")
        self.assert_rejected(self.post(body("third")), 503, 2000)
        self.assertEqual(self.daemon.client.get("/queue/data").json["depth"], 2000)

    # R14
    def test_of_64_at_once_one_below_a_cap_exactly_one_is_admitted(self):
        self.daemon = self.start(per_account=3, in_all=6)
        for _ in range(2):
            self.daemon.submit("acme", "return 1")

        def storm(account_of):
            with concurrent.futures.ThreadPoolExecutor(64) as pool:
                answers = list(pool.map(lambda i: self.post(body(account_of(i))), range(64)))
            return sorted({one.status for one in answers}), sum(one.status == 202 for one in answers)

        self.assertEqual(storm(lambda i: "acme"), ([202, 429], 1))
        for account in ("b", "c"):
            self.daemon.submit(account, "return 1")
        self.assertEqual(storm(lambda i: f"d{i}"), ([202, 503], 1))
        self.assertEqual(self.daemon.store.count_by_status(), {"queued": 6, "error": 126})

    def test_a_place_that_becomes_free_is_given_again(self):
        self.daemon = self.start_daemon({"queue.max_queued_per_account": 1, "queue.per_account": 1})
        admitted = [self.daemon.submit("acme", "return 1")]
        end = time.monotonic() + 30
        while len(admitted) < 5 and time.monotonic() < end:
            answer = self.post(body())
            self.assertIn(answer.status, (202, 429))
            if answer.status == 202:
                admitted.append(answer.json["execution_id"])
        self.assertEqual(len(admitted), 5)
        for execution in admitted:
            self.assertEqual(self.daemon.wait_finished(execution)["status"], "success")


class IdempotencyKeyTest(DoorCase):
    def test_the_same_key_again_is_200_with_the_same_ids_also_after_a_restart(self):
        self.daemon = self.start()
        first = self.post(body(payload={"a": 1}, identifier="i"), "once")
        self.assertEqual(first.status, 202)
        for value in (body(payload={"a": 1}, identifier="i"),
                      {"payload": {"a": 1}, "identifier": "i", "unknown": 7} | body("ACME", apikey="key-of-acme")):
            again = self.post(value, "once")
            self.assertEqual((again.status, again.json), (200, first.json))
        form = urllib.parse.urlencode(body(payload='{"a": 1}', identifier="i"))
        again = self.daemon.client.request("POST", "/codeRunner", form, FORM | {KEY: "once"})
        self.assertEqual((again.status, again.json), (200, first.json), "a form says the same")

        self.daemon.kill9()
        self.daemon.arguments = []
        self.daemon.restart()
        self.assertEqual(self.daemon.wait_finished(first.json["execution_id"])["status"], "success")
        again = self.post(body(payload={"a": 1}, identifier="i"), "once")
        self.assertEqual((again.status, again.json), (200, first.json | {"status": "success"}))
        self.assertEqual(len(self.daemon.store.executions()), 1)

    def test_another_body_is_409_and_another_account_is_its_own(self):
        self.daemon = self.start()
        first = self.post(body(), "once").json["execution_id"]
        for other in (body(source="return 2"), body(apikey="another"), body(identifier=""), body(payload=None),
                      body(debug=True)):
            answer = self.post(other, "once")
            self.assertEqual((answer.status, answer.json["error"]["code"]), (409, 409), answer.text)
            self.assertEqual(answer.json["error"]["details"]["execution_id"], first)
        self.assertEqual(self.post(body("beta"), "once").status, 202)
        self.assertEqual(self.post(body(), "Once").status, 202)
        self.assertEqual(self.post(body()).status, 202, "without a key every one is new")
        self.assertEqual(len(self.daemon.store.executions()), 4)

    def test_what_is_no_key_is_400_and_names_the_header(self):
        self.daemon = self.start()
        for key in ("", "k" * 256, "a\tb", "Gr\xfc\xdfe"):
            with self.subTest(key=key):
                answer = self.post(body(), key)
                self.assertEqual((answer.status, answer.json["error"]["details"].get("field")), (400, KEY),
                                 answer.text)
        self.assertEqual(self.post(body(), "k" * 255).status, 202)
        self.assertEqual(self.post(body(), "with space ~!").status, 202)

    def test_107_and_201_do_not_use_a_key_up(self):
        self.daemon = self.start(per_account=1)
        self.assertEqual(self.post(body(source="if then"), "once").status, 422)
        self.assertEqual(self.post(body(), "first").status, 202)
        self.assert_rejected(self.post(body(source="return 2"), "once"), 429, 1)
        self.assertEqual(self.post(body(), "first").status, 200, "a repeated one is answered at the cap")
        self.daemon.stop()
        self.daemon.settings["queue.max_queued_per_account"] = 2
        self.daemon.restart()
        self.assertEqual(self.post(body(source="return 3"), "once").status, 202)

    def test_of_many_at_once_one_is_admitted_and_the_others_are_answered_its_ids(self):
        self.daemon = self.start()
        with concurrent.futures.ThreadPoolExecutor(32) as pool:
            answers = list(pool.map(lambda _: self.post(body(), "once"), range(32)))
        self.assertEqual(sorted(one.status for one in answers), [200] * 31 + [202])
        self.assertEqual(len({one.json["execution_id"] for one in answers}), 1)

    def test_the_store_holds_no_api_key_for_it(self):
        self.daemon = self.start()
        execution = self.post(body(apikey="a-very-secret-key"), "once").json["execution_id"]
        job = self.daemon.store.job_of(execution)
        self.assertRegex(job["request_hash"], r"^[0-9a-f]{64}$")
        self.assertNotIn("a-very-secret-key", json.dumps(job))


class RefusalFloodTest(DoorCase):
    REFUSED = 3000
    THREADS = 16

    def flood(self, value, count):
        text = json.dumps(value)

        def some(n):
            client = Client(self.daemon.address, timeout=60)
            return [client.request("POST", "/codeRunner", text, {"Content-Type": "application/json"})
                    for _ in range(n)]

        with concurrent.futures.ThreadPoolExecutor(self.THREADS) as pool:
            parts = pool.map(some, [count // self.THREADS] * self.THREADS)
            return [answer for part in parts for answer in part]

    def size(self):
        """The database once its write-ahead log is in it."""
        self.daemon.stop()
        size = sum(file.stat().st_size for file in (self.daemon.folder / "var").glob("coderunner.db*"))
        self.daemon.restart()
        return size

    def test_thousands_of_rejections_are_1000_rows_and_one_that_counts_the_rest(self):
        self.daemon = self.start(per_account=1)
        self.post(body())
        before = self.size()
        answers = self.flood(body(identifier="x" * 200, payload="y" * 10000), self.REFUSED)
        self.assertEqual({one.status for one in answers}, {429})
        refused = self.daemon.store.rows("SELECT * FROM codeRunner_executions WHERE error_code = 107")
        hours = len({row["queued_at"][:13] for row in refused})  # two where the clock struck meanwhile
        self.assertLessEqual(len(refused), 1001 * hours)
        if hours == 1:
            self.assertEqual(len(refused), 1001)
            named = {one.json["error"]["details"]["execution_id"] for one in answers}
            self.assertEqual(named, {row["execution_id"] for row in refused})
            counting = max(refused, key=lambda row: row["execution_id"])
            self.assertIn(f"{len(answers) - 1000} rejected for depth", counting["error_message"])
        self.assertLess(self.size() - before, 1001 * hours * 2048)

        self.assertEqual(self.post(body("other")).status, 202, "another account is admitted")

    def test_junk_keeps_at_most_16_kib_of_each_of_1000(self):
        self.daemon = self.start()
        answers = self.flood(body(source="if then " + "z" * 40000), 1600)
        self.assertEqual({one.status for one in answers}, {422})
        row = self.daemon.store.row("SELECT count(*) AS n, sum(length(source_code)) AS bytes, "
                                    "count(DISTINCT substr(queued_at, 1, 13)) AS hours FROM codeRunner_executions")
        self.assertLessEqual(row["n"], 1001 * row["hours"])
        self.assertLessEqual(row["bytes"], 1000 * row["hours"] * 16 * 1024)
