"""Fetch and sort: bounds of every kind, and the order of values and nulls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import ExecutionError, InvalidPlanError, ParameterError
from pyspark_substrait.model.expressions import (
    Cast,
    DetachedExpression,
    DynamicParameter,
    Expression,
    SortDirection,
)
from pyspark_substrait.model.plan import DynamicParameterBinding
from pyspark_substrait.model.relations import Fetch, Relation, Sort
from tests.spark.plans import (
    INT,
    INT_,
    LONG,
    REAL_,
    TEXT,
    TEXT_,
    call,
    col,
    emit,
    long,
    number,
    plan,
    project,
    rows,
    sort,
    text,
    truth,
    tuples,
    values,
    where,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NUMBERS = values([INT], [(3,), (1,), (5,), (2,), (4,)])


def fetched(offset: Expression | None, count: Expression | None, input: Relation = NUMBERS) -> Fetch:
    in_order = Sort(input=input, sorts=(sort(col(input, 0)),))
    return Fetch(input=in_order, offset_expr=offset, count_expr=count)


def firsts(spark: SparkSession, node: Relation) -> list[Any]:
    return [row[0] for row in rows(spark, node)]


def minus(one: int, other: int) -> Expression:
    return call("subtract", number(one), number(other))


BOUNDS: list[tuple[Expression | None, Expression | None, list[int]]] = [
    (None, None, [1, 2, 3, 4, 5]),
    (None, number(0), []),
    (number(0), number(2), [1, 2]),
    (long(2), None, [3, 4, 5]),
    (long(2), long(2), [3, 4]),
    (number(7), number(2), []),
    (number(None), number(None), [1, 2, 3, 4, 5]),
    (number(3), number(None), [4, 5]),
    (number(None), number(3), [1, 2, 3]),
    (None, long(2**31), [1, 2, 3, 4, 5]),
    (long(1), long(2**63 - 1), [2, 3, 4, 5]),
    (long(2**40), None, []),
    (None, minus(3, 1), [1, 2]),
    (minus(3, 1), minus(3, 2), [3]),
    (minus(3, 1), None, [3, 4, 5]),
    (None, minus(3, 3), []),
    (None, call("add", number(1), number(None)), [1, 2, 3, 4, 5]),
    (call("add", number(1), number(None)), number(2), [1, 2]),
    (None, DetachedExpression(expression=number(1)), [1]),
]


@pytest.mark.parametrize(("offset", "count", "wanted"), BOUNDS)
def test_bounds(spark: SparkSession, offset: Expression | None, count: Expression | None, wanted: list[int]) -> None:
    assert firsts(spark, fetched(offset, count)) == wanted


def test_a_parameter_as_a_bound(spark: SparkSession) -> None:
    import pyspark_substrait as ps

    node = fetched(None, DynamicParameter(type=LONG, parameter_reference=4))
    binding = DynamicParameterBinding(parameter_anchor=4, value=long(2))
    assert tuples(ps.run_query(plan(node, parameter_bindings=(binding,)), spark=spark)) == [(1,), (2,)]
    with pytest.raises(ParameterError, match="the dynamic parameter 4 has no value"):
        rows(spark, node)


def test_negative_bounds_are_errors(spark: SparkSession) -> None:
    for node, name in ((fetched(number(-1), None), "offset_expr"), (fetched(None, long(-5)), "count_expr")):
        with pytest.raises(InvalidPlanError, match="cannot be negative") as caught:
            rows(spark, node)
        assert caught.value.path == f"relations[0].root.input.fetch.{name}"
    for node in (fetched(minus(1, 2), None), fetched(None, minus(1, 2)), fetched(number(1), minus(1, 2))):
        with pytest.raises(ExecutionError, match="a bound of a fetch is negative"):
            rows(spark, node)


def test_bounds_that_are_no_numbers_are_refused(spark: SparkSession) -> None:
    with pytest.raises(InvalidPlanError, match="must be an integer"):
        rows(spark, fetched(None, text("2")))
    with pytest.raises(InvalidPlanError, match="count_expr"):
        rows(spark, fetched(None, col(NUMBERS, 0)))


def test_a_fetch_without_an_order_keeps_the_number_of_records(spark: SparkSession) -> None:
    for count in (number(2), minus(3, 1)):
        found = firsts(spark, Fetch(input=NUMBERS, offset_expr=minus(2, 1), count_expr=count))
        assert len(found) == 2 and set(found) < {1, 2, 3, 4, 5}


def test_fetches_of_fetches(spark: SparkSession) -> None:
    inner = fetched(number(1), number(3))  # 2 3 4
    assert firsts(spark, Fetch(input=inner, offset_expr=number(1))) == [3, 4]
    assert firsts(spark, Fetch(input=inner, count_expr=minus(2, 1))) == [2]
    computed = fetched(minus(2, 1), minus(4, 1))
    assert firsts(spark, Fetch(input=computed, offset_expr=number(2))) == [4]
    assert firsts(spark, Fetch(input=computed, offset_expr=minus(2, 1))) == [3, 4]
    # the order of a sort above a fetch is not that of the fetch
    backwards = sort(col(inner, 0), SortDirection.DESC_NULLS_LAST)
    assert firsts(spark, Sort(input=inner, sorts=(backwards,))) == [4, 3, 2]
    assert firsts(spark, Fetch(input=Sort(input=inner, sorts=(backwards,)), count_expr=number(1))) == [4]


def test_fetch_and_emit_and_filter(spark: SparkSession) -> None:
    table = values([INT, INT], [(1, 30), (2, 20), (3, 10)])
    by_second = Sort(input=table, sorts=(sort(col(table, 1)),), common=emit(0))
    assert firsts(spark, Fetch(input=by_second, count_expr=number(2))) == [3, 2]
    assert firsts(spark, Fetch(input=by_second, count_expr=minus(3, 1))) == [3, 2]
    limited = Fetch(input=by_second, count_expr=number(2))
    assert firsts(spark, where(limited, call("lt", col(limited, 0), number(3)))) == [2]
    filtered = where(NUMBERS, call("gt", col(NUMBERS, 0), number(2)))
    assert firsts(spark, fetched(None, number(1), filtered)) == [3]
    twice = Fetch(input=by_second, count_expr=minus(2, 1), common=emit(0, 0))
    assert rows(spark, twice) == [(3, 3)]


@pytest.mark.parametrize(
    ("direction", "wanted"),
    [
        (SortDirection.ASC_NULLS_FIRST, [None, 1, 2, 3]),
        (SortDirection.ASC_NULLS_LAST, [1, 2, 3, None]),
        (SortDirection.DESC_NULLS_FIRST, [None, 3, 2, 1]),
        (SortDirection.DESC_NULLS_LAST, [3, 2, 1, None]),
    ],
)
def test_directions(spark: SparkSession, direction: SortDirection, wanted: list[int | None]) -> None:
    table = values([INT_], [(2,), (None,), (3,), (1,)])
    assert firsts(spark, Sort(input=table, sorts=(sort(col(table, 0), direction),))) == wanted


def test_clustered_puts_equal_values_together(spark: SparkSession) -> None:
    table = values([INT_], [(2,), (None,), (3,), (2,), (None,), (3,)])
    found = firsts(spark, Sort(input=table, sorts=(sort(col(table, 0), SortDirection.CLUSTERED),)))
    assert [found[0], found[2], found[4]] == [found[1], found[3], found[5]]
    assert len(set(found)) == 3


def test_several_keys_expressions_and_constants(spark: SparkSession) -> None:
    table = values([INT, TEXT_], [(1, "b"), (2, "a"), (1, None), (2, "c"), (1, "a")])
    first, second = col(table, 0), col(table, 1)
    by_both = Sort(input=table, sorts=(sort(first, SortDirection.DESC_NULLS_FIRST), sort(second)))
    assert rows(spark, by_both) == [(2, "a"), (2, "c"), (1, None), (1, "a"), (1, "b")]
    negated = call("subtract", number(0), first)
    # a number is a constant, not the position of a column
    for constant in (
        number(2),
        Cast(type=INT, input=number(2)),
        DetachedExpression(expression=number(2)),
        call("add", number(1), number(1)),
        truth(None),
        text("x"),
    ):
        node = Sort(input=table, sorts=(sort(constant), sort(negated), sort(second, SortDirection.ASC_NULLS_LAST)))
        assert rows(spark, node) == [(2, "a"), (2, "c"), (1, "a"), (1, "b"), (1, None)]
    alone = Sort(input=table, sorts=(sort(number(2)),))
    assert sorted(rows(spark, alone), key=repr) == sorted(rows(spark, table), key=repr)


def test_floats_order_by_value_nan_last(spark: SparkSession) -> None:
    nan = float("nan")
    table = values([REAL_], [(nan,), (1.5,), (None,), (float("-inf"),), (float("inf"),)])
    node = Sort(input=table, sorts=(sort(col(table, 0), SortDirection.ASC_NULLS_LAST),))
    assert repr(firsts(spark, node)) == "[-inf, 1.5, inf, nan, None]"


def test_the_order_lasts_through_project_and_filter(spark: SparkSession) -> None:
    in_order = Sort(input=NUMBERS, sorts=(sort(col(NUMBERS, 0), SortDirection.DESC_NULLS_LAST),))
    projected = project(in_order, call("multiply", col(in_order, 0), number(10)))
    assert firsts(spark, projected) == [50, 40, 30, 20, 10]
    assert firsts(spark, where(projected, call("lt", col(projected, 0), number(40)))) == [30, 20, 10]
    assert firsts(spark, Fetch(input=projected, count_expr=number(2))) == [50, 40]
    assert firsts(spark, Fetch(input=projected, count_expr=minus(3, 1))) == [50, 40]
    # emit may drop what was sorted by
    pair = values([INT, INT], [(1, 3), (2, 2), (3, 1)])
    node = Sort(input=pair, sorts=(sort(col(pair, 1)),), common=emit(0, 0))
    assert rows(spark, node) == [(3, 3), (2, 2), (1, 1)]


@pytest.mark.parametrize("names", [("c2", "c1"), ("C2", "C3"), ("c3", "c2"), ("c4", "c5")])
def test_names_of_the_result_are_none_that_the_order_means(spark: SparkSession, names: tuple[str, str]) -> None:
    table = values((INT, TEXT), [(1, "z"), (3, "a"), (2, "y")])
    first = Fetch(
        input=Sort(input=table, sorts=(sort(col(table, 0), SortDirection.DESC_NULLS_LAST),)), count_expr=long(1)
    )
    assert tuples(ps.run_query(plan(first, names), spark=spark)) == [(3, "a")]
    assert ps.from_substrait(plan(first, names), spark).collect() == [(3, "a")]
