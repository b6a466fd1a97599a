"""References to columns, to fields inside them and to columns of outer queries."""

from __future__ import annotations

from typing import Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import Expression, FieldReference, StructField
from pyspark_substrait.model.expressions import OuterReference as _Outer
from pyspark_substrait.model.types import Struct, concrete, with_nullability
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions import expression
from pyspark_substrait.spark.producer.scope import Scope

__all__ = ["FORMS"]


def attribute(node: Node, scope: Scope) -> Expression:
    """A column of the record; of an outer one where the query at hand hasn't got it."""
    id = node.expression_id
    found = scope.reference(id)
    return outer_column(node, scope) if found is None else found


def outer_column(node: Node, scope: Scope) -> Expression:
    """A column of an enclosing query, found from the inside to the outside."""
    steps, around = 1, scope.outer
    while around is not None:
        position = around.positions.get(node.expression_id)
        if position is not None:
            root = _Outer(rel_reference=around.anchor) if around.anchor is not None else _Outer(steps_out=steps)
            return FieldReference(root=root, reference=(StructField(position),), type=around.schema.types[position])
        steps, around = steps + 1, around.outer
    raise UnsupportedPlanError(f"the column `{node.value('name')}` is none of the relation's input")


def outer_reference(node: Node, scope: Scope) -> Expression:
    """``OuterReference``: a column of the query around this one."""
    inner = node.tree("e")
    assert inner is not None
    return outer_column(inner, scope)


def struct_field(node: Node, scope: Scope) -> Expression:
    """A field of a struct: a longer path where the struct is itself referred to."""
    value, position = expression(node.children[0], scope), int(node.value("ordinal"))
    struct = concrete(value.type)
    assert isinstance(struct, Struct)
    type = with_nullability(struct.types[position], struct.types[position].nullable or value.type.nullable)
    match value:
        case FieldReference(root=root, reference=tuple() as path):
            return FieldReference(root=root, reference=(*path, StructField(position)), type=type)
        case _:
            return FieldReference(root=value, reference=(StructField(position),), type=type)


def alias(node: Node, scope: Scope) -> Expression:
    """A name doesn't change a value."""
    return expression(node.children[0], scope)


FORMS: Final = {
    "AttributeReference": attribute,
    "OuterReference": outer_reference,
    "GetStructField": struct_field,
    "Alias": alias,
}
