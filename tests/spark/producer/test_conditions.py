"""Comparisons, choices, membership and nulls out of Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.spark.compatibility import session_version
from pyspark_substrait.sql.spark_version import SparkVersion
from tests.spark.producer.numbers import COLUMNS, SMALL, view
from tests.spark.producer.round_trips import assert_round_trip

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MANY = ", ".join(map(str, range(500)))
COLUMNS_OF_N = (
    "i = 3, d = d, d <> d, f < d, i <=> NULL, d <=> d, t = 'a', t <> 'a', t < 'b', b = true",
    "i > l, i >= 3, p = 1.25, p < q, q <= 0, t >= '', NOT i = 3, NOT i < 3, i != l",
    "d > 2, d < double('inf'), d = double('nan'), d <=> double('nan'), d = 0D, f = -0.0F",
    "b AND i > 0, b OR i > 0, NOT b, NOT (b AND i > 0), b AND NULL, b OR NULL, NOT CAST(NULL AS BOOLEAN)",
    "b AND true, b OR false, b AND b AND i > 0 AND t = 'a', b OR t = 'a' OR d > 1",
    "b = NULL, b <=> NULL, b IS TRUE, b IS NOT TRUE, b IS FALSE, b IS NOT FALSE, b IS UNKNOWN, b IS NOT UNKNOWN",
    "i IS NULL, t IS NOT NULL, isnull(d), isnotnull(p), NOT isnull(i)",
    "i IN (1, 3), i NOT IN (1, 3), i IN (1, NULL), i NOT IN (1, NULL), NULL IN (1, 2)",
    "d IN (double('nan'), 2.5D), d IN (0D), t IN ('a', ''), t NOT IN ('a', NULL), p IN (1.25, 3), i IN (l, 3)",
    f"i IN ({MANY}), l NOT IN ({MANY})",
    "(i, t) IN ((3, 'a'), (0, 'c')), struct(i) IN (struct(3))",
    "i BETWEEN -3 AND 3, NOT (i BETWEEN l AND 3), t BETWEEN 'a' AND 'b', d BETWEEN 0 AND double('nan')",
    "i BETWEEN NULL AND 3, i NOT BETWEEN 0 AND NULL",
    "coalesce(t, 'q', t), coalesce(i, l), coalesce(NULL, i, 7), coalesce(p, q), coalesce(d, 0)",
    "nvl(i, 7), nvl(t, 'z'), ifnull(t, 'z'), ifnull(p, 0), nvl2(i, 'x', 'y'), nvl2(t, i, l)",
    "nullif(i, 3), nullif(d, d), nullif(t, ''), nullif(p, 1.25), nullif(i + 1, l), nullif(b, true), nullif(i, 3.0)",
    "zeroifnull(i), zeroifnull(d), nullifzero(i), nullifzero(p), nullifzero(d)",
    "nanvl(d, 0D), isnan(d) OR isnull(d), equal_null(i, 3), equal_null(t, NULL), equal_null(d, double('nan'))",
    "if(b, i, 0), if(i > 0, p, q), if(b, NULL, t), if(isnull(b), 'n', string(b)), if(i > 0, 1, 2.5)",
    "CASE WHEN b THEN 1 WHEN i > 0 THEN 2 END, CASE WHEN b THEN 'x' ELSE t END, CASE WHEN i > 0 THEN p ELSE d END",
    "CASE i WHEN 3 THEN 'x' WHEN 0 THEN 'y' ELSE t END, CASE t WHEN 'a' THEN i WHEN NULL THEN 0 END",
    "CASE WHEN CAST(NULL AS BOOLEAN) THEN 1 ELSE 2 END, CASE WHEN i > 0 THEN NULL WHEN b THEN 5 END",
    "CASE b WHEN true THEN 1 END",
    "CASE WHEN i > 0 THEN CASE WHEN b THEN 'a' ELSE 'b' END ELSE CASE WHEN b THEN 'c' END END",
    "decode(i, 3, 'x', NULL, 'n', 'e'), decode(t, 'a', 1, 'b', 2)",
    "greatest(i, 2), least(d, 1D, d), greatest(p, q), greatest(t, 'b'), least(i, NULL), least(i, l, 2)",
    "greatest(f, double('nan')), least(b, true), greatest(NULL, NULL, i)",
    "array(i) = array(3), array(d) < array(1D), array(i, NULL) <=> array(3, NULL), array(t) >= array('b')",
    "struct(i, t) = struct(3, 'a'), struct(d) = struct(d), struct(i, l) < struct(3, 5L), struct(i) <=> struct(3)",
    "named_struct('x', i, 'y', array(t)) = named_struct('x', 3, 'y', array('a'))",
    "CASE WHEN b THEN array(i) ELSE array(NULL) END, coalesce(array(i, NULL), array(1))",
    "if(b, struct(i), struct(7 AS i))",
    "X'00' < X'FF', CAST(t AS BINARY) = X'61', DATE'2020-01-01' < DATE'2020-01-02'",
    "TIMESTAMP'2020-01-01 00:00:00' = DATE'2020-01-01'",
    "date_add(DATE'2020-01-01', i) > TIMESTAMP_NTZ'2019-12-31 01:00:00'",
    "INTERVAL '1' DAY * i < INTERVAL '25' HOUR, INTERVAL '1' YEAR = INTERVAL '12' MONTH",
)

QUERIES = (
    "SELECT i FROM n WHERE b",
    "SELECT i FROM n WHERE NOT b",
    "SELECT i FROM n WHERE b OR i > 0",
    "SELECT i FROM n WHERE NOT (b AND i > 0)",
    "SELECT i FROM n WHERE i IN (1, 3, NULL)",
    "SELECT i FROM n WHERE i NOT IN (1, 3, NULL)",
    "SELECT i FROM n WHERE d = double('nan')",
    "SELECT i FROM n WHERE t IS NULL OR t = ''",
    "SELECT i FROM n WHERE i BETWEEN -5 AND 5 AND t <> 'a'",
    "SELECT i FROM n WHERE coalesce(b, i > 0)",
    "SELECT i FROM n WHERE CASE WHEN b IS NULL THEN true ELSE i > 0 END",
    "SELECT i FROM n WHERE (i > 0) = b",
    "SELECT i FROM n WHERE i <=> NULL",
    "SELECT nullif(count(*), 6), coalesce(sum(i), 0), nullif(sum(i), 2) FROM n",
    "SELECT t, count(*) FROM n GROUP BY t HAVING count(*) BETWEEN 1 AND 2",
)


@pytest.mark.parametrize("columns", COLUMNS_OF_N)
def test_conditions(spark: SparkSession, columns: str) -> None:
    view(spark)
    assert_round_trip(spark, f"SELECT {columns} FROM n")


@pytest.mark.parametrize("query", QUERIES)
def test_conditions_of_queries(spark: SparkSession, query: str) -> None:
    view(spark)
    assert_round_trip(spark, query)


@pytest.mark.parametrize(
    "condition",
    [
        f"i IN ({MANY})",
        f"i NOT IN ({MANY})",
        f"l IN ({MANY}, NULL)",
        f"NOT (l IN ({MANY}, NULL))",
        "t IN ('a', 'b', '', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l')",
        "d IN (double('nan'), 0D, 2.5D, 3D, 4D, 5D, 6D, 7D, 8D, 9D, 10D, 11D)",
        "p IN (1.25, 2, 3, 4, 5, 6, 7, 8, 9, 9.99, 11, 12)",
    ],
)
def test_long_lists_out_of_the_optimizer(spark: SparkSession, condition: str) -> None:
    frame = spark.sql(f"SELECT * FROM VALUES {', '.join(SMALL)} AS n ({COLUMNS})").repartition(1)
    assert_round_trip(spark, frame.where(condition), optimized=True)


@pytest.mark.since("4.0", "Spark itself computes it twice")
def test_a_random_value_that_is_used_twice_is_refused(spark: SparkSession) -> None:
    with pytest.raises(UnsupportedPlanError, match="uses a part several times"):
        ps.to_substrait(spark.sql("SELECT nullif(rand(1), 0.5D)"))


def test_a_random_value_that_spark_computes_twice(spark: SparkSession) -> None:
    """Before 4.0, ``nullif`` computes its first argument a second time where it isn't null; so does the plan."""
    rows = ", ".join(f"({number})" for number in range(40))
    frame = spark.sql(f"SELECT nullif(floor(rand(1) * 3), 1) AS x FROM VALUES {rows} AS n (i)")
    if session_version(spark) >= SparkVersion(4, 0):
        with pytest.raises(UnsupportedPlanError, match="uses a part several times"):
            ps.to_substrait(frame)
        return
    assert 1 in {row.x for row in frame.collect()}, "of a value that is computed once, no 1 would be left"
    assert_round_trip(spark, frame, ordered=True)


@pytest.mark.parametrize(
    "value",
    [
        "transform(array(if(id < 1, a, b)), x -> x.n)",
        "transform(array(CASE WHEN id < 1 THEN a WHEN id < 2 THEN b ELSE a END), x -> x.n)",
        "transform(if(id < 1, array(1L), array(if(id = 1, NULL, id))), x -> x + 1)",
        "transform(array(a, b), x -> x.n)",
    ],
)
def test_branches_whose_parts_may_be_null_or_not(spark: SparkSession, value: str) -> None:
    rows = "SELECT id, named_struct('n', id) AS a, named_struct('n', if(id = 1, NULL, id)) AS b FROM range(3)"
    assert_round_trip(spark, f"SELECT {value} AS c FROM ({rows})")
