"""The commands of docs/operations.md, as they stand there: backup under load, restore, what ran since."""

import os
import re
import shutil
import subprocess
import threading

from support import programs
from support.case import DaemonCase
from support.daemon import Daemon
from support.rows import CREATES_A_CARD
from support.store import StoreReader
from support.wait import wait_until


def documented(name):
    """The shell block of that name."""
    text = (programs.ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    found = re.findall(rf"^```sh {re.escape(name)}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(found) == 1, f"docs/operations.md has {len(found)} blocks named {name}"
    return found[0]


class BackupTest(DaemonCase):
    time_limit = 180.0

    def setUp(self):
        super().setUp()
        if not shutil.which("sqlite3"):
            self.skipTest("sqlite3 is not installed")
        self.backup = self.folder / "backup"

    def run_documented(self, name, folder):
        done = subprocess.run(["sh", "-eu", "-c", documented(name)], cwd=folder, text=True,
                              env=os.environ | {"BACKUP": str(self.backup)}, timeout=60,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, f"{name}: {done.stderr}")
        return done.stdout

    def submit_until(self, daemon, ended, acknowledged):
        while not ended.is_set():
            identifier = f"load{len(acknowledged)}"
            acknowledged.append(daemon.submit(f"acct{len(acknowledged) % 5}", CREATES_A_CARD,
                                              identifier=identifier))

    def back_up_under_load(self, daemon):
        """The ids acknowledged before the backup began."""
        acknowledged, ended = [], threading.Event()
        load = threading.Thread(target=self.submit_until, args=(daemon, ended, acknowledged))
        load.start()
        try:
            wait_until(lambda: len(acknowledged) >= 60, 30, "sixty submissions")
            before = list(acknowledged)
            self.run_documented("backup", daemon.folder)
            after = len(before) + 20
            wait_until(lambda: len(acknowledged) >= after, 30, "more of them since")
        finally:
            ended.set()
            load.join(30)
        return before

    def test_a_backup_under_load_holds_every_row_acknowledged_before_it(self):
        fake = self.start_fake(per_minute=100000, latency_ms=100)
        daemon = self.start_daemon(fake=fake)
        before = self.back_up_under_load(daemon)
        rows = StoreReader(self.backup / "coderunner.db").executions()
        self.assertLessEqual(set(before), {row["execution_id"] for row in rows})
        self.assertEqual({path.name for path in self.backup.iterdir()}, {"coderunner.db", "salt", "key"})
        for name in ("salt", "key"):
            self.assertEqual((self.backup / name).read_bytes(),
                             (daemon.folder / "var" / name).read_bytes())
        self.assertEqual(daemon.client.get("/readyz").status, 200)

    def test_what_is_restored_and_cancelled_as_documented_runs_nothing_twice_and_loses_nothing(self):
        fake = self.start_fake(per_minute=100000, latency_ms=100)
        daemon = self.start_daemon(fake=fake)
        self.back_up_under_load(daemon)
        kept = StoreReader(self.backup / "coderunner.db").executions()
        queued = {row["execution_id"] for row in kept if row["status"] == "queued"}
        # some of them have begun before the end, some have not
        wait_until(lambda: len([row for row in daemon.store.executions() if row["started_at"]
                                and row["execution_id"] in queued]) >= 8, 30, "some have begun")
        self.assertEqual(daemon.stop(), 0)
        last = daemon.store.executions()
        begun = queued & {row["execution_id"] for row in last if row["started_at"]}
        self.assertTrue(queued - begun, "nothing was left to run: the test shows nothing")

        self.run_documented("restore", daemon.folder)
        self.run_documented("ids", daemon.folder)
        listed = self.run_documented("list", daemon.folder)
        self.assertEqual({int(line.split()[0]) for line in listed.splitlines()[2:]}, queued)
        self.run_documented("cancel-begun", daemon.folder)
        daemon.restart()
        daemon.wait_drained()

        rows = {row["execution_id"]: row for row in daemon.store.executions()}
        self.assertEqual(set(rows), {row["execution_id"] for row in kept})
        for number in queued - begun:
            self.assertEqual(rows[number]["status"], "success")
        for number in begun:
            self.assertEqual(rows[number]["error_code"], 108)
            self.assertEqual(daemon.execution(number)["state"], "cancelled")
            self.assertIsNone(daemon.store.job_of(number)["apikey"])
        for row in kept:  # a run cut off by the moment of the backup is told, not repeated
            if row["status"] == "running":
                self.assertEqual(rows[row["execution_id"]]["error_code"], 303)
        titles = [effect["body"]["title"] for effect in fake.effects()]
        self.assertEqual(len(titles), len(set(titles)), "an effect took place twice")
        self.assertGreater(daemon.submit("acme", "return"), max(row["execution_id"] for row in last))

    def test_a_backup_is_restored_to_a_new_place(self):
        daemon = self.start_daemon()
        number = daemon.submit("acme", "log(event)", payload="caf\u00e9")
        daemon.wait_finished(number)
        self.run_documented("backup", daemon.folder)
        self.assertEqual(daemon.stop(), 0)
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        self.run_documented("restore", elsewhere)
        restored = Daemon(elsewhere, {})
        self.addCleanup(restored.destroy)
        restored.start()
        self.assertEqual(restored.execution(number)["state"], "succeeded")
        self.assertEqual(len(restored.client.get(f"/executions/{number}/logs").json["logs"]),
                         len(daemon.store.logs(number)))
        listed = restored.client.get("/codeRunner/logs/data?account=acme").json["executions"]
        self.assertEqual([one["execution_id"] for one in listed], [number], "the salt fits the rows")
        self.assertEqual(restored.store.row("PRAGMA integrity_check"), {"integrity_check": "ok"})
