"""Relations into ``Rel`` messages."""

from __future__ import annotations

from typing import Any

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model import relations as nodes
from pyspark_substrait.model.expressions import Expression, Function
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import FileOrFiles, Relation, RelCommon, SimpleComparisonType, SwitchingField
from pyspark_substrait.proto import messages
from pyspark_substrait.proto.enums import SIMPLE_COMPARISON_TYPE
from pyspark_substrait.proto.write import expressions
from pyspark_substrait.proto.write.context import Parts
from pyspark_substrait.proto.write.fields import fields
from pyspark_substrait.proto.write.literals import literals

__all__ = ["common", "comparison", "defaults", "emit", "expand_field", "file_or_files", "relation"]


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
            raise InvalidPlanError(f"a relation that cannot be understood cannot be written: {node.fault}")
        case _:
            fields(node, getattr(into, node.info.field), parts)


def common(node: RelCommon, into: Any, parts: Parts) -> None:
    """Write the common part of a relation."""
    if node.emit is None:
        into.direct.SetInParent()
    fields(node, into, parts)


def emit(columns: tuple[int, ...], into: Any, parts: Parts) -> None:
    """Write the columns that a relation puts out."""
    into.SetInParent()
    into.output_mapping.extend(columns)


def comparison(compared: SimpleComparisonType | Function, into: Any, parts: Parts) -> None:
    """Write how the keys of a join are compared."""
    if isinstance(compared, Function):
        into.custom_function_reference = parts.declarations.function(compared)
    else:
        into.simple = SIMPLE_COMPARISON_TYPE.numbers[compared]


def defaults(values: tuple[Literal, ...], into: Any, parts: Parts) -> None:
    """Write the default values of the columns of a new table."""
    into.SetInParent()
    literals(values, into.fields, parts.declarations)


def expand_field(field: Expression | SwitchingField, into: Any, parts: Parts) -> None:
    """Write a field of an expand relation."""
    if isinstance(field, SwitchingField):
        fields(field, into.switching_field, parts)
    else:
        expressions.expression(field, into.consistent_field, parts)


def file_or_files(item: FileOrFiles, into: Any, parts: Parts) -> None:
    """Write an item of a file read."""
    setattr(into, item.path_type, item.path)
    fields(item, into, parts)


def _without_common(shared: RelCommon, what: str) -> None:
    if shared != RelCommon():
        raise InvalidPlanError(f"{what} has no common part", hint="Put emit and hints on the relation that it means")


def _detached(node: Relation, parts: Parts) -> int:
    known = parts.known.get(id(node))
    if known is not None:
        return known
    message = messages.Rel()
    relation(node, message, parts)
    return parts.keep("relation", node, message, parts.rels)
