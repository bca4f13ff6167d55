"""`coderunner doctor`: what it finds on this machine, and in an installation that is not right."""

import json
import os

from support import programs
from support.case import DaemonCase


class DoctorTest(DaemonCase):
    def doctor(self, *arguments, status=0):
        done = programs.run([programs.program("coderunner"), "doctor", *arguments], self.folder)
        self.assertEqual(done.returncode, status, f"{done.stdout}\n{done.stderr}")
        return done

    def findings(self, *arguments, status=0):
        report = json.loads(self.doctor("--json", *arguments, status=status).stdout)
        self.assertEqual(report["healthy"], status == 0)
        return {one["name"]: one for one in report["findings"]}, report["settings"]

    def test_a_fresh_folder_is_healthy_and_stays_as_it_was(self):
        found, settings = self.findings()
        self.assertEqual(found["configuration"]["grade"], "ok")
        self.assertEqual(found["executor"]["grade"], "ok")
        self.assertEqual(found["sandbox.system calls"]["grade"], "ok")
        self.assertEqual(found["secrets.key_file"]["grade"], "warn")
        self.assertEqual(settings["queue.concurrency"], "4")
        self.assertEqual(os.listdir(self.folder), [])
        self.assertIn("ok    executor: ", self.doctor().stdout)

    def test_beside_a_running_daemon_it_finds_the_secrets_in_order(self):
        daemon = self.start_daemon()
        report = json.loads(daemon.command("doctor", "--json").stdout)
        found = {one["name"]: one["grade"] for one in report["findings"]}
        for name in ("secrets", "secrets.salt_file", "secrets.key_file", "executor"):
            self.assertEqual(found[name], "ok", report)

    def test_a_key_that_others_can_read_is_a_warning_and_a_broken_one_a_failure(self):
        (self.folder / "var").mkdir()
        for name, text in (("salt", "s" * 32), ("key", "ab" * 32)):
            (self.folder / "var" / name).write_text(text)
            (self.folder / "var" / name).chmod(0o644)
        found, _ = self.findings()
        self.assertEqual(found["secrets.key_file"]["grade"], "warn")
        self.assertIn("chmod 600", found["secrets.key_file"]["advice"])
        (self.folder / "var/key").write_text("not hex")
        found, _ = self.findings(status=1)
        self.assertEqual(found["secrets"]["grade"], "fail")
        self.assertNotIn("not hex", json.dumps(found))

    def test_a_configuration_that_is_wrong_is_a_finding_and_status_2(self):
        (self.folder / "coderunner.toml").write_text("[queue]\nconcurency = 4\n")
        found, _ = self.findings(status=2)
        self.assertEqual(set(found), {"configuration"})
        self.assertIn("concurency", found["configuration"]["what"])
