"""Larger stacks, for plans nested too deep for Python's own."""

from __future__ import annotations

import contextvars
import sys
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from pyspark_substrait.errors import PlanFormatError

__all__ = ["with_deep_stack", "with_enough_stack"]

_STACK_MEGABYTES = (512, 256, 64)
_RECURSION_LIMIT = 1_000_000

_T = TypeVar("_T")

_stack_lock = threading.Lock()
_deep_calls = 0
_usual_limit = 0


def with_deep_stack(function: Callable[..., _T], *args: Any) -> _T:
    """Call ``function(*args)`` in a thread with room for recursion into the deepest plan, and return what it returns.

    Context variables are those of the caller; what the function raises is raised here.
    """
    global _deep_calls, _usual_limit
    outcome: list[_T] = []
    failure: list[BaseException] = []
    context = contextvars.copy_context()

    def run() -> None:
        try:
            outcome.append(context.run(function, *args))
        except BaseException as error:
            failure.append(error)

    with _stack_lock:
        if _deep_calls == 0:
            _usual_limit = sys.getrecursionlimit()
            sys.setrecursionlimit(max(_usual_limit, _RECURSION_LIMIT))
        _deep_calls += 1
    try:
        _start(run).join()
    finally:
        with _stack_lock:
            _deep_calls -= 1
            if _deep_calls == 0:
                sys.setrecursionlimit(_usual_limit)
    if failure:
        raise failure[0]
    return outcome[0]


def with_enough_stack(function: Callable[..., _T], *args: Any) -> _T:
    """Call ``function(*args)``, again by :func:`with_deep_stack` if the usual stack is too small for it."""
    try:
        return function(*args)
    except RecursionError:
        return with_deep_stack(function, *args)


def _start(run: Callable[[], None]) -> threading.Thread:
    """Start a thread with the largest stack that the system grants."""
    for megabytes in _STACK_MEGABYTES:
        with _stack_lock:
            usual_size = threading.stack_size(megabytes * 1024 * 1024)
            try:
                thread = threading.Thread(target=run, name="deep-plan")
                thread.start()
            except RuntimeError:
                continue
            finally:
                threading.stack_size(usual_size)
        return thread
    raise PlanFormatError("the plan is nested deep, and there is not enough memory to walk through it")
