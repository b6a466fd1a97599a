"""DataFusion's calls that cast a value: to a type of Arrow by its name, or to that of another value."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from pyspark_substrait.codes import Code
from pyspark_substrait.model.expressions import Cast, Expression, FailureBehavior
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.plan import ExtensionKind
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    Binary,
    Boolean,
    Date,
    Decimal,
    FixedBinary,
    IntervalCompound,
    IntervalDay,
    IntervalYear,
    List,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Type,
    concrete,
    with_nullability,
)
from pyspark_substrait.proto import messages
from pyspark_substrait.proto.read import expressions
from pyspark_substrait.proto.read.context import Reading, Scope, invalid
from pyspark_substrait.proto.read.habits import datafusion as habits
from pyspark_substrait.proto.read.habits import datafusion_nulls, datafusion_values

__all__ = ["arrow_type", "cast"]

_BY_NAME: Final = frozenset({"arrow_cast", "arrow_try_cast"})
_TO_TYPE_OF: Final = frozenset({"cast_to_type", "try_cast_to_type"})

_SIMPLE: Final[dict[str, Type]] = {
    "Boolean": Boolean(), "Int8": I8(), "Int16": I16(), "Int32": I32(), "Int64": I64(), "Float32": FP32(),
    "Float64": FP64(), "Utf8": String(), "LargeUtf8": String(), "Utf8View": String(), "Binary": Binary(),
    "LargeBinary": Binary(), "BinaryView": Binary(), "Date32": Date(), "Date64": Date(),
    # as DataFusion writes unsigned columns and casts, too
    "UInt8": I8(), "UInt16": I16(), "UInt32": I32(), "UInt64": I64(),
}  # fmt: skip
_DIGITS: Final = {
    "Second": 0, "Millisecond": 3, "Microsecond": 6, "Nanosecond": 9, "s": 0, "ms": 3, "us": 6, "µs": 6, "ns": 9
}  # fmt: skip


def _decimal(precision: str, scale: str) -> Type | None:
    return Decimal(precision=int(precision), scale=int(scale)) if int(precision) <= 38 and int(scale) >= 0 else None


def _timestamp(unit: str, zone: str) -> Type | None:
    digits = _DIGITS.get(unit)
    made = PrecisionTimestamp if zone in ("", "None") else PrecisionTimestampTZ
    return None if digits is None else made(precision=digits)


def _time(unit: str) -> Type | None:
    digits = _DIGITS.get(unit)
    return None if digits is None else PrecisionTime(precision=digits)


def _fixed(length: str) -> Type | None:
    return FixedBinary(length=int(length)) if int(length) else None


def _list(element: str) -> Type | None:
    named = re.fullmatch(r"Field \{.*?data_type: (.*?), nullable.*\}", element)
    found = arrow_type(named.group(1) if named else element.removeprefix("nullable ").removeprefix("non-null "))
    return None if found is None else List(type=with_nullability(found, True))


def _duration(unit: str) -> Type | None:
    digits = _DIGITS.get(unit)
    return None if digits is None else IntervalDay(precision=digits)


_INTERVALS: Final[dict[str, Type]] = {
    "MonthDayNano": IntervalCompound(precision=9), "DayTime": IntervalDay(precision=3), "YearMonth": IntervalYear()
}  # fmt: skip

_FORMS: Final[tuple[tuple[re.Pattern[str], Callable[..., Type | None]], ...]] = (
    (re.compile(r"Decimal(?:32|64|128|256)\((\d+), ?(-?\d+)\)"), _decimal),
    (re.compile(r'Timestamp\((\w+)(?:, ?(?:Some\( ?)?"?([^")]*)"? ?\)?)?\)'), _timestamp),
    (re.compile(r"Time(?:32|64)\((\w+)\)"), _time),
    (re.compile(r"Duration\((\w+)\)"), _duration),
    (re.compile(r"Interval\((\w+)\)"), _INTERVALS.get),
    (re.compile(r"FixedSizeBinary\((\d+)\)"), _fixed),
    (re.compile(r"FixedSizeList\(\d+(?: x |, ?)(.*)\)"), _list),
    (re.compile(r"(?:Large)?List(?:View)?\((.*)\)"), _list),
    (re.compile(r"Dictionary\(\w+, ?(.*)\)"), lambda values: arrow_type(values)),
)


def arrow_type(text: str) -> Type | None:
    """Return a type by the name that Arrow's Rust implementation gives it; None for one that has no counterpart."""
    text = text.strip()
    if text in _SIMPLE:
        return _SIMPLE[text]
    for pattern, made in _FORMS:
        found = pattern.fullmatch(text)
        if found:
            return made(*(group or "" for group in found.groups()))
    return None


def cast(message: messages.Expression.ScalarFunction, name: str, scope: Scope, path: Path) -> Expression | None:
    """Return the cast that a call is; None for any other call.

    Raises:
        InvalidPlanError: the type has no counterpart, or isn't written in the plan.
    """
    reading = scope.reading
    if name not in _BY_NAME | _TO_TYPE_OF or len(message.arguments) != 2:
        return None
    place: Path = (path, "arguments")
    value, target = (expressions.expression(message.arguments[index].value, scope, (place, index)) for index in (0, 1))
    if name in _TO_TYPE_OF and datafusion_nulls.is_null(message.arguments[1].value, reading):
        raise invalid("the type of a null isn't written", (place, 1), "Name it in a cast", Code.TYPE_UNKNOWN)
    type = _target(name, target, reading, (place, 1))
    reading.used.add((ExtensionKind.FUNCTION, message.function_reference))
    habits.ARROW_CAST.note(reading, path, f"a call of `{name}`", f"a cast to {type}")
    tries = "try" in name
    type = with_nullability(type, tries or value.type.nullable)
    if isinstance(value, Literal) and value.value is None:
        return Literal(type=with_nullability(type, True), value=None)
    if concrete(value.type) == type:
        return value
    date64 = _names_date64(message, scope)
    if type.__class__ in datafusion_values.NUMBERS and _names_date64(message.arguments[0].value.scalar_function, scope):
        raise datafusion_values.not_counted(path)
    value = datafusion_values.different_cast(value, type, reading, path, date64=date64)
    if concrete(value.type) == concrete(type):
        return value
    failure = FailureBehavior.RETURN_NULL if tries else FailureBehavior.THROW_EXCEPTION
    return Cast(type=type, input=value, failure_behavior=failure)


def _names_date64(message: messages.Expression.ScalarFunction, scope: Scope) -> bool:
    """Whether a call is a cast to Date64: a count of milliseconds, which may have a time of day."""
    declared = scope.reading.functions.get(message.function_reference) if len(message.arguments) == 2 else None
    by_name = declared is not None and declared.name.partition(":")[0] in _BY_NAME
    return by_name and message.arguments[1].value.literal.string == "Date64"


def _target(name: str, target: Any, reading: Reading, path: Path) -> Type:
    if name in _TO_TYPE_OF:
        return concrete(target.type)
    named = target.value if isinstance(target, Literal) and isinstance(target.value, str) else "a computed name"
    found = arrow_type(named)
    if found is None:
        raise invalid(f"`{name}` to {named}, which has no type here", path, "Cast to another type", Code.TYPE_UNKNOWN)
    return found
