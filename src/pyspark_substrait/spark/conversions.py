"""Convert one simple value of a table to a type of the plan, as the SQL text of the conversion.

Conversions are lossless. If a value may have more digits, more characters or another length than the type allows, the
text checks it and raises. The Arrow field that a column was made of can determine what it means: a BIGINT may then be
a count of nanoseconds. A BIGINT without an Arrow field is read as a time or timestamp for which Spark has no type,
because this package returns such values in this form.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from pyspark_substrait.model.types import (
    UUID,
    FixedBinary,
    FixedChar,
    IntervalCompound,
    IntervalDay,
    IntervalYear,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    Type,
    VarChar,
    concrete,
    with_nullability,
)
from pyspark_substrait.spark.arrow import METADATA
from pyspark_substrait.sql.compiler import temporal
from pyspark_substrait.sql.compiler.literals import string_literal
from pyspark_substrait.sql.compiler.types import FINEST, field_name, spark_type, units_per_second, unsigned_bits

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

__all__ = ["Column", "converted"]

_SECONDS_OF_DAY = 86_400
_DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
_INTEGERS = ("TINYINT", "SMALLINT", "INT", "BIGINT")


@dataclass(frozen=True, slots=True)
class Column:
    """A value in a table.

    Args:
        text: its expression, an atom.
        found: its type in Spark.
        arrow: its Arrow field; None if it doesn't come from Arrow.
        name: its name in errors.
    """

    text: str
    found: DataType
    arrow: pa.Field | None
    name: str

    @property
    def carrier(self) -> str:
        """The name of its type as ``spark_type`` writes it, without the length of text."""
        name = str(self.found.simpleString()).upper()
        return "STRING" if name.split("(")[0] in ("VARCHAR", "CHAR") else name

    @property
    def origin(self) -> pa.DataType | None:
        """Its type in Arrow, without encodings."""
        if self.arrow is None:
            return None
        type = self.arrow.type
        return type.value_type if pa.types.is_dictionary(type) or pa.types.is_run_end_encoded(type) else type


def converted(column: Column, type: Type) -> str | None:
    """Return the text of the value converted to a type without parts; None if that isn't possible.

    The text is an atom and contains ``column.text``, perhaps several times.
    """
    type = with_nullability(concrete(type), False)
    described = None if column.arrow is None else (column.arrow.metadata or {}).get(METADATA.encode())
    if described is not None and described.decode() != str(type):
        return None
    match type:
        case PrecisionTimestamp() | PrecisionTimestampTZ() | PrecisionTime() | IntervalDay():
            return _temporal(column, type)
        case IntervalYear():
            return _months(column, type)
        case IntervalCompound():
            return _compound(column, type)
        case VarChar(length=length):
            text = _same(column, type)
            return text and _checked(column, f"char_length({text}) <= {length}", type, text)
        case FixedChar(length=length):
            text = _same(column, type)
            return text and _checked(column, f"char_length({text}) <= {length}", type, f"rpad({text}, {length}, ' ')")
        case FixedBinary(length=length):
            return _bytes(column, type, length)
        case UUID():
            return _bytes(column, type, 16)
        case _ if _counts_time(column):
            return None  # as a number, it would depend on the unit that Spark holds it in
        case _:
            bits = unsigned_bits(type)
            return _same(column, type) if bits is None else _unsigned(column, type, bits)


def _checked(column: Column, condition: str, type: Type, value: str) -> str:
    """Return the text of ``value``, with an error if the condition on the column is false."""
    error = f"raise_error({string_literal(f'{column.name} has a value that is not of type {type}')})"
    carrier = spark_type(type)
    return f"(CASE WHEN {column.text} IS NULL OR {condition} THEN {value} ELSE CAST({error} AS {carrier}) END)"


def _same(column: Column, type: Type) -> str | None:
    """Return the text of the value unchanged, or in a lossless or raising cast; None if there is none."""
    wanted, here = spark_type(type), column.carrier
    if here == wanted.replace(" ", "") or here == wanted:
        return column.text
    return f"CAST({column.text} AS {wanted})" if _converts(here, wanted) else None


def _converts(found: str, wanted: str) -> bool:
    """Whether a cast of one Spark type to the other is lossless, or raises for values that don't fit."""
    whole = _is_whole(found)
    if wanted in _INTEGERS:
        return whole
    if wanted.startswith("DECIMAL"):
        return found in _INTEGERS or (found.startswith("DECIMAL") and _decimal(wanted)[1] >= _decimal(found)[1])
    return (found, wanted) == ("FLOAT", "DOUBLE")


