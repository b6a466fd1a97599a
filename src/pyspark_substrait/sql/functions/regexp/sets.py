"""Character sets: unions, intersections and differences of characters and properties, and their Java text."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from typing_extensions import assert_never

from pyspark_substrait.sql.functions.regexp.folding import Case, cased_points, variants

__all__ = [
    "ANYTHING",
    "CharacterSet",
    "Characters",
    "Complement",
    "Difference",
    "Intersection",
    "Property",
    "Union",
    "class_text",
    "closed",
    "escaped",
    "of",
    "only_below",
]

LAST = 0x10FFFF


@dataclass(frozen=True, slots=True)
class Characters:
    """Code points, as ordered ranges that don't touch each other."""

    ranges: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Property:
    r"""A set that has a name in Java.

    Args:
        java: its text between brackets: ``\p{L}``, or several such texts.
        variants: the case variants of its members that aren't members; None if they aren't known.
    """

    java: str
    variants: Characters | None = Characters(())


@dataclass(frozen=True, slots=True)
class Complement:
    set: CharacterSet


@dataclass(frozen=True, slots=True)
class Union:
    sets: tuple[CharacterSet, ...]


@dataclass(frozen=True, slots=True)
class Intersection:
    left: CharacterSet
    right: CharacterSet


@dataclass(frozen=True, slots=True)
class Difference:
    left: CharacterSet
    right: CharacterSet


CharacterSet: TypeAlias = Characters | Property | Complement | Union | Intersection | Difference

ANYTHING = Characters(((0, LAST),))


def of(ranges: Iterable[tuple[int, int]]) -> Characters:
    """The set of the code points in any ranges."""
    merged: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return Characters(tuple(merged))


def closed(set: CharacterSet, case: Case) -> CharacterSet | None:
    """Return the set with the case variants of its members; None if they are unknown."""
    if case is Case.EXACT:
        return set
    known = _known(set)
    if known is not None:
        return of((*known.ranges, *_variants(known, case)))
    match set:
        case Characters() | Complement(set=Characters()):
            raise AssertionError("these are known")
        case Property(variants=None):
            return None
        case Property(variants=further):
            assert further is not None
            return _together(set, _in_case(further, case))
        case Union(sets=sets):
            parts = [closed(part, case) for part in sets]
            return None if None in parts else Union(tuple(part for part in parts if part is not None))
        case Complement(set=Property(variants=further)) if further is not None:
            # a character outside that has a variant inside adds that
            return _together(set, of(_variants(_in_case(further, case), case)))
        case Intersection(left=left, right=right):
            left, right = (right, left) if _has_variants(left, case) else (left, right)
            inner = closed(left, case) if _has_variants(right, case) else None
            return None if inner is None else Intersection(inner, right)
        case Difference(left=left, right=right):
            inner = closed(left, case) if _has_variants(right, case) else None
            return None if inner is None else Difference(inner, right)
        case Complement():
            return set if _has_variants(set, case) else None
        case _:
            assert_never(set)


def _has_variants(set: CharacterSet, case: Case) -> bool:
    match set:
        case Characters():
            return of((*set.ranges, *_variants(set, case))) == set
        case Property():
            return set.variants is not None and not _in_case(set.variants, case).ranges
        case Complement(set=inner):
            return _has_variants(inner, case)
        case Union(sets=sets):
            return all(_has_variants(part, case) for part in sets)
        case Intersection(left=left, right=right) | Difference(left=left, right=right):
            return _has_variants(left, case) and _has_variants(right, case)
        case _:
            assert_never(set)


def _together(set: CharacterSet, more: Characters) -> CharacterSet:
    return Union((set, more)) if more.ranges else set


def _in_case(variants: Characters, case: Case) -> Characters:
    """Return those of the Unicode case variants that are also variants under ``case``."""
    return variants if case is Case.UNICODE else _common(variants, Characters(((65, 90), (97, 122))))


def _variants(characters: Characters, case: Case) -> list[tuple[int, int]]:
    points, found = cased_points(), variants(case)
    return [
        (variant, variant)
        for low, high in characters.ranges
        for point in points[bisect_left(points, low) : bisect_right(points, high)]
        for variant in found.get(point, ())
    ]


