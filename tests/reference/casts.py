"""Casts. The specification names the types and the behavior on failure; it doesn't say what each pair of types gives.

A cast is covered where only one value makes sense: the same number, instant or text in the other type. Where a value
has no counterpart of that kind (a fraction for an integer, a finer time), the result is undetermined; where it has none
at all (300 for an i8, a word for a number), the cast fails.
"""

from __future__ import annotations

import datetime
import decimal
import math
import re
import uuid
from typing import Final

from pyspark_substrait.model.expressions import FailureBehavior
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    UUID,
    Binary,
    Boolean,
    Date,
    Decimal,
    FixedBinary,
    FixedChar,
    IntervalCompound,
    IntervalDay,
    IntervalYear,
    List,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Struct,
    Type,
    VarChar,
    concrete,
    same_type,
)
from tests.reference.choices import Choices
from tests.reference.errors import Failure, NotCovered, Undetermined
from tests.reference.values import DIGITS, SECONDS_A_DAY, Value, in_range, integer_range, nearest_single, padded

__all__ = ["as_declared", "cast", "cut"]

_EPOCH: Final = datetime.date(1970, 1, 1)
_INTEGER: Final = re.compile(r"-?[0-9]+")
_NUMBER: Final = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE]-?[0-9]+)?")
_DATE: Final = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")


class _NoCounterpart(Exception):
    """The other type has no such value."""


_TIMES: Final = (Date, PrecisionTime, PrecisionTimestamp, PrecisionTimestampTZ, IntervalYear, IntervalDay)


def cast(value: Value, given: Type, wanted: Type, behavior: FailureBehavior, choices: Choices) -> Value:
    """The value in another type."""
    if value is None:
        return None
    try:
        made = _converted(value, concrete(given), concrete(wanted), choices)
        if not in_range(made, wanted):
            if isinstance(concrete(wanted), _TIMES):
                # engines may have more than the least range
                raise Undetermined(f"a {wanted} beyond the range of the specification")
            raise _NoCounterpart(f"{value!r} as {wanted}")
    except _NoCounterpart as error:
        match behavior:
            case FailureBehavior.RETURN_NULL:
                if isinstance(concrete(wanted), List | Struct):
                    raise Undetermined("which part is null if a part of a value has no counterpart") from None
                return None
            case FailureBehavior.THROW_EXCEPTION:
                raise Failure(f"cast: {error}") from None
            case FailureBehavior.UNSPECIFIED:
                raise Undetermined(f"a cast that fails, without a failure behavior: {error}") from None
    return padded(made, wanted)


def as_declared(value: Value, derived: Type, declared: Type, choices: Choices) -> Value:
    """The value of a call in the type that its plan declares."""
    if value is None or same_type(derived, declared):
        return value
    return cast(value, derived, declared, FailureBehavior.THROW_EXCEPTION, choices)


def cut(value: decimal.Decimal, scale: int, choices: Choices) -> decimal.Decimal:
    """The value with ``scale`` digits behind the point; undetermined if it has more, unless a choice says how."""
    unit = decimal.Decimal(1).scaleb(-scale)
    exact = value.quantize(unit, rounding=decimal.ROUND_DOWN, context=DIGITS)
    if exact == value:
        return exact
    if choices.decimal_rounding is None:
        raise Undetermined(f"the rounding of {value} to {scale} digits")
    return value.quantize(unit, rounding=choices.decimal_rounding, context=DIGITS)


def _is_text(type: Type) -> bool:
    return isinstance(type, String | VarChar | FixedChar)


def _converted(value: Value, given: Type, wanted: Type, choices: Choices) -> Value:
    match given, wanted:
        case _ if same_type(given, wanted):
            return value
        case List(type=one), List(type=other):
            return tuple(_inside(item, one, other, choices) for item in value)
        case Struct(types=ones), Struct(types=others) if len(ones) == len(others):
            return tuple(_inside(*three, choices) for three in zip(value, ones, others, strict=True))
        case _ if _is_text(given):
            return _text(value, wanted) if _is_text(wanted) else _from_text(value, wanted, choices)
        case _ if _is_text(wanted):
            return _text(_to_text(value, given), wanted)
        case ((Binary() | FixedBinary()), Binary()):
            return value
        case ((Binary() | FixedBinary()), FixedBinary(length=length)):
            # types/type_classes: padded with zeros, or trimmed at the right
            return value.ljust(length, b"\0")[:length]
        case Date(), PrecisionTimestamp(precision=precision):
            return value * SECONDS_A_DAY * 10**precision
        case PrecisionTimestamp(precision=precision), Date():
            return value // (SECONDS_A_DAY * 10**precision)
        case PrecisionTimestamp(precision=one), PrecisionTimestamp(precision=other):
            return _units(value, one, other)
        case PrecisionTimestampTZ(precision=one), PrecisionTimestampTZ(precision=other):
            return _units(value, one, other)
        case PrecisionTime(precision=one), PrecisionTime(precision=other):
            return _units(value, one, other)
        case IntervalDay(precision=one), IntervalDay(precision=other):
            return _units(value, one, other)
        case IntervalYear(), IntervalCompound():
            return value, 0
        case IntervalDay(precision=one), IntervalCompound(precision=other):
            return 0, _units(value, one, other)
        case _:
            return _numeric(value, given, wanted, choices)


