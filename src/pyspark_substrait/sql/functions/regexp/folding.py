"""Upper and lower case: which characters a pattern takes for equal when it ignores case."""

from __future__ import annotations

import string
import sys
from collections import defaultdict
from enum import Enum
from functools import cache

__all__ = ["Case", "cased_points", "folded", "unfolded", "variants"]

_BLOCK = 0x400


class Case(Enum):
    """How a part of a pattern sees case; the values are those of the option ``case_sensitivity``."""

    EXACT = "CASE_SENSITIVE"
    UNICODE = "CASE_INSENSITIVE"
    ASCII = "CASE_INSENSITIVE_ASCII"


def folded(text: str, case: Case) -> str:
    """A text without its case. Full folding of Unicode may make it longer: ``ß`` becomes ``ss``."""
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
    """The characters that fold to a text of one to three characters, those included that fold to themselves."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for character in _cased():
        found[folded(character, case)].add(character)
    for text in tuple(found):
        if len(text) == 1 and folded(text, case) == text:
            found[text].add(text)
    return {text: frozenset(characters) for text, characters in found.items() if characters != {text}}


@cache
def variants(case: Case) -> dict[int, frozenset[int]]:
    """The code points that a set takes in with one of its members, by that member; itself included.

    Sets match one character each, so of two characters that fold to several only equal ones are variants. ``ẞ`` is
    one of ``ß``, which both are ``ss``.
    """
    found: dict[int, frozenset[int]] = {}
    for characters in unfolded(case).values():
        points = frozenset(map(ord, characters))
        if len(points) > 1:
            found |= dict.fromkeys(points, points)
    return found


@cache
def cased_points() -> tuple[int, ...]:
    """The code points, in order, that have case variants or are folded to several characters."""
    return tuple(sorted({*variants(Case.UNICODE), *map(ord, _cased())}))


@cache
def _cased() -> tuple[str, ...]:
    """Every character that is folded to something else, in order."""
    blocks = ("".join(map(chr, range(start, start + _BLOCK))) for start in range(0, sys.maxunicode + 1, _BLOCK))
    # few blocks have any: the others aren't gone through one character after another
    changing = [block for block in blocks if block.casefold() != block]
    return tuple(character for block in changing for character in block if character.casefold() != character)
