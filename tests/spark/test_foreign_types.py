"""Functions of values whose carrier means something else in Spark: those that are right run, all others are refused."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import Cast, FailureBehavior, NestedList, ScalarFunction
from pyspark_substrait.model.literals import Compound, DayTime
from pyspark_substrait.model.types import (
    UUID,
    FixedChar,
    IntervalCompound,
    IntervalDay,
    List,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Struct,
    Type,
    with_nullability,
)
from tests.spark.plans import INT, aggregate, call, col, group, plan, project, run, values
from tests.spark.typed_values import POINT, comparable, expected, made, unsigned

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CHANCE = random.Random(31)


def _ids() -> Any:
    return uuid.UUID(int=_CHANCE.choice((0, 2**127, 2**128 - 1, _CHANCE.getrandbits(128))))


def _whole(low: int, high: int) -> Callable[[], int]:
    return lambda: _CHANCE.choice((low, high, _CHANCE.randint(low, high)))


#: types with an order, and values of them
ORDERED: list[tuple[Type, Callable[[], Any]]] = [
    (PrecisionTimestamp(precision=9), _whole(-(2**63), 2**63 - 1)),
    (PrecisionTimestampTZ(precision=12), _whole(-(2**63), 2**63 - 1)),
    (PrecisionTime(precision=10), _whole(0, 86_400 * 10**10 - 1)),
    (IntervalDay(precision=9), lambda: DayTime(_CHANCE.randint(-2, 2), _CHANCE.randint(-90_000, 90_000), 0)),
    (UUID(), _ids),
    *((unsigned(f"u{bits}"), _whole(0, 2**bits - 1)) for bits in (8, 16, 32, 64)),
]
UNORDERED: list[tuple[Type, Callable[[], Any]]] = [
    (IntervalCompound(precision=3), lambda: Compound(_CHANCE.randint(0, 1), 0, 86_400 * _CHANCE.randint(0, 1), 0)),
    (IntervalCompound(precision=8), lambda: Compound(0, _CHANCE.randint(0, 1), 0, _CHANCE.randint(0, 1))),
    (POINT, lambda: (_CHANCE.choice((0.5, 1.5)), _CHANCE.choice((None, 1)))),
]


def _data(types: list[tuple[Type, Callable[[], Any]]], number_: int) -> tuple[list[Type], list[list[Any]]]:
    """Two nullable columns of each type; some rows have the same value in both."""
    rows = []
    for index in range(number_):
        row: list[Any] = []
        for _, value in types:
            x = value() if index % 7 else None
            y = x if index % 3 == 0 else value() if index % 5 else None
            row += [x, y]
        rows.append(row)
    return [with_nullability(type, True) for type, _ in types for _ in "xy"], rows


def _python(name: str, x: Any, y: Any) -> Any:
    """The meaning of a function by SQL's rules for null."""
    match name:
        case "is_null":
            return x is None
        case "is_not_distinct_from":
            return x == y
        case "coalesce":
            return y if x is None else x
        case "nullif":
            return None if x == y else x
        case "least_skip_null" | "greatest_skip_null":
            known = [value for value in (x, y) if value is not None]
            return None if not known else min(known) if name.startswith("least") else max(known)
        case _ if x is None or y is None:
            return None
        case "equal":
            return x == y
        case "not_equal":
            return x != y
        case "lt":
            return x < y
        case "gte":
            return x >= y
        case "between":
            return x <= y <= x
        case "least":
            return min(x, y)
        case "greatest":
            return max(x, y)
        case _:
            raise AssertionError(name)


_EQUALITY = ("is_null", "is_not_distinct_from", "coalesce", "nullif", "equal", "not_equal")
_ORDER = ("lt", "gte", "between", "least", "greatest", "least_skip_null", "greatest_skip_null")


def test_comparisons(spark: SparkSession) -> None:
    every = ORDERED + UNORDERED
    types, data = _data(every, 40)
    table = values(types, [[made(type, value) for type, value in zip(types, row, strict=True)] for row in data])
    calls, wanted = [], []
    for position, (type, _) in enumerate(every):
        x, y = col(table, 2 * position), col(table, 2 * position + 1)
        names = _EQUALITY + _ORDER if position < len(ORDERED) else _EQUALITY
        for name in names:
            arguments = {"is_null": (x,), "between": (y, x, x)}.get(name, (x, y))
            calls.append(call(name, *arguments))
            plain = [tuple(expected(type, value) for value in row[2 * position : 2 * position + 2]) for row in data]
            wanted.append((name, type, [_python(name, one, other) for one, other in plain]))
    found = run(spark, project(table, *calls))
    for position, (name, type, answers) in enumerate(wanted):
        assert comparable(found.column(position)) == answers, f"{name} of {type}"


