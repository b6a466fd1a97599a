"""``ReadRel.LocalFiles`` messages."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

from pyspark_substrait.codes import Code, Level
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.relations import (
    ArrowReadOptions,
    DelimiterSeparatedTextReadOptions,
    DwrfReadOptions,
    FileFormat,
    FileOrFiles,
    LocalFiles,
    OrcReadOptions,
    ParquetReadOptions,
)
from pyspark_substrait.proto.read.context import Reading, invalid
from pyspark_substrait.proto.read.literals import any_message
from pyspark_substrait.proto.read.rel_common import advanced_extension

__all__ = ["local_files"]


def local_files(message: Any, reading: Reading, path: Path) -> LocalFiles:
    """Read the items of ``LocalFiles``: files, folders and glob patterns."""
    items = tuple(_file(item, reading, ((path, "items"), index)) for index, item in enumerate(message.items))
    return LocalFiles(items=items, advanced_extension=advanced_extension(message))


def _file(message: Any, reading: Reading, path: Path) -> FileOrFiles:
    kind = message.WhichOneof("path_type")
    if kind is None:
        reading.fault(invalid("the path is missing", path, code=Code.PROTO_MISSING_FIELD))
    node = FileOrFiles(
        path_type=kind or "uri_file",
        path=getattr(message, kind) if kind else "",
        partition_index=message.partition_index,
        start=message.start,
        length=message.length,
        file_format=_file_format(message),
    )
    if reading.findings is not None:
        _check(node, reading, path)
    return node


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


# deviations from the specification -----------------------------------------------------------------------------------

_NO_URI = re.compile(r"[^A-Za-z0-9\-._~:/?#@!$&'()*+,;=%]")
"""A character that must be escaped in the path of a URI (RFC 3986)."""


def _check(node: FileOrFiles, reading: Reading, path: Path) -> None:
    if node.file_format is None:
        what, fix = "file_format is missing, so the reader has to guess", "Set it"
        reading.find(Code.PROTO_MISSING_FIELD, path, what, level=Level.WARNING, fix=fix)
    if (node.start or node.length) and node.path_type in ("uri_folder", "uri_path_glob"):
        what = "start and length cut a piece out of one file, but there may be several"
        reading.find(Code.ILLEGAL_VALUE, path, what, level=Level.WARNING, fix="Name each file with its piece")
    place: Path = (path, node.path_type)
    found = _NO_URI.search(node.path)
    if found is not None:
        what = f"a URI has no character {found[0]!r}, unless it is escaped"
        fix = f"Write %{found[0].encode()[0]:02X} for it" if found[0] != "\\" else "Separate folders by /"
        reading.find(Code.ILLEGAL_URI, place, what, level=Level.WARNING, fix=fix)
    elif node.path_type == "uri_path_glob" and _is_open(unquote(node.path)):
        what = "the pattern opens a bracket that it doesn't close"
        reading.find(Code.ILLEGAL_GLOB, place, what, level=Level.WARNING)


def _is_open(pattern: str) -> bool:
    """Whether the last bracket of a pattern isn't closed; a bracket directly after the opening one doesn't close it."""
    start = pattern.find("[")
    while start >= 0:
        first = start + 1 + (pattern[start + 1 : start + 2] in ("!", "^"))
        end = pattern.find("]", first + 1)
        if end < 0:
            return True
        start = pattern.find("[", end)
    return False
