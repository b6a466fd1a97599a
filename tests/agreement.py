"""Do two engines agree? Tables are compared by the values of their rows; names and representations may differ."""

from __future__ import annotations

import datetime
import decimal
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

__all__ = ["assert_same_rows"]

_SHOWN = 5
_ALMOST_ZERO = 1e-12

Row = tuple[Any, ...]


def assert_same_rows(
    actual: pa.Table,
    expected: pa.Table,
    *,
    ordered: bool = False,
    tolerance: float = 1e-9,
    places: int | None = None,
) -> None:
    """Fail unless both tables hold the same rows, columns taken by position.

    Numbers are compared by value across integers and decimals; where one of two is a float, they may differ by
    `tolerance`, relative to the larger. Instants with a time zone are compared in UTC. NaN equals NaN, null null.

    Args:
        ordered: whether the order of the rows counts; otherwise both are sorted first, duplicates kept.
        tolerance: the largest relative difference of floats.
        places: where a decimal stands for a float, the places behind the point to which it was computed: the two may
            differ by half of the last one. None: no more than any two floats.
    """
    assert actual.num_columns == expected.num_columns, (
        f"{actual.num_columns} columns {actual.column_names}, expected {expected.num_columns} {expected.column_names}"
    )
    got, want = _rows(actual), _rows(expected)
    if not ordered:
        floats = _float_columns(got) | _float_columns(want)
        got, want = (sorted(rows, key=lambda row: _sort_key(row, floats)) for rows in (got, want))
    if len(got) != len(want):
        raise AssertionError(f"{len(got)} rows, expected {len(want)}\n{_one_sided(got, want)}")
    wrong = [
        f"row {index}, column {actual.column_names[column]!r}: {mine!r}, expected {theirs!r}"
        for index, (left, right) in enumerate(zip(got, want, strict=True))
        for column, (mine, theirs) in enumerate(zip(left, right, strict=True))
        if not _same(mine, theirs, tolerance, places)
    ]
    if wrong:
        rows = "" if ordered else " (rows sorted)"
        more = f"\n  … and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
        raise AssertionError(f"{len(wrong)} values differ{rows}:\n  " + "\n  ".join(wrong[:_SHOWN]) + more)


def _rows(table: pa.Table) -> list[Row]:
    columns = [[_value(item) for item in column.to_pylist()] for column in table.columns]
    return list(zip(*columns, strict=True)) if columns else [()] * table.num_rows


def _value(value: Any) -> Any:
    """One representation of each value, whatever the engine gave."""
    match value:
        case datetime.datetime() if value.tzinfo is not None:
            return value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
        case dict():
            return tuple(_value(item) for item in value.values())  # a struct: its fields by position
        case list() | tuple():
            return tuple(_value(item) for item in value)
        case _:
            return value


def _same(left: Any, right: Any, tolerance: float, places: int | None) -> bool:
    if left is None or right is None or isinstance(left, bool) or isinstance(right, bool):
        return type(left) is type(right) and left == right
    if isinstance(left, tuple) and isinstance(right, tuple):
        pairs = zip(left, right, strict=False)
        return len(left) == len(right) and all(_same(one, other, tolerance, places) for one, other in pairs)
    if _number(left) and _number(right) and (isinstance(left, float) or isinstance(right, float)):
        one, other = float(left), float(right)
        if math.isnan(one) or math.isnan(other):
            return math.isnan(one) and math.isnan(other)
        computed = places is not None and (isinstance(left, decimal.Decimal) or isinstance(right, decimal.Decimal))
        rounding = 0.5000001 * 10.0 ** -(places or 0) if computed else _ALMOST_ZERO
        return math.isclose(one, other, rel_tol=tolerance, abs_tol=rounding)
    alike = (
        (_number(left) and _number(right))
        or type(left) is type(right)
        # pandas, where it is installed, makes times of nanoseconds its own kind of datetime
        or (isinstance(left, datetime.datetime) and isinstance(right, datetime.datetime))
    )
    return alike and bool(left == right)


def _number(value: Any) -> bool:
    return isinstance(value, (int, float, decimal.Decimal)) and not isinstance(value, bool)


def _float_columns(rows: Sequence[Row]) -> set[int]:
    return {index for row in rows for index, value in enumerate(row) if isinstance(value, float)}


def _sort_key(row: Row, floats: set[int]) -> tuple[Any, ...]:
    """Exact columns decide first; floats, which may differ a little, only among rows that are equal in those."""
    exact = [_rank(value) for index, value in enumerate(row) if index not in floats]
    rough = [_rank(row[index]) for index in sorted(floats)]
    return (*exact, *rough)


def _rank(value: Any) -> tuple[Any, ...]:
    """Something comparable for every value: first the kind, then the value."""
    if value is None:
        return (0,)
    if isinstance(value, bool):
        return (1, value)
    if _number(value):
        number = float(value)
        return (2, 1, 0.0) if math.isnan(number) else (2, 0, value if not isinstance(value, float) else number)
    if isinstance(value, tuple):
        return (4, tuple(_rank(item) for item in value))
    return (3, type(value).__name__, value)


def _one_sided(got: Sequence[Row], want: Sequence[Row]) -> str:
    left, right = Counter(map(repr, got)), Counter(map(repr, want))
    parts = []
    for title, difference in (("only in the actual rows", left - right), ("only in the expected rows", right - left)):
        rows = list(difference.elements())
        if rows:
            more = [f"… and {len(rows) - _SHOWN} more"] if len(rows) > _SHOWN else []
            parts.append("\n    ".join([f"  {title}:", *rows[:_SHOWN], *more]))
    return "\n".join(parts)
