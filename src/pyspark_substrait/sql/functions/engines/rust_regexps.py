"""Translation of Rust's regular expressions to ICU's, which are then translated to Java's.

Most parts of patterns have the same meaning in both: characters, sets of them, groups, alternatives, quantifiers,
``\\d``, ``\\w`` and ``\\s``. In Rust, the dot matches all characters but the line feed, ``$`` only the end of the text,
and lines end with a line feed only; these are written explicitly. So are the characters that are equal if case is
ignored, of which Rust compares each by itself. Anything else is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.sql.functions.strings.folding import equal_characters

__all__ = ["icu_pattern", "icu_replacement", "optional_groups"]

_ESCAPED = r"\\[dDwWsStnrf\\.$^\[\](){}*+?|/#&~-]"
#: a part of a set: a class of ASCII, a range, or one that has the same notation
_ITEM = (
    rf"\[:(?P<posix>[a-z]+):\]|(?P<low>[^\\\[\]&~^#\s-])-(?P<high>[^\\\[\]&~^#\s-])"
    rf"|(?P<escaped>{_ESCAPED})|(?P<one>[^\\\[\]&~^#-])"
)
_UNNAMED = re.sub(r"\?P<\w+>", "?:", _ITEM)
#: a part of a pattern, by its kind; the last kind has the same notation
_PART = re.compile(
    rf"(?P<dot>\.)|(?P<start>\^)|(?P<end>\$)|(?P<bound>\\[bB])|(?P<edge>\\[Az])"
    rf"|(?P<set>\[\^?(?:{_UNNAMED})+\])"
    rf"|(?P<code>\\x(?:[0-9A-Fa-f]{{2}}|\{{[0-9A-Fa-f]{{1,6}}\}}))"
    rf"|(?P<group>\((?:\?P?<[A-Za-z_]\w*>|(?!\?)))"
    rf"|(?P<quantifier>(?:[*+?]|\{{\d+(?:,\d*)?\}})\??(?![*+?{{]))"
    rf"|(?P<closed>\))|(?P<same>\(\?:|\||{_ESCAPED})|(?P<character>[^\\.$\[(){{}}*+?|^])"
)
_FLAGS = re.compile(r"\(\?([ims]+)\)")
_REPLACEMENT = re.compile(r"(?:[^\\$]|\\[1-9](?![0-9]))*")

#: the classes of POSIX, of ASCII only
_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "digit": "0-9",
    "lower": "a-z",
    "space": r"\t\n\x0B\f\r\x20",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_BETWEEN = r"(?:(?<=\w)(?!\w)|(?<!\w)(?=\w))"
_INSIDE = r"(?:(?<=\w)(?=\w)|(?<!\w)(?!\w))"
#: a larger range isn't searched for letters
_MOST_IN_RANGE = 0x500


@dataclass(frozen=True, slots=True)
class _Flags:
    """The flags of a pattern."""

    insensitive: bool
    lines: bool
    all: bool


def icu_pattern(pattern: str, flags: str = "") -> str:
    """Return the pattern in ICU's syntax.

    Args:
        pattern: the pattern; it may start with flags itself.
        flags: any of ``i``, ``m`` and ``s``.

    Raises:
        UnsupportedPlanError: it has another flag, or a part that ICU interprets differently.
    """
    if not set(flags) <= set("ims"):
        raise UnsupportedPlanError(f"the flags {flags} of a regular expression; there are i, m and s here")
    position = 0
    if (own := _FLAGS.match(pattern)) is not None:
        flags, position = flags + own[1], own.end()
    set_flags = _Flags("i" in flags, "m" in flags, "s" in flags)
    parts = []
    while position < len(pattern):
        found = _PART.match(pattern, position)
        text = None if found is None else _icu(found, set_flags)
        if found is None or text is None:
            raise UnsupportedPlanError(
                f"the regular expression has something at character {position + 1} that Rust and Java read differently"
            )
        parts.append(text)
        position = found.end()
    return "".join(parts)


def _icu(part: re.Match[str], flags: _Flags) -> str | None:
    """Return a part in ICU's syntax; None if that is unknown."""
    text = part.group()
    match part.lastgroup:
        case "dot":
            return r"[\x{0}-\x{10FFFF}]" if flags.all else "[^\n]"
        case "start":
            return r"(?<![^\n])" if flags.lines else "^"
        case "end":
            return r"(?![^\n])" if flags.lines else r"\z"
        case "bound":
            return _BETWEEN if text == r"\b" else _INSIDE
        case "set":
            return _icu_set(text, flags.insensitive)
        case "code":
            point = int(text[2:].strip("{}"), 16)
            return _character(chr(point), flags.insensitive) if point < 0x110000 else None
        case "group":
            return "("
        case "character":
            return _character(text, flags.insensitive)
        case _:
            return text


def _character(character: str, insensitive: bool) -> str:
    if insensitive and (equal := equal_characters().get(character)):
        return f"[{equal}]"
    return character if character.isalnum() else rf"\x{{{ord(character):X}}}"


def _icu_set(text: str, insensitive: bool) -> str | None:
    negative = text.startswith("[^")
    parts = ["[^" if negative else "["]
    for item in re.finditer(_ITEM, text[1 + negative : -1]):
        posix, low, high, one = item["posix"], item["low"], item["high"], item["one"]
        if posix is not None and posix not in _POSIX:
            return None
        parts.append(item.group() if posix is None else _POSIX[posix])
        if not insensitive:
            continue
        if low is None:
            letters = one or ("ks" if posix in ("alnum", "alpha", "lower", "upper", "word") else "")
        elif ord(high) - ord(low) > _MOST_IN_RANGE:
            return None
        else:
            letters = "".join(map(chr, range(ord(low), ord(high) + 1)))
        if posix in ("lower", "upper"):
            parts.append("A-Za-z")
        parts += sorted({equal for letter in letters for equal in equal_characters().get(letter, "")})
    return "".join([*parts, "]"])


def icu_replacement(text: str) -> str:
    """Return the replacement, which is the same in both, or refuse it.

    Raises:
        UnsupportedPlanError: it has a dollar sign, or a backslash that isn't followed by the number of a group.
    """
    if _REPLACEMENT.fullmatch(text) is None:
        raise UnsupportedPlanError("the replacement has a dollar sign, or a backslash without the number of a group")
    return text


def optional_groups(pattern: str) -> bool:
    """Whether a group of a pattern may take no part in a match; that of one that :func:`icu_pattern` takes."""
    kinds = [(part.lastgroup, part.group()) for part in _PART.finditer(pattern)]
    optional = any(
        kind == "closed" and following == "quantifier" and text.startswith(("*", "?", "{0"))
        for (kind, _), (following, text) in pairwise(kinds)
    )
    return optional or ("same", "|") in kinds
