"""What parked rows cost the daemon while nothing can start: no more than a few of them do."""

import dataclasses
import pathlib
import sqlite3
import time

from support.case import DaemonCase

FEW, MANY = 10, 10_000
WATCHED = 5.0


@dataclasses.dataclass(frozen=True)
class Use:
    cpu: float     # seconds of the main process: api, drainer and reaper
    reads: int     # read and write calls, the store's among them
    switches: int  # times it went to sleep by itself


def use_of(pid: int) -> Use:
    proc = pathlib.Path("/proc") / str(pid)
    io = dict(line.split(": ") for line in (proc / "io").read_text().splitlines())
    nanoseconds = switches = 0
    for task in (proc / "task").iterdir():
        nanoseconds += int((task / "schedstat").read_text().split()[0])
        for line in (task / "status").read_text().splitlines():
            if line.startswith("voluntary_ctxt_switches:"):
                switches += int(line.split()[1])
    return Use(nanoseconds / 1e9, int(io["syscr"]) + int(io["syscw"]), switches)


def use_while_idle(pid: int) -> Use:
    before = use_of(pid)
    time.sleep(WATCHED)
    after = use_of(pid)
    return Use(after.cpu - before.cpu, after.reads - before.reads, after.switches - before.switches)


class IdleCostTest(DaemonCase):
    def copy_row(self, daemon, number, count):
        """`count` more rows as this one, all of its lane and all as young."""
        connection = sqlite3.connect(daemon.store.path, timeout=30)
        with connection:
            for _ in range(count):
                job = connection.execute(
                    "INSERT INTO codeRunner_jobs (apikey, payload) SELECT j.apikey, j.payload FROM codeRunner_jobs j "
                    "JOIN codeRunner_executions e ON e.job_id = j.job_id WHERE e.execution_id = ?", [number]).lastrowid
                connection.execute(
                    "INSERT INTO codeRunner_executions (job_id, subdomain, subdomain_hash, status, source_code, "
                    "queued_at, apikey_hash) SELECT ?, subdomain, subdomain_hash, status, source_code, queued_at, "
                    "apikey_hash FROM codeRunner_executions WHERE execution_id = ?", [job, number])
        connection.close()

    # R36, R37
    def test_ten_thousand_gated_rows_cost_no_more_than_ten_and_delay_nobody(self):
        daemon = self.start_daemon({"queue.max_queued_per_account": 100_000, "queue.max_queued": 100_000})
        self.assertEqual(daemon.client.post("/queue/pause").status, 200)
        number = daemon.submit("acme", "return")
        key = daemon.execution(number)["apikey_hash"]
        self.assertEqual(daemon.client.send("PUT", f"/gates/{key}", {"for_ms": 3_000_000}).status, 200)
        self.assertEqual(daemon.client.post("/queue/resume").status, 200)
        self.copy_row(daemon, number, FEW - 1)
        time.sleep(1.5)  # what the start and the requests left to do is done
        few = use_while_idle(daemon.pid)
        self.copy_row(daemon, number, MANY - FEW)
        time.sleep(1.5)
        many = use_while_idle(daemon.pid)
        print(f"in {WATCHED:g} s: {FEW} rows {few}, {MANY} rows {many}")
        self.assertEqual(daemon.store.count_by_status(), {"queued": MANY})
        self.assertLess(many.cpu, 2 * few.cpu + 0.1)
        self.assertLess(many.reads, 2 * few.reads + 100)
        self.assertLess(many.switches, 2 * few.switches + 100)

        queue = daemon.client.get("/queue/data").json
        self.assertEqual((queue["depth"], queue["drainer"]["state"]), (MANY, "gated"))
        other = daemon.submit("other", "return")
        row = daemon.wait_finished(other, 10)
        self.assertEqual(row["status"], "success")
        attempts = daemon.store.row("SELECT SUM(dispatch_attempts) AS n FROM codeRunner_jobs")
        self.assertEqual(attempts["n"], 1)
