"""tools/coverage: what is held to a floor, and which way a floor moves."""

import importlib.machinery
import importlib.util
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "coverage"
loader = importlib.machinery.SourceFileLoader("coverage_tool", str(TOOL))
coverage = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
loader.exec_module(coverage)

NAME = "src/domain/x.cc"


def lines(run: int, missed: int) -> dict[int, int]:
    return {**{n: 1 for n in range(run)}, **{n: 0 for n in range(run, run + missed)}}


class Floors(unittest.TestCase):
    def found(self, have: dict[int, int], floors: dict[str, int]) -> list[str]:
        return coverage.problems({NAME: have}, floors)

    def test_a_file_at_its_floor_is_green(self):
        self.assertEqual([], self.found(lines(90, 10), {NAME: 90}))

    def test_a_file_below_its_floor_is_red_and_told_where(self):
        [problem] = self.found({1: 5, 2: 0, 3: 0, 4: 1, 9: 0}, {NAME: 90})
        self.assertIn("40.0 % is below its floor 90 %; not run: 2-3, 9", problem)

    def test_a_file_without_a_floor_is_red(self):
        self.assertIn("no floor", self.found(lines(1, 0), {})[0])

    def test_a_floor_left_far_behind_has_to_be_raised(self):
        self.assertIn("raise it", self.found(lines(95, 5), {NAME: 90})[0])
        self.assertEqual([], self.found(lines(94, 6), {NAME: 90}))

    def test_a_floor_of_a_file_that_is_gone_is_red(self):
        self.assertIn("not there", coverage.problems({}, {NAME: 90})[0])

    def test_an_update_raises_and_never_lowers(self):
        self.assertEqual({NAME: 94}, coverage.raised({NAME: lines(95, 5)}, {NAME: 80}))
        self.assertEqual({NAME: 99}, coverage.raised({NAME: lines(95, 5)}, {NAME: 99}))

    def test_the_core_is_decisions_services_ledger_and_commit_queue(self):
        for path in ("src/domain/a.h", "src/services/b.cc", "src/adapters/sql/ledger_face.cc",
                     "src/adapters/sql/commit_queue.h"):
            self.assertTrue(coverage.CORE.fullmatch(path), path)
        self.assertFalse(coverage.CORE.fullmatch("src/executor/run.cc"))


if __name__ == "__main__":
    unittest.main()
