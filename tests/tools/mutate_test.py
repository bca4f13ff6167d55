"""tests/mutations.toml against the sources, so that the list can not rot; and tools/mutate's verdicts."""

import importlib.machinery
import importlib.util
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
loader = importlib.machinery.SourceFileLoader("mutate_tool", str(ROOT / "tools" / "mutate"))
mutate = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
loader.exec_module(mutate)


def mutation(find: str) -> "mutate.Mutation":
    return mutate.Mutation("name", "file.cc", find, "new", "test_domain")


class List(unittest.TestCase):
    def setUp(self):
        self.mutations = mutate.read_list()

    def test_every_defect_applies_to_exactly_one_place(self):
        for one in self.mutations:
            with self.subTest(one.name):
                text = (ROOT / one.file).read_text(encoding="utf-8")
                self.assertNotEqual(one.apply(text), text)

    def test_every_defect_has_a_name_of_its_own_and_a_known_program(self):
        names = [one.name for one in self.mutations]
        self.assertEqual(len(names), len(set(names)))
        self.assertLessEqual({one.caught_by for one in self.mutations}, set(mutate.PROGRAMS))

    def test_there_are_enough_of_them(self):
        self.assertGreaterEqual(len(self.mutations), 28)


class Verdict(unittest.TestCase):
    def test_a_find_that_is_missing_or_ambiguous_is_unusable(self):
        for text in ("nothing", "old old"):
            with self.assertRaises(mutate.Unusable):
                mutation("old").apply(text)
        self.assertEqual(mutation("old").apply("an old one"), "an new one")

    def test_the_first_failing_test_is_named(self):
        told = mutate.FAILED_TEST.search("x\n[  FAILED  ] Suite.ATest (0 ms)\n[  FAILED  ] S.B\n")
        self.assertEqual(told[1], "Suite.ATest")
        told = mutate.FAILED_TEST.search("[  FAILED  ] On/StoreReaper.ATest/sqlite, where\n")
        self.assertEqual(told[1], "On/StoreReaper.ATest/sqlite")


if __name__ == "__main__":
    unittest.main()
