"""Escape and shorten text from plans (names, values, paths) for messages."""

from __future__ import annotations

import json
import re
from typing import Any, Final

__all__ = ["escaped", "json_escaped", "json_text", "message_text", "shortened", "shortened_name"]

_MOST_CHARACTERS: Final = 4000
"""The most characters of a message; a longer message is shortened in the middle."""

_MOST_TOGETHER: Final = 240
"""The most characters without a space between them (a name, a path); a longer run is shortened in the middle."""

_LONG_RUN: Final = re.compile(rf"\S{{{_MOST_TOGETHER + 1},}}")
_ESCAPES: Final = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def escaped(text: str, *, keep: str = "") -> str:
    r"""Text with all non-printable characters escaped.

    These are the control and format characters of Unicode (direction marks among them), surrogates, private-use
    characters, and all spaces except U+0020.

    >>> print(escaped("a\x1b[2Jb\n"))
    a\x1b[2Jb\n

    Args:
        text: the text.
        keep: characters that are not escaped.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in keep else _ESCAPES.get(char) or _code(char) for char in text)


def _code(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def shortened(text: str, most: int = _MOST_TOGETHER) -> str:
    """Text of at most ``most`` characters; a longer text loses its middle.

    >>> shortened("abcdefghij", 7)
    'abc…hij'
    """
    if len(text) <= most:
        return text
    tail = (most - 1) // 2
    return f"{text[: most - 1 - tail]}…{text[len(text) - tail :]}"


def shortened_name(name: str) -> str:
    """A name; in a long one, part of its hash replaces the middle, so that it differs from other names.

    >>> shortened_name("n" * 300) == "n" * 56 + "…230b0774…" + "n" * 54
    True
    """
    if len(name) <= _MOST_TOGETHER:
        return name
    import hashlib  # OpenSSL, which takes long to import

    mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{name[:56]}…{mark}…{name[-54:]}"


def message_text(text: str) -> str:
    """Escape a sentence that may hold names and values of a plan, and shorten its long parts.

    Line breaks stay, because some messages have several lines.
    """
    if len(text) > _MOST_TOGETHER:
        text = shortened(_LONG_RUN.sub(lambda found: shortened(found[0]), text), _MOST_CHARACTERS)
    return escaped(text, keep="\n")


def json_text(value: Any, *, indent: int | None = None) -> str:
    """A value as JSON text, in which only non-printable characters are escaped.

    Lone surrogates, which JSON allows and UTF-8 doesn't, are escaped as well.
    """
    return json_escaped(json.dumps(value, indent=indent, ensure_ascii=False))


def json_escaped(text: str) -> str:
    """The same JSON value with non-printable characters written as JSON's escapes."""
    # outside of strings, line breaks and tabs are the only non-printable characters of JSON
    return "\n".join(line if line.isprintable() else _json_line(line) for line in text.split("\n"))


def _json_line(line: str) -> str:
    return "".join(char if char.isprintable() or char in "\r\t" else json.dumps(char)[1:-1] for char in line)
