"""Accounts that flood beside accounts that do not, as the traces recorded them, live and compressed."""

from support.case import DaemonCase
from support.flood import latency_ms, read_trace, service_of, submit_all, wait_of, waits_table
from support.rows import most_at_once
from support.wait import wait_until

SCALE = 20.0
FIRST_SECONDS = 120.0
# Oldest first would let the last of them wait for the whole flood, over 10 s at this scale. The time
# beyond the service times is for a machine that does other things too.
SERVICE_TIMES, BUSY_MACHINE = 3, 1.5


class FloodTest(DaemonCase):
    def replay(self, trace):
        arrivals = read_trace(trace, FIRST_SECONDS)
        fake = self.start_fake(per_minute=10_000_000, per_hour=100_000_000,
                               latency_ms=latency_ms(arrivals, SCALE))
        daemon = self.start_daemon(fake=fake)
        admitted = submit_all(daemon, arrivals, SCALE)
        light = [number for number, row in admitted.items() if not row.is_flood]
        self.assertGreater(len(light), 15)
        for number in light:
            daemon.wait_finished(number, 20)
        left = daemon.store.count_by_status().get("queued", 0)
        self.assertGreater(left, 50, "the flood is still there when the last of the others has ended")

        for account in {row.account for row in admitted.values() if row.is_flood}:
            answer = daemon.client.post("/executions/cancel",
                                        {"account": account, "state": "queued", "dry_run": False})
            self.assertEqual(answer.status, 200, answer.text)
        daemon.wait_drained()
        rows = daemon.store.executions()
        self.assertEqual(len(rows), len(arrivals))
        ran = [row for row in rows if row["started_at"]]
        print(f"{trace}: {len(ran)} of {len(rows)} ran\n{waits_table(ran)}")
        self.assertEqual({row["error_code"] for row in rows if not row["started_at"]}, {108})
        self.assertEqual({row["status"] for row in ran}, {"success"})

        self.assertLessEqual(most_at_once(ran), 4)
        for account in {row["subdomain"] for row in ran}:
            self.assertLessEqual(most_at_once(r for r in ran if r["subdomain"] == account), 2, account)
        service = max(service_of(row) for row in ran)
        longest = max(wait_of(row) for row in ran if row["execution_id"] in light)
        self.assertLess(longest, SERVICE_TIMES * service + BUSY_MACHINE)
        self.assertGreater(max(wait_of(row) for row in ran if row["execution_id"] not in light), longest)
        return daemon

    # R35, R38, R40
    def test_the_light_accounts_wait_no_longer_than_some_service_times_beside_one_flood(self):
        self.replay("one-flooder")

    # R38
    def test_beside_two_floods_that_could_hold_every_slot(self):
        self.replay("two-flooders")

    # R38
    def test_beside_five_floods_that_outnumber_the_slots(self):
        self.replay("five-flooders")


class EvenSplitTest(DaemonCase):
    # R39
    def test_long_and_short_runs_of_two_saturated_accounts_hold_the_slots_for_the_same_time(self):
        fake = self.start_fake(per_minute=10_000_000, per_hour=100_000_000, latency_ms=20)
        # One slot each would be the caps' doing; with three slots and a cap of three it is the order's.
        daemon = self.start_daemon({"queue.concurrency": 3, "queue.per_account": 3}, fake=fake)
        self.assertEqual(daemon.client.post("/queue/pause").status, 200)
        calls = 'for i = 1, event.calls do api.get("/cards") end'
        for _ in range(12):
            daemon.submit("long", calls, payload={"calls": 34})
        for _ in range(300):
            daemon.submit("short", calls, payload={"calls": 2})
        self.assertEqual(daemon.client.post("/queue/resume").status, 200)
        wait_until(lambda: not daemon.store.row(
            "SELECT 1 FROM codeRunner_executions WHERE subdomain = 'long' AND status = 'queued'"),
            60, "every long one begun")
        rows = [row for row in daemon.store.executions() if row["finished_at"]]
        self.assertEqual({row["status"] for row in rows}, {"success"})
        held = {account: sum(service_of(row) for row in rows if row["subdomain"] == account)
                for account in ("long", "short")}
        self.assertTrue(daemon.store.count_by_status().get("queued"), "the short ones are saturated too")
        print(f"slot-seconds held: {held}")
        self.assertGreater(held["short"], 0.5 * held["long"])
        self.assertGreater(held["long"], 0.5 * held["short"])
