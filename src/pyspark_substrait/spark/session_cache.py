"""What is kept for a session for as long as the session is there: tables that were opened, schemas of files.

It hangs on the session object itself. A DataFrame holds its session, so that a dictionary elsewhere, weak keys or not,
would keep every session that ever ran a plan.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["keep", "kept"]

_K = TypeVar("_K")
_V = TypeVar("_V")

_NAME = "_pyspark_substrait"
_changing = Lock()


def kept(spark: SparkSession, kind: str) -> dict[Any, Any]:
    """What is kept of one kind for a session; threads share it."""
    kinds: dict[str, dict[Any, Any]] = vars(spark).setdefault(_NAME, {})
    return kinds.setdefault(kind, {})


def keep(values: dict[_K, _V], key: _K, value: _V, most: int) -> None:
    """Keep one more value, and no more than ``most``: the oldest goes. What other threads have read stays theirs."""
    with _changing:
        while len(values) >= most and key not in values:
            del values[next(iter(values))]
        values[key] = value
