"""Rate limits met live: a key waits by itself, its runs follow by themselves, and nobody else notices."""

import time

from support.case import DaemonCase
from support.rows import most_at_once, seconds
from support.wait import holds_for, wait_until

CALLS_ONCE = 'api.get("/cards")'
MAKES_CALLS = 'for i = 1, event.calls do api.get("/cards") end'
# Ends well with the 429 that closes the gate, so that nothing of the key is left in flight.
UNTIL_LIMITED = 'repeat local good = pcall(api.get, "/cards") until not good'
AT_ONCE = 2.0   # how long a start may take that nothing stands in the way of, on a busy machine


class GateCase(DaemonCase):
    def start(self, hour_ms, per_hour, latency_ms=5, **settings):
        """A daemon on a fake whose hour lasts `hour_ms`; its minute never limits."""
        assert hour_ms % 60 == 0
        self.hour = hour_ms / 1000
        self.fake = self.start_fake(per_minute=1_000_000, per_hour=per_hour, window_ms=hour_ms // 60,
                                    latency_ms=latency_ms)
        chosen = {"gate.margin": "300ms"} | {name.replace("__", "."): value
                                             for name, value in settings.items()}
        return self.start_daemon(chosen, fake=self.fake)

    def await_fresh_hour(self, share=0.15):
        """Until the fake's hour, which is aligned to the epoch, has just begun."""
        def into():
            return time.time() % self.hour
        wait_until(lambda: into() < share * self.hour, self.hour + 1, "a fresh hour")

    def gate_of(self, daemon, key):
        answer = daemon.client.get("/gates")
        self.assertEqual(answer.status, 200, answer.text)
        return next((gate for gate in answer.json["gates"] if gate["key"] == key), None)

    def reason(self, daemon, number):
        return daemon.execution(number)["queued_reason"]

    def wait_succeeded(self, daemon, numbers, timeout=30):
        for number in numbers:
            row = daemon.wait_finished(number, timeout)
            self.assertEqual((row["status"], row["error_code"]), ("success", None), row["error_message"])

    def assert_at_once(self, daemon, numbers):
        for number in numbers:
            row = daemon.store.execution(number)
            self.assertLess(seconds(row["started_at"]) - seconds(row["queued_at"]), AT_ONCE)


