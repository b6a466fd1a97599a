"""Escape and shorten text from plans (names, values, paths) for messages."""

from __future__ import annotations

import hashlib
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

    That is what Unicode calls control and format characters (marks of direction among them), surrogates, private use,
    and all spaces but the usual one.

    >>> print(escaped("a\x1b[2Jb\n"))
    a\x1b[2Jb\n

    Args:
        text: the text.
        keep: characters that stay as they are all the same.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in keep else _ESCAPES.get(char) or _code(char) for char in text)


def _code(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def shortened(text: str, most: int = _MOST_TOGETHER) -> str:
    """Text of at most so many characters; a longer one loses its middle.

    >>> shortened("abcdefghij", 7)
    'abc…hij'
    """
    if len(text) <= most:
        return text
    tail = (most - 1) // 2
    return f"{text[: most - 1 - tail]}…{text[len(text) - tail :]}"


def shortened_name(name: str) -> str:
    """A name; of a long one the middle is left out, and a part of its hash put there, so that it differs from others.

    >>> shortened_name("n" * 300) == "n" * 56 + "…230b0774…" + "n" * 54
    True
    """
    if len(name) <= _MOST_TOGETHER:
        return name
    mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{name[:56]}…{mark}…{name[-54:]}"


def message_text(text: str) -> str:
    """A sentence that may hold names and values of a plan, escaped, and with its long parts shortened.

    Line breaks stay, because some messages have several lines.
    """
    if len(text) > _MOST_TOGETHER:
        text = shortened(_LONG_RUN.sub(lambda found: shortened(found[0]), text), _MOST_CHARACTERS)
    return escaped(text, keep="\n")


def json_text(value: Any, *, indent: int | None = None) -> str:
    """A value as JSON text, in which only non-printable characters are escaped.

    Half of a surrogate pair, which JSON can name and UTF-8 can't, is an escape as well.
    """
    return json_escaped(json.dumps(value, indent=indent, ensure_ascii=False))


def json_escaped(text: str) -> str:
    """The same JSON value with non-printable characters written as JSON's escapes."""
    # outside of its strings, JSON has no characters that don't show but line breaks and tabs
    return "\n".join(line if line.isprintable() else _json_line(line) for line in text.split("\n"))


def _json_line(line: str) -> str:
    return "".join(char if char.isprintable() or char in "\r\t" else json.dumps(char)[1:-1] for char in line)
