"""The messages of writes, DDL and updates."""

from __future__ import annotations

from typing import Any

from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.relations import (
    Ddl,
    ExtensionObject,
    NamedObjectWrite,
    NamedTable,
    Relation,
    TransformExpression,
    Update,
    Write,
)
from pyspark_substrait.proto import write_targets
from pyspark_substrait.proto.enums import CREATE_MODE, DDL_OBJECT, DDL_OP, OUTPUT_MODE, WRITE_OP
from pyspark_substrait.proto.read import expressions, relations
from pyspark_substrait.proto.read.agreement import as_cell
from pyspark_substrait.proto.read.base import advanced_extension, common
from pyspark_substrait.proto.read.context import Reading, Scope, invalid, located
from pyspark_substrait.proto.read.literals import any_message, literals
from pyspark_substrait.proto.read.types import named_struct

__all__ = ["ddl", "root_names", "update", "write"]


def write(message: Any, scope: Scope, path: Path) -> Relation:
    """A change of a table by records."""
    return Write(
        common=common(message, scope.reading, path),
        write_type=_write_type(message, "named_table", "extension_table", path),
        table_schema=named_struct(message.table_schema, scope.reading, (path, "table_schema")),
        op=WRITE_OP.member(message.op, path, "op"),
        input=relations.relation(message.input, scope, (path, "input")),
        create_mode=CREATE_MODE.member(message.create_mode, path, "create_mode"),
        output=OUTPUT_MODE.member(message.output, path, "output"),
        advanced_extension=advanced_extension(message),
    )


def ddl(message: Any, scope: Scope, path: Path) -> Relation:
    """A change of the schema of a database."""
    reading = scope.reading
    schema = named_struct(message.table_schema, reading, (path, "table_schema"))
    defaults = literals(message.table_defaults.fields, reading, ((path, "table_defaults"), "fields"))
    view = message.HasField("view_definition")
    return Ddl(
        common=common(message, reading, path),
        write_type=_write_type(message, "named_object", "extension_object", path),
        object=DDL_OBJECT.member(message.object, path, "object"),
        op=DDL_OP.member(message.op, path, "op"),
        table_schema=schema if message.HasField("table_schema") else None,
        table_defaults=defaults if message.HasField("table_defaults") else None,
        view_definition=relations.relation(message.view_definition, scope, (path, "view_definition")) if view else None,
        advanced_extension=advanced_extension(message),
    )


def _write_type(message: Any, named: str, extension: str, path: Path) -> NamedObjectWrite | ExtensionObject:
    kind = message.WhichOneof("write_type")
    if kind is None:
        raise invalid("the table or view is missing", path, f"Set {named}")
    target = getattr(message, kind)
    if kind == extension:
        detail = any_message(target.detail)
        with located((path, kind)):
            return ExtensionObject(detail=detail, target=write_targets.decoded(detail))
    return NamedObjectWrite(names=tuple(target.names), advanced_extension=advanced_extension(target))


def update(message: Any, scope: Scope, path: Path) -> Relation:
    """A change of columns; the expressions see the columns of the table."""
    shared = common(message, scope.reading, path)
    if message.WhichOneof("update_type") is None:
        raise invalid("the table is missing", path, "Set named_table")
    if not message.HasField("table_schema"):
        raise invalid("table_schema is missing", path)
    schema = named_struct(message.table_schema, scope.reading, (path, "table_schema"))
    inner = scope.over(schema.struct, shared.rel_anchor)
    width = len(schema.struct.types)
    transformations = []
    for index, item in enumerate(message.transformations):
        place: Path = ((path, "transformations"), index)
        value = expressions.expression(item.transformation, inner, (place, "transformation"))
        if not 0 <= item.column_target < width:
            raise invalid(f"there is no column {item.column_target}; the table has {width}", (place, "column_target"))
        value = as_cell(value, schema.struct.types[item.column_target], scope.reading, (place, "transformation"))
        transformations.append(TransformExpression(transformation=value, column_target=item.column_target))
    return Update(
        common=shared,
        update_type=NamedTable(
            names=tuple(message.named_table.names), advanced_extension=advanced_extension(message.named_table)
        ),
        table_schema=schema,
        condition=expressions.optional_condition(message, "condition", inner, path),
        transformations=tuple(transformations),
        advanced_extension=advanced_extension(message),
    )


def root_names(names: tuple[str, ...], input: Relation, reading: Reading, path: Path) -> tuple[str, ...]:
    """The names of a root over a relation that writes.

    Producers don't agree on what such a relation puts out: some name the columns of the table, or one for a count.
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
