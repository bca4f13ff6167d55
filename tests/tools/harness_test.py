"""The harness of the tests from outside, tried on stand-ins for the programs."""

import os
import pathlib
import sys
import tomllib
import unittest.mock

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1]),
                str(pathlib.Path(__file__).resolve().parent)]

import stub_programs
from support import processes, programs, wait
from support.case import DaemonCase
from support.daemon import to_toml


class StubCase(DaemonCase):
    time_limit = 60.0

    def setUp(self):
        super().setUp()
        stub_programs.install(self.folder / "bin")
        patch = unittest.mock.patch.dict(os.environ, {"CODERUNNER_BIN": str(self.folder / "bin")})
        patch.start()
        self.addCleanup(patch.stop)


class Daemons(StubCase):
    def test_a_daemon_is_ready_with_the_address_the_kernel_picked(self):
        daemon = self.start_daemon()
        self.assertRegex(daemon.url, r"^http://127\.0\.0\.1:[1-9]\d+$")
        self.assertTrue(daemon.is_running())

    def test_sigterm_ends_it_and_its_executor(self):
        daemon = self.start_daemon()
        master = daemon.master()
        self.assertEqual(0, daemon.stop())
        wait.wait_until(lambda: not processes.is_alive(master.pid), 5, "the master ended")

    def test_a_daemon_that_refuses_to_start_is_a_failure_that_shows_its_words(self):
        daemon = self.make_daemon(extra={"STUB": "refuses"})
        with self.assertRaisesRegex(AssertionError, r"ended with 2.*\n.*\n.*queue\.colour"):
            daemon.start()

    def test_its_exit_status_can_be_waited_for(self):
        self.assertEqual(2, self.make_daemon(extra={"STUB": "refuses"}).launch().wait_ended(10))
        daemon = self.make_daemon(name="other", extra={"STUB": "silent"}).launch()
        with self.assertRaisesRegex(AssertionError, "still runs"):
            daemon.wait_ended(0.2)

    def test_a_daemon_that_never_gets_ready_is_a_failure_in_time(self):
        daemon = self.make_daemon(extra={"STUB": "silent"})
        with self.assertRaisesRegex(wait.NotInTime, "ready"):
            daemon.start(timeout=0.5)

    def test_its_processes_are_found_by_their_role(self):
        daemon = self.start_daemon()
        wait.wait_until(daemon.scripts, 5, "a script")
        self.assertEqual(daemon.pid, daemon.master().parent)
        self.assertEqual([daemon.master().pid], [one.parent for one in daemon.workers()])
        self.assertEqual([daemon.zygote().pid], [one.parent for one in daemon.scripts()])

    def test_kill9_of_the_main_process_leaves_its_executor(self):
        daemon = self.start_daemon()
        wait.wait_until(daemon.scripts, 5, "a script")
        before = {one.pid for one in daemon.all_processes()} - {daemon.pid}
        daemon.kill9()
        self.assertFalse(daemon.is_running())
        self.assertEqual(before, {one.pid for one in daemon.all_processes()})

    def test_a_restart_gets_ready_anew_and_still_knows_the_survivors(self):
        daemon = self.start_daemon()
        first, pid = daemon.master(), daemon.pid
        daemon.kill9()
        daemon.restart()
        self.assertNotEqual(pid, daemon.pid)
        self.assertTrue(daemon.client.get("/executions/7").json)
        wait.wait_until(lambda: len(daemon.masters()) == 2, 5, "both masters")
        self.assertIn(first.pid, [one.pid for one in daemon.masters()])
        self.assertNotEqual(first.pid, daemon.master().pid)

    def test_kill9_of_the_group_leaves_nothing(self):
        daemon = self.start_daemon()
        wait.wait_until(daemon.scripts, 5, "a script")
        daemon.kill9_group()
        self.assertEqual([], daemon.all_processes())

    def test_destroy_ends_every_generation(self):
        daemon = self.start_daemon()
        daemon.kill9()
        daemon.restart()
        daemon.destroy()
        self.assertEqual([], daemon.all_processes())
        daemon.destroy()

    def test_a_submission_is_followed_into_its_row(self):
        daemon = self.start_daemon()
        execution = daemon.submit("acme", "return 1", identifier="a")
        self.assertEqual("acme", daemon.wait_finished(execution)["subdomain"])
        self.assertEqual({"success": 1}, daemon.store.count_by_status())
        self.assertEqual("succeeded", daemon.execution(execution)["state"])
        daemon.wait_drained()
        with self.assertRaisesRegex(AssertionError, "400"):
            daemon.submit("", "return 1")

    def test_the_store_can_not_be_written_through_the_reader(self):
        daemon = self.start_daemon()
        with self.assertRaisesRegex(Exception, "readonly"):
            daemon.store.rows("DELETE FROM codeRunner_executions")

    def test_a_command_finds_this_daemon(self):
        daemon = self.start_daemon()
        ended = daemon.command("status", "--json")
        self.assertEqual(0, ended.returncode)
        self.assertIn(daemon.url, ended.stdout)

    def test_settings_become_a_configuration_file(self):
        self.assertEqual({"queue": {"concurrency": 4, "wakeup": False},
                          "executor": {"wall": "3s"}, "api": {"base_url": "a\"b\\c"}},
                         tomllib.loads(to_toml({"queue.concurrency": 4, "queue.wakeup": False,
                                                "executor.wall": "3s", "api.base_url": "a\"b\\c"})))

    def test_settings_of_the_outer_environment_do_not_reach_the_daemon(self):
        with unittest.mock.patch.dict(os.environ, {"CODERUNNER_QUEUE_CONCURRENCY": "9"}):
            self.assertFalse([name for name in programs.environment() if "CODERUNNER" in name])


