"""fake-businessmap as a program: its flags, its first line, its quotas and faults over a socket."""

import http.client
import json
import signal
import threading
import time
import unittest

from support import programs
from support.case import DaemonCase

KEY = {"apikey": "key-1"}
CARDS = "/acme/api/v2/cards"


def run_with(*arguments: str):
    return programs.run([programs.program("fake-businessmap"), *arguments], timeout=10)


class FlagTest(unittest.TestCase):
    def test_help_is_printed_with_every_flag(self):
        done = run_with("--help")
        self.assertEqual(done.returncode, 0)
        for flag in ("--port", "--per-minute", "--per-hour", "--window-ms", "--latency-ms",
                     "--fail-rate", "--reset-rate", "--retry-after", "--v1-limit", "--seed"):
            self.assertIn(flag, done.stdout)

    def test_bad_usage_exits_2(self):
        for arguments in (["--port", "70000"], ["--nope"], ["--retry-after", "soon"],
                          ["--fail-rate", "2"], ["--window-ms", "0"], ["word"]):
            with self.subTest(arguments=arguments):
                done = run_with(*arguments)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertEqual(done.stdout, "")
                self.assertTrue(done.stderr)


class ProgramTest(DaemonCase):
    time_limit = 30.0

    def test_a_taken_port_exits_1_and_is_named(self):
        port = self.start_fake().address.rpartition(":")[2]
        done = run_with("--port", port)
        self.assertEqual(done.returncode, 1)
        self.assertIn(port, done.stderr)

    def test_a_signal_ends_it_with_0_even_while_an_answer_waits(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            fake = self.start_fake(f"fake-{number}", latency_ms=20_000)
            waiting = http.client.HTTPConnection(fake.address, timeout=10)
            self.addCleanup(waiting.close)
            waiting.request("GET", "/acme/api/v2/me", headers=KEY)
            fake.process.send_signal(number)
            self.assertEqual(fake.process.wait(10), 0)

    def test_the_quota_is_refused_and_comes_back_with_the_next_window(self):
        fake = self.start_fake(per_minute=3, window_ms=1000)
        statuses = [fake.client.get(CARDS, **KEY).status for _ in range(8)]
        self.assertIn(429, statuses)
        self.assertLessEqual(statuses.count(200), 6)  # two windows at most
        refused = next(answer for answer in (fake.client.get(CARDS, **KEY) for _ in range(8))
                       if answer.status == 429)
        self.assertEqual(refused.headers["retry-after"], "1")
        self.assertEqual(refused.json["error"]["details"]["retry_after"], 1)
        self.assertEqual(refused.headers["x-ratelimit-perminute-remaining"], "0")
        time.sleep(1.05)
        self.assertEqual(fake.client.get(CARDS, **KEY).status, 200)

    def test_latency_holds_no_thread_up(self):
        fake = self.start_fake(latency_ms=500, per_minute=1000)
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(fake.client.get(CARDS, **KEY)))
                   for _ in range(20)]
        began = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took = time.monotonic() - began
        self.assertEqual([answer.status for answer in answers], [200] * 20)
        self.assertGreaterEqual(took, 0.5)
        self.assertLess(took, 5)  # one after another: 10 s

    def test_the_effect_takes_place_though_the_answer_waits(self):
        fake = self.start_fake(latency_ms=20_000)
        connection = http.client.HTTPConnection(fake.address, timeout=0.3)
        self.addCleanup(connection.close)
        connection.request("POST", CARDS, body='{"title":"One"}', headers=KEY)
        with self.assertRaises(TimeoutError):
            connection.getresponse()
        self.assertEqual([effect["body"] for effect in fake.effects()], [{"title": "One"}])

    def test_a_reset_gives_no_answer_on_kept_alive_connections_too(self):
        fake = self.start_fake(reset_rate=0.5, per_minute=1000, seed=3)
        connection = http.client.HTTPConnection(fake.address, timeout=10)
        self.addCleanup(connection.close)
        answered = resets = 0
        reused_reset = False
        fresh = True
        for _ in range(60):
            try:
                connection.request("POST", CARDS, body='{"title":"One"}', headers=KEY)
                connection.getresponse().read()
                answered += 1
                fresh = False
            except (ConnectionError, http.client.BadStatusLine):
                connection.close()
                resets += 1
                reused_reset |= not fresh
                fresh = True
        self.assertGreater(answered, 5)
        self.assertGreater(resets, 5)
        self.assertTrue(reused_reset)
        took_place = len(fake.effects())
        self.assertGreater(took_place, answered)
        self.assertLess(took_place, 60)

    def test_a_change_that_took_place_is_in_the_ledger_once_answered_or_not(self):
        fake = self.start_fake(reset_rate=0.3, fail_rate=0.2, per_minute=1000, seed=5)
        connection = http.client.HTTPConnection(fake.address, timeout=10)
        self.addCleanup(connection.close)
        outcomes: dict[str, str] = {}
        for number in range(80):
            title = f"card {number}"
            try:
                connection.request("POST", CARDS, body=json.dumps({"title": title}), headers=KEY)
                answer = connection.getresponse()
                answer.read()
                outcomes[title] = str(answer.status)
            except (ConnectionError, http.client.BadStatusLine):
                connection.close()
                outcomes[title] = "reset"
        titles = [effect["body"]["title"] for effect in fake.effects()]
        self.assertEqual(len(titles), len(set(titles)), "an effect is in the ledger twice")
        self.assertEqual(set(outcomes.values()), {"200", "500", "reset"})
        took_place = {word: {title in titles for title, outcome in outcomes.items()
                             if outcome == word} for word in ("200", "500", "reset")}
        self.assertEqual(took_place, {"200": {True}, "500": {False}, "reset": {True, False}})
        self.assertEqual(fake.ledger()["calls"], 80)

    def test_the_same_seed_gives_the_same_failures(self):
        def outcomes(name: str, seed: int) -> list[int]:
            fake = self.start_fake(name, fail_rate=0.5, per_minute=1000, seed=seed)
            return [fake.client.get(CARDS, **KEY).status for _ in range(30)]
        first = outcomes("one", 7)
        self.assertEqual(set(first), {200, 500})
        self.assertEqual(outcomes("two", 7), first)
        self.assertNotEqual(outcomes("three", 8), first)

    def test_every_form_of_the_wait_hint_reaches_the_wire(self):
        for form, header, hint in (
                ("header", r"[1-9]\d*", None), ("body", None, r"[1-9]\d*"),
                ("both", r"[1-9]\d*", r"[1-9]\d*"), ("neither", None, None),
                ("date", r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT", None),
                ("zero", "0", "0"), ("negative", "-5", "-5"),
                ("huge", "999999999", "999999999"), ("html", None, None)):
            with self.subTest(form=form):
                fake = self.start_fake(f"fake-{form}", per_minute=0, retry_after=form)
                refused = fake.client.get(CARDS, **KEY)
                self.assertEqual(refused.status, 429)
                self.assertRegex(refused.headers.get("retry-after", "none"),
                                 f"^{header or 'none'}$")
                if form == "html":
                    self.assertEqual(refused.headers["content-type"], "text/html")
                    self.assertIn("<html>", refused.text)
                    continue
                details = refused.json["error"]["details"]
                self.assertRegex(str(details.get("retry_after", "none")), f"^{hint or 'none'}$")

    def test_every_answer_carries_the_quota_as_it_stands_after_it(self):
        fake = self.start_fake(per_minute=5, per_hour=9, window_ms=1_000_000_000)
        seen = []
        for method, path, body in (
                ("POST", CARDS, {"title": "One"}), ("GET", CARDS + "/9", None),
                ("POST", CARDS, {}), ("PUT", CARDS, None), ("DELETE", CARDS + "/1", None),
                ("GET", CARDS, None)):
            answer = fake.client.send(method, path, body, KEY)
            self.assertEqual(answer.headers["x-ratelimit-perminute-limit"], "5")
            self.assertEqual(answer.headers["x-ratelimit-perhour-limit"], "9")
            seen.append((answer.status, answer.headers["x-ratelimit-perminute-remaining"],
                         answer.headers["x-ratelimit-perhour-remaining"]))
        self.assertEqual(seen, [(200, "4", "8"), (404, "3", "7"), (400, "2", "6"), (405, "1", "5"),
                                (204, "0", "4"), (429, "0", "4")])

    def test_accounts_do_not_see_each_other(self):
        fake = self.start_fake(per_minute=1000)
        fake.client.send("POST", CARDS, {"title": "One"}, KEY)
        theirs = fake.client.get(CARDS.replace("acme", "beta"), **KEY)
        self.assertEqual(theirs.json["data"]["data"], [])
        self.assertEqual([effect["account"] for effect in fake.effects()], ["acme"])

    def test_a_large_list_is_read_page_by_page(self):
        fake = self.start_fake(per_minute=1000)
        many = {"cards": [{"title": f"card {number}"} for number in range(450)]}
        made = fake.client.send("POST", CARDS + "/createMany", many, KEY)
        self.assertEqual(len(made.json["data"]), 450)
        pages = [fake.client.get(f"{CARDS}?page={page}&fields=card_id", **KEY).json["data"]
                 for page in (1, 2, 3)]
        self.assertEqual([page["pagination"]["all_pages"] for page in pages], [3, 3, 3])
        ids = [card["card_id"] for page in pages for card in page["data"]]
        self.assertEqual(ids, list(range(1, 451)))

    def test_reset_empties_the_ledger(self):
        fake = self.start_fake()
        fake.client.send("POST", CARDS, {"title": "One"}, KEY)
        self.assertEqual(fake.ledger()["calls"], 1)
        fake.reset()
        self.assertEqual(fake.ledger(), {"calls": 0, "limited": 0, "effects": []})

    def test_the_v1_limit_may_be_given_without_a_number(self):
        self.assertEqual(self.start_fake("one", v1_limit=True).client.get(CARDS, **KEY).status, 200)
        none_allowed = self.start_fake("two", v1_limit=0).client.get(CARDS, **KEY)
        self.assertEqual(none_allowed.status, 401)
        self.assertIn("API limit reached for this method", none_allowed.text)


if __name__ == "__main__":
    unittest.main()
