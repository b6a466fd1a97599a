"""The result of a plan, and whether an Arrow table holds the same."""

from __future__ import annotations

import decimal
import math
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from pyspark_substrait.model.types import (
    UUID,
    Date,
    Decimal,
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
from tests.reference.choices import Choices
from tests.reference.errors import NotCovered
from tests.reference.values import SECONDS_A_DAY, Pairs, Row, Value, identity, in_range, integer_range, padded

__all__ = ["Result", "rows_of_table"]

_DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
#: NaN is NaN when results are compared
_COMPARING = Choices(nan_is_largest=True)


@dataclass(frozen=True)
class Result:
    """The records of a plan's root.

    Args:
        names: those of the columns.
        types: theirs.
        runs: the records; those of a run may come in any order, one run comes after the other.
    """

    names: tuple[str, ...]
    types: tuple[Type, ...]
    runs: tuple[tuple[Row, ...], ...]

    @property
    def rows(self) -> list[Row]:
        """All records, in one of their orders."""
        return [row for run in self.runs for row in run]

    @property
    def is_ordered(self) -> bool:
        """Whether something says in which order the records are."""
        return len(self.runs) > 1

    def difference(self, table: pa.Table, *, tolerance: float = 0.0) -> str | None:
        """The difference of an Arrow table; None if it holds these records in one of their orders.

        Columns are taken by position, values in the result's types. NaN is NaN, both zeros are zero.

        Args:
            table: the other engine's result.
            tolerance: how far floating-point numbers may be apart, relative to the larger one.
        """
        if table.num_columns != len(self.types):
            return f"{table.num_columns} columns instead of {len(self.types)}"
        return self.difference_of_rows(rows_of_table(table, self.types), tolerance=tolerance)

    def difference_of_rows(self, rows: Sequence[Row], *, tolerance: float = 0.0) -> str | None:
        """The same for records of canonical values."""
        if len(rows) != len(self.rows):
            return f"{len(rows)} records instead of {len(self.rows)}"
        start = 0
        for run in self.runs:
            found = rows[start : start + len(run)]
            extra, missing = _unmatched(found, run, tolerance)
            if extra or missing:
                place = f"records {start} to {start + len(run) - 1}: " if self.is_ordered else ""
                return f"{place}there are {extra[:5]} instead of {missing[:5]} ({len(extra)} in all)"
            start += len(run)
        return None


def _unmatched(found: Sequence[Row], wanted: Sequence[Row], tolerance: float) -> tuple[list[Row], list[Row]]:
    """The records of either side without a counterpart on the other."""
    left, right = [Counter(map(_key, rows)) for rows in (found, wanted)]
    extra, missing = left - right, right - left
    ones = [row for row in found if _taken(extra, row)]
    others = [row for row in wanted if _taken(missing, row)]
    if tolerance:
        for row in list(ones):
            near = next((other for other in others if _close(row, other, tolerance)), None)
            if near is not None:
                ones.remove(row)
                others.remove(near)
    return ones, others


def _taken(counts: Counter[Any], row: Row) -> bool:
    """Whether the record is still counted; if so, it is once less then."""
    if not counts[_key(row)]:
        return False
    counts[_key(row)] -= 1
    return True


def _key(value: Value) -> Any:
    if isinstance(value, Pairs):
        return "map", frozenset(Counter((_key(key), _key(item)) for key, item in value).items())
    if isinstance(value, tuple):
        return tuple(map(_key, value))
    return identity(value, _COMPARING)


def _close(left: Value, right: Value, tolerance: float) -> bool:
    if isinstance(left, Pairs) or isinstance(right, Pairs):
        return bool(_key(left) == _key(right))
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(
            _close(one, other, tolerance) for one, other in zip(left, right, strict=True)
        )
    if isinstance(left, float) and isinstance(right, float) and math.isfinite(left) and math.isfinite(right):
        return abs(left - right) <= tolerance * max(abs(left), abs(right))
    return bool(_key(left) == _key(right))


# Arrow ---------------------------------------------------------------------------------------------------------------


def rows_of_table(table: pa.Table, types: Sequence[Type]) -> list[Row]:
    """The records of an Arrow table as values of the types, columns by position."""
    columns = [_column(column, type) for column, type in zip(table.columns, types, strict=True)]
    return list(zip(*columns, strict=True)) if columns else [()] * table.num_rows


def _column(column: pa.ChunkedArray, type: Type) -> list[Value]:
    try:
        return [_value(scalar, type) for scalar in column]
    except (TypeError, ValueError, AssertionError):
        raise NotCovered(f"Arrow's {column.type} as {type}") from None


def rows_of_named(tables: Mapping[str, pa.Table], name: Sequence[str], schema: NamedStruct) -> list[Row]:
    """The records of a named table; its columns are found by the names in the schema."""
    key = ".".join(name)
    if key not in tables:
        raise NotCovered(f"the table {key}, which isn't given")
    table, names = tables[key], schema.top_level_names()
    if len(set(names)) < len(names) or not set(names) <= set(table.column_names):
        raise NotCovered(f"the table {key} with other columns than {names}")
    rows = rows_of_table(table.select(list(names)), schema.struct.types)
    for row in rows:
        for value, type in zip(row, schema.struct.types, strict=True):
            if not (type.nullable if value is None else in_range(value, type)):
                raise NotCovered(f"{value!r} in a column of {type}")
    return rows


def _value(scalar: Any, type: Type) -> Value:
    if not scalar.is_valid:
        return None
    match concrete(type):
        case Date():
            return scalar.value if pa.types.is_date32(scalar.type) else scalar.value // (SECONDS_A_DAY * 1000)
        case PrecisionTimestamp(precision=p) | PrecisionTimestampTZ(precision=p) | PrecisionTime(precision=p):
            return _units(scalar, p)
        case IntervalDay(precision=p):
            return _units(scalar, p)
        case IntervalYear():
            value = scalar.as_py()
            return value if isinstance(value, int) else value[0]
        case IntervalCompound(precision=p):
            return _compound(scalar, p)
        case UUID():
            value = scalar.as_py()
            return value if isinstance(value, uuid.UUID) else uuid.UUID(bytes=bytes(value))
        case Struct(types=types):
            return tuple(_value(scalar[position], child) for position, child in enumerate(types))
        case List(type=element):
            return tuple(_value(item, element) for item in scalar.values)
        case Map(key=key, value=item):
            return Pairs((_value(entry[0], key), _value(entry[1], item)) for entry in scalar.values)
        case Decimal() as exact:
            value = scalar.as_py()
            return padded(value if isinstance(value, decimal.Decimal) else decimal.Decimal(value), exact)
        case UserDefined() as own if integer_range(own) is None:
            raise NotCovered(f"values of {own}")
        case _:
            return scalar.as_py()


def _units(scalar: Any, precision: int) -> int:
    """A time or duration in units of the precision; an integer or a decimal is in these units already."""
    unit = getattr(scalar.type, "unit", None)
    if unit is None:
        return int(scalar.as_py())
    digits = _DIGITS[unit]
    if digits <= precision:
        return int(scalar.value) * int(10 ** (precision - digits))
    units, rest = divmod(int(scalar.value), int(10 ** (digits - precision)))
    if rest:
        raise NotCovered(f"a time of more than {precision} digits")
    return units


def _compound(scalar: Any, precision: int) -> tuple[int, int]:
    value = scalar.as_py()
    if isinstance(value, dict):
        return int(value["months"]), int(value["units"])
    months, days, nanoseconds = value
    units, rest = divmod((days * SECONDS_A_DAY * 10**9 + nanoseconds) * 10**precision, 10**9)
    assert not rest
    return months, units
