"""Literals as text: numbers plain, strings in single quotes, times and intervals as SQL writes them."""

from __future__ import annotations

import datetime
import decimal
import math
import struct
import uuid
from typing import Any

from pyspark_substrait.model.literals import AnyMessage, Compound, DayTime, Literal, LiteralValue
from pyspark_substrait.model.types import (
    FP32,
    Date,
    IntervalCompound,
    IntervalDay,
    IntervalYear,
    List,
    Map,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    Struct,
    UserDefined,
    concrete,
    with_nullability,
)
from pyspark_substrait.text.explain.columns import escaped, name_text, type_text

__all__ = ["counted", "limited", "literal_text", "message_text", "string_text"]

_MAX_ITEMS = 20
_MAX_LENGTH = 200
_DAYS_IN_400_YEARS = 146097
_DAYS_BEFORE_1970 = 719162  # since 0001-01-01


def literal_text(literal: Literal) -> str:
    """Return a literal as text. Long strings and lists are cut, with a mark."""
    type, value = concrete(literal.type), literal.value
    match type, value:
        case _, None:
            return f"NULL::{type_text(with_nullability(type, False))}"
        case FP32(), float():
            return _fp32(value)
        case Date(), int():
            return f"DATE '{_date(value)}'"
        case PrecisionTime(precision=precision), int():
            return f"TIME '{_time(value, precision)}'"
        case PrecisionTimestamp(precision=precision), int():
            return f"TIMESTAMP '{_timestamp(value, precision)}'"
        case PrecisionTimestampTZ(precision=precision), int():
            return f"TIMESTAMP '{_timestamp(value, precision)} UTC'"
        case IntervalYear(), int():
            return _interval(value, 0, 0, 0, 0)
        case IntervalDay(precision=precision), DayTime(days, seconds, subseconds):
            return _interval(0, days, seconds, subseconds, precision)
        case IntervalCompound(precision=precision), Compound(months, days, seconds, subseconds):
            return _interval(months, days, seconds, subseconds, precision)
        case UserDefined(name=name), AnyMessage():
            return f"{name_text(name)}({message_text(value)})"
        case UserDefined(name=name), tuple(fields):
            return f"{name_text(name)}({_values(fields)})"
        case Struct(), tuple(fields):
            return f"struct({_values(fields)})"
        case (List() | Map(), ()):
            brackets = "[]" if isinstance(type, List) else "{}"
            return f"{brackets}::{type_text(with_nullability(type, False))}"
        case _:
            return _plain(value)


def _plain(value: LiteralValue) -> str:
    """Return a value whose Python class alone determines its text."""
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case int():
            return str(value)
        case float():
            return "NaN" if math.isnan(value) else repr(value)
        case decimal.Decimal():
            return format(value, "f")
        case str():
            return string_text(value)
        case bytes():
            return _bytes(value)
        case uuid.UUID():
            return f"UUID '{value}'"
        case DayTime(days, seconds, subseconds):
            return f"INTERVAL '{days} days {seconds} seconds {subseconds} subseconds'"
        case Compound(months, days, seconds, subseconds):
            return f"INTERVAL '{months} months {days} days {seconds} seconds {subseconds} subseconds'"
        case AnyMessage():
            return message_text(value)
        case tuple():
            return f"{{{_values(value)}}}" if value and isinstance(value[0], tuple) else f"[{_values(value)}]"


def _values(values: tuple[Any, ...]) -> str:
    texts = []
    for value in values[: _MAX_ITEMS + 1]:
        match value:
            case Literal():
                texts.append(literal_text(value))
            case (Literal() as key, Literal() as item):
                texts.append(f"{literal_text(key)}: {literal_text(item)}")
            case _:
                texts.append(_plain(value))
    return limited(texts, len(values))


def limited(texts: list[str], count: int | None = None) -> str:
    """Join items with commas; of more than 20, the first ones and the number of the rest.

    ``count`` is the number of items where ``texts`` has only the first ones.
    """
    count = len(texts) if count is None else count
    more = [f"… {count - _MAX_ITEMS:,} more"] if count > _MAX_ITEMS else []
    return ", ".join(texts[:_MAX_ITEMS] + more)


def counted(number: int, noun: str) -> str:
    """``1 note``, ``2 notes``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def string_text(value: str) -> str:
    """A string in single quotes, with escapes as in Python; a long one is cut."""
    shown = value[:_MAX_LENGTH].replace("\\", r"\\").replace("'", r"\'")
    rest = f"… ({len(value):,} characters)" if len(value) > _MAX_LENGTH else ""
    return f"'{escaped(shown)}'{rest}"


def message_text(message: AnyMessage) -> str:
    """Return an opaque message as its type and size."""
    name = message.type_url.rpartition("/")[2]
    return f"{name_text(name) or 'message'} ({counted(len(message.value), 'byte')})"


def _bytes(value: bytes) -> str:
    rest = f"… ({len(value):,} bytes)" if len(value) > _MAX_LENGTH // 2 else ""
    return f"X'{value[: _MAX_LENGTH // 2].hex()}'{rest}"


def _fp32(value: float) -> str:
    """Return the shortest number that rounds to this FP32 value."""
    if math.isfinite(value):
        for digits in range(1, 10):
            short = float(f"{value:.{digits}g}")
            try:
                if struct.unpack("f", struct.pack("f", short))[0] == value:
                    return repr(short)
            except OverflowError:
                continue
    return _plain(value)


def _units(precision: int) -> int:
    # the types allow 0 to 12; a plan may say anything
    return int(10 ** min(max(precision, 0), 38))


def _date(days: int) -> str:
    # datetime ends at the year 9999; the calendar repeats every 400 years
    cycles, rest = divmod(days + _DAYS_BEFORE_1970, _DAYS_IN_400_YEARS)
    date = datetime.date.fromordinal(rest + 1)
    return f"{date.year + 400 * cycles:04d}-{date.month:02d}-{date.day:02d}"


def _time(units: int, precision: int) -> str:
    seconds, fraction = divmod(abs(units), _units(precision))
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    sign = "-" if units < 0 else ""
    return f"{sign}{hours:02d}:{minute:02d}:{second:02d}{_fraction(fraction, precision)}"


def _fraction(units: int, precision: int) -> str:
    return f".{units:0{min(max(precision, 0), 38)}d}" if units else ""


def _timestamp(units: int, precision: int) -> str:
    days, rest = divmod(units, 86400 * _units(precision))
    return f"{_date(days)} {_time(rest, precision)}"


def _interval(months: int, days: int, seconds: int, subseconds: int, precision: int) -> str:
    sign = -1 if months < 0 else 1
    years, months = divmod(abs(months), 12)
    units = seconds * _units(precision) + subseconds
    whole, fraction = divmod(abs(units), _units(precision))
    second = ("-" if units < 0 else "") + str(whole) + _fraction(fraction, precision)
    parts = [
        f"{number} {name}" if str(number) in ("1", "-1") else f"{number} {name}s"
        for number, name in ((sign * years, "year"), (sign * months, "month"), (days, "day"), (second, "second"))
        if str(number) != "0"
    ]
    return f"INTERVAL '{' '.join(parts) or '0 seconds'}'"
