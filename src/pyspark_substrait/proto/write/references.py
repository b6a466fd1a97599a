"""Field references and masks into messages."""

from __future__ import annotations

from typing import Any

from typing_extensions import assert_never

from pyspark_substrait.model import masks
from pyspark_substrait.model.expressions import (
    FieldReference,
    LambdaParameterReference,
    ListElement,
    MapKey,
    OuterReference,
    ReferenceSegment,
    RootReference,
    StructField,
)
from pyspark_substrait.model.masks import MaskExpression
from pyspark_substrait.proto.write import expressions
from pyspark_substrait.proto.write.context import Declarations, Parts
from pyspark_substrait.proto.write.literals import literal

__all__ = ["field_reference", "mask"]


def field_reference(node: FieldReference, into: Any, parts: Parts) -> None:
    """Write a reference into an ``Expression.FieldReference`` message."""
    match node.root:
        case RootReference():
            into.root_reference.SetInParent()
        case OuterReference(steps_out=int(steps)):
            into.outer_reference.steps_out = steps
        case OuterReference(rel_reference=int(anchor)):
            into.outer_reference.rel_reference = anchor
        case OuterReference():
            into.outer_reference.SetInParent()
        case LambdaParameterReference(steps_out=steps):
            into.lambda_parameter_reference.SetInParent()
            into.lambda_parameter_reference.steps_out = steps
        case expression:
            expressions.expression(expression, into.expression, parts)
    if isinstance(node.reference, MaskExpression):
        mask(node.reference, into.masked_reference)
    else:
        _segments(node.reference, into.direct_reference, parts.declarations)


def _segments(segments: tuple[ReferenceSegment, ...], into: Any, declarations: Declarations) -> None:
    for position, segment in enumerate(segments):
        if position:
            into = into.child
        match segment:
            case StructField(field=field):
                into = into.struct_field
                into.field = field
            case ListElement(offset=offset):
                into = into.list_element
                into.offset = offset
            case MapKey(map_key=key):
                into = into.map_key
                literal(key, into.map_key, declarations)
            case _:
                assert_never(segment)
        into.SetInParent()


def mask(node: MaskExpression, into: Any) -> None:
    """Write a mask into an ``Expression.MaskExpression`` message."""
    into.maintain_singular_struct = node.maintain_singular_struct
    _struct_select(node.select, into.select)


def _struct_select(select: masks.StructSelect, into: Any) -> None:
    into.SetInParent()
    for item in select.struct_items:
        written = into.struct_items.add(field=item.field)
        _child(item.child, written)


def _child(child: masks.Select | None, into: Any) -> None:
    match child:
        case None:
            pass
        case masks.StructSelect():
            _struct_select(child, into.child.struct)
        case masks.ListSelect():
            _list_select(child, into.child.list)
        case masks.MapSelect():
            _map_select(child, into.child.map)
        case _:
            assert_never(child)


def _list_select(select: masks.ListSelect, into: Any) -> None:
    into.SetInParent()
    for item in select.selection:
        written = into.selection.add()
        match item:
            case masks.ListItem(field=field):
                written.item.SetInParent()
                written.item.field = field
            case masks.ListSlice(start=start, end=end):
                written.slice.SetInParent()
                written.slice.start, written.slice.end = start, end
            case _:
                assert_never(item)
    _child(select.child, into)


def _map_select(select: masks.MapSelect, into: Any) -> None:
    match select.select:
        case masks.MapKeySelect(map_key=key):
            into.key.SetInParent()
            into.key.map_key = key
        case masks.MapKeyExpression(map_key_expression=pattern):
            into.expression.SetInParent()
            into.expression.map_key_expression = pattern
        case _:
            assert_never(select.select)
    _child(select.child, into)
