"""Samples: the plan takes the rows that Spark takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyspark_substrait import UnsupportedPlanError, from_substrait, to_substrait
from tests.spark.producer.round_trips import assert_round_trip, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize("fraction", [0.0, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("seed", [0, 7, -3])
def test_samples_without_replacement(spark: SparkSession, fraction: float, seed: int) -> None:
    assert_round_trip(spark, spark.range(0, 200, 1, 1).sample(fraction, seed))


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM (SELECT * FROM range(0, 100, 1, 1)) TABLESAMPLE (30 PERCENT) REPEATABLE (5)",
        "WITH r AS (SELECT * FROM range(0, 100, 1, 1)) "
        "SELECT id * 2 AS d FROM r TABLESAMPLE (BUCKET 3 OUT OF 10) REPEATABLE (5) WHERE id > 5",
        "SELECT * FROM (SELECT * FROM range(0, 10, 1, 1)) TABLESAMPLE (4 ROWS)",
        "SELECT count(*) FROM (SELECT * FROM range(0, 100, 1, 1)) TABLESAMPLE (0 PERCENT)",
        "SELECT count(*) FROM (SELECT * FROM range(0, 100, 1, 1)) TABLESAMPLE (100 PERCENT)",
    ],
)
def test_samples_of_sql(spark: SparkSession, query: str) -> None:
    assert_round_trip(spark, query)


def test_a_seed_that_nobody_gave_is_in_the_plan(spark: SparkSession) -> None:
    assert_round_trip(spark, spark.range(0, 200, 1, 1).sample(0.3))
    plan = to_substrait(spark.sql("SELECT * FROM (SELECT * FROM range(100)) TABLESAMPLE (50 PERCENT)"))
    assert rows(from_substrait(plan, spark)) == rows(from_substrait(plan, spark))


def test_the_parts_of_a_split_have_nothing_in_common(spark: SparkSession) -> None:
    frame = spark.range(0, 200, 1, 1).selectExpr("id", "-id AS n")
    parts = [from_substrait(to_substrait(part), spark) for part in frame.randomSplit([1.0, 2.0, 1.0], seed=3)]
    found = [row for part in parts for row in rows(part)]
    assert sorted(found) == sorted(rows(frame))


def test_samples_by_a_column_are_refused(spark: SparkSession) -> None:
    frame = spark.range(0, 200, 1, 1).selectExpr("id", "id & 3 AS n")
    with pytest.raises(UnsupportedPlanError, match="compiled code"):  # Spark has a function of its own for them
        to_substrait(frame.sampleBy("n", {0: 0.1, 1: 0.5}, seed=1))


def test_samples_with_replacement_are_refused(spark: SparkSession) -> None:
    with pytest.raises(UnsupportedPlanError, match="sample with replacement"):
        to_substrait(spark.range(10).sample(True, 0.5, 1))
