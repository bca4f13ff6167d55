"""POST /codeRunner/test: one script at once and outside the queue, from outside (contract 2)."""

import contextlib
import json
import os
import pathlib
import signal
import socket
import threading
import unittest
from collections.abc import Mapping
from typing import Any

from support.case import DaemonCase
from support.daemon import Daemon
from support.http import Answer, Client
from support.processes import is_alive
from support.rows import SLOW
from support.wait import holds_for, wait_until

PATH = "/codeRunner/test"
KEY = "key-that-nobody-may-find"
MARK = "a-source-that-nobody-may-find"


def body(source: str, **fields: Any) -> dict[str, Any]:
    return {"account": "acme", "apikey": KEY, "source": source} | fields


class Waiting:
    """A test run that is being waited for."""

    def __init__(self, daemon: Daemon, source: str, **fields: Any):
        self.answer: Answer | None = None
        self._thread = threading.Thread(target=self._ask, args=(daemon, body(source, **fields)),
                                        daemon=True)
        self._thread.start()

    def _ask(self, daemon: Daemon, value: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):  # what is killed answers nothing
            self.answer = Client(daemon.address, timeout=90).post(PATH, value)

    def result(self, timeout: float = 30) -> Answer:
        self._thread.join(timeout)
        assert self.answer is not None, "no answer yet"
        return self.answer


class LaneCase(DaemonCase):
    def start_ready(self, settings: Mapping[str, Any] | None = None, **options: Any) -> Daemon:
        daemon = self.start_daemon(settings, **options)
        # The zygote's proof of its sandbox forks too: a script seen later is a script.
        wait_until(lambda: "event=sandbox" in daemon.log_tail(), 20, "the sandbox's proof")
        return daemon

    def run_test(self, daemon: Daemon, source: str, **fields: Any) -> dict[str, Any]:
        answer = Client(daemon.address, timeout=90).post(PATH, body(source, **fields))
        self.assertEqual(answer.status, 200, answer.text)
        self.assertEqual(list(answer.json),
                         ["outcome", "error_code", "error_message", "ms", "logs"])
        return answer.json

    def assert_ended(self, result: dict[str, Any], code: int, message: str) -> None:
        self.assertEqual((result["outcome"], result["error_code"]), ("error", code), result)
        self.assertRegex(result["error_message"], message)

    def lane(self, daemon: Daemon) -> list:
        return daemon._of_role("executor-test-worker")

    def start_two(self, daemon: Daemon) -> list[Waiting]:
        waiting = [Waiting(daemon, SLOW) for _ in range(2)]
        wait_until(lambda: len(daemon.scripts()) >= 2, 20, "both test runs")
        return waiting


