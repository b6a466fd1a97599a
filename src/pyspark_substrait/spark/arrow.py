"""Results as Arrow tables: the natural Arrow type of each Substrait type, and the names of the plan."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from pyspark_substrait.errors import ExecutionError
from pyspark_substrait.model.types import (
    IntervalCompound,
    IntervalDay,
    IntervalYear,
    List,
    Map,
    NamedStruct,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    Struct,
    Type,
    UserDefined,
    concrete,
)
from pyspark_substrait.spark.arrow_types import FINEST_IN_ARROW, METADATA, arrow_type, schema
from pyspark_substrait.sql.compiler.types import FINEST, units_per_second, unsigned_bits

__all__ = ["METADATA", "arrow_type", "schema", "table"]

_NANOS_OF_DAY = 86_400 * 10**FINEST_IN_ARROW


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
            FINEST < p <= FINEST_IN_ARROW
        ):
            return pc.multiply_checked(array, units_per_second(FINEST_IN_ARROW - p)).cast(arrow)
        case IntervalDay(precision=p) if FINEST < p <= FINEST_IN_ARROW:
            return pc.multiply_checked(array.cast(pa.int64()), units_per_second(FINEST_IN_ARROW - p)).cast(arrow)
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
    if precision > FINEST_IN_ARROW:
        return pa.StructArray.from_arrays([months, rest], fields=list(arrow), mask=_mask(array))
    if pa.types.is_duration(rest.type):
        rest = rest.cast(pa.int64())
    nanos = units_per_second(FINEST_IN_ARROW - max(precision, FINEST))
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
