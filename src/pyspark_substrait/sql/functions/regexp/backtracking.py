"""Detection of slow patterns, by the number of ways to match a text, which Java's engine tries one after another.

A pattern becomes an automaton whose states are the positions of characters in it (Glushkov's construction). Two
different paths from a state back to itself over one text double with every iteration: exponential time. Several states
in a row, each with a loop over one text that also leads to the next, have as many paths as the text's length to the
power of their number (Weber and Seidl, "On the degree of ambiguity of finite automata", 1991).

It is a conservative estimate: the part after a loop may prevent backtracking, but is considered only as far as the
pattern ends there.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from typing_extensions import assert_never

from pyspark_substrait.sql.functions.regexp.folding import Case
from pyspark_substrait.sql.functions.regexp.nodes import (
    AnyCharacter,
    Assertion,
    BackReference,
    Choice,
    Cluster,
    Group,
    Look,
    NewLine,
    Node,
    OneOf,
    Pattern,
    Repeat,
    Sequence,
    Text,
    shortest,
    walk,
)
from pyspark_substrait.sql.functions.regexp.sets import (
    Characters,
    CharacterSet,
    Complement,
    Difference,
    Intersection,
    Property,
    Union,
)

__all__ = ["TOO_LARGE", "slowness"]

TOO_LARGE = "it is too large to count the ways to match a string"
"""The reason for a pattern that is too large to analyse."""

#: a bounded loop is expanded this often; it counts as unbounded if it may iterate more often
_MOST_COPIES = 3
#: this many loops in a row take too long: the square of a text's length is common, its cube is much
_MOST_LOOPS = 2
#: the number of harmless repetitions of a part that may be empty
_MOST_OPTIONAL = 9
_MOST_STATES = 250
#: larger trees aren't analysed: they have brackets and other nodes that aren't states, too
_MOST_NODES = 4_000
_MOST_STEPS = 300_000
#: parts without states are copied, too, and each copy costs this many steps
_STEPS_OF_PART = 10

_LINE_ENDS = "\n\v\f\r\x85\u2028\u2029"
_BEYOND = "éßÀ中٣Ⅷ\u0301\u00a0\u200d\U0001f600"
_PROPERTY = re.compile(r"\\([pP])\{([^}]*)\}")


class _TooLarge(Exception):
    """The pattern is too large to analyse."""


@lru_cache(256)
def slowness(pattern: Pattern) -> str | None:
    """Return the reason why a pattern may take very long for some texts of moderate length; None if it doesn't.

    Args:
        pattern: the pattern.
    """
    try:
        for tree in _apart(pattern.root):
            found = _Automaton(tree).slowness()
            if found is not None:
                return found
    except _TooLarge:
        return TOO_LARGE
    return None


def _apart(root: Node) -> Iterator[Node]:
    """Yield the tree, and the trees of its look-around, which are matched separately."""
    yield root
    for node in walk(root):
        if isinstance(node, Look):
            yield node.body


@dataclass(slots=True)
class _Part:
    """The first and last states of a part of a pattern, and whether it may be empty."""

    first: list[int]
    last: list[int]
    empty: bool


@dataclass
class _Automaton:
    root: Node
    steps: int = 0
    """The number of analysis steps so far."""
    sets: list[int] = field(default_factory=list)
    """The characters of each state, as bits of the alphabet."""
    follow: dict[int, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    optional_often: bool = False
    alphabet: str = ""
    bits: dict[str, int] = field(default_factory=dict)
    everything: int = 0

    def slowness(self) -> str | None:
        _check_size(self.root)
        self.alphabet = "".join(sorted(set(_characters(self.root))))
        self._spend(len(self.alphabet) * sum(1 for node in walk(self.root) for _ in _leaves(node)))
        self.bits = {character: number for number, character in enumerate(self.alphabet)}
        self.everything = (1 << len(self.alphabet)) - 1
        self._part(_without_end(self.root))
        if self.optional_often:
            return f"a part that can be empty is repeated more than {_MOST_OPTIONAL} times"
        turns = self._reaching()
        if self._doubles(turns):
            return "a repeated part can match a string in several ways, so the time may double with each character"
        loops = self._loops(turns)
        if loops > _MOST_LOOPS:
            return (
                f"{loops} repeated parts in a row can match the same string, so the time may grow with its length "
                f"to the power of {loops}"
            )
        return None

    # the automaton ---------------------------------------------------------------------------------------------------

    def _spend(self, steps: int) -> None:
        """Count analysis steps, and stop if there are too many."""
        self.steps += steps
        if self.steps > _MOST_STEPS:
            raise _TooLarge

    def _part(self, node: Node) -> _Part:
        self._spend(_STEPS_OF_PART)
        match node:
            case Text(characters=characters, case=case):
                return self._row([self._state(self._text(character, case)) for character in characters])
            case OneOf(set=set):
                return self._state(self._bits(character for character in self.alphabet if _has(set, character)))
            case AnyCharacter(all=all):
                ends = "" if all else _LINE_ENDS
                return self._state(self._bits(character for character in self.alphabet if character not in ends))
            case NewLine():
                return self._state(self._bits(character for character in self.alphabet if character in _LINE_ENDS))
            case Cluster():
                return self._state(self.everything)
            case BackReference():
                state = self._state(self.everything)
                return self._repeated(state, 0)
            case Assertion() | Look():
                return _Part([], [], True)
            case Sequence(parts=parts):
                return self._row([self._part(part) for part in parts])
            case Choice(branches=branches):
                return _either([self._part(branch) for branch in branches])
            case Group(body=body):
                return self._part(body)
            case Repeat():
                return self._loop(node)
            case _:
                assert_never(node)

    def _loop(self, node: Repeat) -> _Part:
        body, least, most = node.body, node.least, node.most
        if most is not None and most > _MOST_OPTIONAL and shortest(body) == 0 and _takes_something(body):
            self.optional_often = True
        if most is not None and most <= _MOST_COPIES:
            parts = []
            for number in range(most):
                part = self._part(body)
                parts.append(part if number < least else _Part(part.first, part.last, True))
            return self._row(parts)
        parts = [self._part(body) for _ in range(min(max(least - 1, 0), _MOST_COPIES))]
        return self._row([*parts, self._repeated(self._part(body), least)])

    def _repeated(self, part: _Part, least: int) -> _Part:
        self._join(part.last, part.first)
        return _Part(part.first, part.last, part.empty or least == 0)

    def _row(self, parts: list[_Part]) -> _Part:
        made = _Part([], [], True)
        for part in parts:
            self._join(made.last, part.first)
            made = _Part(
                [*made.first, *part.first] if made.empty else made.first,
                [*made.last, *part.last] if part.empty else part.last,
                made.empty and part.empty,
            )
        return made

    def _join(self, left: list[int], right: list[int]) -> None:
        self._spend(len(left) * len(right) // _MOST_COPIES)
        for state in left:
            self.follow[state].update(right)

    def _state(self, bits: int) -> _Part:
        if len(self.sets) >= _MOST_STATES:
            raise _TooLarge
        self.sets.append(bits)
        return _Part([len(self.sets) - 1], [len(self.sets) - 1], False)

    def _text(self, character: str, case: Case) -> int:
        forms = {character} if case is Case.EXACT else {character, *character.lower(), *character.upper()}
        return self._bits(forms)

    def _bits(self, characters: Iterable[str]) -> int:
        return sum(1 << self.bits[character] for character in set(characters) if character in self.bits)

    # analysis --------------------------------------------------------------------------------------------------------

    def _reaching(self) -> list[set[int]]:
        """Return the states that each state reaches."""
        count = len(self.sets)
        reached = [sum(1 << other for other in self.follow[state]) for state in range(count)]
        for way in range(count):
            for state in range(count):
                if reached[state] >> way & 1:
                    reached[state] |= reached[way]
        return [{other for other in range(count) if bits >> other & 1} for bits in reached]

    def _doubles(self, reached: list[set[int]]) -> bool:
        """Whether two paths lead from a state back to itself over the same text."""
        for state, after in self.follow.items():
            if any(times > 1 and state in reached[other] for other, times in after.items()):
                return True
        for state in range(len(self.sets)):
            if state not in reached[state]:
                continue
            turn = {other for other in reached[state] if state in reached[other]}
            seen: set[tuple[int, int]] = set()
            pending = [(state, state)]
            back: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
            while pending:
                left, right = pending.pop()
                for one in self.follow[left].keys() & turn:
                    for other in self.follow[right].keys() & turn:
                        self._spend(1)
                        if not self.sets[one] & self.sets[other]:
                            continue
                        back[one, other].append((left, right))
                        if (one, other) not in seen:
                            seen.add((one, other))
                            pending.append((one, other))
            arriving = [(state, state)] if (state, state) in seen else []
            known: set[tuple[int, int]] = set()
            while arriving:
                pair = arriving.pop()
                for before in back[pair]:
                    if before[0] != before[1]:
                        return True
                    if before not in known:
                        known.add(before)
                        arriving.append(before)
        return False

    def _loops(self, reached: list[set[int]]) -> int:
        """The number of loops in a row that can share one text in any way."""
        turning = [state for state in range(len(self.sets)) if state in reached[state]]
        groups: list[tuple[int, ...]] = []
        for state in turning:
            group = tuple(other for other in turning if other in reached[state] and state in reached[other])
            if group not in groups:
                groups.append(group)
        longest: dict[tuple[int, ...], int] = {}
        for group in sorted(groups, key=lambda group: -sum(1 for other in groups if other[0] in reached[group[0]])):
            longest.setdefault(group, 1)
            for other in groups:
                if other != group and other[0] in reached[group[0]] and self._shared(group, other, reached):
                    longest[other] = max(longest.get(other, 1), longest[group] + 1)
        return max(longest.values(), default=0)

    def _shared(self, before: tuple[int, ...], after: tuple[int, ...], reached: list[set[int]]) -> bool:
        """Whether one text leads around in one loop, from it to the other, and around in the other."""
        first, second = set(before), set(after)
        between = {state for state in reached[before[0]] if after[0] in reached[state]} | first | second
        self._spend(len(reached[before[0]]))
        for start in before:
            for end in after:
                seen: set[tuple[int, int, int]] = set()
                pending = [(start, start, end)]
                while pending:
                    here, way, there = pending.pop()
                    for a in self.follow[here].keys() & first:
                        for b in self.follow[way].keys() & between:
                            common = self.sets[a] & self.sets[b]
                            if not common:
                                continue
                            for c in self.follow[there].keys() & second:
                                self._spend(1)
                                if common & self.sets[c] and (a, b, c) not in seen:
                                    if (a, b, c) == (start, end, end):
                                        return True
                                    seen.add((a, b, c))
                                    pending.append((a, b, c))
        return False


def _check_size(root: Node) -> None:
    """Refuse a tree with more characters and sets outside of look-around than the limits on states and copies allow."""
    size = 0
    for node in walk(root):
        size += len(node.characters) if isinstance(node, Text) else 1
        if size > _MOST_NODES:
            raise _TooLarge


def _leaves(node: Node) -> Iterator[object]:
    """Yield the parts of a set, and the characters of a text."""
    if isinstance(node, Text):
        yield from node.characters
    pending: list[CharacterSet] = [node.set] if isinstance(node, OneOf) else []
    while pending:
        match pending.pop():
            case Complement(set=inner):
                pending.append(inner)
            case Union(sets=sets):
                pending.extend(sets)
            case Intersection(left=left, right=right) | Difference(left=left, right=right):
                pending += (left, right)
            case Characters() | Property() as leaf:
                yield leaf


def _either(parts: list[_Part]) -> _Part:
    return _Part(
        [state for part in parts for state in part.first],
        [state for part in parts for state in part.last],
        any(part.empty for part in parts),
    )


def _without_end(node: Node) -> Node:
    """Return a pattern without an end that can't fail, however much it matches."""
    if isinstance(node, Repeat) and node.least == 0 and not isinstance(node.body, Look):
        return Sequence(())
    if isinstance(node, Group) and node.number is None:
        return _without_end(node.body)
    if isinstance(node, Sequence) and node.parts:
        last = _without_end(node.parts[-1])
        if last == Sequence(()):
            return _without_end(Sequence(node.parts[:-1]))
    return node


