"""A cache with the lifetime of a session, for opened tables and the schemas of files.

It is an attribute of the session object. Cached DataFrames refer to their session, so that a dictionary elsewhere,
even with weak keys, would keep every session alive that ever ran a plan.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

__all__ = ["cache_value", "session_cache"]

_K = TypeVar("_K")
_V = TypeVar("_V")

_NAME = "_pyspark_substrait"
_changing = Lock()


def session_cache(spark: SparkSession | SparkContext, kind: str) -> dict[Any, Any]:
    """Return a session's cache for one kind of values, shared by all threads."""
    kinds: dict[str, dict[Any, Any]] = vars(spark).setdefault(_NAME, {})
    return kinds.setdefault(kind, {})


def cache_value(values: dict[_K, _V], key: _K, value: _V, most: int) -> None:
    """Add a value to a cache of at most ``most`` values, and remove the oldest ones beyond that."""
    with _changing:
        while len(values) >= most and key not in values:
            del values[next(iter(values))]
        values[key] = value
