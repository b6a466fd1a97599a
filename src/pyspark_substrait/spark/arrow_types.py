"""The natural Arrow type of each Substrait type.

If Arrow has no such type, the column has the values as Spark carries them, and the metadata of the field states the
type (``substrait.type``): times and timestamps of more than nine fractional digits are int64, the count of their
units; an interval_day of that precision is the total count, a decimal128(38, 0); an interval_compound is a struct of
its months and of that count.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pyarrow as pa
from typing_extensions import assert_never

from pyspark_substrait.errors import UnsupportedPlanError
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
from pyspark_substrait.sql.compiler.types import field_name, unsigned_bits

__all__ = ["FINEST_IN_ARROW", "METADATA", "arrow_type", "schema"]

#: the metadata key of a field for its Substrait type, if its Arrow type doesn't determine it
METADATA = "substrait.type"
#: the fractional digits of Arrow's finest unit
FINEST_IN_ARROW = 9
_UNITS = {0: "s", 3: "ms", 6: "us", FINEST_IN_ARROW: "ns"}
_UNSIGNED = {8: pa.uint8(), 16: pa.uint16(), 32: pa.uint32(), 64: pa.uint64()}
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
            return precision > FINEST_IN_ARROW
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
            return pa.int64() if precision > FINEST_IN_ARROW else pa.timestamp(_unit(precision))
        case PrecisionTimestampTZ(precision=precision):
            return pa.int64() if precision > FINEST_IN_ARROW else pa.timestamp(_unit(precision), tz="UTC")
        case PrecisionTime(precision=precision):
            if precision > FINEST_IN_ARROW:
                return pa.int64()
            return pa.time32(_unit(precision)) if precision <= 3 else pa.time64(_unit(precision))
        case IntervalDay(precision=precision):
            return _UNITS_IN_ALL if precision > FINEST_IN_ARROW else pa.duration(_unit(precision))
        case IntervalYear():
            return pa.month_day_nano_interval()
        case IntervalCompound(precision=precision):
            if precision <= FINEST_IN_ARROW:
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
