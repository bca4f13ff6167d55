"""SIGSTOP: a process that lies still past every timer and then wakes is fenced, whoever it is."""

import signal
import sqlite3
import time
import unittest

from crash.rig import FOREVER, Rig, send
from support import injection
from support.case import DaemonCase
from support.injection import Trace
from support.rows import seconds
from support.wait import wait_until

# The wall with its third and the margin are over after 2.4 s, the transport's patience after 7.4.
SHORT = {"executor.wall": "1500ms", "reaper.margin": "400ms", "reaper.running_after": "2500ms",
         "queue.poll_interval": "100ms"}
SLOW_API_MS = 1500
READS_THEN_CHANGES = "api.get('/boards') api.post('/cards', {title = execution.id .. ':1', column_id = 1, lane_id = 1})"


class StopCase(DaemonCase):
    def start_rig(self, settings=None, latency_ms=60):
        rig = Rig(self.folder / "rig", settings, latency_ms)
        self.addCleanup(rig.__exit__)
        return rig.__enter__()

    def assert_clean(self, rig):
        self.assertEqual([str(finding) for finding in rig.audit()], [])


class FencedRunTest(StopCase):
    def end_by_hand(self, rig, number):
        """As a reaper elsewhere would, that holds this run for dead."""
        with sqlite3.connect(rig.daemon.store.path, timeout=10) as store:
            changed = store.execute(
                "UPDATE codeRunner_executions SET status = 'error', error_code = 303, "
                "error_message = 'reaped', finished_at = '2026-01-01 00:00:00.000' "
                "WHERE execution_id = ? AND status = 'running'", [number]).rowcount
        store.close()
        self.assertEqual(changed, 1)

    def start_reading(self, rig):
        number = rig.submit("a", 0, READS_THEN_CHANGES)
        worker = rig.worker_of(number)
        wait_until(lambda: rig.fake.ledger()["calls"] == 1, 10, "the GET", 0.01)
        return number, worker

    def assert_fenced(self, rig, number):
        wait_until(lambda: not rig.daemon.scripts(), 15, "the script ended")
        wait_until(lambda: "finish_too_late" in rig.daemon.log_tail(), 10, "its finish was refused")
        row = rig.row(number)
        self.assertEqual((row["error_message"], row["finished_at"]),
                         ("reaped", "2026-01-01 00:00:00.000"))
        self.assertEqual(rig.fake.effects(), [])
        messages = [line["message"] for line in rig.daemon.store.logs(number)]
        self.assertEqual([one for one in messages if "POST" in one],
                         ["not sent, the row had been ended by somebody else: POST /cards"])

    def test_a_run_whose_row_has_been_ended_elsewhere_changes_nothing_any_more(self):
        rig = self.start_rig(latency_ms=SLOW_API_MS)
        number, _ = self.start_reading(rig)
        self.end_by_hand(rig, number)
        self.assert_fenced(rig, number)

    def test_a_stopped_worker_that_wakes_after_its_row_was_ended_changes_nothing(self):
        rig = self.start_rig(latency_ms=SLOW_API_MS)
        number, worker = self.start_reading(rig)
        send(worker, signal.SIGSTOP)
        self.end_by_hand(rig, number)
        send(worker, signal.SIGCONT)
        self.assert_fenced(rig, number)
        self.assertEqual(rig.daemon.wait_finished(rig.submit("a", 1))["status"], "success")


