"""The commands, as a person at a shell meets them."""

import json

from support.case import DaemonCase


class CommandTest(DaemonCase):
    def setUp(self):
        super().setUp()
        self.daemon = self.start_daemon()
        (self.daemon.folder / "key.txt").write_text("k3y\n")
        (self.daemon.folder / "good.lua").write_text("log('hello', event and event.n)")
        (self.daemon.folder / "bad.lua").write_text("log('x')\nend")
        (self.daemon.folder / "fails.lua").write_text("error('as planned')")

    def run_command(self, *arguments, status=0):
        done = self.daemon.command(*arguments)
        self.assertEqual(done.returncode, status, f"{done.stdout}\n{done.stderr}")
        return done

    def submit(self, script, *more, status=0):
        return self.run_command("submit", "--account", "acme", "--key-file", "key.txt", *more, script, status=status)

    def test_submit_wait_show_list_logs_and_status(self):
        (self.daemon.folder / "payload.json").write_text('{"n": 7}')
        self.submit("good.lua", "--wait", "--payload", "payload.json", "--identifier", "first")
        row = self.daemon.store.executions()[0]
        self.assertEqual((row["status"], row["identifier"]), ("success", "first"))
        number = str(row["execution_id"])
        self.assertIn("succeeded", self.run_command("show", number).stdout)
        self.assertIn("succeeded", self.run_command("list", "--account", "acme").stdout)
        self.assertIn("hello\t7", self.run_command("logs", number).stdout)
        self.assertIn("hello\t7", self.run_command("logs", number, "--follow").stdout)
        self.assertIn("idle", self.run_command("status").stdout)

    def test_one_trailing_newline_is_not_part_of_the_key(self):
        self.submit("good.lua")
        self.daemon.wait_drained()
        (self.daemon.folder / "key.txt").write_text("k3y")
        self.submit("good.lua")
        self.assertEqual(len({row["apikey_hash"] for row in self.daemon.store.executions()}), 1)

    def test_wait_exits_1_when_the_script_failed_and_says_why(self):
        done = self.submit("fails.lua", "--wait", status=1)
        self.assertIn("as planned", done.stdout + done.stderr)

    def test_a_script_that_does_not_parse_is_refused(self):
        done = self.submit("bad.lua", status=1)
        self.assertIn("2", done.stdout + done.stderr)

    def test_json_is_the_body_unchanged(self):
        self.submit("good.lua", "--wait")
        self.assertEqual(self.run_command("status", "--json").stdout.strip()[:9], '{"depth":')
        shown = json.loads(self.run_command("show", "1", "--json").stdout)
        self.assertEqual(shown["state"], "succeeded")
        listed = json.loads(self.run_command("list", "--json").stdout)
        self.assertEqual(set(listed), {"executions", "next"})
        self.assertIn("logs", json.loads(self.run_command("logs", "1", "--json").stdout))

    def test_check_names_file_and_line(self):
        self.assertEqual(self.run_command("check", "good.lua").stderr, "")
        done = self.run_command("check", "bad.lua", status=1)
        self.assertIn("bad.lua:2:", done.stdout + done.stderr)

    def test_bad_usage_is_2_and_an_absent_server_is_1(self):
        self.assertIn("sumbit", self.run_command("sumbit", status=2).stderr)
        for role in ("executor-master", "executor-worker", "executor-zygote"):
            self.assertIn(self.daemon.command(role, timeout=10).returncode, (1, 2), role)
        self.run_command("show", status=2)
        self.run_command("show", "x", status=2)
        self.run_command("list", "--state", "nope", status=2)
        self.run_command("--version")
        self.run_command("submit", "--help")
        self.daemon.stop()
        done = self.run_command("status", status=1)
        self.assertIn("serve", done.stderr)

    def test_migrate_is_safe_to_repeat(self):
        self.run_command("migrate", "--dry-run")
        self.run_command("migrate")
        self.run_command("migrate")
