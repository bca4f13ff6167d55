"""Waiting for something to become true, never longer than said."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class NotInTime(AssertionError):
    """What was waited for did not happen in time."""


def wait_until(predicate: Callable[[], T], timeout: float, what: str, pause: float = 0.02) -> T:
    """The first true answer of `predicate`, asked again and again; NotInTime after `timeout` s."""
    end = time.monotonic() + timeout
    while True:
        answer = predicate()
        if answer:
            return answer
        if time.monotonic() >= end:
            raise NotInTime(f"not within {timeout:g} s: {what} (last answer: {answer!r})")
        time.sleep(pause)


def holds_for(predicate: Callable[[], object], seconds: float, what: str,
              pause: float = 0.02) -> None:
    """Fails as soon as `predicate` is false, having watched it for `seconds`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        answer = predicate()
        if not answer:
            raise AssertionError(f"did not hold for {seconds:g} s: {what} (answer: {answer!r})")
        time.sleep(pause)
