"""tests/run and tools/suites: what they count, and that nothing passes by not running."""

import dataclasses
import json
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import textwrap
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests")]

from suite_plans import PLANS, Counts, Suite, cut_off_prefix, read_junit, read_python, run_suite
from support.processes import is_alive
from support.wait import wait_until


class FolderCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_tests(self, body: str, *options: str) -> subprocess.CompletedProcess:
        path = self.folder / "some_test.py"
        path.write_text("import os, time, unittest\n" + textwrap.dedent(body), encoding="utf-8")
        self.report = self.folder / "report.json"
        return subprocess.run([ROOT / "tests/run", "--report", self.report, *options, path],
                              capture_output=True, text=True, timeout=60, check=False)

    def assert_last_line(self, expected: str, ended: subprocess.CompletedProcess) -> None:
        self.assertEqual(expected, ended.stdout.splitlines()[-1], ended.stdout + ended.stderr)


class Runner(FolderCase):
    def test_passes_failures_and_skips_are_counted_and_named(self):
        ended = self.run_tests("""
            class A(unittest.TestCase):
                def test_good(self): pass
                def test_bad(self): self.assertEqual(1, 2)
                def test_broken(self): raise ValueError("no")
                @unittest.skip("not here")
                def test_left_out(self): pass
        """)
        self.assertEqual(1, ended.returncode)
        self.assert_last_line("1 passed, 2 failed, 1 skipped", ended)
        self.assertRegex(ended.stdout, r"(?m)^ok    some_test\.py A\.test_good \(\d")
        self.assertRegex(ended.stdout, r"(?m)^skip  some_test\.py A\.test_left_out .*: not here$")
        self.assertIn("ValueError: no", ended.stdout)
        self.assertEqual(["some_test.py A.test_bad", "some_test.py A.test_broken"],
                         json.loads(self.report.read_text())["failed"])

    def test_only_passes_exit_0(self):
        ended = self.run_tests("""
            class A(unittest.TestCase):
                def test_good(self): pass
        """)
        self.assertEqual(0, ended.returncode)
        self.assert_last_line("1 passed, 0 failed", ended)

    def test_a_file_without_tests_is_no_success(self):
        ended = self.run_tests("")
        self.assertEqual(1, ended.returncode)
        self.assert_last_line("0 passed, 0 failed", ended)

    def test_a_file_that_can_not_be_imported_is_a_failure(self):
        for body in ("import nothing_of_this_name\n", "raise SystemExit(0)\n", "def x(:\n"):
            ended = self.run_tests(body)
            self.assertEqual(1, ended.returncode)
            self.assert_last_line("0 passed, 1 failed", ended)

    def test_a_hanging_test_is_cut_and_the_next_one_runs(self):
        ended = self.run_tests("""
            class A(unittest.TestCase):
                time_limit = 0.3
                def test_a_hangs(self): time.sleep(60)
                def test_b_follows(self): pass
        """)
        self.assert_last_line("1 passed, 1 failed", ended)
        self.assertIn("took longer than 0.3 s", ended.stdout)

    def test_parts_that_fail_are_one_failure(self):
        ended = self.run_tests("""
            class A(unittest.TestCase):
                def test_parts(self):
                    for n in range(3):
                        with self.subTest(n): self.assertEqual(0, n)
        """)
        self.assert_last_line("0 passed, 1 failed", ended)

    def test_a_class_that_can_not_be_set_up_is_a_failure(self):
        ended = self.run_tests("""
            class A(unittest.TestCase):
                @classmethod
                def setUpClass(cls): raise ValueError("no")
                def test_good(self): pass
        """)
        self.assertEqual(1, ended.returncode)
        self.assert_last_line("0 passed, 1 failed", ended)

    def test_a_failure_of_the_clean_up_is_a_failure(self):
        ended = self.run_tests("""
            class A(unittest.TestCase):
                def test_good(self): self.addCleanup(lambda: 1 / 0)
        """)
        self.assert_last_line("0 passed, 1 failed", ended)

    def test_tests_are_chosen_by_a_part_of_their_line(self):
        ended = self.run_tests("""
            class A(unittest.TestCase):
                def test_one(self): pass
                def test_two(self): pass
        """, "--match", "two")
        self.assert_last_line("1 passed, 0 failed", ended)

    def test_what_a_test_left_running_is_ended(self):
        ended = self.run_tests("""
            from support import processes, programs
            import pathlib
            class A(unittest.TestCase):
                def test_leaves_something(self):
                    log = pathlib.Path(__file__).with_name("log")
                    child = programs.start(["sleep", "300"], log.parent, log, log)
                    print("child", child.pid, "", flush=True)
        """)
        pid = int(re.search(r"child (\d+)", ended.stdout)[1])
        self.assertFalse(is_alive(pid))

    def test_the_logs_of_a_failed_test_are_shown(self):
        ended = self.run_tests("""
            from support.case import DaemonCase
            class A(DaemonCase):
                def test_bad(self):
                    (self.folder / "stderr.log").write_text("what the daemon said\\n")
                    self.fail("no")
        """)
        self.assertIn("what the daemon said", ended.stdout)


