"""Whatever a dispatch is answered, its row ends in the one right state and begins at most once.

The executor is a hostile one from outside; what is right is read from the rows (contract section 3,
rulings 2).
"""

import subprocess
import sys
import threading

from support import processes
from support.case import DaemonCase
from support.hostile_executor import Call, HostileExecutor, identity_of, obey
from support.rows import seconds
from support.wait import holds_for, wait_until

# The doubt about a run ends wall x 4/3 + margin after its dispatch: 2.5 s.
SHORT_DOUBT = {"executor.wall": "1500ms", "reaper.margin": "500ms"}
DOUBT_S = 2.5
GIVES_UP_S = DOUBT_S + 5  # the transport's own limit
SOURCE = "return"


def reset_unread(call: Call) -> None:
    call.reset()


def reset_read(call: Call) -> None:
    assert call.form
    call.reset()


def answers(status: int):
    def misdeed(call: Call) -> None:
        assert call.form
        call.answer(status, {"error": "no"})
    return misdeed


def says_success(call: Call) -> None:
    assert call.form
    call.answer(200, {"execution_id": 1, "status": "success", "error_code": None})


def truncates_the_body(call: Call) -> None:
    assert call.form
    call.answer(200, {"execution_id": 1, "status": "success"}, cut=10)


def truncates_the_header(call: Call) -> None:
    assert call.form
    call.send(b"HTTP/1.1 200 OK\r\nContent-Le")


def says_nothing(call: Call) -> None:
    call.wait_hung_up()


# Each leaves the dispatch in doubt, or says what the row belies.
UNBELIEVED = {
    "reset": reset_read,
    "502": answers(502),
    "503": answers(503),
    "504": answers(504),
    "403": answers(403),
    "truncated body": truncates_the_body,
    "truncated header": truncates_the_header,
    "success": says_success,
}


def after_begin(misdeed, executor_id: str | None = None):
    """Spends the nonce first; the run then goes on without its dispatch."""
    def begun(call: Call) -> None:
        assert call.begin(executor_id), "the first begin of a fresh nonce"
        misdeed(call)
    return begun


