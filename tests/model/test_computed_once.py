"""Properties that are computed once, without a lock."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from pyspark_substrait.model.computed_once import computed_once


class Thing:
    """Counts how often its value is computed; may have to meet another thread there."""

    def __init__(self, meeting: threading.Barrier | None = None) -> None:
        self.meeting = meeting
        self.times = 0

    @computed_once
    def value(self) -> int:
        """What it is."""
        self.times += 1
        if self.meeting is not None:
            self.meeting.wait(timeout=20)
        return 7


class Faulty:
    @computed_once
    def value(self) -> int:
        raise ValueError("no value")


def test_once() -> None:
    thing = Thing()
    assert [thing.value, thing.value, thing.times] == [7, 7, 1]
    assert Thing.value.__doc__ == "What it is."


def test_an_error_is_not_kept() -> None:
    thing = Faulty()
    for _ in range(2):
        with pytest.raises(ValueError, match="no value"):
            thing.value  # noqa: B018


def test_two_objects_at_the_same_time() -> None:
    """Neither thread waits for the other to be done: each is in its own computation while the other is."""
    meeting = threading.Barrier(2)
    things = [Thing(meeting), Thing(meeting)]
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(lambda thing: thing.value, things)) == [7, 7]
