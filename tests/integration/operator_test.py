"""What operators do: pause, cancel, one account's cap, the gates; each with its entry in the audit log."""

import json

from support.case import DaemonCase
from support.rows import CREATES_A_CARD, most_at_once, seconds
from support.wait import holds_for, wait_until

NO_SUCH_KEY = "0" * 64


class OperatorCase(DaemonCase):
    def audit(self, daemon):
        return [(row["action"], row["subject"], row["details"])
                for row in daemon.store.rows("SELECT * FROM codeRunner_audit ORDER BY audit_id")]

    def ask(self, daemon, method, path, value=None, status=200):
        answer = daemon.client.send(method, path, value) if value is not None else \
            daemon.client.request(method, path)
        self.assertEqual(answer.status, status, f"{method} {path}: {answer.text}")
        return answer.json if answer.body else None

    def states(self, daemon, numbers):
        return [daemon.execution(number)["state"] for number in numbers]

    def idle(self, daemon):
        """Nothing runs, and no nonce is out that could still begin something."""
        return not daemon.store.rows(
            "SELECT 1 FROM codeRunner_executions e JOIN codeRunner_jobs j ON j.job_id = e.job_id "
            "WHERE e.status = 'running' OR (e.status = 'queued' AND j.nonce_hash IS NOT NULL)")


class PauseTest(OperatorCase):
    # R50
    def test_only_the_paused_account_waits_also_with_its_rows_at_the_head_and_over_a_restart(self):
        daemon = self.start_daemon()
        said = self.ask(daemon, "POST", "/queue/pause", {"account": "Acme"})
        self.assertEqual(said, {"paused": True, "account": "acme", "in_flight": 0})
        paused = [daemon.submit("acme", "return") for _ in range(100)]
        others = [daemon.submit("other", "return") for _ in range(5)]
        for number in others:
            self.assertEqual(daemon.wait_finished(number, 15)["status"], "success")
        self.assertEqual(daemon.store.count_by_status(), {"queued": 100, "success": 5})
        self.assertEqual(daemon.stop(), 0)
        daemon.restart()
        self.assertTrue(self.ask(daemon, "GET", "/accounts/acme")["paused"])
        self.assertEqual(daemon.wait_finished(daemon.submit("other", "return"), 15)["status"], "success")
        self.assertEqual(daemon.store.count_by_status()["queued"], 100)
        said = self.ask(daemon, "POST", "/queue/resume", {"account": "acme"})
        self.assertEqual((said["paused"], said["account"]), (False, "acme"))
        daemon.wait_drained()
        self.assertEqual({row["status"] for row in daemon.store.executions()}, {"success"})
        self.assertEqual(len(paused), 100)

    def test_a_pause_of_all_lets_runs_end_and_begins_nothing_until_it_is_lifted(self):
        fake = self.start_fake(per_minute=10000, latency_ms=600)
        daemon = self.start_daemon(fake=fake)
        for i in range(6):
            for account in ("a", "b"):
                daemon.submit(account, CREATES_A_CARD, identifier=str(i))
        wait_until(lambda: daemon.client.get("/queue/data").json["in_flight"] == 4, 15, "every slot taken")
        said = self.ask(daemon, "POST", "/queue/pause")
        self.assertEqual((said["paused"], said["account"]), (True, None))
        self.assertGreaterEqual(said["in_flight"], 1)
        wait_until(lambda: self.idle(daemon), 15, "the runs ended")
        self.assertEqual(daemon.client.get("/queue/data").json["in_flight"], 0)
        before = daemon.store.count_by_status()
        self.assertGreater(before["queued"], 0)
        holds_for(lambda: daemon.store.count_by_status() == before, 1.5, "nothing begins")
        self.ask(daemon, "POST", "/queue/resume", {})
        daemon.wait_drained()
        self.assertEqual(daemon.store.count_by_status(), {"success": 12})
        self.assertEqual(len(fake.effects()), 12)
        self.assertEqual(self.audit(daemon), [("pause", "*", ""), ("resume", "*", "")])