class DoubtfulDispatchTest(DaemonCase):
    def make(self, settings=None, listening=True):
        executor = HostileExecutor(self.folder / "daemon" / "var" / "coderunner.db")
        self.addCleanup(executor.close)
        if listening:
            executor.listen()
        daemon = self.make_daemon({"executor.mode": "http", "executor.url": executor.url}
                                  | dict(settings or {}))
        self.addCleanup(daemon.destroy)  # before the executor's: it ends what the executor waits for
        return daemon.start(), executor

    def assert_ran_once(self, daemon, executor, numbers):
        for number in numbers:
            self.assertEqual(daemon.wait_finished(number)["status"], "success")
        self.assertEqual(sorted(begun.execution for begun in executor.begun), sorted(numbers))

    def assert_free_again(self, row, job):
        """Still queued, and no nonce of it is worth anything."""
        self.assertEqual((row["status"], row["started_at"], row["run_id"]), ("queued", None, None))
        self.assertIsNone(job["nonce_hash"])
        self.assertTrue(job["last_dispatch_error"])

    # ---- It never began

    def test_a_dispatch_that_never_began_is_dispatched_again_and_runs_once(self):
        daemon, executor = self.make()
        for name, misdeed in ({"reset before it was read": reset_unread} | UNBELIEVED).items():
            with self.subTest(name):
                executor.begun.clear()
                executor.misbehave(misdeed)
                number = daemon.submit("acme", SOURCE)
                self.assert_ran_once(daemon, executor, [number])
                self.assertEqual(daemon.store.job_of(number)["dispatch_attempts"], 2)

    def test_a_dispatch_that_is_never_answered_is_given_up_and_its_nonce_is_worth_nothing(self):
        daemon, executor = self.make(SHORT_DOUBT)
        executor.misbehave(says_nothing)
        number = daemon.submit("acme", SOURCE)
        wait_until(lambda: executor.received, 10, "the dispatch arrived")
        first = dict(executor.received[0])
        self.assert_ran_once(daemon, executor, [number])
        row, job = daemon.store.execution(number), daemon.store.job_of(number)
        self.assertEqual(job["dispatch_attempts"], 2)
        self.assertGreater(seconds(row["started_at"]) - seconds(row["queued_at"]), GIVES_UP_S - 0.5)
        self.assertIsNone(executor.begin(int(first["jobId"]), first["asyncNonce"]))

    def test_a_begin_with_a_revoked_nonce_is_refused(self):  # R30
        daemon, executor = self.make({"queue.concurrency": 1})
        executor.always(answers(503))
        number = daemon.submit("acme", SOURCE)
        def revoked():
            job = daemon.store.job_of(number)
            return job["last_dispatch_error"] and not job["nonce_hash"]
        wait_until(revoked, 10, "a dispatch revoked")
        self.assert_free_again(daemon.store.execution(number), daemon.store.job_of(number))
        old = dict(executor.received[0])
        self.assertIsNone(executor.begin(int(old["jobId"]), old["asyncNonce"]))
        self.assertEqual(daemon.store.execution(number)["status"], "queued")
        executor.always(obey)
        self.assert_ran_once(daemon, executor, [number])
        self.assertIsNone(executor.begin(int(old["jobId"]), old["asyncNonce"]))

    def test_an_answer_of_another_run_replayed_ends_nothing(self):
        daemon, executor = self.make()
        first = daemon.submit("acme", SOURCE)
        before = daemon.wait_finished(first)
        replayed = {"execution_id": first, "status": "success", "error_code": None}
        def replay(call: Call) -> None:
            assert call.form
            call.answer(200, replayed)
            call.answer(200, replayed)  # and once more on the same connection
        executor.misbehave(replay)
        second = daemon.submit("acme", SOURCE)
        self.assert_ran_once(daemon, executor, [first, second])
        self.assertEqual(daemon.store.job_of(second)["dispatch_attempts"], 2)
        self.assertEqual(daemon.store.execution(first), before)

    # ---- The executor as a whole is away

    def test_while_the_executor_is_unreachable_rows_wait_and_it_is_probed_ever_more_rarely(self):
        daemon, executor = self.make(listening=False)
        numbers = [daemon.submit(account, SOURCE) for account in ("a", "b", "c")]
        wait_until(lambda: daemon.client.get("/queue/data").json["drainer"]["state"]
                   == "executor_unavailable", 10, "the drainer says so")
        for number in numbers:
            shown = daemon.execution(number)
            self.assertEqual((shown["state"], shown["queued_reason"]),
                             ("queued", "executor_unavailable"))
        holds_for(lambda: daemon.store.count_by_status() == {"queued": 3}, 4, "nothing fails", 0.2)
        attempts = sum(daemon.store.job_of(number)["dispatch_attempts"] for number in numbers)
        # three at first, then one at a time after 125 ms, 250 ms, 500 ms, 1 s, ... at the least
        self.assertGreaterEqual(attempts, 4)
        self.assertLessEqual(attempts, 3 + 7)
        self.assertEqual(daemon.client.get("/readyz").status, 200, "work is still admitted")
        executor.listen()
        self.assert_ran_once(daemon, executor, numbers)
        self.assertNotEqual(daemon.client.get("/queue/data").json["drainer"]["state"],
                            "executor_unavailable")

    def test_an_executor_that_fails_is_probed_with_one_dispatch_at_a_time(self):
        daemon, executor = self.make()
        never = threading.Event()
        self.addCleanup(never.set)
        def full_after(hold: float):
            def full(call: Call) -> None:
                assert call.form
                never.wait(hold)
                call.answer(503)
            return full
        executor.misbehave(*[full_after(0.2)] * 4, full_after(2.5))  # the last outlasts some ticks
        numbers = [daemon.submit(account, SOURCE) for account in ("a", "b", "c", "d")]
        wait_until(lambda: sum(daemon.store.job_of(n)["last_dispatch_error"] is not None
                               for n in numbers) == 4, 10, "the first round has failed")
        wait_until(lambda: len(executor.received) == 5, 10, "the probe")
        numbers.append(daemon.submit("e", SOURCE))  # a wake-up
        holds_for(lambda: len(executor.received) == 5, 2, "nothing beside it")
        self.assert_ran_once(daemon, executor, numbers)

    # ---- It began

    def test_a_run_whose_dispatch_ended_in_doubt_stays_in_flight_until_it_finishes(self):  # R29
        daemon, executor = self.make({"queue.per_account": 1})
        for name, misdeed in UNBELIEVED.items():
            with self.subTest(name):
                executor.begun.clear()
                executor.received.clear()
                executor.misbehave(after_begin(misdeed))
                numbers = [daemon.submit("acme", SOURCE) for _ in range(2)]
                wait_until(lambda: executor.begun, 10, "it began")
                holds_for(lambda: len(executor.received) == 1 and
                          daemon.store.execution(numbers[0])["status"] == "running", 0.7,
                          "it holds its account's only slot")
                self.assertEqual(daemon.store.execution(numbers[1])["status"], "queued")
                self.assertTrue(executor.finish(executor.begun[0]))
                self.assert_ran_once(daemon, executor, numbers)
                self.assertEqual(daemon.store.job_of(numbers[0])["dispatch_attempts"], 1)

    def test_a_run_that_is_never_heard_of_again_ends_303_when_its_wall_is_surely_over(self):
        daemon, executor = self.make(SHORT_DOUBT | {"queue.per_account": 1})
        executor.misbehave(after_begin(says_success))
        number, behind = daemon.submit("acme", SOURCE), daemon.submit("acme", SOURCE)
        row = daemon.wait_finished(number)
        self.assertEqual((row["status"], row["error_code"]), ("error", 303))
        self.assertEqual(daemon.execution(number)["state"], "killed")
        self.assertIsNone(daemon.store.job_of(number)["apikey"])
        self.assertGreaterEqual(seconds(row["finished_at"]) - seconds(row["started_at"]),
                                DOUBT_S - 0.2)
        late = executor.begun[0]
        self.assertFalse(executor.finish(late), "an outcome that comes too late changes nothing")
        self.assertEqual(daemon.store.execution(number), row)
        self.assertEqual(daemon.wait_finished(behind)["status"], "success")
        self.assertGreaterEqual(daemon.store.execution(behind)["started_at"], row["finished_at"])

    def test_a_run_that_never_answers_and_never_finishes_ends_303(self):
        daemon, executor = self.make(SHORT_DOUBT)
        executor.misbehave(after_begin(says_nothing))
        number = daemon.submit("acme", SOURCE)
        row = daemon.wait_finished(number)
        self.assertEqual((row["status"], row["error_code"]), ("error", 303))
        self.assertEqual(len(executor.begun), 1)

    def test_a_run_whose_executor_is_proved_dead_ends_303_at_once(self):
        daemon, executor = self.make()  # with the default wall of 300 s
        victim = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
        processes.own_session(victim.pid)
        self.addCleanup(victim.wait)
        self.addCleanup(victim.kill)
        executor.misbehave(after_begin(reset_read, identity_of(victim.pid)))
        number = daemon.submit("acme", SOURCE)
        wait_until(lambda: executor.begun, 10, "it began")
        holds_for(lambda: daemon.store.execution(number)["status"] == "running", 1.5,
                  "time is no proof of death")
        victim.kill()
        victim.wait()
        row = daemon.wait_finished(number, 5)
        self.assertEqual((row["status"], row["error_code"]), ("error", 303))
        self.assertIn("died", row["error_message"])

    def test_a_request_delivered_twice_runs_once(self):
        daemon, executor = self.make()
        def twice(call: Call) -> None:
            begun = call.begin()
            assert begun and call.begin() is None, "the second begin must meet 113"
            call.executor.finish(begun)
            call.answer_success(begun)
        executor.misbehave(twice)
        number = daemon.submit("acme", SOURCE)
        self.assert_ran_once(daemon, executor, [number])
        self.assertEqual(executor.refused, 1)
        form = executor.received[0]
        self.assertIsNone(executor.begin(int(form["jobId"]), form["asyncNonce"]),
                          "nor does one that arrives after the end begin anything")

    def test_a_run_longer_than_every_timer_but_its_wall_has_no_second_copy(self):  # R18, R30
        daemon, executor = self.make({"executor.wall": "12s", "reaper.margin": "0ms",
                                      "reaper.running_after": "16s"})
        done = threading.Event()
        self.addCleanup(done.set)
        def long_run(call: Call) -> None:
            begun = call.begin()
            assert begun
            done.wait(20)
            call.executor.finish(begun)
            call.answer_success(begun)
        executor.misbehave(long_run)
        number = daemon.submit("acme", SOURCE)
        wait_until(lambda: executor.begun, 10, "it began")
        # longer than the connect limit, the heartbeat, the stalled mark and the store's wait
        holds_for(lambda: len(executor.received) == 1 and
                  daemon.store.execution(number)["status"] == "running", 7, "one copy", 0.2)
        done.set()
        self.assert_ran_once(daemon, executor, [number])
        self.assertEqual(daemon.store.job_of(number)["dispatch_attempts"], 1)

    def test_a_drainer_killed_between_the_dispatch_and_its_answer_finds_the_run_again(self):  # R29
        daemon, executor = self.make({"queue.per_account": 1})
        let_begin, done = threading.Event(), threading.Event()
        self.addCleanup(let_begin.set)
        self.addCleanup(done.set)
        outcomes = []
        def begins_late(call: Call) -> None:
            assert call.form
            let_begin.wait(20)
            outcomes.append(call.begin())
            done.wait(20)
            if outcomes[0]:
                call.executor.finish(outcomes[0])
        for begins_before in (True, False):
            with self.subTest(begins_before=begins_before):
                let_begin.clear()
                done.clear()
                outcomes.clear()
                executor.begun.clear()
                executor.misbehave(begins_late)
                before = len(executor.received)
                number = daemon.submit("acme", SOURCE)
                wait_until(lambda: len(executor.received) > before, 10, "the push was sent")
                daemon.kill9()
                if begins_before:
                    let_begin.set()
                    wait_until(lambda: outcomes, 10, "it began while nobody drained")
                daemon.restart()
                if begins_before:
                    behind = daemon.submit("acme", SOURCE)
                    holds_for(lambda: daemon.store.execution(behind)["status"] == "queued", 1,
                              "the run still holds the account's only slot")
                    done.set()
                    self.assert_ran_once(daemon, executor, [number, behind])
                else:
                    # the new drainer revoked the nonce and dispatched the row itself
                    self.assertEqual(daemon.wait_finished(number)["status"], "success")
                    let_begin.set()
                    wait_until(lambda: outcomes, 10, "the late begin was tried")
                    self.assertIsNone(outcomes[0])
                    self.assertEqual([one.execution for one in executor.begun], [number])
