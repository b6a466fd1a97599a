"""The formats of C's ``strftime`` and ``strptime``, read into pieces.

The conversions are those of the manual pages that the extension refers to (strftime(3) and strptime(3) of man7.org)
in the POSIX locale, so with English names, and ``%f`` for the fraction of a second as other engines have it, because
C has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import Function

__all__ = [
    "COMPOSITES",
    "MODIFIED",
    "MONTHS",
    "SINGLE",
    "WEEKDAYS",
    "Conversion",
    "Piece",
    "parts",
    "pieces",
    "refusal",
]

#: from January to December
MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
#: from Sunday to Saturday
WEEKDAYS: Final = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")

#: conversions that are equivalent to several others
COMPOSITES: Final[Mapping[str, str]] = {
    "c": "%a %b %e %H:%M:%S %Y",
    "D": "%m/%d/%y",
    "F": "%Y-%m-%d",
    "r": "%I:%M:%S %p",
    "R": "%H:%M",
    "T": "%H:%M:%S",
    "x": "%m/%d/%y",
    "X": "%H:%M:%S",
}
#: all other conversions
SINGLE: Final = "%aAbBCdefgGhHIjklmMnpPsStuUVwWyYzZ"
#: a modifier requests the locale's alternative form of a conversion, and the POSIX locale has none
MODIFIED: Final = {"E": "cCxXyY", "O": "deHImMSuUVwWy"}
_CONVERSION: Final = re.compile(r"%([_\-0^#]*)([0-9]{0,9})([EO]?)(.?)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Conversion:
    """A conversion of a format, like ``%-5d``.

    Args:
        letter: the last character; the modifiers E and O are dropped, as they have no effect.
        flags: the characters of ``_-0^#`` before the width.
        width: the minimum number of characters, 0 if none is stated.
        text: the whole conversion.
        position: its position in the format, counted from 1.
    """

    letter: str
    flags: str
    width: int
    text: str
    position: int


Piece: TypeAlias = str | Conversion


def pieces(function: Function, format: str) -> tuple[Piece, ...]:
    """A format as text and conversions, in order.

    Raises:
        UnsupportedPlanError: something in it isn't a conversion.
    """
    return tuple(_pieces(function, format))


def _pieces(function: Function, format: str) -> Iterator[Piece]:
    position = 0
    for found in _CONVERSION.finditer(format):
        if position < found.start():
            yield format[position : found.start()]
        position = found.end()
        flags, width, modifier, letter = found.groups()
        conversion = Conversion(letter, flags, int(width or 0), found[0], found.start() + 1)
        allowed = MODIFIED[modifier] if modifier else {*SINGLE, *COMPOSITES}
        if not letter or letter not in allowed:
            raise refusal(function, conversion, "is not a conversion of C", "A percent sign itself is written '%%'")
        yield conversion
    if position < len(format):
        yield format[position:]


def parts(function: Function, composite: Conversion) -> tuple[Piece, ...]:
    """Return the parts of a composite conversion; errors about a part are reported for the whole."""
    return tuple(
        replace(item, text=composite.text, position=composite.position) if isinstance(item, Conversion) else item
        for item in pieces(function, COMPOSITES[composite.letter])
    )


def refusal(function: Function, conversion: Conversion, reason: str, hint: str | None = None) -> UnsupportedPlanError:
    """Return the error for a conversion."""
    where = f"{conversion.text!r} at character {conversion.position} of the format"
    return UnsupportedPlanError(f"{function.name}: {where} {reason}", hint=hint)