class WhatItAnswers(LaneCase):
    def test_a_script_that_succeeds_is_answered_with_its_lines_and_calls_in_order(self) -> None:
        fake = self.start_fake()
        daemon = self.start_ready(fake=fake)
        result = self.run_test(daemon, """
            log("one", event.n, execution.identifier)
            local made = api.post("/cards", {title = "t", column_id = 1, lane_id = 1})
            log("made", type(made))
            api.get("/cards")
            log("two")""", payload={"n": 7}, identifier="who")
        self.assertEqual((result["outcome"], result["error_code"], result["error_message"]),
                         ("success", None, None), result)
        said = [(line["message"], "call" in line) for line in result["logs"]]
        self.assertEqual(said, [("one\t7\twho", False), ("sending POST /cards", True),
                                ("POST /cards: 200", True), ("made\ttable", False),
                                ("GET /cards: 200", True), ("two", False)])
        self.assertEqual(set(result["logs"][0]), {"at", "level", "message"})
        self.assertEqual(set(result["logs"][2]["call"]),
                         {"method", "path", "status", "ms", "attempt", "remaining"})
        self.assertEqual(len(fake.effects()), 1)
        self.assertGreaterEqual(result["ms"], 0)

    def test_a_form_is_taken_like_json(self) -> None:
        daemon = self.start_ready()
        answer = daemon.client.request(
            "POST", PATH, f"account=acme&apikey={KEY}&source=log(event.a)&payload=%7B%22a%22%3A5%7D",
            {"Content-Type": "application/x-www-form-urlencoded"})
        self.assertEqual(answer.status, 200, answer.text)
        self.assertEqual(answer.json["logs"][0]["message"], "5")

    def test_errors_have_the_codes_of_every_run(self) -> None:
        fake = self.start_fake()
        daemon = self.start_ready({"executor.loop_budget": "1s"}, fake=fake)
        self.assert_ended(self.run_test(daemon, "error('no')"), 301, "no")
        self.assert_ended(self.run_test(daemon, 'api.get("/cards/999999")'), 301, "404")
        self.assert_ended(self.run_test(daemon, "local t = {} while true do t[#t + 1] = "
                                                "('x'):rep(1000000) .. #t end"), 302, "memory")
        self.assert_ended(self.run_test(daemon, SLOW), 301, "ran longer than 1s")
        caught = self.run_test(daemon, 'log(pcall(api.get, "/cards/999999"))')
        self.assertEqual(caught["outcome"], "success")

    def test_the_wall_ends_it(self) -> None:
        # The lane's wall is the smaller of 60 s and executor.wall.
        daemon = self.start_ready({"executor.wall": "3s", "executor.loop_budget": "2s"})
        result = self.run_test(daemon, 'log("before") ' + "local s = ('a'):rep(40) "
                               "while true do s:find(('.-'):rep(30) .. 'b') end")
        self.assertEqual(result["outcome"], "error")
        self.assertIn(result["error_code"], (302, 303))
        self.assertEqual(result["logs"][0]["message"], "before")
        # A script that waits uses no time of its own: only the wall ends it.
        silent = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(silent.close)
        port = silent.getsockname()[1]
        other = self.start_ready({"executor.wall": "3s", "executor.loop_budget": "2s",
                                   "api.base_url": f"http://127.0.0.1:{port}/{{account}}"},
                                  name="silent")
        self.assert_ended(self.run_test(other, 'log("before") api.post("/cards", {})'), 303,
                          "^wall: .*it had sent 1: POST /cards: no answer")

    def test_the_log_of_a_giant_talker_is_cut(self) -> None:
        daemon = self.start_ready()
        result = self.run_test(daemon, 'for i = 1, 300 do log(("x"):rep(10000)) end')
        self.assertEqual(result["outcome"], "success")
        self.assertRegex(result["logs"][-1]["message"], "the log is cut here")
        self.assertLess(sum(len(line["message"]) for line in result["logs"]), 1 << 20)

    def test_what_is_wrong_with_a_request_is_said(self) -> None:
        daemon = self.start_ready()
        client = daemon.client
        answer = client.post(PATH, body("local x = 1\nlocal y = = 2"))
        self.assertEqual((answer.status, answer.json["error"]["code"]), (422, 201), answer.text)
        self.assertEqual(answer.json["error"]["details"], {"line": 2})
        for broken, field in [({"apikey": KEY, "source": "x()"}, "account"),
                              ({"account": "acme", "source": "x()"}, "apikey"),
                              (body(""), "source"), (body("x()", account="a.b"), "account"),
                              (body("x()", payload="x" * (257 * 1024)), "payload"),
                              (body("x()", debug="maybe"), "debug")]:
            answer = client.post(PATH, broken)
            self.assertEqual((answer.status, answer.json["error"]["details"]),
                             (400, {"field": field}), answer.text)
        answer = client.request("POST", PATH, "{", {"Content-Type": "application/json"})
        self.assertEqual(answer.status, 400)
        answer = client.request("POST", PATH, "x", {"Content-Type": "text/plain"})
        self.assertEqual(answer.status, 415)
        answer = client.post(PATH, body("-- " + "x" * (2 << 20)))
        self.assertEqual(answer.status, 413)
        answer = client.get(PATH)
        self.assertEqual((answer.status, answer.headers["allow"]), (405, "POST"))
        self.assertEqual(daemon.scripts(), [])

    def test_without_a_built_in_executor_it_is_not_there(self) -> None:
        elsewhere = self.start_daemon({"executor.mode": "http",
                                       "executor.url": "http://127.0.0.1:9/codeRunner/runAsync"})
        self.assertEqual(elsewhere.client.post(PATH, body("log(1)")).status, 501)
        api = self.start_daemon(name="api", arguments=["--roles", "api"])
        self.assertEqual(api.client.post(PATH, body("log(1)")).status, 501)


