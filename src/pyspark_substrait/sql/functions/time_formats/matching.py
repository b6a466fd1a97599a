r"""The regular expression of a format for ``strptime``, and the values that it finds in a text.

It accepts what C's strptime accepts (and where the manual is silent, glibc's): white space of the format matches any
amount of it, or none; it is allowed before a number; a number may have fewer digits; names may be in any case, in full
or with three letters. The C function reads from left to right without backtracking, and so does the expression: no part
of it can match in two ways. Unlike the C function, it accepts no text after the format.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from typing import Final

from pyspark_substrait.model.expressions import Function
from pyspark_substrait.sql.compiler.literals import string_literal
from pyspark_substrait.sql.functions.common_expressions import bound
from pyspark_substrait.sql.functions.time_formats.conversions import (
    COMPOSITES,
    MONTHS,
    WEEKDAYS,
    Conversion,
    Piece,
    parts,
    pieces,
    refusal,
)

__all__ = ["VALUES", "Matching", "flattened"]

_BLANKS: Final = r"\s*+"


def _names(names: tuple[str, ...]) -> str:
    return "(?i:" + "|".join(f"{name[:3]}(?:{name[3:]})?+" if name[3:] else name for name in names) + ")"


# a digit that may be the first of two is followed by another one, or by a non-digit
_HOUR: Final = r"[01]\d|2[0-3]|[3-9]|[0-2](?!\d)"
_OF_TWELVE: Final = r"0[1-9]|1[0-2]|[2-9]|1(?!\d)"
_DAY: Final = r"0[1-9]|[12]\d|3[01]|[4-9]|[1-3](?!\d)"
_OF_CENTURY: Final = r"\d{1,2}+"
_YEAR: Final = r"\d{1,4}+"
_WEEK: Final = r"[0-4]\d|5[0-3]|[6-9]|[0-5](?!\d)"
_DAY_OF_YEAR: Final = r"00[1-9]|0[1-9]\d|[12]\d\d|3[0-5]\d|36[0-6]|3[7-9]|[4-9]\d|(?:0?[1-9]|[12]\d|3[0-6])(?!\d)"
_NUMBERS: Final[Mapping[str, str]] = {
    "C": _OF_CENTURY,
    "d": _DAY,
    "e": _DAY,
    "g": _OF_CENTURY,
    "G": _YEAR,
    "H": _HOUR,
    "I": _OF_TWELVE,
    "j": _DAY_OF_YEAR,
    "k": _HOUR,
    "l": _OF_TWELVE,
    "m": _OF_TWELVE,
    "M": r"[0-5]\d|[6-9]|[0-5](?!\d)",
    "s": r"-?\d{1,18}+",
    "S": r"[0-5]\d|60|[7-9]|[0-6](?!\d)",
    "u": "[1-7]",
    "U": _WEEK,
    "V": r"0[1-9]|[1-4]\d|5[0-3]|[6-9]|[1-5](?!\d)",
    "w": "[0-6]",
    "W": _WEEK,
    "y": _OF_CENTURY,
    "Y": _YEAR,
    "z": r"Z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d|(?!:?\d))",
}
_OTHERS: Final[Mapping[str, str]] = {
    "a": _names(WEEKDAYS),
    "A": _names(WEEKDAYS),
    "b": _names(MONTHS),
    "B": _names(MONTHS),
    "f": r"\d{1,12}+",
    "h": _names(MONTHS),
    "p": "(?i:[AP]M)",
    "P": "(?i:[AP]M)",
    "Z": r"[A-Za-z][\w+/-]*+",
}
#: the conversions that are values, each with its equivalents
VALUES: Final[Mapping[str, str]] = {
    **{letter: letter for letter in (*_NUMBERS, *_OTHERS)},
    "A": "a",
    "B": "b",
    "e": "d",
    "h": "b",
    "k": "H",
    "l": "I",
    "P": "p",
}


def flattened(function: Function, format: str) -> tuple[Piece, ...]:
    """The pieces of a format, with composites taken apart."""
    return tuple(_flattened(function, pieces(function, format)))


def _flattened(function: Function, items: tuple[Piece, ...]) -> Iterator[Piece]:
    for item in items:
        if isinstance(item, Conversion) and item.width:
            raise refusal(function, item, "has a width, which strptime does not know")
        if isinstance(item, Conversion) and item.letter in COMPOSITES:
            yield from _flattened(function, parts(function, item))
        else:
            yield item


class Matching:
    """A format and the values requested from it.

    Args:
        items: the pieces of the format.
    """

    def __init__(self, items: tuple[Piece, ...]) -> None:
        self._items = items
        #: the position of each value; the last of several counts, as in C
        self._places = {
            VALUES[item.letter]: place
            for place, item in enumerate(items)
            if isinstance(item, Conversion) and item.letter in VALUES
        }
        self._asked: list[int] = []

    @property
    def values(self) -> Set[str]:
        """The conversions in the format; equivalent ones are represented by the one in :data:`VALUES`."""
        return self._places.keys()

    def __contains__(self, value: str) -> bool:
        return value in self._places

    def text(self, value: str) -> str:
        """Return the text that a conversion of the format matches."""
        place = self._places[value]
        if place not in self._asked:
            self._asked.append(place)
        return f"parts[{self._asked.index(place)}]"

    def number(self, value: str) -> str:
        """Return the text of a conversion as an INT."""
        return f"CAST({self.text(value)} AS INT)"

    def over(self, operand: str, value: str, failure: str) -> str:
        """Return ``value`` for a text that fits the format, ``failure`` for another text, null for null.

        Args:
            operand: the text.
            value: uses the results of ``text`` and ``number``.
            failure: an expression that raises.
        """
        expression = "".join(self._expression())
        if not self._asked:
            pattern = string_literal(rf"^{expression}\z")
            return f"CASE WHEN {operand} RLIKE {pattern} THEN {value} WHEN {operand} IS NOT NULL THEN {failure} END"
        # the second alternative matches texts that don't fit the format, and leaves the groups empty
        pattern = rf"^(?:{expression}\z|[\s\S]*+)"
        order = sorted(self._asked)
        groups = ",".join(f"${order.index(place) + 1}" for place in self._asked)
        split = f"split(regexp_replace({operand}, {string_literal(pattern)}, {string_literal(groups)}), ',')"
        found = f"CASE WHEN parts[0] <> '' THEN {value} WHEN parts IS NOT NULL THEN {failure} END"
        return bound(split, "parts", found)

    def _expression(self) -> Iterator[str]:
        blank = False
        for place, item in enumerate(self._items):
            for text, number in _matched(item):
                if number and not blank:
                    yield _BLANKS
                blank = text == _BLANKS
                if place in self._asked:
                    yield f"({text})"
                else:
                    yield f"(?:{text})" if "|" in text else text


def _matched(item: Piece) -> Iterator[tuple[str, bool]]:
    """Yield the expressions of a piece, and whether each is one of a number."""
    match item:
        case Conversion(letter=letter) if letter in _NUMBERS:
            yield _NUMBERS[letter], True
        case Conversion(letter=letter) if letter in _OTHERS:
            yield _OTHERS[letter], False
        case Conversion(letter="%"):
            yield "%", False
        case Conversion():
            yield _BLANKS, False
        case text:
            for part in re.split(r"([ \t\n\v\f\r]+)", text):
                if part:
                    yield _BLANKS if part.isspace() and part.isascii() else re.escape(part), False
