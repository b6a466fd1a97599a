"""Pass a thread's Spark properties on to its worker threads: job group, description, tags, scheduler pool."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from pyspark_substrait.spark.compatibility import with_classic_properties
from pyspark_substrait.spark.lost_connection import reporting_loss
from pyspark_substrait.spark.session import is_connect
from pyspark_substrait.spark.session_start import embedded_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["with_thread_properties"]

_T = TypeVar("_T")


def with_thread_properties(spark: SparkSession | None, function: Callable[[], _T]) -> Callable[[], _T]:
    """Return the function so that, called in another thread, it runs with the Spark properties of this one.

    Args:
        spark: the session; when None, the one that a run would use.
        function: the function that another thread is to call.

    Raises:
        ExecutionError: the session's Java process is gone.
    """
    session = embedded_session() if spark is None else spark
    if is_connect(session):
        return _with_tags(session, function)
    with reporting_loss(session):  # the properties are read from Java
        inherited = with_classic_properties(session, function)

    def reporting() -> _T:
        with reporting_loss(session):  # and set there by the other thread
            return inherited()

    return reporting


def _with_tags(session: Any, function: Callable[[], _T]) -> Callable[[], _T]:
    """Return the function with the tags of this thread. (pyspark's own way also makes the session the default.)"""
    ours = copy.deepcopy(vars(session.client.thread_local))

    def inherited() -> _T:
        vars(session.client.thread_local).update(ours)
        return function()

    return inherited
