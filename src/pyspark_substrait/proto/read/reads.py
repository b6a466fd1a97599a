"""``ReadRel`` messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.relations import (
    ArrowReadOptions,
    DelimiterSeparatedTextReadOptions,
    DwrfReadOptions,
    ExtensionTable,
    FileFormat,
    FileOrFiles,
    IcebergTable,
    LocalFiles,
    NamedTable,
    OrcReadOptions,
    ParquetReadOptions,
    Read,
    ReadType,
    Relation,
)
from pyspark_substrait.model.types import NamedStruct
from pyspark_substrait.proto.read import expressions
from pyspark_substrait.proto.read.base import advanced_extension, common
from pyspark_substrait.proto.read.context import Scope, invalid, located
from pyspark_substrait.proto.read.literals import any_message
from pyspark_substrait.proto.read.references import mask
from pyspark_substrait.proto.read.types import named_struct
from pyspark_substrait.proto.read.virtual_tables import virtual_table

__all__ = ["read"]


def read(message: Any, scope: Scope, path: Path) -> Relation:
    """A read. Its filters see the columns before the projection."""
    shared = common(message, scope.reading, path)
    if not message.HasField("base_schema"):
        raise invalid("base_schema is missing", path)
    schema = named_struct(message.base_schema, scope.reading, (path, "base_schema"))
    inner = scope.over(schema.struct, shared.rel_anchor)
    kind = message.WhichOneof("read_type")
    if kind is None:
        raise invalid("the read doesn't say what is read", path)
    node = Read(
        common=shared,
        base_schema=schema,
        read_type=_READERS[kind](getattr(message, kind), schema, scope.over(None, None), (path, kind)),
        filter=expressions.optional_condition(message, "filter", inner, path),
        best_effort_filter=expressions.optional_condition(message, "best_effort_filter", inner, path),
        projection=mask(message.projection, (path, "projection")) if message.HasField("projection") else None,
        advanced_extension=advanced_extension(message),
    )
    with located((path, "projection")):
        _ = node.projected
    return node


def _named_table(message: Any, schema: NamedStruct, scope: Scope, path: Path) -> ReadType:
    return NamedTable(names=tuple(message.names), advanced_extension=advanced_extension(message))


def _local_files(message: Any, schema: NamedStruct, scope: Scope, path: Path) -> ReadType:
    items = tuple(_file(item, ((path, "items"), index)) for index, item in enumerate(message.items))
    return LocalFiles(items=items, advanced_extension=advanced_extension(message))


def _file(message: Any, path: Path) -> FileOrFiles:
    kind = message.WhichOneof("path_type")
    if kind is None:
        raise invalid("the path is missing", path)
    return FileOrFiles(
        path_type=kind,
        path=getattr(message, kind),
        partition_index=message.partition_index,
        start=message.start,
        length=message.length,
        file_format=_file_format(message),
    )


def _file_format(message: Any) -> FileFormat | None:
    match message.WhichOneof("file_format"):
        case "parquet":
            return ParquetReadOptions()
        case "arrow":
            return ArrowReadOptions()
        case "orc":
            return OrcReadOptions()
        case "dwrf":
            return DwrfReadOptions()
        case "text":
            text = message.text
            return DelimiterSeparatedTextReadOptions(
                field_delimiter=text.field_delimiter,
                max_line_size=text.max_line_size,
                quote=text.quote,
                header_lines_to_skip=text.header_lines_to_skip,
                escape=text.escape,
                value_treated_as_null=text.value_treated_as_null if text.HasField("value_treated_as_null") else None,
            )
        case "extension":
            return any_message(message.extension)
        case _:
            return None


def _extension_table(message: Any, schema: NamedStruct, scope: Scope, path: Path) -> ReadType:
    return ExtensionTable(detail=any_message(message.detail))


def _iceberg_table(message: Any, schema: NamedStruct, scope: Scope, path: Path) -> ReadType:
    if message.WhichOneof("table_type") is None:
        raise invalid("the Iceberg table is missing", path)
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
