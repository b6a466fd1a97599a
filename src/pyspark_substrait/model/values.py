"""Literals from Python values.

=====================================  ================================================================================
type                                   values
=====================================  ================================================================================
any nullable type                      None
boolean                                bool
i8, i16, i32, i64, unsigned integers   int
fp32, fp64                             float, or an int that the type holds exactly; what fp32 can't hold is rounded
decimal                                Decimal or int, with no more digits than the type has
string, varchar, fixedchar             str
binary, fixedbinary                    bytes, bytearray
date                                   date
precision_time                         time without a zone, or an int: units since midnight
precision_timestamp                    datetime without a zone, or an int: units since 1970
precision_timestamp_tz                 datetime with a zone, or an int: units since 1970 in UTC
interval_year                          int: months
interval_day                           timedelta, or the three parts of ``DayTime``
interval_compound                      the four parts of ``Compound``
uuid                                   UUID
struct                                 tuple or list, one value for each field
list                                   tuple or list
map                                    dict, or pairs where a key is a value that Python can't hash
user-defined                           as the structure of the type
=====================================  ================================================================================

A :class:`Literal` stands for itself. Nothing is cut or rounded to fit, but for fp32.
"""

from __future__ import annotations

import datetime
import decimal
import math
import struct
import uuid
from collections.abc import Mapping
from typing import Final

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
    same_type,
)

__all__ = ["literal_of"]

_BITS: Final[Mapping[type[Type], int]] = {I8: 8, I16: 16, I32: 32, I64: 64}
_EPOCH: Final = datetime.datetime(1970, 1, 1)
_MICROSECOND: Final = datetime.timedelta(microseconds=1)
_DIGITS: Final = decimal.Context(prec=400)


def literal_of(value: object, type: Type) -> Literal:
    """Return a Python value as a literal of a type.

    Raises:
        ParameterError: it isn't a Python value for the type, or not in the type's range.
    """
    if isinstance(value, Literal):
        if not same_type(value.type, type):
            raise ParameterError(f"a literal of type {value.type} was given where {type} is needed")
        value = value.value
        if value is not None:
            return Literal(type=type, value=value)
    if value is None:
        if not type.nullable:
            raise ParameterError(f"None was given, but a {type} is never null")
        return Literal(type=type, value=None)
    match concrete(type), value:
        case Boolean(), bool():
            return Literal(type=type, value=value)
        case ((I8() | I16() | I32() | I64()) as integer, int()) if not isinstance(value, bool):
            return _number(value, type, _BITS[integer.__class__])
        case ((FP32() | FP64()), (float() | int())) if not isinstance(value, bool):
            return Literal(type=type, value=_float(value, type))
        case Decimal() as exact, (decimal.Decimal() | int()) if not isinstance(value, bool):
            return Literal(type=type, value=_decimal(decimal.Decimal(value), exact))
        case ((String() | VarChar() | FixedChar()), str()):
            return Literal(type=type, value=_text(value, type))
        case (Binary(), bytes() | bytearray()):
            return Literal(type=type, value=bytes(value))
        case (FixedBinary(length=length), bytes() | bytearray()):
            if len(value) != length:
                raise ParameterError(f"{len(value)} bytes were given for a {type}")
            return Literal(type=type, value=bytes(value))
        case Date(), datetime.date() if not isinstance(value, datetime.datetime):
            return Literal(type=type, value=(value - _EPOCH.date()).days)
        case PrecisionTime(precision=precision), datetime.time() if value.tzinfo is None:
            since = datetime.datetime.combine(_EPOCH, value) - _EPOCH
            return Literal(type=type, value=_units(since, precision, type))
        case PrecisionTimestamp(precision=precision), datetime.datetime() if value.tzinfo is None:
            return _number(_units(value - _EPOCH, precision, type), type, 64)
        case PrecisionTimestampTZ(precision=precision), datetime.datetime() if value.tzinfo is not None:
            since = value - _EPOCH.replace(tzinfo=datetime.timezone.utc)
            return _number(_units(since, precision, type), type, 64)
        case ((PrecisionTime() | PrecisionTimestamp() | PrecisionTimestampTZ()), int()) if not isinstance(value, bool):
            return _number(value, type, 64)
        case IntervalYear(), int() if not isinstance(value, bool):
            return _number(value, type, 32)
        case IntervalDay(), DayTime():
            return Literal(type=type, value=value)
        case IntervalDay(precision=precision), datetime.timedelta():
            rest = datetime.timedelta(microseconds=value.microseconds)
            return Literal(type=type, value=DayTime(value.days, value.seconds, _units(rest, precision, type)))
        case IntervalCompound(), Compound():
            return Literal(type=type, value=value)
        case UUID(), uuid.UUID():
            return Literal(type=type, value=value)
        case List(type=element), (list() | tuple()):
            return Literal(type=type, value=tuple(_part(item, element, index) for index, item in enumerate(value)))
        case Struct(types=types), (list() | tuple()):
            return Literal(type=type, value=_fields(tuple(value), types, type))
        case Map(), (dict() | list() | tuple()):
            return _map(list(value.items()) if isinstance(value, dict) else list(value), type)
        case UserDefined(structure=structure) as own, _ if structure is not None:
            if own.urn == UNSIGNED_INTEGERS and isinstance(value, int) and not isinstance(value, bool):
                value = _unsigned(value, own)
            if isinstance(structure, Struct):
                parts = tuple(value) if isinstance(value, list | tuple) else (value,)
                return Literal(type=type, value=_fields(parts, structure.types, type))
            return Literal(type=type, value=(literal_of(value, structure),))
        case _:
            raise ParameterError(f"{_shown(value)} was given where {type} is needed", hint=_hint(concrete(type), value))


