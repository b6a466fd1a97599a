"""Sort fields: every direction and comparison functions, in sorts, windows and aggregates."""

from __future__ import annotations

import math
import random
from functools import cmp_to_key
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import ExecutionError, InvalidPlanError, SubstraitError, UnsupportedPlanError
from pyspark_substrait.model.expressions import Expression, Function, SortDirection, SortField
from pyspark_substrait.model.relations import Fetch, Read, Relation, Sort
from pyspark_substrait.model.types import IntervalCompound, Map, Type
from tests.spark.plans import (
    BOOL_,
    INT,
    LONG_,
    REAL_,
    TEXT_,
    aggregate,
    call,
    col,
    group,
    long,
    number,
    plan,
    project,
    rows,
    sort,
    stored,
    text,
    truth,
    values,
)
from tests.spark.windowing import Key, over

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DIRECTIONS = {
    SortDirection.ASC_NULLS_FIRST: (False, False),
    SortDirection.ASC_NULLS_LAST: (False, True),
    SortDirection.DESC_NULLS_FIRST: (True, False),
    SortDirection.DESC_NULLS_LAST: (True, True),
}

ID, NUMBER, REAL, NAME, TRUTH = range(5)


def data() -> list[tuple[Any, ...]]:
    chance = random.Random(21)
    reals = (None, 0.0, -0.0, math.nan, math.inf, -math.inf, 1.5, -1.5)
    return [
        (
            identity,
            chance.choice((None, 1, 2, 3, 2**63 - 1, -(2**63))),
            chance.choice(reals),
            chance.choice((None, "", "a", "B", "b", "é", "𝄞", "\uffff")),
            chance.choice((None, True, False)),
        )
        for identity in range(40)
    ]


@pytest.fixture(scope="module")
def table() -> Read:
    return values([INT, LONG_, REAL_, TEXT_, BOOL_], data())


def by(expr: Expression, function: str) -> SortField:
    """A sort field with a comparison function."""
    found = call(function, expr, expr)
    return SortField(expr=expr, sort_kind=found.function)


def in_order(spark: SparkSession, table: Read, *fields: SortField) -> list[int]:
    relation = Sort(input=table, sorts=fields)
    return [identity for (identity,) in rows(spark, project(relation, col(relation, ID)))]


def expected(*keys: tuple[int, bool, bool]) -> list[int]:
    """The ids in the order of columns, each descending or not, with nulls last or not; ties by the id."""
    tests = [
        Key(itemgetter(place), descending, nulls_last) for place, descending, nulls_last in (*keys, (ID, False, False))
    ]

    def compare(left: Any, right: Any) -> int:
        return next((found for key in tests if (found := key.compare(key.value(left), key.value(right)))), 0)

    return [row[ID] for row in sorted(data(), key=cmp_to_key(compare))]


def test_directions(spark: SparkSession, table: Read) -> None:
    """NaN is the greatest number and 0.0 equals -0.0; text is compared by the code points of its characters."""
    identity = sort(col(table, ID))
    for direction, how in DIRECTIONS.items():
        found = in_order(spark, table, sort(col(table, REAL), direction), identity)
        assert found == expected((REAL, *how)), direction
        fields = [sort(col(table, place), direction) for place in (TRUTH, NAME, NUMBER)]
        assert in_order(spark, table, *fields, identity) == expected(
            *((place, *how) for place in (TRUTH, NAME, NUMBER))
        )
    first = sort(col(table, TRUTH), SortDirection.DESC_NULLS_LAST)
    second = sort(col(table, NUMBER), SortDirection.ASC_NULLS_LAST)
    assert in_order(spark, table, first, second, identity) == expected((TRUTH, True, True), (NUMBER, False, True))


def test_clustered_records_stand_together(spark: SparkSession, table: Read) -> None:
    for place in (NUMBER, REAL, NAME):
        relation = Sort(input=table, sorts=(sort(col(table, place), SortDirection.CLUSTERED),))
        found = [_class(value) for (value,) in rows(spark, project(relation, col(relation, place)))]
        runs = [value for position, value in enumerate(found) if position == 0 or value != found[position - 1]]
        assert len(runs) == len(set(runs)) == len({_class(row[place]) for row in data()})


def _class(value: Any) -> Any:
    """A value that equals those it is equal to in order."""
    return "NaN" if isinstance(value, float) and math.isnan(value) else value


def test_constants_order_nothing(spark: SparkSession, table: Read) -> None:
    fields = (sort(number(2)), sort(text("x")), sort(col(table, ID), SortDirection.DESC_NULLS_LAST))
    assert in_order(spark, table, *fields) == sorted((row[ID] for row in data()), reverse=True)


