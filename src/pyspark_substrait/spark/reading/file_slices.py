"""Files or slices of files to read, and Spark's notation for paths."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote, unquote

from pyspark_substrait.spark.access import escaped

__all__ = ["FileSlice", "is_here", "named", "path_of_uri", "uri_of_address", "uri_of_path"]

#: The characters that need no escape in the path of a URI. (Java's rule, which Spark follows in names of files.)
_PLAIN_IN_URI = "/;:@&=+$,-_.!~*'()"


@dataclass(frozen=True, slots=True)
class FileSlice:
    """A file to read, or a slice of it.

    Args:
        path: an absolute path, or a URI of another file system; glob characters and escapes have no special meaning.
        start: the first byte of the slice.
        length: the number of bytes of the slice; None for all to the end.
        query: the query after ``?`` in the address of a file in another file system.
    """

    path: str
    start: int = 0
    length: int | None = None
    query: str | None = None

    @property
    def is_whole(self) -> bool:
        """Whether this is all of the file."""
        return self.start == 0 and self.length is None

    def holds(self, position: int) -> bool:
        """Whether the byte at a position of the file is in this slice."""
        return self.start <= position and (self.length is None or position < self.start + self.length)

    @property
    def spark_path(self) -> str:
        """The path for Spark's readers, with glob characters escaped. A path that exists here is a local file."""
        return ("file://" if is_here(self.path) else "") + escaped(self.path)


def uri_of_address(path: str, query: str | None = None) -> str:
    """Return the address of a file in another file system for pyarrow: a URI with escapes."""
    scheme, colon, rest = path.partition("://")
    host, slash, below = rest.partition("/")
    return f"{scheme}{colon}{host}{slash}{quote(below, safe=_PLAIN_IN_URI)}{'' if query is None else f'?{query}'}"


def is_here(path: str) -> bool:
    """Whether a file exists on this machine. With Spark Connect, a path may be one of the server."""
    return path.startswith("/") and os.path.exists(path)


def named(pieces: Iterable[FileSlice]) -> str:
    """Name files in a message: the first, and the number of others."""
    paths = sorted({piece.path for piece in pieces})
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    return f"the file {paths[0]}{more}"


def uri_of_path(path: str) -> str:
    """Return the URI of a file as in ``_metadata.file_path``."""
    scheme, colon, rest = path.rpartition("://")
    host, slash, below = rest.partition("/") if colon else ("", "/", path[1:])
    start = f"{scheme}{colon}{host}" if colon else "file:"
    return start + slash + "".join(map(_escaped_in_uri, below))


def _escaped_in_uri(character: str) -> str:
    if character.isascii() or character.isspace() or "\x80" <= character <= "\x9f":
        return quote(character, safe=_PLAIN_IN_URI)
    return character


def path_of_uri(uri: str) -> str:
    """Convert a URI from Spark to a :attr:`Piece.path`."""
    path = unquote(uri)
    return "/" + path[len("file:") :].lstrip("/") if path.startswith("file:") else path