def test_aggregates_and_lists(spark: SparkSession) -> None:
    types, data = _data(ORDERED, 30)
    table = values(types, [[made(type, value) for type, value in zip(types, row, strict=True)] for row in data])
    measures, wanted = [], []
    for position, (type, _) in enumerate(ORDERED):
        x = col(table, 2 * position)
        known = [expected(type, row[2 * position]) for row in data if row[2 * position] is not None]
        measures += [aggregate("count", x), aggregate("count", x, distinct=True)]
        wanted += [[len(known)], [len(set(known))]]
        if not isinstance(type, UUID):
            measures += [aggregate("min", x), aggregate("max", x)]
            wanted += [[min(known)], [max(known)]]
    found = run(spark, group(table, [], measures))
    assert [comparable(column) for column in found.columns] == wanted
    lists = []
    for type, value in ORDERED + UNORDERED:
        items = [made(type, item) for item in (value(), value(), value())]
        lists += [
            call("index_in", items[2], NestedList(values=(items[0], items[2]))),
            call("cardinality", NestedList(values=tuple(items))),
        ]
    answers = run(spark, project(values([INT], [(1,)]), *lists)).to_pylist()[0].values()
    assert list(answers)[1::2] == [3] * (len(lists) // 2)
    assert set(list(answers)[::2]) <= {0, 1}


_TIMES = values(
    [
        PrecisionTimestamp(precision=9),
        IntervalDay(precision=9),
        unsigned("u8"),
        IntervalCompound(precision=0),
        POINT,
        List(type=POINT),
        PrecisionTimestamp(precision=8),
        PrecisionTime(precision=7),
        Struct(types=(IntervalCompound(precision=0),)),
    ],
    [],
)


@pytest.mark.parametrize(
    ("name", "positions", "reason"),
    [
        ("lt", (3, 3), "interval_compound<0> has no order"),
        ("lt", (8, 8), "has no order"),
        ("greatest", (4, 4), "u!point has no order"),
        ("between", (5, 5, 5), "has no order"),
    ],
)
def test_refused(name: str, positions: tuple[int, ...], reason: str) -> None:
    node = project(_TIMES, call(name, *(col(_TIMES, position) for position in positions)))
    with pytest.raises(UnsupportedPlanError, match=reason):
        ps.to_sql(plan(node))


def test_counts_of_different_units_are_never_compared() -> None:
    right = call("equal", col(_TIMES, 0), col(_TIMES, 0))
    wrong = ScalarFunction(
        function=right.function,
        arguments=(col(_TIMES, 0), col(_TIMES, 6)),
        output_type=right.output_type,
        derived_type=right.derived_type,
    )
    with pytest.raises(UnsupportedPlanError, match="precision_timestamp<9> is compared with another type"):
        ps.to_sql(plan(project(_TIMES, wrong)))


def test_fixedchars_compare_with_their_blanks(spark: SparkSession) -> None:
    """A fixedchar has always all its characters, so that a longer one equals a shorter one filled up with blanks."""
    table = values(
        [FixedChar(length=5), FixedChar(length=3)], [("ab", "ab"), ("ab", " ab"), ("ab   ", "ab "), ("abcde", "abc")]
    )
    long, short = col(table, 0), col(table, 1)

    def cast(type: Type, input: Any) -> Cast:
        return Cast(input=input, type=type, failure_behavior=FailureBehavior.THROW_EXCEPTION)

    text = String()
    found = run(
        spark,
        project(
            table,
            call("equal", long, cast(FixedChar(length=5), short)),
            call("lt", long, cast(FixedChar(length=5), short)),
            call("equal", cast(text, long), cast(text, short)),
        ),
    )
    assert [column.to_pylist() for column in found.columns] == [
        [True, False, True, False],
        [False, False, False, False],
        [False, False, False, False],
    ]