def test_comparison_functions(spark: SparkSession, table: Read) -> None:
    """Integers say less, equal or more, booleans whether it is less; nulls come first where the function says null."""
    identity = sort(col(table, ID))
    small = call("coalesce", call("modulus", col(table, NUMBER), long(7)), long(0))
    rests = {row[ID]: _rest(row[NUMBER] or 0, 7) for row in data()}
    assert in_order(spark, table, by(small, "subtract"), identity) == sorted(rests, key=lambda one: (rests[one], one))
    assert in_order(spark, table, by(col(table, NAME), "lt"), identity) == expected((NAME, False, False))
    assert in_order(spark, table, by(col(table, REAL), "gt"), identity) == expected((REAL, True, False))
    # true before false
    truth_ = call("coalesce", col(table, TRUTH), truth(False))
    found = in_order(spark, table, by(truth_, "and_not"), by(col(table, NUMBER), "gt"), identity)
    downwards = {one: place for place, one in enumerate(expected((NUMBER, True, False)))}
    true = {row[ID] for row in data() if row[TRUTH]}
    assert found == sorted(downwards, key=lambda one: (one not in true, downwards[one]))
    least = Fetch(input=Sort(input=table, sorts=(by(col(table, NAME), "gt"), identity)), count_expr=long(9))
    assert [row[ID] for row in rows(spark, least)] == expected((NAME, True, False))[:9]


@pytest.mark.parametrize("function", ["equal", "gte", "not_equal"])
def test_a_function_that_is_no_order(spark: SparkSession, table: Read, function: str) -> None:
    with pytest.raises(ExecutionError, match="each comes before the other"):
        in_order(spark, table, by(col(table, NAME), function))


def _rest(value: int, divisor: int) -> int:
    """What is left of a division that rounds towards zero."""
    return value % divisor if value >= 0 else -(-value % divisor)


def test_comparison_functions_elsewhere(spark: SparkSession, table: Read) -> None:
    downwards, identity = by(col(table, NUMBER), "gt"), sort(col(table, ID))
    numbered = over("row_number", sorts=[downwards, identity])
    ranked = over("rank", sorts=[downwards])
    found = sorted(rows(spark, project(table, numbered, col(table, ID), ranked)))
    order = expected((NUMBER, True, False))
    assert [row[1] for row in found] == order
    kinds = {row[ID]: row[NUMBER] for row in data()}
    ranks = [1 + next(place for place, other in enumerate(order) if kinds[other] == kinds[one]) for one in order]
    assert [row[2] for row in found] == ranks
    named = call("coalesce", col(table, NAME), text("-"))
    joined = aggregate("string_agg", named, text("|"), sorts=(downwards, identity))
    names = {row[ID]: "-" if row[NAME] is None else row[NAME] for row in data()}
    assert rows(spark, group(table, [], [joined])) == [("|".join(names[one] for one in order),)]


# what is refused -----------------------------------------------------------------------------------------------------


def fault(relation: Relation) -> SubstraitError:
    with pytest.raises(SubstraitError) as caught:
        ps.to_sql(plan(relation))
    return caught.value


def test_faults(table: Read) -> None:
    name = col(table, NAME)
    bad = Sort(input=table, sorts=(SortField(expr=name, sort_kind=call("concat", name, name).function),))
    error = fault(bad)
    assert isinstance(error, InvalidPlanError)
    assert error.path.endswith("sort.sorts[0].comparison_function_reference")
    assert "gives string" in str(error)
    lonely = Function("extension:io.substrait:functions_string", "lower", "str")
    assert isinstance(fault(Sort(input=table, sorts=(SortField(expr=name, sort_kind=lonely),))), SubstraitError)
    unknown = Function("extension:mine:things", "compare", "any_any")
    error = fault(Sort(input=table, sorts=(SortField(expr=name, sort_kind=unknown),)))
    assert isinstance(error, UnsupportedPlanError)


@pytest.mark.parametrize(
    ("type", "reason"),
    [(Map(key=INT, value=INT), "maps"), (IntervalCompound(precision=6), "has no order")],
    ids=str,
)
def test_values_without_an_order(type: Type, reason: str) -> None:
    input = stored("t", {"x": type})
    error = fault(Sort(input=input, sorts=(sort(col(input, 0)),)))
    assert isinstance(error, UnsupportedPlanError)
    assert reason in str(error)
    assert error.path.endswith("sort.sorts[0]")