def _known(set: CharacterSet) -> Characters | None:
    """Return the code points of a set; None if it contains a property."""
    match set:
        case Characters():
            return set
        case Property():
            return None
        case Complement(set=inner):
            found = _known(inner)
            return None if found is None else _inverted(found)
        case Union(sets=sets):
            parts = [_known(part) for part in sets]
            return None if None in parts else of(item for part in parts if part is not None for item in part.ranges)
        case Intersection(left=left, right=right):
            first, second = _known(left), _known(right)
            return None if first is None or second is None else _common(first, second)
        case Difference(left=left, right=right):
            first, second = _known(left), _known(right)
            return None if first is None or second is None else _common(first, _inverted(second))
        case _:
            assert_never(set)


def _inverted(characters: Characters) -> Characters:
    ranges, start = [], 0
    for low, high in characters.ranges:
        if low > start:
            ranges.append((start, low - 1))
        start = high + 1
    if start <= LAST:
        ranges.append((start, LAST))
    return Characters(tuple(ranges))


def _common(left: Characters, right: Characters) -> Characters:
    ranges, first, second = [], 0, 0
    while first < len(left.ranges) and second < len(right.ranges):
        (low, high), (other_low, other_high) = left.ranges[first], right.ranges[second]
        if max(low, other_low) <= min(high, other_high):
            ranges.append((max(low, other_low), min(high, other_high)))
        if high < other_high:
            first += 1
        else:
            second += 1
    return of(ranges)


def only_below(set: CharacterSet, limit: int) -> bool:
    """Whether all its members are known, and below a code point."""
    known = _known(set)
    return known is not None and (not known.ranges or known.ranges[-1][1] < limit)


# as Java text --------------------------------------------------------------------------------------------------------


def class_text(set: CharacterSet) -> str:
    """The set as Java text that matches one character."""
    known = _known(set)
    if known == ANYTHING:
        return "(?s:.)"
    if known is not None and len(known.ranges) == 1 and known.ranges[0][0] == known.ranges[0][1]:
        return escaped(known.ranges[0][0])
    match set:
        case Property(java=java) if java.count("\\") == 1:
            return java
        case Complement() | Intersection() | Difference() if known is None:
            return _item(set)
        case _:
            text = _item(set)
            return text if text.startswith("[^") and known is not None else f"[{text}]"


def _item(set: CharacterSet) -> str:
    """Return the set as text between the brackets of a Java class, which may contain others."""
    known = _known(set)
    if known is not None:
        inverted = _inverted(known)
        if inverted.ranges and (len(inverted.ranges) < len(known.ranges) or not known.ranges):
            return f"[^{''.join(map(_range, inverted.ranges))}]"
        return "".join(map(_range, known.ranges))
    match set:
        case Characters():
            raise AssertionError("these are known")
        case Property(java=java):
            return java
        case Complement(set=inner):
            return f"[^{_item(inner)}]"
        case Union(sets=sets):
            return "".join(map(_item, sets))
        case Intersection(left=left, right=right):
            return f"[{_bracketed(left)}&&{_bracketed(right)}]"
        case Difference(left=left, right=right):
            return f"[{_bracketed(left)}&&[^{_item(right)}]]"
        case _:
            assert_never(set)


def _bracketed(set: CharacterSet) -> str:
    return f"[{_item(set)}]"


def _range(ends: tuple[int, int]) -> str:
    low, high = ends
    if low == high:
        return escaped(low)
    return f"{escaped(low)}{'-' if high > low + 1 else ''}{escaped(high)}"


def escaped(point: int) -> str:
    """Return the text of a literal character, in a class or outside."""
    character = chr(point)
    if character.isascii():
        if character.isalnum() or character in " _\"'%/:;<>=@,`!":
            return character
        return f"\\{character}" if character.isprintable() else _CONTROLS.get(character, f"\\x{point:02X}")
    return character if character.isalpha() and not 0xD800 <= point <= 0xDFFF else f"\\x{{{point:X}}}"


_CONTROLS = {"\t": r"\t", "\n": r"\n", "\r": r"\r", "\f": r"\f"}
