"""Texts compared and sorted under a collation; what a plan has no form for is refused, never compared by its bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import UnsupportedPlanError
from tests.spark.producer.round_trips import assert_round_trip

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

QUERIES = (
    "SELECT k, k COLLATE UTF8_LCASE = 'straße' FROM c",
    "SELECT k COLLATE UTF8_LCASE = o, k COLLATE UTF8_LCASE < o, k <= o COLLATE UTF8_LCASE FROM c",
    "SELECT k COLLATE UTF8_LCASE > 'b', k COLLATE UTF8_LCASE >= o, k <=> (o COLLATE UTF8_LCASE) FROM c",
    "SELECT k FROM c WHERE k COLLATE UTF8_LCASE IN ('A', 'σας', NULL)",
    "SELECT k FROM c WHERE NOT (k COLLATE UTF8_LCASE >= 'a' AND k COLLATE UTF8_LCASE < 'C')",
    "SELECT k COLLATE UTF8_BINARY_RTRIM = o, k COLLATE UTF8_BINARY_RTRIM < o FROM c",
    "SELECT k COLLATE UTF8_LCASE_RTRIM = o, k COLLATE UTF8_LCASE_RTRIM > 'A  ' FROM c",
    "SELECT k COLLATE UTF8_BINARY = o, k COLLATE UTF8_BINARY, collation(k), collation(k COLLATE UTF8_LCASE) FROM c",
    "SELECT x.k, y.o FROM c AS x JOIN c AS y ON x.k COLLATE UTF8_LCASE = y.o",
    "SELECT CASE WHEN k COLLATE UTF8_LCASE = 'a' THEN 1 ELSE 0 END, k <> o COLLATE UTF8_LCASE FROM c",
    "SELECT count(*) FROM c WHERE upper(k) COLLATE UTF8_LCASE = lower(o)",
)

REFUSED = (
    "SELECT k COLLATE UTF8_LCASE AS k FROM c",
    "SELECT k COLLATE UNICODE_CI = o FROM c",
    "SELECT k FROM c ORDER BY k COLLATE UNICODE",
    "SELECT DISTINCT k COLLATE UTF8_LCASE FROM c",
    "SELECT count(*) FROM c GROUP BY k COLLATE UTF8_LCASE",
    "SELECT count(DISTINCT k COLLATE UTF8_LCASE) FROM c",
    "SELECT max(k COLLATE UTF8_LCASE) FROM c",
    "SELECT contains(k COLLATE UTF8_LCASE, 'A') FROM c",
    "SELECT upper(k COLLATE UTF8_LCASE) = 'A' FROM c",
    "SELECT array_contains(array(k COLLATE UTF8_LCASE), 'A') FROM c",
    "SELECT named_struct('f', k COLLATE UTF8_LCASE) = named_struct('f', o COLLATE UTF8_LCASE) FROM c",
    pytest.param(
        "SELECT nullif(k COLLATE UTF8_LCASE, 'A') FROM c",
        marks=pytest.mark.since("4.2", "Spark itself finds no collation for it"),
    ),
    "SELECT k FROM c WHERE k COLLATE UTF8_LCASE IN (SELECT o FROM c)",
    "SELECT row_number() OVER (PARTITION BY k COLLATE UTF8_LCASE ORDER BY o) FROM c",
    "SELECT collated FROM d",
    "SELECT lists FROM d",
    "SELECT structs FROM d",
    "SELECT 1 AS x FROM d WHERE collated = 'A'",
)


def views(spark: SparkSession) -> dict[str, DataFrame]:
    frame = spark.sql(
        "SELECT * FROM VALUES ('a', 'A'), ('A ', 'a'), ('ΣΑΣ', 'σας'), ('İ', 'i̇'), ('Straße', 'STRASSE'), ('', ' '), "
        "('b', NULL), (NULL, 'B'), ('é', 'É'), ('ǅ', 'Ǆ') AS v (k, o)"
    )
    frame.createOrReplaceTempView("c")
    return {"c": frame}


@pytest.mark.parametrize("query", QUERIES)
def test_comparisons(spark: SparkSession, query: str) -> None:
    assert_round_trip(spark, query, tables=views(spark))


@pytest.mark.parametrize("collation", ("UTF8_LCASE", "UTF8_BINARY", "UTF8_LCASE_RTRIM"))
def test_the_order(spark: SparkSession, collation: str) -> None:
    query = f"SELECT k, o FROM c ORDER BY k COLLATE {collation} DESC NULLS LAST, o COLLATE {collation}, k, o"
    assert_round_trip(spark, query, tables=views(spark), ordered=True)


@pytest.mark.parametrize("query", REFUSED)
@pytest.mark.since("4.0", "no collations")
def test_what_is_refused(spark: SparkSession, query: str) -> None:
    views(spark)
    spark.sql(
        "SELECT k COLLATE UTF8_LCASE AS collated, array(k COLLATE UTF8_LCASE) AS lists, "
        "named_struct('f', k COLLATE UTF8_LCASE) AS structs FROM c"
    ).createOrReplaceTempView("d")
    for tables in (("c",), ("c", "d")):
        with pytest.raises(UnsupportedPlanError):
            ps.to_substrait(spark.sql(query), tables=tables)
