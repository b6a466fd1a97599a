"""Writes, DDL and updates into messages."""

from __future__ import annotations

from typing import Any

from typing_extensions import assert_never

from pyspark_substrait.model import relations as nodes
from pyspark_substrait.model.relations import ExtensionObject, NamedObjectWrite
from pyspark_substrait.proto.enums import CREATE_MODE, DDL_OBJECT, DDL_OP, OUTPUT_MODE, WRITE_OP
from pyspark_substrait.proto.write import expressions, relations
from pyspark_substrait.proto.write.base import advanced_extension, common
from pyspark_substrait.proto.write.context import Parts
from pyspark_substrait.proto.write.literals import any_message, literals
from pyspark_substrait.proto.write.types import named_struct

__all__ = ["ddl", "update", "write"]


def write(node: nodes.Write, into: Any, parts: Parts) -> None:
    """Write a change of a table by records."""
    common(node.common, into.common)
    _write_type(node.write_type, into, "named_table", "extension_table")
    named_struct(node.table_schema, into.table_schema, parts.declarations)
    into.op = WRITE_OP.numbers[node.op]
    relations.relation(node.input, into.input, parts)
    into.create_mode = CREATE_MODE.numbers[node.create_mode]
    into.output = OUTPUT_MODE.numbers[node.output]
    advanced_extension(node.advanced_extension, into)


def _write_type(target: NamedObjectWrite | ExtensionObject, into: Any, named: str, extension: str) -> None:
    match target:
        case NamedObjectWrite():
            message = getattr(into, named)
            message.SetInParent()
            message.names.extend(target.names)
            advanced_extension(target.advanced_extension, message)
        case ExtensionObject():
            any_message(target.detail, getattr(into, extension).detail)
        case _:
            assert_never(target)


def ddl(node: nodes.Ddl, into: Any, parts: Parts) -> None:
    """Write a change of the schema of a database."""
    common(node.common, into.common)
    _write_type(node.write_type, into, "named_object", "extension_object")
    into.object = DDL_OBJECT.numbers[node.object]
    into.op = DDL_OP.numbers[node.op]
    if node.table_schema is not None:
        named_struct(node.table_schema, into.table_schema, parts.declarations)
    if node.table_defaults is not None:
        into.table_defaults.SetInParent()
        literals(node.table_defaults, into.table_defaults.fields, parts.declarations)
    if node.view_definition is not None:
        relations.relation(node.view_definition, into.view_definition, parts)
    advanced_extension(node.advanced_extension, into)


def update(node: nodes.Update, into: Any, parts: Parts) -> None:
    """Write a change of columns."""
    common(node.common, into.common)
    into.named_table.SetInParent()
    into.named_table.names.extend(node.update_type.names)
    advanced_extension(node.update_type.advanced_extension, into.named_table)
    named_struct(node.table_schema, into.table_schema, parts.declarations)
    expressions.optional_expression(node.condition, into, "condition", parts)
    for transformation in node.transformations:
        item = into.transformations.add(column_target=transformation.column_target)
        expressions.expression(transformation.transformation, item.transformation, parts)
    advanced_extension(node.advanced_extension, into)
