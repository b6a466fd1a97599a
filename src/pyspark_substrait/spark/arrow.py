"""Results as Arrow tables: the natural Arrow type of each Substrait type, and the names of the plan.

If Arrow has no such type, the column has the values as Spark carries them, and the metadata of the field states the
type (``substrait.type``): times and timestamps of more than nine fractional digits are int64, the count of their
units; an interval_day of that precision is the total count, a decimal128(38, 0); an interval_compound is a struct of
its months and of that count.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pyarrow as pa
import pyarrow.compute as pc
from typing_extensions import assert_never

from pyspark_substrait.errors import ExecutionError, UnsupportedPlanError
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    UUID,
    AliasedType,
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
    NamedStruct,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Struct,
    Type,
    Unbound,
    UserDefined,
    VarChar,
    concrete,
    with_nullability,
)
from pyspark_substrait.sql.compiler.types import FINEST, field_name, units_per_second, unsigned_bits

__all__ = ["METADATA", "arrow_type", "schema", "table"]

#: the metadata key of a field for its Substrait type, if its Arrow type doesn't determine it
METADATA = "substrait.type"

#: the fractional digits of Arrow's finest unit
_FINEST = 9
_UNITS = {0: "s", 3: "ms", 6: "us", _FINEST: "ns"}
_UNSIGNED = {8: pa.uint8(), 16: pa.uint16(), 32: pa.uint32(), 64: pa.uint64()}
_NANOS_OF_DAY = 86_400 * 10**_FINEST
_UNITS_IN_ALL = pa.decimal128(38, 0)


def schema(names: NamedStruct) -> pa.Schema:
    """The Arrow schema of a result. Names may repeat."""
    depth_first = iter(names.names)
    return pa.schema([_field(next(depth_first), type, depth_first) for type in names.struct.types])


def _field(name: str, type: Type, names: Iterator[str]) -> pa.Field:
    metadata = {METADATA: str(with_nullability(concrete(type), False))} if _beyond_arrow(type) else None
    return pa.field(name, arrow_type(type, names), nullable=type.nullable, metadata=metadata)


def _beyond_arrow(type: Type) -> bool:
    match concrete(type):
        case (
            PrecisionTimestamp(precision=precision)
            | PrecisionTimestampTZ(precision=precision)
            | PrecisionTime(precision=precision)
            | IntervalDay(precision=precision)
            | IntervalCompound(precision=precision)
        ):
            return precision > _FINEST
        case _:
            return False


def arrow_type(type: Type, names: Iterator[str]) -> pa.DataType:
    """The Arrow type of a Substrait type; ``names`` gives the names of nested fields, depth first.

    Raises:
        UnsupportedPlanError: no value of the type can be returned.
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
        case UUID():
            return pa.binary(16)
        case Date():
            return pa.date32()
        case Decimal(precision=precision, scale=scale):
            return pa.decimal128(precision, scale)
        case PrecisionTimestamp(precision=precision):
            return pa.int64() if precision > _FINEST else pa.timestamp(_unit(precision))
        case PrecisionTimestampTZ(precision=precision):
            return pa.int64() if precision > _FINEST else pa.timestamp(_unit(precision), tz="UTC")
        case PrecisionTime(precision=precision):
            if precision > _FINEST:
                return pa.int64()
            return pa.time32(_unit(precision)) if precision <= 3 else pa.time64(_unit(precision))
        case IntervalDay(precision=precision):
            return _UNITS_IN_ALL if precision > _FINEST else pa.duration(_unit(precision))
        case IntervalYear():
            return pa.month_day_nano_interval()
        case IntervalCompound(precision=precision):
            if precision <= _FINEST:
                return pa.month_day_nano_interval()
            return pa.struct([("months", pa.int32()), ("units", _UNITS_IN_ALL)])
        case Struct(types=types):
            return pa.struct([_field(next(names), child, names) for child in types])
        case List(type=element):
            return pa.list_(_field("element", element, names))
        case Map(key=key, value=value):
            # Arrow's keys are never null, whatever the plan's type says
            key_field = _field("key", key, names).with_nullable(False)
            return pa.map_(key_field, _field("value", value, names))
        case UserDefined(structure=structure) as own:
            bits = unsigned_bits(own)
            if bits is not None:
                return _UNSIGNED[bits]
            if structure is None:
                raise UnsupportedPlanError(f"a column of type {own} cannot be returned: it has no known structure")
            return arrow_type(structure, map(field_name, count()))
        case Func() | Unbound() as other:
            raise UnsupportedPlanError(f"a column of type {other} cannot be returned")
        case AliasedType():
            raise AssertionError("concrete() sees through aliases")
        case other:
            assert_never(other)


def _unit(precision: int) -> str:
    """The coarsest Arrow unit that holds a precision."""
    return next(unit for digits, unit in _UNITS.items() if digits >= precision)


