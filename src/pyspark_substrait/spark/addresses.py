"""Parse a path or URI once, so that the checked place is also the one that is opened.

The readers interpret the same text differently: ``%2e`` is three characters to Hadoop and one to pyarrow;
``?scheme=http`` is a setting to pyarrow and a part of the name to Hadoop. Here an address has one meaning (that of
RFC 3986), each reader gets the form with this meaning, and ambiguous addresses are refused.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote, unquote_to_bytes

from pyspark_substrait.errors import UnsupportedPlanError

__all__ = ["Address", "parsed_address"]

#: At least two characters: a single letter is a drive.
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_AUTHORITY = re.compile(
    r"(?P<user>[A-Za-z0-9._~!$&'()*+,;=:-]+@)?"
    r"(?P<host>[A-Za-z0-9._~-]*|\[[0-9A-Fa-f:.]+\])"
    r"(?::(?P<port>[0-9]{0,5}))?"
)
_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_ESCAPE = re.compile("%[0-9A-Fa-f]{2}")
#: the number of times that nested escapes are decoded to find hidden characters
_MOST_ESCAPES = 4
_WILD = frozenset("*?[]")

#: Schemes whose hosts are case-insensitive machine names, with their default ports.
_PORTS: Mapping[str, int | None] = {
    "hdfs": 8020,
    "webhdfs": 9870,
    "swebhdfs": 9871,
    "http": 80,
    "https": 443,
    "ftp": 21,
    "sftp": 22,
    "abfs": None,
    "abfss": None,
    "wasb": None,
    "wasbs": None,
}


@dataclass(frozen=True, slots=True)
class Address:
    """A place in a file system that isn't this machine's.

    Args:
        scheme: the scheme, in lower case.
        authority: the bucket, container or host, with user and port; may be empty.
        segments: the parts of the path, unescaped; in a pattern, with its wildcards.
        query: the text after ``?``, unchanged; None without a question mark.
        glob: whether the path is a pattern.
    """

    scheme: str
    authority: str
    segments: tuple[str, ...]
    query: str | None = None
    glob: bool = False

    def __str__(self) -> str:
        """The address in the form for Hadoop, without escapes."""
        return f"{self.scheme}://{self.authority}/{'/'.join(self.segments)}"

    @property
    def uri(self) -> str:
        """The address as a URI, with escapes and with its query."""
        path = "/".join(quote(segment, safe="!$&'()*+,;=:@") for segment in self.segments)
        return f"{self.scheme}://{self.authority}/{path}{'' if self.query is None else f'?{self.query}'}"

    def is_within(self, other: Address) -> bool:
        """Whether this is the other place or one below it, with the same query."""
        above = self.segments[: len(other.segments)]
        return (
            (self.scheme, self.authority, self.query) == (other.scheme, other.authority, other.query)
            and above == other.segments
            and not (self.glob and any(not _WILD.isdisjoint(segment) for segment in above))
        )


def parsed_address(text: str, *, glob: bool = False, escapes: bool = True) -> Path | Address:
    """Parse a path or URI: a path of this machine, not yet resolved, or an address in another file system.

    Args:
        text: the path or URI. A path without a scheme has no escapes.
        glob: whether it is a pattern, in which ``?`` doesn't begin a query.
        escapes: whether ``%`` and two digits stand for a byte. (They don't in the metadata of Iceberg tables.)

    Raises:
        UnsupportedPlanError: it is not valid, or readers would interpret it differently.
    """
    if not text or "\x00" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise _refused(text, "is not a path", "Write a path or a URI")
    scheme = _SCHEME.match(text)
    if scheme is None:
        return Path(f"/{text.lstrip('/')}" if text.startswith("/") else text)
    if any(unicodedata.category(character) in ("Cc", "Zl", "Zp") for character in text):
        raise _refused(text, "has control characters", "Write them as escapes, or as a path without a scheme")
    name = scheme[0][:-1].lower()
    authority, path, query = _parts(text, text[scheme.end() :], glob, name == "file" and not escapes)
    segments = tuple(_segments(text, path, glob, escapes, local=name == "file"))
    if name != "file":
        return Address(name, _authority(text, name, authority), segments, query, glob)
    if authority.lower() not in ("", "localhost"):
        raise _refused(text, f"names the host {authority}", "A file: URI is one of this machine: file:///path")
    if query is not None:
        raise _refused(text, "has a query", "In a file: URI, write ? as %3F")
    return Path("/" + "/".join(segments))


def _parts(text: str, rest: str, glob: bool, literal: bool) -> tuple[str, str, str | None]:
    """Split the text after the scheme into authority, path and query."""
    if not rest.startswith("/"):
        raise _refused(text, "has a scheme but no path from the root", "Write scheme://host/path")
    if "#" in rest and not literal:
        raise _refused(text, "has a fragment", "Write # as %23")
    query: str | None = None
    if "?" in rest and not (glob or literal):
        rest, _, query = rest.partition("?")
    if not rest.startswith("//"):
        return "", rest, query
    authority, slash, path = rest[2:].partition("/")
    return authority, slash + path, query


def _authority(text: str, scheme: str, authority: str) -> str:
    """Return the authority in its normal form: host in lower case, no default port."""
    found = _AUTHORITY.fullmatch(authority)
    if found is None or (found["port"] and int(found["port"]) > 65535):
        raise _refused(text, "has an ambiguous host", "Write the host in ASCII, without escapes")
    host, port = found["host"], int(found["port"]) if found["port"] else None
    if scheme in _PORTS:
        host = host.lower()
        port = None if port == _PORTS[scheme] else port
    if not host and (found["user"] or port is not None):
        raise _refused(text, "has a user or a port, but no host", "Write scheme://host/path")
    return f"{found['user'] or ''}{host}{'' if port is None else f':{port}'}"


def _segments(text: str, path: str, glob: bool, escapes: bool, *, local: bool) -> list[str]:
    """Return the parts of a path, decoded once; without those that are empty or a dot."""
    if escapes and _BROKEN_ESCAPE.search(path):
        raise _refused(text, "has a % that begins no escape", "Write % as %25")
    found = []
    for raw in path.split("/"):
        segment = _decoded(text, raw, glob) if escapes and "%" in raw else raw
        if not local:
            _check_remote(text, segment)
        elif "/" in segment and segment != raw:
            raise _refused(text, "has an escaped /", "A file's name cannot contain a /")
        if segment not in ("", "."):
            found.append(segment)
    return found


def _decoded(text: str, raw: str, glob: bool) -> str:
    try:
        segment = unquote_to_bytes(raw).decode()
    except UnicodeDecodeError:
        raise _refused(text, "has escapes that are not UTF-8", "Write escapes of UTF-8 bytes") from None
    if "\x00" in segment:
        raise _refused(text, "has an escaped NUL", "No file has one in its name")
    if glob and any(segment.count(mark) != raw.count(mark) for mark in "*?[]{}\\^!"):
        raise _refused(text, "has escapes of characters with a meaning in patterns", "Name the file without a pattern")
    return segment


def _check_remote(text: str, segment: str) -> None:
    """Refuse a segment that leads elsewhere in a reader that decodes again, or treats a backslash as a slash."""
    seen = segment
    for _ in range(_MOST_ESCAPES):
        if "%" not in seen:
            break
        seen = unquote(seen)
    if ".." in re.split(r"[/\\]", seen):
        raise _refused(
            text,
            "leads back by '..', so that it is not known to be among the allowed paths",
            "Write the path without it",
        )
    if _ESCAPE.search(seen):
        raise _refused(text, "has escapes in escapes", "Name another file")
    if "/" in segment or "\\" in segment:
        raise _refused(text, "has a backslash or an escaped /", "Name another file")
    if any(unicodedata.category(character) in ("Cc", "Zl", "Zp") for character in segment):
        raise _refused(text, "has control characters", "Name another file")


def _refused(text: str, reason: str, hint: str) -> UnsupportedPlanError:
    return UnsupportedPlanError(f"the address {text!r} {reason}", hint=hint)
