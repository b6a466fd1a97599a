"""Schemas that a user gives as Arrow schemas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model import types
from pyspark_substrait.model.types import NamedStruct, Struct, Type, with_nullability

__all__ = ["named_struct"]

_SIMPLE: dict[Any, Type] = {
    pa.bool_(): types.Boolean(),
    pa.int8(): types.I8(),
    pa.int16(): types.I16(),
    pa.int32(): types.I32(),
    pa.int64(): types.I64(),
    pa.float32(): types.FP32(),
    pa.float64(): types.FP64(),
    pa.string(): types.String(),
    pa.large_string(): types.String(),
    pa.binary(): types.Binary(),
    pa.large_binary(): types.Binary(),
    pa.date32(): types.Date(),
    pa.month_day_nano_interval(): types.IntervalCompound(precision=9),
}
_DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}


def named_struct(schema: Any, what: str) -> NamedStruct:
    """The Substrait schema of an Arrow schema.

    Args:
        schema: the Arrow schema; any other value is an error.
        what: its name in error messages.

    Raises:
        InvalidPlanError: it isn't an Arrow schema, or has a type that no single Substrait type represents.
    """
    if not isinstance(schema, pa.Schema):
        raise InvalidPlanError(
            f"{what} is a {type(schema).__name__}", hint="It is a pyarrow.Schema or a model.types.NamedStruct"
        )
    found = tuple(_type(field, what) for field in schema)
    return NamedStruct(names=tuple(_names(schema)), struct=Struct(types=found))


def _names(fields: Any) -> Iterator[str]:
    """Yield the names of fields and of the fields nested in them, depth first."""
    for field in fields:
        yield field.name
        yield from _inner(field.type)


def _inner(type: Any) -> Iterator[str]:
    if pa.types.is_struct(type):
        yield from _names(type.field(position) for position in range(type.num_fields))
    elif pa.types.is_map(type):
        yield from _inner(type.key_type)
        yield from _inner(type.item_type)
    elif pa.types.is_list(type) or pa.types.is_large_list(type):
        yield from _inner(type.value_type)


def _type(field: Any, what: str) -> Type:
    return with_nullability(_required(field, what), field.nullable)


def _required(field: Any, what: str) -> Type:
    kind = field.type
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if pa.types.is_decimal128(kind):
        return types.Decimal(precision=kind.precision, scale=kind.scale)
    if pa.types.is_fixed_size_binary(kind):
        return types.FixedBinary(length=kind.byte_width)
    if pa.types.is_timestamp(kind):
        zoned = types.PrecisionTimestamp if kind.tz is None else types.PrecisionTimestampTZ
        return zoned(precision=_DIGITS[kind.unit])
    if pa.types.is_time(kind):
        return types.PrecisionTime(precision=_DIGITS[kind.unit])
    if pa.types.is_duration(kind):
        return types.IntervalDay(precision=_DIGITS[kind.unit])
    if pa.types.is_struct(kind):
        return Struct(types=tuple(_type(kind.field(position), what) for position in range(kind.num_fields)))
    if pa.types.is_map(kind):
        return types.Map(key=_type(kind.key_field, what), value=_type(kind.item_field, what))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return types.List(type=_type(kind.value_field, what))
    raise InvalidPlanError(
        f"{what} has {field.name} of the Arrow type {kind}", hint="State its type with a model.types.NamedStruct"
    )
