"""Values written as text, as on a command line.

=====================================  ================================================================================
type                                   text
=====================================  ================================================================================
boolean                                ``true``, ``false``
integers, floats, decimal              ``-5``, ``1.5e3``, ``nan``, ``inf``, ``0.10``
string, varchar, fixedchar             itself
binary, fixedbinary                    hexadecimal digits: ``CAFE01``
date, precision_time                   ``2024-02-29``, ``23:59:59.123456``
precision_timestamp                    ``2024-02-29 23:59:59.123456789``, with as many digits as the type has
precision_timestamp_tz                 the same followed by ``Z`` or an offset: ``2024-02-29T23:59:59+01:00``
interval_year, interval_day, compound  ISO 8601: ``P1Y2M``, ``P3DT4H5M6.789S``, ``-P1D``, ``P1Y2M3DT4S``
uuid                                   ``01234567-89ab-cdef-0123-456789abcdef``
struct, list                           a JSON array, the parts as JSON's own values or as strings: ``[1, null]``
map                                    a JSON object, or an array of pairs
user-defined                           as the structure of the type
=====================================  ================================================================================
"""

from __future__ import annotations

import datetime
import decimal
import json
import re
import uuid
from collections.abc import Callable
from typing import Any, Final

from pyspark_substrait.errors import ParameterError, at
from pyspark_substrait.model.literals import Compound, DayTime, Literal
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    UNSIGNED_INTEGERS,
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
    Map,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Struct,
    Type,
    UserDefined,
    VarChar,
    concrete,
)
from pyspark_substrait.model.values import literal_of

__all__ = ["literal_of_text"]

_EPOCH: Final = datetime.datetime(1970, 1, 1)
_CLOCK: Final = r"(\d\d):(\d\d):(\d\d)(?:\.(\d{1,12}))?"
_TIME: Final = re.compile(_CLOCK)
_TIMESTAMP: Final = re.compile(rf"(\d{{4}})-(\d\d)-(\d\d)[T ]{_CLOCK}(Z|[+-]\d\d:\d\d)?")
_INTERVAL: Final = re.compile(
    r"(-?)P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d{1,12}))?S)?)?"
)


def literal_of_text(text: str, type: Type) -> Literal:
    """A text as a literal of a type.

    Raises:
        ParameterError: it isn't the text of a value of the type.
    """
    try:
        return literal_of(_value(text, type), type)
    except (ValueError, ArithmeticError) as error:
        detail = "" if isinstance(error, decimal.InvalidOperation) else f": {error}"
        raise ParameterError(f"{text!r} is not the text of a {type}{detail}") from None


def _value(text: str, type: Type) -> object:
    match concrete(type):
        case Boolean():
            if text.lower() not in ("true", "false"):
                raise ValueError("true or false")
            return text.lower() == "true"
        case I8() | I16() | I32() | I64() | FP32() | FP64() | Decimal() if "_" in text:
            raise ValueError("underscores are no digits")
        case I8() | I16() | I32() | I64():
            return _number(int, text)
        case FP32() | FP64():
            return _number(float, text)
        case Decimal():
            return decimal.Decimal(text)
        case String() | VarChar() | FixedChar():
            return text
        case Binary() | FixedBinary():
            return bytes.fromhex(text)
        case Date():
            return datetime.date.fromisoformat(text)
        case PrecisionTime(precision=precision):
            return _clock(_matched(_TIME, text).groups(), precision)
        case PrecisionTimestamp(precision=precision):
            *parts, zone = _matched(_TIMESTAMP, text).groups()
            if zone is not None:
                raise ValueError("it has no zone")
            return _instant(parts, precision)
        case PrecisionTimestampTZ(precision=precision):
            *parts, zone = _matched(_TIMESTAMP, text).groups()
            if zone is None:
                raise ValueError("it needs a zone, like Z or +01:00")
            return _instant(parts, precision) - _offset(zone) * int(10**precision)
        case IntervalYear():
            months, days, seconds, fraction = _interval(text, 0)
            if days or seconds or fraction:
                raise ValueError("it has years and months only")
            return months
        case IntervalDay(precision=precision):
            months, days, seconds, fraction = _interval(text, precision)
            if months:
                raise ValueError("it has no years and months")
            return DayTime(days, seconds, fraction)
        case IntervalCompound(precision=precision):
            return Compound(*_interval(text, precision))
        case UUID():
            return uuid.UUID(text)
        case List() | Struct() | Map():
            return _nested(json.loads(text, parse_float=decimal.Decimal), type)
        case UserDefined(structure=structure) if structure is not None:
            if type.urn == UNSIGNED_INTEGERS:  # type: ignore[union-attr]
                return _number(int, text)
            return _value(text, structure)
        case _:
            raise ValueError("there is no text for such a value")


