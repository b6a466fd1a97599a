"""Sorts, limits and offsets, there and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import pytest

from tests.spark.producer.round_trips import assert_round_trip
from tests.spark.producer.small_tables import small_tables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: each gives one order only
QUERIES = (
    "SELECT k, x FROM u ORDER BY k, x",
    "SELECT k, x FROM u ORDER BY k DESC, x NULLS LAST",
    "SELECT k, x FROM u ORDER BY x DESC NULLS FIRST",
    "SELECT i FROM t ORDER BY i",
    "SELECT i FROM t ORDER BY i DESC",
    "SELECT i FROM t ORDER BY i NULLS LAST",
    "SELECT i FROM t ORDER BY i DESC NULLS FIRST",
    "SELECT z FROM w WHERE s <> 'x' ORDER BY z",
    "SELECT z FROM w WHERE s <> 'x' ORDER BY z DESC NULLS LAST",
    "SELECT x FROM u ORDER BY k + coalesce(v, 0) % 7, x",
    "SELECT x FROM u ORDER BY k * -1, upper(x)",
    "SELECT k AS a, x AS b FROM u ORDER BY a, b",
    "SELECT k, x FROM u ORDER BY 2, 1",
    "SELECT k, x FROM u ORDER BY ALL",
    "SELECT k, x FROM u ORDER BY ALL DESC NULLS LAST",
    "SELECT x FROM u ORDER BY struct(k, x)",
    "SELECT x FROM u ORDER BY array(k), x DESC",
    "SELECT i, count(*) FROM t GROUP BY i ORDER BY count(*), i",
    "SELECT i FROM t GROUP BY i ORDER BY max(d) DESC, i",
    "SELECT k FROM u ORDER BY k LIMIT 2",
    "SELECT k FROM u ORDER BY k, x LIMIT 2 OFFSET 1",
    "SELECT k FROM u ORDER BY k, x OFFSET 3",
    "SELECT k FROM u ORDER BY k LIMIT 0",
    "SELECT k FROM u ORDER BY k LIMIT ALL",
    "SELECT k FROM u ORDER BY k LIMIT ALL OFFSET 1",
    "SELECT k FROM u ORDER BY k LIMIT 1 + 1",
    "SELECT k FROM u ORDER BY k LIMIT CAST('3' AS INT) OFFSET 2 - 1",
    "SELECT k FROM u ORDER BY k LIMIT 100 OFFSET 100",
    "SELECT * FROM (SELECT k FROM u ORDER BY k LIMIT 3) ORDER BY k DESC LIMIT 2",
    "SELECT * FROM (SELECT k, x FROM u ORDER BY k, x LIMIT 3 OFFSET 1) ORDER BY x NULLS LAST",
    "SELECT i FROM (SELECT i FROM t ORDER BY d) ORDER BY i",
    "SELECT count(*) FROM (SELECT i FROM t LIMIT 4)",
    "SELECT count(*) FROM (SELECT i FROM t LIMIT 4 OFFSET 3)",
    "SELECT DISTINCT i FROM t ORDER BY i LIMIT 2",
    "SELECT i FROM t UNION SELECT k FROM u ORDER BY i DESC LIMIT 3",
    "SELECT k FROM u SORT BY k",
    "SELECT * FROM (SELECT k FROM u DISTRIBUTE BY k SORT BY k) ORDER BY k",
    "SELECT * FROM (SELECT k FROM u CLUSTER BY k) ORDER BY k",
    "VALUES (3), (1), (2) ORDER BY 1",
    "SELECT name FROM emp ORDER BY dept NULLS LAST, pay DESC, id",
)


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Mapping[str, DataFrame]:
    return small_tables(spark)


@pytest.mark.parametrize("query", QUERIES)
def test_sorts_and_limits(spark: SparkSession, tables: Mapping[str, DataFrame], query: str) -> None:
    assert_round_trip(spark, query, tables=tables, ordered="SORT BY k" not in query)


FRAMES: Mapping[str, Callable[[DataFrame, DataFrame, DataFrame], DataFrame]] = {
    "orderBy": lambda t, u, w: u.orderBy("k", "x"),
    "orderBy, descending": lambda t, u, w: u.orderBy(u.k.desc(), u.x.asc_nulls_last()),
    "orderBy with ascending": lambda t, u, w: u.orderBy(["k", "x"], ascending=[False, True]),
    "sort of an expression": lambda t, u, w: u.sort((u.k * -1).desc_nulls_last(), "x"),
    "sort by what is not kept": lambda t, u, w: u.select("k", "x").sort("v").select("x"),
    "limit": lambda t, u, w: u.orderBy("k", "x").limit(2),
    "limit 0": lambda t, u, w: u.limit(0),
    "offset": lambda t, u, w: u.orderBy("k", "x").offset(2),
    "offset, limit": lambda t, u, w: u.orderBy("k", "x").offset(1).limit(2),
    "limit, offset": lambda t, u, w: u.orderBy("k", "x").limit(3).offset(1),
    "limit, limit": lambda t, u, w: u.orderBy("k", "x").limit(3).limit(2),
    "repartition": lambda t, u, w: u.repartition(2).repartition("k").coalesce(1).orderBy("k", "x"),
    "repartitionByRange": lambda t, u, w: u.repartitionByRange(2, "k").orderBy("k", "x"),
    "sortWithinPartitions": lambda t, u, w: u.sortWithinPartitions("x").orderBy("k", "x"),
    "hint": lambda t, u, w: u.hint("rebalance").orderBy("k", "x"),
}


@pytest.mark.parametrize("name", FRAMES)
def test_sorts_and_limits_of_frames(spark: SparkSession, tables: Mapping[str, DataFrame], name: str) -> None:
    assert_round_trip(spark, FRAMES[name](tables["t"], tables["u"], tables["w"]), ordered=True)