class StoppedPastEveryTimerTest(StopCase):
    def test_a_stopped_worker_is_killed_5_s_after_its_wall_and_its_row_ends_303(self):
        rig = self.start_rig(SHORT, latency_ms=400)
        number = rig.submit("a", 1, FOREVER)
        worker = rig.worker_of(number)
        rig.wait_effects(number)
        send(worker, signal.SIGSTOP)
        row = rig.daemon.wait_finished(number, 30)
        self.assertEqual(row["error_code"], 303)
        wait_until(lambda: not rig.daemon.scripts(), 10, "its script gone too")
        self.assertEqual(rig.daemon.wait_finished(rig.submit("a", 1))["status"], "success")
        self.assert_clean(rig)

    def test_worker_and_master_stopped_past_every_timer_wake_and_change_nothing(self):
        rig = self.start_rig(SHORT | {"queue.concurrency": 1}, latency_ms=400)
        number = rig.submit("a", 9)  # several effects are still to come
        worker, master = rig.worker_of(number), rig.daemon.master().pid
        rig.wait_effects(number)
        send(master, signal.SIGSTOP)
        send(worker, signal.SIGSTOP)
        # The slot is held until the row has an end: nobody is proved dead.
        behind = rig.submit("b", 0)
        row = rig.daemon.wait_finished(number, 40)
        self.assertEqual(row["error_code"], 303)
        self.assertGreaterEqual(seconds(row["finished_at"]) - seconds(row["started_at"]), 2.4)
        effects = len(rig.fake.effects())
        send(worker, signal.SIGCONT)
        send(master, signal.SIGCONT)
        wait_until(lambda: not rig.daemon.scripts(), 15, "the script of the ended run gone")
        self.assertEqual(rig.daemon.wait_finished(behind, 40)["status"], "success")
        self.assertEqual(rig.row(number), row)
        self.assertEqual(len(rig.fake.effects()), effects)
        self.assert_clean(rig)

    def test_a_stopped_worker_that_wakes_after_its_nonce_was_revoked_begins_nothing(self):
        rig = self.start_rig(SHORT)
        worker, master = rig.idle_worker(), rig.daemon.master().pid
        send(master, signal.SIGSTOP)
        send(worker, signal.SIGSTOP)
        number = rig.submit("a", 1)
        wait_until(lambda: rig.daemon.store.job_of(number)["last_dispatch_error"], 40,
                   "the dispatch given up")
        self.assertEqual(rig.row(number)["status"], "queued")
        send(worker, signal.SIGCONT)
        send(master, signal.SIGCONT)
        self.assertEqual(rig.daemon.wait_finished(number, 60)["status"], "success")
        self.assertGreaterEqual(rig.daemon.store.job_of(number)["dispatch_attempts"], 2)
        self.assert_clean(rig)

    def test_a_stopped_master_fails_nothing_and_what_it_missed_runs_once_when_it_wakes(self):
        rig = self.start_rig(SHORT)
        master = rig.daemon.master().pid
        send(master, signal.SIGSTOP)
        numbers = [rig.submit(account, 1) for account in "abcd"]
        wait_until(lambda: any(rig.daemon.store.job_of(one)["last_dispatch_error"] for one in numbers),
                   40, "a dispatch given up")
        self.assertEqual({rig.row(one)["status"] for one in numbers}, {"queued"})
        send(master, signal.SIGCONT)
        for number in numbers:
            self.assertEqual(rig.daemon.wait_finished(number, 60)["status"], "success")
        self.assert_clean(rig)

    def test_a_stopped_zygote_begins_nothing_and_the_rows_run_when_it_wakes(self):
        rig = self.start_rig()
        rig.idle_worker()
        zygote = rig.daemon.zygote().pid
        send(zygote, signal.SIGSTOP)
        number = rig.submit("a", 1)
        wait_until(lambda: rig.daemon.store.job_of(number)["last_dispatch_error"], 40,
                   "no script process was had")
        self.assertEqual(rig.row(number)["status"], "queued")
        send(zygote, signal.SIGCONT)
        self.assertEqual(rig.daemon.wait_finished(number, 60)["status"], "success")
        self.assert_clean(rig)

    def test_a_zygote_stopped_under_a_run_does_not_keep_the_wall_from_ending_it(self):
        rig = self.start_rig(SHORT | {"executor.loop_budget": "60s"})
        number = rig.submit("a", 0, FOREVER)
        rig.wait_begun(number)
        zygote = rig.daemon.zygote().pid
        send(zygote, signal.SIGSTOP)
        self.assertEqual(rig.daemon.wait_finished(number, 30)["error_code"], 303)
        send(zygote, signal.SIGCONT)
        wait_until(lambda: not rig.daemon.scripts(), 10, "its script gone")
        self.assertEqual(rig.daemon.wait_finished(rig.submit("a", 1), 30)["status"], "success")
        self.assert_clean(rig)

    def test_a_stopped_main_pid_that_wakes_after_every_timer_dispatches_nothing_twice(self):
        rig = self.start_rig(SHORT, latency_ms=300)
        numbers = [rig.submit(account, 2) for account in "aabbccdd"]
        rig.wait_begun(numbers[0])
        send(rig.daemon.pid, signal.SIGSTOP)
        time.sleep(9)  # more than the wall, its third, the margin and the transport's patience
        # It holds the lock: nobody else may dispatch meanwhile.
        second = rig.daemon.command("serve", "--config", "coderunner.toml", timeout=20)
        self.assertEqual(second.returncode, 3, second.stderr)
        send(rig.daemon.pid, signal.SIGCONT)
        rig.daemon.wait_drained(60)
        self.assertEqual({rig.row(one)["status"] for one in numbers}, {"success"})
        self.assert_clean(rig)

    def test_a_drainer_starved_of_cpu_keeps_the_caps(self):  # R13
        rig = self.start_rig(SHORT | {"queue.concurrency": 2, "queue.per_account": 1}, latency_ms=20)
        numbers = [rig.submit(account, 2) for _ in range(10) for account in "abc"]
        end = time.monotonic() + 60
        while set(rig.daemon.store.count_by_status()) & {"queued", "running"}:
            self.assertLess(time.monotonic(), end, "a starved drainer still drains")
            send(rig.daemon.pid, signal.SIGSTOP)
            time.sleep(0.25)
            send(rig.daemon.pid, signal.SIGCONT)
            time.sleep(0.02)
        self.assertEqual({rig.row(one)["status"] for one in numbers}, {"success"})
        self.assertEqual([str(one) for one in rig.audit(concurrency=2, per_account=1)], [])


