"""The evaluator's window functions: the sentences of expressions/window_functions, and values worked out by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.extensions.signatures import ValueArg
from pyspark_substrait.model.expressions import (
    Bound,
    BoundsType,
    CurrentRow,
    Expression,
    Following,
    Function,
    Preceding,
    SortDirection,
    SortField,
    Unbounded,
    WindowFunction,
)
from pyspark_substrait.model.literals import DayTime
from pyspark_substrait.model.relations import ConsistentPartitionWindow, Read, WindowRelFunction
from pyspark_substrait.model.types import FP64, Date, Decimal, IntervalDay, IntervalYear, PrecisionTimestamp, Type
from tests.reference import Failure, Undetermined, evaluate
from tests.spark import plans
from tests.spark.plans import INT_, LONG, LONG_, TEXT, col, lit, long, values

ROWS, RANGE = BoundsType.ROWS, BoundsType.RANGE
ASC, DESC = SortDirection.ASC_NULLS_LAST, SortDirection.DESC_NULLS_LAST


def over(
    name: str,
    *arguments: Expression,
    sorts: tuple[SortField, ...] = (),
    partitions: tuple[Expression, ...] = (),
    frame: tuple[BoundsType | None, Bound, Bound] = (None, Unbounded(), Unbounded()),
    kind: Any = "window",
) -> WindowFunction:
    found = Registry.default().resolve(None, name, [ValueArg(argument.type) for argument in arguments], kind)
    assert found.definition is not None and found.output_type is not None
    return WindowFunction(
        function=Function(found.definition.urn, *found.definition.key.split(":")),
        arguments=arguments,
        output_type=found.output_type,
        derived_type=found.output_type,
        sorts=sorts,
        partitions=partitions,
        bounds_type=frame[0],
        lower_bound=frame[1],
        upper_bound=frame[2],
    )


def computed(source: Read, call: WindowFunction) -> list[tuple[Any, ...]]:
    return plans.ordered(evaluate(plans.plan(plans.project(source, call, keep=True)), {}).rows)


def numbers(*items: int | None) -> Read:
    return values([LONG_], [(item,) for item in items])


def sums(source: Read, direction: SortDirection, kind: BoundsType, lower: Bound, upper: Bound) -> dict[Any, Any]:
    """The sum over the frame of each number."""
    sorts = (plans.sort(col(source, 0), direction),)
    call = over("sum", col(source, 0), sorts=sorts, frame=(kind, lower, upper), kind="aggregate")
    return dict(computed(source, call))


def test_rows_before_and_after_follow_the_order() -> None:
    source = numbers(1, 2, 4)
    before = (Preceding(long(1)), CurrentRow())
    assert sums(source, ASC, ROWS, *before) == {1: 1, 2: 3, 4: 6}
    assert sums(source, DESC, ROWS, *before) == {4: 4, 2: 6, 1: 3}
    assert sums(source, ASC, ROWS, CurrentRow(), Following(long(2))) == {1: 7, 2: 6, 4: 4}


def test_ranges_move_against_the_values_of_a_descending_order() -> None:
    source = numbers(1, 2, 4)
    before = (Preceding(long(2)), CurrentRow())
    assert sums(source, ASC, RANGE, *before) == {1: 1, 2: 3, 4: 6}
    assert sums(source, DESC, RANGE, *before) == {4: 4, 2: 6, 1: 3}
    assert sums(source, DESC, RANGE, CurrentRow(), Following(long(1))) == {4: 4, 2: 3, 1: 1}


def test_frames_that_lie_apart_from_their_record() -> None:
    source = numbers(1, 4, 6)
    assert sums(source, ASC, RANGE, Preceding(long(5)), Preceding(long(2))) == {1: None, 4: 1, 6: 5}
    assert sums(source, ASC, RANGE, Following(long(2)), Following(long(3))) == {1: 4, 4: 6, 6: None}
    assert sums(source, ASC, ROWS, Preceding(long(2)), Preceding(long(1))) == {1: None, 4: 1, 6: 5}
    # an offset that evaluates to zero is the current row
    nothing = plans.call("subtract", long(1), long(1))
    assert sums(source, ASC, ROWS, Preceding(nothing), Following(nothing)) == {1: 1, 4: 4, 6: 6}
    assert sums(numbers(1, 1), ASC, RANGE, Preceding(nothing), CurrentRow()) == {1: 2}


def test_the_current_row_of_a_range_is_its_peers() -> None:
    source = numbers(1, 1, 2)
    assert sums(source, ASC, RANGE, Unbounded(), CurrentRow()) == {1: 2, 2: 4}


def test_nulls_are_peers_and_have_no_distance() -> None:
    source = numbers(None, None, 1, 2)
    call = over(
        "count",
        sorts=(plans.sort(col(source, 0), SortDirection.ASC_NULLS_FIRST),),
        frame=(RANGE, Preceding(long(5)), Following(long(5))),
        kind="aggregate",
    )
    assert computed(source, call) == [(1, 2), (2, 2), (None, 2), (None, 2)]
    unbounded = replace(call, lower_bound=Unbounded())
    assert computed(source, unbounded) == [(1, 4), (2, 4), (None, 2), (None, 2)]


def test_contradictory_bounds_are_an_empty_frame() -> None:
    source = numbers(1, 2)
    assert sums(source, ASC, ROWS, Following(long(2)), Following(long(1))) == {1: None, 2: None}
    sorts = (plans.sort(col(source, 0)),)
    empty = over("count", sorts=sorts, frame=(ROWS, Following(long(1)), Preceding(long(1))), kind="aggregate")
    assert computed(source, empty) == [(1, 0), (2, 0)]


@pytest.mark.parametrize("offset", [long(-1), long(None)])
def test_an_offset_is_neither_negative_nor_null(offset: Expression) -> None:
    with pytest.raises(Failure):
        sums(numbers(1), ASC, ROWS, Preceding(offset), CurrentRow())


@pytest.mark.parametrize(
    ("type", "items", "offset", "expected"),
    [
        (Decimal(precision=3, scale=1), ["1.0", "1.5", "2.1"], lit(Decimal(precision=3, scale=1), "0.5"), [1, 2, 1]),
        (FP64(), [1.0, 1.5, 2.25], lit(FP64(), 0.5), [1, 2, 1]),
        # a day and a half, over days in hours
        (
            PrecisionTimestamp(precision=0),
            [0, 129_600, 300_000],
            lit(IntervalDay(precision=0), DayTime(1, 43_200, 0)),
            [1, 2, 1],
        ),
        # 31 January, 28 February, 1 March 1970: a month before the last two are 28 January and 1 February
        (Date(), [30, 58, 59], lit(IntervalYear(), 1), [1, 2, 2]),
    ],
)
def test_distances_of_other_types(type: Type, items: list[Any], offset: Expression, expected: list[int]) -> None:
    source = values([type], [(item if isinstance(item, int | float) else lit(type, item),) for item in items])
    sorts = (plans.sort(col(source, 0)),)
    call = over("count", sorts=sorts, frame=(RANGE, Preceding(offset), CurrentRow()), kind="aggregate")
    assert [count for _, count in computed(source, call)] == expected


@pytest.mark.parametrize("value", [math.inf, math.nan, 0.1])
def test_boundaries_that_are_open(value: float) -> None:
    source = values([FP64()], [(value,)])
    sorts = (plans.sort(col(source, 0)),)
    frame = (RANGE, Preceding(lit(FP64(), 1e-30)), CurrentRow())
    with pytest.raises(Undetermined):
        computed(source, over("count", sorts=sorts, frame=frame, kind="aggregate"))


def test_ranks() -> None:
    source = numbers(10, 10, 20, None)
    sorts = (plans.sort(col(source, 0), ASC),)
    assert computed(source, over("rank", sorts=sorts)) == [(10, 1), (10, 1), (20, 3), (None, 4)]
    assert computed(source, over("dense_rank", sorts=sorts)) == [(10, 1), (10, 1), (20, 2), (None, 3)]
    assert computed(source, over("cume_dist", sorts=sorts)) == [(10, 0.5), (10, 0.5), (20, 0.75), (None, 1.0)]


def test_tiles_and_relative_ranks() -> None:
    source = numbers(1, 2, 3)
    sorts = (plans.sort(col(source, 0)),)
    assert computed(source, over("ntile", long(2), sorts=sorts)) == [(1, 1), (2, 1), (3, 2)]
    assert computed(source, over("ntile", long(5), sorts=sorts)) == [(1, 1), (2, 2), (3, 3)]
    assert computed(source, over("percent_rank", sorts=sorts)) == [(1, 0.0), (2, 0.5), (3, 1.0)]
    assert computed(numbers(7), over("percent_rank", sorts=sorts)) == [(7, 0.0)]
    with pytest.raises(Undetermined):
        computed(source, over("ntile", long(0), sorts=sorts))


def test_the_nth_value_of_a_frame() -> None:
    source = numbers(4, 5, 6)
    sorts, frame = (plans.sort(col(source, 0)),), (ROWS, Unbounded(), CurrentRow())
    second = over("nth_value", col(source, 0), plans.number(2), sorts=sorts, frame=frame)
    assert computed(source, second) == [(4, None), (5, 5), (6, 5)]
    with pytest.raises(Undetermined):
        computed(source, over("nth_value", col(source, 0), plans.number(0), sorts=sorts, frame=frame))


def test_partitions_and_what_stands_beside() -> None:
    source = values([TEXT, LONG], [("a", 1), ("a", 3), ("b", 2), ("a", 2)])
    sorts, partitions = (plans.sort(col(source, 1)),), (col(source, 0),)
    previous = over("lag", col(source, 1), sorts=sorts, partitions=partitions)
    assert computed(source, previous) == [("a", 1, None), ("a", 2, 1), ("a", 3, 2), ("b", 2, None)]
    first = over("first_value", col(source, 1), sorts=sorts, partitions=partitions)
    assert computed(source, first) == [("a", 1, 1), ("a", 2, 1), ("a", 3, 1), ("b", 2, 2)]


def test_what_depends_on_the_order_of_ties_is_open() -> None:
    source = values([INT_, TEXT], [(1, "a"), (1, "b"), (2, "c")])
    sorts = (plans.sort(col(source, 0)),)
    for name, arguments in (("row_number", ()), ("lead", (col(source, 1),)), ("first_value", (col(source, 1),))):
        with pytest.raises(Undetermined):
            computed(source, over(name, *arguments, sorts=sorts))
    with pytest.raises(Undetermined):
        computed(source, over("row_number"))
    assert computed(source, over("last_value", col(source, 1), sorts=sorts)) == [
        (1, "a", "c"),
        (1, "b", "c"),
        (2, "c", "c"),
    ]


def test_a_frame_of_rows_among_ties_is_open() -> None:
    source = values([LONG, LONG], [(1, 10), (1, 20), (2, 30)])
    sorts = (plans.sort(col(source, 0)),)

    def running(kind: BoundsType) -> list[tuple[Any, ...]]:
        frame = (kind, Unbounded(), CurrentRow())
        return computed(source, over("sum", col(source, 1), sorts=sorts, frame=frame, kind="aggregate"))

    assert running(RANGE) == [(1, 10, 30), (1, 20, 30), (2, 30, 60)]
    with pytest.raises(Undetermined):
        running(ROWS)
    joined = over("string_agg", plans.text("x"), plans.text(","), sorts=sorts, kind="aggregate")
    assert {found for *_, found in computed(source, joined)} == {"x,x,x"}


def test_the_window_relation_keeps_the_order() -> None:
    source = numbers(2, 1)
    call = over("row_number")
    relation = ConsistentPartitionWindow(
        input=source,
        sorts=(plans.sort(col(source, 0)),),
        window_functions=(
            WindowRelFunction(
                function=call.function, arguments=(), output_type=call.output_type, derived_type=call.derived_type
            ),
        ),
    )
    assert plans.ordered(evaluate(plans.plan(relation), {}).rows) == [(1, 1), (2, 2)]
