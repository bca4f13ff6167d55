"""Scripts the tests submit, and what rows say about them."""

import calendar
import time
from collections.abc import Iterable, Mapping
from typing import Any

CREATES_A_CARD = 'api.post("/cards", {title = execution.identifier, column_id = 1, lane_id = 1})'
# Longer than every limit of a test: ends by the wall, the loop budget or a kill.
SLOW = "local t = 0 for i = 1, 1e12 do t = t + i end"


def seconds(text: str) -> float:
    """A stored or shown time as a number."""
    whole, _, fraction = text.replace("T", " ").rstrip("Z").partition(".")
    return calendar.timegm(time.strptime(whole, "%Y-%m-%d %H:%M:%S")) + float(f"0.{fraction or 0}")


def most_at_once(rows: Iterable[Mapping[str, Any]]) -> int:
    """How many of these runs held a slot at the same instant; one without an end still does."""
    edges = sorted(edge for row in rows if row["started_at"]
                   for edge in ((row["started_at"], 1), (row["finished_at"] or "9", -1)))
    held = most = 0
    for _, step in edges:
        held += step
        most = max(most, held)
    return most
