"""The frames of windows as Spark SQL.

Spark supports frames with constant bounds, and not all of those: it lacks bounds that contradict each other, bounds
that differ from record to record, and months on one side with days on the other. For these, the records of the frame
are cut from the list of the partition's records.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from typing_extensions import assert_never

from pyspark_substrait.errors import InvalidPlanError, at
from pyspark_substrait.model.expressions import (
    Bound,
    BoundsType,
    Cast,
    CurrentRow,
    DetachedExpression,
    DynamicParameter,
    Expression,
    Following,
    Preceding,
    SortDirection,
    SortField,
    Unbounded,
    WindowFunction,
)
from pyspark_substrait.model.literals import DayTime, Literal
from pyspark_substrait.model.types import I64, IntervalDay, Type, concrete
from pyspark_substrait.model.walk import holds_window
from pyspark_substrait.sql.compiler import expressions
from pyspark_substrait.sql.compiler.distances import Measure, distances
from pyspark_substrait.sql.compiler.lifted_columns import Below
from pyspark_substrait.sql.compiler.literals import string_literal
from pyspark_substrait.sql.compiler.scope import Compilation, Scope
from pyspark_substrait.sql.compiler.types import INTEGERS
from pyspark_substrait.sql.functions.over import Over, SortKey

__all__ = ["Empty", "Frame", "PeersOfNull", "frame"]


@dataclass(frozen=True, slots=True)
class Empty:
    """The frame of every record is empty."""


@dataclass(frozen=True, slots=True)
class PeersOfNull:
    """The frame of a record with a null sort key consists of all such records; every other frame is empty.

    Args:
        key: the text of the key.
        peers: the window of the peers.
    """

    key: str
    peers: Over


Frame: TypeAlias = Over | Empty | PeersOfNull

_LARGEST = 2**31 - 1


@dataclass(frozen=True, slots=True)
class _Offset:
    """The offset of a bound.

    Args:
        text: its text.
        type: its type.
        value: its value, if known before the plan runs: a count, a number, months, or seconds.
        path: its path.
    """

    text: str
    type: Type
    value: float | Fraction | None
    path: tuple[str, str, str]

    def checked(self, text: str, type: str, zero: str) -> str:
        """Return the offset, converted to a text, with a check that raises if it isn't a distance."""
        if self.value is not None:
            return text
        failed = f"CAST(raise_error({string_literal('the offset of a window bound is null or negative')}) AS {type})"
        fault = f"{text} IS NULL OR {text} < {zero}"
        if type in ("FLOAT", "DOUBLE"):
            fault += f" OR isnan({text})"
        return f"(CASE WHEN {fault} THEN {failed} ELSE {text} END)"


@dataclass(frozen=True, slots=True)
class _Bound:
    """A bound; the sign is its direction, 0 is the current row. Without an offset, another sign means unbounded."""

    sign: int
    offset: _Offset | None = None

    @property
    def distance(self) -> float | Fraction | None:
        """The position of the bound relative to the current record; None if it differs from record to record."""
        if self.offset is None:
            return self.sign * math.inf if self.sign else 0
        return None if self.offset.value is None else self.sign * self.offset.value

    def text(self, offset: str = "UNBOUNDED") -> str:
        """Return the bound in Spark's syntax."""
        if self.sign == 0:
            return "CURRENT ROW"
        return f"{offset} {'PRECEDING' if self.sign < 0 else 'FOLLOWING'}"


def frame(
    node: WindowFunction, partition: str, keys: Sequence[SortKey], scope: Scope, below: Below, compilation: Compilation
) -> Frame:
    """The frame of a window function.

    Args:
        node: the call.
        partition: the text of PARTITION BY.
        keys: the keys of its sorts, constants included.
        scope: the scope of the offsets.
        below: collects columns that the frame needs.
        compilation: the statement being compiled.

    Raises:
        InvalidPlanError: the bounds are invalid.
        UnsupportedPlanError: Spark can't compute them.
    """
    lower = _bound(node.lower_bound, "lower_bound", -1, scope, compilation)
    upper = _bound(node.upper_bound, "upper_bound", 1, scope, compilation)
    over = Over(partition=partition, order=f"ORDER BY {', '.join(map(str, keys)) or 'NULL'}")
    if lower == _Bound(-1) and upper == _Bound(1):
        return over
    match node.bounds_type:
        case None:
            raise InvalidPlanError(
                "bounds_type is unspecified", path="bounds_type", hint="ROWS counts records, RANGE compares values"
            )
        case BoundsType.ROWS:
            return _rows(lower, upper, over, below, compilation)
        case BoundsType.RANGE if lower.offset is None and upper.offset is None:
            return replace(over, frame=f"RANGE BETWEEN {lower.text()} AND {upper.text()}")
        case BoundsType.RANGE:
            return _range(lower, upper, node.sorts, keys, over, below, compilation)
        case _:
            assert_never(node.bounds_type)


