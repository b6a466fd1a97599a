"""The width of texts in a monospace font, calculated without a browser.

Widths are counted in cells. A cell is as wide as a character of the widest monospace font in common use. Wide
characters take two cells, and so do those that the usual monospace fonts lack, because a fallback font may draw them
wider than a cell.
"""

from __future__ import annotations

from functools import lru_cache
from unicodedata import category, east_asian_width

__all__ = ["CELL", "cells", "fitted", "is_plain", "wrapped"]

#: The width of a cell in em: DejaVu Sans Mono and Menlo have 0.602, SF Mono 0.618.
CELL = 0.62

_MORE = "…"
#: The characters of the usual monospace fonts: Latin, Greek, Cyrillic, punctuation, currencies, arrows, mathematics,
#: boxes.
_USUAL = ((0x00, 0x52F), (0x1E00, 0x1FFF), (0x2010, 0x206F), (0x20A0, 0x20BF), (0x2190, 0x22FF), (0x2500, 0x25FF))
#: The best places to break a line: before these words.
_JOINTS = (" AND ", " OR ")


def cells(text: str) -> int:
    """Return the most cells that a text takes; invisible characters take none."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def is_plain(text: str) -> bool:
    """Whether each character takes one cell, whatever the font."""
    return text.isascii() or all(_cells(char) == 1 for char in text)


def fitted(text: str, most: int) -> str:
    """Fit a text into so many cells: return the text, or its beginning and ``…``."""
    end = _end(text, most)
    return text if end == len(text) else text[: _end(text, most - 1)] + _MORE


def wrapped(text: str, most: int, lines: int) -> tuple[str, ...]:
    """Wrap a text to lines of at most so many cells, broken at spaces where there are any.

    Args:
        text: the text.
        most: the cells of a line.
        lines: the most lines; if they aren't enough, the last one ends with ``…``.
    """
    found: list[str] = []
    rest = text.strip()
    while rest:
        end = _end(rest, most)
        if end == len(rest) or len(found) == lines - 1:
            return (*found, fitted(rest, most))
        end = _break(rest, end)
        found.append(rest[:end].rstrip())
        rest = rest[end:].lstrip()
    return tuple(found)


def _break(text: str, end: int) -> int:
    """Return the position at which to break a line that has no room for more than ``end`` characters."""
    joint = max(text.rfind(word, 0, end + len(word)) for word in _JOINTS)
    if joint > end // 5:
        return joint
    comma = text.rfind(", ", 0, end + 1)
    if comma > end // 2:
        return comma + 1
    space = text.rfind(" ", 0, end + 1)
    return space if space > end // 3 else max(end, 1)


def _end(text: str, most: int) -> int:
    """Return the number of leading characters that fit into so many cells; combining marks stay with theirs."""
    if text.isascii():
        return min(len(text), max(most, 0))
    used = 0
    for position, char in enumerate(text):
        used += _cells(char)
        if used > most:
            return position
    return len(text)


@lru_cache(maxsize=4096)
def _cells(char: str) -> int:
    if category(char) in ("Mn", "Me", "Cf"):
        return 0
    code = ord(char)
    usual = any(first <= code <= last for first, last in _USUAL)
    return 1 if usual and east_asian_width(char) not in ("W", "F") else 2
