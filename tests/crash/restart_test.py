"""Killed, restarted, overlapped, raced: slots, rows and caps as users of other queues lost them."""

import datetime
import re
import signal
import sqlite3
import threading
import time
import unittest

from crash.rig import FOREVER, Rig, send
from crash.steps import killed_after_begin, killed_after_finish, killed_at_call
from support import injection
from support.case import DaemonCase
from support.daemon import Daemon
from support.rows import seconds
from support.wait import holds_for, wait_until

CAP_1 = {"queue.concurrency": 1, "queue.per_account": 1}
ACCOUNT_CAP_1 = {"queue.per_account": 1}


class RestartCase(DaemonCase):
    time_limit = 240.0

    def start_rig(self, settings=None, latency_ms=60):
        rig = Rig(self.folder / "rig", settings, latency_ms)
        self.addCleanup(rig.__exit__)
        return rig.__enter__()

    def assert_clean(self, rig, **caps):
        self.assertEqual([str(finding) for finding in rig.audit(**caps)], [])

    def another(self, rig, *arguments):
        """A second `serve` on the rig's store and folder."""
        other = Daemon(rig.daemon.folder, rig.daemon.settings, arguments)
        other.stdout = rig.daemon.folder / f"stdout-{id(other)}.log"
        other.stderr = rig.daemon.folder / f"stderr-{id(other)}.log"
        self.addCleanup(other.destroy)
        return other

    def drainers(self, rig):
        """The name of each that came to work, in order."""
        return re.findall(r"event=drainer_recovered .* drainer=(\w+)", rig.daemon.log_tail(10**6))

    def succeeded(self, rig, numbers):
        ends = {(row["status"], row["error_message"]) for row in map(rig.row, numbers)}
        self.assertEqual(ends, {("success", None)})


