"""Plain queries, there and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.spark.producer.round_trips import assert_round_trip

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUERIES = (
    "SELECT i + 1 AS x, d * d, d - i FROM t WHERE i > 1 AND s = '2'",
    "SELECT i, count(*) AS c, sum(d) AS total, count(d) + 1 FROM t GROUP BY i",
    "SELECT a.i, b.s FROM t a LEFT JOIN t b ON a.i = b.i",
    "SELECT try_add(i, 2147483647) FROM t",
    "SELECT CASE WHEN i > 1 THEN s ELSE 'x' END, coalesce(s, 'y') FROM t",
)


@pytest.mark.parametrize("query", QUERIES)
def test_the_plan_gives_what_the_query_gives(spark: SparkSession, query: str) -> None:
    frame = spark.sql("SELECT * FROM VALUES (1, 1.50, '1'), (2, NULL, '2'), (NULL, 2.25, NULL) AS t (i, d, s)")
    frame.createOrReplaceTempView("t")
    assert_round_trip(spark, query, tables={"t": frame})
