"""Plans kept by their messages, for programs that get the same message again and again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import TypeAlias

from pyspark_substrait.documents import ExtendedExpression, Plan

__all__ = ["forget_plans", "kept_plan"]

_Document: TypeAlias = Plan | ExtendedExpression

_LARGEST = 64 * 1024  # bytes, or characters of JSON
_MOST = 1024 * 1024  # of messages; the plans take many times as much
_kept: OrderedDict[tuple[bytes | str, Hashable], _Document] = OrderedDict()
_size = 0
_lock = Lock()


def kept_plan(content: bytes | str, options: Hashable, load: Callable[[], _Document]) -> _Document:
    """Return the plan of a message, which is loaded unless it is kept: plans don't change.

    Args:
        content: the message, or its JSON.
        options: all else that loading depends on.
        load: loads it. What it raises is not kept.
    """
    global _size
    if len(content) > _LARGEST:
        return load()
    key = (content, options)
    with _lock:
        if (known := _kept.get(key)) is not None:
            _kept.move_to_end(key)
            return known
    made = load()
    with _lock:
        if key not in _kept:
            _kept[key] = made
            _size += len(content)
        while _size > _MOST:
            (oldest, _), _ = _kept.popitem(last=False)
            _size -= len(oldest)
        return _kept.get(key, made)


def forget_plans() -> None:
    """Keep none of the plans any longer, so that each is loaded again."""
    global _size
    with _lock:
        _kept.clear()
        _size = 0