class KilledTest(RestartCase):
    def test_the_only_slot_is_free_as_soon_as_the_killed_run_has_its_end(self):  # R01
        rig = self.start_rig(CAP_1)
        cut = rig.submit("a", 0, FOREVER)
        rig.wait_begun(cut)
        rig.daemon.kill9_group()
        rig.restart()
        following = rig.submit("a", 1)
        begun = rig.wait_begun(following)
        ended = rig.row(cut)
        self.assertEqual(ended["error_code"], 303)
        self.assertLess(seconds(begun["started_at"]) - seconds(ended["finished_at"]), 5)
        self.assert_clean(rig, concurrency=1, per_account=1)

    def test_two_starts_at_the_same_instant_after_a_kill_are_one_and_the_cap_holds(self):  # R02
        rig = self.start_rig(ACCOUNT_CAP_1, latency_ms=700)
        numbers = [rig.submit("a", 2) for _ in range(3)]
        rig.wait_begun(numbers[0])
        rig.kill_main()
        pair = [self.another(rig), self.another(rig)]
        for one in pair:
            one.launch()
        refused = wait_until(lambda: [one for one in pair if one.process.poll() is not None], 20,
                             "one of the two gone")
        self.assertEqual([one.process.returncode for one in refused], [3])
        winner = next(one for one in pair if one not in refused)
        winner.wait_ready()
        winner.wait_drained(60)
        self.succeeded(rig, numbers)
        self.assert_clean(rig, per_account=1)

    def test_of_eight_starts_on_a_barrier_one_serves_and_the_caps_hold(self):  # R11
        rig = self.start_rig({"queue.concurrency": 4, "queue.per_account": 2}, latency_ms=5)
        numbers = [rig.submit(account, 1) for _ in range(20) for account in "abcdef"]
        rig.kill_main()
        eight = [self.another(rig) for _ in range(8)]
        barrier = threading.Barrier(len(eight))

        def launch(one):
            barrier.wait(30)
            one.launch()
        threads = [threading.Thread(target=launch, args=[one]) for one in eight]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        wait_until(lambda: sum(one.process.poll() is not None for one in eight) == 7, 30, "seven gone")
        self.assertEqual(sorted(one.process.poll() or 0 for one in eight), [0] + [3] * 7)
        next(one for one in eight if one.is_running()).wait_drained(90)
        self.succeeded(rig, numbers)
        self.assert_clean(rig)

    def test_a_gated_key_holds_no_slot_survives_the_restart_and_runs_once_when_the_gate_ends(self):
        # R07, R31
        rig = self.start_rig(CAP_1)
        rig.daemon.wait_finished(rig.submit("a", 0))
        key = rig.row(1)["apikey_hash"]
        ends = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=5)
        with sqlite3.connect(rig.daemon.store.path, timeout=10) as store:
            stamp = ends.strftime("%Y-%m-%d %H:%M:%S.000")
            store.execute("INSERT INTO codeRunner_gates (apikey_hash, until_at, first_seen, "
                          "last_seen, hint_ms, status) VALUES (?, ?, ?, ?, 4000, 429)",
                          [key, stamp, stamp, stamp])
        store.close()
        gated = [rig.submit("a", 1) for _ in range(3)]
        free = rig.daemon.wait_finished(rig.submit("b", 1), 4)
        self.assertEqual(free["status"], "success", "the gated rows hold no slot")
        rig.kill_main()
        rig.restart()
        for number in gated:
            row = rig.daemon.wait_finished(number, 30)
            self.assertGreaterEqual(seconds(row["started_at"]), int(ends.timestamp()))
            self.assertEqual(rig.daemon.store.job_of(number)["dispatch_attempts"], 1)
        self.assert_clean(rig, concurrency=1, per_account=1)

    def test_ten_restarts_in_the_middle_of_a_run_are_ten_drainers_and_one_run(self):
        # R18, R20, R29, R30
        rig = self.start_rig(ACCOUNT_CAP_1, latency_ms=3000)
        first = rig.submit("a", 2)
        begun = rig.wait_begun(first)
        second = rig.submit("a", 1)
        for _ in range(10):
            names = self.drainers(rig)
            rig.kill_main()
            rig.restart()
            wait_until(lambda known=len(names): len(self.drainers(rig)) > known, 10, "a new drainer")
            # The orphan is judged alive each time: it keeps its slot and is not begun again.
            self.assertEqual(rig.row(first), begun)
            self.assertEqual(rig.row(second)["status"], "queued")
        names = self.drainers(rig)
        self.assertEqual((len(names), len(set(names))), (11, 11), "each start has a name of its own")
        self.assertEqual(rig.daemon.wait_finished(first, 30)["status"], "success")
        self.assertEqual(rig.row(first)["run_id"], begun["run_id"])
        self.assertEqual(rig.daemon.wait_finished(second, 30)["status"], "success")
        self.assert_clean(rig, per_account=1)

    def test_runs_that_finished_unseen_by_the_drainer_stay_untouched(self):  # R21
        rig = self.start_rig({"queue.concurrency": 8, "queue.per_account": 8}, latency_ms=300)
        numbers = [rig.submit("abcdefgh"[i % 8], 1 if i >= 42 else 0) for i in range(50)]
        wait_until(lambda: rig.daemon.store.count_by_status().get("running", 0) == 8, 60,
                   "the last eight run")
        send(rig.daemon.pid, signal.SIGSTOP)
        rig.daemon.wait_drained(30)
        finished = rig.daemon.store.executions()
        rig.kill_main()
        rig.restart()
        holds_for(lambda: rig.daemon.store.executions() == finished, 2.5, "two ticks change nothing")
        self.succeeded(rig, numbers)
        self.assert_clean(rig, concurrency=8, per_account=8)

    def test_the_kill_of_everything_keeps_what_is_queued_and_shows_what_died(self):  # R25
        rig = self.start_rig()
        running = [rig.submit(account, 0, FOREVER) for account in "aabb"]
        for number in running:
            rig.wait_begun(number)
        queued = [rig.submit("abcdef"[i % 6], 0) for i in range(300)]
        killed_at = time.time()
        rig.daemon.kill9_group()
        self.assertEqual(rig.daemon.store.count_by_status(), {"running": 4, "queued": 300})
        rig.restart()
        for number in running:
            self.assertEqual(rig.daemon.wait_finished(number, 10)["error_code"], 303)
            shown = rig.daemon.execution(number)
            self.assertEqual(shown["state"], "killed")
            self.assertLess(abs(seconds(shown["finished_at"]) - killed_at), 10)
            host, _, _, pid, _ = rig.row(number)["executor_id"].split("|")
            self.assertIn(f"({host}, pid {pid}) died during the run", shown["error_message"])
        rig.daemon.wait_drained(120)
        self.succeeded(rig, queued)
        self.assert_clean(rig)


