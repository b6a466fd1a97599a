"""Frames and partitions. Spec: expressions/window_functions, relations/physical_relations."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark_substrait.analysis.validation.rules.orders import repeated
from pyspark_substrait.codes import Code, Level
from pyspark_substrait.model.expressions import (
    Bound,
    BoundsType,
    CurrentRow,
    Expression,
    Following,
    Preceding,
    WindowFunction,
)
from pyspark_substrait.model.findings import Finding
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.relations import ConsistentPartitionWindow, WindowRelFunction
from pyspark_substrait.model.repeats import repeats

__all__ = ["frame", "order", "relation"]


def relation(window: ConsistentPartitionWindow, path: Path) -> Iterator[Finding]:
    """Check for a window relation without functions, its partitions and its sorts."""
    if not window.window_functions:
        what = "the window relation has no window function"
        yield Finding.of(Code.RELATION_INVALID, path, what, fix="Add one, or leave out the relation")
    yield from _partitions(window.partition_expressions, (path, "partition_expressions"))
    yield from repeated(window.sorts, (path, "sorts"))
    if not window.sorts:
        for index, function in enumerate(window.window_functions):
            yield from _unordered(function, ((path, "window_functions"), index))


def order(call: WindowFunction, path: Path) -> Iterator[Finding]:
    """Check the partitions and the sorts of a window function."""
    place: Path = (path, "window_function")
    yield from _partitions(call.partitions, (place, "partitions"))
    yield from repeated(call.sorts, (place, "sorts"))
    if not call.sorts:
        yield from _unordered(call, place)


def _unordered(call: WindowFunction | WindowRelFunction, path: Path) -> Iterator[Finding]:
    counted = (CurrentRow, Preceding, Following)
    bounded = isinstance(call.lower_bound, counted) or isinstance(call.upper_bound, counted)
    if call.bounds_type is BoundsType.ROWS and bounded:
        what = f"the frame of `{call.function.name}` counts records, but they are in no order"
        why = "If no ordering is declared, no row order is guaranteed."
        fix = "Sort the window, or leave out its bounds"
        yield Finding.of(Code.EXPRESSION_WINDOW_BOUNDS, path, what, level=Level.WARNING, why=why, fix=fix)


def _partitions(partitions: tuple[Expression, ...], path: Path) -> Iterator[Finding]:
    first = dict(repeats(partitions))
    for index, partition in enumerate(partitions):
        if isinstance(partition, Literal):
            what = "a literal is the same for all records, so it does not partition them"
            yield Finding.of(Code.REDUNDANT_FIELD, (path, index), what, fix="Leave it out")
        elif index in first:
            what = f"partition {first[index]} is of the same expression"
            yield Finding.of(Code.REDUNDANT_FIELD, (path, index), what, fix="Leave it out")


def frame(call: WindowFunction | WindowRelFunction, path: Path) -> Iterator[Finding]:
    """Check for a frame that ends before it starts."""
    lower, upper = _distance(call.lower_bound), _distance(call.upper_bound)
    if lower is not None and upper is not None and lower > upper:
        what = f"the frame of `{call.function.name}` ends before it starts, so it is always empty"
        place = path if isinstance(call, WindowRelFunction) else (path, "window_function")
        why = "Contradictory lower and upper bounds produce an empty frame."
        fix = "Exchange the bounds"
        yield Finding.of(Code.EXPRESSION_WINDOW_BOUNDS, place, what, level=Level.WARNING, why=why, fix=fix)


def _distance(bound: Bound) -> float | None:
    """Return the offset of a bound from the current record; None where it isn't a number in the plan."""
    match bound:
        case CurrentRow():
            return 0
        case Preceding(offset=Literal(value=int() | float() as offset)):
            return -offset
        case Following(offset=Literal(value=int() | float() as offset)):
            return offset
        case _:
            return None