class ReapedTest(StopCase):
    def test_drainer_and_executor_stopped_past_the_reaper_wake_and_change_nothing(self):
        fake = self.start_fake(per_minute=10000, latency_ms=500)
        shared = SHORT | {"store.url": f"sqlite:{self.folder}/shared.db",
                          "secrets.salt_file": f"{self.folder}/salt",
                          "secrets.key_file": f"{self.folder}/key"}
        doers = self.start_daemon(shared, name="doers", fake=fake,
                                  arguments=["--roles", "drainer,executor"])
        api = self.start_daemon(shared, name="api", fake=fake, arguments=["--roles", "api"])
        number = api.submit("a", READS_THEN_CHANGES, identifier="1")
        wait_until(lambda: fake.ledger()["calls"] == 1, 20, "it reads")
        worker = int(api.store.execution(number)["executor_id"].split("|")[3])
        stopped = [doers.pid, doers.master().pid, worker]
        for pid in stopped:
            send(pid, signal.SIGSTOP)
        row = api.wait_finished(number, 40)
        self.assertEqual(row["error_code"], 303)
        self.assertIn("reaped: still running after", row["error_message"])
        for pid in reversed(stopped):
            send(pid, signal.SIGCONT)
        wait_until(lambda: not doers.scripts(), 20, "its script gone")
        after = api.submit("a", READS_THEN_CHANGES, identifier="1")
        self.assertEqual(api.wait_finished(after, 40)["status"], "success")
        self.assertEqual(api.store.execution(number), row)
        self.assertEqual([one["body"]["title"] for one in fake.effects()], [f"{after}:1"])


@unittest.skipIf(injection.why_not(), injection.why_not())
class StoppedBetweenLineAndCallTest(StopCase):
    """After the line "sending" only the clock is left as a fence, and at last nothing."""

    def stop_before_its_first_change(self, call):
        """The worker has its line kept, then lies still from its first such call on until the row
        has its end; the master, which would kill it, lies still with it."""
        rig = self.start_rig(SHORT)
        worker, master = rig.idle_worker(), rig.daemon.master().pid
        with Trace(worker, call, "STOP", 1) as trace:
            number = rig.submit("a", 2)
            trace.wait_for("stopped by SIGSTOP")
        send(master, signal.SIGSTOP)
        row = rig.daemon.wait_finished(number, 40)
        self.assertEqual(rig.fake.effects(), [])
        self.assertIn("it had sent 1: POST /cards: no answer", row["error_message"])
        send(worker, signal.SIGCONT)
        wait_until(lambda: not rig.daemon.scripts(), 15, "its script gone")
        send(master, signal.SIGCONT)
        self.assertEqual(rig.row(number), row)
        self.assert_clean(rig)
        return rig

    def test_a_worker_stopped_while_it_connects_sends_nothing_past_its_wall(self):
        rig = self.stop_before_its_first_change("connect")
        self.assertEqual(rig.fake.effects(), [])

    def test_a_worker_stopped_just_before_the_bytes_sends_that_one_call_which_its_row_names(self):
        # The window that no store can close: crash window announced-unsent.
        rig = self.stop_before_its_first_change("getsockopt")
        wait_until(rig.fake.effects, 10, "the call of the woken worker")
        self.assertEqual(len(rig.fake.effects()), 1)
        self.assert_clean(rig)


@unittest.skipIf(injection.why_not(), injection.why_not())
class StoppedAtACommitTest(StopCase):
    """A process that lies still inside a commit holds the store's lock, and nobody can write."""

    def test_a_worker_that_lies_still_inside_its_begin_is_killed_and_the_queue_goes_on(self):
        rig = self.start_rig(SHORT)
        with Trace(rig.idle_worker(), "fdatasync", "STOP", 1) as trace:
            number = rig.submit("a", 2)
            trace.wait_for("stopped by SIGSTOP")
        # Killed 5 s after its wall; its begin was not visible yet, so that the row is queued again.
        self.assertEqual(rig.daemon.wait_finished(number, 60)["status"], "success")
        self.assertEqual(rig.daemon.wait_finished(rig.submit("b", 1), 30)["status"], "success")
        self.assert_clean(rig)