class CancelTest(OperatorCase):
    def test_one_that_is_queued_is_cancelled_and_never_runs(self):
        daemon = self.start_daemon()
        self.ask(daemon, "POST", "/queue/pause", {"account": "acme"})
        number = daemon.submit("acme", "return")
        kept = daemon.submit("acme", "return")
        shown = self.ask(daemon, "POST", f"/executions/{number}/cancel")
        self.assertEqual((shown["execution_id"], shown["state"], shown["error_code"]), (number, "cancelled", 108))
        self.assertIsNone(shown["started_at"])
        self.assertIsNotNone(shown["finished_at"])
        job = daemon.store.job_of(number)
        self.assertEqual((job["apikey"], job["nonce_hash"]), (None, None))
        self.ask(daemon, "POST", "/queue/resume", {"account": "acme"})
        self.assertEqual(daemon.wait_finished(kept)["status"], "success")
        self.assertEqual(daemon.execution(number)["state"], "cancelled")
        self.assertEqual(daemon.store.job_of(number)["dispatch_attempts"], 0)
        self.assertIn(("cancel", str(number), ""), self.audit(daemon))

    def test_one_that_has_begun_or_ended_is_409_and_goes_on(self):
        fake = self.start_fake(per_minute=10000, latency_ms=1000)
        daemon = self.start_daemon(fake=fake)
        number = daemon.submit("acme", CREATES_A_CARD, identifier="1")
        wait_until(lambda: daemon.store.execution(number)["status"] == "running", 10, "it runs")
        error = self.ask(daemon, "POST", f"/executions/{number}/cancel", status=409)["error"]
        self.assertIn("running", error["message"])
        self.assertEqual(daemon.wait_finished(number)["status"], "success")
        self.ask(daemon, "POST", f"/executions/{number}/cancel", status=409)
        self.ask(daemon, "POST", "/executions/999999/cancel", status=404)
        self.assertEqual(len(fake.effects()), 1)
        self.assertEqual(self.audit(daemon), [])

    # R82
    def test_all_that_are_queued_of_an_account_go_at_once_dry_run_first_and_one_entry_tells_it(self):
        daemon = self.start_daemon()
        self.ask(daemon, "POST", "/queue/pause")
        mine = [daemon.submit("acme", "return", identifier=str(i)) for i in range(120)]
        other = daemon.submit("other", "return")
        asked = {"account": "acme", "state": "queued", "dry_run": True}
        self.assertEqual(self.ask(daemon, "POST", "/executions/cancel", asked), {"cancelled": 120})
        self.assertEqual(daemon.store.count_by_status(), {"queued": 121})
        self.assertEqual(self.audit(daemon), [("pause", "*", "")])
        asked["dry_run"] = False
        self.assertEqual(self.ask(daemon, "POST", "/executions/cancel", asked), {"cancelled": 120})
        self.assertEqual(set(self.states(daemon, mine[::20])), {"cancelled"})
        self.assertEqual(daemon.store.count_by_status(), {"queued": 1, "error": 120})
        self.assertEqual(self.audit(daemon)[1:], [("cancel_queued", "acme", "cancelled=120")])
        self.ask(daemon, "POST", "/queue/resume")
        self.assertEqual(daemon.wait_finished(other)["status"], "success")


class AccountTest(OperatorCase):
    def test_an_accounts_cap_is_set_shown_and_taken_away(self):
        daemon = self.start_daemon()
        nothing = {"account": "acme", "per_account": None, "queued": 0, "in_flight": 0, "paused": False}
        self.assertEqual(self.ask(daemon, "GET", "/accounts/ACME"), nothing)
        self.assertEqual(self.ask(daemon, "PUT", "/accounts/acme", {"per_account": 3}), nothing | {"per_account": 3})
        self.assertEqual(daemon.stop(), 0)
        daemon.restart()
        self.assertEqual(self.ask(daemon, "GET", "/accounts/acme")["per_account"], 3)
        self.assertEqual(self.ask(daemon, "PUT", "/accounts/acme", {"per_account": None}), nothing)
        self.assertEqual(self.audit(daemon), [("set_per_account", "acme", "per_account=3"),
                                              ("set_per_account", "acme", "per_account=default")])


