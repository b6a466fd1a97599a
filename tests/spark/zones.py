"""The session's time zone, changed for a while: nothing that a plan gives depends on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["zone"]

_SETTING = "spark.sql.session.timeZone"


@contextmanager
def zone(spark: SparkSession, name: str) -> Iterator[None]:
    """The session with another time zone."""
    before = spark.conf.get(_SETTING)
    assert before is not None
    spark.conf.set(_SETTING, name)
    try:
        yield
    finally:
        spark.conf.set(_SETTING, before)
