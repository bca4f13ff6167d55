"""POST /internal/codeRunner: whether a script parses, from outside (contract section 2)."""

import unittest

from support.case import DaemonCase

PATH = "/internal/codeRunner"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class LintTest(DaemonCase):
    def test_a_script_that_parses_has_no_diagnostics(self) -> None:
        daemon = self.start_daemon(arguments=["--roles", "api"])
        for answer in (daemon.client.post(PATH, {"source": "log(1)\nlog(2)"}),
                       daemon.client.request("POST", PATH, "source=log(1)%0Alog(2)", FORM)):
            self.assertEqual((answer.status, answer.json), (200, {"ok": True, "diagnostics": []}),
                             answer.text)

    def test_an_error_is_named_with_its_line(self) -> None:
        daemon = self.start_daemon(arguments=["--roles", "api"])
        for answer in (daemon.client.post(PATH, {"source": "log(1)\nlog(= 2)"}),
                       daemon.client.request("POST", PATH, "source=log(1)%0Alog(%3D%202)", FORM)):
            self.assertEqual(answer.status, 200, answer.text)
            self.assertIs(answer.json["ok"], False)
            found = answer.json["diagnostics"]
            self.assertEqual([(set(one), one["line"]) for one in found],
                             [({"line", "message"}, 2)])
            self.assertIn("unexpected symbol near '='", found[0]["message"])

    def test_binary_chunks_are_no_scripts(self) -> None:
        daemon = self.start_daemon(arguments=["--roles", "api"])
        answer = daemon.client.post(PATH, {"source": "\x1bLuaT\u0000"})
        self.assertEqual((answer.status, answer.json["ok"]), (200, False), answer.text)

    def test_what_is_wrong_with_a_request_is_said(self) -> None:
        client = self.start_daemon(arguments=["--roles", "api"]).client
        for value in ({}, {"source": ""}, {"source": None}, {"source": 5}):
            answer = client.post(PATH, value)
            self.assertEqual((answer.status, answer.json["error"]["details"]),
                             (400, {"field": "source"}), answer.text)
        self.assertEqual(client.request("POST", PATH, "[]").status, 400)
        self.assertEqual(client.request("POST", PATH, "source=%zz", FORM).status, 400)
        self.assertEqual(client.request("POST", PATH, "x", {"Content-Type": "text/x"}).status, 415)
        self.assertEqual(client.post(PATH, {"source": "-" * (2 << 20)}).status, 413)
        self.assertEqual(client.get(PATH).status, 405)

    def test_it_keeps_no_row_and_works_while_the_store_is_away(self) -> None:
        daemon = self.start_daemon()
        daemon.client.post(PATH, {"source": "= ="})
        self.assertEqual(daemon.client.get("/codeRunner/logs/data").json["executions"], [])
        (daemon.folder / "var").rename(daemon.folder / "away")
        answer = daemon.client.post(PATH, {"source": "log(1)"})
        self.assertEqual((answer.status, answer.json["ok"]), (200, True), answer.text)


if __name__ == "__main__":
    unittest.main()
