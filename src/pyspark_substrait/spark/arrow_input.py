"""Convert Arrow tables to types that Spark accepts.

Spark has fewer types than Arrow. Types that it doesn't have, or whose digits it would cut, are converted to types that
hold every value: nanoseconds to their count, unsigned integers to the next larger signed type, an interval of months,
days and nanoseconds to a struct of the three. The Arrow type determines what such a column means (see
``conversions``).
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["MONTHS_DAYS_NANOS", "plain_schema", "plain_table", "stored_schema"]

#: an interval of months, days and nanoseconds
MONTHS_DAYS_NANOS = pa.struct([("months", pa.int32()), ("days", pa.int32()), ("nanos", pa.int64())])

_WIDER = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
    pa.float16(): pa.float32(),
    pa.date64(): pa.date32(),
    pa.large_string(): pa.string(),
    pa.string_view(): pa.string(),
    pa.large_binary(): pa.binary(),
    pa.binary_view(): pa.binary(),
    pa.month_day_nano_interval(): MONTHS_DAYS_NANOS,
}


def plain_table(table: pa.Table, *, has_times: bool = True) -> pa.Table:
    """Convert a table to types that Spark accepts, without changing any value.

    Args:
        table: the table.
        has_times: whether Spark has times of day; otherwise they become the count of their units.

    Raises:
        pa.ArrowInvalid: a value doesn't fit Spark's type (a timestamp too far in the future, more than 38 digits).
    """
    schema = plain_schema(table.schema, has_times=has_times)
    if schema.equals(table.schema):
        return table
    columns = [
        pa.chunked_array([_plain(chunk, field.type) for chunk in column.chunks], type=field.type)
        for column, field in zip(table.columns, schema, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def plain_schema(schema: pa.Schema, *, has_times: bool = True) -> pa.Schema:
    """The schema of :func:`plain_table`."""
    return pa.schema([field.with_type(_plain_type(field.type, has_times)) for field in schema])


def stored_schema(schema: pa.Schema, *, has_times: bool = True) -> pa.Schema:
    """Return the types in which Spark reads all columns of a Parquet file with this Arrow schema.

    Raises:
        pa.ArrowNotImplementedError: there is one that it can't read.
    """
    return pa.schema([field.with_type(_stored_type(field.type, has_times)) for field in schema])


def _plain_type(type: pa.DataType, has_times: bool) -> pa.DataType:
    if type in _WIDER:
        return _WIDER[type]
    if isinstance(type, pa.BaseExtensionType):
        return _plain_type(type.storage_type, has_times)
    if pa.types.is_dictionary(type) or pa.types.is_run_end_encoded(type):
        return _plain_type(type.value_type, has_times)
    if pa.types.is_fixed_size_binary(type):
        return pa.binary()
    if pa.types.is_timestamp(type):
        return pa.int64() if type.unit == "ns" else pa.timestamp("us", type.tz)
    if pa.types.is_time(type):
        return pa.time64("us") if type.unit != "ns" and has_times else pa.int64()
    if pa.types.is_duration(type):
        return pa.int64() if type.unit == "ns" else pa.duration("us")
    if pa.types.is_decimal(type):
        # a negative scale adds zeros before the point
        digits, scale = type.precision + max(-type.scale, 0), max(type.scale, 0)
        return pa.decimal128(min(digits, 38), scale)
    if pa.types.is_struct(type):
        # PySpark fails on null structs with required fields
        return pa.struct([field.with_type(_plain_type(field.type, has_times)).with_nullable(True) for field in type])
    if pa.types.is_map(type):
        return pa.map_(
            _plain_type(type.key_type, has_times), type.item_field.with_type(_plain_type(type.item_type, has_times))
        )
    if _is_list(type):
        return pa.list_(type.value_field.with_type(_plain_type(type.value_type, has_times)))
    return type


def _stored_type(type: pa.DataType, has_times: bool) -> pa.DataType:
    """Like :func:`_plain_type`, for columns that Spark itself reads from a file: it uses the stored numbers."""
    if isinstance(type, pa.BaseExtensionType):
        return _stored_type(type.storage_type, has_times)
    if pa.types.is_float16(type):
        raise pa.ArrowNotImplementedError("Spark reads no numbers of 2 bytes with a fraction; write them as float")
    if pa.types.is_duration(type):
        return pa.int64()
    if pa.types.is_time(type) and not (type.unit == "us" and has_times):
        return pa.int32() if pa.types.is_time32(type) else pa.int64()
    if pa.types.is_struct(type):
        return pa.struct([field.with_type(_stored_type(field.type, has_times)) for field in type])
    if pa.types.is_map(type):
        return pa.map_(
            _stored_type(type.key_type, has_times), type.item_field.with_type(_stored_type(type.item_type, has_times))
        )
    if _is_list(type):
        return pa.list_(type.value_field.with_type(_stored_type(type.value_type, has_times)))
    return _plain_type(type, has_times)


def _is_list(type: pa.DataType) -> bool:
    return bool(pa.types.is_list(type) or pa.types.is_large_list(type) or pa.types.is_fixed_size_list(type))


def _plain(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    type = array.type
    if type.equals(wanted):
        return array
    if isinstance(type, pa.BaseExtensionType):
        return _plain(array.storage, wanted)
    if pa.types.is_run_end_encoded(type):
        return _plain(pc.run_end_decode(array), wanted)
    if pa.types.is_dictionary(type):
        return _plain(array.cast(type.value_type), wanted)
    if pa.types.is_interval(type):
        values = [None if item is None else tuple(item) for item in array.to_pylist()]
        return pa.array(values, wanted)
    mask = array.is_null() if array.null_count else None
    if pa.types.is_struct(type):
        if not type.num_fields:
            return array
        parts = [_plain(array.field(position), field.type) for position, field in enumerate(wanted)]
        return pa.StructArray.from_arrays(parts, fields=list(wanted), mask=mask)
    if pa.types.is_map(type):
        filled = pa.concat_arrays([array])
        keys, items = _plain(filled.keys, wanted.key_type), _plain(filled.items, wanted.item_type)
        return pa.MapArray.from_arrays(filled.offsets, keys, items, type=wanted, mask=mask)
    if _is_list(type):
        filled = pa.concat_arrays([array if pa.types.is_list(type) else array.cast(pa.list_(type.value_field))])
        values = _plain(filled.values, wanted.value_type)
        return pa.ListArray.from_arrays(filled.offsets, values, type=wanted, mask=mask)
    if pa.types.is_time32(type) and pa.types.is_integer(wanted):
        return array.cast(pa.int32()).cast(wanted)
    return array.cast(wanted)
