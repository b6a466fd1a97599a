"""The result of a plan, and whether an Arrow table holds the same."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from pyspark_substrait.conformance.values import UnknownValue
from pyspark_substrait.conformance.values import rows_of_table as arrow_rows
from pyspark_substrait.model.types import (
    NamedStruct,
    Type,
)
from tests.reference.choices import Choices
from tests.reference.errors import NotCovered
from tests.reference.values import Pairs, Row, Value, identity, in_range

__all__ = ["Result", "rows_of_table"]

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
    try:
        return arrow_rows(table, types)
    except UnknownValue as unknown:
        raise NotCovered(str(unknown)) from None


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
