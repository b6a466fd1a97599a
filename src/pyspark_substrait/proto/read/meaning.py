"""The meaning that reading gives to expressions, where it isn't the one of the plan's producer.

A planner of SQL makes plans of texts of another dialect: then functions, literals, casts and implicit conversions are
those of the dialect, whatever the planner itself means by them. The room that knows the dialect passes an object with
this interface to :func:`~pyspark_substrait.proto.read.plan.bound`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from pyspark_substrait.model.expressions import AggregateFunction, Bound, BoundsType, Expression, SortField
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.types import Type

__all__ = ["Meaning"]


class Meaning(Protocol):
    """A dialect of SQL.

    All methods raise an UnsupportedPlanError for what the dialect, or the specification, doesn't have.
    """

    def literal(self, value: Literal) -> Literal:
        """Return a literal with the type that it has in the dialect."""

    def cast(self, value: Expression, type: Type, *, or_null: bool) -> Expression:
        """Return a cast that the text states; ``or_null`` for one whose failure gives null."""

    def special(self, name: str, message: Any, read: Callable[[Any], Expression], scope: Any) -> Expression | None:
        """Return the expression that a call stands for; None for a usual call.

        Args:
            name: the name of the function.
            message: the call.
            read: reads an expression of it.
            scope: the columns that it can refer to.
        """

    def scalar(self, name: str, arguments: Sequence[Expression]) -> Expression:
        """Return a call of a function or an operator."""

    def aggregate(
        self, name: str, arguments: Sequence[Expression], *, distinct: bool, is_sorted: bool
    ) -> AggregateFunction | None:
        """Return a call of an aggregate function; None to take the producer's."""

    def window(
        self,
        name: str,
        arguments: Sequence[Expression],
        *,
        sorts: tuple[SortField, ...],
        partitions: tuple[Expression, ...],
        frame: tuple[BoundsType | None, Bound, Bound],
    ) -> Expression:
        """Return a call over a window."""

    def aggregated(self, relation: Relation, measures: Sequence[AggregateFunction]) -> Relation:
        """Return an aggregate whose last columns, its measures, have the types of the dialect."""

    def condition(self, value: Expression) -> Expression:
        """Return a condition as a boolean."""

    def alternatives(self, values: Sequence[Expression]) -> tuple[Expression, ...]:
        """Return values of which one is taken, or that are compared with the first, as values of one type."""
