"""Arithmetic out of Spark, in its three modes: the plan gives what the query gives, errors included."""

from __future__ import annotations

import decimal
import random
from typing import TYPE_CHECKING

import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.spark.compatibility import session_version
from pyspark_substrait.sql.functions.builtins_since import has_builtin
from tests.spark.producer.numbers import COLUMNS, EDGES, ansi_off, fares_alike, one_of, view
from tests.spark.producer.round_trips import assert_round_trip

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.sweep

TOTAL = (
    "a + a, s - s, i * i, l + 1, i + l, a - 1Y, -2 - i",
    "d + f, d - 1, f * 2F, d * d, f + f",
    "p + q, p - q, p * q, q * q, i * p, p + 1, 1.5 - q",
    "-a, -s, -i, -l, -f, -d, -p, +i, +q",
    "abs(a), abs(i), abs(l), abs(f), abs(d), abs(p)",
    "sign(i), sign(d), sign(p), signum(f)",
    "d / 2D, i / 4, l / 3, f / 3, a / 2Y, p / 3, q / 7, i / 0.5D",
    "p / 1.1BD, 1 / (i * i + 1), q / 0.003BD, sum_ / 7 FROM (SELECT *, CAST(q AS DECIMAL(38, 3)) AS sum_ FROM n)",
    "i DIV 2, l DIV 3L, a DIV 5Y, p DIV 0.7BD, q DIV 3",
    "i % 3, l % 7L, a % 3Y, i % -2, d % 2D, f % 2F, p % 0.3BD, q % 7, mod(s, 3S)",
    "pmod(i, 3), pmod(i, -3), pmod(d, 2.5D), pmod(p, 1.1BD), pmod(l, 5L), pmod(a, 7Y), pmod(f, -2F)",
    "i & 3, a ^ 5Y, l | 1L, ~i, ~s, i & i",
    "shiftleft(i, 3), shiftright(l, 3), shiftrightunsigned(i, 3), shiftleft(a, 1)",
    "shiftleft(i, i), shiftright(l, 65), shiftrightunsigned(l, i), shiftleft(i, -1)",
    "bit_count(i), bit_count(b), bit_count(a), bit_get(i, 3), getbit(l, 63)",
    "i + interval_ FROM (SELECT *, 1 AS interval_ FROM n)",
    "rint(d), i + i * i - i, (i + 1) * (l - 1), -(-i)",
    "i + NULL, NULL * d, CAST(NULL AS DECIMAL(5, 2)) + p",
)

#: with records that have no result: each one either fails or not, as it does in Spark
FALLIBLE = (
    "a + a",
    "s - 1S",
    "i * i",
    "l + l",
    "l * 2",
    "-a",
    "-l",
    "abs(i)",
    "d / d",
    "f / d",
    "(d + 1D) / d",
    "p / p",
    "q / p",
    "i / i",
    "l DIV l",
    "p DIV p",
    "i % i",
    "d % d",
    "f % f",
    "p % p",
    "pmod(i, i)",
    "pmod(d, d)",
    "pmod(p, p)",
    "CAST(l AS DECIMAL(38, 19)) * l",
    "CAST(l AS DECIMAL(38, 19)) + 9999999999999999999BD * CAST(l AS DECIMAL(38, 0))",
    "bit_get(i, i)",
)

TRY = (
    "try_add(a, a), try_add(s, 1S), try_add(i, i), try_add(l, l)",
    "try_subtract(a, 100Y), try_subtract(i, 1), try_subtract(l, 1L)",
    "try_multiply(a, 2Y), try_multiply(i, i), try_multiply(l, l)",
    "try_add(d, f), try_multiply(f, 2F), try_subtract(d, d)",
    "try_add(p, q), try_multiply(q, q), try_subtract(p, 1)",
    "try_add(CAST(q AS DECIMAL(38, 33)), 1), try_multiply(CAST(q AS DECIMAL(38, 3)), CAST(l AS DECIMAL(38, 0)))",
    "try_divide(d, d), try_divide(i, i), try_divide(p, p), try_divide(q, p), try_divide(l, 0)",
    "try_mod(i, i), try_mod(l, 7L), try_mod(d, d), try_mod(p, p), try_mod(f, f)",
)

LEGACY = (
    "a + a, s + s, i + i, l + l",
    "a - 1Y, s - 100S, i - 1, l - 1L, -2 - i, -9223372036854775807L - l",
    "a * a, s * s, i * i, l * l, l * -1L, l * 3",
    "-a, -s, -i, -l, -d, -p",
    "abs(a), abs(s), abs(i), abs(l), abs(d), abs(p)",
    "d + d, f * f, d - f",
    "d / d, f / d, i / i, 1 / l, p / p, q / p",
    "l DIV l, i DIV s, a DIV a, p DIV p, q DIV p",
    "i % i, l % l, d % d, f % f, p % p, l % -1L",
    "pmod(i, i), pmod(l, -7L), pmod(d, d), pmod(p, p), pmod(a, a)",
    "p + q, p * q, CAST(q AS DECIMAL(38, 3)) * CAST(l AS DECIMAL(38, 0)), CAST(p AS DECIMAL(38, 37)) + 1",
    "i & 3, ~l, shiftleft(i, 33), bit_count(a)",
)


