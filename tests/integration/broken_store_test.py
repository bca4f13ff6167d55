"""Files that are no store, or no longer one: a clear refusal, nothing overwritten, nothing pretended."""

import os
import pathlib
import sqlite3

from support.case import DaemonCase
from support.disk import SmallDisk
from support.wait import holds_for, wait_until

PAGE = 4096


class BrokenStoreTest(DaemonCase):
    def make_store(self, rows=3):
        """A daemon that has stopped, its store whole in one file."""
        daemon = self.start_daemon()
        for index in range(rows):
            daemon.wait_finished(daemon.submit("acme", "return " + "-- filling\n" * 400,
                                               identifier=f"row{index}"))
        self.assertEqual(daemon.stop(), 0)
        self.assertFalse(pathlib.Path(f"{daemon.store.path}-wal").exists())
        return daemon

    def assert_refused_at_start(self, daemon, content, *words):
        """serve and migrate exit 2, say which file and what to do, and leave every byte as it is."""
        path = daemon.store.path
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        before = daemon.stderr.stat().st_size if daemon.stderr.exists() else 0
        daemon.launch()
        self.assertEqual(daemon.wait_ended(15), 2)
        said = daemon.stderr.read_bytes()[before:].decode()
        migrated = daemon.command("migrate", "--config", "coderunner.toml")
        self.assertEqual(migrated.returncode, 2, migrated.stderr)
        for text in (said, migrated.stderr):
            for word in (path.name, *words):
                self.assertIn(word, text)
        self.assertEqual(path.read_bytes(), content, "the file was written to")
        wait_until(lambda: not daemon.all_processes(), 5, "its executor is gone too")

    def test_a_file_that_is_no_database_is_refused(self):
        for name, content in {"text": b"Dear diary\n" * 1000,
                              "zeros": bytes(3 * PAGE),
                              "a short text": b"x", "half a header": b"SQLite format 3\0" + bytes(40)}.items():
            with self.subTest(name):
                self.assert_refused_at_start(self.make_daemon(name=name.replace(" ", "-")), content,
                                             "backup", "left as it is")

    def test_a_damaged_store_is_refused(self):
        daemon = self.make_store()
        whole = daemon.store.path.read_bytes()
        self.assertGreater(len(whole), 8 * PAGE)
        for name, content in {
                "truncated within a page": whole[:len(whole) // 2 + 100],
                "truncated between pages": whole[:len(whole) // 2 // PAGE * PAGE],
                "first page zero": bytes(PAGE) + whole[PAGE:],
                "header zero": bytes(100) + whole[100:],
                "schema overwritten": whole[:100] + b"\xa5" * (PAGE - 100) + whole[PAGE:]}.items():
            with self.subTest(name):
                self.assert_refused_at_start(daemon, content, "backup", "left as it is")
        daemon.store.path.write_bytes(whole)
        daemon.restart()
        self.assertEqual(len(daemon.store.executions()), 3)

    def test_a_schema_newer_than_the_program_is_refused_with_both_versions(self):
        daemon = self.make_store()
        store = sqlite3.connect(daemon.store.path)
        known = store.execute("SELECT max(version) FROM schema_version").fetchone()[0]
        store.execute("INSERT INTO schema_version VALUES (9001, '2026-01-01 00:00:00.000')")
        store.commit()
        store.close()
        self.assert_refused_at_start(daemon, daemon.store.path.read_bytes(), "9001", str(known),
                                     "newer program")

    def test_another_programs_database_is_refused(self):
        daemon = self.make_daemon()
        daemon.store.path.parent.mkdir(parents=True)
        store = sqlite3.connect(daemon.store.path)
        store.execute("CREATE TABLE recipes (name TEXT)")
        store.commit()
        store.close()
        self.assert_refused_at_start(daemon, daemon.store.path.read_bytes(),
                                     "not a CodeRunner store")

    def test_an_empty_file_is_a_new_store(self):
        daemon = self.make_daemon()
        daemon.store.path.parent.mkdir(parents=True)
        daemon.store.path.touch()
        daemon.start()
        self.assertEqual(daemon.wait_finished(daemon.submit("acme", "return"))["status"], "success")

    def assert_unready_but_up(self, daemon, word):
        def unready():
            answer = daemon.client.get("/readyz")
            return answer.status == 503 and word in " ".join(answer.json["reasons"])
        wait_until(unready, 15, f"/readyz 503 with '{word}'")
        holds_for(lambda: daemon.is_running() and daemon.client.get("/healthz").status == 200, 1.5,
                  "it lives", 0.2)

    def test_damage_in_the_middle_of_a_store_is_said_and_nothing_is_admitted(self):
        daemon = self.make_store(rows=20)
        roots = [row["rootpage"] for row in daemon.store.rows(
            "SELECT rootpage FROM sqlite_master WHERE tbl_name = 'codeRunner_executions'")]
        with open(daemon.store.path, "r+b") as file:
            for page in roots:
                file.seek((page - 1) * PAGE)
                file.write(bytes(PAGE))
        daemon.start()
        self.assert_unready_but_up(daemon, "malformed")
        answer = daemon.post_submission("acme", "return")
        self.assertEqual(answer.status, 503, answer.text)
        self.assertEqual(daemon.client.get("/codeRunner/logs/data").status, 503)

    def test_a_store_damaged_while_it_is_served_is_said_and_ends_no_process(self):
        daemon = self.make_store(rows=20)
        daemon.start()
        daemon.wait_finished(daemon.submit("acme", "return"))
        checkpoint = sqlite3.connect(daemon.store.path)
        checkpoint.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        checkpoint.close()
        with open(daemon.store.path, "r+b") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(PAGE)
            file.write(b"\xa5" * (size - PAGE))
        def refused():
            return daemon.post_submission("acme", "return").status == 503
        wait_until(refused, 20, "admission answers 503", 0.2)
        self.assert_unready_but_up(daemon, "malformed")

    # ---- A store that is not there yet

    def start_without_store(self, daemon, why):
        daemon.start()  # it says `ready http=...` while the store is away
        answer = daemon.client.get("/readyz")
        self.assertEqual(answer.status, 503)
        self.assertIn(why, " ".join(answer.json["reasons"]))
        self.assertEqual(daemon.client.get("/healthz").status, 200)
        self.assertEqual(daemon.post_submission("acme", "return").status, 503)
        self.assertEqual(daemon.client.get("/queue/data").status, 503)

    def assert_serves_at_last(self, daemon):
        wait_until(lambda: daemon.client.get("/readyz").status == 200, 15, "ready")
        self.assertEqual(daemon.wait_finished(daemon.submit("acme", "return"))["status"], "success")

    def test_a_store_that_is_away_at_the_start_is_waited_for(self):
        daemon = self.make_store()
        folder = daemon.store.path.parent
        secrets = self.folder / "secrets"
        secrets.mkdir()
        for name in ("salt", "key"):
            (folder / name).rename(secrets / name)
            daemon.settings[f"secrets.{name}_file"] = str(secrets / name)
        aside = folder.with_name("away")
        folder.rename(aside)
        folder.write_text("a file where the folder should be: not mounted")
        try:
            self.start_without_store(daemon, "could not be opened")
        finally:
            folder.unlink()
            aside.rename(folder)
        self.assert_serves_at_last(daemon)
        self.assertEqual(len(daemon.store.executions()), 4)

    def test_a_store_that_is_locked_at_the_start_is_waited_for(self):
        daemon = self.make_store()
        holder = sqlite3.connect(daemon.store.path, isolation_level=None)
        holder.execute("PRAGMA locking_mode = EXCLUSIVE")
        holder.execute("BEGIN EXCLUSIVE")
        self.start_without_store(daemon, "locked")
        holder.execute("COMMIT")
        holder.close()
        self.assert_serves_at_last(daemon)

    def test_a_store_on_a_read_only_disk_is_waited_for(self):
        disk = SmallDisk(self.folder / "disk", 8)
        self.addCleanup(disk.unmount)
        daemon = self.make_daemon({"store.url": f"sqlite:{disk.folder}/coderunner.db"})
        self.addCleanup(daemon.destroy)  # before the disk goes
        daemon.start()
        daemon.wait_finished(daemon.submit("acme", "return"))
        self.assertEqual(daemon.stop(), 0)
        disk.make_read_only()
        self.start_without_store(daemon, "Read-only")
        disk.make_writable()
        self.assert_serves_at_last(daemon)
