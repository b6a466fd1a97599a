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
from pyspark_substrait.model.relations import Join, Project, Relation
from pyspark_substrait.model.types import I32
from pyspark_substrait.model.walk import (
    refers_out,
    relation_expressions,
    subqueries,
    with_inputs,
)

__all__ = ["with_own_mark", "with_own_names", "with_unlike_names"]


def with_own_names(node: Relation, number: Callable[[], int]) -> Relation:
    """Give a relation with correlated subqueries input columns whose names no other relation has.

    Args:
        node: the relation; one without correlated subqueries is returned as it is.
        number: returns another number with each call.
    """
    if not node.inputs or not any(map(_is_correlated, relation_expressions(node))):
        return node
    return with_inputs(node, lambda input: _renamed(input, number()))


def with_own_mark(node: Join, number: Callable[[], int]) -> Relation:
    """Return a mark join whose mark has a name of its own: those of all marks are the same there.

    The columns that are looked at are computed, too: a mark has the name of their table before it.
    """
    right = _renamed(node.right, number()) if node.right.schema.types else node.right
    bare = replace(node, common=replace(node.common, emit=None), right=right)
    columns: list[Expression] = [field(bare, position) for position in range(len(bare.schema.types))]
    columns[-1] = _named(columns[-1], number())
    emit = range(len(columns)) if node.common.emit is None else node.common.emit
    return Project.only(bare, [columns[position] for position in emit])


def with_unlike_names(input: Relation, number: Callable[[], int]) -> Relation:
    """Return an input of a set operation; if two of its columns have one name, all get others."""
    names = [name for name in input.names if name is not None]
    return _renamed(input, number()) if len(set(names)) < len(names) else input


def _renamed(input: Relation, number: int) -> Relation:
    """Return the columns of a relation under names of their own."""
    return Project.only(input, [_named(field(input, position), number) for position in range(len(input.schema.types))])


def _named(value: Expression, number: int) -> Expression:
    """Return a value in both branches of a conditional, whose condition contains a number."""
    literal = Literal(type=I32(), value=number)
    return IfThen(ifs=(IfClause(equal(literal, literal), value),), else_=value)


def _is_correlated(expression: Expression) -> bool:
    """Whether an expression holds a correlated subquery."""
    return refers_out(*subqueries((expression,)))
