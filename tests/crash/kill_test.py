"""SIGKILL, for real: what was queued is run once, what was cut says so, and slots are freed by proof."""

import os
import signal
import time

from support.case import DaemonCase
from support.rows import CREATES_A_CARD, SLOW, most_at_once
from support.wait import wait_until

KILLS = 20
QUEUED = 200
TWO_CALLS = CREATES_A_CARD + " " + CREATES_A_CARD


def begun(daemon):
    return daemon.store.count_by_status().get("running", 0)


class KillTest(DaemonCase):
    time_limit = 300.0

    def submit_many(self, daemon, count, source=TWO_CALLS):
        return [daemon.submit(account, source, identifier=f"{account}-{i}")
                for i in range(count // 4) for account in ("a", "b", "c", "d")]

    def assert_ran_once(self, daemon, fake, numbers):
        rows = daemon.store.executions()
        self.assertEqual([row["execution_id"] for row in rows], numbers)
        self.assertEqual({row["status"] for row in rows}, {"success"},
                         [row for row in rows if row["status"] != "success"][:3])
        titles = [effect["body"]["title"] for effect in fake.effects()]
        self.assertEqual(len(titles), 2 * len(numbers))
        self.assertEqual(sorted(titles), sorted(2 * [row["identifier"] for row in rows]))
        self.assertLessEqual(most_at_once(rows), 4)
        for account in ("a", "b", "c", "d"):
            self.assertLessEqual(most_at_once([r for r in rows if r["subdomain"] == account]), 2)

    def test_a_queued_row_survives_the_kill_of_everything_and_runs_exactly_once(self):
        fake = self.start_fake(per_minute=10000)
        daemon = self.start_daemon({"queue.concurrency": 1}, fake=fake)
        daemon.submit("a", SLOW)
        wait_until(lambda: begun(daemon) == 1, 10, "the slot taken")
        number = daemon.submit("b", CREATES_A_CARD, identifier="kept")
        daemon.kill9_group()
        self.assertEqual(daemon.store.execution(number)["status"], "queued")
        daemon.restart()
        self.assertEqual(daemon.wait_finished(number)["status"], "success")
        self.assertEqual(len(fake.effects()), 1)

    def test_twenty_kills_of_the_main_pid_lose_nothing_and_repeat_nothing(self):
        fake = self.start_fake(per_minute=100000, latency_ms=150)
        daemon = self.start_daemon(fake=fake)
        numbers = self.submit_many(daemon, QUEUED)
        slowest = 0.0
        for _ in range(KILLS):
            wait_until(lambda: begun(daemon) == 4, 20, "four runs")
            daemon.kill9()
            began = time.monotonic()
            daemon.restart()
            slowest = max(slowest, time.monotonic() - began)
        daemon.wait_drained(120)
        print(f"slowest of {KILLS} restarts to ready: {slowest:.2f} s")
        self.assertLess(slowest, 2.0, "ready within 2 s of the kill")
        self.assert_ran_once(daemon, fake, numbers)

    def test_runs_of_a_surviving_executor_end_normally_and_hold_their_slots_until_then(self):
        fake = self.start_fake(per_minute=100000, latency_ms=1500)
        daemon = self.start_daemon(fake=fake)
        numbers = self.submit_many(daemon, 12)
        wait_until(lambda: begun(daemon) == 4, 20, "four runs")
        first = {row["execution_id"] for row in daemon.store.executions() if row["status"] == "running"}
        daemon.kill9()
        daemon.restart()
        while any(daemon.store.execution(n)["status"] == "running" for n in first):
            self.assertLessEqual(begun(daemon), 4)
            time.sleep(0.05)
        daemon.wait_drained(60)
        self.assert_ran_once(daemon, fake, numbers)

    def test_after_the_kill_of_the_whole_group_cut_runs_end_303_and_free_their_slots_within_5_s(self):
        daemon = self.start_daemon()
        cut = [daemon.submit(account, SLOW) for account in ("a", "a", "b", "b")]
        wait_until(lambda: begun(daemon) == 4, 20, "four runs")
        next_one = daemon.submit("c", "return")
        daemon.kill9_group()
        began = time.monotonic()
        daemon.restart()
        for number in cut:
            row = daemon.wait_finished(number, 5)
            self.assertEqual((row["status"], row["error_code"]), ("error", 303))
            self.assertTrue(row["error_message"])
            self.assertEqual(daemon.execution(number)["state"], "killed")
        daemon.wait_finished(next_one, 5)
        self.assertLess(time.monotonic() - began, 5)
        self.assertEqual(daemon.store.execution(next_one)["status"], "success")

    def test_after_the_kill_of_the_master_alone_dispatching_goes_on_within_5_s(self):
        fake = self.start_fake(per_minute=100000, latency_ms=400)
        daemon = self.start_daemon(fake=fake)
        numbers = self.submit_many(daemon, 40)
        wait_until(lambda: begun(daemon) == 4, 20, "four runs")
        master = daemon.master().pid
        os.kill(master, signal.SIGKILL)
        began = time.monotonic()
        known = {row["execution_id"] for row in daemon.store.executions() if row["started_at"]}
        wait_until(lambda: [row for row in daemon.store.executions()
                            if row["started_at"] and row["execution_id"] not in known], 5, "a new run")
        print(f"next run {time.monotonic() - began:.2f} s after the kill of the master")
        self.assertTrue(daemon.is_running())
        daemon.wait_drained(60)
        self.assert_ran_once(daemon, fake, numbers)

    def test_the_kill_of_a_worker_ends_its_run_303_and_nothing_else(self):
        daemon = self.start_daemon()
        victim = daemon.submit("a", SLOW)
        wait_until(lambda: begun(daemon) == 1, 10, "it runs")
        pid = int(daemon.store.execution(victim)["executor_id"].split("|")[3])
        os.kill(pid, signal.SIGKILL)
        row = daemon.wait_finished(victim, 5)
        self.assertEqual(row["error_code"], 303)
        wait_until(lambda: not daemon.scripts(), 5, "its script gone too")
        self.assertEqual(daemon.wait_finished(daemon.submit("a", "return"))["status"], "success")

    def test_the_kill_of_the_zygote_ends_the_scripts_it_held_and_the_next_run_works(self):
        daemon = self.start_daemon()
        victim = daemon.submit("a", SLOW)
        wait_until(lambda: begun(daemon) == 1, 10, "it runs")
        os.kill(daemon.zygote().pid, signal.SIGKILL)
        row = daemon.wait_finished(victim, 5)
        self.assertEqual(row["status"], "error")
        self.assertEqual(daemon.wait_finished(daemon.submit("a", "return"))["status"], "success")

    def test_the_kill_of_a_script_ends_its_run_302(self):
        daemon = self.start_daemon()
        victim = daemon.submit("a", SLOW)
        wait_until(lambda: begun(daemon) == 1 and daemon.scripts(), 10, "it runs")
        os.kill(daemon.scripts()[-1].pid, signal.SIGKILL)
        row = daemon.wait_finished(victim, 5)
        self.assertEqual((row["status"], row["error_code"]), ("error", 302))