class OperatorsGateTest(OperatorCase):
    def test_a_set_gate_holds_its_key_back_and_a_clear_lets_it_go_at_once(self):
        daemon = self.start_daemon({"queue.poll_interval": "2s"})
        self.ask(daemon, "POST", "/queue/pause")
        held = daemon.submit("acme", "return", apikey="one")
        other = daemon.submit("acme", "return", apikey="two")
        key = daemon.execution(held)["apikey_hash"]
        gate = self.ask(daemon, "PUT", f"/gates/{key}", {"for_ms": 1_800_000})
        self.assertEqual(set(gate), {"key", "until", "status", "hint_s", "seen_at", "queued"})
        self.assertEqual((gate["key"], gate["hint_s"], gate["queued"]), (key, None, 1))
        self.assertAlmostEqual(seconds(gate["until"]) - seconds(gate["seen_at"]), 1800, 3)
        self.ask(daemon, "POST", "/queue/resume")
        self.assertEqual(daemon.wait_finished(other, 15)["status"], "success")
        shown = daemon.execution(held)
        self.assertEqual((shown["state"], shown["queued_reason"]), ("queued", "key_gated"))
        self.assertEqual(shown["queued_until"], gate["until"])
        self.assertEqual(self.ask(daemon, "GET", "/gates"), {"gates": [gate]})
        self.assertEqual(self.ask(daemon, "PUT", f"/gates/{key}", {"for_ms": 1000}), gate, "stays as it is")
        self.ask(daemon, "DELETE", f"/gates/{key}", status=204)
        row = daemon.wait_finished(held, 15)
        self.assertEqual(row["status"], "success")
        self.assertEqual(self.ask(daemon, "GET", "/gates"), {"gates": []})
        self.ask(daemon, "DELETE", f"/gates/{key}", status=204)
        self.assertEqual([entry[0] for entry in self.audit(daemon)],
                         ["pause", "set_gate", "resume", "set_gate", "clear_gate", "clear_gate"])

    def test_no_gate_is_longer_than_the_longest(self):
        daemon = self.start_daemon({"gate.max": "10m"})
        for asked in (600_001, 2**62, 2**63 - 1):
            gate = self.ask(daemon, "PUT", f"/gates/{NO_SUCH_KEY}", {"for_ms": asked})
            self.assertLessEqual(seconds(gate["until"]) - seconds(gate["seen_at"]), 600.001)


