"""Functions of numbers out of Spark: roots, powers, logarithms, angles, roundings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import UnsupportedPlanError
from tests.spark.producer.numbers import EDGES, ansi_off, fares_alike, one_of, view
from tests.spark.producer.round_trips import assert_round_trip

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.sweep

TOTAL = (
    "sqrt(d), sqrt(i), sqrt(p), sqrt(-d)",
    "cbrt(d), cbrt(i), hypot(d, 3), hypot(f, f)",
    "exp(d), exp(i), expm1(d), expm1(i / 1e10D)",
    "ln(d), ln(i), ln(p), ln(l)",
    "log(d), log(2, d), log(10, i), log(d, 2D), log(1D, d), log(0D, d), log(-1, i)",
    "log10(d), log10(i), log2(d), log2(i), log1p(d), log1p(i)",
    "pow(d, 2), pow(d, 0.5D), pow(i, 2), power(2, i), pow(d, d)",
    "sin(d), cos(d), tan(d), cot(d), sec(d), csc(d)",
    "sinh(d), cosh(d), tanh(d), atanh(d)",
    pytest.param("asinh(d), acosh(d)", marks=pytest.mark.since("4.2", "Spark itself gives other digits")),
    "asin(d), acos(d), atan(d), asin(i / 20), acos(i), atan2(d, d), atan2(d, 1D), atan2(f * 0, -d)",
    "degrees(d), radians(d), e(), pi(), pi() * d",
    "ceil(p), floor(p), ceil(q), floor(q), ceil(i), floor(l), ceil(CAST(p AS DECIMAL(38, 10)))",
    "ceil(d / 1000) FROM n WHERE d < 10",
    "ceil(i / 7), floor(i / 7), ceil(i * 0.1D)",
    "ceil(p, 1), floor(q, -2), ceil(q, -2), floor(i, -1), ceil(a, -1), floor(p, 5), ceil(q, 0)",
    "round(d), round(d, 1), round(d, -1), round(d * 1.07D, 2), round(i / 3, 2)",
    "round(f), round(f, 1), bround(f, 1), round(f * 1.07F, 2)",
    "bround(d), bround(d, 1), bround(d / 20, 2), bround(i / 2)",
    "round(p, 1), round(q, -2), round(q), round(p, -1), round(q, 1 + 1), round(q, -6)",
    "bround(p, 1), bround(q, 2), bround(q), bround(q, -3)",
    "round(CAST(q AS DECIMAL(38, 10)), 3), bround(CAST(q AS DECIMAL(38, 10)), -3), round(CAST(p AS DECIMAL(38, 2)))",
    "round(i, 1), round(s, -3), round(a, -1), round(l, -1), bround(i, -1), bround(l, -30), round(s + 1S, -1)",
    "factorial(i), factorial(s + 12S), factorial(a)",
    "rint(d), rint(i / 2), rint(i)",
    "width_bucket(d, 0, 10, 5), width_bucket(d, 10D, -10D, 7), width_bucket(d, 1D, 1D, 3), width_bucket(p, 0, 2, i)",
    "width_bucket(INTERVAL '5' DAY * i, INTERVAL '0' DAY, INTERVAL '10' DAY, 4)",
    "width_bucket(INTERVAL '5' MONTH * i, INTERVAL '0' MONTH, INTERVAL '10' YEAR, 4)",
    "positive(d), negative(d), signum(d), sign(f)",
    "isnan(d), isnan(f), isnan(p), nanvl(d, 7D), nanvl(f, f), nanvl(d, NULL), nanvl(f, 1F)",
)

FALLIBLE = (
    *(
        pytest.param(expression, marks=pytest.mark.since("4.3", "an error where a BIGINT has no room"))
        for expression in ("ceil(d)", "floor(d)", "ceil(f)", "floor(d * 2)")
    ),
    "round(a, -1)",
    "round(s, -2)",
    "round(i, -1)",
    "round(l, -1)",
    "bround(l, -19)",
    "bround(a, -1)",
)

LEGACY = (
    "ceil(d), floor(d), ceil(f), floor(d * 2), ceil(p), floor(l)",
    "round(a, -1), round(s, -2), round(i, -1), round(l, -1), round(l, -19)",
    "bround(a, -2), bround(l, -3), bround(l, -30), round(i, 2)",
    "round(d, 1), round(q, -1), round(p, 1), bround(q, -2)",
    "sqrt(d), ln(d), factorial(a), log(2, d)",
)


@pytest.mark.parametrize("columns", TOTAL)
def test_functions_of_numbers(spark: SparkSession, columns: str) -> None:
    view(spark)
    assert_round_trip(spark, f"SELECT {columns}" + ("" if " FROM " in columns else " FROM n"))


@pytest.mark.parametrize("expression", FALLIBLE)
def test_what_has_no_result_is_an_error_in_both(spark: SparkSession, expression: str) -> None:
    assert sum(not fares_alike(spark, one_of(spark, expression, row)) for row in EDGES)


@pytest.mark.parametrize("columns", LEGACY)
def test_with_ansi_mode_off(spark: SparkSession, columns: str) -> None:
    view(spark, EDGES)
    assert_round_trip(spark, ansi_off(spark, f"SELECT {columns} FROM n"))


def test_a_rounding_that_needs_more_digits_on_the_way_is_refused(spark: SparkSession) -> None:
    frame = spark.sql("SELECT ceil(CAST(1.25 AS DECIMAL(38, 2)), 1)")
    with pytest.raises(UnsupportedPlanError, match="38 digits"):
        ps.to_substrait(frame)
