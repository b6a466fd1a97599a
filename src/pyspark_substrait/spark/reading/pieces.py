"""What is to be read of one file, and how Spark writes the names of files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote, unquote

from pyspark_substrait.spark.access import escaped

__all__ = ["Piece", "is_here", "named", "path_of_uri", "uri_of_address", "uri_of_path"]

#: What a URI may hold in its path without an escape. (Java's rule, by which Spark writes the names of files.)
_PLAIN_IN_URI = "/;:@&=+$,-_.!~*'()"


@dataclass(frozen=True, slots=True)
class Piece:
    """A file, or the part of it whose records are to be read.

    Args:
        path: an absolute path, or a URI of another file system; glob characters and escapes in it are plain characters.
        start: the first byte of the part.
        length: how many bytes the part has; None for all to the end.
        query: what the address of a file in another file system has behind ``?``.
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
        """Whether the byte at a position of the file is in this part."""
        return self.start <= position and (self.length is None or position < self.start + self.length)

    @property
    def spark_path(self) -> str:
        """The file as Spark takes it where it takes patterns too. What is seen here is a file of this machine."""
        return ("file://" if is_here(self.path) else "") + escaped(self.path)


def uri_of_address(path: str, query: str | None = None) -> str:
    """A file of another file system as pyarrow takes it: a URI with escapes."""
    scheme, colon, rest = path.partition("://")
    host, slash, below = rest.partition("/")
    return f"{scheme}{colon}{host}{slash}{quote(below, safe=_PLAIN_IN_URI)}{'' if query is None else f'?{query}'}"


def is_here(path: str) -> bool:
    """Whether this machine sees a file. With Spark Connect a path may be one of the server."""
    return path.startswith("/") and os.path.exists(path)


def named(pieces: Iterable[Piece]) -> str:
    """The files, for messages: the first and how many more there are."""
    paths = sorted({piece.path for piece in pieces})
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    return f"the file {paths[0]}{more}"


def uri_of_path(path: str) -> str:
    """A file as ``_metadata.file_path`` names it."""
    scheme, colon, rest = path.rpartition("://")
    host, slash, below = rest.partition("/") if colon else ("", "/", path[1:])
    start = f"{scheme}{colon}{host}" if colon else "file:"
    return start + slash + "".join(map(_escaped_in_uri, below))


def _escaped_in_uri(character: str) -> str:
    if character.isascii() or character.isspace() or "\x80" <= character <= "\x9f":
        return quote(character, safe=_PLAIN_IN_URI)
    return character


def path_of_uri(uri: str) -> str:
    """The other way: what Spark names as a URI, as :attr:`Piece.path`."""
    path = unquote(uri)
    return "/" + path[len("file:") :].lstrip("/") if path.startswith("file:") else path