class Counting(FolderCase):
    JUNIT = """<testsuite>
        <testcase name="a" status="run"/>
        <testcase name="b" status="fail"><failure message=""/></testcase>
        <testcase name="c" status="notrun">
          <skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/></testcase>
        <testcase name="d" status="notrun"><skipped message="Unable to find executable"/></testcase>
        <testcase name="e" status="disabled"><skipped message="Disabled"/></testcase>
    </testsuite>"""

    def test_a_report_of_ctest_tells_skipped_from_not_run(self):
        path = self.folder / "x.xml"
        path.write_text(self.JUNIT, encoding="utf-8")
        self.assertEqual(Counts(1, ["b", "d", "e"], ["c"]), read_junit(path))

    def suite(self, script: str, **options) -> Suite:
        return Suite("s", ["bash", "-c", f"cd {self.folder}; {script}"],
                     options.pop("read", read_python), report="s.json", **options)

    def report(self, passed: int, *failed: str) -> str:
        text = json.dumps({"passed": passed, "failed": failed, "skipped": []})
        return f"echo '{text}' >s.json"

    def run_suite(self, suite: Suite) -> Counts:
        return run_suite(suite, self.folder)

    def test_a_suite_that_passes_is_counted(self):
        self.assertEqual(Counts(3), self.run_suite(self.suite(self.report(3))))

    def test_a_suite_that_leaves_no_report_has_failed(self):
        counts = self.run_suite(self.suite("exit 0"))
        self.assertEqual(1, len(counts.failed))

    def test_an_old_report_is_not_believed(self):
        (self.folder / "s.json").write_text('{"passed": 9, "failed": [], "skipped": []}')
        self.assertEqual(0, self.run_suite(self.suite("exit 1")).passed)

    def test_a_suite_that_ran_nothing_has_failed(self):
        self.assertEqual(["s (ran no test)"], self.run_suite(self.suite(self.report(0))).failed)

    def test_a_suite_that_crashes_after_its_report_has_failed(self):
        counts = self.run_suite(self.suite(self.report(2) + "; kill -SEGV $$"))
        self.assertEqual((2, ["s (killed by signal 11 though no test failed)"]),
                         (counts.passed, counts.failed))

    def test_a_suite_out_of_time_has_failed_and_is_ended(self):
        suite = self.suite("sleep 300 & echo $! >pid; wait", limit_seconds=1)
        self.assertIn("out of time", self.run_suite(suite).failed[0])
        pid = int((self.folder / "pid").read_text())
        wait_until(lambda: not is_alive(pid), 5, "the suite's child ended")

    def test_a_suite_that_is_cut_off_reaches_no_socket(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            connects = (f"import socket; socket.create_connection(('127.0.0.1', "
                        f"{server.getsockname()[1]}), 2)")
            suite = Suite("s", [sys.executable, "-c", connects])
            self.assertEqual(Counts(1), self.run_suite(suite))
            alone = self.run_suite(dataclasses.replace(suite, cut_off=True))
        if not cut_off_prefix():
            self.assertEqual((1, 1), (alone.passed, len(alone.skipped)), "told as a skip")
            self.skipTest("no right to make a network namespace")
        self.assertEqual(["s (exit 1)"], alone.failed)

    def test_a_check_is_one_test(self):
        self.assertEqual(Counts(1), self.run_suite(Suite("s", ["true"])))
        self.assertEqual(Counts(0, ["s (exit 1)"]), self.run_suite(Suite("s", ["false"])))

    def run_plan(self, *scripts: str) -> tuple[int, list[str]]:
        code = (f"import sys, pathlib; sys.path.insert(0, {str(ROOT / 'tools')!r})\n"
                "from suite_plans import *\n"
                f"folder = pathlib.Path({str(self.folder)!r})\n"
                f"sys.exit(run_plan([Suite('s', ['bash', '-c', script], read_python, 's.json')\n"
                f"                   for script in {[f'cd {self.folder}; {s}' for s in scripts]!r}"
                "], folder))")
        ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                               timeout=60, check=False)
        return ended.returncode, ended.stdout.splitlines()

    def test_the_last_line_is_the_sum(self):
        status, lines = self.run_plan(self.report(2), self.report(3))
        self.assertEqual((0, "5 passed, 0 failed"), (status, lines[-1]))

    def test_one_failure_fails_the_plan_and_is_named(self):
        status, lines = self.run_plan(self.report(2, "the one"), self.report(3))
        self.assertEqual((1, "5 passed, 1 failed"), (status, lines[-1]))
        self.assertIn("FAILED: s: the one", lines)

    def test_a_plan_that_ran_nothing_fails(self):
        self.assertEqual(1, self.run_plan()[0])

    def test_every_plan_checks_the_tree(self):
        for name in ("quick", "all", "tidy"):
            self.assertTrue({"tidy", "format"} <= {suite.name for suite in PLANS[name]})


if __name__ == "__main__":
    unittest.main()