@pytest.mark.parametrize("columns", TOTAL)
def test_arithmetic(spark: SparkSession, columns: str) -> None:
    view(spark)
    assert_round_trip(spark, f"SELECT {columns}" + ("" if " FROM " in columns else " FROM n"))


@pytest.mark.parametrize("expression", FALLIBLE)
def test_what_has_no_result_is_an_error_in_both(spark: SparkSession, expression: str) -> None:
    assert sum(not fares_alike(spark, one_of(spark, expression, row)) for row in EDGES)


@pytest.mark.parametrize("columns", TRY)
def test_null_for_an_error(spark: SparkSession, columns: str) -> None:
    view(spark, EDGES)
    assert_round_trip(spark, f"SELECT {columns} FROM n")


@pytest.mark.parametrize("columns", LEGACY)
def test_with_ansi_mode_off(spark: SparkSession, columns: str) -> None:
    view(spark, EDGES)
    assert_round_trip(spark, ansi_off(spark, f"SELECT {columns} FROM n"))


def _decimal(random_: random.Random, precision: int, scale: int) -> str:
    digits = random_.choice([precision, max(1, precision // 2), 1])
    value = decimal.Decimal(random_.randint(1, 10**digits - 1) * random_.choice([1, -1]))
    with decimal.localcontext(decimal.Context(prec=80)):
        return f"CAST({value.scaleb(-scale):f}BD AS DECIMAL({precision}, {scale}))"


@pytest.mark.parametrize("seed", range(8))
def test_decimals_of_many_precisions(spark: SparkSession, seed: int) -> None:
    random_ = random.Random(seed)
    precisions = [random_.choice([3, 7, 12, 15, 20, 27, 36, 38]) for _ in range(2)]
    scales = [random_.randint(0, min(precision, 18)) for precision in precisions]
    rows = ", ".join(
        "(" + ", ".join(_decimal(random_, *pair) for pair in zip(precisions, scales, strict=True)) + ")"
        for _ in range(4)
    )
    rows += ", (NULL, NULL)"
    places = random_.randint(-3, 8)
    source = f"FROM VALUES {rows} AS v (x, y)"
    assert_round_trip(
        spark,
        "SELECT try_divide(x, y), try_add(x, y), try_subtract(x, y), try_multiply(x, y), -x, abs(y), ceil(x), "
        f"floor(y), round(x, {places}), bround(y, {places}) {source}",
    )
    calls = ("try_mod(x, y)",) if has_builtin("try_mod", session_version(spark)) else ()
    comparisons = ("x = y", "x < y", "greatest(x, y)")
    for expression in ("x / y", "x % y", "pmod(x, y)", "x * y", "x DIV y", "y / 3", *comparisons, *calls):
        # Spark has no remainders of what is too far apart; before 4.0, it can't compare that either
        if not fares_alike(spark, spark.sql(f"SELECT {expression} {source}")):
            assert max(precisions) > 15


@pytest.mark.parametrize(
    ("expression", "urn"),
    [
        ("CAST(q AS DECIMAL(38, 4)) / CAST(p AS DECIMAL(38, 4))", "functions_arithmetic_decimal"),
        ("CAST(q AS DECIMAL(25, 2)) / 7.0BD", "functions_arithmetic_decimal"),
        ("CAST(q AS DECIMAL(12, 2)) / CAST(p AS DECIMAL(12, 2))", "functions_arithmetic_decimal"),
        ("CAST(q AS DECIMAL(15, 2)) / CAST(p AS DECIMAL(15, 2))", "functions_spark_arithmetic"),
        ("i / 2", "functions_arithmetic"),
        ("d / (f + 1)", "functions_spark_arithmetic"),
        ("shiftleft(i, 3)", "functions_arithmetic"),
        ("shiftleft(i, 32)", "functions_spark_arithmetic"),
    ],
)
def test_the_function_of_the_specification_where_it_is_exact(spark: SparkSession, expression: str, urn: str) -> None:
    view(spark)
    text = ps.to_substrait(spark.sql(f"SELECT {expression} AS x FROM n")).to_json()
    own = "functions_spark_arithmetic"
    assert f':{urn}"' in text
    assert (f':{own}"' in text) == (urn == own)


def test_decimals_that_keep_their_scale_are_refused(spark: SparkSession) -> None:
    setting = "spark.sql.decimalOperations.allowPrecisionLoss"
    spark.conf.set(setting, False)
    try:
        frame = spark.sql(f"SELECT p + q AS x FROM VALUES {EDGES[0]} AS n ({COLUMNS})")
        with pytest.raises(UnsupportedPlanError, match="allowPrecisionLoss"):
            ps.to_substrait(frame)
    finally:
        spark.conf.unset(setting)
