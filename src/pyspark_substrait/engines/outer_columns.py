"""Unique names for columns, for engines that find the outer columns of a subquery by name.

Such an engine takes a column of the subquery for the outer one if both have the same name, as in a query and a subquery
over the same table. The name of a computed column is its expression there, which differs from both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pyspark_substrait.engines.constructors import equal, field
from pyspark_substrait.model.expressions import (
    Expression,
    FieldReference,
    IfClause,
    IfThen,
    RootReference,
    ScalarFunction,
    StructField,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Join, Project, Relation
from pyspark_substrait.model.types import I32
from pyspark_substrait.model.walk import (
    expressions_within,
    refers_out,
    relation_expressions,
    root_fields,
    subqueries,
    with_children,
    with_inputs,
)
from pyspark_substrait.sql.decorrelation.outer import redirected

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
    """Return a left mark join whose mark has a name of its own: those of all marks are the same there.

    The columns that are looked at are computed, too: a mark has the name of their table before it. So is what leads
    into one of them, which the engine computes below, and then looks for the mark under another name.
    """
    width, count = len(node.left.schema.types), len(node.right.schema.types)
    parts: list[Expression] = []

    def moved(expression: Expression) -> Expression:
        fields = root_fields(expression)
        below = bool(fields) and all(position >= width for position in fields or ())
        if not below or not _leads_into(expression):
            return with_children(expression, moved)
        parts.append(redirected(expression, lambda level, position: (level, position - width * (not level))))
        place = StructField(width + count + len(parts) - 1)
        return FieldReference(root=RootReference(), reference=(place,), type=expression.type)

    condition = moved(node.expression)
    named = [_named(field(node.right, position), number()) for position in range(count)]
    right = Project.only(node.right, [*named, *parts]) if named else node.right
    bare = replace(node, common=replace(node.common, emit=None), right=right, expression=condition)
    columns: list[Expression] = [field(bare, position) for position in range(width + 1)]
    columns[-1] = _named(columns[-1], number())
    emit = range(width + 1) if node.common.emit is None else node.common.emit
    return Project.only(bare, [columns[position] for position in emit])


def _leads_into(expression: Expression) -> bool:
    """Whether an expression calls a function that leads into a value."""
    calls = (item for item in expressions_within((expression,)) if isinstance(item, ScalarFunction))
    return any(call.function.name in ("get_field", "array_element") for call in calls)


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
