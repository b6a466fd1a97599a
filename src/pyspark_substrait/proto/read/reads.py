"""``ReadRel`` messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark_substrait.codes import Code, Level
from pyspark_substrait.model.masks import MaskExpression
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.relations import (
    BrokenRelation,
    ExtensionTable,
    IcebergTable,
    NamedTable,
    Read,
    ReadType,
    Relation,
)
from pyspark_substrait.model.types import NamedStruct, OpenStruct
from pyspark_substrait.proto.read import expressions
from pyspark_substrait.proto.read.context import Reading, Scope, invalid
from pyspark_substrait.proto.read.files import local_files
from pyspark_substrait.proto.read.literals import any_message
from pyspark_substrait.proto.read.references import laid_over, mask
from pyspark_substrait.proto.read.rel_common import advanced_extension, common
from pyspark_substrait.proto.read.types import named_struct
from pyspark_substrait.proto.read.virtual_tables import virtual_table

__all__ = ["read"]


def read(message: Any, scope: Scope, path: Path) -> Relation:
    """Read a ``ReadRel``. Its filters refer to the columns before the projection."""
    reading = scope.reading
    shared = common(message, reading, path)
    schema = NamedStruct(names=(), struct=OpenStruct())
    if message.HasField("base_schema"):
        schema = named_struct(message.base_schema, reading, (path, "base_schema"))
    else:
        reading.fault(invalid("base_schema is missing", path, code=Code.PROTO_MISSING_FIELD))
    inner = scope.over(schema.struct, shared.rel_anchor)
    read_type = _read_type(message, schema, scope, path)
    filter = expressions.optional_condition(message, "filter", inner, path)
    best_effort_filter = expressions.optional_condition(message, "best_effort_filter", inner, path)
    projection, projected = _projection(message, schema, reading, path)
    if read_type is None:
        names = projected.top_level_names()
        fault = "it isn't known what is read"
        return BrokenRelation(common=shared, kind="read", fault=fault, record=projected.struct, record_names=names)
    node = Read(
        common=shared,
        base_schema=schema,
        read_type=read_type,
        filter=filter,
        best_effort_filter=best_effort_filter,
        projection=projection,
        advanced_extension=advanced_extension(message),
    )
    node.assume(projected)
    return node


def _read_type(message: Any, schema: NamedStruct, scope: Scope, path: Path) -> ReadType | None:
    """Return the source of a read; None if it is missing or invalid and findings are collected."""
    with scope.reading.going_on():
        kind = message.WhichOneof("read_type")
        if kind is None:
            raise invalid("the read doesn't say what is read", path, code=Code.PROTO_MISSING_FIELD)
        if kind != "named_table":
            scope.reading.plain = False
        return _READERS[kind](getattr(message, kind), schema, scope.over(None, None), (path, kind))
    return None


def _projection(
    message: Any, schema: NamedStruct, reading: Reading, path: Path
) -> tuple[MaskExpression | None, NamedStruct]:
    """Return the mask of a read, and the columns that it keeps; all columns if the mask is invalid."""
    if not message.HasField("projection"):
        return None, schema
    place = (path, "projection")
    with reading.going_on():
        found = mask(message.projection, place)
        if len(found.select.struct_items) == 1 and not found.maintain_singular_struct:
            what = "one column is kept, so the record would be replaced by it; it is taken as a record of one column"
            where = (place, "maintain_singular_struct")
            reading.find(Code.TYPE_STRUCT_REQUIRED, where, what, level=Level.INFO, fix="Set it", again=True)
        return found, laid_over(schema, found, reading, place)
    return None, schema


def _named_table(message: Any, schema: NamedStruct, scope: Scope, path: Path) -> ReadType:
    return NamedTable(names=tuple(message.names), advanced_extension=advanced_extension(message))


def _local_files(message: Any, schema: NamedStruct, scope: Scope, path: Path) -> ReadType:
    return local_files(message, scope.reading, path)


def _extension_table(message: Any, schema: NamedStruct, scope: Scope, path: Path) -> ReadType:
    return ExtensionTable(detail=any_message(message.detail))


def _iceberg_table(message: Any, schema: NamedStruct, scope: Scope, path: Path) -> ReadType:
    if message.WhichOneof("table_type") is None:
        scope.reading.fault(invalid("the Iceberg table is missing", path, code=Code.PROTO_MISSING_FIELD))
    direct = message.direct
    snapshot = direct.WhichOneof("snapshot")
    return IcebergTable(
        metadata_uri=direct.metadata_uri,
        snapshot_id=direct.snapshot_id if snapshot == "snapshot_id" else None,
        snapshot_timestamp=direct.snapshot_timestamp if snapshot == "snapshot_timestamp" else None,
    )


_READERS: dict[str, Callable[[Any, NamedStruct, Scope, Path], ReadType]] = {
    "named_table": _named_table,
    "virtual_table": virtual_table,
    "local_files": _local_files,
    "extension_table": _extension_table,
    "iceberg_table": _iceberg_table,
}