class BadOperatorRequestTest(OperatorCase):
    def test_a_bad_request_names_the_field_and_changes_nothing(self):
        daemon = self.start_daemon()
        key = "/gates/" + NO_SUCH_KEY
        queued = {"account": "acme", "state": "queued"}
        for method, path, value, field in (
                ("POST", "/queue/pause", {"account": ""}, "account"),
                ("POST", "/queue/pause", {"account": "no dots."}, "account"),
                ("POST", "/queue/pause", {"account": 7}, "account"),
                ("POST", "/queue/resume", {"account": ["acme"]}, "account"),
                ("POST", "/executions/cancel", {}, "account"),
                ("POST", "/executions/cancel", {"account": "acme"}, "state"),
                ("POST", "/executions/cancel", {"account": "acme", "state": "running"}, "state"),
                ("POST", "/executions/cancel", queued | {"dry_run": "yes"}, "dry_run"),
                ("POST", "/executions/cancel", {"state": "queued"}, "account"),
                ("GET", "/accounts/no_such", None, "account"),
                ("PUT", "/accounts/-acme", {"per_account": 1}, "account"),
                ("PUT", "/accounts/acme", {}, "per_account"),
                ("PUT", "/accounts/acme", {"per_account": 0}, "per_account"),
                ("PUT", "/accounts/acme", {"per_account": -1}, "per_account"),
                ("PUT", "/accounts/acme", {"per_account": 257}, "per_account"),
                ("PUT", "/accounts/acme", {"per_account": 1.5}, "per_account"),
                ("PUT", "/accounts/acme", {"per_account": "2"}, "per_account"),
                ("PUT", key, {}, "for_ms"),
                ("PUT", key, {"for_ms": 0}, "for_ms"),
                ("PUT", key, {"for_ms": -5}, "for_ms"),
                ("PUT", key, {"for_ms": 2**64}, "for_ms"),
                ("PUT", "/gates/" + "A" * 64, {"for_ms": 5}, "keyhash"),
                ("PUT", "/gates/abc", {"for_ms": 5}, "keyhash"),
                ("DELETE", "/gates/abc", None, "keyhash")):
            with self.subTest(method=method, path=path, value=value):
                error = self.ask(daemon, method, path, value, 400)["error"]
                self.assertEqual((error["code"], error["details"]), (400, {"field": field}), error)
        for body in ("{", "[]", '"acme"', "7"):
            with self.subTest(body=body):
                answer = daemon.client.request("POST", "/queue/pause", body)
                self.assertEqual(answer.status, 400, answer.text)
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        self.assertEqual(daemon.client.request("POST", "/queue/pause", "account=acme", form).status, 415)
        self.assertEqual(self.audit(daemon), [])
        self.assertEqual(daemon.wait_finished(daemon.submit("acme", "return"), 15)["status"], "success")

    def test_unknown_fields_are_ignored_and_nothing_sent_is_everybody(self):
        daemon = self.start_daemon()
        self.assertTrue(self.ask(daemon, "POST", "/queue/pause", {"account": "acme", "why": 1})["paused"])
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        self.assertEqual(daemon.client.request("POST", "/queue/pause", "", form).status, 200)
        self.assertEqual(daemon.client.request("POST", "/queue/resume", "null").status, 200)
        self.assertEqual(self.audit(daemon), [("pause", "acme", ""), ("pause", "*", ""), ("resume", "*", "")])

    def test_what_is_mistyped_does_not_make_the_act_a_larger_one(self):
        daemon = self.start_daemon()
        self.ask(daemon, "POST", "/queue/pause", {"account": "acme"})
        number = daemon.submit("acme", "return")
        for path, value in (("/queue/pause", {"acount": "acme"}), ("/queue/resume", {"Account": "acme"}),
                            ("/executions/cancel", {"account": "acme", "state": "queued", "dryRun": True})):
            with self.subTest(path):
                self.assertIn("unknown", self.ask(daemon, "POST", path, value, 400)["error"]["message"])
        for path in ("/queue/pause?account=other", "/queue/resume?account=acme"):
            self.ask(daemon, "POST", path, None, 400)
        self.assertEqual(self.audit(daemon), [("pause", "acme", "")])
        self.assertEqual(daemon.execution(number)["state"], "queued")

    def test_another_method_is_405_and_says_which_are_possible(self):
        daemon = self.start_daemon()
        for method, path, allowed in (("GET", "/queue/pause", "POST"), ("PUT", "/queue/resume", "POST"),
                                      ("GET", "/executions/cancel", "POST"), ("GET", "/executions/1/cancel", "POST"),
                                      ("POST", "/accounts/acme", "GET, HEAD, PUT"), ("POST", "/gates", "GET, HEAD"),
                                      ("GET", "/gates/" + NO_SUCH_KEY, "PUT, DELETE")):
            with self.subTest(method=method, path=path):
                answer = daemon.client.request(method, path)
                self.assertEqual((answer.status, answer.headers.get("allow")), (405, allowed), answer.text)
        for path in ("/accounts", "/accounts/", "/accounts/a/b", "/gates/", "/executions/x/cancel"):
            self.assertEqual(daemon.client.get(path).status, 404, path)
        self.assertEqual(self.audit(daemon), [])