def _bound(bound: Bound, name: str, unbounded: int, scope: Scope, compilation: Compilation) -> _Bound:
    match bound:
        case Unbounded():
            return _Bound(unbounded)
        case CurrentRow():
            return _Bound(0)
        case Preceding(offset=offset) | Following(offset=offset):
            sign, kind = (-1, "preceding") if isinstance(bound, Preceding) else (1, "following")
            path = (name, kind, "offset_expr")
            with at(*path):
                if holds_window(offset):
                    raise InvalidPlanError("an offset cannot have a window function in it")
                value = _value(offset, compilation)
                if value == 0:  # the current row
                    return _Bound(0)
                text = expressions.expression(offset, scope, compilation)
            return _Bound(sign, _Offset(text, offset.type, value, path))
        case _:
            assert_never(bound)


def _value(node: Expression, compilation: Compilation) -> float | Fraction | None:
    """Return the value of an offset that is a literal; casts between integer types don't change it."""
    match node:
        case DetachedExpression(expression=inner):
            return _value(inner, compilation)
        case DynamicParameter(parameter_reference=reference) if reference in compilation.parameters:
            return _value(compilation.parameters[reference], compilation)
        case Cast(input=inner) if {concrete(node.type).__class__, concrete(inner.type).__class__} <= INTEGERS.keys():
            return _value(inner, compilation)
        case Literal(value=None):
            raise InvalidPlanError("the offset of a bound cannot be null")
        case Literal(value=value):
            distance = _number(value, concrete(node.type))
            if distance is not None and not distance >= 0:
                raise InvalidPlanError("the offset of a bound cannot be negative")
            return distance
        case _:
            return None


def _number(value: object, type: Type) -> float | Fraction | None:
    match value:
        case DayTime(days=days, seconds=seconds, subseconds=subseconds) if isinstance(type, IntervalDay):
            return Fraction(days * 86_400 + seconds) + Fraction(subseconds, 10**type.precision)
        case float():
            return Fraction(value) if math.isfinite(value) else value
        case bool():
            return None
        case int() | decimal.Decimal():
            return Fraction(value)
        case _:
            return None


# rows ----------------------------------------------------------------------------------------------------------------


def _rows(lower: _Bound, upper: _Bound, over: Over, below: Below, compilation: Compilation) -> Frame:
    for bound in (lower, upper):
        if bound.offset is not None and not isinstance(concrete(bound.offset.type), I64):
            with at(*bound.offset.path):
                raise InvalidPlanError(f"ROWS are counted by an i64, but this is {bound.offset.type}")
    first, last = lower.distance, upper.distance
    if first is None or last is None:
        return _cut_rows(lower, upper, over, below, compilation)
    if first > last or first > _LARGEST or last < -_LARGEST:
        return Empty()

    def text(bound: _Bound, distance: float | Fraction) -> str:
        return bound.text(str(abs(distance)) if -_LARGEST <= distance <= _LARGEST else "UNBOUNDED")

    return replace(over, frame=f"ROWS BETWEEN {text(lower, first)} AND {text(upper, last)}")


def _cut_rows(lower: _Bound, upper: _Bound, over: Over, below: Below, compilation: Compilation) -> Over:
    """The frame between positions that differ from record to record."""
    level = below.height
    number = below.column(f"CAST(row_number() OVER ({over.ordered}) AS BIGINT)", compilation, level)
    count = below.column(f"count(1) OVER ({over.partition})", compilation, level)

    def position(bound: _Bound, unbounded: str) -> str:
        if bound.sign == 0:
            return number
        if bound.offset is None:
            return unbounded
        distance = bound.offset.checked(bound.offset.text, "BIGINT", "0L")
        if bound.offset.value is None:
            distance = below.column(distance, compilation, level)
        return f"{number} {'-' if bound.sign < 0 else '+'} least({distance}, {count})"

    first = f"least(greatest({position(lower, '1L')}, 1L), {count} + 1L)"
    last = f"least({position(upper, count)}, {count})"
    start = below.column(f"CAST({first} AS INT)", compilation, level + 1)
    length = below.column(f"CAST(greatest({last} - {first} + 1L, 0L) AS INT)", compilation, level + 1)
    # by their numbers, records that the sorts treat as equal come in the same order again
    return Over(
        partition=over.partition,
        order=f"ORDER BY {number}",
        frame=None,
        cut=lambda records: f"slice({records}, {start}, {length})",
    )


