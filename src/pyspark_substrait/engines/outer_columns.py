"""Unique names for columns, for engines that find the outer columns of a subquery by name.

Such an engine takes a column of the subquery for the outer one if both have the same name, as in a query and a subquery
over the same table. The name of a computed column is its expression there, which differs from both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pyspark_substrait.engines.constructors import equal, field
from pyspark_substrait.model.expressions import Expression, IfClause, IfThen
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Aggregate, Join, JoinType, Project, Relation
from pyspark_substrait.model.types import I32
from pyspark_substrait.model.walk import (
    refers_out,
    relation_expressions,
    subqueries,
    with_inputs,
)

__all__ = ["with_own_mark", "with_own_names"]


def with_own_names(node: Relation, number: Callable[[], int]) -> Relation:
    """Give a relation with correlated subqueries input columns whose names no other relation has.

    Args:
        node: the relation; one without correlated subqueries is returned as it is.
        number: returns another number with each call.
    """
    if not node.inputs or not any(map(_is_correlated, relation_expressions(node))):
        return node
    return with_inputs(node, lambda input: _renamed(input, number()))


def with_own_mark(node: Join, number: Callable[[], int]) -> Join:
    """Give a mark join over another one an input without the column that the other added: both have one name there."""
    if node.type is JoinType.LEFT_MARK and _has_mark(node.left):
        return replace(node, left=_renamed(node.left, number()))
    if node.type is JoinType.RIGHT_MARK and _has_mark(node.right):
        return replace(node, right=_renamed(node.right, number()))
    return node


def _has_mark(node: Relation) -> bool:
    """Whether a mark join is in a tree, above any aggregate."""
    if isinstance(node, Join) and node.type in (JoinType.LEFT_MARK, JoinType.RIGHT_MARK):
        return True
    return not isinstance(node, Aggregate) and any(map(_has_mark, node.inputs))


def _renamed(input: Relation, number: int) -> Relation:
    """Return the columns of a relation, each in both branches of a conditional, whose condition contains the number."""
    literal = Literal(type=I32(), value=number)
    columns = [field(input, position) for position in range(len(input.schema.types))]
    return Project.only(input, [IfThen(ifs=(IfClause(equal(literal, literal), one),), else_=one) for one in columns])


def _is_correlated(expression: Expression) -> bool:
    """Whether an expression holds a correlated subquery."""
    return refers_out(*subqueries((expression,)))
