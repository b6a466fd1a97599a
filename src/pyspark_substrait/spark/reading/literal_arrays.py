"""Convert columns of literals to Arrow arrays, in the types that carry them in Spark.

The array types are lossless and accepted by Spark: integers if the carrier is a count, structs of the parts for an
interval_compound. Years and months are converted to months. Values that don't fit their type are refused, as they are
when a literal is written as SQL text.
"""

from __future__ import annotations

import builtins
import math
import uuid
from collections.abc import Callable, Sequence
from decimal import Decimal as Exact
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pyspark_substrait.model.literals import Compound, DayTime, Literal
from pyspark_substrait.model.relations.literal_columns import LiteralColumn
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
from pyspark_substrait.sql.compiler.literals import literal
from pyspark_substrait.sql.compiler.types import FINEST, field_name, units_per_second, unsigned_bits

__all__ = ["UnrepresentableValue", "column_array", "literal_array"]

_SECONDS_OF_DAY = 86_400
_MOST_MONTHS = 120_000
_MOST_DAYS = 3_650_000
_UNSIGNED = {8: pa.int16(), 16: pa.int32(), 32: pa.int64(), 64: pa.decimal128(20, 0)}
_TOTAL = pa.decimal128(38, 0)

#: Literals; None stands for the parts of a null value.
_Cells = Sequence["Literal | None"]


class UnrepresentableValue(Exception):
    """A value doesn't fit its type, or can't be represented in Arrow."""


def literal_array(cells: _Cells, type: Type) -> pa.Array:
    """Return the values of literals of one type as an array.

    Raises:
        Unfit: a value doesn't fit the type, or can't be represented in Arrow.
    """
    try:
        return _array(cells, concrete(type))
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        raise UnrepresentableValue(str(error)) from error


def column_array(column: LiteralColumn, type: Type) -> pa.ChunkedArray | None:
    """Return the values of a table that is held by column as :func:`literal_array` does; None if it has to do that."""
    values: Any = column.values
    here = concrete(type)
    if not same_type(column.type, here) or not same_type(column.null_type, here):
        return None
    try:
        match here:
            case Boolean() | I8() | I16() | I32() | I64() | FP32() | FP64() | String() | Binary() | Decimal():
                return values
            case Date():
                return values.cast(pa.date32())
            case PrecisionTimestamp(precision=precision) | PrecisionTimestampTZ(precision=precision):
                if precision > FINEST:
                    return values
                zone = "UTC" if isinstance(here, PrecisionTimestampTZ) else None
                return pc.multiply_checked(values, units_per_second(FINEST - precision)).cast(pa.timestamp("us", zone))
            case _:
                return None
    except pa.ArrowException:
        return None


def _array(cells: _Cells, type: Type) -> pa.Array:
    types = {id(cell.type): cell.type for cell in cells if cell is not None}
    if not all(same_type(here, type) for here in types.values()):
        raise UnrepresentableValue("a value is of another type")
    values = [None if cell is None else cell.value for cell in cells]
    match type:
        case Struct(types=fields):
            return _struct(_of_class(values, tuple), fields)
        case List(type=element):
            return _list(_of_class(values, tuple), element)
        case Map():
            return _map(_of_class(values, tuple), type)
        case UserDefined():
            return _user_defined(_of_class(values, tuple), type)
        case _:
            return _simple(values, type)


def _of_class(values: list[Any], cls: type) -> list[Any]:
    if not set(map(builtins.type, values)) <= {cls, builtins.type(None)}:
        raise UnrepresentableValue(f"a value is no {cls.__name__}")
    return values


