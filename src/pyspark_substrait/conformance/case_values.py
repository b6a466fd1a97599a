"""Types and values in the syntax of function cases."""

from __future__ import annotations

import datetime
import decimal
import math
import re
import struct
from typing import Any

from pyspark_substrait.model.literals import DayTime, LiteralValue
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    UUID,
    Binary,
    Boolean,
    Date,
    Decimal,
    FixedBinary,
    FixedChar,
    Func,
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
)

__all__ = ["Unreadable", "type_of", "value_of"]


class Unreadable(Exception):
    """A case that isn't understood."""


_SIMPLE: dict[str, type[Any]] = {
    "bool": Boolean,
    "boolean": Boolean,
    "i8": I8,
    "i16": I16,
    "i32": I32,
    "i64": I64,
    "fp32": FP32,
    "fp64": FP64,
    "str": String,
    "string": String,
    "vbin": Binary,
    "binary": Binary,
    "date": Date,
    "iyear": IntervalYear,
    "interval_year": IntervalYear,
    "uuid": UUID,
}
_LENGTH: dict[str, type[Any]] = {"fchar": FixedChar, "fixedchar": FixedChar, "vchar": VarChar, "varchar": VarChar}
_LENGTH |= {"fbin": FixedBinary, "fixedbinary": FixedBinary}
_PRECISION: dict[str, type[Any]] = {
    "iday": IntervalDay,
    "interval_day": IntervalDay,
    "pt": PrecisionTime,
    "precision_time": PrecisionTime,
    "pts": PrecisionTimestamp,
    "precision_timestamp": PrecisionTimestamp,
    "ptstz": PrecisionTimestampTZ,
    "precision_timestamp_tz": PrecisionTimestampTZ,
    "icompound": IntervalCompound,
    "interval_compound": IntervalCompound,
}


#: user-defined types: the extension that declares each, and what it is made of
_USER: dict[str, tuple[str, Type]] = {
    **{
        name: ("extension:io.substrait:unsigned_integers", Struct(types=(String(),)))
        for name in ("u8", "u16", "u32", "u64")
    },
    "geometry": ("extension:io.substrait:functions_geometry", Binary()),
}


def type_of(text: str) -> Type:
    """A type in the syntax of the cases: ``dec?<38,2>``."""
    found = re.fullmatch(r"(u!)?(\w+)(\??)(?:<(.*)>)?", text.replace(" ", ""))
    if found is None:
        raise Unreadable(text)
    user, name, nullable, inner = bool(found[1]), found[2].lower(), bool(found[3]), found[4]
    if user:
        urn, structure = _USER[name]
        return UserDefined(urn=urn, name=name, structure=structure, nullable=nullable)
    made: Type
    if name in _SIMPLE:
        made = _SIMPLE[name](nullable=nullable)
        return made
    if name in _LENGTH:
        made = _LENGTH[name](length=int(inner), nullable=nullable)
        return made
    if name in _PRECISION:
        made = _PRECISION[name](precision=int(inner or 6), nullable=nullable)
        return made
    if name in ("dec", "decimal"):
        precision, scale = (int(part) for part in (inner or "38,0").split(","))
        return Decimal(precision=precision, scale=scale, nullable=nullable)
    if name == "list":
        return List(type=type_of(inner), nullable=nullable)
    if name == "struct":
        return Struct(types=tuple(type_of(part) for part in _parts(inner)), nullable=nullable)
    if name == "map":
        key, value = (type_of(part) for part in _parts(inner))
        return Map(key=key, value=value, nullable=nullable)
    if name == "func":
        taken, _, given = inner.rpartition("->")
        types = tuple(type_of(part) for part in _parts(re.sub(r"^\((.*)\)$", r"\1", taken)))
        return Func(parameter_types=types, return_type=type_of(given), nullable=nullable)
    raise Unreadable(text)


def _parts(text: str) -> list[str]:
    """The parts between commas that are in no brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += {"<": 1, ">": -1}.get(character, 0)
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part for part in parts if part]


def value_of(text: str, type: Type) -> LiteralValue:
    """The value of a literal that isn't nested."""
    if text.lower() == "null":
        return None
    match type:
        case Boolean():
            return text.lower() == "true"
        case I8() | I16() | I32() | I64():
            return int(text)
        case FP32() | FP64():
            number = math.nan if text.lower() in ("nan", "snan") else float(text)
            return struct.unpack("f", struct.pack("f", number))[0] if isinstance(type, FP32) else number
        case Decimal(scale=scale):
            return decimal.Decimal(text).quantize(decimal.Decimal(1).scaleb(-scale), context=decimal.Context(prec=76))
        case String() | VarChar():
            return _unescaped(text[1:-1])
        case FixedChar(length=length):
            return _unescaped(text[1:-1]).ljust(length)
        case Binary() | FixedBinary():
            return text[1:-1].encode()
        case Date():
            return (datetime.date.fromisoformat(text) - datetime.date(1970, 1, 1)).days
        case PrecisionTime(precision=precision):
            return _units(f"1970-01-01T{text}", precision)
        case PrecisionTimestamp(precision=precision) | PrecisionTimestampTZ(precision=precision):
            return _units(text, precision)
        case IntervalYear():
            found = re.fullmatch(r"P(?:(-?\d+)Y)?(?:(-?\d+)M)?", text, re.IGNORECASE)
            assert found is not None
            return int(found[1] or 0) * 12 + int(found[2] or 0)
        case IntervalDay(precision=precision):
            return _day_time(text, precision)
        case _:
            raise Unreadable(str(type))


def _unescaped(text: str) -> str:
    """Replace escapes; every other backslash stands for itself, because regular expressions are full of them."""
    return re.sub(r"\\([nrt'])", lambda found: {"n": "\n", "r": "\r", "t": "\t"}.get(found[1], "'"), text)


def _units(text: str, precision: int) -> int:
    """A date and time in ISO form, with or without an offset, as units since 1970."""
    found = re.fullmatch(r"([^.]+?)(?:\.(\d+))?([-+]\d\d:\d\d)?", text)
    assert found is not None, text
    moment = datetime.datetime.fromisoformat(f"{found[1]}{found[3] or '+00:00'}")
    seconds = (moment - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)) // datetime.timedelta(seconds=1)
    return seconds * int(10**precision) + int((found[2] or "").ljust(12, "0")) // int(10 ** (12 - precision))


def _day_time(text: str, precision: int) -> DayTime:
    number = r"(-?[\d.]+)"
    found = re.fullmatch(rf"P(?:{number}D)?(?:T(?:{number}H)?(?:{number}M)?(?:{number}S)?)?", text, re.IGNORECASE)
    assert found is not None, text
    days, hours, minutes = (int(found[group] or 0) for group in (1, 2, 3))
    seconds = decimal.Decimal(found[4] or 0)
    fraction = int((seconds % 1).scaleb(precision))
    return DayTime(days, hours * 3600 + minutes * 60 + int(seconds), fraction)
