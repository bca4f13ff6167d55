"""The reaper in a real daemon: what nobody else is left to end is ended, what is old goes."""

import contextlib
import os
import signal
import sqlite3

from support.case import DaemonCase
from support.rows import CREATES_A_CARD, SLOW
from support.wait import holds_for, wait_until

OLD = "2020-01-01 00:00:00.000"
PATIENCE = 40.0  # a sweep comes every 5 s, and a proof waits 10 s for those who know more


class ReaperTest(DaemonCase):
    def plant(self, daemon, sql, *parameters):
        """As another program would, while nobody serves; answers the new row's id."""
        with contextlib.closing(sqlite3.connect(daemon.store.path, timeout=10)) as connection:
            with connection:
                return connection.execute(sql, parameters).lastrowid

    def plant_ended(self, daemon, queued_at, started_at, apikey=None):
        job = self.plant(daemon, "INSERT INTO codeRunner_jobs (apikey) VALUES (?)", apikey)
        number = self.plant(
            daemon, "INSERT INTO codeRunner_executions (job_id, subdomain, subdomain_hash, status,"
            " queued_at, started_at, finished_at) VALUES (?, 'a', 'hash', 'success', ?, ?, ?)",
            job, queued_at, started_at, started_at)
        self.plant(daemon, "INSERT INTO codeRunner_logs (execution_id, at, level, message)"
                   " VALUES (?, ?, 'info', 'old')", number, OLD)
        return number, job

    def stopped_after_one_run(self):
        daemon = self.start_daemon()
        number = daemon.submit("a", "log('x')")
        daemon.wait_finished(number)
        self.assertEqual(daemon.stop(), 0)
        return daemon, daemon.store.execution(number)

    def test_old_rows_go_with_their_jobs_and_lines_and_a_forgotten_key_is_scrubbed(self):
        daemon, kept = self.stopped_after_one_run()
        old, old_job = self.plant_ended(daemon, OLD, OLD)
        by_start, _ = self.plant_ended(daemon, None, OLD)
        forgotten, _ = self.plant_ended(daemon, kept["queued_at"], OLD, apikey="sealed")
        daemon.restart()
        left = {kept["execution_id"], forgotten}
        wait_until(lambda: {row["execution_id"] for row in daemon.store.executions()} == left,
                   PATIENCE, f"{old} and {by_start} purged")
        self.assertEqual(daemon.store.logs(old), [])
        self.assertIsNone(daemon.store.row("SELECT 1 FROM codeRunner_jobs WHERE job_id = ?",
                                           [old_job]))
        wait_until(lambda: daemon.store.job_of(forgotten)["apikey"] is None, PATIENCE, "a scrub")
        self.assertEqual(len(daemon.store.logs(forgotten)), 1)
        self.assertIn("kind=scrubbed", daemon.log_tail())

    def test_without_a_drainer_a_queued_row_ends_never_dispatched_and_loudly(self):
        daemon = self.start_daemon({"reaper.queued_after": "2s"}, arguments=["--roles", "api"])
        number = daemon.submit("a", "log('x')")
        wait_until(lambda: daemon.execution(number)["state"] == "never_dispatched", PATIENCE,
                   "the row ended")
        row = daemon.store.execution(number)
        self.assertEqual((row["error_code"], row["started_at"]), (303, None))
        self.assertIsNone(daemon.store.job_of(number)["apikey"])
        self.assertRegex(daemon.log_tail(), r"level=error [^\n]*kind=never_dispatched")

    # R76, R77
    def test_with_a_drainer_a_queued_row_is_never_too_old(self):
        daemon = self.start_daemon({"reaper.queued_after": "1s", "queue.concurrency": 1})
        daemon.submit("a", SLOW)
        wait_until(lambda: daemon.store.count_by_status().get("running"), 15, "the slot taken")
        number = daemon.submit("b", "log('x')")
        holds_for(lambda: daemon.store.execution(number)["status"] == "queued", 12,
                  "the row waits for its slot", 0.2)
        self.assertIsNotNone(daemon.store.job_of(number)["apikey"])

    def test_without_a_drainer_a_run_whose_executor_died_is_ended_by_proof(self):
        daemon = self.start_daemon()
        number = daemon.submit("a", SLOW)
        wait_until(lambda: daemon.store.count_by_status().get("running"), 15, "a run")
        daemon.kill9_group()
        daemon.arguments = ["--roles", "api"]
        daemon.restart()
        row = daemon.wait_finished(number, PATIENCE)
        host, _, _, pid, _ = row["executor_id"].split("|")
        self.assertEqual(row["error_message"], f"reaped: the executor process ({host}, pid {pid}) "
                                               "died during the run; it had sent no change")
        self.assertEqual(daemon.execution(number)["state"], "killed")

    def test_whoever_ends_a_run_lists_what_it_had_sent(self):
        fake = self.start_fake(per_minute=1000)
        daemon = self.start_daemon(fake=fake)
        by_next_worker, by_drainer = [
            daemon.submit(account, CREATES_A_CARD + " " + SLOW, identifier=account)
            for account in ("a", "b")]
        lines = "SELECT COUNT(*) AS n FROM codeRunner_logs WHERE message = 'POST /cards: 200'"
        wait_until(lambda: daemon.store.row(lines)["n"] == 2, 15, "both cards made and logged")
        _, _, _, pid, _ = daemon.store.execution(by_next_worker)["executor_id"].split("|")
        os.kill(int(pid), signal.SIGKILL)
        row = daemon.wait_finished(by_next_worker)
        self.assertRegex(row["error_message"], r"^reaped: .+; it had sent 1: POST /cards: 200$")
        daemon.kill9_group()
        daemon.restart()
        row = daemon.wait_finished(by_drainer)
        self.assertRegex(row["error_message"], r"^reaped: .+; it had sent 1: POST /cards: 200$")
        shown = daemon.command("show", str(by_drainer)).stdout
        self.assertIn("reaped, how long it ran is not known", shown)
