"""The auditor of the crash tests against planted violations: one that finds nothing proves nothing."""

import pathlib
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1])]

from support.audit import Evidence, audit, tagged

NOON = "2026-08-24 12:00:{:06.3f}".format


class World:
    """A handful of rows as the store would hold them, right until a test bends one."""

    def __init__(self):
        self.executions, self.jobs, self.logs, self.effects = [], {}, {}, []
        self.acknowledged = []

    def add(self, begun=0.0, ended=1.0, effects=2, account="a", **bent):
        number = len(self.executions) + 1
        row = {"execution_id": number, "job_id": 100 + number, "subdomain": account,
               "subdomain_hash": "#" + account, "apikey_hash": "key-" + account,
               "identifier": str(effects), "status": "success", "error_code": None,
               "error_message": None, "queued_at": NOON(number / 1000),
               "started_at": NOON(begun), "finished_at": NOON(ended)} | bent
        self.executions.append(row)
        self.acknowledged.append(number)
        self.jobs[row["job_id"]] = {"job_id": row["job_id"], "started_at": row["started_at"],
                                    "dispatch_attempts": 1 if row["started_at"] else 0}
        self.logs[number] = [{"message": "sending POST /cards"} for _ in range(effects)]
        self.effects += [{"body": {"title": f"{number}:{i + 1}"}} for i in range(effects)]
        return row

    def findings(self):
        return sorted((one.kind, one.text) for one in audit(Evidence(
            self.executions, self.jobs, self.logs, self.effects, self.acknowledged)))


class Auditor(unittest.TestCase):
    def setUp(self):
        self.world = World()

    def assert_finds(self, kind, *words):
        findings = self.world.findings()
        self.assertEqual([kind], [found for found, _ in findings], findings)
        for word in words:
            self.assertIn(word, findings[0][1])

    def killed(self, **bent):
        return self.world.add(**{"status": "error", "error_code": 303,
                                 "error_message": f"reaped: killed; it had sent {bent.get('effects', 2)}: ..."}
                              | bent)

    def test_rows_as_they_must_be_are_no_finding(self):
        for second in range(0, 6, 2):
            self.world.add(second, second + 1)
        self.killed(begun=7, ended=8, effects=1)
        self.killed(begun=9, ended=10, effects=0)
        self.assertEqual(self.world.findings(), [])

    def test_an_acknowledged_execution_without_a_row_is_lost(self):
        self.world.add()
        self.world.acknowledged.append(7)
        self.assert_finds("lost", "execution 7")

    def test_effects_without_a_row_are_lost(self):
        self.world.effects.append({"body": {"title": "9:1"}})
        self.assert_finds("lost", "execution 9")

    def test_a_row_nobody_ends_is_lost(self):
        for bent in ({"status": "running"}, {"status": "queued", "started_at": None}):
            with self.subTest(bent):
                self.world = World()
                self.world.add(effects=0, **bent | {"finished_at": None})
                self.assert_finds("lost", bent["status"])

    def test_an_effect_that_took_place_twice_is_found(self):
        self.world.add(effects=1)
        self.world.effects.append({"body": {"title": "1:1"}})
        self.world.logs[1] *= 2
        self.world.executions[0]["identifier"] = "2"
        self.assert_finds("twice", "1:1")

    def test_a_success_that_lacks_an_effect_is_untrue(self):
        self.world.add()
        self.world.effects.pop()
        self.assert_finds("untrue", "1 effects, not 2")

    def test_an_effect_the_log_does_not_name_is_untrue(self):
        self.killed(effects=2)
        self.world.logs[1] = [{"message": "sending soon"}, {"message": "POST /cards: 200"}]
        self.assert_finds("untrue", "has 2 effects and its log names 1")

    def test_a_303_that_names_fewer_changes_than_took_place_or_none_at_all_is_untrue(self):
        for words in ("reaped: killed; it had sent 1: ...", "reaped: it had sent no change", "wall"):
            with self.subTest(words):
                self.world = World()
                self.killed(error_message=words)
                self.assert_finds("untrue", "says: " + words)

    def test_an_effect_of_a_row_that_never_began_is_untrue(self):
        self.world.add(started_at=None, status="error", error_code=303, error_message="x", effects=1)
        self.assert_finds("untrue", "never began")

    def test_an_error_that_does_not_say_why_is_untrue(self):
        self.killed(error_message="", error_code=302, effects=0)
        self.assert_finds("untrue", "does not say why")

    def test_an_end_before_the_begin_is_untrue(self):
        self.killed(begun=5, ended=4, effects=0)
        self.assert_finds("untrue", "ended before it began")

    def test_a_third_run_of_an_account_is_over_cap(self):
        for _ in range(3):
            self.world.add(begun=1, ended=2)
        self.assert_finds("over cap", "3 runs of a")

    def test_a_fifth_run_is_over_cap(self):
        for account in "abcde":
            self.world.add(begun=1, ended=2, account=account)
        self.assert_finds("over cap", "5 runs at once")

    def test_a_slot_given_on_in_the_same_instant_is_not(self):
        for second in (1, 2, 3):
            self.world.add(begun=second, ended=second + 1)
            self.world.add(begun=second, ended=second + 1)
        self.assertEqual(self.world.findings(), [])

    def test_a_later_row_of_the_lane_dispatched_first_is_out_of_order(self):
        self.world.add(begun=5, ended=6)
        self.world.add(begun=1, ended=2)
        self.assert_finds("order", "execution 1", "after 2")

    def test_another_lane_and_a_row_dispatched_again_are_not(self):
        self.world.add(begun=5, ended=6)
        self.world.add(begun=1, ended=2, account="b")
        self.world.add(begun=4, ended=4.5, account="b")
        self.world.jobs[102]["dispatch_attempts"] = 2
        self.world.jobs[102]["started_at"] = NOON(9)
        self.assertEqual(self.world.findings(), [])

    def test_the_scripts_it_judges_say_what_it_reads(self):
        self.assertIn("1, 2 do", tagged(2))
        self.assertTrue(tagged(0, "while true do end").endswith("while true do end"))


if __name__ == "__main__":
    unittest.main()
