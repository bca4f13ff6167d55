"""A store that fails while runs are in flight: what was acknowledged is kept, nothing else is."""

import concurrent.futures
import contextlib
import http.client
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import threading
import time

from support import processes
from support.case import DaemonCase
from support.disk import SmallDisk
from support.rows import CREATES_A_CARD
from support.wait import holds_for, wait_until

SEED = int(os.environ.get("STORE_FAULTS_SEED", "1"))  # the order of the faults

# Holds the store's only write lock until it is killed.
LOCK_HOLDER = """
import sqlite3, sys
store = sqlite3.connect(sys.argv[1], isolation_level=None)
store.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


class StoreFaultsTest(DaemonCase):
    time_limit = 180.0

    # ---- What every fault is judged by

    def start_in_flight(self, daemon, fake, count=2):
        """`count` runs whose call is under way: begun, logged and sent."""
        numbers = [daemon.submit(f"flying{i}", CREATES_A_CARD, identifier=f"flying{i}")
                   for i in range(count)]
        wait_until(lambda: fake.ledger()["calls"] >= count or len(fake.effects()) >= count,
                   15, "the calls are under way")
        return numbers

    def assert_not_ready(self, daemon, *words):
        """It lives, says that it is not ready, and why."""
        def reasons():
            answer = daemon.client.get("/readyz")
            text = " ".join(answer.json["reasons"])
            return answer.status == 503 and all(word in text for word in words) and text
        wait_until(reasons, 20, f"/readyz 503 with {words}")
        self.assertEqual(daemon.client.get("/healthz").status, 200)

    def assert_refuses(self, daemon):
        """Admission answers 503 and accepts nothing."""
        answer = daemon.post_submission("late", "return", identifier="refused")
        self.assertEqual(answer.status, 503, answer.text)
        self.assertIn("retry-after", answer.headers)
        return answer

    def assert_recovers(self, daemon, fake, in_flight):
        """By itself: ready again, outcomes written, each effect once, and work goes on."""
        wait_until(lambda: daemon.client.get("/readyz").status == 200, 30, "ready again")
        for number in in_flight:
            row = daemon.wait_finished(number)
            self.assertEqual((row["status"], row["error_code"]), ("success", None), row)
        if fake is not None:
            titles = sorted(effect["body"]["title"] for effect in fake.effects())
            self.assertEqual(titles, sorted(set(titles)), "an effect took place twice")
        self.assertEqual(daemon.wait_finished(daemon.submit("after", "return"))["status"], "success")
        self.assertTrue(daemon.is_running())
        check = daemon.store.row("PRAGMA integrity_check")
        self.assertEqual(check, {"integrity_check": "ok"})

    def assert_kept_exactly(self, daemon, answers):
        """`answers` by identifier: 202 is a row, 503 is none unless it said that it may be one."""
        rows = {row["identifier"] for row in daemon.store.executions()}
        for identifier, answer in answers.items():
            if answer.status == 202:
                self.assertIn(identifier, rows, "acknowledged and lost")
            else:
                self.assertEqual(answer.status, 503, answer.text)
                details = answer.json["error"].get("details") or {}
                if details.get("outcome") != "unknown":
                    self.assertNotIn(identifier, rows, "refused, and kept all the same")

    def submit_at_once(self, daemon, count, prefix, **fields):
        def submit(index):
            identifier = f"{prefix}{index}"
            return identifier, daemon.post_submission(f"acct{index % 6}", "return",
                                                      identifier=identifier, **fields)
        with concurrent.futures.ThreadPoolExecutor(count) as pool:
            return dict(pool.map(submit, range(count)))

    # ---- Disk full

    def start_on_small_disk(self, mebibytes=8, latency_ms=1500, **settings):
        disk = SmallDisk(self.folder / "disk", mebibytes)
        self.addCleanup(disk.unmount)
        fake = self.start_fake(per_minute=100000, latency_ms=latency_ms)
        daemon = self.start_daemon({"store.url": f"sqlite:{disk.folder}/coderunner.db"} | settings,
                                   fake=fake)
        self.addCleanup(daemon.destroy)  # before the disk goes
        return disk, fake, daemon

    def test_a_full_disk_refuses_what_it_can_not_keep_and_keeps_the_outcomes_for_later(self):
        disk, fake, daemon = self.start_on_small_disk()
        flying = self.start_in_flight(daemon, fake)
        disk.fill()
        answers = {}
        for index in range(12):
            identifier = f"big{index}"
            answers[identifier] = daemon.post_submission("a", "return", identifier=identifier,
                                                         payload="x" * 20_000)
        self.assertIn(503, {answer.status for answer in answers.values()})
        self.assert_not_ready(daemon, "full")
        self.assert_refuses(daemon)
        time.sleep(2)  # the runs end meanwhile, and their outcomes find no room
        self.assert_not_ready(daemon, "full")
        disk.give_back()
        self.assert_recovers(daemon, fake, flying)
        self.assert_kept_exactly(daemon, answers)
        daemon.wait_drained()

    def test_a_disk_that_fills_up_under_sixty_submissions_acknowledges_only_what_it_keeps(self):
        disk, fake, daemon = self.start_on_small_disk(latency_ms=0)
        answers = {}
        for round_ in range(4):
            disk.fill(leave=300_000)
            answers |= self.submit_at_once(daemon, 60, f"r{round_}-", payload="x" * 30_000)
            disk.give_back()
            wait_until(lambda: daemon.client.get("/readyz").status == 200, 30, "ready again")
        statuses = [answer.status for answer in answers.values()]
        self.assertIn(202, statuses)
        self.assertIn(503, statuses)
        daemon.wait_drained()
        self.assert_kept_exactly(daemon, answers)
        self.assert_recovers(daemon, fake, [])
        self.assertEqual({row["status"] for row in daemon.store.executions()}, {"success"})

    def test_a_daemon_started_on_a_full_disk_waits_for_room(self):
        disk, fake, daemon = self.start_on_small_disk(latency_ms=0)
        number = daemon.submit("acme", "return")
        daemon.wait_finished(number)
        for first_start in (False, True):
            with self.subTest(first_start=first_start):
                self.assertEqual(daemon.stop(), 0)
                if first_start:
                    daemon.store.path.unlink()
                disk.fill()
                daemon.start()
                self.assert_not_ready(daemon, "store")
                self.assert_refuses(daemon)
                disk.give_back()
                self.assert_recovers(daemon, fake, [])

    # ---- Locked

    def start_lock_holder(self, daemon):
        holder = subprocess.Popen([sys.executable, "-c", LOCK_HOLDER, str(daemon.store.path)],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        processes.own_session(holder.pid)
        self.addCleanup(holder.communicate)
        self.addCleanup(holder.kill)
        self.assertEqual(holder.stdout.readline(), b"held\n")
        os.kill(holder.pid, signal.SIGSTOP)
        return holder

    def test_a_stopped_holder_of_the_write_lock_stops_writes_and_nothing_else(self):
        fake = self.start_fake(per_minute=100000, latency_ms=1500)
        daemon = self.start_daemon(fake=fake)
        flying = self.start_in_flight(daemon, fake)
        holder = self.start_lock_holder(daemon)
        answers = self.submit_at_once(daemon, 8, "locked")
        self.assertEqual({answer.status for answer in answers.values()}, {503})
        began = time.monotonic()
        for path in ("/codeRunner/logs/data", f"/executions/{flying[0]}", "/queue/data"):
            self.assertEqual(daemon.client.get(path).status, 200, path)
        self.assertLess(time.monotonic() - began, 4, "reading waited for the lock")
        self.assert_not_ready(daemon, "locked")
        holder.kill()
        self.assert_recovers(daemon, fake, flying)
        self.assert_kept_exactly(daemon, answers)

    # ---- Gone

    def vanish_and_return(self, moved, seconds):
        """`moved(daemon)` names what is moved away while runs are in flight, and back."""
        fake = self.start_fake(per_minute=100000, latency_ms=1500)
        daemon = self.start_daemon(fake=fake)
        flying = self.start_in_flight(daemon, fake)
        away = [(path, path.with_name(path.name + ".away")) for path in moved(daemon)]
        for path, aside in away:
            path.rename(aside)
        try:
            self.assert_refuses(daemon)
            self.assert_not_ready(daemon, "store")
            holds_for(lambda: daemon.client.get("/readyz").status == 503
                      and daemon.client.get("/healthz").status == 200, seconds, "not ready", 0.2)
            self.assertTrue(daemon.is_running())
        finally:
            for path, aside in away:
                aside.rename(path)
        self.assert_recovers(daemon, fake, flying)
        self.assertNotIn("refused", {row["identifier"] for row in daemon.store.executions()})

    def test_a_store_whose_folder_is_gone_for_40_s_is_waited_for(self):
        self.vanish_and_return(lambda daemon: [daemon.store.path.parent], 40)

    def test_a_store_whose_file_is_gone_is_waited_for(self):
        self.vanish_and_return(lambda daemon: [daemon.store.path], 3)

    def test_a_store_whose_files_are_all_gone_is_waited_for(self):
        self.vanish_and_return(lambda daemon: sorted(daemon.store.path.parent.glob("coderunner.db*")), 3)

    # ---- The write-ahead log taken away

    def lose_log(self, suffixes, kill):
        """Deletes files beside the database of a busy daemon; what was acknowledged survives all the same."""
        fake = self.start_fake(per_minute=100000, latency_ms=1000)
        daemon = self.start_daemon({"queue.concurrency": 2}, fake=fake)
        flying = self.start_in_flight(daemon, fake)
        answers = self.submit_at_once(daemon, 10, "before")
        for suffix in suffixes:
            pathlib.Path(f"{daemon.store.path}{suffix}").unlink()
        answers |= self.submit_at_once(daemon, 10, "after")
        self.assertEqual({answer.status for answer in answers.values()}, {202})
        if kill:
            daemon.kill9_group()
            self.assert_kept_exactly(daemon, answers)
            daemon.restart()
            for number in flying:
                daemon.wait_finished(number)
            flying = []
        self.assert_recovers(daemon, fake, flying)
        daemon.wait_drained()
        self.assert_kept_exactly(daemon, answers)
        self.assertEqual({row["status"] for row in daemon.store.executions()
                          if row["identifier"] in answers}, {"success"})

    def test_rows_acknowledged_before_and_after_the_log_was_deleted_survive_a_kill(self):
        self.lose_log(["-wal"], kill=True)

    def test_a_daemon_whose_log_was_deleted_goes_on(self):
        self.lose_log(["-wal"], kill=False)

    def test_rows_survive_the_deletion_of_the_log_and_its_index_and_a_kill(self):
        self.lose_log(["-wal", "-shm"], kill=True)

    def test_a_daemon_whose_log_and_index_were_deleted_goes_on(self):
        self.lose_log(["-wal", "-shm"], kill=False)

    def test_a_daemon_whose_index_was_deleted_goes_on(self):
        self.lose_log(["-shm"], kill=False)

    # ---- All of it

    def test_under_load_one_fault_after_another_loses_nothing_and_repeats_nothing(self):
        disk, fake, daemon = self.start_on_small_disk(mebibytes=24, latency_ms=60)
        path = daemon.store.path
        def full():
            disk.fill(leave=random.randrange(200_000))
            time.sleep(1.5)
            disk.give_back()
        def locked():
            holder = self.start_lock_holder(daemon)
            time.sleep(6)
            holder.kill()
        def moved():
            aside = path.with_name("aside")
            path.rename(aside)
            time.sleep(2)
            aside.rename(path)
        def deleted(*suffixes):
            def delete():
                for suffix in suffixes:
                    pathlib.Path(f"{path}{suffix}").unlink(missing_ok=True)
                # a kill before anybody has noticed would take the only copy with it
                wait_until(lambda: all(pathlib.Path(f"{path}{suffix}").exists()
                                       for suffix in suffixes), 10, "put back")
                time.sleep(0.5)
            return delete
        def killed():
            daemon.kill9()
            daemon.restart()
        faults = [full, locked, moved, deleted("-wal"), killed]
        answers, ended = {}, threading.Event()
        def submit(lane):
            for index in range(100_000):
                if ended.is_set():
                    return
                identifier = f"{lane}-{index}"
                with contextlib.suppress(OSError, http.client.HTTPException):  # killed
                    answers[identifier] = daemon.post_submission(
                        f"acct{lane}", CREATES_A_CARD, identifier=identifier, payload="x" * 3000)
                time.sleep(0.1)
        random.seed(SEED)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            lanes = [pool.submit(submit, lane) for lane in range(4)]
            try:
                for fault in random.sample(faults, len(faults)):
                    fault()
                    wait_until(lambda: daemon.client.get("/readyz").status == 200, 30,
                               f"ready after {fault}")
            finally:
                ended.set()
            for lane in lanes:
                lane.result(30)
        daemon.wait_drained(120)
        self.assert_kept_exactly(daemon, answers)
        rows = daemon.store.executions()
        self.assertEqual([row for row in rows if row["status"] != "success"], [])
        self.assertEqual(sorted(effect["body"]["title"] for effect in fake.effects()),
                         sorted(row["identifier"] for row in rows))
        self.assert_recovers(daemon, fake, [])

    # ---- A disk that answers with errors

    def inject(self, daemon, syscalls, error):
        """From now on these calls of the daemon and its workers fail, until the tracer is ended."""
        if not shutil.which("strace"):
            self.skipTest("strace is not installed")
        pids = [daemon.pid, *(worker.pid for worker in daemon.workers())]
        notes = self.folder / "strace.log"
        with open(notes, "wb") as said:
            tracer = subprocess.Popen(
                ["strace", "-f", "-o", "/dev/null", f"--trace={syscalls}",
                 f"--inject={syscalls}:error={error}", *(f"--attach={pid}" for pid in pids)],
                stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        processes.own_session(tracer.pid)
        self.addCleanup(tracer.wait)
        self.addCleanup(tracer.kill)
        def attached():
            text = notes.read_text(errors="replace")
            if "Operation not permitted" in text:
                self.skipTest("tracing is not permitted here")
            return all(f"Process {pid} attached" in text for pid in pids)
        wait_until(attached, 15, "the tracer is attached")
        return tracer

    def end_injection(self, tracer):
        tracer.send_signal(signal.SIGINT)
        tracer.wait(15)

    def fail_io(self, syscalls, error, word):
        fake = self.start_fake(per_minute=100000, latency_ms=2500)
        daemon = self.start_daemon(fake=fake)
        flying = self.start_in_flight(daemon, fake)
        tracer = self.inject(daemon, syscalls, error)
        answers = self.submit_at_once(daemon, 6, "failing")
        self.assertEqual({answer.status for answer in answers.values()}, {503})
        self.assert_not_ready(daemon, word)
        self.end_injection(tracer)
        self.assert_recovers(daemon, fake, flying)
        self.assert_kept_exactly(daemon, answers)

    def test_a_disk_that_can_not_be_written_loses_nothing_and_is_tried_again(self):
        self.fail_io("pwrite64", "EIO", "I/O")

    def test_a_disk_that_can_not_be_synced_loses_nothing_and_is_tried_again(self):
        self.fail_io("fdatasync", "EIO", "I/O")

    def test_a_disk_that_turned_read_only_is_tried_again(self):
        self.fail_io("pwrite64", "EROFS", "I/O")

    def test_what_was_refused_because_it_could_not_be_synced_is_not_there_after_a_kill(self):
        daemon = self.start_daemon({"queue.concurrency": 1})
        daemon.wait_finished(daemon.submit("acme", "return"))
        tracer = self.inject(daemon, "fdatasync", "EIO")
        answers = self.submit_at_once(daemon, 3, "unsynced")
        self.assertEqual({answer.status for answer in answers.values()}, {503})
        daemon.kill9_group()
        self.end_injection(tracer)
        daemon.restart()
        self.assert_kept_exactly(daemon, answers)