def _number(read: Callable[[str], int | float], text: str) -> int | float:
    try:
        return read(text)
    except ValueError:
        raise ValueError("it is no such number") from None


def _nested(item: Any, type: Type) -> object:
    """Return a JSON value as the Python value for a type."""
    match concrete(type), item:
        case _, None:
            return None
        case List(type=element), list():
            return [_at(part, element, index) for index, part in enumerate(item)]
        case Struct(types=types), list() if len(item) == len(types):
            return [_at(part, field, index) for index, (part, field) in enumerate(zip(item, types, strict=True))]
        case Map(key=key, value=value), dict():
            return [(_nested(name, key), _nested(part, value)) for name, part in item.items()]
        case Map(key=key, value=value), list():
            if not all(isinstance(pair, list) and len(pair) == 2 for pair in item):
                raise ValueError("an array of pairs is needed")
            return [(_nested(name, key), _nested(part, value)) for name, part in item]
        case ((List() | Struct() | Map()), _):
            raise ValueError(f"{json.dumps(item, default=str)} is not the JSON of a {type}")
        case Boolean(), bool():
            return item
        case _, str():
            return _value(item, type)
        case _, (int() | decimal.Decimal()) if not isinstance(item, bool):
            return _value(str(item), type)
        case _:
            raise ValueError(f"{json.dumps(item, default=str)} is not the JSON of a {type}")


def _at(item: Any, type: Type, index: int) -> object:
    with at(index):
        return _nested(item, type)


def _matched(pattern: re.Pattern[str], text: str) -> re.Match[str]:
    found = pattern.fullmatch(text.strip())
    if found is None:
        raise ValueError("its form is another one")
    return found


def _fraction(digits: str | None, precision: int) -> int:
    """Return the fraction digits of a second as a count of units."""
    given = digits or ""
    if given[precision:].strip("0"):
        raise ValueError(f"it has at most {precision} digits behind the second")
    return int(given[:precision].ljust(precision, "0") or "0")


def _clock(parts: Any, precision: int) -> int:
    hour, minute, second, digits = parts
    time = datetime.time(int(hour), int(minute), int(second))
    seconds = time.hour * 3600 + time.minute * 60 + time.second
    return seconds * int(10**precision) + _fraction(digits, precision)


def _instant(parts: Any, precision: int) -> int:
    year, month, day, *clock = parts
    days = (datetime.date(int(year), int(month), int(day)) - _EPOCH.date()).days
    return days * 86_400 * int(10**precision) + _clock(clock, precision)


def _offset(zone: str) -> int:
    """The offset of a zone from UTC, in seconds."""
    if zone == "Z":
        return 0
    seconds = int(zone[1:3]) * 3600 + int(zone[4:6]) * 60
    return -seconds if zone[0] == "-" else seconds


def _interval(text: str, precision: int) -> tuple[int, int, int, int]:
    sign_, years, months, days, hours, minutes, seconds, digits = _matched(_INTERVAL, text).groups()
    sign = -1 if sign_ else 1
    clock = int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
    return (
        sign * (int(years or 0) * 12 + int(months or 0)),
        sign * int(days or 0),
        sign * clock,
        sign * _fraction(digits, precision),
    )
