"""Virtual tables of plain literals, held column by column. A node for each cell would take hundreds of bytes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

from pyspark_substrait.model.expressions import NestedStruct
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import Type

__all__ = ["LiteralColumn", "LiteralColumns", "Values"]


class Values(Protocol):
    """Values in the Python form of literals, None for a null: what is used of an Arrow array."""

    null_count: int

    def __len__(self) -> int: ...

    def to_pylist(self) -> list[Any]: ...

    def slice(self, offset: int, length: int, /) -> Values: ...

    def equals(self, other: Any, /) -> bool: ...


@dataclass(frozen=True, slots=True, eq=False)
class LiteralColumn:
    """Literals of one type.

    Args:
        type: the type of the values, required or nullable.
        null_type: the type of the nulls.
        values: the values. Dates, times and timestamps are integers; NaN is always the same.
    """

    type: Type
    null_type: Type
    values: Values

    def literals(self, start: int, count: int) -> list[Literal]:
        """Make the literals of some rows."""
        type, null = self.type, Literal(type=self.null_type, value=None)
        values = self.values.slice(start, count).to_pylist()
        if set(map(_class, values)) <= {float, None.__class__}:
            values = [value if value == value else math.nan for value in values]
        return [null if value is None else Literal(type=type, value=value) for value in values]

    def same_as(self, other: LiteralColumn) -> bool:
        """Whether two columns have equal literals."""
        nulls, count = self.values.null_count, len(self.values)
        if (nulls, count) != (other.values.null_count, len(other.values)):
            return False
        if (count > nulls and self.type != other.type) or (nulls and self.null_type != other.null_type):
            return False
        # Arrow has two NaN, and arrays of several types, which may hold the same
        return self.values.equals(other.values) or all(
            one == another or (one != one and another != another)
            for one, another in zip(self.values.to_pylist(), other.values.to_pylist(), strict=True)
        )


def _class(value: object) -> type:
    return value.__class__


@dataclass(frozen=True, slots=True, eq=False)
class LiteralColumns:
    """The columns of a table, at least one."""

    columns: tuple[LiteralColumn, ...]

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.columns[0].values)

    def rows(self, start: int = 0, count: int | None = None) -> tuple[NestedStruct, ...]:
        """Make some rows, all from ``start`` by default."""
        count = len(self) - start if count is None else count
        cells = zip(*(column.literals(start, count) for column in self.columns), strict=True)
        return tuple([NestedStruct(fields=fields) for fields in cells])

    def same_as(self, other: LiteralColumns) -> bool:
        """Whether two tables have equal rows."""
        return len(self.columns) == len(other.columns) and all(
            one.same_as(another) for one, another in zip(self.columns, other.columns, strict=True)
        )
