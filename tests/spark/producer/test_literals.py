"""Constants of every type, there and back."""

from __future__ import annotations

import datetime
import decimal
import math
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F

import pyspark_substrait as ps
from pyspark_substrait.errors import UnsupportedPlanError
from tests.spark.producer.round_trips import assert_round_trip

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.sweep

LITERALS = (
    *("true", "false", "1Y", "-128Y", "1S", "-32768S", "1", "-2147483648", "2147483647", "1L", "-9223372036854775808L"),
    *(
        "1.5F",
        "-0.0F",
        "0.1F",
        "1.17549435E-38F",
        "float('NaN')",
        "float('Infinity')",
        "float('-Infinity')",
        "1.4E-45F",
    ),
    *("1.5D", "-0.0D", "0.1D", "4.9E-324D", "1.7976931348623157E308D", "double('NaN')", "double('-Infinity')", "1e0"),
    *(
        "0.00",
        "1.50",
        "-0.000001",
        "99999999999999999999999999999999999999",
        "0.00000000000000000000000000000000000001",
    ),
    *(
        "''",
        "'a'",
        "'it\\'s \"q\" \\\\ {x} ${y} `z`'",
        "'a\\u0000b'",
        "'😀 e\\u0301 ß'",
        "'line\\nline\\r\\t'",
        "'\\ufffd'",
    ),
    *("X''", "X'00FF'", "X'616263'"),
    *("DATE'2020-02-29'", "DATE'0001-01-01'", "DATE'9999-12-31'", "DATE'1582-10-10'"),
    *("TIMESTAMP'2020-01-01 00:00:00'", "TIMESTAMP'1969-12-31 23:59:59.999999'"),
    *("TIMESTAMP'2020-06-01 12:00:00.5 Europe/Paris'", "TIMESTAMP'9999-12-31 23:59:59.999999'"),
    *("TIMESTAMP_NTZ'2020-01-01 12:34:56.789012'", "TIMESTAMP_NTZ'1600-01-01 00:00:00'"),
    *(
        "TIME'23:59:59.999999'",
        "TIME'00:00:00'",
        "CAST(TIME'12:13:14' AS TIME(0))",
        "CAST(TIME'12:13:14.567' AS TIME(3))",
    ),
    *(
        "INTERVAL '1 02:03:04.5' DAY TO SECOND",
        "INTERVAL '-1 02:03:04.000001' DAY TO SECOND",
        "INTERVAL '0 00:00:00' DAY TO SECOND",
    ),
    *(
        "INTERVAL '1-2' YEAR TO MONTH > INTERVAL '0-3' YEAR TO MONTH",
        "INTERVAL '-1-2' YEAR TO MONTH = INTERVAL '-14' MONTH",
    ),
    *("INTERVAL '36' HOUR = INTERVAL '1 12:00:00' DAY TO SECOND", "INTERVAL '1' DAY > INTERVAL '23' HOUR"),
)
#: values that Python can't hold, by what Spark writes for them
BEYOND_PYTHON = (
    "DATE'-0044-03-15'",
    "DATE'+12345-01-01'",
    "DATE'0000-06-01'",
    "TIMESTAMP'+12345-01-01 00:00:00'",
    "TIMESTAMP'0001-01-01 00:00:00'",
    "TIMESTAMP_NTZ'-0001-12-31 23:59:59.5'",
    "INTERVAL '-3-4' YEAR TO MONTH",
    "INTERVAL '9999-11' YEAR TO MONTH",
)
NULLS = (
    *("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(10, 2)", "DECIMAL(38, 0)"),
    *("STRING", "BINARY", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TIME(3)", "INTERVAL DAY TO SECOND"),
    *("ARRAY<INT>", "MAP<STRING, ARRAY<DATE>>", "STRUCT<a: INT, b: ARRAY<STRING>>"),
)
#: constants that the optimizer makes literals of
NESTED = (
    "array(1, NULL, 3)",
    "array('a', 'it''s', CAST(NULL AS STRING))",
    "array(array(1), NULL, array(NULL, 2))",
    "array(X'00', X'')",
    "array(1.5F, float('NaN'), -0.0F)",
    "array(0.1D, double('Infinity'))",
    "array(1.50, 2.25)",
    "array(true, NULL)",
    "array(DATE'2020-01-01', NULL, DATE'0001-01-01')",
    "array(TIMESTAMP'2020-01-01 00:00:00')",
    "array(TIMESTAMP_NTZ'2020-01-01 00:00:00.000001')",
    "array(TIME'10:11:12')",
    "array(INTERVAL '1 02:03:04' DAY TO SECOND)",
    "map('a', 1, 'b', NULL)",
    "map(1, array('x', NULL), 2, array())",
    "map(DATE'2020-01-01', 1.5)",
    "CAST(array() AS ARRAY<INT>)",
    "CAST(map() AS MAP<STRING, ARRAY<INT>>)",
    "array(CAST(NULL AS STRING))",
    "struct(1 AS a, 'x' AS b, CAST(NULL AS INT) AS c)",
    "named_struct('f', float(0.1), 'y', 1Y, 's', 2S, 'l', 3L, 'd', 1.50, 't', TIMESTAMP'2020-01-01 00:00:00')",
    "array(struct(1 AS a, X'00' AS b), NULL)",
    "map('k', struct(array(1, 2) AS a, map(1, 'x') AS m))",
)


@pytest.mark.parametrize("literal", LITERALS)
def test_literals(spark: SparkSession, literal: str) -> None:
    assert_round_trip(spark, f"SELECT {literal} AS x")


@pytest.mark.parametrize("literal", BEYOND_PYTHON)
def test_literals_that_python_has_not(spark: SparkSession, literal: str) -> None:
    frame = spark.sql(f"SELECT {literal} AS x")
    back = ps.from_substrait(ps.load(ps.to_substrait(frame).to_bytes()), spark)
    assert back.selectExpr("CAST(x AS STRING)").collect() == frame.selectExpr("CAST(x AS STRING)").collect()


@pytest.mark.parametrize("type", NULLS)
def test_nulls(spark: SparkSession, type: str) -> None:
    assert_round_trip(spark, f"SELECT CAST(NULL AS {type}) AS x, CAST(NULL AS {type}) IS NULL AS y")
    assert_round_trip(spark, f"SELECT CAST(NULL AS {type}) AS x", optimized=True)


@pytest.mark.parametrize("constant", NESTED)
@pytest.mark.parametrize("optimized", [False, True])
def test_nested_constants(spark: SparkSession, constant: str, optimized: bool) -> None:
    assert_round_trip(spark, f"SELECT id, {constant} AS x FROM range(2)", optimized=optimized)


@pytest.mark.parametrize(
    "value",
    [
        1,
        2**40,
        1.5,
        [math.nan, -math.inf],
        True,
        "it's",
        b"\x00a",
        decimal.Decimal("1.50"),
        datetime.date(2020, 1, 1),
        datetime.datetime(2020, 1, 1, 12, 30, 1, 5),
        pytest.param(datetime.time(10, 11, 12, 13), marks=pytest.mark.since("4.1", "pyspark has no TIME")),
        datetime.timedelta(days=-1, microseconds=3),
        [1, 2],
        ["a", "b'"],
        [[1], [2, 3]],
    ],
)
def test_constants_of_python(spark: SparkSession, value: object) -> None:
    assert_round_trip(spark, spark.range(2).select(F.lit(value).alias("x")))


def test_texts_that_are_none_are_refused(spark: SparkSession) -> None:
    frame = spark.sql("SELECT CAST(X'FF' AS STRING) AS x FROM range(1)")
    with pytest.raises(UnsupportedPlanError, match="not valid UTF-8"):
        ps.to_substrait(frame, optimized=True)


@pytest.mark.parametrize("literal", ["INTERVAL '106751990' DAY", "INTERVAL '178956970' YEAR"])
def test_intervals_longer_than_plans_have_are_refused(spark: SparkSession, literal: str) -> None:
    with pytest.raises(UnsupportedPlanError, match="too long"):
        ps.to_substrait(spark.sql(f"SELECT {literal} AS x"))
