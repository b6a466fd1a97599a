"""Recognition of content that isn't a plan, for errors that name it and the way out."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

__all__ = ["OtherFormat", "is_sql", "other_format"]


class OtherFormat(NamedTuple):
    """The format of a content that isn't a plan.

    Args:
        what: its name, with an article: ``a Parquet file``.
        hint: what to do with it, in one sentence; empty if that is unknown.
    """

    what: str
    hint: str = ""


_TABLE: Final = "Pass data as a table: --table NAME=PATH, or tables={name: path}"
_UTF8: Final = "Save it as UTF-8, the encoding of plans in JSON and in the text form"
_ENGINE: Final = "Export the plan from the engine, as binary protobuf or JSON"


def _decompress(command: str) -> str:
    return f"Decompress it first, for example with `{command}`"


#: the first bytes of files, from the longest to the shortest where one begins like another
_MAGIC: Final[tuple[tuple[bytes, OtherFormat], ...]] = (
    (b"PAR1", OtherFormat("a Parquet file", _TABLE)),
    (b"PARE", OtherFormat("an encrypted Parquet file", _TABLE)),
    (b"ARROW1", OtherFormat("an Arrow IPC (Feather) file", _TABLE)),
    (
        b"FEA1",
        OtherFormat("a Feather file of version 1", "Write the data as Parquet or Arrow IPC, and pass it as a table"),
    ),
    (b"ORC", OtherFormat("an ORC file", _TABLE)),
    (b"Obj\x01", OtherFormat("an Avro file", "Write the data as Parquet, and pass it as a table")),
    (b"\x1f\x8b", OtherFormat("gzip-compressed data", _decompress("gzip -dk FILE"))),
    (b"\x28\xb5\x2f\xfd", OtherFormat("zstd-compressed data", _decompress("zstd -dk FILE"))),
    (b"BZh", OtherFormat("bzip2-compressed data", _decompress("bzip2 -dk FILE"))),
    (b"\xfd7zXZ\0", OtherFormat("xz-compressed data", _decompress("xz -dk FILE"))),
    (b"\x04\x22\x4d\x18", OtherFormat("lz4-compressed data", _decompress("lz4 -dk FILE"))),
    (b"\xff\x06\0\0sNaPpY", OtherFormat("snappy-compressed data", "Decompress it first")),
    (b"PK\x03\x04", OtherFormat("a zip archive", "Extract it first, for example with `unzip FILE`")),
    (b"SQLite format 3\0", OtherFormat("a SQLite database", _ENGINE)),
    (b"%PDF-", OtherFormat("a PDF document")),
    (b"\x89PNG\r\n\x1a\n", OtherFormat("a PNG picture")),
    (b"\xff\xd8\xff", OtherFormat("a JPEG picture")),
    (b"\x7fELF", OtherFormat("a program")),
)
#: magic numbers that don't stand at the beginning
_MAGIC_WITHIN: Final[tuple[tuple[int, bytes, OtherFormat], ...]] = (
    (8, b"DUCK", OtherFormat("a DuckDB database", _ENGINE)),
    (257, b"ustar", OtherFormat("a tar archive", "Extract it first, for example with `tar -xf FILE`")),
)

_LOOKED_AT: Final = 4096
"""The number of bytes that decide what a text is."""

_CONTROL: Final = re.compile(r"[\0-\x08\x0e-\x1a\x1c-\x1f]")
_SPACE_AND_COMMENTS: Final = r"(?:\s|--[^\n]*(?:\n|\Z)|/\*.*?\*/|\()*"
_SQL: Final = re.compile(
    _SPACE_AND_COMMENTS
    + r"(?:select(?=[\s*'\"(`])|(?:with|values|explain)(?=[\s(])|insert\s+(?:into|overwrite)\s|delete\s+from\s"
    r"|merge\s+into\s|update\s+\S+\s+set\s|truncate\s+table\s|(?:create|drop|alter)\s+(?:or\s+replace\s+)?(?:\w+\s+)?"
    r"(?:table|view|schema|database|function)\s)",
    re.IGNORECASE | re.DOTALL,
)
_YAML_FUNCTIONS: Final = re.compile(r"^(?:scalar_functions|aggregate_functions|window_functions)\s*:", re.MULTILINE)
_YAML_EXTENSION: Final = re.compile(r"^(?:urn|types|type_variations)\s*:", re.MULTILINE)
_YAML_DIALECT: Final = re.compile(r"^(?:supported_\w+)\s*:", re.MULTILINE)
_TEXT_FORMAT: Final = re.compile(r"(?:version|relations|extensions|extension_ur[in]s|referred_expr)\s*:?\s*\{")
_EXPLAINED: Final = re.compile(r"(?:Plan|Extended expression) \(\d+\.\d+")
#: the first byte of a plan, or of an extended expression: the tag of one of the messages in it
_BASE64: Final = re.compile(rb"[CEGIKMOQ][A-Za-z0-9+/\r\n]{15,}={0,2}\s*\Z")
_HEXADECIMAL: Final = re.compile(rb"(?:0x)?(?:0a|12|1a|22|2a|32|3a|42)[0-9a-f\r\n]{14,}\Z", re.IGNORECASE)


def other_format(content: bytes) -> OtherFormat | None:
    """Return the format of a content that can't be read as a plan; None if it is unknown.

    A plan may begin with any of these bytes, so this is no test for plans.
    """
    for magic, found in _MAGIC:
        if content.startswith(magic):
            return found
    if content.startswith(b"\xff\xff\xff\xff") and 0 < int.from_bytes(content[4:8], "little") < len(content):
        return OtherFormat("an Arrow IPC stream", "Write the data as an Arrow file, and pass it as a table")
    for position, magic, found in _MAGIC_WITHIN:
        if content.startswith(magic, position):
            return found
    if (encoding := _wide_encoding(content)) is not None:
        return OtherFormat(f"text in {encoding}", _UTF8)
    text = _as_text(content)
    return None if text is None else _text_format(text, content)


def is_sql(text: str) -> bool:
    """Whether a text begins like a query or statement in SQL."""
    return _SQL.match(text[:_LOOKED_AT]) is not None


def _wide_encoding(content: bytes) -> str | None:
    """Return UTF-16 or UTF-32 if the content is text in it, with a byte order mark or mostly of ASCII characters."""
    if content.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        return "UTF-32"
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "UTF-16"
    start = content[:256]
    for low, high in ((start[::2], start[1::2]), (start[1::2], start[::2])):
        if len(start) >= 4 and not any(high) and all(0x20 <= byte < 0x7F or byte in b"\t\n\r" for byte in low):
            return "UTF-16"
    return None


def _as_text(content: bytes) -> str | None:
    """Return the beginning of a text without control characters; None for other content."""
    start = content[:_LOOKED_AT].removeprefix(b"\xef\xbb\xbf")
    try:
        text = start.decode()
    except UnicodeDecodeError as error:
        if error.reason != "unexpected end of data" or len(content) <= _LOOKED_AT:
            return None
        text = start[: error.start].decode()
    return None if _CONTROL.search(text) else text


def _text_format(text: str, content: bytes) -> OtherFormat:
    start = text.lstrip()
    lower = start[:64].lower()
    if lower.startswith(("<!doctype html", "<html")):
        return OtherFormat("an HTML page", "A download may have returned an error page; download the file itself")
    if lower.startswith("<"):
        return OtherFormat("XML", _ENGINE)
    if is_sql(start):
        return OtherFormat(
            "SQL text", "Did you mean the command `plan`, which makes a plan of SQL? In Python: from_sql(query)"
        )
    if _EXPLAINED.match(start):
        return OtherFormat(
            "the output of explain",
            "It leaves parts out; `convert IN OUT --to text`, or to_text(), writes a text that can be read back",
        )
    if _YAML_FUNCTIONS.search(text) or _YAML_EXTENSION.search(text):
        return OtherFormat(
            "a YAML extension file", "Add it to the known functions: --functions FILE, or Registry.with_yaml(path)"
        )
    if _YAML_DIALECT.search(text):
        return OtherFormat("a YAML dialect file", "Check a plan against it: `validate PLAN --target FILE`")
    if _TEXT_FORMAT.match(start):
        return OtherFormat(
            "a message in protobuf's text format", "Write it as binary (SerializeToString) or JSON (json_format)"
        )
    encoding = _encoded(content)
    if encoding is not None:
        return encoding
    shown = start.split("\n", 1)[0][:40].rstrip()
    return OtherFormat(
        f"text that begins with {shown!r}", "A plan is binary protobuf, JSON, or the text form of to_text()"
    )


def _encoded(content: bytes) -> OtherFormat | None:
    if _HEXADECIMAL.match(content):
        return OtherFormat("hexadecimal digits", "Decode them first, for example with `xxd -r -p FILE`")
    if _BASE64.match(content):
        return OtherFormat("base64 text", "Decode it first, for example with `base64 -d FILE`")
    return None
