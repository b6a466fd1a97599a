"""What an expression sees: the columns of its record, each by what it is, and the records around the query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from pyspark_substrait.model.expressions import AggregateFunction, Expression
from pyspark_substrait.model.relations import WindowRelFunction
from pyspark_substrait.model.types import Type

__all__ = ["Record", "Shown", "Words"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Record:
    """The record that expressions at one place see.

    Args:
        columns: what each column is, as a number: equal numbers, the same column.
        names, types: of the columns, to show them.
        left: how many of them come from the left input, where there are two.
        anchor: the ``rel_anchor`` of the relation that the expressions belong to.
        lateral: whether the query that sees this record as an outer one is the right input of a lateral join.
        outer: the record around the query.
        number: equal for records with the same columns in the same surroundings.
    """

    columns: tuple[int, ...] = ()
    names: tuple[str | None, ...] = ()
    types: tuple[Type, ...] = ()
    left: int | None = None
    anchor: int | None = None
    lateral: bool = False
    outer: Record | None = None
    number: int = 0

    def up(self, steps: int) -> tuple[int, Record] | None:
        """The record that many subquery boundaries up, and how many records that is; None when there is none."""
        found, distance = self.outer, 1
        while found is not None:
            steps -= not found.lateral
            if steps <= 0:
                return distance, found
            found, distance = found.outer, distance + 1
        return None

    def anchored(self, anchor: int) -> tuple[int, Record] | None:
        """The record around of the relation with that anchor, and how many records up that is."""
        found, distance = self.outer, 1
        while found is not None:
            if found.anchor == anchor:
                return distance, found
            found, distance = found.outer, distance + 1
        return None


#: What stands in a plan and can be shown in a record.
Shown: TypeAlias = Expression | AggregateFunction | WindowRelFunction

#: How that is shown.
Words: TypeAlias = Callable[[Shown, Record], str]
