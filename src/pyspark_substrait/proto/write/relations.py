"""Relations into ``Rel`` messages.

Most fields of a relation have the name and the form of a field of its message: how they are written follows from their
values. ``_FIELDS`` has the others.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any, Final, get_args

from substrait import algebra_pb2

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model import relations as nodes
from pyspark_substrait.model.expressions import Expression, Function
from pyspark_substrait.model.masks import MaskExpression
from pyspark_substrait.model.relations import Relation, RelCommon
from pyspark_substrait.model.types import NamedStruct
from pyspark_substrait.proto import generates
from pyspark_substrait.proto.enums import SIMPLE_COMPARISON_TYPE, numbers_of
from pyspark_substrait.proto.write import expressions, functions, physical, reads, writing
from pyspark_substrait.proto.write.context import Parts
from pyspark_substrait.proto.write.literals import any_message
from pyspark_substrait.proto.write.references import field_reference, mask
from pyspark_substrait.proto.write.rel_common import advanced_extension, common
from pyspark_substrait.proto.write.types import named_struct

__all__ = ["relation"]


def relation(node: Relation, into: Any, parts: Parts) -> None:
    """Write a relation and all below it."""
    match node:
        case nodes.Reference():
            _without_common(node.common, "a reference")
            if not 0 <= node.subtree_ordinal < parts.declarations.trees:
                raise InvalidPlanError(f"there is no relation tree {node.subtree_ordinal} to refer to")
            into.reference.SetInParent()
            into.reference.subtree_ordinal = node.subtree_ordinal
        case nodes.DetachedRel():
            _without_common(node.common, "a detached relation")
            into.detached_rel_ordinal = _detached(node.relation, parts)
        case nodes.BrokenRelation():
            raise InvalidPlanError(f"a relation that can't be understood can't be written: {node.fault}")
        case _:
            message = getattr(into, node.info.field)
            for name in _WRITTEN[node.__class__]:
                value = getattr(node, name)
                if value is not None:
                    _field(value, message, name, parts)


#: the fields of each class that are written, in their order: all but the schema that a handler has derived
_WRITTEN: Final[dict[type, tuple[str, ...]]] = {
    kind: tuple(field.name for field in dataclasses.fields(kind) if field.name != "derived")
    for kind in get_args(Relation)
}
_EXPRESSIONS: Final = frozenset(get_args(Expression))
_RELATIONS: Final = frozenset(get_args(Relation))


def _field(value: Any, message: Any, name: str, parts: Parts) -> None:
    """Write a value into the field of a name."""
    kind = value.__class__
    if (write := _FIELDS.get(name)) is not None:
        write(value, message, parts)
    elif kind in _RELATIONS:
        relation(value, getattr(message, name), parts)
    elif kind in _EXPRESSIONS:
        expressions.expression(value, getattr(message, name), parts)
    elif kind is tuple:
        expressions.expressions(value, getattr(message, name), parts)
    elif kind is NamedStruct:
        named_struct(value, getattr(message, name), parts.declarations)
    elif kind is MaskExpression:
        mask(value, getattr(message, name))
    elif isinstance(value, Enum):
        setattr(message, name, numbers_of(message, name)[value])
    else:
        setattr(message, name, value)


def _inputs(members: Iterable[Relation], message: Any, parts: Parts) -> None:
    for member in members:
        relation(member, message.inputs.add(), parts)


def _groupings(groupings: Iterable[nodes.Grouping], message: Any, parts: Parts) -> None:
    for grouping in groupings:
        message.groupings.add(expression_references=grouping.expression_references)


def _measures(measures: Iterable[nodes.Measure], message: Any, parts: Parts) -> None:
    for measure in measures:
        item = message.measures.add()
        functions.aggregate_function(measure.measure, item.measure, parts)
        expressions.optional_expression(measure.filter, item, "filter", parts)


def _window_functions(found: Iterable[nodes.WindowRelFunction], message: Any, parts: Parts) -> None:
    for function in found:
        functions.window_rel_function(function, message.window_functions.add(), parts)


def _keys(keys: Iterable[nodes.ComparisonJoinKey], message: Any, parts: Parts) -> None:
    for key in keys:
        item = message.keys.add()
        field_reference(key.left, item.left, parts)
        field_reference(key.right, item.right, parts)
        if isinstance(key.comparison, Function):
            item.comparison.custom_function_reference = parts.declarations.function(key.comparison)
        else:
            item.comparison.simple = SIMPLE_COMPARISON_TYPE.numbers[key.comparison]


#: the fields that have another form in the message, or another name
_FIELDS: Final[dict[str, Callable[[Any, Any, Parts], None]]] = {
    "common": lambda value, message, parts: common(value, message.common),
    "advanced_extension": lambda value, message, parts: advanced_extension(value, message),
    "members": _inputs,
    "sorts": lambda value, message, parts: functions.sort_fields(value, message.sorts, parts),
    "groupings": _groupings,
    "measures": _measures,
    "window_functions": _window_functions,
    "keys": _keys,
    "fields": physical.expand_fields,
    "exchange_kind": physical.exchange_kind,
    "targets": physical.targets,
    "read_type": reads.read_type,
    "write_type": writing.write_type,
    "update_type": writing.update_type,
    "table_defaults": writing.table_defaults,
    "transformations": writing.transformations,
    "detail": lambda value, message, parts: any_message(value, message.detail),
    "generator": lambda value, message, parts: message.detail.CopyFrom(generates.encoded(value)),
}


def _without_common(shared: RelCommon, what: str) -> None:
    if shared != RelCommon():
        raise InvalidPlanError(f"{what} has no common part", hint="Put emit and hints on the relation that it means")


def _detached(node: Relation, parts: Parts) -> int:
    known = parts.known.get(id(node))
    if known is not None:
        return known
    message = algebra_pb2.Rel()
    relation(node, message, parts)
    return parts.keep("relation", node, message, parts.rels)