class Fakes(StubCase):
    def test_the_fake_shows_its_ledger_and_forgets_it(self):
        fake = self.start_fake(per_minute=30, window_ms=500)
        fake.client.post("/acme/api/v2/cards")
        self.assertEqual(["/acme/api/v2/cards"], [one["path"] for one in fake.effects()])
        self.assertEqual(["--port", "0", "--per-minute", "30", "--window-ms", "500"],
                         fake.ledger()["flags"])
        fake.reset()
        self.assertEqual([], fake.effects())
        self.assertEqual(0, fake.stop())

    def test_a_daemon_is_pointed_at_its_fake(self):
        fake = self.start_fake()
        daemon = self.start_daemon(fake=fake)
        self.assertEqual(f"http://{fake.address}/{{account}}/api/v2",
                         daemon.settings["api.base_url"])


class Waiting(StubCase):
    def test_a_wait_ends_with_the_first_true_answer(self):
        answers = iter([0, None, 7, 8])
        self.assertEqual(7, wait.wait_until(lambda: next(answers), 5, "seven", pause=0))

    def test_a_wait_in_vain_says_what_it_waited_for(self):
        with self.assertRaisesRegex(wait.NotInTime, "not within 0.05 s: rain .*False"):
            wait.wait_until(lambda: False, 0.05, "rain")

    def test_what_must_hold_is_watched_to_the_end(self):
        answers = iter([True, True, False])
        with self.assertRaisesRegex(AssertionError, "at most two"):
            wait.holds_for(lambda: next(answers), 5, "at most two", pause=0)
        wait.holds_for(lambda: True, 0.05, "at most two")

    def test_a_program_that_hangs_is_ended_with_its_children(self):
        with self.assertRaises(Exception) as raised:
            programs.run([programs.program("coderunner"), "executor-master"], self.folder,
                         timeout=0.5)
        self.assertEqual("TimeoutExpired", type(raised.exception).__name__)
        self.assertEqual([], [one for one in processes.every_process()
                              if str(self.folder) in " ".join(one.arguments)])

    def test_a_program_that_is_not_built_is_named(self):
        with self.assertRaisesRegex(AssertionError, "coderunner-bench is not there"):
            programs.program("coderunner-bench")


if __name__ == "__main__":
    unittest.main()
