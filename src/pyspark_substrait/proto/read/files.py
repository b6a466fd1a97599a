"""``ReadRel.LocalFiles`` messages."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

from pyspark_substrait.codes import Code, Level
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.relations import FileOrFiles
from pyspark_substrait.proto.read.context import Reading, Scope, invalid
from pyspark_substrait.proto.read.fields import node

__all__ = ["file_or_files"]


def file_or_files(message: Any, scope: Scope, path: Path) -> FileOrFiles:
    """Read an item of ``LocalFiles``: a file, a folder or a glob pattern."""
    reading, kind = scope.reading, message.WhichOneof("path_type")
    if kind is None:
        reading.fault(invalid("the path is missing", path, code=Code.PROTO_MISSING_FIELD))
    given = {"path_type": kind or "uri_file", "path": getattr(message, kind) if kind else ""}
    found = node(FileOrFiles, message, scope, path, **given)
    if reading.findings is not None:
        _check(found, reading, path)
    return found


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
        what = "the pattern opens a bracket that it does not close"
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
