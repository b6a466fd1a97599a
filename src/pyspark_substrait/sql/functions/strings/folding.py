"""Simple case folding: one character for each, so that the number of characters stays.

"ß" is "ẞ" and not "ss", a final sigma is a sigma, the Kelvin sign a k. The dotted capital I and the dotless small one
have no other form: they are equal to themselves only.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache

from pyspark_substrait.sql.compiler.literals import string_literal
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.regexp.folding import cased_points
from pyspark_substrait.sql.functions.strings.search import VARIANTS

__all__ = ["equal_characters", "folded", "folded_text", "folding_for"]

_DOTTED = "İ"
_LETTERS = {pair[0]: pair[1] for pair in VARIANTS}


def folded(text: str) -> str:
    """Return a text with the case of each character folded."""
    return "".join(map(_folded, text))


def _folded(character: str) -> str:
    if character == _DOTTED:
        return character
    lower = character.lower()
    return _LETTERS.get(lower, lower)


@cache
def equal_characters() -> dict[str, str]:
    """Return the characters that fold to the same as each one, itself included, where there are others."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for character in map(chr, cased_points()):
        groups[_folded(character)].append(character)
    return {character: "".join(sorted(group)) for group in groups.values() if len(group) > 1 for character in group}


def folded_text(text: Atom) -> Atom:
    """Return a text of any characters, folded, as SQL."""
    # the lower case of the dotted capital I would be two characters
    lower = f"array_join(transform(split({text}, '{_DOTTED}', -1), t -> lower(t)), '{_DOTTED}')"
    return _translated(lower, _LETTERS)


def folding_for(pattern: str, text: Atom) -> Atom:
    """Return a text as SQL, folded as far as it matters to a pattern, which is folded itself."""
    unused = [mark for mark in "*#~" if mark not in pattern]
    if _DOTTED in pattern or not unused:
        return folded_text(text)
    # the lower case of a capital sigma depends on the characters around it
    wanted = {other: letter for other, letter in (*_LETTERS.items(), ("Σ", "σ")) if letter in pattern}
    if {"i", "\u0307", "_"} & set(pattern):
        wanted[_DOTTED] = unused[0]
    return Atom(f"lower({_translated(text, wanted) if wanted else text})")


def _translated(text: str, letters: dict[str, str]) -> Atom:
    others, instead = string_literal("".join(letters)), string_literal("".join(letters.values()))
    return Atom(f"translate({text}, {others}, {instead})")
