"""tools/tidy, crash windows: code, table and tests are held together."""

import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))

from tidy_rules import Tree
from tidy_rules.windows import crash_windows_are_told

CODE = "// Crash window minted-unsent: the row is queued.\n"
TABLE = "| window | shown by |\n|---|---|\n| `minted-unsent` | drainer | `DrainerTest.Revokes` |\n"
TEST = "TEST_F(DrainerTest, Revokes) {}\n"


def found(code: str = CODE, table: str | None = TABLE, test: str = TEST,
          python: str = "") -> list[str]:
    files = {"src/services/x.cc": code, "tests/unit/x_test.cc": test,
             "tests/crash/x_test.py": python}
    if table is not None:
        files["docs/crash-safety.md"] = table
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files.items():
            full = pathlib.Path(folder) / path
            full.parent.mkdir(parents=True, exist_ok=True)
            full.write_text(text, encoding="utf-8")
        return [f"{one.path}:{one.line}" for one in crash_windows_are_told(
            Tree.read(pathlib.Path(folder)))]


class Windows(unittest.TestCase):
    def test_a_window_with_a_row_and_a_test_is_green(self):
        self.assertEqual([], found())

    def test_a_window_without_a_row_is_red(self):
        self.assertEqual(["src/services/x.cc:1"], found(table="none\n", code=CODE))
        self.assertEqual(["src/services/x.cc:1"], found(table=None))

    def test_a_name_may_stand_on_the_next_line(self):
        split = CODE.replace("Crash window minted", "Crash\n// window minted")
        self.assertEqual([], found(split))
        self.assertEqual([], found(CODE.replace("window minted", "window\n  // minted")))

    def test_a_row_whose_window_is_gone_is_red(self):
        self.assertEqual(["docs/crash-safety.md:3"], found("int x;\n"))

    def test_a_row_without_a_test_is_red(self):
        self.assertEqual(["docs/crash-safety.md:3"],
                         found(table=TABLE.replace("`DrainerTest.Revokes`", "trust us")))

    def test_a_test_that_is_not_there_is_red(self):
        self.assertEqual(["docs/crash-safety.md:3"], found(test="TEST_F(DrainerTest, Other) {}\n"))

    def test_a_python_test_counts_by_its_class(self):
        table = TABLE.replace("DrainerTest.Revokes", "KillTest.test_a_kill")
        python = "class KillTest(DaemonCase):\n    def test_a_kill(self):\n        pass\n"
        self.assertEqual([], found(table=table, python=python))
        self.assertEqual(["docs/crash-safety.md:3"],
                         found(table=table, python=python.replace("KillTest", "Other")))


if __name__ == "__main__":
    unittest.main()
