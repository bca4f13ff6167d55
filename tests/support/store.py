"""The embedded store, read from outside while the daemon writes it. Never writes."""

import pathlib
import sqlite3
from collections.abc import Sequence
from typing import Any

Row = dict[str, Any]


class StoreReader:
    def __init__(self, path: pathlib.Path):
        self.path = path

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """One short read on a connection of its own; no snapshot is kept open."""
        connection = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, timeout=10)
        try:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(sql, parameters).fetchall()]
        finally:
            connection.close()

    def row(self, sql: str, parameters: Sequence[Any] = ()) -> Row | None:
        found = self.rows(sql, parameters)
        return found[0] if found else None

    def executions(self) -> list[Row]:
        return self.rows("SELECT * FROM codeRunner_executions ORDER BY execution_id")

    def execution(self, execution_id: int) -> Row | None:
        return self.row("SELECT * FROM codeRunner_executions WHERE execution_id = ?",
                        [execution_id])

    def job_of(self, execution_id: int) -> Row | None:
        return self.row("SELECT j.* FROM codeRunner_jobs j JOIN codeRunner_executions e "
                        "ON e.job_id = j.job_id WHERE e.execution_id = ?", [execution_id])

    def logs(self, execution_id: int) -> list[Row]:
        return self.rows("SELECT * FROM codeRunner_logs WHERE execution_id = ? ORDER BY log_id",
                         [execution_id])

    def count_by_status(self) -> dict[str, int]:
        """{'queued': N, 'running': N, …}, without the statuses that no row has."""
        return {row["status"]: row["n"] for row in self.rows(
            "SELECT status, COUNT(*) AS n FROM codeRunner_executions GROUP BY status")}
