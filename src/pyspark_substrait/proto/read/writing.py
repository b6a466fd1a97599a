"""The messages of writes, DDL and updates."""

from __future__ import annotations

from typing import Any

from pyspark_substrait.codes import Code
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.relations import (
    BrokenRelation,
    CreateMode,
    Ddl,
    ExtensionObject,
    NamedObjectWrite,
    NamedTable,
    OutputMode,
    Relation,
    TransformExpression,
    Update,
    Write,
)
from pyspark_substrait.model.types import NamedStruct, OpenStruct, Struct
from pyspark_substrait.proto import write_targets
from pyspark_substrait.proto.enums import CREATE_MODE, DDL_OBJECT, DDL_OP, OUTPUT_MODE, WRITE_OP
from pyspark_substrait.proto.read import expressions, relations
from pyspark_substrait.proto.read.context import Reading, Scope, invalid
from pyspark_substrait.proto.read.literals import any_message, literals
from pyspark_substrait.proto.read.rel_common import advanced_extension, common
from pyspark_substrait.proto.read.type_checks import as_cell
from pyspark_substrait.proto.read.types import named_struct

__all__ = ["ddl", "root_names", "update", "write"]


def write(message: Any, scope: Scope, path: Path) -> Relation:
    """Read a write of records to a table."""
    reading = scope.reading
    shared = common(message, reading, path)
    write_type = _write_type(message, "named_table", "extension_table", reading, path)
    schema = named_struct(message.table_schema, reading, (path, "table_schema"))
    op = WRITE_OP.known(message.op, reading, path, "op")
    input = relations.relation(message.input, scope, (path, "input"))
    mode = CREATE_MODE.known(message.create_mode, reading, path, "create_mode")
    output = OUTPUT_MODE.known(message.output, reading, path, "output")
    if write_type is None or op is None:
        return BrokenRelation(common=shared, kind="write", fault="it isn't known what is written", members=(input,))
    return Write(
        common=shared,
        write_type=write_type,
        table_schema=schema,
        op=op,
        input=input,
        create_mode=mode or CreateMode.UNSPECIFIED,
        output=output or OutputMode.UNSPECIFIED,
        advanced_extension=advanced_extension(message),
    )


def ddl(message: Any, scope: Scope, path: Path) -> Relation:
    """Read a DDL relation, which changes the schema of a database."""
    reading = scope.reading
    schema = named_struct(message.table_schema, reading, (path, "table_schema"))
    defaults = literals(message.table_defaults.fields, reading, ((path, "table_defaults"), "fields"))
    shared = common(message, reading, path)
    write_type = _write_type(message, "named_object", "extension_object", reading, path)
    object = DDL_OBJECT.known(message.object, reading, path, "object")
    op = DDL_OP.known(message.op, reading, path, "op")
    view: Relation | None = None
    if message.HasField("view_definition"):
        view = relations.relation(message.view_definition, scope, (path, "view_definition"))
    if write_type is None or object is None or op is None:
        members = () if view is None else (view,)
        fault, nothing = "it isn't known what is changed", Struct(types=())
        return BrokenRelation(common=shared, kind="ddl", fault=fault, members=members, record=nothing)
    return Ddl(
        common=shared,
        write_type=write_type,
        object=object,
        op=op,
        table_schema=schema if message.HasField("table_schema") else None,
        table_defaults=defaults if message.HasField("table_defaults") else None,
        view_definition=view,
        advanced_extension=advanced_extension(message),
    )


def _write_type(
    message: Any, named: str, extension: str, reading: Reading, path: Path
) -> NamedObjectWrite | ExtensionObject | None:
    """Return the target of a write; None if it is missing or invalid and findings are collected."""
    kind = message.WhichOneof("write_type")
    if kind is None:
        reading.fault(invalid("the table or view is missing", path, f"Set {named}", Code.PROTO_MISSING_FIELD))
        return None
    target = getattr(message, kind)
    if kind == extension:
        detail = any_message(target.detail)
        with reading.going_on((path, kind), Code.RELATION_INVALID):
            return ExtensionObject(detail=detail, target=write_targets.decoded(detail))
        return None
    return NamedObjectWrite(names=tuple(target.names), advanced_extension=advanced_extension(target))


def update(message: Any, scope: Scope, path: Path) -> Relation:
    """Read an update; its expressions refer to the columns of the table."""
    reading = scope.reading
    shared = common(message, reading, path)
    if message.WhichOneof("update_type") is None:
        reading.fault(invalid("the table is missing", path, "Set named_table", Code.PROTO_MISSING_FIELD))
    schema = NamedStruct(names=(), struct=OpenStruct())
    if message.HasField("table_schema"):
        schema = named_struct(message.table_schema, reading, (path, "table_schema"))
    else:
        reading.fault(invalid("table_schema is missing", path, code=Code.PROTO_MISSING_FIELD))
    inner = scope.over(schema.struct, shared.rel_anchor)
    transformations = [
        _transformation(item, schema.struct, inner, ((path, "transformations"), index))
        for index, item in enumerate(message.transformations)
    ]
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


def _transformation(message: Any, table: Struct, scope: Scope, path: Path) -> TransformExpression:
    value = expressions.expression(message.transformation, scope, (path, "transformation"))
    column, width = message.column_target, len(table.types)
    if not isinstance(table, OpenStruct):
        if 0 <= column < width:
            with scope.reading.going_on(code=Code.TYPE_MISMATCH):
                value = as_cell(value, table.types[column], scope.reading, (path, "transformation"))
        else:
            fault = f"there is no column {column}; the table has {width}"
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
