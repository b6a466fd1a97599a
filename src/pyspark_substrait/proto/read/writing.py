"""The messages of writes, DDL and updates."""

from __future__ import annotations

from typing import Any

from pyspark_substrait.codes import Code
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.relations import (
    Ddl,
    ExtensionObject,
    NamedTable,
    Relation,
    TransformExpression,
    Update,
    Write,
)
from pyspark_substrait.model.types import OpenStruct, Struct
from pyspark_substrait.proto import write_targets
from pyspark_substrait.proto.read import expressions
from pyspark_substrait.proto.read.context import Reading, Scope, invalid
from pyspark_substrait.proto.read.fields import Fields
from pyspark_substrait.proto.read.literals import any_message
from pyspark_substrait.proto.read.type_checks import as_cell

__all__ = ["ddl", "extension_object", "root_names", "transformation", "update", "write"]


def write(fields: Fields) -> Relation:
    """Finish a write of records to a table."""
    if fields["write_type"] is None or fields["op"] is None:
        return fields.broken("unknown target or operation of the write")
    return fields.node()


def ddl(fields: Fields) -> Relation:
    """Finish a DDL relation, which changes the schema of a database."""
    if fields["write_type"] is None or fields["object"] is None or fields["op"] is None:
        return fields.broken("unknown object or operation of the definition", record=Struct(types=()))
    return fields.node()


def extension_object(message: Any, scope: Scope, path: Path) -> ExtensionObject | None:
    """Read the target of a write that an extension defines; None if it is invalid and findings are collected."""
    detail = any_message(message.detail)
    with scope.reading.going_on(path, Code.RELATION_INVALID):
        return ExtensionObject(detail=detail, target=write_targets.decoded(detail))
    return None


def update(fields: Fields) -> Relation:
    """Finish an update."""
    if fields["update_type"] is None:
        fields["update_type"] = NamedTable(names=())
    return fields.node()


def transformation(message: Any, scope: Scope, path: Path) -> TransformExpression:
    """Read the new value of a column of the table, which is the record of ``scope``."""
    value = expressions.expression(message.transformation, scope, (path, "transformation"))
    column, table = message.column_target, scope.record or OpenStruct()
    if not isinstance(table, OpenStruct):
        if 0 <= column < len(table.types):
            with scope.reading.going_on(code=Code.TYPE_MISMATCH):
                value = as_cell(value, table.types[column], scope.reading, (path, "transformation"))
        else:
            fault = f"there is no column {column}; the table has {len(table.types)}"
            scope.reading.fault(invalid(fault, (path, "column_target"), code=Code.EXPRESSION_REFERENCE))
    return TransformExpression(transformation=value, column_target=column)


def root_names(names: tuple[str, ...], input: Relation, reading: Reading, path: Path) -> tuple[str, ...]:
    """The names of a root over a relation that writes.

    Producers don't agree on the output of such a relation: some name the columns of the table, some one count.
    """
    if isinstance(input, Update) and len(names) != 1 and len(input.schema.types) == 1:
        before = f"the root has {len(names)} names, but an update puts out one column, how many records it changed"
        reading.loose("names-of-an-update", path, before, f"the name {_COUNT}")
        return (_COUNT,)
    if isinstance(input, Write | Ddl) and names and not input.schema.types:
        reading.loose(
            "names-of-no-output", path, f"the root has {len(names)} names, but nothing is put out", "no names"
        )
        return ()
    return names


_COUNT = "modified_records"
