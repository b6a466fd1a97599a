"""Frames of windows: every kind of bound against the specification's words, evaluated record by record in Python."""

from __future__ import annotations

import calendar
import decimal
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import ExecutionError, InvalidPlanError
from pyspark_substrait.model.expressions import (
    Bound,
    BoundsType,
    Cast,
    Expression,
    FailureBehavior,
    SortDirection,
    SortField,
)
from pyspark_substrait.model.literals import DayTime
from pyspark_substrait.model.relations import Read
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    Date,
    Decimal,
    IntervalDay,
    IntervalYear,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    Type,
    with_nullability,
)
from tests.spark.plans import (
    INT,
    LONG,
    LONG_,
    REAL,
    REAL_,
    TEXT_,
    answers,
    call,
    col,
    lit,
    long,
    number,
    plan,
    project,
    rows,
    sort,
    values,
)
from tests.spark.windowing import (
    CURRENT,
    HERE,
    RANGE,
    ROWS,
    UNBOUNDED,
    Bounds,
    Edge,
    Key,
    Row,
    Window,
    after,
    before,
    known,
    over,
    total,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.sweep

ASC_FIRST, ASC_LAST = SortDirection.ASC_NULLS_FIRST, SortDirection.ASC_NULLS_LAST
DESC_FIRST, DESC_LAST = SortDirection.DESC_NULLS_FIRST, SortDirection.DESC_NULLS_LAST
DIRECTIONS = (ASC_FIRST, ASC_LAST, DESC_FIRST, DESC_LAST)

ID, PART, KEY, X, OFFSET = range(5)


def data(seed: int, count: int = 40) -> list[Row]:
    """Records with an id, and with many ties and nulls in the rest but the offset."""
    chance = random.Random(seed)

    def some(*choices: Any) -> Any:
        return chance.choice((None, *choices))

    return [
        (number, some("a", "b"), some(*range(9), 5, 5), some(*range(-4, 10)), chance.randint(0, 3))
        for number in range(count)
    ]


def table(records: Sequence[Row]) -> Read:
    return values([INT, TEXT_, LONG_, LONG_, LONG], records)


def of(position: int) -> Callable[[Row], Any]:
    return lambda row: row[position]


def order(position: int, direction: SortDirection) -> Key:
    return Key(of(position), direction.name.startswith("DESC"), direction.name.endswith("LAST"))


@dataclass(frozen=True)
class Case:
    """Bounds and sorts, as the plan and as the evaluator have them."""

    bounds: tuple[BoundsType, Bound, Bound]
    sorts: Sequence[SortField]
    window: Window


def checked(spark: SparkSession, input: Read, records: Sequence[Row], cases: Sequence[Case], *, at_once: int) -> None:
    """Compare sum(x), count(*) and the ends of the frame of every record in every case; some cases make one plan."""
    chunks = [cases[start : start + at_once] for start in range(0, len(cases), at_once)]
    plans = [
        project(input, col(input, ID), *(call for case in chunk for call in measured(input, case))) for chunk in chunks
    ]
    for found, chunk in zip(answers(spark, plans), chunks, strict=True):
        by_id = {row[0]: row[1:] for row in found}
        assert len(by_id) == len(found) == len(records)
        for place, case in enumerate(chunk):
            width = len(measured(input, case))
            got = {row: by_id[row[ID]][place * width : (place + 1) * width] for row in records}
            expected = {row: folded(frame, case) for row, frame in case.window.frames(records).items()}
            assert got == expected, case


def measured(input: Read, case: Case) -> list[Expression]:
    window: dict[str, Any] = {"partitions": [col(input, PART)], "sorts": case.sorts, "bounds": case.bounds}
    ends = ("first_value", "last_value") if case.bounds[0] is ROWS else ("max",)
    calls = [over("sum", col(input, X), **window), over("count", **window)]
    return [*calls, *(over(name, col(input, ID), **window) for name in ends)]


def folded(frame: Sequence[Row], case: Case) -> Row:
    """The same of a frame; in a range there are ties, so that its ends say nothing."""
    ids = [row[ID] for row in frame]
    ends: tuple[Any, ...] = (ids[0], ids[-1]) if ids else (None, None)
    if case.bounds[0] is RANGE:
        ends = (max(ids, default=None),)
    return (total(known(frame, of(X))), len(frame), *ends)


def edges(input: Read, *, computed: bool) -> list[tuple[Bound, Edge]]:
    """Bounds on both sides, as the plan and as the evaluator has them."""
    if computed:
        field = col(input, OFFSET)
        one_more = call("add", field, long(1))
        return [
            (before(field), (-1, of(OFFSET))),
            (after(field), (1, of(OFFSET))),
            (before(one_more), (-1, lambda row: row[OFFSET] + 1)),
        ]
    return [
        (before(long(2)), (-1, lambda row: 2)),
        (before(long(1)), (-1, lambda row: 1)),
        (CURRENT, HERE),
        (after(long(1)), (1, lambda row: 1)),
        (after(long(2)), (1, lambda row: 2)),
    ]


def test_rows_between_constant_bounds(spark: SparkSession) -> None:
    """All pairs, contradictory ones included; by the id, no two records are equal in order."""
    records = data(1)
    input = table(records)
    fixed = edges(input, computed=False)
    cases = []
    for direction in (ASC_FIRST, DESC_LAST):
        sorts = [sort(col(input, KEY), direction), sort(col(input, ID))]
        keys = (order(KEY, direction), order(ID, ASC_FIRST))
        for lower, low in ((UNBOUNDED, None), *fixed):
            for upper, high in (*fixed, (UNBOUNDED, None)):
                cases.append(Case((ROWS, lower, upper), sorts, Window(ROWS, low, high, keys, of(PART))))
    checked(spark, input, records, cases, at_once=36)


def test_rows_between_bounds_of_each_record(spark: SparkSession) -> None:
    records = data(2, 25)
    input = table(records)
    fixed, own = edges(input, computed=False), edges(input, computed=True)
    pairs = [
        (own[0], fixed[2]),
        (own[1], (UNBOUNDED, None)),
        ((UNBOUNDED, None), own[0]),
        (own[1], fixed[3]),  # empty for some records
        (own[2], own[0]),
    ]
    cases: list[Case] = []
    for (lower, low), (upper, high) in pairs:
        direction = DIRECTIONS[len(cases) % 4]
        sorts = [sort(col(input, KEY), direction), sort(col(input, ID))]
        window = Window(ROWS, low, high, (order(KEY, direction), order(ID, ASC_FIRST)), of(PART))
        cases.append(Case((ROWS, lower, upper), sorts, window))
    checked(spark, input, records, cases, at_once=2)


def test_ranges_between_constant_bounds(spark: SparkSession) -> None:
    """All pairs over a key with ties and nulls; with an offset, the frame of a null key is that of its peers."""
    records = data(3)
    input = table(records)
    fixed = edges(input, computed=False)
    cases = []
    for direction in DIRECTIONS:
        sorts = [sort(col(input, KEY), direction)]
        for lower, low in ((UNBOUNDED, None), *fixed):
            for upper, high in (*fixed, (UNBOUNDED, None)):
                window = Window(RANGE, low, high, (order(KEY, direction),), of(PART))
                cases.append(Case((RANGE, lower, upper), sorts, window))
    checked(spark, input, records, cases, at_once=36)


def test_ranges_between_bounds_of_each_record(spark: SparkSession) -> None:
    records = data(4, 25)
    input = table(records)
    fixed, own = edges(input, computed=False), edges(input, computed=True)
    pairs = [
        (own[0], fixed[2]),
        (own[0], own[1]),
        (own[1], (UNBOUNDED, None)),
        ((UNBOUNDED, None), own[0]),
        (own[1], fixed[3]),
        (fixed[0], own[2]),
        (fixed[2], own[1]),
        ((UNBOUNDED, None), own[1]),
    ]
    cases: list[Case] = []
    for (lower, low), (upper, high) in pairs:
        direction = DIRECTIONS[len(cases) % 4]
        window = Window(RANGE, low, high, (order(KEY, direction),), of(PART))
        cases.append(Case((RANGE, lower, upper), [sort(col(input, KEY), direction)], window))
    checked(spark, input, records, cases, at_once=2)


def test_ranges_of_peers_by_several_keys(spark: SparkSession) -> None:
    records = data(5)
    input = table(records)
    keys = (order(KEY, DESC_LAST), order(OFFSET, ASC_FIRST))
    sorts = [sort(col(input, KEY), DESC_LAST), sort(col(input, OFFSET))]
    cases = [
        Case((RANGE, lower, upper), sorts, Window(RANGE, low, high, keys, of(PART)))
        for lower, low, upper, high in (
            (UNBOUNDED, None, CURRENT, HERE),
            (CURRENT, HERE, CURRENT, HERE),
            (CURRENT, HERE, UNBOUNDED, None),
        )
    ]
    # without sorts, all records are peers
    cases.append(Case((RANGE, CURRENT, CURRENT), [], Window(RANGE, HERE, HERE, (), of(PART))))
    checked(spark, input, records, cases, at_once=4)


# types ---------------------------------------------------------------------------------------------------------------


def months(micros: int, count: int) -> int:
    """A time some months later, at the last day of a month that is too short; in microseconds since 1970."""
    then = EPOCH + timedelta(microseconds=micros)
    month = then.year * 12 + then.month - 1 + count
    year, month = month // 12, month % 12 + 1
    day = min(then.day, calendar.monthrange(year, month)[1])
    return (then.replace(year=year, month=month, day=day) - EPOCH) // timedelta(microseconds=1)


EPOCH = datetime(1970, 1, 1)
DAY = 86_400_000_000


def instant(text: str) -> int:
    return (datetime.fromisoformat(text) - EPOCH) // timedelta(microseconds=1)


@dataclass(frozen=True)
class Typed:
    """Keys and an offset of some types, as literals have them, and as numbers for the evaluator."""

    type: Type
    keys: Sequence[Any]
    offset_type: Type
    offset: Any
    number: Callable[[Any], Any] = lambda value: value
    distance: Callable[[Any], Any] = lambda value: value
    plus: Callable[[Any, Any], Any] = lambda value, offset: value + offset


_DAYS = [instant(text) // DAY for text in ("2024-01-29", "2024-01-31", "2024-02-29", "2024-03-01", "2023-02-28")]
_TIMES = [
    instant(text)
    for text in ("2024-03-30T02:30", "2024-03-31T01:59", "2024-03-31T02:30", "2024-04-01T02:00", "2024-02-29T23:00")
]


def _interval(value: DayTime) -> int:
    return value.days * DAY + value.seconds * 1_000_000 + value.subseconds


_A_DAY = DayTime(1, 0, 0)
TYPED = [
    Typed(I8(), [-128, -127, 0, 100, 127, 127], I32(), 200),
    Typed(I16(), [-32768, 5, 32767, 7], I16(), 2),
    Typed(I32(), [-(2**31), 2**31 - 1, 0, 1], I64(), 2**40),
    Typed(I64(), [1, 2, 2, 4, -(2**62)], I8(), 1),
    Typed(FP64(), [0.0, -0.0, 0.25, math.inf, -math.inf, math.nan, math.nan, 1e300], FP64(), 0.25),
    Typed(FP32(), [0.0, 1.5, 3.0, math.nan], FP32(), 1.5),
    Typed(FP32(), [0.0, 1.5, 3.0, math.inf], FP64(), 1.5),
    Typed(Decimal(precision=10, scale=2), ["1.00", "1.25", "1.26", "-3.00"], Decimal(precision=3, scale=1), "0.2"),
    Typed(Decimal(precision=38, scale=10), ["1.0000000001", "1", "2", "0"], Decimal(precision=38, scale=10), "1"),
    Typed(Decimal(precision=4, scale=1), ["1.0", "2.0", "2.5", "999.9"], I64(), 1),
    Typed(Date(), _DAYS, IntervalDay(precision=6), DayTime(1, 43200, 0), lambda days: days * DAY, _interval),
    Typed(Date(), _DAYS, IntervalYear(), 1, lambda days: days * DAY, plus=months),
    Typed(PrecisionTimestamp(precision=6), _TIMES, IntervalDay(precision=6), _A_DAY, distance=_interval),
    Typed(PrecisionTimestamp(precision=6), _TIMES, IntervalYear(), 1, plus=months),
    Typed(PrecisionTimestampTZ(precision=6), _TIMES, IntervalDay(precision=6), _A_DAY, distance=_interval),
    Typed(PrecisionTimestampTZ(precision=6), _TIMES, IntervalYear(), 1, plus=months),
    Typed(
        PrecisionTimestamp(precision=9),
        [1, 1000, 1001, 2001, 2002],
        IntervalDay(precision=6),
        DayTime(0, 0, 1),
        distance=lambda value: _interval(value) * 1000,
    ),
    Typed(
        PrecisionTimestamp(precision=6),
        [1, 2, 3, 5],
        IntervalDay(precision=9),
        DayTime(0, 0, 1500),
        number=lambda value: value * 1000,
        distance=lambda value: value.subseconds,
    ),
    Typed(IntervalYear(), [0, 1, 12, 13, -5], IntervalYear(), 1),
    Typed(
        IntervalDay(precision=6),
        [DayTime(0, 0, 0), DayTime(1, 0, 0), DayTime(1, 0, 1), DayTime(-2, 0, 0)],
        IntervalDay(precision=6),
        _A_DAY,
        _interval,
        _interval,
    ),
]


def _plain(value: Any) -> Any:
    return decimal.Decimal(value) if isinstance(value, str) else value


def test_ranges_over_every_type_that_has_distances(spark: SparkSession) -> None:
    """With a constant offset, and the same from a column; behind in ascending order, ahead in descending order."""
    plans = []
    for typed in TYPED:
        nullable, own = with_nullability(typed.type, True), typed.offset_type
        records = [(number, key, typed.offset) for number, key in enumerate([*typed.keys, None])]
        input = values([INT, nullable, own], [(lit(INT, n), lit(nullable, key), lit(own, o)) for n, key, o in records])
        calls = []
        for offset in (lit(own, typed.offset), col(input, 2)):
            back, around = (RANGE, before(offset), CURRENT), (RANGE, before(offset), after(offset))
            calls += [
                over("count", sorts=[sort(col(input, 1), ASC_LAST)], bounds=back),
                over("count", sorts=[sort(col(input, 1), DESC_FIRST)], bounds=around),
            ]
        plans.append(project(input, col(input, 0), *calls))
    for found, typed in zip(answers(spark, plans), TYPED, strict=True):
        keys = [typed.number(_plain(key)) for key in typed.keys] + [None]
        numbered = list(enumerate(keys))
        plus, distance = typed.plus, typed.distance(_plain(typed.offset))
        edge = [(sign, lambda row, distance=distance: distance) for sign in (-1, 1)]

        def minus(value: Any, offset: Any, plus: Any = plus) -> Any:
            return plus(value, -offset)

        windows = [
            Window(RANGE, edge[0], HERE, (Key(of(1), False, True),), plus=plus, minus=minus),
            Window(RANGE, edge[0], edge[1], (Key(of(1), True, False),), plus=plus, minus=minus),
        ] * 2
        # a record is itself, not what it equals: NaN equals nothing
        expected = [[len(window.frames(numbered)[row]) for window in windows] for row in numbered]
        assert [list(row[1:]) for row in sorted(found)] == expected, typed


def test_offsets_that_are_no_distance(spark: SparkSession) -> None:
    input = values([INT, LONG_, REAL_], [(1, 1, 1.0), (2, -1, None), (3, None, -0.5)])
    bad: dict[str, Bounds] = {
        "negative": (ROWS, before(call("negate", lit(LONG, 1))), CURRENT),
        "column": (ROWS, CURRENT, after(col(input, 1))),
    }
    for bounds in bad.values():
        with pytest.raises(ExecutionError, match="null or negative"):
            rows(spark, project(input, over("count", sorts=[sort(col(input, 0))], bounds=bounds)))
    bounds = (RANGE, before(col(input, 2)), CURRENT)
    with pytest.raises(ExecutionError, match="null or negative"):
        rows(spark, project(input, over("count", sorts=[sort(col(input, 2))], bounds=bounds)))


# what means nothing --------------------------------------------------------------------------------------------------


def fault(calls: Callable[[Read], Expression]) -> InvalidPlanError:
    input = values([INT, LONG_, REAL, LONG], [(1, 1, 1.0, 1)])
    with pytest.raises(InvalidPlanError) as caught:
        ps.to_sql(plan(project(input, calls(input))))
    return caught.value


def test_bounds_that_mean_nothing() -> None:
    def counted(bounds: Any, *positions: int) -> Callable[[Read], Expression]:
        return lambda input: over("count", sorts=[sort(col(input, position)) for position in positions], bounds=bounds)

    offset = "window_function.lower_bound.preceding.offset_expr"
    one = before(long(1))
    assert fault(counted((None, one, CURRENT), 1)).path.endswith("window_function.bounds_type")
    assert fault(counted((ROWS, before(long(-1)), CURRENT), 1)).path.endswith(offset)
    assert "null" in str(fault(counted((ROWS, before(long(None)), CURRENT), 1)))
    assert "i64" in str(fault(counted((ROWS, before(number(1)), CURRENT), 1)))
    assert fault(counted((RANGE, one, CURRENT))).path.endswith("window_function.sorts")
    assert fault(counted((RANGE, one, CURRENT), 1, 2)).path.endswith("window_function.sorts")
    assert "cannot be added" in str(fault(counted((RANGE, before(lit(REAL, 0.5)), CURRENT), 1)))
    assert "negative" in str(fault(counted((RANGE, before(lit(REAL, math.nan)), CURRENT), 2)))
    nested = before(over("row_number"))
    assert fault(counted((ROWS, nested, CURRENT), 1)).path.endswith(offset)

    def clustered(input: Read) -> Expression:
        return over("count", sorts=[sort(col(input, 1), SortDirection.CLUSTERED)], bounds=(RANGE, one, CURRENT))

    assert "clustered" in str(fault(clustered))


def test_a_constant_in_a_cast_is_one() -> None:
    """Producers cast the number they have to the i64 that is wanted."""
    input = values([INT], [(1,)])
    offset = Cast(type=LONG, input=number(3), failure_behavior=FailureBehavior.THROW_EXCEPTION)
    text = ps.to_sql(
        plan(project(input, over("count", sorts=[sort(col(input, 0))], bounds=(ROWS, before(offset), CURRENT)))),
        formatted=False,
    )
    assert "ROWS BETWEEN 3 PRECEDING AND CURRENT ROW" in text


def test_distances_beyond_every_partition() -> None:
    input = values([INT], [(1,)])

    def text(lower: Bound, upper: Bound) -> str:
        counted = over("count", sorts=[sort(col(input, 0))], bounds=(ROWS, lower, upper))
        return ps.to_sql(plan(project(input, counted)), formatted=False)

    far = long(2**63 - 1)
    assert "UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING" in text(before(far), after(far))
    assert "CASE WHEN false" in text(after(far), UNBOUNDED)
