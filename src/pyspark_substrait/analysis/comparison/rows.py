"""The rows in which two results differ. Columns are taken by position; the order of rows doesn't count."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any, Final, TypeAlias

import pyarrow as pa

__all__ = ["Row", "RowDifference", "difference"]

Row: TypeAlias = tuple[Any, ...]
#: a value next to zero, for which a relative difference says nothing
_ALMOST_ZERO: Final = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class RowDifference:
    """The rows that only one of two results has, each as often as it has them more often than the other.

    Args:
        columns: the names of the columns, those of the first result.
        first, second: the first few rows that only the one result has.
        first_count, second_count: the number of all such rows.
        fault: why the rows can't be compared: the results have different numbers of columns. Else empty.
    """

    columns: tuple[str, ...]
    first: tuple[Row, ...] = ()
    second: tuple[Row, ...] = ()
    first_count: int = 0
    second_count: int = 0
    fault: str = ""


def difference(first: pa.Table, second: pa.Table, *, tolerance: float = 1e-9, shown: int = 10) -> RowDifference | None:
    """Return the rows in which two results differ; None if they agree.

    Numbers are compared by their values, whatever their types are; where one of two is a floating-point number, they
    may differ by a relative ``tolerance``, or by one in the last place of the decimal that the other is. NaN equals
    NaN, null equals null, and 0.0 equals -0.0.

    Args:
        first, second: the results.
        tolerance: the largest relative difference of floating-point numbers.
        shown: the most rows to keep of each result.
    """
    columns = tuple(first.column_names)
    if first.num_columns != second.num_columns:
        return RowDifference(columns=columns, fault=f"{first.num_columns} columns and {second.num_columns}")
    ours, theirs = Counter(_rows(first)), Counter(_rows(second))
    only_ours, only_theirs = sorted((ours - theirs).elements(), key=_key), sorted((theirs - ours).elements(), key=_key)
    if len(only_ours) == len(only_theirs):
        pairs = [
            (one, other)
            for one, other in zip(only_ours, only_theirs, strict=True)
            if not all(_alike(left, right, tolerance) for left, right in zip(one, other, strict=True))
        ]
        only_ours, only_theirs = [one for one, _ in pairs], [other for _, other in pairs]
    if not only_ours and not only_theirs:
        return None
    return RowDifference(
        columns=columns,
        first=tuple(only_ours[:shown]),
        second=tuple(only_theirs[:shown]),
        first_count=len(only_ours),
        second_count=len(only_theirs),
    )


def _rows(table: pa.Table) -> list[Row]:
    if not table.num_columns:
        return [()] * table.num_rows
    columns = [[_value(value) for value in column.to_pylist()] for column in table.columns]
    return list(zip(*columns, strict=True))


def _value(value: Any) -> Any:
    """Return a value that is equal to, and has the hash of, those that mean the same."""
    match value:
        case float() if math.isnan(value):
            return "NaN"
        case bool():
            return str(value).lower()
        case datetime(tzinfo=zone) if zone is not None:
            return value.astimezone(timezone.utc)
        case dict():
            return tuple(map(_value, value.values()))
        case list() | tuple():
            return tuple(map(_value, value))
        case _:
            return value


def _key(row: Sequence[Any]) -> tuple[Any, ...]:
    """Return what rows are sorted by: first what must be equal, then the floating-point numbers."""
    exact = tuple("" if isinstance(value, float | Decimal) else repr(value) for value in row)
    return exact, tuple(float(value) for value in row if isinstance(value, float | Decimal))


def _alike(one: Any, other: Any, tolerance: float) -> bool:
    if one == other:
        return True
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        return all(_alike(left, right, tolerance) for left, right in zip(one, other, strict=True))
    if not (isinstance(one, float) or isinstance(other, float)):
        return False
    if not (isinstance(one, int | float | Decimal) and isinstance(other, int | float | Decimal)):
        return False
    rounded = [value for value in (one, other) if isinstance(value, Decimal)]
    nearly = max([_ALMOST_ZERO, *(1.0000001 * 10.0 ** int(value.as_tuple().exponent) for value in rounded)])
    return math.isclose(float(one), float(other), rel_tol=tolerance, abs_tol=nearly)