def _shown(value: object) -> str:
    text = repr(value)
    return f"{text if len(text) <= 60 else text[:57] + '…'} ({value.__class__.__name__})"


def _hint(type: Type, value: object) -> str | None:
    match type, value:
        case PrecisionTimestamp(), datetime.datetime():
            return "It has no time zone: give a datetime without one"
        case PrecisionTimestampTZ(), datetime.datetime():
            return "It is an instant: give a datetime with a time zone"
        case Decimal(), float():
            return "Give a Decimal, which is exact"
        case _:
            return None


def _number(value: int, type: Type, bits: int) -> Literal:
    if not -(1 << bits - 1) <= value < 1 << bits - 1:
        raise ParameterError(f"{value} is out of range for a {type}")
    return Literal(type=type, value=value)


def _unsigned(value: int, type: UserDefined) -> str:
    bits = int(type.name[1:])
    if not 0 <= value < 1 << bits:
        raise ParameterError(f"{value} is out of range for a {type}")
    return str(value)


def _float(value: float, type: Type) -> float:
    try:
        number = float(value)
        if isinstance(concrete(type), FP32) and math.isfinite(number):
            number = struct.unpack("f", struct.pack("f", number))[0]
    except OverflowError:
        raise ParameterError(f"{value!r} is out of range for a {type}") from None
    if isinstance(value, int) and number != value:
        raise ParameterError(f"{value} cannot be held exactly by a {type}")
    return number


def _decimal(value: decimal.Decimal, type: Decimal) -> decimal.Decimal:
    if not value.is_finite():
        raise ParameterError(f"{value} is no {type}")
    exact = value.quantize(decimal.Decimal(1).scaleb(-type.scale), context=_DIGITS)
    if exact != value:
        raise ParameterError(f"{value} has more than {type.scale} digits behind the point, which a {type} cannot hold")
    if exact and exact.adjusted() + 1 > type.precision - type.scale:
        raise ParameterError(f"{value} is out of range for a {type}")
    return exact


def _text(value: str, type: Type) -> str:
    here = concrete(type)
    if isinstance(here, VarChar | FixedChar) and len(value) > here.length:
        raise ParameterError(f"a text of {len(value)} characters was given for a {type}")
    return value.ljust(here.length) if isinstance(here, FixedChar) else value


def _units(since: datetime.timedelta, precision: int, type: Type) -> int:
    micros = since // _MICROSECOND
    if precision >= 6:
        return micros * int(10 ** (precision - 6))
    units, rest = divmod(micros, int(10 ** (6 - precision)))
    if rest:
        raise ParameterError(f"the value has finer fractions of a second than a {type}")
    return units


def _part(value: object, type: Type, index: int) -> Literal:
    with at(index):
        return literal_of(value, type)


def _fields(values: tuple[object, ...], types: tuple[Type, ...], whole: Type) -> tuple[Literal, ...]:
    if len(values) != len(types):
        raise ParameterError(f"{len(values)} values were given for the {len(types)} fields of a {whole}")
    return tuple(_part(value, type, index) for index, (value, type) in enumerate(zip(values, types, strict=True)))


def _map(pairs: list[object], type: Type) -> Literal:
    here = concrete(type)
    assert isinstance(here, Map)
    entries: list[tuple[Literal, Literal]] = []
    for index, pair in enumerate(pairs):
        with at(index):
            if not (isinstance(pair, list | tuple) and len(pair) == 2):
                raise ParameterError(f"{_shown(pair)} was given where a pair of a key and a value is needed")
            entries.append((_part(pair[0], here.key, 0), _part(pair[1], here.value, 1)))
    return Literal(type=type, value=tuple(entries))