class RacedTest(RestartCase):
    def test_at_cap_1_no_row_is_stranded_between_admission_and_the_end_of_a_run(self):  # R04
        rig = self.start_rig(CAP_1 | {"queue.poll_interval": "2s"}, latency_ms=0)
        began = time.monotonic()
        for _ in range(120):
            # Admitted as the one before ends: at every distance from its last write.
            rig.daemon.wait_finished(rig.submit("a", 0), 10)
        self.assertLess(time.monotonic() - began, 60, "each had to wait for the next poll")
        numbers = []

        def flood():
            numbers.extend(rig.submit("a", 0) for _ in range(100))
        threads = [threading.Thread(target=flood) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        rig.daemon.wait_drained(60)
        self.succeeded(rig, numbers)
        self.assert_clean(rig, concurrency=1, per_account=1)

    def test_a_run_longer_than_every_timer_is_alone_and_begins_once(self):  # R04, R18, R30
        rig = self.start_rig(CAP_1, latency_ms=8000)
        long = rig.submit("a", 1)
        behind = rig.submit("a", 0)
        row = rig.daemon.wait_finished(long, 40)
        self.assertEqual(row["status"], "success")
        self.assertGreater(seconds(row["finished_at"]) - seconds(row["started_at"]), 7.9)
        rig.daemon.wait_finished(behind, 20)
        self.assertEqual(rig.daemon.store.job_of(long)["dispatch_attempts"], 1)
        self.assert_clean(rig, concurrency=1, per_account=1)


class DeployTest(RestartCase):
    def test_a_new_daemon_that_waits_for_the_lock_takes_over_under_load_and_loses_nothing(self):  # R26
        rig = self.start_rig(latency_ms=40)
        for _ in range(4):
            for account in "aabbccdd":
                rig.submit(account, 2)
            new = self.another(rig, "--wait-lock").launch()
            wait_until(lambda new=new: "waiting_for_lock" in new.log_tail(), 15, "it waits")
            old, rig.daemon = rig.daemon, new
            self.assertEqual(old.stop(), 0)
            new.wait_ready()
        rig.daemon.wait_drained(60)
        self.succeeded(rig, rig.acknowledged)
        self.assert_clean(rig)

    def test_a_stop_right_after_an_admission_cuts_no_run(self):
        rig = self.start_rig(latency_ms=0)
        for delay in range(24):
            rig.submit("a", 1)
            time.sleep(delay / 2400)  # from the admission over mint and dispatch to the begin
            self.assertEqual(rig.daemon.stop(), 0)
            held = rig.daemon.store.row("SELECT count(nonce_hash) AS n FROM codeRunner_jobs")
            self.assertEqual(held, {"n": 0}, "a dispatch was left to nobody")
            rig.restart()
        rig.daemon.wait_drained(30)
        self.succeeded(rig, rig.acknowledged)

    def test_thirty_restarts_under_load_leave_no_stuck_row_and_no_copy(self):  # R27
        rig = self.start_rig(latency_ms=30)
        for night in range(30):
            for account in "abcd":
                rig.submit(account, 2)
            if night % 2:
                self.assertEqual(rig.daemon.stop(), 0)
            else:
                rig.kill_main()
            rig.restart()
        rig.daemon.wait_drained(60)
        self.succeeded(rig, rig.acknowledged)
        self.assert_clean(rig)


@unittest.skipIf(injection.why_not(), injection.why_not())
class DeletedLockTest(RestartCase):
    def test_a_lock_file_that_is_deleted_is_made_again_and_locks_the_next_one_out(self):
        daemon = self.start_daemon()
        lock = daemon.store.path.with_name(daemon.store.path.name + ".lock")
        lock.unlink()
        wait_until(lock.exists, 10, "the lock file again")
        second = daemon.command("serve", "--config", "coderunner.toml")
        self.assertEqual(second.returncode, 3, second.stderr)
        self.assertTrue(daemon.is_running())


class KilledAtACommitTest(RestartCase):
    def test_a_worker_that_dies_between_its_finish_and_its_answer_frees_the_slot_each_time(self):  # R08
        rig = self.start_rig(CAP_1)
        for _ in range(12):
            self.assertIsNotNone(killed_after_finish(rig))
            self.assertEqual(rig.daemon.wait_finished(rig.submit("a", 0), 10)["status"], "success")
        self.assert_clean(rig, concurrency=1, per_account=1)
        self.succeeded(rig, rig.acknowledged)

    def test_a_run_cut_between_its_begin_and_its_first_statement_ends_and_frees_its_account(self):
        # R24
        rig = self.start_rig(ACCOUNT_CAP_1)
        self.assertIsNotNone(killed_after_begin(rig))
        cut = rig.acknowledged[-1]
        self.assertEqual(rig.daemon.wait_finished(rig.submit("a", 1), 10)["status"], "success")
        row = rig.row(cut)
        self.assertEqual((row["status"], row["error_code"]), ("error", 303))
        self.assertIsNotNone(row["started_at"])
        self.assert_clean(rig, per_account=1)

    def test_a_drainer_that_dies_inside_its_mint_leaves_the_row_queued_and_no_slot_used(self):  # R05
        rig = self.start_rig(CAP_1)
        for call, first in (("pwrite64", 24), ("fdatasync", 2)):
            rig.idle_worker()
            # A page each for two rows and their indexes, as many as the schema has, then the mint's
            # two: its first, its commit. Below those it is a death inside the admission, and so it
            # is where a heartbeat comes between: then one call later.
            admitted = before = len(rig.acknowledged)
            for which in range(first, first + 40):
                self.assertIsNotNone(killed_at_call(rig, rig.daemon.pid, call, which))
                rig.restart()
                admitted = len(rig.acknowledged)
                if admitted > before:
                    break
            self.assertEqual(admitted, before + 1)
            self.assertEqual(rig.daemon.wait_finished(rig.acknowledged[-1], 10)["status"], "success")
        self.assert_clean(rig, concurrency=1, per_account=1)
