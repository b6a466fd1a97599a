"""Operands that a function's text repeats: nested calls stay short, and mean the same."""

from __future__ import annotations

import datetime
from dataclasses import replace
from typing import TYPE_CHECKING

import pyspark_substrait as ps
from pyspark_substrait.model.expressions import Expression, FunctionOption, ScalarFunction, ScalarSubquery
from pyspark_substrait.model.types import IntervalYear, PrecisionTimestampTZ
from tests.spark import plans

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLE = plans.values([plans.INT_, plans.INT], [(1, 2), (2**31 - 20, 7), (None, 3)])


def saturating(one: Expression, other: Expression) -> ScalarFunction:
    return replace(plans.call("add", one, other), options=(FunctionOption("overflow", ("SATURATE",)),))


def nested(depth: int) -> ScalarFunction:
    """A sum of which every part saturates."""
    total = saturating(plans.col(TABLE, 0), plans.col(TABLE, 1))
    for _ in range(depth - 1):
        total = saturating(total, plans.col(TABLE, 1))
    return total


def test_the_text_of_nested_calls_grows_with_their_number() -> None:
    lengths = [
        len(ps.to_sql(plans.plan(plans.project(TABLE, nested(depth))), formatted=False)) for depth in (10, 20, 40)
    ]
    assert lengths[2] - lengths[1] < 3 * (lengths[1] - lengths[0])
    assert lengths[2] < 20_000


def test_subqueries_and_windows_are_operands_of_what_is_made_with_lambdas(spark: SparkSession) -> None:
    words = plans.values([plans.INT, plans.TEXT], [(1, "one two"), (2, "straße"), (3, "x")])
    key, word = plans.col(words, 0), plans.col(words, 1)
    inner = plans.where(words, plans.call("equal", plans.col(words, 0), plans.outer(words, 0, steps_out=1)))
    third = plans.where(words, plans.call("equal", key, plans.number(3)))
    fixed = ScalarSubquery(input=plans.project(third, plans.col(third, 1)))
    own = ScalarSubquery(input=plans.project(inner, plans.col(inner, 1)))
    swapped = [plans.call("swapcase", operand) for operand in (fixed, own, word)]
    assert "->" in ps.to_sql(plans.plan(plans.project(words, swapped[2])))
    found = plans.ordered(plans.rows(spark, plans.project(words, key, *swapped)))
    assert found == [(1, "X", "ONE TWO", "ONE TWO"), (2, "X", "STRASSE", "STRASSE"), (3, "X", "X", "X")]
    same = plans.call("equal", plans.call("swapcase", own), plans.text("X"))
    assert plans.rows(spark, plans.where(words, same)) == [(3, "x")]


def test_the_value_is_the_same(spark: SparkSession) -> None:
    depth = 12
    wanted = [(min(one + depth * other, 2**31 - 1),) for one, other in ((1, 2), (2**31 - 20, 7))]
    assert plans.rows(spark, plans.project(TABLE, nested(depth))) == [*wanted, (None,)]


def test_a_subquery_as_a_moment_in_a_zone(spark: SparkSession) -> None:
    moment = plans.lit(PrecisionTimestampTZ(precision=6), 1_710_000_000_000_000)  # 2024-03-09T16:00:00Z
    one = plans.values([plans.INT], [(1,)])
    subquery = ScalarSubquery(input=plans.project(one, moment))
    month = plans.lit(IntervalYear(), 1)
    later = plans.call("add", subquery, month, plans.text("America/New_York"))
    ((found,),) = plans.rows(spark, plans.project(one, later))
    # clocks were put forward on 10 March: 11:00 in New York is 15:00 in UTC
    assert found == datetime.datetime(2024, 4, 9, 15, tzinfo=datetime.timezone.utc)
