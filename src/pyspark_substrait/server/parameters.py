"""The values of parameters, from the one record that a client binds."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from itertools import count
from typing import Any, Final

import pyarrow as pa

from pyspark_substrait.errors import ParameterError, UnsupportedPlanError
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
    List,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Type,
    UserDefined,
    VarChar,
    concrete,
)
from pyspark_substrait.spark.arrow import arrow_type
from pyspark_substrait.sql.compiler.types import unsigned_bits

__all__ = ["parameter_schema", "plan_values", "sql_values"]

_DIGITS: Final = {"s": 0, "ms": 3, "us": 6, "ns": 9}


def parameter_schema(declared: Mapping[int, Type]) -> pa.Schema:
    """Return a field for each parameter of a plan, by its number."""
    names = (f"field_{number}" for number in count())
    return pa.schema(
        [pa.field(str(number), arrow_type(type, names), nullable=type.nullable) for number, type in declared.items()]
    )


def plan_values(declared: Mapping[int, Type], values: pa.RecordBatch) -> dict[int, object]:
    """Return the values of a plan's parameters: the columns of a record, in the order of the parameters' numbers.

    Raises:
        ParameterError: there are more or fewer columns than parameters, or a value isn't of its parameter's type.
        UnsupportedPlanError: values of a parameter's type can't be bound.
    """
    if values.num_columns != len(declared):
        raise ParameterError(f"the plan has {len(declared)} parameters, and {values.num_columns} columns are bound")
    wanted = parameter_schema(declared)
    found: dict[int, object] = {}
    for position, (number, type) in enumerate(declared.items()):
        column, field = values.column(position), wanted.field(position)
        try:
            scalar = column.cast(field.type)[0]
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise ParameterError(
                f"the parameter {number} is of type {type}, and its value is a {column.type}: {_line(error)}"
            ) from None
        found[number] = _plan_value(number, type, scalar)
    return found


def _plan_value(number: int, type: Type, scalar: pa.Scalar) -> object:
    if not scalar.is_valid:
        return None
    match concrete(type):
        case (
            Boolean()
            | I8()
            | I16()
            | I32()
            | I64()
            | FP32()
            | FP64()
            | Decimal()
            | String()
            | VarChar()
            | FixedChar()
            | Binary()
            | FixedBinary()
            | Date()
        ):
            return scalar.as_py()
        case UUID():
            return uuid.UUID(bytes=scalar.as_py())
        case PrecisionTimestamp(precision=p) | PrecisionTimestampTZ(precision=p) | PrecisionTime(precision=p):
            return _units(number, p, scalar)
        case UserDefined() as own if unsigned_bits(own) is not None:
            return scalar.as_py()
        case List(type=element):
            return [_plan_value(number, element, item) for item in scalar.values]
    raise UnsupportedPlanError(
        f"values of the parameter {number} cannot be bound: it is of type {type}", hint="Bind it in the plan itself"
    )


def _units(number: int, precision: int, scalar: pa.Scalar) -> int:
    """Return a time in units of its parameter's precision, of which nothing is lost."""
    value = int(scalar.value)
    if not (pa.types.is_timestamp(scalar.type) or pa.types.is_time(scalar.type)):
        return value  # beyond Arrow's units, the values are counts already
    digits = _DIGITS[scalar.type.unit]
    if precision >= digits:
        return value * int(10 ** (precision - digits))
    units, rest = divmod(value, int(10 ** (digits - precision)))
    if rest:
        raise ParameterError(f"the value of the parameter {number} has more than {precision} fractional digits")
    return units


def sql_values(values: pa.RecordBatch) -> list[Any]:
    """Return the values of a statement's parameters (``?``): the columns of a record, in order.

    Raises:
        ParameterError: a value is finer than Spark's microseconds.
        UnsupportedPlanError: values of a column's type can't be bound.
    """
    return [_sql_value(position, column) for position, column in enumerate(values.columns, 1)]


def _sql_value(position: int, column: pa.Array) -> Any:
    type = column.type
    micros: pa.DataType | None = None
    if pa.types.is_timestamp(type):
        micros = pa.timestamp("us", type.tz)
    elif pa.types.is_duration(type):
        micros = pa.duration("us")
    elif pa.types.is_time64(type):
        micros = pa.time64("us")
    if micros is not None:
        try:
            column = column.cast(micros)
        except pa.ArrowInvalid:
            raise ParameterError(f"the value of the parameter {position} is finer than a microsecond") from None
    elif pa.types.is_nested(type) or pa.types.is_interval(type):
        raise UnsupportedPlanError(f"values of the parameter {position} cannot be bound: they are of type {type}")
    return column[0].as_py()


def _line(error: Exception) -> str:
    return str(error).split("\n", 1)[0]