def _simple(values: list[Any], type: Type) -> pa.Array:
    match type:
        case Boolean():
            return pa.array(_of_class(values, bool), pa.bool_())
        case I8() | I16() | I32() | I64() | Date():
            return pa.array(_of_class(values, int), _INTEGERS[type.__class__])
        case FP32():
            return _singles(pa.array(_of_class(values, float), pa.float64()))
        case FP64():
            return pa.array(_of_class(values, float), pa.float64())
        case String():
            return pa.array(_of_class(values, str), pa.string())
        case VarChar(length=length):
            return pa.array(_no_longer(_of_class(values, str), length), pa.string())
        case FixedChar(length=length):
            _no_longer(_of_class(values, str), length)
            return pa.array(_each(values, lambda value: value.ljust(length)), pa.string())
        case Binary():
            return pa.array(_of_class(values, bytes), pa.binary())
        case FixedBinary(length=length):
            return pa.array(_of_class(values, bytes), pa.binary(length)).cast(pa.binary())
        case UUID():
            return pa.array(_each(_of_class(values, uuid.UUID), lambda value: value.bytes), pa.binary())
        case Decimal(precision=precision, scale=scale):
            return pa.array(_of_class(values, Exact), pa.decimal128(precision, scale))
        case IntervalYear():
            return pa.array(_within(_of_class(values, int), -_MOST_MONTHS, _MOST_MONTHS), pa.int32())
        case _:
            return _temporal(values, type)


_INTEGERS: dict[type[Type], pa.DataType] = {
    I8: pa.int8(),
    I16: pa.int16(),
    I32: pa.int32(),
    I64: pa.int64(),
    Date: pa.date32(),
}


def _temporal(values: list[Any], type: Type) -> pa.Array:
    match type:
        case PrecisionTimestamp(precision=precision):
            return _counts(_of_class(values, int), precision, pa.timestamp("us"))
        case PrecisionTimestampTZ(precision=precision):
            return _counts(_of_class(values, int), precision, pa.timestamp("us", "UTC"))
        case PrecisionTime(precision=precision):
            _within(_of_class(values, int), 0, _SECONDS_OF_DAY * units_per_second(precision) - 1)
            return _counts(values, precision, pa.time64("us"))
        case IntervalDay(precision=precision):
            return _spans(_of_class(values, DayTime), precision)
        case IntervalCompound(precision=precision):
            months = _each(_of_class(values, Compound), lambda value: value.months)
            rest = _each(values, lambda value: DayTime(value.days, value.seconds, value.subseconds))
            parts = [_simple(months, IntervalYear()), _spans(rest, precision)]
            return pa.StructArray.from_arrays(parts, _names(2), mask=_nulls(values))
        case _:
            raise UnrepresentableValue(f"nothing carries {type}")


def _counts(values: list[Any], precision: int, fine: pa.DataType) -> pa.Array:
    """Convert counts of fractions of a second to microseconds, or keep the numbers if the unit is finer."""
    if precision > FINEST:
        return pa.array(values, pa.int64())
    factor = units_per_second(FINEST - precision)
    return pa.array(values if factor == 1 else _each(values, lambda value: value * factor), pa.int64()).cast(fine)


def _spans(values: list[Any], precision: int) -> pa.Array:
    """Convert days, seconds and fractions to their total."""
    units = units_per_second(precision)
    day, most = _SECONDS_OF_DAY * units, _MOST_DAYS * _SECONDS_OF_DAY * units

    def total(value: DayTime) -> int:
        parts = (value.days * day, value.seconds * units, value.subseconds)
        if any(abs(part) > most for part in (*parts, sum(parts))):
            raise UnrepresentableValue("an interval is too long")
        return sum(parts)

    totals = _each(values, total)
    return (
        pa.array(_each(totals, Exact), _TOTAL) if precision > FINEST else _counts(totals, precision, pa.duration("us"))
    )


def _singles(values: pa.Array) -> pa.Array:
    found = values.cast(pa.float32(), safe=False)
    same = pc.or_(pc.equal(found.cast(pa.float64()), values), pc.is_nan(values))
    if pc.all(same, skip_nulls=True, min_count=0).as_py() is not True:
        raise UnrepresentableValue("a number is not one of 4 bytes")
    return found


def _each(values: list[Any], function: Callable[[Any], Any]) -> list[Any]:
    return [None if value is None else function(value) for value in values]


