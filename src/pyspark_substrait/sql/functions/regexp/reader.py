"""Reads the characters of a pattern: the position, skipped characters and escapes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark_substrait.sql.functions.regexp.nodes import invalid, unsupported
from pyspark_substrait.sql.functions.regexp.properties import named, property_set
from pyspark_substrait.sql.functions.regexp.sets import CharacterSet

__all__ = ["Reader"]

_BLANKS = frozenset("\t\n\v\f\r \x85\u200e\u200f\u2028\u2029")
_LINE_ENDS = frozenset("\n\v\f\r\x85\u2028\u2029")
_CONTROLS = {"a": "\a", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
#: the depth that everything that processes a pattern can surely handle, here and in Java
_DEEPEST = 100
_HEX = frozenset("0123456789abcdefABCDEF")


class Reader:
    """The text of a pattern and a position in it.

    Attributes:
        index: the position.
        comments: whether white space and comments are skipped (the flag ``x``).
        quoted: whether it is between ``\\Q`` and ``\\E``.
        depth: the number of enclosing groups and sets.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.index = 0
        self.depth = 0
        self.comments = False
        self.quoted = False

    def skip(self) -> None:
        """Skip white space and comments, if the flag is set."""
        while self.comments and self.index < len(self.text):
            if self.text[self.index] == "#":
                while self.index < len(self.text) and self.text[self.index] not in _LINE_ENDS:
                    self.index += 1
            elif self.text[self.index] in _BLANKS:
                self.index += 1
            else:
                return

    @contextmanager
    def inside(self, start: int) -> Iterator[None]:
        """A context inside a group or a set, which starts at ``start``."""
        self.deeper(start)
        depth = self.depth
        yield
        self.depth = depth - 1

    def deeper(self, start: int) -> None:
        """Add one level of nesting.

        Raises:
            UnsupportedPlanError: it is too deep.
        """
        self.depth += 1
        if self.depth > _DEEPEST:
            raise unsupported(f"groups, sets and operators are nested more than {_DEEPEST} deep", start)

    def peek(self, ahead: int = 0) -> str:
        """Return a character without moving; empty at the end."""
        return self.text[self.index + ahead : self.index + ahead + 1]

    def next(self) -> str:
        character = self.peek()
        self.index += len(character)
        return character

    def taken(self, expected: str) -> bool:
        """Return whether the text continues with this, and move past it if it does."""
        if not self.text.startswith(expected, self.index):
            return False
        self.index += len(expected)
        return True

    def until(self, end: str, what: str) -> str:
        """Return the text before ``end``, and move past that."""
        start, found = self.index, self.text.find(end, self.index)
        if found < 0:
            raise invalid(f"{what} is not closed by {end}", start)
        self.index = found + len(end)
        return self.text[start:found]

    def escaped_character(self, start: int) -> str:
        """Return the character of an escape; the reader is after the backslash, which is at ``start``."""
        kind = self.next()
        match kind:
            case "":
                raise invalid("nothing follows the backslash", start)
            case "c":
                return chr(ord(self.next() or self._broken(start)) & 0x1F)
            case "0":
                return self._octal(start)
            case "x":
                if self.taken("{"):
                    return self._point(self.until("}", r"\x{"), 1, 8, start)
                return self._point(self._digits(2), 1, 2, start)
            case "u":
                return self._unit(start)
            case "U":
                return self._point(self._digits(8), 8, 8, start)
            case "N":
                found = named(self._braced(start)) if self.peek() == "{" else None
                return found or self._broken(start, "there is no character with this name")
            case _:
                # escaped letters without a meaning stand for themselves
                return _CONTROLS.get(kind, kind)

    def escaped_property(self, start: int) -> CharacterSet:
        r"""Return the set of a property, after ``\p`` or ``\P``."""
        name = self._braced(start)
        return property_set(name) or self.no_property(name, start)

    def no_property(self, name: str, start: int) -> CharacterSet:
        raise invalid(f"Java's regular expressions have no property {name!r}", start)

    def _braced(self, start: int) -> str:
        if not self.taken("{"):
            raise invalid(f"a name in braces must follow \\{self.text[start + 1]}", start)
        return self.until("}", f"\\{self.text[start + 1]}{{")

    def _digits(self, most: int) -> str:
        start = self.index
        while self.index - start < most and self.peek() in _HEX and self.peek():
            self.index += 1
        return self.text[start : self.index]

    def _octal(self, start: int) -> str:
        digits = ""
        while len(digits) < 3 and self.peek() and self.peek() in "01234567" and int(digits + self.peek(), 8) <= 0o377:
            digits += self.next()
        return chr(int(digits, 8)) if digits else self._broken(start)

    def _unit(self, start: int) -> str:
        """A UTF-16 unit, or the two of a character beyond the first plane."""
        digits = self._digits(4)
        if len(digits) == 4 and 0xD800 <= int(digits, 16) <= 0xDBFF and self.taken("\\u"):
            low = self._digits(4)
            if len(low) == 4 and 0xDC00 <= int(low, 16) <= 0xDFFF:
                return chr(0x10000 + ((int(digits, 16) & 0x3FF) << 10) + (int(low, 16) & 0x3FF))
        return self._point(digits, 4, 4, start)

    def _point(self, digits: str, least: int, most: int, start: int) -> str:
        if not least <= len(digits) <= most or not set(digits) <= _HEX:
            self._broken(start)
        point = int(digits, 16)
        if point > 0x10FFFF or 0xD800 <= point <= 0xDFFF:
            self._broken(start, f"U+{point:04X} is not a character")
        return chr(point)

    def _broken(self, start: int, reason: str = "the escape is not complete") -> str:
        raise invalid(reason, start)
