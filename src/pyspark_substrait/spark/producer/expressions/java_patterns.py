r"""Convert regular expressions of Java to the dialect of ICU, which the specification uses.

Only the common syntax is supported: characters, classes without operations, groups, alternatives, repetitions, the ends
of the text, and ``\d``, ``\w``, ``\s``, which match ASCII in Java and Unicode in ICU. Line terminators differ,
so that ``.`` and ``$`` are written out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

__all__ = ["Pattern", "icu"]

_ANY: Final = r"[^\n\r\u0085\u2028\u2029]"
#: the end of the text, or before a final line terminator
_END: Final = r"(?=(?:\r\n?|(?<!\r)\n|[\u0085\u2028\u2029])?\z)"
_CLASSES: Final = {"d": "0-9", "w": "A-Za-z0-9_", "s": r" \t\n\x0B\f\r"}
_CONTROLS: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_REPETITION: Final = re.compile(r"(?:[*+?]|\{(\d{1,4})(?:,\d{0,4})?\})[?+]?")
_SPECIAL: Final = frozenset("\\^$.|?*+()[]{}")
_SPECIAL_IN_CLASS: Final = frozenset("\\^-[]&~{}$:|#")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern of ICU.

    Args:
        text: the pattern.
        plain: the literal text that it matches; None if it has other syntax.
        may_be_empty: whether it may match the empty text.
    """

    text: str
    plain: str | None
    may_be_empty: bool


class _Beyond(Exception):
    """A pattern has syntax that isn't known to mean the same in both dialects."""


def icu(java: str) -> Pattern | None:
    r"""Return the pattern of ICU that matches the same texts as one of Java; None if there is no known one.

    >>> icu("a.c").text, icu(r"\d+").text, icu("(?<=a)b")
    ('a[^\\n\\r\\u0085\\u2028\\u2029]c', '[0-9]+', None)
    """
    reader = _Reader(java)
    try:
        text, may_be_empty = reader.alternatives()
    except (_Beyond, IndexError):
        return None
    if reader.position < len(java):
        return None
    return Pattern(text, "".join(reader.characters) if reader.is_plain else None, may_be_empty)


class _Reader:
    def __init__(self, java: str) -> None:
        self.java = java
        self.position = 0
        self.characters: list[str] = []
        self.is_plain = True

    def ahead(self) -> str:
        """The next character; empty at the end."""
        return self.java[self.position : self.position + 1]

    def take(self) -> str:
        character = self.java[self.position]
        self.position += 1
        return character

    def alternatives(self) -> tuple[str, bool]:
        parts = [self.sequence()]
        while self.ahead() == "|":
            self.is_plain = False
            self.take()
            parts.append(self.sequence())
        return "|".join(text for text, _ in parts), any(empty for _, empty in parts)

    def sequence(self) -> tuple[str, bool]:
        found: list[str] = []
        all_empty = True
        while self.ahead() not in ("", "|", ")"):
            text, empty = self.repeated()
            found.append(text)
            all_empty = all_empty and empty
        return "".join(found), all_empty

    def repeated(self) -> tuple[str, bool]:
        anchor = self.ahead() in ("^", "$")
        text, empty = self.atom()
        repetition = _REPETITION.match(self.java, self.position)
        if repetition is None:
            return text, empty
        self.position = repetition.end()
        if anchor or _REPETITION.match(self.java, self.position):
            raise _Beyond
        self.is_plain = False
        least = repetition[1]
        optional = repetition[0][0] in "*?" if least is None else int(least) == 0
        return text + repetition[0], empty or optional

    def atom(self) -> tuple[str, bool]:
        character = self.take()
        match character:
            case "\\":
                return self.escaped(), False
            case "(":
                return self.group()
            case "[":
                self.is_plain = False
                return self.of_class(), False
            case "." | "^" | "$":
                self.is_plain = False
                return {".": (_ANY, False), "^": ("^", True), "$": (_END, True)}[character]
            case "]" | "}":
                self.characters.append(character)
                return f"\\{character}", False
            case _ if character in _SPECIAL:
                raise _Beyond
            case _:
                self.characters.append(character)
                return character, False

    def escaped(self) -> str:
        character = self.take()
        if character.lower() in _CLASSES:
            self.is_plain = False
            return f"[{'^' if character.isupper() else ''}{_CLASSES[character.lower()]}]"
        if character in _CONTROLS:
            self.characters.append(_CONTROLS[character])
        elif character.isascii() and not character.isalnum():
            self.characters.append(character)
        else:
            raise _Beyond
        return f"\\{character}"

    def group(self) -> tuple[str, bool]:
        self.is_plain = False
        opening = "("
        if self.ahead() == "?":
            if not self.java.startswith("?:", self.position):
                raise _Beyond
            self.position += 2
            opening = "(?:"
        text, empty = self.alternatives()
        if self.take() != ")":
            raise _Beyond
        return f"{opening}{text})", empty

    def of_class(self) -> str:
        negated = self.ahead() == "^"
        if negated:
            self.take()
        items: list[str] = []
        while not items or self.ahead() != "]":
            items.append(self.item(first=not items))
        self.take()
        return f"[{'^' if negated else ''}{''.join(items)}]"

    def item(self, *, first: bool) -> str:
        low = self.member(first=first)
        if self.ahead() != "-" or self.java[self.position + 1] == "]":
            return low
        self.take()
        high = self.member(first=False)
        if max(map(len, (low.lstrip("\\"), high.lstrip("\\")))) > 1 or not (low[-1].isalnum() and high[-1].isalnum()):
            raise _Beyond
        if low.startswith("\\") or high.startswith("\\"):
            raise _Beyond
        return f"{low}-{high}"

    def member(self, *, first: bool) -> str:
        """Convert one character of a class, or a nested class, to ICU."""
        character = self.take()
        if character == "\\":
            escaped = self.take()
            if escaped in _CLASSES:
                return _CLASSES[escaped]
            if escaped in _CONTROLS or (escaped.isascii() and not escaped.isalnum()):
                return f"\\{escaped}"
            raise _Beyond
        if character in "[&" or (character == "]" and first) or (character == "^" and first):
            raise _Beyond
        if character == "-" and not (first or self.ahead() == "]"):
            raise _Beyond
        return f"\\{character}" if character in _SPECIAL_IN_CLASS else character
