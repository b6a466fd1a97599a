"""The surroundings of an expression: its record, and those of the queries around it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from pyspark_substrait.model.expressions import OuterReference
from pyspark_substrait.model.relations import Relation
from tests.reference.choices import Choices
from tests.reference.errors import NotCovered
from tests.reference.values import Row, Value

__all__ = ["Context", "Scope"]


@dataclass(frozen=True)
class Context:
    """The parts of an evaluation that are one for the plan: choices, parameters, and how subqueries are evaluated."""

    choices: Choices
    parameters: Mapping[int, Value]
    query: Callable[[Relation, Scope], list[Row]]


@dataclass(frozen=True)
class Scope:
    """A record and its surroundings.

    Args:
        context: that of the plan.
        row: the record.
        anchor: the ``rel_anchor`` of the relation whose expressions see the record.
        outer: the record of the query around, if any.
        lateral: whether the record is the left one of a lateral join, whose right input is no subquery.
        lambdas: the arguments of the lambdas around, the innermost first.
        windows: the values, for this record, of window functions, by the identity of their nodes.
    """

    context: Context
    row: Row
    anchor: int | None = None
    outer: Scope | None = None
    lateral: bool = False
    lambdas: tuple[Row, ...] = ()
    windows: Mapping[int, Value] = field(default_factory=dict)

    @property
    def choices(self) -> Choices:
        return self.context.choices

    def calling(self, arguments: Row) -> Scope:
        """The scope of the body of a lambda."""
        return replace(self, lambdas=(arguments, *self.lambdas))

    def outer_row(self, reference: OuterReference) -> Row:
        """The record of an enclosing query.

        ``steps_out`` counts subqueries; ``rel_reference`` names the relation (expressions/field_references).
        """
        scope = self.outer
        steps = reference.steps_out
        while scope is not None:
            if reference.rel_reference is not None:
                if scope.anchor == reference.rel_reference:
                    return scope.row
            elif not scope.lateral:
                assert steps is not None
                steps -= 1
                if steps == 0:
                    return scope.row
            scope = scope.outer
        raise NotCovered(f"outer reference to nothing around: {reference}")