def _within(values: list[Any], least: int, most: int) -> list[Any]:
    if any(not least <= value <= most for value in values if value is not None):
        raise UnrepresentableValue("a value is out of range")
    return values


def _no_longer(values: list[Any], length: int) -> list[Any]:
    if any(len(value) > length for value in values if value is not None):
        raise UnrepresentableValue("a text is too long")
    return values


# values with parts ----------------------------------------------------------------------------------------------------


def _names(count: int) -> list[str]:
    return [field_name(position) for position in range(count)]


def _nulls(values: list[Any]) -> pa.Array | None:
    return pa.array([value is None for value in values]) if None in values else None


def _struct(values: list[Any], types: Sequence[Type]) -> pa.Array:
    if not types:
        raise UnrepresentableValue("a struct without fields")
    if any(len(value) != len(types) for value in values if value is not None):
        raise UnrepresentableValue("a struct has another number of fields")
    parts = []
    for position, type in enumerate(types):
        cells = [None if value is None else value[position] for value in values]
        if not type.nullable and any(cell is not None and cell.value is None for cell in cells):
            raise UnrepresentableValue("a required field is null")
        parts.append(_array(cells, concrete(type)))
    return pa.StructArray.from_arrays(parts, _names(len(types)), mask=_nulls(values))


def _offsets(values: list[Any]) -> pa.Array:
    offsets, end = [0], 0
    for value in values:
        end += 0 if value is None else len(value)
        offsets.append(end)
    return pa.array(offsets, pa.int32())


def _list(values: list[Any], type: Type) -> pa.Array:
    cells = [cell for value in values if value is not None for cell in value]
    if not type.nullable and any(cell.value is None for cell in cells):
        raise UnrepresentableValue("a required element is null")
    return pa.ListArray.from_arrays(_offsets(values), _array(cells, concrete(type)), mask=_nulls(values))


def _map(values: list[Any], type: Map) -> pa.Array:
    for value in values:
        keys = [_key(key) for key, _ in value or ()]
        if len(set(keys)) < len(keys):
            raise UnrepresentableValue("a key stands twice in a map")
    pairs = [pair for value in values if value is not None for pair in value]
    if not type.value.nullable and any(item.value is None for _, item in pairs):
        raise UnrepresentableValue("a required value of a map is null")
    found_keys = _array([key for key, _ in pairs], concrete(type.key))
    items = _array([item for _, item in pairs], concrete(type.value))
    return pa.MapArray.from_arrays(_offsets(values), found_keys, items, mask=_nulls(values))


def _key(key: Literal) -> str:
    """Return a text that is equal for map keys that are equal in Spark."""
    if key.value is None or (isinstance(key.value, float) and key.value == 0 and math.copysign(1, key.value) < 0):
        raise UnrepresentableValue("a key that a map of Spark cannot have")
    return literal(key)


def _user_defined(values: list[Any], type: UserDefined) -> pa.Array:
    structure, bits = type.structure, unsigned_bits(type)
    if structure is None:
        raise UnrepresentableValue(f"nothing carries {type}")
    if not isinstance(structure, Struct) and any(len(value) != 1 for value in values if value is not None):
        raise UnrepresentableValue("a value is not made of one part")
    if bits is not None:
        texts = _each(values, lambda value: value[0].value)
        given = [text for text in texts if text is not None]
        if not all(isinstance(text, str) and text.isascii() and text.isdigit() for text in given):
            raise UnrepresentableValue("an unsigned integer is not a number")
        numbers = _within(_each(texts, int), 0, (1 << bits) - 1)
        return pa.array(numbers if bits < 64 else _each(numbers, Exact), _UNSIGNED[bits])
    if isinstance(structure, Struct):
        return _struct(values, structure.types)
    if not structure.nullable and any(value[0].value is None for value in values if value is not None):
        raise UnrepresentableValue("a required part is null")
    return _array(_each(values, lambda value: value[0]), concrete(structure))
