"""Numbers for tests of arithmetic: small ones, and those at the edges of their types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

import pyspark_substrait as ps
from tests.spark.producer.round_trips import assert_round_trip

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["COLUMNS", "EDGES", "SMALL", "ansi_off", "fares_alike", "one_of", "view"]

COLUMNS = "a, s, i, l, f, d, p, q, b, t"
#: values whose sums and products fit, nulls, NaN and negative zeros
SMALL = (
    "(1Y, 2S, 3, 4L, 1.5F, 2.5D, 1.25BD, 12345.678BD, true, 'a')",
    "(-1Y, -2S, -3, -4L, -1.5F, -2.5D, -1.25BD, -12345.678BD, false, 'b')",
    "(7Y, 8S, 9, 10L, float('nan'), double('nan'), 9.99BD, 99999.999BD, null, '')",
    "(-5Y, -6S, -7, -8L, float('-inf'), double('inf'), -9.99BD, 0.001BD, true, null)",
    "(0Y, 0S, 0, 0L, -0.0F, -0.0D, 0.00BD, 0.000BD, false, 'c')",
    "(null, null, null, null, null, null, null, null, null, null)",
)
#: values of which some operation has no result
EDGES = (
    "(127Y, 32767S, 2147483647, 9223372036854775807L, 3e38F, 9.223372036854775807E18D, 9.99BD, 99999.999BD, true, 'x')",
    "(-128Y, -32768S, -2147483648, -9223372036854775808L, -3e38F, -9.3E18D, -9.99BD, -99999.999BD, true, 'x')",
    "(-1Y, -1S, -1, -1L, float('nan'), double('nan'), -0.01BD, -0.001BD, true, 'x')",
    "(0Y, 0S, 0, 0L, 0F, 0D, 0.00BD, 0.000BD, false, 'x')",
    "(100Y, 300S, 70000, 5000000000L, float('inf'), double('-inf'), 7.00BD, 12345.678BD, false, 'x')",
    SMALL[-1],
)


def view(spark: SparkSession, rows: Sequence[str] = SMALL) -> None:
    """The view ``n`` with these records."""
    spark.sql(f"SELECT * FROM VALUES {', '.join(rows)} AS n ({COLUMNS})").createOrReplaceTempView("n")


def one_of(spark: SparkSession, expression: str, row: str) -> DataFrame:
    """An expression of one record, and of nulls."""
    return spark.sql(f"SELECT {expression} AS x FROM VALUES {row}, {SMALL[-1]} AS n ({COLUMNS})")


def ansi_off(spark: SparkSession, query: str) -> DataFrame:
    """A query that was analysed with ANSI mode off."""
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", False)
    try:
        return spark.sql(query)
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before or True)


def fares_alike(spark: SparkSession, frame: DataFrame) -> bool:
    """Whether a query has a result. Its plan has the same, or fails as the query does."""
    try:
        frame.collect()
    except Exception:
        with pytest.raises(Exception):  # noqa: B017  # whichever error the functions raise
            ps.from_substrait(ps.to_substrait(frame), spark).collect()
        return False
    assert_round_trip(spark, frame)
    return True