def _inside(value: Value, given: Type, wanted: Type, choices: Choices) -> Value:
    if value is None:
        return None
    made = _converted(value, concrete(given), concrete(wanted), choices)
    if not in_range(made, wanted):
        raise _NoCounterpart(f"{value!r} as {wanted}")
    return padded(made, wanted)


def _units(value: int, given: int, wanted: int) -> int:
    if wanted >= given:
        return value * int(10 ** (wanted - given))
    units, rest = divmod(value, int(10 ** (given - wanted)))
    if rest:
        raise Undetermined("a cast to a time of fewer digits than the value has")
    return units


# numbers -------------------------------------------------------------------------------------------------------------


def _is_number(type: Type) -> bool:
    return isinstance(type, FP32 | FP64 | Decimal) or integer_range(type) is not None


def _numeric(value: Value, given: Type, wanted: Type, choices: Choices) -> Value:
    if isinstance(given, Boolean) and _is_number(wanted):
        return _number(int(value), wanted, choices)
    if isinstance(wanted, Boolean) and _is_number(given):
        if value not in (0, 1):
            raise Undetermined(f"the number {value} as a boolean")
        return bool(value)
    if _is_number(given) and _is_number(wanted):
        return _number(value, wanted, choices)
    raise NotCovered(f"cast from {given} to {wanted}")


def _number(value: int | float | decimal.Decimal, wanted: Type, choices: Choices) -> Value:
    """A number in another type of numbers."""
    if isinstance(wanted, FP32 | FP64):
        return nearest_single(value) if isinstance(wanted, FP32) else _float(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise _NoCounterpart(f"{value} as {wanted}")
        value = decimal.Decimal(value)
    if isinstance(wanted, Decimal):
        return cut(decimal.Decimal(value), wanted.scale, choices)
    if value != int(value):
        if not in_range(math.floor(value), wanted) and not in_range(math.ceil(value), wanted):
            raise _NoCounterpart(f"{value} as {wanted}")
        raise Undetermined(f"{value} as {wanted}: truncated or rounded")
    return int(value)


def _float(value: int | float | decimal.Decimal) -> float:
    """The nearest floating-point number: Python rounds integers and decimals correctly."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


# text ----------------------------------------------------------------------------------------------------------------


def _text(value: str, wanted: Type) -> str:
    match wanted:
        case VarChar(length=length) | FixedChar(length=length) if len(value) > length:
            raise Undetermined(f"a text of {len(value)} characters as {wanted}: cut, or a failure")
        case FixedChar(length=length):
            return value.ljust(length)
        case _:
            return value


def _to_text(value: Value, given: Type) -> str:
    match given:
        case Boolean():
            return "true" if value else "false"
        case Decimal():
            text = f"{value:f}"
            if "." in text and text.endswith("0"):
                raise Undetermined(f"the decimal {value} as text, with or without the last zeros")
            return text
        case Date():
            return (_EPOCH + datetime.timedelta(days=value)).isoformat()
        case UUID():
            return str(value)
        case _ if integer_range(given) is not None:
            return str(value)
        case FP32() | FP64():
            raise Undetermined("a floating-point number as text")
        case PrecisionTime() | PrecisionTimestamp() | PrecisionTimestampTZ():
            raise Undetermined("a time as text")
        case _:
            raise NotCovered(f"cast from {given} to text")


def _from_text(value: str, wanted: Type, choices: Choices) -> Value:
    """The value that a text denotes. Only the plainest form is known; a text without any digit denotes no number."""
    match wanted:
        case Boolean():
            if value in ("true", "false"):
                return value == "true"
            if value.strip().lower() in ("true", "false", "t", "f", "yes", "no", "y", "n", "on", "off", "0", "1"):
                raise Undetermined(f"the text {value!r} as a boolean")
            raise _NoCounterpart(f"{value!r} as a boolean")
        case Date():
            found = _DATE.fullmatch(value)
            if found:
                try:
                    return (datetime.date(*(int(part) for part in found.groups())) - _EPOCH).days
                except ValueError:
                    raise _NoCounterpart(f"{value!r} as a date") from None
        case UUID():
            if re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", value):
                return uuid.UUID(value)
        case FP32() | FP64() | Decimal():
            if _NUMBER.fullmatch(value):
                return _number(decimal.Decimal(value), wanted, choices)
        case _ if integer_range(wanted) is not None:
            if _INTEGER.fullmatch(value):
                return int(value)
        case _:
            raise NotCovered(f"cast from text to {wanted}")
    if not any(character.isdigit() for character in value) and not (
        isinstance(wanted, FP32 | FP64) and re.search("inf|nan", value, re.IGNORECASE)
    ):
        raise _NoCounterpart(f"{value!r} as {wanted}")
    raise Undetermined(f"the text {value!r} as {wanted}")
