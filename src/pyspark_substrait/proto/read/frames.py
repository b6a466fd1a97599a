"""The bounds of windows. Spec: expressions/window_functions."""

from __future__ import annotations

import decimal
from dataclasses import replace
from typing import Any

from pyspark_substrait.codes import Code
from pyspark_substrait.model.expressions import (
    Bound,
    BoundsType,
    BrokenExpression,
    Cast,
    CurrentRow,
    Expression,
    FailureBehavior,
    Following,
    Preceding,
    SortDirection,
    SortField,
    Unbounded,
)
from pyspark_substrait.model.literals import Compound, DayTime, Literal
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    Date,
    Decimal,
    IntervalCompound,
    IntervalDay,
    IntervalYear,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    Type,
    Unbound,
    UserDefined,
    concrete,
    same_type,
)
from pyspark_substrait.model.walk import holds_window
from pyspark_substrait.proto.enums import BOUNDS_TYPE
from pyspark_substrait.proto.read import expressions, quirks
from pyspark_substrait.proto.read.context import Reading, Scope, invalid

__all__ = ["Frame", "frame"]

Frame = tuple["BoundsType | None", Bound, Bound]


def frame(message: Any, sorts: tuple[SortField, ...], scope: Scope, path: Path) -> Frame:
    """The bounds of a window function over records in the order of ``sorts``.

    Raises:
        InvalidPlanError: the bounds have no meaning for this order.
    """
    lower = _bound(message.lower_bound, scope, (path, "lower_bound"))
    upper = _bound(message.upper_bound, scope, (path, "upper_bound"))
    if message.bounds_type == 0 and isinstance(lower, Unbounded) and isinstance(upper, Unbounded):
        return None, lower, upper
    reading, type = scope.reading, None
    with reading.going_on(code=Code.EXPRESSION_WINDOW_BOUNDS):
        type = BOUNDS_TYPE.member(message.bounds_type, path, "bounds_type")
    if type is not None:
        lower = _checked(lower, type, sorts, reading, (path, "lower_bound"), path)
        upper = _checked(upper, type, sorts, reading, (path, "upper_bound"), path)
    if type is BoundsType.RANGE and sorts and isinstance(upper, Unbounded):
        quirks.unbounded_range(reading, path)
    return type, lower, upper


def _bound(message: Any, scope: Scope, path: Path) -> Bound:
    kind = message.WhichOneof("kind")
    match kind:
        case "preceding":
            return Preceding(_offset(message.preceding, scope, (path, kind)))
        case "following":
            return Following(_offset(message.following, scope, (path, kind)))
        case "current_row":
            return CurrentRow()
        case _:
            return Unbounded()


def _offset(message: Any, scope: Scope, path: Path) -> Expression:
    """The offset of a bound; the deprecated number is read as a literal."""
    number = message.offset
    if not message.HasField("offset_expr"):
        if number <= 0:
            hint = "Set offset_expr, or make the bound the current row"
            missing = invalid("the bound has no offset", path, hint, Code.EXPRESSION_WINDOW_BOUNDS)
            scope.reading.fault(missing)
            return BrokenExpression(kind="", fault=missing.message)
        return Literal(type=I64(), value=number)
    expr = expressions.expression(message.offset_expr, scope, (path, "offset_expr"))
    if number != 0 and not (isinstance(expr, Literal) and expr.value == number):
        scope.reading.note("offset-ignored", path, f"offset is {number} beside another offset_expr", "offset_expr")
    return expr


def _checked(
    bound: Bound, type: BoundsType, sorts: tuple[SortField, ...], reading: Reading, path: Path, window: Path
) -> Bound:
    """Return a bound, checked and normalised; unchanged if it is invalid and findings are collected."""
    with reading.going_on(code=Code.EXPRESSION_WINDOW_BOUNDS):
        return _fitting(bound, type, sorts, reading, path, window)
    return bound