class WhereItRuns(LaneCase):
    def test_a_third_run_waits_for_nothing(self) -> None:
        daemon = self.start_ready()
        waiting = self.start_two(daemon)
        answer = daemon.client.post(PATH, body("log(1)"))
        self.assertEqual(answer.status, 503, answer.text)
        self.assertIn("retry-after", answer.headers)
        self.assertEqual(len(daemon.scripts()), 2)
        # None of this is the pool's.
        self.assertEqual(daemon.client.get("/queue/data").json["executor"],
                         {"children": 0, "max_children": 8, "max_children_reached": 0})
        for worker in self.lane(daemon):
            os.kill(worker.pid, signal.SIGKILL)
        for one in waiting:
            self.assert_ended(one.result().json, 303, "^lost: ")
        self.assertEqual(self.run_test(daemon, "log(1)")["outcome"], "success")

    def test_a_place_is_free_as_soon_as_its_answer_is_read(self) -> None:
        daemon = self.start_ready()
        refused = []

        def ask() -> None:
            client = Client(daemon.address, timeout=60)
            refused.extend(answer.text for _ in range(15)
                           if (answer := client.post(PATH, body("log(1)"))).status != 200)
        threads = [threading.Thread(target=ask) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(90)
        self.assertEqual(refused, [])
        self.assertLessEqual(len(self.lane(daemon)), 2)

    def test_it_answers_while_the_queue_and_all_children_are_busy(self) -> None:
        daemon = self.start_ready({"queue.concurrency": 8, "queue.per_account": 8})
        for at in range(12):
            daemon.submit(f"a{at}", SLOW)
        wait_until(lambda: len(daemon.scripts()) >= 8, 30, "eight runs")
        result = self.run_test(daemon, 'log("at once")')
        self.assertEqual(result["logs"][0]["message"], "at once")
        figures = daemon.client.get("/queue/data").json["executor"]
        self.assertEqual((figures["children"], figures["max_children_reached"]), (8, 0))

    def test_it_answers_while_the_store_is_away(self) -> None:
        fake = self.start_fake()
        daemon = self.start_ready(fake=fake)
        kept = daemon.folder / "away"
        (daemon.folder / "var").rename(kept)
        result = self.run_test(daemon, 'api.post("/cards", {title = "t", column_id = 1, lane_id = 1})')
        self.assertEqual(result["outcome"], "success", result)
        kept.rename(daemon.folder / "var")

    def test_the_gate_of_its_key_holds_it_like_every_run(self) -> None:
        fake = self.start_fake(per_minute=1)
        daemon = self.start_ready(fake=fake)
        # The answer that used the minute up closes the gate, which outlasts the lane's wall.
        self.assert_ended(self.run_test(daemon, 'api.get("/cards") api.get("/cards")'), 301,
                          "rate limited")
        gates = daemon.client.get("/gates").json["gates"]
        self.assertEqual(len(gates), 1, gates)
        daemon.client.send("PUT", f"/gates/{gates[0]['key']}", {"for_ms": 600_000})
        calls = fake.ledger()["calls"]
        self.assert_ended(self.run_test(daemon, 'api.get("/cards")'), 301, "gate is closed")
        self.assertEqual(fake.ledger()["calls"], calls)

    def test_it_leaves_nothing_behind(self) -> None:
        fake = self.start_fake()
        daemon = self.start_ready(fake=fake)
        before = daemon.client.get("/codeRunner/logs/data").json["executions"]
        seen: list[str] = []

        def look() -> None:
            for process in daemon.all_processes():
                seen.extend(process.arguments)
                try:
                    seen.append(pathlib.Path(f"/proc/{process.pid}/environ").read_text("latin-1"))
                except OSError:
                    continue
        waiting = Waiting(daemon, f"-- {MARK}\napi.get('/cards')\n{SLOW}")
        wait_until(daemon.scripts, 20, "the script")
        look()
        os.kill(self.lane(daemon)[0].pid, signal.SIGKILL)
        waiting.result()
        self.assertEqual(self.run_test(daemon, f"-- {MARK}\nerror('x')")["error_code"], 301)
        self.assertEqual(daemon.client.get("/codeRunner/logs/data").json["executions"], before)
        daemon.stop()
        files = [path for path in daemon.folder.rglob("*") if path.is_file()]
        for secret in (KEY, MARK):
            self.assertNotIn(secret, "".join(seen))
            for path in files:
                self.assertNotIn(secret.encode(), path.read_bytes(), path)


class HowItEnds(LaneCase):
    def test_the_script_is_gone_when_its_client_is(self) -> None:
        daemon = self.start_ready()
        host, _, port = daemon.address.rpartition(":")
        text = json.dumps(body(SLOW)).encode()
        client = socket.create_connection((host, int(port)), timeout=10)
        client.sendall(b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                       b"Content-Length: %d\r\n\r\n" % (PATH.encode(), len(text)) + text)
        script = wait_until(daemon.scripts, 20, "the script")[0]
        client.close()
        wait_until(lambda: not is_alive(script.pid), 20, "the script's end")
        self.assertEqual(self.run_test(daemon, "log(1)")["outcome"], "success")
        self.assertEqual(len(self.lane(daemon)), 1, "its worker went on to the next")

    def test_a_stop_cuts_it_and_it_is_answered(self) -> None:
        daemon = self.start_ready()
        waiting = Waiting(daemon, 'log("begun") ' + SLOW)
        wait_until(daemon.scripts, 20, "the script")
        daemon.stop()
        result = waiting.result().json
        self.assert_ended(result, 303, "^stopped: ")
        self.assertEqual(daemon.all_processes(), [])

    def test_a_master_that_lies_still_does_not_hold_up_the_stop(self) -> None:
        daemon = self.start_ready()
        waiting = Waiting(daemon, SLOW)
        wait_until(daemon.scripts, 20, "the script")
        os.kill(daemon.master().pid, signal.SIGSTOP)
        daemon.stop(40)  # far less than the run's wall
        self.assert_ended(waiting.result().json, 303, "^stopped: ")
        wait_until(lambda: not daemon.all_processes(), 20, "all are gone")

    def test_a_killed_worker_is_named_with_what_it_had_sent(self) -> None:
        fake = self.start_fake()
        daemon = self.start_ready(fake=fake)
        waiting = Waiting(daemon, 'api.post("/cards", {title = "t", column_id = 1, lane_id = 1}) ' + SLOW)
        wait_until(fake.effects, 20, "the card")
        # Until the call's result has come back to its log, it would read "no answer".
        script = wait_until(daemon.scripts, 20, "the script")[0]
        holds_for(lambda: is_alive(script.pid), 0.5, "the script runs on")
        os.kill(self.lane(daemon)[0].pid, signal.SIGKILL)
        result = waiting.result().json
        self.assert_ended(result, 303, "^lost: .*had sent 1: POST /cards: (200|no answer)")
        self.assertEqual(result["logs"][0]["message"], "sending POST /cards")
        wait_until(lambda: not is_alive(script.pid), 20, "the script's end")

    def test_a_killed_script_is_302(self) -> None:
        daemon = self.start_ready()
        waiting = Waiting(daemon, SLOW)
        os.kill(wait_until(daemon.scripts, 20, "the script")[0].pid, signal.SIGKILL)
        self.assert_ended(waiting.result().json, 302, "killed by signal 9")

    def test_a_new_master_has_a_new_lane(self) -> None:
        daemon = self.start_ready()
        waiting = Waiting(daemon, 'log(1)')
        self.assertEqual(waiting.result().json["outcome"], "success")
        old = daemon.master()
        os.kill(old.pid, signal.SIGKILL)
        wait_until(lambda: [one for one in daemon.masters() if one.pid != old.pid], 20,
                   "another master")

        def answer() -> Answer | None:
            got = daemon.client.post(PATH, body("log(2)"))
            return got if got.status == 200 else None
        again = wait_until(answer, 20, "a test run under the new master")
        self.assertEqual(again.json["logs"][0]["message"], "2")

    def test_no_process_of_the_lane_outlives_a_killed_daemon(self) -> None:
        daemon = self.start_ready()
        Waiting(daemon, SLOW)
        wait_until(daemon.scripts, 20, "the script")
        daemon.kill9()
        wait_until(lambda: not daemon.all_processes(), 30, "all are gone")


if __name__ == "__main__":
    unittest.main()
