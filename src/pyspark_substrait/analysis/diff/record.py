"""The record that an expression sees: its columns by identity, and the records around the query."""

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
        columns: the identity of each column, as a number; equal numbers are the same column.
        names, types: of the columns, for texts.
        left: the number of columns from the left input, if there are two.
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
        """Return the record that many subquery boundaries up, and how many records that is; None if there is none."""
        found, distance = self.outer, 1
        while found is not None:
            steps -= not found.lateral
            if steps <= 0:
                return distance, found
            found, distance = found.outer, distance + 1
        return None

    def anchored(self, anchor: int) -> tuple[int, Record] | None:
        """Return the enclosing record of the relation with this anchor, and how many records up it is."""
        found, distance = self.outer, 1
        while found is not None:
            if found.anchor == anchor:
                return distance, found
            found, distance = found.outer, distance + 1
        return None


#: A node that can be shown, given the record that it sees.
Shown: TypeAlias = Expression | AggregateFunction | WindowRelFunction

#: A function that shows such a node.
Words: TypeAlias = Callable[[Shown, Record], str]
