"""Results as Arrow tables: the natural Arrow type of each Substrait type, and the user's names."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from pyspark_substrait.errors import ExecutionError, UnsupportedPlanError
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    AliasedType,
    Binary,
    Boolean,
    Date,
    Decimal,
    FixedBinary,
    FixedChar,
    IntervalDay,
    List,
    Map,
    NamedStruct,
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

__all__ = ["arrow_type", "schema", "table"]

_UNITS = {0: "s", 3: "ms", 6: "us", 9: "ns"}


def schema(names: NamedStruct) -> pa.Schema:
    """The Arrow schema of a result. Names may repeat."""
    depth_first = iter(names.names)
    return pa.schema([_field(next(depth_first), type, depth_first) for type in names.struct.types])


def _field(name: str, type: Type, names: Iterator[str]) -> pa.Field:
    return pa.field(name, arrow_type(type, names), nullable=type.nullable)


def arrow_type(type: Type, names: Iterator[str]) -> pa.DataType:
    """The Arrow type of a Substrait type; ``names`` gives the names of nested fields, depth first.

    Raises:
        UnsupportedPlanError: the type has no Arrow form yet.
    """
    match concrete(type):
        case Boolean():
            return pa.bool_()
        case I8():
            return pa.int8()
        case I16():
            return pa.int16()
        case I32():
            return pa.int32()
        case I64():
            return pa.int64()
        case FP32():
            return pa.float32()
        case FP64():
            return pa.float64()
        case String() | VarChar() | FixedChar():
            return pa.string()
        case Binary():
            return pa.binary()
        case FixedBinary(length=length):
            return pa.binary(length)
        case Date():
            return pa.date32()
        case Decimal(precision=precision, scale=scale):
            return pa.decimal128(precision, scale)
        case PrecisionTimestamp(precision=precision):
            return pa.timestamp(_unit(precision))
        case PrecisionTimestampTZ(precision=precision):
            return pa.timestamp(_unit(precision), tz="UTC")
        case PrecisionTime(precision=precision):
            return pa.time32(_unit(precision)) if precision <= 3 else pa.time64(_unit(precision))
        case IntervalDay(precision=precision):
            return pa.duration(_unit(precision))
        case Struct(types=types):
            return pa.struct([_field(next(names), child, names) for child in types])
        case List(type=element):
            return pa.list_(_field("element", element, names))
        case Map(key=key, value=value):
            key_type = arrow_type(key, names)
            return pa.map_(key_type, _field("value", value, names))
        case UserDefined(structure=structure) if structure is not None:
            return arrow_type(structure, names)
        case AliasedType():
            raise AssertionError("concrete() sees through aliases")
        case other:
            raise UnsupportedPlanError(f"a column of type {other} can't be handed back as Arrow yet")


def _unit(precision: int) -> str:
    """The coarsest Arrow unit that holds a precision."""
    return next(unit for digits, unit in _UNITS.items() if digits >= precision)


def table(result: pa.Table, wanted: pa.Schema) -> pa.Table:
    """A result of Spark with the names, types and nullability of a :func:`schema`.

    Raises:
        ExecutionError: a column that the plan says is never null has a null.
    """
    columns = []
    for position, field in enumerate(wanted):
        column = result.column(position)
        if not field.nullable and column.null_count:
            raise ExecutionError(
                f"the column {field.name} has {column.null_count} nulls, but the plan says it has none"
            )
        chunks = [_converted(chunk, field.type) for chunk in column.chunks]
        columns.append(pa.chunked_array(chunks, type=field.type))
    return pa.Table.from_arrays(columns, schema=wanted)


def _converted(array: pa.Array, type: pa.DataType) -> pa.Array:
    """The same values in another type; the fields of nested ones are matched by position."""
    if array.type.equals(type, check_metadata=False):
        return array
    if pa.types.is_struct(type):
        parts = [_converted(array.field(position), type.field(position).type) for position in range(type.num_fields)]
        mask = array.is_null() if array.null_count else None
        return pa.StructArray.from_arrays(parts, fields=list(type), mask=mask)
    if pa.types.is_list(type):
        mask = array.is_null() if array.null_count else None
        offsets, values = _spread(array)
        return pa.ListArray.from_arrays(offsets, _converted(values, type.value_type), type=type, mask=mask)
    if pa.types.is_map(type):
        mask = array.is_null() if array.null_count else None
        filled = pa.concat_arrays([array])
        keys, items = _converted(filled.keys, type.key_type), _converted(filled.items, type.item_type)
        return pa.MapArray.from_arrays(filled.offsets, keys, items, type=type, mask=mask)
    return array.cast(type)


def _spread(array: pa.Array) -> tuple[pa.Array, pa.Array]:
    """The offsets and values of a list array, both from 0 on, without values under nulls."""
    filled = pa.concat_arrays([array])
    return filled.offsets, filled.values
