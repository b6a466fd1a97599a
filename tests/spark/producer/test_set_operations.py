"""Set operations and merging equal rows, there and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import pytest

from pyspark_substrait import UnsupportedPlanError, to_substrait
from tests.spark.producer.round_trips import assert_round_trip
from tests.spark.producer.small_tables import small_tables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.sweep

QUERIES = (
    *(
        f"SELECT i, s FROM t {operation} SELECT k, x FROM u"
        for operation in (
            "UNION ALL",
            "UNION",
            "UNION DISTINCT",
            "INTERSECT",
            "INTERSECT ALL",
            "EXCEPT",
            "EXCEPT ALL",
            "MINUS",
        )
    ),
    *(f"SELECT i FROM t {operation} SELECT i FROM t" for operation in ("UNION", "INTERSECT ALL", "EXCEPT ALL")),
    *(f"SELECT i, s FROM t {operation} SELECT i, s FROM e" for operation in ("UNION ALL", "INTERSECT", "EXCEPT")),
    *(f"SELECT i, s FROM e {operation} SELECT i, s FROM t" for operation in ("UNION", "INTERSECT ALL", "EXCEPT ALL")),
    "SELECT i FROM t UNION ALL SELECT k FROM u UNION ALL SELECT i FROM w UNION ALL SELECT 9",
    "SELECT i FROM t UNION SELECT k FROM u UNION SELECT i FROM w",
    "SELECT i FROM t UNION ALL SELECT k FROM u UNION SELECT i FROM w",
    "SELECT i FROM t UNION SELECT k FROM u UNION ALL SELECT i FROM w",
    "(SELECT i FROM t UNION SELECT k FROM u) UNION ALL (SELECT i FROM w UNION SELECT 1)",
    "SELECT i FROM t EXCEPT (SELECT k FROM u UNION SELECT i FROM w)",
    "SELECT i FROM t EXCEPT SELECT k FROM u EXCEPT SELECT 3",
    "SELECT i FROM t INTERSECT SELECT k FROM u INTERSECT SELECT i FROM w",
    "SELECT i FROM t UNION SELECT k FROM u INTERSECT SELECT i FROM w",
    "SELECT i FROM t UNION ALL SELECT v FROM u",
    "SELECT d FROM t UNION ALL SELECT v FROM u",
    "SELECT d FROM t UNION SELECT 1.5BD UNION SELECT 1.50BD",
    "SELECT z FROM w UNION SELECT z FROM w UNION SELECT CAST('NaN' AS DOUBLE)",
    "SELECT z FROM w INTERSECT SELECT z FROM w",
    "SELECT NULL AS n FROM t UNION ALL SELECT k FROM u",
    "SELECT 1 AS a, 2 AS b UNION ALL SELECT 3, 4",
    "SELECT k, k FROM u UNION ALL SELECT i, i FROM t",
    "SELECT struct(i, s) AS r FROM t UNION SELECT struct(k, x) FROM u",
    "SELECT array(k) AS a FROM u UNION ALL SELECT array(i) FROM t",
    "SELECT array(i) AS a FROM t UNION ALL SELECT array(k) FROM u",
    "SELECT array(struct(k)) AS a FROM u UNION ALL SELECT array(struct(i)) FROM t",
    "SELECT map(1, k) AS m FROM u UNION ALL SELECT map(2, i) FROM t",
    "SELECT * FROM (SELECT i FROM t UNION ALL SELECT k FROM u) WHERE i > 1 ORDER BY i LIMIT 3",
    "SELECT i, count(*) FROM (SELECT i FROM t UNION ALL SELECT k FROM u) GROUP BY i",
    "SELECT i FROM t WHERE i = 1 UNION ALL SELECT i FROM t WHERE i = 2 ORDER BY i",
    "(SELECT i FROM t WHERE i IS NOT NULL ORDER BY i DESC LIMIT 1) UNION ALL (SELECT k FROM u ORDER BY k LIMIT 1)",
    "SELECT DISTINCT i FROM t",
    "SELECT DISTINCT i, s FROM t",
    "SELECT DISTINCT * FROM t",
    "SELECT DISTINCT z FROM w",
    "SELECT DISTINCT 1 FROM t",
    "SELECT DISTINCT 1 FROM e",
    "SELECT DISTINCT i + 1 AS n FROM t ORDER BY n",
    "SELECT DISTINCT struct(i, d) FROM t",
    "SELECT DISTINCT array(i) FROM t",
    "SELECT count(*) FROM (SELECT DISTINCT i FROM t)",
    "VALUES (1, 'a'), (2, 'b') UNION SELECT i, s FROM t",
    "TABLE t UNION TABLE t",
    "FROM t SELECT i UNION ALL FROM u SELECT k",
)

FRAMES: Mapping[str, Callable[[DataFrame, DataFrame, DataFrame], DataFrame]] = {
    "union": lambda t, u, w: t.select("i", "s").union(u.select("k", "x")),
    "unionAll of three": lambda t, u, w: t.select("i").unionAll(u.select("k")).unionAll(w.select("i")),
    "union of a frame with itself": lambda t, u, w: t.union(t),
    "union, distinct": lambda t, u, w: t.union(t).distinct(),
    "unionByName": lambda t, u, w: t.select("i", "s").unionByName(w.select("s", "i")),
    "unionByName with missing columns": lambda t, u, w: t.unionByName(w, allowMissingColumns=True),
    "unionByName of different types": lambda t, u, w: t.select("i").unionByName(u.selectExpr("v AS i")),
    "intersect": lambda t, u, w: t.select("i", "s").intersect(w.select("i", "s")),
    "intersectAll": lambda t, u, w: t.select("i", "s").intersectAll(t.select("i", "s")),
    "subtract": lambda t, u, w: t.select("i").subtract(u.select("k")),
    "exceptAll": lambda t, u, w: t.select("i").exceptAll(u.select("k")),
    "distinct": lambda t, u, w: t.distinct(),
    "dropDuplicates": lambda t, u, w: t.dropDuplicates(),
    "dropDuplicates, all columns": lambda t, u, w: t.dropDuplicates(["s", "d", "i"]),
    "dropDuplicates, one other column": lambda t, u, w: (
        t.select("i", "s").distinct().filter("i <> 2").dropDuplicates(["i"])
    ),
    "dropDuplicates, several other columns": lambda t, u, w: t.distinct().filter("i <> 2").drop_duplicates(["i"]),
    "dropDuplicates, first and last": lambda t, u, w: u.filter("k <> 2").dropDuplicates(["x"]),
    "dropDuplicates, -0.0 and NaN": lambda t, u, w: w.select("z", w.z.isNull().alias("n")).dropDuplicates(["z"]),
    "dropDuplicates of a renamed column": lambda t, u, w: (
        t.withColumnRenamed("i", "j").distinct().dropDuplicates(["j", "s"])
    ),
    "no columns, distinct": lambda t, u, w: t.select().distinct(),
    "after dropDuplicates": lambda t, u, w: t.dropDuplicates(["i"]).select("i").union(u.select("k")),
}


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Mapping[str, DataFrame]:
    return small_tables(spark)


@pytest.mark.parametrize("query", QUERIES)
def test_set_operations(spark: SparkSession, tables: Mapping[str, DataFrame], query: str) -> None:
    assert_round_trip(spark, query, tables=tables)


@pytest.mark.parametrize("name", FRAMES)
def test_set_operations_of_frames(spark: SparkSession, tables: Mapping[str, DataFrame], name: str) -> None:
    assert_round_trip(spark, FRAMES[name](tables["t"], tables["u"], tables["w"]))


def test_dropping_duplicates_keeps_whole_rows(spark: SparkSession, tables: Mapping[str, DataFrame]) -> None:
    from pyspark_substrait import from_substrait

    frame = tables["t"].dropDuplicates(["i"])
    back = from_substrait(to_substrait(frame), spark)
    assert set(map(tuple, back.collect())) <= set(map(tuple, tables["t"].collect()))
    assert back.count() == frame.count()


def test_unions_are_one_relation(spark: SparkSession, tables: Mapping[str, DataFrame]) -> None:
    plan = to_substrait(spark.sql("SELECT i FROM t UNION SELECT k FROM u UNION SELECT i FROM w"), tables=tuple(tables))
    assert plan.to_json().count('"set"') == 1


def test_streams_are_refused(spark: SparkSession) -> None:
    frame = spark.sql("SELECT timestamp'2020-01-01' AS at, 1 AS n").withWatermark("at", "1 hour")
    with pytest.raises(UnsupportedPlanError, match="dropDuplicatesWithinWatermark"):
        to_substrait(frame.dropDuplicatesWithinWatermark(["n"]))
