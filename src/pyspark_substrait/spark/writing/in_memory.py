"""Tables in memory: records that the session holds, which its queries read by name like a session view.

They are computed once, when they are written. Spark's executors hold them: pinned ones in memory (with the rest on
disk if they don't fit), others on disk.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pyspark_substrait.errors import TableError, UnsupportedPlanError, at
from pyspark_substrait.model.relations import (
    CreateMode,
    Ddl,
    DdlOp,
    InMemoryTable,
    OutputMode,
    Read,
    VirtualTable,
    Write,
    WriteOp,
)
from pyspark_substrait.model.types import List, Map, Struct, Type, concrete
from pyspark_substrait.spark.compatibility import checkpointed
from pyspark_substrait.spark.session import spark_errors
from pyspark_substrait.spark.session_cache import session_cache
from pyspark_substrait.spark.writing.catalog import carry_out, catalog_entry, dotted
from pyspark_substrait.spark.writing.records import of_existing
from pyspark_substrait.spark.writing.stored_tables import StoredTable, top_level
from pyspark_substrait.spark.writing.write_context import WriteContext
from pyspark_substrait.sql.compiler.names import quoted
from pyspark_substrait.sql.compiler.writes import refuse_definition

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructType

__all__ = ["checked", "define", "write"]


@dataclass(frozen=True)
class _Held:
    """The records of a table, and its columns with the nullability that the plan states."""

    records: DataFrame
    columns: StructType


def checked(node: Write, target: InMemoryTable, session: WriteContext) -> None:
    """Check a write to a table in memory; like ``targets.checked``."""
    with at("extension_table", "detail", "name"):
        table = _existing(target, session)
        if table is None and node.op is not WriteOp.CTAS:
            raise TableError(f"there is no table {dotted([target.name])} in memory", hint="Write it by a CTAS first")
        if table is not None and node.op is WriteOp.CTAS and node.create_mode in _ERRS:
            raise TableError(
                f"there is a table {table.name} in memory already",
                hint="Set a create_mode that appends to, replaces or keeps it",
            )
    if table is None or _replaces(node):
        with at("input"):
            session.frame(node.input, node.table_schema.names)
    elif not _keeps(node):
        of_existing(_plain(node), table, session).contents()


_ERRS = (CreateMode.UNSPECIFIED, CreateMode.ERROR_IF_EXISTS)


def _keeps(node: Write) -> bool:
    return node.op is WriteOp.CTAS and node.create_mode is CreateMode.IGNORE_IF_EXISTS


def _replaces(node: Write) -> bool:
    return node.op is WriteOp.CTAS and node.create_mode is CreateMode.REPLACE_IF_EXISTS


def _plain(node: Write) -> Write:
    """Convert a CTAS that appends to an INSERT."""
    return replace(node, op=WriteOp.INSERT, create_mode=CreateMode.UNSPECIFIED) if node.op is WriteOp.CTAS else node


def write(node: Write, target: InMemoryTable, session: WriteContext) -> DataFrame | None:
    """Carry out a write to a table in memory; like ``targets.write``."""
    table = _existing(target, session)
    returning = node.output is OutputMode.MODIFIED_RECORDS
    try:
        if table is None or _replaces(node):
            with at("input"):
                records = session.frame(node.input, node.table_schema.names)
            held = _hold(target, records, _stated(records.schema, node.table_schema.struct), session)
            return held.toDF(*top_level(node.table_schema.struct)) if returning else None
        if _keeps(node):
            return None
        change = of_existing(_plain(node), table, session)
        records = change.computed()
        if change.keep:
            records = session.spark.table(table.path).unionAll(records)
        _hold(target, records, _of(session)[target.name].columns, session)
        return change.records
    except spark_errors() as error:
        raise session.failed(error) from error


def define(node: Ddl, target: InMemoryTable, session: WriteContext) -> None:
    """Create an empty table in memory, or drop one; like ``targets.define``."""
    name = dotted([target.name])
    with at("extension_object", "detail", "name"):
        table = _existing(target, session)
        if table is None and node.op is DdlOp.DROP:
            raise TableError(f"there is no table {name} in memory")
        if table is not None and node.op is DdlOp.CREATE:
            raise TableError(f"there is a table {name} in memory already")
    if node.op in (DdlOp.DROP, DdlOp.DROP_IF_EXIST):
        if table is not None:
            carry_out(session.spark, f"DROP VIEW IF EXISTS {table.path}", table.names, "drop")
            _of(session).pop(target.name)
        return
    refuse_definition(node, target)
    assert node.table_schema is not None, "it would be refused"
    nothing = Read(base_schema=node.table_schema, read_type=VirtualTable(expressions=()))
    records = session.frame(nothing, node.table_schema.names)
    _hold(target, records, _stated(records.schema, node.table_schema.struct), session)


def _of(session: WriteContext) -> dict[str, _Held]:
    """Return the session's tables in memory, by name."""
    return session_cache(session.spark, "tables in memory")


def _existing(target: InMemoryTable, session: WriteContext) -> StoredTable | None:
    """Return the table in memory of a name; None if there is none.

    Raises:
        TableError: another table or view has the name.
        UnsupportedPlanError: the caller gave a table of that name.
    """
    names = (target.name,)
    if session.tables.find(names) is not None:
        raise UnsupportedPlanError(f"{dotted(names)} is a table passed to this run in `tables`, which no plan changes")
    found = catalog_entry(session.spark, names)
    if found is None:
        _of(session).pop(target.name, None)  # its view was dropped elsewhere
        return None
    if found.kind != "session view" or target.name not in _of(session):
        raise TableError(f"{dotted(names)} is a {found.kind}, not a table in memory", hint="Take another name")
    sensitive = str(session.spark.conf.get("spark.sql.caseSensitive", "false")).lower() == "true"
    stated = replace(found, schema=_of(session)[target.name].columns, details=None)
    return StoredTable(name=dotted(names), names=names, entry=stated, case_sensitive=sensitive, completes=True)


def _hold(target: InMemoryTable, records: DataFrame, columns: StructType, session: WriteContext) -> DataFrame:
    """Compute the records, and store them under the table's name."""
    from pyspark import StorageLevel

    kept = StorageLevel.MEMORY_AND_DISK if target.pin else StorageLevel.DISK_ONLY
    held = checkpointed(records, kept)
    held.createOrReplaceTempView(quoted(target.name))
    _of(session)[target.name] = _Held(held, columns)
    return held


def _stated(found: StructType, schema: Struct) -> StructType:
    """Return the columns with the nullability of a schema, instead of that of the current records."""
    from pyspark.sql.types import StructField, StructType

    pairs = zip(found.fields, schema.types, strict=True)
    return StructType([StructField(field.name, _inside(field.dataType, type), type.nullable) for field, type in pairs])


def _inside(found: DataType, type: Type) -> DataType:
    from pyspark.sql.types import ArrayType, MapType, StructType

    match concrete(type), found:
        case Struct() as struct, StructType():
            return _stated(found, struct)
        case List(type=element), ArrayType():
            return ArrayType(_inside(found.elementType, element), element.nullable)
        case Map(key=key, value=value), MapType():
            return MapType(_inside(found.keyType, key), _inside(found.valueType, value), value.nullable)
        case _:
            return found
