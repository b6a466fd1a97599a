"""Window functions: partitions, orders and frames. Spec: expressions/window_functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from pyspark_substrait.model.expressions import (
    AggregationPhase,
    Bound,
    BoundsType,
    CurrentRow,
    Expression,
    Following,
    Preceding,
    SortDirection,
    SortField,
    Unbounded,
    WindowFunction,
)
from pyspark_substrait.model.relations import WindowRelFunction
from pyspark_substrait.model.types import Date, IntervalDay, IntervalYear, Type, concrete, same_type
from tests.reference.aggregates import aggregate, call_of, is_aggregate, is_ordered
from tests.reference.casts import as_declared
from tests.reference.errors import Failure, NotCovered, Undetermined
from tests.reference.expressions import evaluate
from tests.reference.functions.datetimes import shifted
from tests.reference.functions.registry import EXTENSION
from tests.reference.orders import compare_by, same_in_all_orders, sort_runs
from tests.reference.scope import Scope
from tests.reference.values import Value, identity, in_range, padded

__all__ = ["window_values"]

AnyCall = WindowFunction | WindowRelFunction


@dataclass(frozen=True)
class _Partition:
    """The records of a partition in one order, and which of them are equal by the sorts.

    ``peers`` are the first and the last position of the records equal to the one at a position.
    """

    function: AnyCall
    sorts: Sequence[SortField]
    order: Sequence[Scope]
    peers: Sequence[tuple[int, int]]
    #: the values of an aggregate function over the frames that were computed already
    frames: dict[tuple[int, int], Value] = field(default_factory=dict)


def window_values(
    function: AnyCall, partitions: Sequence[Expression], sorts: Sequence[SortField], scopes: Sequence[Scope]
) -> list[Value]:
    """The value of the function for each record, in the order of the scopes."""
    if function.phase is not AggregationPhase.INITIAL_TO_RESULT:
        raise NotCovered("a window function in phases")
    groups: dict[object, list[int]] = {}
    for position, scope in enumerate(scopes):
        keys = tuple(evaluate(expression, scope) for expression in partitions)
        groups.setdefault(identity(keys, scope.choices), []).append(position)
    values: dict[int, Value] = {}
    for group in groups.values():
        runs = sort_runs(group, sorts, lambda position: scopes[position])
        if any(field.sort_kind is SortDirection.CLUSTERED for field in sorts):
            raise NotCovered("a window over clustered records")
        peers: list[tuple[int, int]] = []
        for run in runs:
            peers += [(len(peers), len(peers) + len(run) - 1)] * len(run)

        def computed(order: list[int], peers: list[tuple[int, int]] = peers) -> list[tuple[int, Value]]:
            partition = _Partition(function, sorts, [scopes[position] for position in order], peers)
            return sorted((position, _value(partition, at)) for at, position in enumerate(order))

        if _sees_peers_only(function):
            values.update(computed([position for run in runs for position in run]))
        else:
            values.update(same_in_all_orders(runs, computed, function.function.name))
    return [values[position] for position in range(len(scopes))]


def _sees_peers_only(function: AnyCall) -> bool:
    """Whether the order of records that are equal by the sorts cannot matter; there is only one to try then."""
    if is_aggregate(function):
        whole = isinstance(function.lower_bound, Unbounded) and isinstance(function.upper_bound, Unbounded)
        return not is_ordered(function) and (whole or function.bounds_type is BoundsType.RANGE)
    return function.function.name in ("rank", "dense_rank", "percent_rank", "cume_dist")


def _value(partition: _Partition, at: int) -> Value:
    function = partition.function
    if is_aggregate(function):
        frame = first, last = _frame(partition, at)
        if frame not in partition.frames:
            members = partition.order[first : max(last + 1, 0)]
            value = aggregate(function, members, partition.sorts, partition.order[at], given_order=True)
            partition.frames[frame] = value
        return partition.frames[frame]
    name = function.function.name
    if function.function.urn != f"{EXTENSION}functions_arithmetic" or name not in _FUNCTIONS:
        raise NotCovered(f"window function {function.function.urn.removeprefix(EXTENSION)}.{name}")
    value = padded(_FUNCTIONS[name](partition, at), function.derived_type)
    return as_declared(value, function.derived_type, function.output_type, partition.order[at].choices)


# functions -----------------------------------------------------------------------------------------------------------


def _argument(partition: _Partition, position: int, at: int) -> Value:
    """The value of an argument for the record at a place."""
    return evaluate(partition.function.arguments[position], partition.order[at])  # type: ignore[arg-type]


def _row_number(partition: _Partition, at: int) -> Value:
    return at + 1


def _rank(partition: _Partition, at: int) -> Value:
    return partition.peers[at][0] + 1


def _dense_rank(partition: _Partition, at: int) -> Value:
    return len({first for first, _ in partition.peers[: at + 1]})


def _percent_rank(partition: _Partition, at: int) -> Value:
    count = len(partition.order)
    return 0.0 if count == 1 else partition.peers[at][0] / (count - 1)


def _cume_dist(partition: _Partition, at: int) -> Value:
    return (partition.peers[at][1] + 1) / len(partition.order)


def _ntile(partition: _Partition, at: int) -> Value:
    tiles = _argument(partition, 0, at)
    if tiles is None or tiles < 1:
        raise Undetermined("ntile: a number of tiles that isn't positive")
    # the first tiles have one record more, as in SQL
    size, larger = divmod(len(partition.order), tiles)
    border = larger * (size + 1)
    return at // (size + 1) + 1 if at < border else larger + (at - border) // size + 1


def _first_value(partition: _Partition, at: int) -> Value:
    return _at_place(partition, at, lambda first, last: first)


def _last_value(partition: _Partition, at: int) -> Value:
    return _at_place(partition, at, lambda first, last: last)


def _at_place(partition: _Partition, at: int, place: Callable[[int, int], int]) -> Value:
    first, last = _frame(partition, at)
    if first > last:
        raise Undetermined(f"{partition.function.function.name} of an empty frame")
    return _argument(partition, 0, place(first, last))


def _nth_value(partition: _Partition, at: int) -> Value:
    number = _argument(partition, 1, at)
    if number is None or number < 1:
        options = call_of(partition.function, partition.order[at]).options
        if options.get("on_domain_error") == "ERROR":
            raise Failure("nth_value: an offset that isn't positive")
        raise Undetermined("nth_value: an offset that isn't positive")
    first, last = _frame(partition, at)
    return _argument(partition, 0, first + number - 1) if first + number - 1 <= last else None


def _beside(partition: _Partition, at: int, sign: int) -> Value:
    """The value of the record so many places behind; the default beyond the partition."""
    arguments = partition.function.arguments
    offset = _argument(partition, 1, at) if len(arguments) > 1 else 1
    if offset is None:
        return None
    if offset == 0:
        return _argument(partition, 0, at)
    place = at + sign * offset
    if 0 <= place < len(partition.order):
        first, last = _frame(partition, at)
        if not first <= place <= last:
            raise Undetermined(f"{partition.function.function.name} of a record outside the frame")
        return _argument(partition, 0, place)
    return _argument(partition, 2, at) if len(arguments) > 2 else None


def _lead(partition: _Partition, at: int) -> Value:
    return _beside(partition, at, 1)


def _lag(partition: _Partition, at: int) -> Value:
    return _beside(partition, at, -1)


_FUNCTIONS: Final[dict[str, Callable[[_Partition, int], Value]]] = {
    "row_number": _row_number,
    "rank": _rank,
    "dense_rank": _dense_rank,
    "percent_rank": _percent_rank,
    "cume_dist": _cume_dist,
    "ntile": _ntile,
    "first_value": _first_value,
    "last_value": _last_value,
    "nth_value": _nth_value,
    "lead": _lead,
    "lag": _lag,
}


# frames --------------------------------------------------------------------------------------------------------------


def _frame(partition: _Partition, at: int) -> tuple[int, int]:
    """The first and the last place of the frame; it is empty if they are the wrong way around."""
    function, last = partition.function, len(partition.order) - 1
    return max(_place(partition, at, function.lower_bound, True), 0), min(
        _place(partition, at, function.upper_bound, False), last
    )


def _place(partition: _Partition, at: int, bound: Bound, lower: bool) -> int:
    """The place that a bound means, which may be outside the partition."""
    if isinstance(bound, Unbounded):
        return 0 if lower else len(partition.order) - 1
    match partition.function.bounds_type:
        case BoundsType.ROWS:
            if isinstance(bound, CurrentRow):
                return at
            distance = int(_distance(partition, at, bound))
            return at - distance if isinstance(bound, Preceding) else at + distance
        case BoundsType.RANGE:
            if isinstance(bound, CurrentRow):
                return partition.peers[at][0 if lower else 1]
            return _range_place(partition, at, bound, lower)
        case None:
            raise Failure("bounds without a type")


def _distance(partition: _Partition, at: int, bound: Preceding | Following) -> Value:
    value = evaluate(bound.offset, partition.order[at])
    if value is None or value < 0:
        raise Failure(f"the offset {value} of a frame")
    return value


def _range_place(partition: _Partition, at: int, bound: Preceding | Following, lower: bool) -> int:
    """The place of the first record not before the boundary value, or of the last one not behind it."""
    if len(partition.sorts) != 1:
        raise Failure("a range of values without exactly one sort field")
    (sort,) = partition.sorts
    direction = sort.sort_kind
    assert isinstance(direction, SortDirection)
    keys = [evaluate(sort.expr, scope) for scope in partition.order]
    distance = _distance(partition, at, bound)
    if keys[at] is None:
        return partition.peers[at][0 if lower else 1]
    up = direction in (SortDirection.ASC_NULLS_FIRST, SortDirection.ASC_NULLS_LAST)
    sign = 1 if isinstance(bound, Following) is up else -1
    boundary = _moved(keys[at], sort.expr.type, sign, distance, bound.offset.type)
    choices = partition.order[at].choices
    if lower:
        places = [place for place, key in enumerate(keys) if compare_by(direction, key, boundary, choices) >= 0]
        return min(places, default=len(keys))
    places = [place for place, key in enumerate(keys) if compare_by(direction, key, boundary, choices) <= 0]
    return max(places, default=-1)


def _moved(value: Value, type: Type, sign: int, distance: Value, by: Type) -> Value:
    """The value so far away."""
    if isinstance(concrete(by), IntervalDay | IntervalYear):
        if isinstance(concrete(type), Date) and not isinstance(concrete(by), IntervalYear):
            raise NotCovered("a range of dates by an interval of days")
        moved = shifted(value, type, sign * distance, by, type)
        if moved is None:
            raise Undetermined("a day that the month doesn't have")
        return moved
    if not same_type(type, by):
        raise NotCovered(f"a range of {type} by {by}")
    if isinstance(value, float):
        if not (math.isfinite(value) and math.isfinite(distance) and math.isfinite(value + sign * distance)):
            raise Undetermined("a boundary that is no finite number")
        boundary = value + sign * distance
        if Fraction(boundary) != Fraction(value) + sign * Fraction(distance):
            raise Undetermined("the last digit of a boundary")
        return boundary
    moved = value + sign * distance
    if not in_range(moved, type):
        raise Undetermined("a boundary outside its type")
    return moved
