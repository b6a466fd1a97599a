"""A regular expression as a tree. Flags are in the nodes that they change, so no node depends on one before it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from typing_extensions import assert_never

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.sql.functions.regexp.folding import Case
from pyspark_substrait.sql.functions.regexp.sets import CharacterSet

__all__ = [
    "Anchor",
    "AnyCharacter",
    "Assertion",
    "BackReference",
    "Choice",
    "Cluster",
    "Group",
    "Look",
    "NewLine",
    "Node",
    "OneOf",
    "Pattern",
    "Repeat",
    "Sequence",
    "Text",
    "invalid",
    "shortest",
    "unsupported",
    "walk",
]


@dataclass(frozen=True, slots=True)
class Text:
    """Literal characters. Under full case folding they match as one text: ``ß`` is ``ss``."""

    characters: str
    case: Case


@dataclass(frozen=True, slots=True)
class OneOf:
    """One character of a set, which already contains its case variants."""

    set: CharacterSet


@dataclass(frozen=True, slots=True)
class AnyCharacter:
    """The dot. ``all``: it matches line terminators, CR LF as one. ``unix``: a line ends with LF only."""

    all: bool
    unix: bool


class Anchor(Enum):
    """A position in the text."""

    START = "the start of the text"
    LINE_START = "the start of a line"
    END = "the end of the text, or before the line terminator at the end"
    LINE_END = "the end of a line"
    VERY_END = "the end of the text"
    PREVIOUS = "the end of the match before"
    WORD = "a word boundary"
    NO_WORD = "no word boundary"


@dataclass(frozen=True, slots=True)
class Assertion:
    """A test of the current position. ``unix``: a line ends with LF only."""

    anchor: Anchor
    unix: bool


@dataclass(frozen=True, slots=True)
class NewLine:
    r"""``\R``: a line terminator, CR LF as one."""


@dataclass(frozen=True, slots=True)
class Cluster:
    r"""``\X``: a grapheme cluster."""


@dataclass(frozen=True, slots=True)
class Sequence:
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    branches: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """A group. ``number``: that of a capturing group. ``atomic``: its first match is the only one."""

    body: Node
    number: int | None = None
    atomic: bool = False


@dataclass(frozen=True, slots=True)
class Look:
    body: Node
    ahead: bool
    negative: bool


@dataclass(frozen=True, slots=True)
class Repeat:
    """A quantifier. ``mode``: empty for greedy, ``?`` for lazy, ``+`` for possessive. ``most``: None for no limit."""

    body: Node
    least: int
    most: int | None
    mode: str


@dataclass(frozen=True, slots=True)
class BackReference:
    number: int
    case: Case


Node: TypeAlias = (
    Text
    | OneOf
    | AnyCharacter
    | Assertion
    | NewLine
    | Cluster
    | Sequence
    | Choice
    | Group
    | Look
    | Repeat
    | BackReference
)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A whole pattern: its tree and the number of its capturing groups."""

    root: Node
    groups: int

    @property
    def stale(self) -> frozenset[int]:
        """The groups for which Java may keep the match of an abandoned attempt."""
        return frozenset(_stale(self.root, sealed=False, optional=False))

    @property
    def may_be_empty(self) -> bool:
        return shortest(self.root) == 0

    @property
    def looks_back(self) -> bool:
        """Whether a match may depend on the text before it."""
        return any(
            (isinstance(node, Look) and not node.ahead)
            or (isinstance(node, Assertion) and node.anchor not in (Anchor.VERY_END, Anchor.PREVIOUS))
            for node in walk(self.root)
        )

    @property
    def has_previous(self) -> bool:
        return any(isinstance(node, Assertion) and node.anchor is Anchor.PREVIOUS for node in walk(self.root))


def walk(node: Node) -> Iterator[Node]:
    """Yield the node and all nodes in it."""
    yield node
    match node:
        case Sequence(parts=inner) | Choice(branches=inner):
            for part in inner:
                yield from walk(part)
        case Group(body=body) | Look(body=body) | Repeat(body=body):
            yield from walk(body)
        case _:
            pass


def _stale(node: Node, sealed: bool, optional: bool) -> Iterator[int]:
    """Yield the numbers of groups in look-around or atomic groups, if these are part of alternatives or contain some.

    Args:
        node: the node to search.
        sealed: whether it is in look-around or an atomic group, into which Java doesn't backtrack.
        optional: whether there are alternatives to it.
    """
    match node:
        case Sequence(parts=parts):
            for part in parts:
                yield from _stale(part, sealed, optional)
        case Choice(branches=branches):
            for branch in branches:
                yield from _stale(branch, sealed, True)
        case Repeat(body=body, mode=mode):
            yield from _stale(body, sealed or mode == "+", True)
        case Look(body=body, negative=negative):
            yield from _stale(body, True, optional or negative)
        case Group(body=body, number=number, atomic=atomic):
            if number is not None and sealed and optional:
                yield number
            yield from _stale(body, sealed or atomic, optional)
        case _:
            pass


def shortest(node: Node) -> int:
    """The minimum number of characters of a match; 0 if it may be empty."""
    match node:
        case Text() | OneOf() | AnyCharacter() | NewLine() | Cluster():
            return 1  # a text of several characters may match one: ß is ss
        case Assertion() | Look() | BackReference():
            return 0
        case Sequence(parts=parts):
            return sum(shortest(part) for part in parts)
        case Choice(branches=branches):
            return min(shortest(branch) for branch in branches)
        case Group(body=body):
            return shortest(body)
        case Repeat(body=body, least=least):
            return shortest(body) * least
        case _:
            assert_never(node)


def invalid(reason: str, position: int) -> InvalidPlanError:
    """Return the error for an invalid regular expression; ``position`` counts characters of the pattern from 0."""
    return InvalidPlanError(f"the regular expression is wrong at character {position + 1}: {reason}")


def unsupported(reason: str, position: int) -> UnsupportedPlanError:
    """Return the error for a part that Java's regular expressions don't support."""
    return UnsupportedPlanError(f"the regular expression cannot run on Spark, at character {position + 1}: {reason}")