class OperatorCommandTest(OperatorCase):
    def setUp(self):
        super().setUp()
        self.daemon = self.start_daemon()

    def run_command(self, *arguments, status=0):
        done = self.daemon.command(*arguments)
        self.assertEqual(done.returncode, status, f"{done.stdout}\n{done.stderr}")
        return done

    def says(self, *arguments):
        return self.run_command(*arguments).stdout

    def body(self, *arguments):
        return json.loads(self.says(*arguments, "--json"))

    def test_pause_and_resume_name_each_other(self):
        self.assertIn("coderunner resume --account acme", self.says("pause", "--account", "acme"))
        self.assertIn("coderunner resume", self.says("pause"))
        self.assertIn("everything is paused", self.says("resume", "--account", "acme"))
        self.assertIn("coderunner resume --account", self.says("resume"))
        self.assertEqual(self.body("pause", "--account", "acme"),
                         {"paused": True, "account": "acme", "in_flight": 0})
        self.assertEqual(self.body("resume", "--account", "acme"),
                         {"paused": False, "account": "acme", "in_flight": 0})
        self.assertEqual(self.says("resume", "--account", "acme"), "acme is resumed\n")

    def test_cancel_one_and_many(self):
        self.run_command("pause")
        numbers = [self.daemon.submit("acme", "return") for _ in range(4)]
        self.assertIn(f"execution {numbers[0]} is cancelled", self.says("cancel", str(numbers[0])))
        self.assertIn("cancelled", self.run_command("cancel", str(numbers[0]), status=1).stderr)
        self.run_command("cancel", "999999", status=1)
        self.assertEqual(self.body("cancel", str(numbers[1]))["state"], "cancelled")
        many = ("cancel", "--account", "acme", "--state", "queued")
        self.assertIn("2 queued executions of acme would be cancelled", self.says(*many, "--dry-run"))
        self.assertEqual(self.body(*many, "--dry-run"), {"cancelled": 2})
        self.assertIn("2 queued executions of acme cancelled", self.says(*many))
        self.assertEqual(set(self.states(self.daemon, numbers)), {"cancelled"})

    def test_account_show_and_set(self):
        self.assertIn("queue.per_account", self.says("account", "show", "acme"))
        said = self.says("account", "set", "acme", "--per-account", "3")
        self.assertIn("coderunner account set acme --per-account default", said)
        self.assertEqual(self.body("account", "show", "acme")["per_account"], 3)
        self.assertIsNone(self.body("account", "set", "acme", "--per-account", "default")["per_account"])
        self.run_command("account", "show", "not an account", status=1)

    def test_gate_list_set_and_clear(self):
        self.assertEqual(self.says("gate", "list"), "no key is gated\n")
        said = self.says("gate", "set", NO_SUCH_KEY, "--for", "30m")
        self.assertIn("coderunner gate clear " + NO_SUCH_KEY, said)
        self.assertIn(NO_SUCH_KEY, self.says("gate", "list"))
        self.assertEqual(self.body("gate", "list")["gates"][0]["key"], NO_SUCH_KEY)
        self.assertEqual(self.body("gate", "set", NO_SUCH_KEY, "--for", "1m")["key"], NO_SUCH_KEY)
        self.assertIn("is not gated", self.says("gate", "clear", NO_SUCH_KEY))
        self.assertEqual(self.says("gate", "clear", NO_SUCH_KEY, "--json"), "")
        self.assertEqual(self.says("gate", "list"), "no key is gated\n")


class CapTest(OperatorCase):
    def test_a_cap_of_one_holds_until_it_is_the_default_again(self):
        fake = self.start_fake(per_minute=10000, latency_ms=150)
        daemon = self.start_daemon(fake=fake)
        self.ask(daemon, "PUT", "/accounts/acme", {"per_account": 1})
        capped = [daemon.submit("acme", CREATES_A_CARD, identifier=str(i)) for i in range(6)]
        daemon.wait_drained()
        rows = daemon.store.executions()
        self.assertEqual(len(rows), len(capped))
        self.assertEqual(most_at_once(rows), 1)
        self.ask(daemon, "PUT", "/accounts/acme", {"per_account": None})
        for i in range(6):
            daemon.submit("acme", CREATES_A_CARD, identifier=str(i))
        daemon.wait_drained()
        self.assertEqual(most_at_once(daemon.store.executions()[len(capped):]), 2)