# ranges --------------------------------------------------------------------------------------------------------------


def _range(
    lower: _Bound,
    upper: _Bound,
    sorts: Sequence[SortField],
    keys: Sequence[SortKey],
    over: Over,
    below: Below,
    compilation: Compilation,
) -> Frame:
    if len(sorts) != 1:
        raise InvalidPlanError(
            f"a RANGE bound with an offset needs one sort field, but there are {len(sorts)}", path="sorts"
        )
    if not isinstance(sorts[0].sort_kind, SortDirection) or sorts[0].sort_kind is SortDirection.CLUSTERED:
        raise InvalidPlanError(
            "a RANGE bound with an offset needs an ascending or descending order, "
            "not a clustered one nor a comparison function",
            path="sorts[0]",
        )
    offsets = [bound.offset for bound in (lower, upper) if bound.offset is not None]
    with at(*offsets[0].path):
        found = distances(sorts[0].expr.type, [offset.type for offset in offsets])
    measures = dict(zip(offsets, found.offsets, strict=True))
    key = keys[0]._replace(text=found.key.text(keys[0].text))
    first, last = lower.distance, upper.distance
    if first is None or last is None or not found.uniform:
        return _cut_range(lower, upper, measures, key, over, below, compilation)
    over = replace(over, order=f"ORDER BY {key}")
    if first > last:
        peers = replace(over, frame="RANGE BETWEEN CURRENT ROW AND CURRENT ROW")
        return PeersOfNull(keys[0].text, peers) if sorts[0].expr.type.nullable else Empty()

    def text(bound: _Bound) -> str:
        if bound.offset is None or bound.offset.value is None:
            return bound.text()
        return bound.text(measures[bound.offset].constant(bound.offset.text, bound.offset.value))

    return replace(over, frame=f"RANGE BETWEEN {text(lower)} AND {text(upper)}")


def _cut_range(
    lower: _Bound,
    upper: _Bound,
    measures: Mapping[_Offset, Measure],
    key: SortKey,
    over: Over,
    below: Below,
    compilation: Compilation,
) -> Over:
    """Return the frame between values that differ from record to record. A record without a value has no bound."""
    if not key.text.isidentifier():
        key = key._replace(text=below.column(key.text, compilation))
    level = below.height
    nulls_first, descending = key.nulls_first, key.descending
    variable = compilation.names.fresh("l")

    def boundary(bound: _Bound) -> str:
        if bound.offset is None:
            return key.text
        measure = measures[bound.offset]
        distance = bound.offset.checked(measure.text(bound.offset.text), measure.type, measure.zero)
        operator = "-" if (bound.sign < 0) is not descending else "+"
        return below.column(f"{key.text} {operator} {distance}", compilation, level)

    def within(bound: _Bound, behind: bool) -> str:
        """Return the condition that an element is after or before the bound, the bound included."""
        other, outermost = boundary(bound), "true" if behind is not nulls_first else "false"
        comparison = ">=" if behind is not descending else "<="
        of_null = outermost if outermost == "true" else f"{other} IS NULL"
        value = "false" if outermost == "true" else "true"
        return (
            f"CASE WHEN {variable}.k IS NULL THEN {of_null} WHEN {other} IS NULL THEN {value} "
            f"ELSE {variable}.k {comparison} {other} END"
        )

    conditions = []
    if lower != _Bound(-1):
        conditions.append(within(lower, True))
    if upper != _Bound(1):
        conditions.append(within(upper, False))
    condition = " AND ".join(conditions)
    return replace(
        over,
        order=f"ORDER BY {key}",
        frame=None,
        cut=lambda records: f"filter({records}, {variable} -> {condition})",
        key=key.text,
    )
