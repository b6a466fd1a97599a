"""Upper and lower case: the characters that a pattern treats as equal when it ignores case."""

from __future__ import annotations

import string
import sys
from collections import defaultdict
from enum import Enum
from functools import cache

__all__ = ["Case", "cased_points", "folded", "unfolded", "variants"]

_BLOCK = 0x400


class Case(Enum):
    """The case sensitivity of a part of a pattern; the values are those of the option ``case_sensitivity``."""

    EXACT = "CASE_SENSITIVE"
    UNICODE = "CASE_INSENSITIVE"
    ASCII = "CASE_INSENSITIVE_ASCII"


def folded(text: str, case: Case) -> str:
    """Return a text with its case folded. Full Unicode folding may make it longer: ``ß`` becomes ``ss``."""
    match case:
        case Case.EXACT:
            return text
        case Case.ASCII:
            return text.translate(_ASCII)
        case Case.UNICODE:
            return text.casefold()


_ASCII = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


@cache
def unfolded(case: Case) -> dict[str, frozenset[str]]:
    """Return the characters that fold to each text of one to three characters, unchanged ones included."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for character in _cased():
        found[folded(character, case)].add(character)
    for text in tuple(found):
        if len(text) == 1 and folded(text, case) == text:
            found[text].add(text)
    return {text: frozenset(characters) for text, characters in found.items() if characters != {text}}


@cache
def variants(case: Case) -> dict[int, frozenset[int]]:
    """Return the code points that a set also matches for each member, itself included.

    Sets match one character each, so of two characters that fold to several only equal ones are variants. ``ẞ`` is a
    variant of ``ß``, as both fold to ``ss``.
    """
    found: dict[int, frozenset[int]] = {}
    for characters in unfolded(case).values():
        points = frozenset(map(ord, characters))
        if len(points) > 1:
            found |= dict.fromkeys(points, points)
    return found


@cache
def cased_points() -> tuple[int, ...]:
    """Return the code points, in order, that have case variants or fold to several characters."""
    return tuple(sorted({*variants(Case.UNICODE), *map(ord, _cased())}))


@cache
def _cased() -> tuple[str, ...]:
    """Return every character that folds to something else, in order."""
    blocks = ("".join(map(chr, range(start, start + _BLOCK))) for start in range(0, sys.maxunicode + 1, _BLOCK))
    # few blocks have any: the others aren't checked character by character
    changing = [block for block in blocks if block.casefold() != block]
    return tuple(character for block in changing for character in block if character.casefold() != character)
