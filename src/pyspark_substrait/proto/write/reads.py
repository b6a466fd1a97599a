"""Reads into ``ReadRel`` messages."""

from __future__ import annotations

from typing import Any

from typing_extensions import assert_never

from pyspark_substrait.model import relations as nodes
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.relations import FileFormat, FileOrFiles, ReadType
from pyspark_substrait.proto.write import expressions
from pyspark_substrait.proto.write.context import Parts
from pyspark_substrait.proto.write.literals import any_message
from pyspark_substrait.proto.write.rel_common import advanced_extension

__all__ = ["read_type"]


def read_type(table: ReadType, into: Any, parts: Parts) -> None:
    """Write the source of a read."""
    match table:
        case nodes.NamedTable():
            into.named_table.SetInParent()
            into.named_table.names.extend(table.names)
            advanced_extension(table.advanced_extension, into.named_table)
        case nodes.VirtualTable():
            into.virtual_table.SetInParent()
            for row in table.expressions:
                expressions.nested_struct(row, into.virtual_table.expressions.add(), parts)
        case nodes.LocalFiles():
            into.local_files.SetInParent()
            for item in table.items:
                _file(item, into.local_files.items.add())
            advanced_extension(table.advanced_extension, into.local_files)
        case nodes.ExtensionTable():
            any_message(table.detail, into.extension_table.detail)
        case nodes.IcebergTable():
            direct = into.iceberg_table.direct
            direct.SetInParent()
            direct.metadata_uri = table.metadata_uri
            if table.snapshot_id is not None:
                direct.snapshot_id = table.snapshot_id
            if table.snapshot_timestamp is not None:
                direct.snapshot_timestamp = table.snapshot_timestamp
        case _:
            assert_never(table)


def _file(item: FileOrFiles, into: Any) -> None:
    setattr(into, item.path_type, item.path)
    into.partition_index = item.partition_index
    into.start, into.length = item.start, item.length
    if item.file_format is not None:
        _file_format(item.file_format, into)


def _file_format(format: FileFormat, into: Any) -> None:
    match format:
        case nodes.ParquetReadOptions():
            into.parquet.SetInParent()
        case nodes.ArrowReadOptions():
            into.arrow.SetInParent()
        case nodes.OrcReadOptions():
            into.orc.SetInParent()
        case nodes.DwrfReadOptions():
            into.dwrf.SetInParent()
        case nodes.DelimiterSeparatedTextReadOptions():
            into.text.SetInParent()
            into.text.field_delimiter = format.field_delimiter
            into.text.max_line_size = format.max_line_size
            into.text.quote = format.quote
            into.text.header_lines_to_skip = format.header_lines_to_skip
            into.text.escape = format.escape
            if format.value_treated_as_null is not None:
                into.text.value_treated_as_null = format.value_treated_as_null
        case AnyMessage():
            any_message(format, into.extension)
        case _:
            assert_never(format)
