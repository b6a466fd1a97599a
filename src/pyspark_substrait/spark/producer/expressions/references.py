"""References to columns, to fields inside them and to columns of outer queries."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import Cast, Expression, FieldReference, RootReference
from pyspark_substrait.model.expressions import OuterReference as _Outer
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions import expression
from pyspark_substrait.spark.producer.scope import Scope

__all__ = ["FORMS"]


def attribute(node: Node, scope: Scope) -> Expression:
    """A column of the current record; if that doesn't have it, of an outer one."""
    id = node.expression_id
    found = scope.reference(id)
    return outer_column(node, scope) if found is None else found


def outer_column(node: Node, scope: Scope) -> Expression:
    """A column of an enclosing query; the innermost one that has it."""
    steps, around = 0, scope.outer
    while around is not None:
        steps += around.anchor is None
        found = around.replaced.get(node.signature) or around.reference(node.expression_id)
        if found is not None:
            root = _Outer(steps_out=steps) if around.anchor is None else _Outer(rel_reference=around.anchor)
            return _from_inside(found, root)
        around = around.outer
    raise UnsupportedPlanError(f"the column `{node.value('name')}` is none of the relation's input")


def _from_inside(value: Expression, root: _Outer) -> Expression:
    """Convert a column of an outer record, or a cast of one, to an outer reference."""
    match value:
        case FieldReference(root=RootReference()):
            return replace(value, root=root)
        case Cast(input=input):
            return replace(value, input=_from_inside(input, root))
        case _:
            raise UnsupportedPlanError(
                "a subquery that refers to more than a column of the query around it has no Substrait form",
                hint="Compute the value in a subquery of FROM, and refer to it",
            )


def outer_reference(node: Node, scope: Scope) -> Expression:
    """``OuterReference``: a column of the enclosing query."""
    inner = node.tree("e")
    assert inner is not None
    return outer_column(inner, scope)


def alias(node: Node, scope: Scope) -> Expression:
    """``Alias``: the value, without the name."""
    return expression(node.children[0], scope)


FORMS: Final = {
    "AttributeReference": attribute,
    "OuterReference": outer_reference,
    "Alias": alias,
}
