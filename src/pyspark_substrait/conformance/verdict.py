"""Whether an Arrow table is the result that a trial expects."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, TypeAlias

import pyarrow as pa

from pyspark_substrait.conformance.trials import Expected
from pyspark_substrait.conformance.values import Pairs, Row, UnknownValue, Value, rows_of_table
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    UUID,
    Binary,
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
    name_count,
)
from pyspark_substrait.spark.arrow import arrow_type

__all__ = ["Difference", "fault", "holds"]

Difference: TypeAlias = Literal["schema", "rows"]

#: how far a floating-point number may be from the expected one, relative to it
_TOLERANCE: Final[dict[type[Type], float]] = {FP64: 1e-9, FP32: 2e-6}
_SHOWN = 5


def fault(table: pa.Table, expected: Expected) -> tuple[Difference, str] | None:
    """Return the difference of a table from the expected result; None for none.

    Types must hold exactly the values of the plan's types, so a string may be a large string, and a time may be in a
    finer unit. Columns are compared by position; the names at the root must be those of the plan. Floating-point
    numbers may differ in the last digits (1e-9 of an fp64, 2e-6 of an fp32); NaN is NaN, and zeros have their signs. No
    value of a required type may be null.

    Returns:
        ``schema`` or ``rows``, and a text.
    """
    types = expected.schema.struct.types
    if table.num_columns != len(types):
        return "schema", f"{table.num_columns} columns instead of {len(types)}"
    names = expected.schema.top_level_names()
    for field, name, type in zip(table.schema, names, types, strict=True):
        if not holds(field.type, type):
            return "schema", f"{name} is Arrow's {field.type} instead of {type}"
    if list(names) != table.column_names:
        return "schema", f"the columns are {', '.join(table.column_names)} instead of {', '.join(names)}"
    try:
        found = rows_of_table(table, types)
    except UnknownValue as error:
        return "schema", str(error)
    except (pa.ArrowException, OverflowError, NotImplementedError) as error:
        return "schema", f"its values can't be read: {error}"
    for name, type, column in zip(names, types, zip(*found, strict=True), strict=False):
        if not type.nullable and None in column:
            return "rows", f"{name} is null, though it is a {type}"
    assert expected.rows is not None
    return _rows_fault(found, expected.rows, types, expected.ordered)


def _rows_fault(
    found: Sequence[Row], wanted: Sequence[Row], types: Sequence[Type], ordered: bool
) -> tuple[Difference, str] | None:
    def same(one: Row, other: Row) -> bool:
        return all(_same(left, right, type) for left, right, type in zip(one, other, types, strict=True))

    if len(found) == 1 == len(wanted) and not same(found[0], wanted[0]):
        return "rows", f"{_shown(found)} instead of {_shown(wanted)}"
    missing = list(wanted)
    extra: list[Row] = []
    for row in found:
        place = next((place for place, other in enumerate(missing) if same(row, other)), None)
        if place is None:
            extra.append(row)
        else:
            del missing[place]
    if extra or missing:
        return "rows", "; ".join(
            f"{len(rows)} {_records(len(rows))} {what}: {_shown(rows)}"
            for what, rows in (("too many", extra), ("missing", missing))
            if rows
        )
    if ordered and not all(map(same, found, wanted)):
        return "rows", f"another order: {_shown(found)} instead of {_shown(wanted)}"
    return None


def _records(count: int) -> str:
    return "record" if count == 1 else "records"


def _shown(rows: Sequence[Row]) -> str:
    shown = ", ".join(f"({', '.join(_text(value) for value in row)})" for row in rows[:_SHOWN])
    return f"{shown}, …" if len(rows) > _SHOWN else shown or "none"


def _text(value: Value) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_text, value))}]"
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _same(found: Value, wanted: Value, type: Type) -> bool:
    if found is None or wanted is None:
        return found is None and wanted is None
    match concrete(type):
        case FP32() | FP64() as kind:
            if math.isnan(wanted) or math.isnan(found):
                return math.isnan(wanted) and math.isnan(found)
            if wanted == found:
                return math.copysign(1, wanted) == math.copysign(1, found)
            return math.isfinite(found) and abs(found - wanted) <= abs(wanted) * _TOLERANCE[kind.__class__]
        case Struct(types=types):
            return all(_same(one, other, inner) for one, other, inner in zip(found, wanted, types, strict=True))
        case List(type=element):
            return len(found) == len(wanted) and all(
                _same(one, other, element) for one, other in zip(found, wanted, strict=True)
            )
        case Map(key=key, value=value):
            return _same_pairs(found, wanted, key, value)
        case UserDefined(name="geometry"):
            return _same_geometry(found, wanted)
        case _:
            return bool(found == wanted)


def _same_pairs(found: Pairs, wanted: Pairs, key: Type, value: Type) -> bool:
    left = list(wanted)
    for pair in found:
        place = next(
            (
                place
                for place, other in enumerate(left)
                if _same(pair[0], other[0], key) and _same(pair[1], other[1], value)
            ),
            None,
        )
        if place is None:
            return False
        del left[place]
    return not left


def _same_geometry(found: bytes, wanted: bytes) -> bool:
    import shapely

    one, other = (shapely.normalize(shapely.from_wkb(value)) for value in (found, wanted))
    return bool(shapely.equals_exact(one, other, 1e-9)) and shapely.has_z(one) == shapely.has_z(other)


# types ---------------------------------------------------------------------------------------------------------------


def holds(arrow: pa.DataType, type: Type) -> bool:
    """Whether a type of Arrow is one that a Substrait type may have in a result."""
    a = pa.types
    if a.is_dictionary(arrow):
        arrow = arrow.value_type
    match concrete(type):
        case String() | VarChar() | FixedChar():
            return bool(a.is_string(arrow) or a.is_large_string(arrow) or _is(arrow, "string_view"))
        case Binary() | FixedBinary():
            return bool(
                a.is_binary(arrow) or a.is_large_binary(arrow) or _is(arrow, "binary_view") or _fixed(arrow, type)
            )
        case UUID():
            return str(arrow) == "extension<arrow.uuid>" or arrow == pa.binary(16)
        case Date():
            return bool(a.is_date(arrow))
        case Decimal(precision=precision, scale=scale):
            return bool(a.is_decimal(arrow) and arrow.precision == precision and arrow.scale == scale)
        case PrecisionTimestamp(precision=precision):
            return _timed(arrow, precision, type, lambda: a.is_timestamp(arrow) and arrow.tz is None)
        case PrecisionTimestampTZ(precision=precision):
            return _timed(arrow, precision, type, lambda: a.is_timestamp(arrow) and arrow.tz is not None)
        case PrecisionTime(precision=precision):
            return _timed(arrow, precision, type, lambda: a.is_time(arrow))
        case IntervalDay(precision=precision):
            return _timed(arrow, precision, type, lambda: a.is_duration(arrow))
        case IntervalYear():
            return bool(arrow == pa.month_day_nano_interval() or a.is_int32(arrow))
        case IntervalCompound():
            return bool(arrow == _natural(type))
        case Struct(types=types):
            return (
                a.is_struct(arrow)
                and arrow.num_fields == len(types)
                and all(holds(arrow.field(place).type, inner) for place, inner in enumerate(types))
            )
        case List(type=element):
            lists = a.is_list(arrow) or a.is_large_list(arrow) or a.is_fixed_size_list(arrow) or _is(arrow, "list_view")
            return lists and holds(arrow.value_type, element)
        case Map(key=key, value=value):
            return a.is_map(arrow) and holds(arrow.key_type, key) and holds(arrow.item_type, value)
        case _:
            return bool(arrow == _natural(type))


def _natural(type: Type) -> pa.DataType | None:
    """Return the Arrow type that this package gives a type in results; None for none."""
    try:
        return arrow_type(type, iter([f"n{place}" for place in range(name_count(Struct(types=(type,))))]))
    except SubstraitError:
        return None


def _is(arrow: pa.DataType, name: str) -> bool:
    return str(arrow).startswith(name)


def _fixed(arrow: pa.DataType, type: Type) -> bool:
    return isinstance(type, FixedBinary) and bool(arrow == pa.binary(type.length))


def _timed(arrow: pa.DataType, precision: int, type: Type, is_kind: Callable[[], Any]) -> bool:
    """Whether a type of points or lengths of time has units that are fine enough."""
    digits = {"s": 0, "ms": 3, "us": 6, "ns": 9}
    if precision > 9:
        return bool(arrow == _natural(type))
    return bool(is_kind()) and digits[arrow.unit] >= precision