def _fitting(
    bound: Bound, type: BoundsType, sorts: tuple[SortField, ...], reading: Reading, path: Path, window: Path
) -> Bound:
    if not isinstance(bound, Preceding | Following):
        return bound
    path = ((path, "preceding" if isinstance(bound, Preceding) else "following"), "offset_expr")
    offset = bound.offset
    if holds_window(offset):
        raise invalid("the offset of a bound has a window function in it", path, "Compute it in a relation below")
    if isinstance(offset, Literal):
        if offset.value is None:
            raise invalid("the offset of a bound is null", path, "Leave the bound out if there is none")
        sign = _sign(offset)
        if sign < 0:
            raise invalid(
                "the offset of a bound is negative",
                path,
                "It is a distance; preceding and following say the direction",
            )
        if sign == 0:
            reading.loose("zero-offset", path, "the offset of a bound is 0", "the current row")
            return CurrentRow()
    if type is BoundsType.ROWS:
        return replace(bound, offset=_rows(offset, reading, path))
    if len(sorts) != 1:
        raise invalid(
            f"a RANGE bound with an offset needs one sort field, and there are {len(sorts)}",
            (window, "sorts"),
            "Sort by the value that the offset is added to, or bound by ROWS",
        )
    (sort,) = sorts
    if not isinstance(sort.sort_kind, SortDirection) or sort.sort_kind is SortDirection.CLUSTERED:
        raise invalid("a RANGE bound with an offset needs an ascending or descending order", ((window, "sorts"), 0))
    if not _distances(sort.expr.type, offset.type):
        raise invalid(
            f"the offset is {offset.type}, which cannot be added to the {sort.expr.type} that the records are sorted "
            "by",
            path,
        )
    return bound


def _rows(offset: Expression, reading: Reading, path: Path) -> Expression:
    """Return a number of records as an i64."""
    type = concrete(offset.type)
    if isinstance(type, I64 | Unbound):
        return offset
    if not isinstance(type, I8 | I16 | I32):
        raise invalid(f"the offset is {type}, but ROWS are counted by an i64", path, "Cast it, or bound by RANGE")
    reading.loose("rows-offset", path, f"the number of records is {type}", "an i64")
    wanted = I64(nullable=type.nullable)
    if isinstance(offset, Literal):
        return replace(offset, type=wanted)
    return Cast(type=wanted, input=offset, failure_behavior=FailureBehavior.THROW_EXCEPTION)


def _sign(offset: Literal) -> int:
    """The sign of a distance; of a compound interval, the sign of its months unless they are 0."""
    match offset.value:
        case Compound() as value:
            return _sign_of(value.months) or _sign_of(_in_days(offset.type, value))
        case DayTime() as value:
            return _sign_of(_in_days(offset.type, value))
        case int() | float() | decimal.Decimal() as number:
            return _sign_of(number)
        case _:
            return 1


def _sign_of(number: int | float | decimal.Decimal) -> int:
    return (number > 0) - (number < 0)


def _in_days(type: Type, value: DayTime | Compound) -> int:
    """The part of an interval that isn't months, in its smallest unit."""
    type = concrete(type)
    precision = min(max(type.precision, 0), 12) if isinstance(type, IntervalDay | IntervalCompound) else 0
    return int((value.days * 86_400 + value.seconds) * 10**precision + value.subseconds)


_INTEGERS = (I8, I16, I32, I64)
_INTERVALS = (IntervalYear, IntervalDay, IntervalCompound)
#: types of values, and the types of distances between them
_DISTANCES: tuple[tuple[tuple[Any, ...], tuple[Any, ...]], ...] = (
    (_INTEGERS, _INTEGERS),
    ((FP32, FP64), (FP32, FP64, *_INTEGERS)),
    ((Decimal,), (Decimal, *_INTEGERS)),
    ((Date, PrecisionTimestamp, PrecisionTimestampTZ), _INTERVALS),
    ((PrecisionTime,), (IntervalDay,)),
    ((IntervalYear,), (IntervalYear,)),
    ((IntervalDay,), (IntervalDay,)),
    ((IntervalCompound,), _INTERVALS),
)


def _distances(value: Type, distance: Type) -> bool:
    """Whether a distance can be added to a value."""
    value, distance = concrete(value), concrete(distance)
    if isinstance(value, Unbound) or isinstance(distance, Unbound):
        return True
    if isinstance(value, UserDefined):
        return same_type(value, distance)
    return any(isinstance(value, kinds) and isinstance(distance, steps) for kinds, steps in _DISTANCES)