def _takes_something(node: Node) -> bool:
    return any(isinstance(part, Text | OneOf | AnyCharacter | NewLine | Cluster) for part in walk(node))


def _characters(root: Node) -> Iterator[str]:
    """Yield characters that distinguish the sets of a pattern."""
    yield from map(chr, range(0x20, 0x7F))
    yield from _LINE_ENDS + "\t" + _BEYOND
    for node in walk(root):
        if isinstance(node, Text):
            yield from node.characters
            if node.case is not Case.EXACT:
                yield from node.characters.lower() + node.characters.upper()
        elif isinstance(node, OneOf):
            yield from _ends(node.set)


def _ends(set: CharacterSet) -> Iterator[str]:
    match set:
        case Characters(ranges=ranges):
            for low, high in ranges[:100]:
                yield from (chr(low), chr(high))
        case Property():
            return
        case Complement(set=inner):
            yield from _ends(inner)
        case Union(sets=sets):
            for part in sets:
                yield from _ends(part)
        case Intersection(left=left, right=right) | Difference(left=left, right=right):
            yield from _ends(left)
            yield from _ends(right)
        case _:
            assert_never(set)


def _has(set: CharacterSet, character: str) -> bool:
    """Whether a character may be in a set."""
    return _member(set, character) is not False


def _member(set: CharacterSet, character: str) -> bool | None:
    """Whether a character is in a set; None if unknown."""
    match set:
        case Characters(ranges=ranges):
            place = bisect_right(ranges, (ord(character), sys.maxunicode))
            return place > 0 and ord(character) <= ranges[place - 1][1]
        case Property(java=java):
            return _or(
                _named(name, character, positive == "p") for positive, name in _PROPERTY.findall(java) or [("p", "")]
            )
        case Complement(set=inner):
            found = _member(inner, character)
            return None if found is None else not found
        case Union(sets=sets):
            return _or(_member(part, character) for part in sets)
        case Intersection(left=left, right=right):
            return _and(_member(left, character), _member(right, character))
        case Difference(left=left, right=right):
            without = _member(right, character)
            return _and(_member(left, character), None if without is None else not without)
        case _:
            assert_never(set)


def _or(parts: Iterable[bool | None]) -> bool | None:
    found = list(parts)
    return True if True in found else None if None in found else False


def _and(left: bool | None, right: bool | None) -> bool | None:
    return False if left is False or right is False else None if left is None or right is None else True


def _named(name: str, character: str, positive: bool) -> bool | None:
    """Whether a character has one of Java's properties; None for those unknown to Python."""
    category = unicodedata.category(character)
    match name:
        case "IsAlphabetic":
            found = character.isalpha()
        case "IsWhite_Space":
            found = character.isspace()
        case "IsUppercase" | "javaUpperCase":
            found = character.isupper()
        case "IsLowercase" | "javaLowerCase":
            found = character.islower()
        case _ if len(name) <= 2 and name[:1].isupper() and name:
            found = category.startswith(name)
        case _:
            return None
    return found is positive
