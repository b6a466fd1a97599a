"""``ReadRel`` messages."""

from __future__ import annotations

from typing import Any

from pyspark_substrait.codes import Code, Level
from pyspark_substrait.model.masks import MaskExpression
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.relations import (
    ExtensionTable,
    IcebergTable,
    LocalFiles,
    NamedTable,
    Read,
    ReadType,
    Relation,
)
from pyspark_substrait.model.types import NamedStruct
from pyspark_substrait.proto.read.context import Scope, invalid, located
from pyspark_substrait.proto.read.fields import Fields, node
from pyspark_substrait.proto.read.habits import datafusion_values
from pyspark_substrait.proto.read.recovery import required_schema
from pyspark_substrait.proto.read.references import laid_over, mask
from pyspark_substrait.proto.read.virtual_tables import virtual_table

__all__ = ["base_schema", "read", "read_type"]


def base_schema(fields: Fields, scope: Scope) -> NamedStruct:
    """Read the schema of a read; with the types of the table's columns, if the plan is bound to tables."""
    schema, tables = required_schema(fields.message, "base_schema", scope, fields.path), fields.reading.tables
    datafusion_values.note_date64(fields.message.base_schema, fields.reading)
    if tables is None or fields.message.WhichOneof("read_type") != "named_table":
        return schema
    fields.stated = schema
    with located((fields.path, "named_table")):
        return tables.complete(tuple(fields.message.named_table.names), schema)


def read(fields: Fields) -> Relation:
    """Finish a read. Its filters refer to the columns before the projection."""
    fields["projection"], projected = _projection(fields)
    if fields["read_type"] is None:
        fault, names = "unknown source of the read", projected.top_level_names()
        return fields.broken(fault, record=projected.struct, record_names=names)
    found = fields.node()
    assert isinstance(found, Read)
    found.assume(projected)
    tables = fields.reading.tables
    if tables is None or not isinstance(found.read_type, NamedTable):
        return found
    with located((fields.path, "named_table")):
        return tables.fit(found, fields.stated, fields.path)


def read_type(fields: Fields, scope: Scope) -> ReadType | None:
    """Read the source of a read; None if it is missing or invalid and findings are collected."""
    with fields.reading.going_on():
        kind = fields.message.WhichOneof("read_type")
        if kind is None:
            raise invalid("the read does not state its source", fields.path, code=Code.PROTO_MISSING_FIELD)
        if kind != "named_table":
            fields.reading.plain = False
        message, path = getattr(fields.message, kind), (fields.path, kind)
        if kind == "virtual_table":
            return virtual_table(message, fields["base_schema"], fields.scope.over(None, None), path)
        if kind == "iceberg_table":
            return _iceberg_table(message, scope, path)
        return node(_KINDS[kind], message, scope, path)
    return None


_KINDS: dict[str, type[NamedTable | LocalFiles | ExtensionTable]] = {
    "named_table": NamedTable,
    "local_files": LocalFiles,
    "extension_table": ExtensionTable,
}


def _iceberg_table(message: Any, scope: Scope, path: Path) -> IcebergTable:
    if message.WhichOneof("table_type") is None:
        scope.reading.fault(invalid("the Iceberg table is missing", path, code=Code.PROTO_MISSING_FIELD))
    return node(IcebergTable, message.direct, scope, (path, "direct"))


def _projection(fields: Fields) -> tuple[MaskExpression | None, NamedStruct]:
    """Return the mask of a read, and the columns that it keeps; all columns if the mask is invalid."""
    schema, reading, place = fields["base_schema"], fields.reading, (fields.path, "projection")
    if not fields.message.HasField("projection"):
        return None, schema
    content = fields.message.projection.SerializeToString() if reading.findings is None else b""
    known = _projected_before.get((id(schema), content))
    if known is not None and known[0] is schema:
        return known[1], known[2]
    with reading.going_on():
        found = mask(fields.message.projection, place)
        if len(found.select.struct_items) == 1 and not found.maintain_singular_struct:
            what = "one column is kept, so the record would be replaced by it; it is taken as a record of one column"
            where = (place, "maintain_singular_struct")
            reading.find(Code.TYPE_STRUCT_REQUIRED, where, what, level=Level.INFO, fix="Set it", again=True)
            return found, laid_over(schema, found, reading, place)
        kept = laid_over(schema, found, reading, place)
        if 0 < len(content) <= _LONGEST_MASK:
            if len(_projected_before) >= _MOST_PROJECTIONS:
                _projected_before.clear()
            _projected_before[id(schema), content] = schema, found, kept
        return found, kept
    return None, schema


#: projections of schemas, by the identity of the schema, which is kept with them, and by the serialised mask
_projected_before: dict[tuple[int, bytes], tuple[NamedStruct, MaskExpression, NamedStruct]] = {}
_MOST_PROJECTIONS = 256
_LONGEST_MASK = 2_000
