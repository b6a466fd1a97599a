"""Columns under names of their own, for engines that look for the outer columns of a subquery by name.

Such an engine takes a column of the subquery for the outer one where both have the same name, as in a query and a
subquery over the same table. A column computed of another has another name there than both: its own expression.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark_substrait.engines.building import equal, field, projected
from pyspark_substrait.model.expressions import Expression, IfClause, IfThen
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.types import I32
from pyspark_substrait.model.walk import (
    refers_out,
    relation_expressions,
    subqueries,
    with_inputs,
)

__all__ = ["with_own_names"]


def with_own_names(node: Relation, number: Callable[[], int]) -> Relation:
    """A relation whose expressions hold correlated subqueries, over columns that no other relation has the names of.

    Args:
        node: the relation; others are given back as they are.
        number: gives another number with each call.
    """
    if not node.inputs or not any(map(_is_correlated, relation_expressions(node))):
        return node
    return with_inputs(node, lambda input: _renamed(input, number()))


def _renamed(input: Relation, number: int) -> Relation:
    """The columns of a relation, each as a choice between itself and itself, by a condition that has a number."""
    literal = Literal(type=I32(), value=number)
    columns = [field(input, position) for position in range(len(input.schema.types))]
    return projected(input, [IfThen(ifs=(IfClause(equal(literal, literal), one),), else_=one) for one in columns])


def _is_correlated(expression: Expression) -> bool:
    """Whether an expression holds a subquery that refers to the outside."""
    return refers_out(*subqueries((expression,)))
