"""Writes, DDL and updates against the schema of their table. Spec: relations/logical_relations, "Write Operator" on."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark_substrait.analysis.validation.rules.reads import names
from pyspark_substrait.codes import Code, Level
from pyspark_substrait.model.findings import Finding
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.relations import (
    Ddl,
    DdlObject,
    DdlOp,
    NamedObjectWrite,
    NamedTable,
    Update,
    Write,
    WriteOp,
)
from pyspark_substrait.model.types import OpenStruct, Struct, Unbound, concrete, same_type

__all__ = ["definition", "target_names", "updated", "written"]


def target_names(relation: Write | Ddl | Update, path: Path) -> Iterator[Finding]:
    """Check the name of the table, and the names of its columns."""
    target, field = (
        (relation.update_type, "named_table")
        if isinstance(relation, Update)
        else (relation.write_type, "named_object" if isinstance(relation, Ddl) else "named_table")
    )
    if isinstance(target, NamedObjectWrite | NamedTable) and not any(target.names):
        what = "the table has no name"
        yield Finding.of(Code.PROTO_MISSING_FIELD, (path, field), what, fix="Name the table")
    if relation.table_schema is not None:
        yield from names(relation.table_schema, (path, "table_schema"))


def written(write: Write, path: Path) -> Iterator[Finding]:
    """Check that the schema of the records matches that of the table."""
    given, table = write.input.schema, write.table_schema
    if isinstance(given, OpenStruct) or isinstance(table.struct, OpenStruct):
        return
    place: Path = (path, "table_schema")
    if len(given.types) != len(table.struct.types):
        what = f"the records have {len(given.types)} columns, the table has {len(table.struct.types)}"
        fix = "Put out the columns of the table, in its order"
        yield Finding.of(Code.RELATION_INVALID, place, what, why=_MATCH, fix=fix)
        return
    deleted = write.op is WriteOp.DELETE
    for index, (type, wanted) in enumerate(zip(given.types, table.struct.types, strict=True)):
        type, wanted = concrete(type), concrete(wanted)
        if isinstance(type, Unbound) or isinstance(wanted, Unbound):
            continue
        column = _column(table.names, table.struct, index)
        if not same_type(type, wanted):
            what = f"column {column} of the table is {wanted}, the records have {type} there"
            yield Finding.of(Code.TYPE_MISMATCH, place, what, why=_MATCH, fix="Cast it below")
        elif type.nullable and not wanted.nullable and not deleted:
            what = f"column {column} of the table is never null, the records may have nulls there"
            fix = "Make sure below that there are none"
            yield Finding.of(Code.TYPE_MISMATCHED_NULLABILITY, place, what, level=Level.WARNING, why=_MATCH, fix=fix)


_MATCH = "The schema of the records must match that of the table."


def _column(names: tuple[str, ...], struct: Struct, index: int) -> str:
    flat = len(names) == len(struct.types)
    return f"`{names[index]}`" if flat else str(index)


def definition(ddl: Ddl, path: Path) -> Iterator[Finding]:
    """Check for missing parts of a definition, and the default values of the columns."""
    drops, view = ddl.op in (DdlOp.DROP, DdlOp.DROP_IF_EXIST), ddl.object is DdlObject.VIEW
    if not drops and ddl.table_schema is None:
        what = f"{ddl.op.value} of a {ddl.object.value} without table_schema"
        fix = "State the names and types of all columns"
        level = Level.WARNING if view else Level.ERROR  # the columns of a view follow from its body
        yield Finding.of(Code.PROTO_MISSING_FIELD, (path, "table_schema"), what, level=level, fix=fix)
    if view and not drops and ddl.view_definition is None:
        what = f"{ddl.op.value} of a view without view_definition"
        yield Finding.of(Code.PROTO_MISSING_FIELD, (path, "view_definition"), what, fix="Add the body of the view")
    if not view and ddl.view_definition is not None:
        what = "a table has a view_definition"
        yield Finding.of(Code.RELATION_INVALID, (path, "view_definition"), what, level=Level.WARNING)
    yield from _defaults(ddl, path)


def _defaults(ddl: Ddl, path: Path) -> Iterator[Finding]:
    if ddl.table_defaults is None or ddl.table_schema is None or not ddl.table_defaults:
        return
    struct, place = ddl.table_schema.struct, (path, "table_defaults")
    if len(ddl.table_defaults) != len(struct.types):
        what = f"there are {len(ddl.table_defaults)} default values for {len(struct.types)} columns"
        fix = "Give one for each column"
        yield Finding.of(Code.RELATION_INVALID, place, what, fix=fix)
        return
    for index, (default, wanted) in enumerate(zip(ddl.table_defaults, struct.types, strict=True)):
        column = _column(ddl.table_schema.names, struct, index)
        if not same_type(concrete(default.type), concrete(wanted)):
            what = f"the default value of column {column} is {default.type}, the column {wanted}"
            yield Finding.of(Code.TYPE_MISMATCH, ((place, "fields"), index), what)


def updated(update: Update, path: Path) -> Iterator[Finding]:
    """Check for an update without transformations, and for columns that are updated twice."""
    place: Path = (path, "transformations")
    if not update.transformations:
        what = "the update changes no column"
        yield Finding.of(Code.PROTO_MISSING_FIELD, place, what, fix="Add a transformation")
    seen: set[int] = set()
    for index, item in enumerate(update.transformations):
        if item.column_target in seen:
            column = _column(update.table_schema.names, update.table_schema.struct, item.column_target)
            what = f"column {column} is updated twice"
            yield Finding.of(Code.RELATION_INVALID, (place, index), what, fix="Leave one of the two")
        seen.add(item.column_target)