class HourlyLimitTest(GateCase):
    WAITING = 8

    def close_gate_by_limit(self, daemon):
        """The answer's row: its key is gated until the hour's end, and nothing of it is in flight."""
        self.await_fresh_hour()
        spent = daemon.wait_finished(daemon.submit("acme", UNTIL_LIMITED, apikey="first"), 15)
        self.assertEqual(spent["status"], "success", spent["error_message"])
        self.assertEqual(self.fake.ledger()["limited"], 1)
        return spent

    # R07, R31, R36, R45, R51, R55, R73
    def test_its_runs_stay_queued_hold_no_slot_over_a_kill_and_all_succeed_after_it(self):
        daemon = self.start(7980, 16, latency_ms=20, api__max_attempts=1, gate__minute="60s")
        spent = self.close_gate_by_limit(daemon)
        waiting = [daemon.submit("acme", CALLS_ONCE, apikey="first") for _ in range(self.WAITING)]
        shown = daemon.execution(waiting[0])
        gate = self.gate_of(daemon, spent["apikey_hash"])
        self.assertIsNotNone(gate)
        self.assertEqual((shown["state"], shown["queued_reason"], shown["queued_until"]),
                         ("queued", "key_gated", gate["until"]))
        self.assertEqual((gate["status"], gate["queued"]), (429, self.WAITING))
        self.assertGreaterEqual(seconds(gate["until"]) - seconds(gate["seen_at"]), gate["hint_s"])
        queue = daemon.client.get("/queue/data").json
        self.assertEqual(queue["gated_keys"],
                         [{"key": gate["key"], "until": gate["until"], "queued": self.WAITING}])
        self.assertEqual((queue["drainer"]["state"], queue["in_flight"]), ("gated", 0))
        self.assertEqual(queue["oldest_eligible_age_ms"], 0)
        self.assertGreater(queue["oldest_parked_age_ms"], 0)
        told = daemon.command("show", str(waiting[0])).stdout
        self.assertIn(f"key_gated until {gate['until']}", told)
        self.assertIn(f"closed by a 429, seen at {gate['seen_at']}", told)

        others = [daemon.submit("acme", CALLS_ONCE, apikey="second"), daemon.submit("other", CALLS_ONCE)]
        self.wait_succeeded(daemon, others)
        self.assert_at_once(daemon, others)

        daemon.kill9()
        daemon.restart()
        shown = daemon.execution(waiting[-1])
        self.assertEqual((shown["queued_reason"], shown["queued_until"]), ("key_gated", gate["until"]))
        others = [daemon.submit("acme", CALLS_ONCE, apikey="second"), daemon.submit("other", CALLS_ONCE)]
        self.wait_succeeded(daemon, others)
        self.assert_at_once(daemon, others)
        self.assertLess(time.time(), seconds(gate["until"]), "all that was seen while it was gated")
        self.assertEqual({daemon.store.job_of(number)["dispatch_attempts"] for number in waiting}, {0})

        self.wait_succeeded(daemon, waiting)
        rows = [daemon.store.execution(number) for number in waiting]
        self.assertGreaterEqual(min(row["started_at"] for row in rows),
                                gate["until"].replace("T", " ").rstrip("Z"))
        self.assertEqual(sorted(rows, key=lambda row: row["started_at"]), rows, "first in, first out")
        self.assertEqual({daemon.store.job_of(number)["dispatch_attempts"] for number in waiting}, {1})
        self.assertEqual(self.fake.ledger()["limited"], 1, "nobody else met it")

    # Rulings 11
    def test_a_long_gate_opens_to_one_run_first_and_the_rest_follow_once_it_has_ended(self):
        daemon = self.start(7980, 24, latency_ms=100, api__max_attempts=1, gate__minute="1s",
                            queue__poll_interval="100ms")
        self.close_gate_by_limit(daemon)
        waiting = [daemon.submit("acme", MAKES_CALLS, apikey="first", payload={"calls": 4})
                   for _ in range(5)]
        self.assertEqual(self.reason(daemon, waiting[-1]), "key_gated")
        wait_until(lambda: self.reason(daemon, waiting[-1]) == "key_probing", 15,
                   "the rest wait for one run", 0.01)
        self.wait_succeeded(daemon, waiting)
        first, *rest = sorted((daemon.store.execution(number) for number in waiting),
                              key=lambda row: row["started_at"])
        self.assertGreaterEqual(rest[0]["started_at"], first["finished_at"])
        self.assertEqual(most_at_once(rest), 2, "then as many as the account may have")

    # R56
    def test_two_runs_of_one_key_that_meet_it_wait_once_each_and_do_not_hammer(self):
        daemon = self.start(6000, 6, latency_ms=50)
        self.await_fresh_hour()
        both = [daemon.submit("acme", MAKES_CALLS, payload={"calls": 6}) for _ in range(2)]
        wait_until(lambda: self.fake.ledger()["limited"], 5, "a 429")
        key = daemon.execution(both[0])["apikey_hash"]
        gate = wait_until(lambda: self.gate_of(daemon, key), 5, "the gate")
        third = daemon.submit("acme", "return")
        self.assertEqual(self.reason(daemon, third), "key_gated", "one gate for every run of the key")
        self.wait_succeeded(daemon, [*both, third])
        ledger = self.fake.ledger()
        self.assertIn(ledger["limited"], (1, 2))
        self.assertEqual(ledger["calls"], 12 + ledger["limited"])
        for number in both:
            waits = [line for line in daemon.store.logs(number) if line["message"].startswith("waiting ")]
            self.assertLessEqual(len(waits), 2, waits)
        for number in both:
            self.assertGreaterEqual(daemon.store.execution(number)["finished_at"],
                                    gate["until"].replace("T", " ").rstrip("Z"))


