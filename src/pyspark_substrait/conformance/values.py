"""The values that cases are compared by, of literals and of Arrow data.

=========================================== =======================================================================
type                                        Python value
=========================================== =======================================================================
any nullable type                           None for null
boolean                                     bool
i8, i16, i32, i64, u8, u16, u32, u64        int
fp32, fp64                                  float
decimal                                     decimal.Decimal with exactly ``scale`` digits behind the point
string, varchar, fixedchar                  str; a fixedchar with its blanks
binary, fixedbinary                         bytes
date                                        int: days since 1970-01-01
precision_time, precision_timestamp(_tz)    int: units of ``10**-precision`` seconds
interval_year                               int: months
interval_day                                int: units of ``10**-precision`` seconds in all; only the total counts
interval_compound                           tuple of int: months, and units in all
uuid                                        uuid.UUID
user-defined, of one binary value           bytes
struct, list                                tuple
map                                         :class:`Pairs`
=========================================== =======================================================================
"""

from __future__ import annotations

import decimal
import uuid
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import pyarrow as pa

from pyspark_substrait.model.literals import DayTime, Literal
from pyspark_substrait.model.types import (
    UNSIGNED_INTEGERS,
    UUID,
    Binary,
    Date,
    Decimal,
    FixedChar,
    IntervalCompound,
    IntervalDay,
    IntervalYear,
    List,
    Map,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    Struct,
    Type,
    UserDefined,
    concrete,
)

__all__ = [
    "DIGITS",
    "SECONDS_A_DAY",
    "Pairs",
    "Row",
    "UnknownValue",
    "Value",
    "from_literal",
    "padded",
    "rows_of_table",
]

Value: TypeAlias = Any
Row: TypeAlias = tuple[Value, ...]

SECONDS_A_DAY: Final = 86_400
#: decimals are computed with more digits than any type has
DIGITS: Final = decimal.Context(prec=200)
_UNIT_DIGITS: Final = {"s": 0, "ms": 3, "us": 6, "ns": 9}


class UnknownValue(Exception):
    """A value of a type, or in a form, that isn't known here; the message names it."""


class Pairs(tuple[tuple[Value, Value], ...]):
    """The pairs of key and value of a map, in no particular order."""


def from_literal(literal: Literal) -> Value:
    """Return the value of a literal.

    Raises:
        UnknownValue: it is of a user-defined type other than unsigned integers and types of one binary value.
    """
    value: Any = literal.value
    type = concrete(literal.type)
    if value is None:
        return None
    match type:
        case IntervalDay(precision=precision):
            return _total(value, precision)
        case IntervalCompound(precision=precision):
            return value.months, _total(DayTime(*value[1:]), precision)
        case Map():
            return Pairs((from_literal(key), from_literal(item)) for key, item in value)
        case UserDefined(urn=urn) if urn == UNSIGNED_INTEGERS:
            return int(value[0].value)
        case UserDefined(structure=Binary()):
            return value[0].value
        case UserDefined():
            raise UnknownValue(f"literal of type {type}")
        case Struct() | List():
            return tuple(from_literal(item) for item in value)
        case _:
            return padded(value, type)


def _total(value: DayTime, precision: int) -> int:
    return (value.days * SECONDS_A_DAY + value.seconds) * int(10**precision) + value.subseconds


def padded(value: Value, type: Type) -> Value:
    """Return a value in the only form that its type has: a decimal with all its digits, a fixedchar with its blanks."""
    match concrete(type):
        case Decimal(scale=scale) if value is not None:
            return value.quantize(decimal.Decimal(1).scaleb(-scale), context=DIGITS)
        case FixedChar(length=length) if value is not None:
            return value.ljust(length)
        case _:
            return value


# Arrow ---------------------------------------------------------------------------------------------------------------


def rows_of_table(table: pa.Table, types: Sequence[Type]) -> list[Row]:
    """Return the records of an Arrow table as values of the types, columns by position.

    Raises:
        UnknownValue: the type of a column holds no values of its type.
    """
    columns = [_column(column, type) for column, type in zip(table.columns, types, strict=True)]
    return list(zip(*columns, strict=True)) if columns else [()] * table.num_rows


def _column(column: pa.ChunkedArray, type: Type) -> list[Value]:
    try:
        return [_value(scalar, type) for scalar in column]
    except (TypeError, ValueError, AssertionError, AttributeError, decimal.InvalidOperation):
        raise UnknownValue(f"Arrow's {column.type} as {type}") from None


def _value(scalar: Any, type: Type) -> Value:
    if not scalar.is_valid:
        return None
    match concrete(type):
        case Date():
            return scalar.value if pa.types.is_date32(scalar.type) else scalar.value // (SECONDS_A_DAY * 1000)
        case PrecisionTimestamp(precision=p) | PrecisionTimestampTZ(precision=p) | PrecisionTime(precision=p):
            return _units(scalar, p)
        case IntervalDay(precision=p):
            return _units(scalar, p)
        case IntervalYear():
            value = scalar.as_py()
            return value if isinstance(value, int) else value[0]
        case IntervalCompound(precision=p):
            return _compound(scalar, p)
        case UUID():
            value = scalar.as_py()
            return value if isinstance(value, uuid.UUID) else uuid.UUID(bytes=bytes(value))
        case Struct(types=types):
            return tuple(_value(scalar[position], child) for position, child in enumerate(types))
        case List(type=element):
            return tuple(_value(item, element) for item in scalar.values)
        case Map(key=key, value=item):
            return Pairs((_value(entry[0], key), _value(entry[1], item)) for entry in scalar.values)
        case Decimal() as exact:
            value = scalar.as_py()
            return padded(value if isinstance(value, decimal.Decimal) else decimal.Decimal(value), exact)
        case UserDefined(urn=urn, structure=structure) as own if urn != UNSIGNED_INTEGERS and structure != Binary():
            raise UnknownValue(f"values of {own}")
        case _:
            return scalar.as_py()


def _units(scalar: Any, precision: int) -> int:
    """Return a time or duration in units of the precision; an integer or a decimal is in these units already."""
    unit = getattr(scalar.type, "unit", None)
    if unit is None:
        return int(scalar.as_py())
    digits = _UNIT_DIGITS[unit]
    if digits <= precision:
        return int(scalar.value) * int(10 ** (precision - digits))
    units, rest = divmod(int(scalar.value), int(10 ** (digits - precision)))
    if rest:
        raise UnknownValue(f"a time of more than {precision} digits")
    return units


def _compound(scalar: Any, precision: int) -> tuple[int, int]:
    value = scalar.as_py()
    if isinstance(value, dict):
        return int(value["months"]), int(value["units"])
    months, days, nanoseconds = value
    units, rest = divmod((days * SECONDS_A_DAY * 10**9 + nanoseconds) * 10**precision, 10**9)
    assert not rest
    return months, units
