"""Types of DuckDB. A struct is a tuple there, whose fields have no names, until it is a column of the result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from pyspark_substrait.codes import Code
from pyspark_substrait.engines.dialects.standard import is_float
from pyspark_substrait.errors import UnsupportedPlanError
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
    VarChar,
    concrete,
)

__all__ = ["INTEGERS", "named_type", "types"]

_MICROS: Final = 6
INTEGERS: Final[Mapping[type[Type], tuple[str, int]]] = {
    I8: ("TINYINT", 8),
    I16: ("SMALLINT", 16),
    I32: ("INTEGER", 32),
    I64: ("BIGINT", 64),
}
"""The types of integers, and how many bits they have."""


def types(type: Type) -> str | None:
    """Return DuckDB's type."""
    match concrete(type):
        case Boolean():
            return "BOOLEAN"
        case I8() | I16() | I32() | I64() as one:
            return INTEGERS[one.__class__][0]
        case FP32():
            return "FLOAT"
        case FP64():
            return "DOUBLE"
        case String() | VarChar():
            return "VARCHAR"
        case Binary():
            return "BLOB"
        case Date():
            return "DATE"
        case UUID():
            return "UUID"
        case Decimal(precision=precision, scale=scale):
            return f"DECIMAL({precision}, {scale})"
        case PrecisionTime(precision=precision) if precision <= _MICROS:
            return "TIME"
        case PrecisionTimestamp(precision=precision) if precision <= _MICROS:
            return "TIMESTAMP"
        case PrecisionTimestampTZ(precision=precision) if precision <= _MICROS:
            return "TIMESTAMPTZ"
        case IntervalYear():
            return "INTERVAL"
        case IntervalDay(precision=precision) if precision <= _MICROS:
            return "INTERVAL"
        case List() | Struct() | Map() as one:
            return _nested(one, None)
        case _:
            return None


def named_type(type: Type, names: Iterator[str]) -> str:
    """Return a type whose structs have fields of these names, which are in the order of a schema.

    Raises:
        UnsupportedPlanError: DuckDB can't have these names.
    """
    found = _nested(type, names)
    assert found is not None
    return found


def _nested(type: Type, names: Iterator[str] | None) -> str | None:
    match concrete(type):
        case List(type=element):
            inner = _nested(element, names)
            return None if inner is None else f"{inner}[]"
        case Map(key=key, value=value):
            if is_float(key):
                return None
            one, other = _nested(key, names), _nested(value, names)
            return None if one is None or other is None else f"MAP({one}, {other})"
        case Struct(types=fields):
            return _struct(fields, names)
        case other:
            return types(other)


def _struct(fields: tuple[Type, ...], names: Iterator[str] | None) -> str | None:
    own, parts = [], []
    for field in fields:
        own.append("" if names is None else next(names))
        part = _nested(field, names)
        if part is None:
            return None
        parts.append(part)
    if not parts:
        return None
    if names is None:
        return f"TUPLE({', '.join(parts)})"
    if len({name.lower() for name in own}) < len(own) or any(not name or "\0" in name for name in own):
        raise UnsupportedPlanError(
            f"DuckDB can't have a struct with fields of the names {', '.join(map(repr, own))}",
            hint="Give them names that are not empty, and differ in more than their case",
            code=Code.TARGET_FEATURE,
        )
    quoted = [name.replace('"', '""') for name in own]
    return "STRUCT({})".format(", ".join(f'"{name}" {part}' for name, part in zip(quoted, parts, strict=True)))