class ReservedSlotTest(GateCase):
    # Rulings 25
    def test_two_limited_accounts_leave_a_third_one_a_slot_to_start_in_at_once(self):
        daemon = self.start(6000, 6, latency_ms=200, gate__minute="10s")
        self.await_fresh_hour()
        # Each key meets a 429, waits it out in its slot, and has two calls left in the next hour.
        first = [daemon.submit(account, MAKES_CALLS, payload={"calls": 10}) for account in ("a", "b")]
        self.wait_succeeded(daemon, first)
        limited = self.fake.ledger()["limited"]
        self.assertGreaterEqual(limited, 2)

        sleepers = [daemon.submit(account, MAKES_CALLS, payload={"calls": 3}) for account in "aabb"]
        wait_until(lambda: self.reason(daemon, sleepers[3]) == "last_slot_reserved", 5,
                   "the fourth is not given the last slot", 0.01)
        wait_until(lambda: self.fake.ledger()["limited"] >= limited + 2, 5, "both keys limited again")
        running = [row["execution_id"] for row in daemon.store.executions() if row["status"] == "running"]
        self.assertEqual(running, sleepers[:3])
        third = daemon.submit("c", "return")
        self.wait_succeeded(daemon, [third], 10)
        self.assert_at_once(daemon, [third])
        self.wait_succeeded(daemon, sleepers)
        ended = daemon.store.execution(third)["finished_at"]
        for number in sleepers[:3]:
            self.assertLess(ended, daemon.store.execution(number)["finished_at"])


class RestartTest(GateCase):
    # R07
    def test_what_operators_set_or_cleared_holds_over_a_kill_and_nothing_else_does(self):
        daemon = self.start_daemon()
        self.assertEqual(daemon.client.post("/queue/pause").status, 200)
        # The account is full of them, and they hold no slot of it.
        gated = [daemon.submit("acme", "return", apikey="first") for _ in range(4)]
        key = daemon.execution(gated[0])["apikey_hash"]
        self.assertEqual(daemon.client.send("PUT", f"/gates/{key}", {"for_ms": 600_000}).status, 200)
        self.assertEqual(daemon.client.post("/queue/resume").status, 200)
        daemon.kill9()
        daemon.restart()
        other = daemon.submit("acme", "return", apikey="second")
        self.wait_succeeded(daemon, [other])
        self.assertEqual({self.reason(daemon, number) for number in gated}, {"key_gated"})
        self.assertEqual({daemon.store.job_of(number)["dispatch_attempts"] for number in gated}, {0})

        self.assertEqual(daemon.client.post("/queue/pause").status, 200)
        self.assertEqual(daemon.client.request("DELETE", f"/gates/{key}").status, 204)
        daemon.kill9()
        daemon.restart()
        self.assertIsNone(self.gate_of(daemon, key))
        self.assertEqual({self.reason(daemon, number) for number in gated}, {"paused"})
        self.assertEqual(daemon.client.post("/queue/resume").status, 200)
        self.wait_succeeded(daemon, gated)
        self.assertEqual({daemon.store.job_of(number)["dispatch_attempts"] for number in gated}, {1})


class ManyKeysTest(GateCase):
    AHEAD = 2000

    # R36, R44
    def test_nine_of_ten_keys_run_while_one_is_gated_with_two_thousand_rows_at_the_head(self):
        fake = self.start_fake(per_minute=1_000_000, per_hour=1_000_000, latency_ms=10)
        daemon = self.start_daemon({"queue.max_queued_per_account": 3000, "queue.max_queued": 5000}, fake=fake)
        self.assertEqual(daemon.client.post("/queue/pause").status, 200)
        ahead = [daemon.submit("t0", MAKES_CALLS, payload={"calls": 3}) for _ in range(self.AHEAD)]
        others = [daemon.submit(f"t{key}", MAKES_CALLS, payload={"calls": 3})
                  for _ in range(6) for key in range(1, 10)]
        gated = daemon.execution(ahead[0])["apikey_hash"]
        self.assertEqual(daemon.client.send("PUT", f"/gates/{gated}", {"for_ms": 600_000}).status, 200)
        self.assertEqual(daemon.client.post("/queue/resume").status, 200)
        self.wait_succeeded(daemon, others)
        ran = [row for row in daemon.store.executions() if row["started_at"]]
        self.assertEqual(sorted(row["execution_id"] for row in ran), others)
        self.assertEqual(most_at_once(ran), 4, "every slot is used")
        holds_for(lambda: daemon.store.count_by_status() == {"queued": self.AHEAD, "success": 54}, 1, "gated")
        attempts = daemon.store.row("SELECT SUM(dispatch_attempts) AS n FROM codeRunner_jobs")
        self.assertEqual(attempts["n"], 54, "nothing of the key was tried")
        self.assertEqual(daemon.client.request("DELETE", f"/gates/{gated}").status, 204)
        self.wait_succeeded(daemon, ahead[:6])
