"""The whole path from outside: admitted, queued, drained, run, and told truthfully."""

import os
import signal
import sqlite3
import time

from support.case import DaemonCase
from support.rows import CREATES_A_CARD, SLOW, most_at_once, seconds
from support.wait import wait_until


class PathTest(DaemonCase):
    def test_an_execution_runs_and_its_effect_takes_place_once(self):
        fake = self.start_fake(per_minute=100)
        daemon = self.start_daemon(fake=fake)
        answer = daemon.post_submission("Acme", CREATES_A_CARD, identifier="one", payload={"a": 1})
        self.assertEqual(answer.status, 202)
        self.assertEqual(set(answer.json), {"execution_id", "job_id", "status"})
        self.assertEqual(answer.json["status"], "queued")
        daemon.wait_finished(answer.json["execution_id"])
        shown = daemon.execution(answer.json["execution_id"])
        self.assertEqual((shown["state"], shown["account"]), ("succeeded", "acme"))
        self.assertEqual([effect["path"] for effect in fake.effects()], ["/cards"])

    def test_the_row_holds_every_mark_and_the_key_is_scrubbed_at_the_end(self):
        daemon = self.start_daemon()
        number = daemon.submit("acme", "return")
        row = daemon.wait_finished(number)
        self.assertRegex(row["run_id"], "^[0-9a-f]{32}$")
        self.assertEqual(len(row["executor_id"].split("|")), 5)
        self.assertRegex(row["queued_at"], r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$")
        job = daemon.store.job_of(number)
        self.assertIsNone(job["apikey"])
        self.assertIsNone(job["nonce_hash"])
        self.assertEqual(job["dispatch_attempts"], 1)

    def test_a_script_error_is_301_with_its_line(self):
        daemon = self.start_daemon()
        row = daemon.wait_finished(daemon.submit("acme", "log('before')\nerror('no such rule')"))
        self.assertEqual((row["status"], row["error_code"]), ("error", 301))
        self.assertIn("no such rule", row["error_message"])
        self.assertIn("2", row["error_message"])

    def test_an_error_that_is_no_text_is_named_by_its_type_not_by_its_address(self):
        daemon = self.start_daemon()
        for source, expected in (("error({code = 7})", "an error of type table"),
                                 ("error(print)", "an error of type function"),
                                 ("error(setmetatable({}, {__tostring = function() return 'mine' end}))", "mine")):
            with self.subTest(source=source):
                row = daemon.wait_finished(daemon.submit("acme", source))
                self.assertEqual((row["error_code"], row["error_message"]), (301, expected))

    def test_the_payload_arrives_as_a_table_and_the_log_is_readable(self):
        daemon = self.start_daemon()
        number = daemon.submit("acme", 'log(event.name, #event.list, event.none == json.null)',
                               payload={"name": "caf\u00e9 \U0001f600", "list": [1, 2, 3], "none": None})
        daemon.wait_finished(number)
        logs = daemon.client.get(f"/executions/{number}/logs").json["logs"]
        self.assertIn("caf\u00e9 \U0001f600\t3\ttrue", [line["message"] for line in logs])

    def test_the_wall_ends_a_run_with_303(self):
        daemon = self.start_daemon({"executor.wall": "2s", "executor.loop_budget": "60s"})
        row = daemon.wait_finished(daemon.submit("acme", SLOW))
        self.assertEqual(row["error_code"], 303)
        self.assertIn("wall", row["error_message"])
        self.assertLess(seconds(row["finished_at"]) - seconds(row["started_at"]), 3.5)

    def test_the_loop_budget_ends_a_run_with_301_even_under_pcall(self):
        daemon = self.start_daemon({"executor.loop_budget": "1s"})
        row = daemon.wait_finished(daemon.submit(
            "acme", "while true do pcall(function() while true do end end) end"))
        self.assertEqual(row["error_code"], 301)

    def test_never_more_than_two_of_an_account_and_four_in_all(self):
        fake = self.start_fake(per_minute=10000, latency_ms=30)
        daemon = self.start_daemon(fake=fake)
        numbers = [daemon.submit(account, CREATES_A_CARD + CREATES_A_CARD, identifier="x")
                   for _ in range(8) for account in ("a", "b", "c")]
        daemon.wait_drained()
        rows = daemon.store.executions()
        self.assertEqual(len(rows), len(numbers))
        self.assertTrue(all(row["status"] == "success" for row in rows), rows)
        self.assertLessEqual(most_at_once(rows), 4)
        for account in ("a", "b", "c"):
            self.assertLessEqual(most_at_once([r for r in rows if r["subdomain"] == account]), 2)

    def test_the_executor_may_listen_on_a_unix_socket(self):
        daemon = self.start_daemon({"executor.listen": f"unix:{self.folder}/executor.sock"})
        self.assertEqual(daemon.wait_finished(daemon.submit("acme", "return"))["status"], "success")

    def test_within_an_account_and_key_first_in_is_first_out(self):
        daemon = self.start_daemon({"queue.per_account": 1})
        numbers = [daemon.submit("acme", "return") for _ in range(12)]
        daemon.wait_drained()
        by_start = sorted(daemon.store.executions(), key=lambda row: row["started_at"])
        self.assertEqual([row["execution_id"] for row in by_start], numbers)

    def test_an_admission_wakes_the_drainer(self):
        daemon = self.start_daemon({"queue.poll_interval": "2s"})
        daemon.wait_finished(daemon.submit("acme", "return"))  # a worker is there now
        waits = []
        for _ in range(5):
            row = daemon.wait_finished(daemon.submit("acme", "return"))
            waits.append(seconds(row["started_at"]) - seconds(row["queued_at"]))
        self.assertLess(sorted(waits)[2], 0.5, "far below the poll: the wake-up did it")

    def test_without_the_wake_up_the_poll_still_finds_the_row(self):
        daemon = self.start_daemon({"queue.wakeup": False, "queue.poll_interval": "300ms"})
        daemon.wait_finished(daemon.submit("acme", "return"), 10)

    def test_a_row_written_by_another_program_is_a_valid_admission(self):
        daemon = self.start_daemon()
        connection = sqlite3.connect(daemon.store.path, timeout=10)
        with connection:
            job = connection.execute("INSERT INTO codeRunner_jobs (apikey) VALUES (NULL)").lastrowid
            number = connection.execute(
                "INSERT INTO codeRunner_executions (job_id, subdomain, subdomain_hash, status, "
                "source_code, queued_at) VALUES (?, 'acme', ?, 'queued', 'return', "
                "'2026-08-24 12:08:00.000')", (job, "a" * 64)).lastrowid
        connection.close()
        self.assertEqual(daemon.wait_finished(number)["status"], "success")


    def test_queued_rows_whose_job_or_key_is_gone_end_303_and_hold_up_nobody(self):
        daemon = self.start_daemon()
        daemon.wait_finished(daemon.submit("acme", "return"))
        row = daemon.store.executions()[0]
        connection = sqlite3.connect(daemon.store.path, timeout=10)
        insert = ("INSERT INTO codeRunner_executions (job_id, subdomain, subdomain_hash, apikey_hash, status, "
                  "source_code, queued_at) VALUES (?, 'acme', ?, ?, 'queued', 'return', '2026-08-24 12:08:00.000')")
        with connection:
            scrubbed = connection.execute("INSERT INTO codeRunner_jobs (apikey) VALUES (NULL)").lastrowid
            gone = [connection.execute(insert, (job, row["subdomain_hash"], row["apikey_hash"])).lastrowid
                    for job in (999998, 999999, None, scrubbed)]
        connection.close()
        behind = daemon.submit("acme", "return")
        self.assertEqual(daemon.wait_finished(behind, 10)["status"], "success")
        for number in gone:
            self.assertEqual(daemon.wait_finished(number, 10)["error_code"], 303)
            self.assertEqual(daemon.execution(number)["state"], "never_dispatched")
            self.assertIn("API key gone", daemon.execution(number)["error_message"])


class GateTest(DaemonCase):
    def test_a_429_closes_a_gate_that_status_shows_and_the_work_resumes_by_itself(self):
        fake = self.start_fake(per_minute=10000, per_hour=4, window_ms=50)  # an hour of 3 s
        daemon = self.start_daemon({"gate.margin": "300ms"}, fake=fake)
        numbers = [daemon.submit("acme", CREATES_A_CARD + " " + CREATES_A_CARD, identifier=str(i))
                   for i in range(6)]
        gate = wait_until(lambda: daemon.client.get("/queue/data").json["gated_keys"], 20, "a gate")
        self.assertRegex(gate[0]["key"], "^[0-9a-f]{64}$")
        wait_until(lambda: gate[0]["key"] in daemon.command("status").stdout, 20, "the gate in status")
        daemon.wait_drained(60)
        self.assertEqual({daemon.execution(n)["state"] for n in numbers}, {"succeeded"})
        self.assertEqual(len(fake.effects()), 12)
        self.assertGreater(fake.ledger()["limited"], 0)

    def test_a_gated_row_says_why_it_waits_and_until_when(self):
        fake = self.start_fake(per_minute=1, window_ms=6000)
        daemon = self.start_daemon({"gate.margin": "200ms", "gate.minute": "6s",
                                    "queue.per_account": 1}, fake=fake)
        daemon.submit("acme", CREATES_A_CARD + " " + CREATES_A_CARD, identifier="1")
        second = daemon.submit("acme", CREATES_A_CARD, identifier="2")
        other = daemon.submit("other", "return")

        def gated():
            shown = daemon.execution(second)
            return shown if shown["queued_reason"] == "key_gated" else None
        shown = wait_until(gated, 10, "the row parked by its gate")
        self.assertGreater(seconds(shown["queued_until"]), seconds(shown["queued_at"]))
        self.assertEqual(daemon.wait_finished(other, 5)["status"], "success")
        daemon.wait_drained(40)
        self.assertEqual(daemon.execution(second)["state"], "succeeded")


    def test_a_spent_minute_gates_the_key_before_anybody_meets_a_429(self):
        fake = self.start_fake(per_minute=4, window_ms=3000)
        daemon = self.start_daemon({"gate.margin": "300ms", "gate.minute": "3s"}, fake=fake)
        numbers = [daemon.submit("acme", CREATES_A_CARD, identifier=str(i)) for i in range(12)]
        daemon.wait_drained(60)
        self.assertEqual({daemon.execution(n)["state"] for n in numbers}, {"succeeded"})
        self.assertLess(fake.ledger()["limited"], 4, "at most what two runs met at the same moment")


class StopTest(DaemonCase):
    def test_sigterm_lets_runs_end_keeps_the_queue_and_exits_0(self):
        fake = self.start_fake(per_minute=10000, latency_ms=700)
        daemon = self.start_daemon({"queue.concurrency": 1}, fake=fake)
        first = daemon.submit("acme", CREATES_A_CARD, identifier="1")
        second = daemon.submit("acme", CREATES_A_CARD, identifier="2")
        wait_until(lambda: daemon.store.execution(first)["status"] == "running", 10, "the first runs")
        self.assertEqual(daemon.stop(), 0)
        self.assertEqual(daemon.store.execution(first)["status"], "success")
        self.assertEqual(daemon.store.execution(second)["status"], "queued")
        self.assertEqual(daemon.all_processes(), [])
        daemon.restart()
        self.assertEqual(daemon.wait_finished(second)["status"], "success")
        self.assertEqual(len(fake.effects()), 2)

    def test_a_signal_to_the_whole_group_cuts_no_script(self):
        fake = self.start_fake(per_minute=10000, latency_ms=700)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(signal=number.name):
                daemon = self.start_daemon(name=number.name, fake=fake)
                first = daemon.submit("acme", CREATES_A_CARD, identifier="1")
                wait_until(lambda: daemon.store.execution(first)["status"] == "running", 10, "it runs")
                os.killpg(daemon.pid, number)
                self.assertEqual(daemon.wait_ended(20), 0)
                self.assertEqual(daemon.store.execution(first)["status"], "success")

    def test_what_outlasts_the_stop_budget_ends_303_and_says_so(self):
        daemon = self.start_daemon({"serve.stop_budget": "500ms"})
        number = daemon.submit("acme", SLOW)
        wait_until(lambda: daemon.store.execution(number)["status"] == "running", 10, "it runs")
        self.assertEqual(daemon.stop(20), 0)
        row = daemon.store.execution(number)
        self.assertEqual(row["error_code"], 303)
        self.assertIn("stop", row["error_message"])
        self.assertEqual(daemon.all_processes(), [])


class SecondCopyTest(DaemonCase):
    def test_a_second_drainer_on_the_same_store_exits_3_and_disturbs_nobody(self):
        daemon = self.start_daemon()
        began = time.monotonic()
        second = daemon.command("serve", "--config", "coderunner.toml")
        self.assertEqual(second.returncode, 3, second.stderr)
        self.assertLess(time.monotonic() - began, 5)
        self.assertEqual(daemon.wait_finished(daemon.submit("acme", "return"))["status"], "success")

    def test_another_spelling_of_the_store_is_the_same_store(self):
        daemon = self.start_daemon()
        (daemon.folder / "link.db").symlink_to(daemon.store.path)
        second = daemon.command("serve", "--config", "coderunner.toml", "--set", "store.url=sqlite:link.db")
        self.assertEqual(second.returncode, 3, second.stderr)

    def test_what_serve_makes_is_nobody_elses_to_read(self):
        daemon = self.start_daemon()
        for path in [daemon.folder / "var", *(daemon.folder / "var").iterdir()]:
            self.assertEqual(path.stat().st_mode & 0o077, 0, path)

    def test_a_stop_while_it_waits_for_the_lock_is_no_failure(self):
        daemon = self.start_daemon()
        second = self.make_daemon(daemon.settings, name="daemon", arguments=["--wait-lock"])
        second.launch()
        wait_until(lambda: "waiting_for_lock" in second.log_tail(), 10, "it waits")
        self.assertEqual(second.stop(10), 0)
        self.assertTrue(daemon.is_running())

    def test_with_wait_lock_it_takes_over_when_the_first_has_gone(self):
        daemon = self.start_daemon()
        second = self.make_daemon(daemon.settings, name="daemon", arguments=["--wait-lock"])
        second.launch()
        daemon.stop()
        second.wait_ready(20)
        self.assertEqual(second.wait_finished(second.submit("acme", "return"))["status"], "success")