def table(result: pa.Table, names: NamedStruct) -> pa.Table:
    """Convert a result of Spark to the names, types and nullability of the plan.

    Args:
        result: the columns in the types that Spark returns (``handed_type``).
        names: the plan's names and types.

    Raises:
        ExecutionError: a value of a required type is null, or a value is too large for Arrow's type.
        UnsupportedPlanError: Arrow has no type that could hold a column.
    """
    wanted = schema(names)
    if not wanted.names:
        # otherwise the columns keep the number of rows
        return result.select([])
    columns = []
    for position, (field, type) in enumerate(zip(wanted, names.struct.types, strict=True)):
        column = result.column(position)
        if not field.nullable and column.null_count:
            raise ExecutionError(
                f"the column {field.name} has {column.null_count} nulls, but the plan says it has none"
            )
        try:
            chunks = [_converted(chunk, type, field.type) for chunk in column.chunks]
        except (pa.ArrowInvalid, OverflowError) as error:
            raise ExecutionError(
                f"a value of the column {field.name}, a {type}, does not fit into Arrow's {field.type}: {error}"
            ) from error
        columns.append(pa.chunked_array(chunks, type=field.type))
    return pa.Table.from_arrays(columns, schema=wanted)


def _converted(array: pa.Array, type: Type, arrow: pa.DataType) -> pa.Array:
    """Convert values to their Arrow type; the fields of structs are matched by position."""
    match concrete(type):
        case PrecisionTimestamp(precision=p) | PrecisionTimestampTZ(precision=p) | PrecisionTime(precision=p) if (
            FINEST < p <= _FINEST
        ):
            return pc.multiply_checked(array, units_per_second(_FINEST - p)).cast(arrow)
        case IntervalDay(precision=p) if FINEST < p <= _FINEST:
            return pc.multiply_checked(array.cast(pa.int64()), units_per_second(_FINEST - p)).cast(arrow)
        case IntervalYear():
            return _months(array, arrow)
        case IntervalCompound(precision=precision):
            return _compound(array, precision, arrow)
        case UserDefined(structure=structure) as own if structure is not None and unsigned_bits(own) is None:
            return _converted(array, structure, arrow)
        case Struct(types=types):
            parts = [_converted(array.field(i), child, arrow.field(i).type) for i, child in enumerate(types)]
            for child, part in zip(types, parts, strict=True):
                # a null struct has null fields
                _check_nulls(part.filter(array.is_valid()) if part.null_count and array.null_count else part, child)
            if not parts:
                return array.cast(arrow)
            return pa.StructArray.from_arrays(parts, fields=list(arrow), mask=_mask(array))
        case List(type=element):
            filled = _filled(array)
            values = _converted(filled.values, element, arrow.value_type)
            _check_nulls(values, element)
            return pa.ListArray.from_arrays(filled.offsets, values, type=arrow, mask=_mask(array))
        case Map(key=key, value=value):
            filled = _filled(array)
            keys = _converted(filled.keys, key, arrow.key_type)
            values = _converted(filled.items, value, arrow.item_type)
            _check_nulls(values, value)
            return pa.MapArray.from_arrays(filled.offsets, keys, values, type=arrow, mask=_mask(array))
        case _:
            return array if array.type.equals(arrow) else array.cast(arrow)


def _check_nulls(array: pa.Array, type: Type) -> None:
    if not type.nullable and array.null_count:
        raise ExecutionError(f"{array.null_count} values of type {type} inside a column are null")


def _months(array: pa.Array, arrow: pa.DataType) -> pa.Array:
    return pa.array([None if months is None else (months, 0, 0) for months in array.to_pylist()], arrow)


def _compound(array: pa.Array, precision: int, arrow: pa.DataType) -> pa.Array:
    months, rest = array.field(0), array.field(1)
    if precision > _FINEST:
        return pa.StructArray.from_arrays([months, rest], fields=list(arrow), mask=_mask(array))
    if pa.types.is_duration(rest.type):
        rest = rest.cast(pa.int64())
    nanos = units_per_second(_FINEST - max(precision, FINEST))
    parts: list[tuple[int, int, int] | None] = []
    for valid, month, units in zip(array.is_valid().to_pylist(), months.to_pylist(), rest.to_pylist(), strict=True):
        if not valid:
            parts.append(None)
            continue
        # the days and the remainder have the same sign
        days, left = divmod(abs(int(units)) * nanos, _NANOS_OF_DAY)
        parts.append((month, -days, -left) if units < 0 else (month, days, left))
    return pa.array(parts, arrow)


def _mask(array: pa.Array) -> pa.Array | None:
    return array.is_null() if array.null_count else None


def _filled(array: pa.Array) -> pa.Array:
    """Return a list or map array with 32-bit offsets that begin with 0."""
    if pa.types.is_large_list(array.type):
        array = array.cast(pa.list_(array.type.value_field))
    return pa.concat_arrays([array])