def _is_whole(found: str) -> bool:
    return found in _INTEGERS or (found.startswith("DECIMAL") and _decimal(found)[1] == 0)


def _decimal(text: str) -> tuple[int, int]:
    precision, scale = text[len("DECIMAL(") : -1].split(",")
    return int(precision), int(scale)


def _bytes(column: Column, type: Type, length: int) -> str | None:
    if column.carrier != "BINARY":
        return None
    if column.origin is not None and column.origin.equals(pa.binary(length)):
        return column.text
    return _checked(column, f"octet_length({column.text}) = {length}", type, column.text)


def _unsigned(column: Column, type: Type, bits: int) -> str | None:
    wanted = spark_type(type)
    if not _is_whole(column.carrier):
        return None
    value = column.text if column.carrier == wanted.replace(" ", "") else f"CAST({column.text} AS {wanted})"
    if column.origin is not None and pa.types.is_unsigned_integer(column.origin) and column.origin.bit_width <= bits:
        return value
    return _checked(column, f"{column.text} BETWEEN 0 AND {(1 << bits) - 1}BD", type, value)


# times ---------------------------------------------------------------------------------------------------------------


def _temporal(
    column: Column, type: PrecisionTimestamp | PrecisionTimestampTZ | PrecisionTime | IntervalDay
) -> str | None:
    counted = _count(column, type)
    if counted is None:
        return None
    count, digits, exact = counted
    precision = type.precision
    conditions = []
    if digits > precision and not exact:
        suffix = _suffix(column)
        conditions.append(f"{count} % {units_per_second(digits - precision)}{suffix} = 0{suffix}")
    if isinstance(type, PrecisionTime) and not column.carrier.startswith("TIME("):
        conditions.append(f"{count} BETWEEN 0L AND {_SECONDS_OF_DAY * units_per_second(digits) - 1}L")
    value = _of_count(column, count, digits, type)
    return _checked(column, " AND ".join(conditions), type, value) if conditions else value


def _count(
    column: Column, type: PrecisionTimestamp | PrecisionTimestampTZ | PrecisionTime | IntervalDay
) -> tuple[str, int, bool] | None:
    """Return the value as a count of units: its text, its fractional digits, and whether it surely fits the type."""
    text, carrier, origin = column.text, column.carrier, column.origin
    # the values have no more digits than the Arrow unit
    exact = origin is not None and _digits(origin) <= type.precision
    match type:
        case PrecisionTimestamp() if carrier == "TIMESTAMP_NTZ":
            return temporal.micros_of_local(text), FINEST, exact
        case PrecisionTimestampTZ() if carrier == "TIMESTAMP":
            return f"unix_micros({text})", FINEST, exact
        case PrecisionTime() if carrier.startswith("TIME("):
            digits = int(carrier[5:-1])
            if digits > FINEST:
                nanos = f"CAST(CAST({text} AS DECIMAL(14, 9)) * 1000000000BD AS BIGINT)"
                return nanos, 9, exact
            return f"time_to_micros({text})", FINEST, exact or digits <= type.precision
        case IntervalDay() if carrier.startswith("INTERVAL") and not carrier.endswith(("YEAR", "MONTH")):
            return temporal.micros_of_interval(text), FINEST, exact
    if origin is not None and _is_whole(carrier) and _is_kind(origin, type):
        return (f"CAST({text} AS BIGINT)" if carrier == "INT" else text), _digits(origin), exact
    # a bare number is read as the form that this package itself returns
    bare = origin is None or pa.types.is_integer(origin) or pa.types.is_decimal(origin)
    if (
        type.precision > FINEST
        and bare
        and (carrier == "BIGINT" or (isinstance(type, IntervalDay) and _is_whole(carrier)))
    ):
        return text, type.precision, True
    return None


