"""Writes, DDL and updates into messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from typing_extensions import assert_never

from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import ExtensionObject, NamedObjectWrite, NamedTable, TransformExpression
from pyspark_substrait.proto.write import expressions
from pyspark_substrait.proto.write.context import Parts
from pyspark_substrait.proto.write.literals import any_message, literals
from pyspark_substrait.proto.write.rel_common import advanced_extension

__all__ = ["table_defaults", "transformations", "update_type", "write_type"]


def write_type(target: NamedObjectWrite | ExtensionObject, message: Any, parts: Parts) -> None:
    """Write the table or view that a relation changes."""
    of_ddl = message.DESCRIPTOR.name == "DdlRel"
    match target:
        case NamedObjectWrite():
            into = message.named_object if of_ddl else message.named_table
            into.SetInParent()
            into.names.extend(target.names)
            advanced_extension(target.advanced_extension, into)
        case ExtensionObject():
            into = message.extension_object if of_ddl else message.extension_table
            any_message(target.detail, into.detail)
        case _:
            assert_never(target)


def update_type(table: NamedTable, message: Any, parts: Parts) -> None:
    """Write the table that an update changes."""
    message.named_table.SetInParent()
    message.named_table.names.extend(table.names)
    advanced_extension(table.advanced_extension, message.named_table)


def table_defaults(values: tuple[Literal, ...], message: Any, parts: Parts) -> None:
    """Write the default values of the columns of a new table."""
    message.table_defaults.SetInParent()
    literals(values, message.table_defaults.fields, parts.declarations)


def transformations(found: Iterable[TransformExpression], message: Any, parts: Parts) -> None:
    """Write the new values of columns."""
    for transformation in found:
        item = message.transformations.add(column_target=transformation.column_target)
        expressions.expression(transformation.transformation, item.transformation, parts)
