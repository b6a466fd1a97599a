"""Clocks: medians, and two things measured in turn, so that a machine that slows down does so for both."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from pyspark_substrait.api.loaded_plans import forget_plans

__all__ = ["Action", "anew", "computed", "median", "side_by_side", "timed"]

Action = Callable[[], object]


def timed(action: Action) -> float:
    """How long one call takes, in seconds."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def computed(action: Action) -> float:
    """How long the processor works for one call, in seconds: what else the machine does counts little."""
    start = time.process_time()
    action()
    return time.process_time() - start


def median(action: Action, rounds: int, *, warm: int = 1) -> float:
    """The median of some calls, after others that don't count, in seconds."""
    for _ in range(warm):
        action()
    return statistics.median(timed(action) for _ in range(rounds))


def side_by_side(actions: list[Action], rounds: int, *, warm: int = 1) -> list[float]:
    """The median of each of several actions, which are called in turn, in seconds.

    Each round begins with another one, because what is called later finds a warmer machine.
    """
    for _ in range(warm):
        for action in actions:
            action()
    times: list[list[float]] = [[] for _ in actions]
    for turn in range(rounds):
        for number in range(len(actions)):
            position = (turn + number) % len(actions)
            times[position].append(timed(actions[position]))
    return [statistics.median(each) for each in times]


def anew(action: Callable[[bytes], object], content: bytes) -> Action:
    """Return an action on a plan's message that never finds it among the plans that were loaded before."""

    def acted() -> object:
        forget_plans()
        return action(content)

    return acted
