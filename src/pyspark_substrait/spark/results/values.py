"""Convert the values of Arrow columns to Python values and to JSON values."""

from __future__ import annotations

import base64
import datetime
import decimal
import math
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

__all__ = ["Record", "plain", "value_of", "values"]


@dataclass(frozen=True, slots=True)
class Record:
    """The value of a struct: names, which may repeat, and values."""

    fields: tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Pairs:
    """The value of a map: keys and values."""

    pairs: tuple[tuple[Any, Any], ...]


def values(column: pa.ChunkedArray) -> list[Any]:
    """Convert a column to Python values; dates and times outside of Python's range become text."""
    return [value_of(scalar) for scalar in column]


def value_of(scalar: pa.Scalar) -> Any:
    """Convert a value to Python: a struct to a :class:`Record`, a map to :class:`Pairs`, null to None."""
    if not scalar.is_valid:
        return None
    match scalar:
        case pa.StructScalar():
            return Record(tuple((field.name, value_of(scalar[i])) for i, field in enumerate(scalar.type)))
        case pa.MapScalar():
            return Pairs(tuple((value_of(pair["key"]), value_of(pair["value"])) for pair in scalar.values))
        case pa.ListScalar():
            return [value_of(item) for item in scalar.values]
        case pa.MonthDayNanoIntervalScalar():
            months, days, nanos = scalar.as_py()
            return f"{months} months, {_days(days * _NANOS_OF_DAY + nanos, 9)}"
        case pa.DurationScalar():
            digits = _DIGITS[scalar.type.unit]
            return _days(scalar.value, digits)
        case pa.TimestampScalar() | pa.Time64Scalar() if scalar.type.unit == "ns":
            return _moment(scalar)
        case pa.TimestampScalar() | pa.Date32Scalar():
            try:
                return scalar.as_py()
            except (OverflowError, ValueError):
                return _moment(scalar)
        case _:
            return scalar.as_py()


_DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
_NANOS_OF_DAY = 86_400 * 10**9


def _moment(scalar: pa.Scalar) -> str:
    """Format a date or time with Arrow, in the form of ``isoformat``."""
    text = str(scalar.cast(pa.string()).as_py()).replace(" ", "T")
    return f"{text[:-1]}+00:00" if text.endswith("Z") else text


def _days(units: int, digits: int) -> str:
    """Format a duration in units of ``10**-digits`` seconds like Python's ``timedelta``."""
    seconds, rest = divmod(units, 10**digits)
    text = str(datetime.timedelta(seconds=seconds)) if abs(seconds) < _MOST_SECONDS else f"{seconds} s"
    return f"{text}.{rest:0{digits}d}" if rest else text


_MOST_SECONDS = 10**13


def plain(value: Any) -> Any:
    """Convert a value to JSON types: decimals, dates and times to text, binary to base64, a map to pairs."""
    match value:
        case float() if not math.isfinite(value):
            return str(value)
        case None | bool() | int() | float() | str():
            return value
        case bytes():
            return base64.b64encode(value).decode("ascii")
        case decimal.Decimal():
            return format(value, "f")
        case datetime.date() | datetime.time():
            return value.isoformat()
        case Record():
            return {name: plain(item) for name, item in value.fields}
        case Pairs():
            return [[plain(key), plain(item)] for key, item in value.pairs]
        case list():
            return [plain(item) for item in value]
        case _:
            return str(value)