def _suffix(column: Column) -> str:
    """Return the literal suffix for numbers of the type of the column's count."""
    return "BD" if column.carrier.startswith("DECIMAL") else "L"


def _digits(origin: pa.DataType) -> int:
    """The number of fractional digits of an Arrow type of time; a large number for other types."""
    return _DIGITS.get(getattr(origin, "unit", ""), 99)


def _counts_time(column: Column) -> bool:
    """Whether Spark has a time, a timestamp or a duration of Arrow as a number."""
    return column.origin is not None and _digits(column.origin) <= 9 and _is_whole(column.carrier)


def _is_kind(origin: pa.DataType, type: Type) -> bool:
    match type:
        case PrecisionTimestamp():
            return bool(pa.types.is_timestamp(origin)) and origin.tz is None
        case PrecisionTimestampTZ():
            return bool(pa.types.is_timestamp(origin)) and origin.tz is not None
        case PrecisionTime():
            return bool(pa.types.is_time(origin))
        case _:
            return bool(pa.types.is_duration(origin))


def _of_count(
    column: Column,
    count: str,
    digits: int,
    type: PrecisionTimestamp | PrecisionTimestampTZ | PrecisionTime | IntervalDay,
) -> str:
    """Return the text that converts a count to the Spark type that carries the plan's type."""
    wanted, target = spark_type(type), max(type.precision, FINEST)
    if digits == target and column.carrier in (wanted, wanted.replace(" ", "")):
        return column.text
    if type.precision <= FINEST and column.carrier.startswith(("TIME(", "INTERVAL")):
        return f"CAST({column.text} AS {wanted})"
    if isinstance(type, IntervalDay) and type.precision > FINEST:
        count = f"CAST({count} AS DECIMAL(38, 0))"
        if digits < target:
            count = f"({count} * {units_per_second(target - digits)}BD)"
        if digits > target:
            count = f"({count} / {units_per_second(digits - target)}BD)"
        return f"CAST({count} AS {wanted})"
    if digits < target:
        count = f"({count} * {units_per_second(target - digits)}L)"
    if digits > target:
        count = f"({count} DIV {units_per_second(digits - target)}{_suffix(column)})"
    if type.precision > FINEST:
        return count
    match type:
        case PrecisionTimestamp():
            return temporal.local_of_micros(count)
        case PrecisionTimestampTZ():
            return f"timestamp_micros({count})"
        case PrecisionTime():
            return f"CAST(time_from_micros({count}) AS {wanted})"
        case _:
            return temporal.interval_of_micros(count)


# intervals of months -------------------------------------------------------------------------------------------------


def _months(column: Column, type: IntervalYear) -> str | None:
    if column.origin == pa.month_day_nano_interval():
        only_months = f"({column.text}.days = 0 AND {column.text}.nanos = 0L)"
        return _checked(column, only_months, type, f"CAST({column.text}.months AS INTERVAL YEAR TO MONTH)")
    if column.carrier.startswith("INTERVAL") and column.carrier.endswith(("YEAR", "MONTH")):
        wanted = spark_type(type)
        return column.text if column.carrier == wanted else f"CAST({column.text} AS {wanted})"
    return None


def _compound(column: Column, type: IntervalCompound) -> str | None:
    """Convert Arrow's interval type; None for a struct from Spark, whose parts are converted one by one."""
    if column.origin != pa.month_day_nano_interval():
        return None
    from pyspark.sql.types import DecimalType

    text = column.text
    nanos = f"CAST({text}.days * {_SECONDS_OF_DAY * 10**9}BD + {text}.nanos AS DECIMAL(38, 0))"
    rest = Column(nanos, DecimalType(38, 0), pa.field("", pa.duration("ns")), column.name)
    time = _temporal(rest, IntervalDay(precision=type.precision))
    assert time is not None
    months = f"CAST({text}.months AS INTERVAL YEAR TO MONTH)"
    made = f"named_struct('{field_name(0)}', {months}, '{field_name(1)}', {time})"
    return f"(CASE WHEN {text} IS NOT NULL THEN {made} END)"
