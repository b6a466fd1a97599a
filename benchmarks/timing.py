"""Clocks: medians, and two things measured in turn, so that a machine that slows down does so for both."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

__all__ = ["median", "side_by_side", "timed"]

Action = Callable[[], object]


def timed(action: Action) -> float:
    """How long one call takes, in seconds."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def median(action: Action, rounds: int, *, warm: int = 1) -> float:
    """The median of some calls, after others that don't count, in seconds."""
    for _ in range(warm):
        action()
    return statistics.median(timed(action) for _ in range(rounds))


def side_by_side(actions: list[Action], rounds: int, *, warm: int = 1) -> list[float]:
    """The median of each of several actions, which are called in turn, in seconds."""
    for _ in range(warm):
        for action in actions:
            action()
    times = [[timed(action) for action in actions] for _ in range(rounds)]
    return [statistics.median(each) for each in zip(*times, strict=True)]
