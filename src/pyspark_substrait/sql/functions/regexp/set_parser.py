r"""Character sets in the syntax of patterns: ``[a-z\d]``, ``[^\p{L}--[aeiou]]``, ``[\w&&[:Greek:]]``.

Union binds more tightly than ``&&`` and ``--``, which are evaluated from left to right.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from pyspark_substrait.sql.functions.regexp.folding import Case
from pyspark_substrait.sql.functions.regexp.nodes import invalid, unsupported
from pyspark_substrait.sql.functions.regexp.properties import (
    DIGITS,
    LINE_ENDS,
    SPACES,
    SPACES_IN_LINE,
    WORD,
    property_set,
)
from pyspark_substrait.sql.functions.regexp.reader import Reader
from pyspark_substrait.sql.functions.regexp.sets import (
    Characters,
    CharacterSet,
    Complement,
    Difference,
    Intersection,
    Union,
    closed,
)

__all__ = ["CLASSES", "bracketed", "in_case", "property_escape"]

_POSIX = re.compile(r":([^\[\]:]*):\]")

#: the meaning of a letter after a backslash, in a set or outside
CLASSES: dict[str, CharacterSet] = {
    "d": DIGITS,
    "D": Complement(DIGITS),
    "s": SPACES,
    "S": Complement(SPACES),
    "w": WORD,
    "W": Complement(WORD),
    "h": SPACES_IN_LINE,
    "H": Complement(SPACES_IN_LINE),
    "v": LINE_ENDS,
    "V": Complement(LINE_ENDS),
}


def in_case(set: CharacterSet, case: Case, start: int) -> CharacterSet:
    """The set with all case variants of its members."""
    found = closed(set, case)
    if found is None:
        raise unsupported("this set has no form in Java when case is ignored", start)
    return found


def property_escape(reader: Reader, negative: bool, case: Case, start: int) -> CharacterSet:
    r"""Return the set of ``\p{…}`` or ``\P{…}``: the latter excludes case variants of the former."""
    found = in_case(reader.escaped_property(start), case, start)
    return Complement(found) if negative else found


def bracketed(reader: Reader, case: Case) -> CharacterSet:
    """Return the set in brackets; the reader is after the opening one."""
    start = reader.index - 1
    with reader.inside(start):
        return _bracketed(reader, case, start)


def _bracketed(reader: Reader, case: Case, start: int) -> CharacterSet:
    reader.skip()
    posix = _posix(reader, case, start)
    if posix is not None:
        return posix
    negative = reader.taken("^")
    expression = _Expression()
    first, state = True, "start"
    while True:
        literal, item = _token(reader, start, case)
        if item == "]" and not literal and not first:
            if state == "operator":
                raise invalid("an operand is missing in the set", reader.index - 1)
            break
        first = False
        if isinstance(item, str):
            state = _character(reader, expression, item, literal, state, start)
            if state == "difference" or state == "intersection":
                reader.deeper(start)
                expression.combine(state, _nested(reader, case))
                state = "set"
        else:
            expression.add(item.set)
            state = item.state
    found = in_case(expression.value(), case, start)
    return Complement(found) if negative else found


def _nested(reader: Reader, case: Case) -> CharacterSet:
    reader.next()
    return bracketed(reader, case)


@dataclass(frozen=True, slots=True)
class _Item:
    """A set as an operand, and the state after it."""

    set: CharacterSet
    state: str


@dataclass(slots=True)
class _Expression:
    """The part of a set that has been read.

    Attributes:
        left: the operand before ``operator``, which is ``&&``, ``--`` or empty.
        union: the operands since then, which form a union.
        last: the last character, which may start a range.
        combined: whether two sets in brackets have just been combined.
    """

    left: CharacterSet | None = None
    operator: str = ""
    union: list[CharacterSet] = field(default_factory=list)
    last: str = ""
    combined: bool = False

    def add(self, set: CharacterSet) -> None:
        self.union.append(set)
        self.combined = False

    def add_character(self, character: str) -> None:
        self.last = character
        self.add(Characters(((ord(character), ord(character)),)))

    def end_range(self, end: str) -> None:
        self.union[-1] = Characters(((ord(self.last), ord(end)),))

    def combine(self, kind: str, right: CharacterSet) -> None:
        """Add ``[a-z]-[aeiou]`` or ``[a-z]&[aeiou]``, which bind like union."""
        left = Union(tuple(self.union))
        self.union = [Difference(left, right) if kind == "difference" else Intersection(left, right)]
        self.combined = True

    def operate(self, operator: str) -> None:
        self.left, self.operator, self.union = self.value(), operator, []

    def value(self) -> CharacterSet:
        right = self.union[0] if len(self.union) == 1 else Union(tuple(self.union))
        if self.left is None:
            return right
        return Intersection(self.left, right) if self.operator == "&&" else Difference(self.left, right)


def _character(reader: Reader, expression: _Expression, item: str, literal: bool, state: str, start: int) -> str:
    """Read a character that isn't a bracket, and return the state after it.

    The state is the kind of the previous item: ``start``, ``character``, ``range``, ``set`` (brackets or a property) or
    ``operator``. The states ``difference`` and ``intersection`` mean that an operand in brackets must follow.
    """
    if not literal and item in "-&" and state != "operator":
        reader.skip()
        following = reader.peek()
        if following == item:
            if state == "start":
                raise invalid("an operand is missing in the set", reader.index)
            reader.next()
            reader.deeper(start)
            expression.operate(item * 2)
            return "operator"
        if following == "[" and state == "set":
            return "difference" if item == "-" else "intersection"
        if expression.combined:
            # ICU treats it as part of the second of the two sets
            raise unsupported("a dash or ampersand must be escaped here", reader.index - 1)
        if item == "-" and state == "character" and following not in ("[", "]"):
            _, end = _token(reader, start, Case.EXACT)
            if not isinstance(end, str) or end < expression.last:
                raise invalid("the range has no end, or one before its start", reader.index - 1)
            expression.end_range(end)
            return "range"
    expression.add_character(item)
    return "character"


def _token(reader: Reader, start: int, case: Case) -> tuple[bool, str | _Item]:
    """Return a character or a nested set, and whether it is literal."""
    if reader.quoted:
        if reader.taken("\\E"):
            reader.quoted = False
            return _token(reader, start, case)
        return True, reader.next() or _open(start)
    reader.skip()
    place = reader.index
    character = reader.next() or _open(start)
    if character == "[":
        return False, _Item(bracketed(reader, case), "set")
    if character != "\\":
        return False, character
    kind = reader.peek()
    if kind in ("p", "P"):
        reader.next()
        return True, _Item(property_escape(reader, kind == "P", case, place), "set")
    if kind in CLASSES:
        reader.next()
        return True, _Item(CLASSES[kind], "range")
    if kind == "Q":
        reader.next()
        reader.quoted = True
        return _token(reader, start, case)
    return True, reader.escaped_character(place)


def _open(start: int) -> str:
    raise invalid("the set is not closed", start)


def _posix(reader: Reader, case: Case, start: int) -> CharacterSet | None:
    """Return the set of ``[:name:]``, after the bracket; None if it isn't one."""
    match = _POSIX.match(reader.text, reader.index)
    if match is None:
        return None
    inside = match[1]
    name = inside.removeprefix("^")
    found = in_case(property_set(name) or reader.no_property(name, start), case, start)
    reader.index = match.end()
    return Complement(found) if name != inside else found
