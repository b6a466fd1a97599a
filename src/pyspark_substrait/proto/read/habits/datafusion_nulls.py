"""Calls of DataFusion that are a null, or one of their arguments, whatever the values are."""

from __future__ import annotations

from typing import Any, Final

from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.literals import Compound, DayTime, Literal
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.plan import ExtensionKind
from pyspark_substrait.model.types import I32, IntervalCompound, IntervalDay, IntervalYear, with_nullability
from pyspark_substrait.proto.read import expressions
from pyspark_substrait.proto.read.context import Reading, Scope
from pyspark_substrait.proto.read.habits import datafusion as habits
from pyspark_substrait.proto.read.types import data_type

__all__ = ["is_null", "is_null_type", "simplified"]

_PARTS: Final = {
    **dict.fromkeys(("y", "yr", "yrs", "years"), "year"), **dict.fromkeys(("mon", "mons", "months"), "month"),
    **dict.fromkeys(("w", "weeks"), "week"), **dict.fromkeys(("d", "days"), "day"),
    **dict.fromkeys(("h", "hr", "hrs", "hours"), "hour"), **dict.fromkeys(("m", "min", "mins", "minutes"), "minute"),
    **dict.fromkeys(("s", "sec", "secs", "seconds"), "second"),
    **dict.fromkeys(("ms", "msec", "msecs", "msecond", "mseconds", "milliseconds"), "millisecond"),
    **dict.fromkeys(("us", "usec", "usecs", "usecond", "useconds", "microseconds"), "microsecond"),
}  # fmt: skip

#: functions that are null if the first argument is
_OF_FIRST: Final = frozenset({"array_filter", "array_transform", "array_any_match", "array_first", "flatten"})
#: functions that are null if an argument is
_OF_ANY: Final = frozenset({"range", "generate_series", "date_bin", "logb"})


def simplified(message: Any, name: str, scope: Scope, path: Path) -> Expression | None:
    """Return the null, or the argument, that a call is; None for any other call."""
    reading = scope.reading
    if name == "coalesce" and len(message.arguments) == 1:
        reading.used.add((ExtensionKind.FUNCTION, message.function_reference))
        reading.plain = False
        return expressions.expression(message.arguments[0].value, scope, (((path, "arguments"), 0), "value"))
    if name == "date_part" and len(message.arguments) == 2:
        return _part(message, scope, path)
    given = message.arguments[:1] if name in _OF_FIRST else message.arguments if name in _OF_ANY else ()
    of_null = given and any(is_null(one.value, reading) for one in given)
    if not of_null and not is_null_type(message.output_type, reading):
        return None
    reading.used.add((ExtensionKind.FUNCTION, message.function_reference))
    reading.plain = False
    type = data_type(message.output_type, reading, (path, "output_type"))
    habits.NULL.note(reading, path, f"`{name}` of a null without a type", f"a null of the type {type}")
    return Literal(type=with_nullability(type, True), value=None)


def _part(message: Any, scope: Scope, path: Path) -> Literal | None:
    """The part of a literal interval, whose days and hours are two numbers; None for that of another value."""
    reading, part, value = scope.reading, message.arguments[0].value.literal.string, message.arguments[1].value
    literal = value.literal.WhichOneof("literal_type") or ""
    called = reading.functions.get(value.scalar_function.function_reference)
    is_cast = value.WhichOneof("rex_type") == "scalar_function" and called is not None and called.name == "arrow_cast"
    if not literal.startswith("interval_") and not is_cast:
        return None
    target = value.scalar_function.arguments[1].value.literal.string if is_cast else ""
    if is_cast and not target.startswith("Interval("):
        return None
    found = expressions.expression(value, scope, (((path, "arguments"), 1), "value"))
    number = _part_of(part.strip(" '\"").lower(), found) if isinstance(found, Literal) else None
    if number is None:
        return None
    reading.used.add((ExtensionKind.FUNCTION, message.function_reference))
    reading.plain = False
    before = "`date_part` of a literal interval, whose days and hours are two numbers"
    habits.INTERVAL.note_once(reading, path, before, "the number that DataFusion gives")
    return Literal(type=I32(nullable=message.output_type.i32.nullability != _REQUIRED), value=number)


_REQUIRED: Final = 2
_MINUTE: Final = 60


def _part_of(part: str, interval: Literal) -> int | None:
    """The part of an interval, cut to a whole number; None for one that isn't known."""
    months: int | None
    match interval:
        case Literal(value=Compound(months, days, seconds, subseconds), type=IntervalCompound(precision=precision)):
            pass
        case Literal(value=DayTime(days, seconds, subseconds), type=IntervalDay(precision=precision)):
            months = None
        case Literal(value=int(months), type=IntervalYear()):
            return {"year": _cut(months, 12), "month": _rest(months, 12)}.get(_PARTS.get(part, part))
        case _:
            return None
    units = seconds * 10**precision + subseconds
    second = 10**precision
    found = {"week": _cut(days, 7), "day": days, "hour": _cut(units, 3600 * second)}
    found |= {"minute": _rest(_cut(units, _MINUTE * second), _MINUTE), "second": _rest(_cut(units, second), _MINUTE)}
    if months is not None:
        rest = _rest(units, _MINUTE * second)
        found |= {"year": _cut(months, 12), "month": _rest(months, 12)}
        found |= {"millisecond": _cut(rest * 1000, second), "microsecond": _cut(rest * 10**6, second)}
    return found.get(_PARTS.get(part, part))


def _cut(number: int, divisor: int) -> int:
    return number // divisor if number >= 0 else -(-number // divisor)


def _rest(number: int, divisor: int) -> int:
    return number - _cut(number, divisor) * divisor


def is_null(message: Any, reading: Reading) -> bool:
    """Whether an expression is a null without a type."""
    if message.WhichOneof("rex_type") != "literal" or message.literal.WhichOneof("literal_type") != "null":
        return False
    return is_null_type(message.literal.null, reading)


def is_null_type(message: Any, reading: Reading) -> bool:
    """Whether a type is the one that DataFusion has for nulls without a type."""
    if message.WhichOneof("kind") != "user_defined":
        return False
    declared = reading.types.get(message.user_defined.type_reference)
    return declared is not None and declared.name == "null" and not declared.urn
