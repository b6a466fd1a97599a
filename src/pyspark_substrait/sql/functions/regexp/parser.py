"""Reads a regular expression of ICU (https://unicode-org.github.io/icu/userguide/strings/regexp.html)."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from pyspark_substrait.sql.functions.regexp.folding import Case
from pyspark_substrait.sql.functions.regexp.nodes import (
    Anchor,
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
    invalid,
    unsupported,
    walk,
)
from pyspark_substrait.sql.functions.regexp.reader import Reader
from pyspark_substrait.sql.functions.regexp.set_parser import CLASSES, bracketed, in_case, property_escape

__all__ = ["Flags", "parsed"]


@dataclass(frozen=True, slots=True)
class Flags:
    """The flags of a pattern; in brackets the letter that changes each within a pattern.

    Args:
        case: how letters are compared (``i`` takes full Unicode).
        lines: whether ``^`` and ``$`` match at every line (``m``).
        all: whether the dot matches line terminators (``s``).
        unix: whether LF is the only line terminator (``d``).
        words: whether word boundaries are those of UAX 29 (``w``).
    """

    case: Case = Case.EXACT
    lines: bool = False
    all: bool = False
    unix: bool = False
    words: bool = False


@lru_cache(256)
def parsed(text: str, flags: Flags) -> Pattern:
    """Return the tree of a pattern.

    Raises:
        InvalidPlanError: it isn't valid.
        UnsupportedPlanError: Java's regular expressions don't support it.
    """
    return _Parser(text, flags).pattern()


_ANCHORS = {"A": Anchor.START, "Z": Anchor.END, "z": Anchor.VERY_END, "G": Anchor.PREVIOUS}
_WORDS = {"b": Anchor.WORD, "B": Anchor.NO_WORD}
_LARGEST = 0x7FFFFFFF
_MOST_DIGITS = 1000


class _Parser:
    def __init__(self, text: str, flags: Flags) -> None:
        self.reader = Reader(text)
        self.flags = flags
        self.groups = 0
        self.names: dict[str, int] = {}
        self.references: list[tuple[int, int]] = []

    def pattern(self) -> Pattern:
        root = self._choice()
        if self.reader.peek():
            raise invalid("the closing bracket has no opening one", self.reader.index)
        pattern = Pattern(root, self.groups)
        stale = pattern.stale if self.references else frozenset()
        for number, start in self.references:
            if number > self.groups:
                raise invalid(f"there is no group {number}", start)
            if number in stale:
                raise unsupported(f"Java may keep the value of group {number} from a failed attempt", start)
        return pattern

    def _choice(self) -> Node:
        branches = [self._sequence()]
        while self.reader.taken("|"):
            branches.append(self._sequence())
        return branches[0] if len(branches) == 1 else Choice(tuple(branches))

    def _sequence(self) -> Node:
        """Parse a sequence, up to a bar or a closing bracket."""
        reader, parts = self.reader, _Parts()
        while True:
            if reader.quoted:
                if reader.taken("\\E"):
                    reader.quoted = False
                elif reader.peek():
                    parts.character(reader.next(), self.flags.case)
                else:
                    reader.quoted = False
                continue
            reader.skip()
            start, character = reader.index, reader.peek()
            if character in ("", "|", ")"):
                return parts.sequence()
            reader.next()
            match character:
                case "*" | "+" | "?" | "{":
                    least, most = self._counts(character, start)
                    parts.repeat(least, most, self._mode(), start)
                case "\\":
                    self._escape(parts, start)
                case "[":
                    parts.add(OneOf(bracketed(reader, self.flags.case)))
                case ".":
                    parts.add(AnyCharacter(self.flags.all, self.flags.unix))
                case "^":
                    parts.add(self._assertion(Anchor.LINE_START if self.flags.lines else Anchor.START))
                case "$":
                    parts.add(self._assertion(Anchor.LINE_END if self.flags.lines else Anchor.END))
                case "(":
                    self._bracket(parts, start)
                case "}":
                    raise invalid("a brace must be escaped", start)
                case _:
                    parts.character(character, self.flags.case)

    def _assertion(self, anchor: Anchor) -> Assertion:
        return Assertion(anchor, self.flags.unix)

    def _counts(self, character: str, start: int) -> tuple[int, int | None]:
        if character != "{":
            return {"*": (0, None), "+": (1, None), "?": (0, 1)}[character]
        inside = self.reader.until("}", "the number of repetitions")
        if self.reader.comments:
            inside = re.sub(r"\s", "", inside)
        found = re.fullmatch(r"(\d+)(?:(,)(\d*))?", inside, re.ASCII)
        if found is None:
            raise invalid("the number of repetitions is not {n}, {n,} or {n,m}", start)
        if max(map(len, (found[1], found[3] or ""))) > _MOST_DIGITS:
            raise invalid("the number of repetitions is too large", start)
        least = int(found[1])
        most = least if found[2] is None else int(found[3]) if found[3] else None
        if least > _LARGEST or (most is not None and not least <= most <= _LARGEST):
            raise invalid("the number of repetitions is too large, or the higher one below the lower", start)
        return least, most

    def _mode(self) -> str:
        self.reader.skip()
        return self.reader.next() if self.reader.peek() in ("?", "+") else ""

    def _escape(self, parts: _Parts, start: int) -> None:
        reader, kind = self.reader, self.reader.peek()
        if kind in CLASSES:
            reader.next()
            parts.add(OneOf(in_case(CLASSES[kind], self.flags.case, start)))
        elif kind in ("p", "P"):
            reader.next()
            parts.add(OneOf(property_escape(reader, kind == "P", self.flags.case, start)))
        elif kind in _ANCHORS:
            reader.next()
            parts.add(self._assertion(_ANCHORS[kind]), repeatable=False)
        elif kind in _WORDS:
            if self.flags.words:
                raise unsupported("Java has no word boundaries of UAX 29 (the flag w)", start)
            reader.next()
            parts.add(self._assertion(_WORDS[kind]), repeatable=False)
        elif kind in ("R", "X"):
            reader.next()
            parts.add(NewLine() if kind == "R" else Cluster())
        elif kind == "Q":
            reader.next()
            reader.quoted = True
        elif kind == "k":
            reader.next()
            parts.add(self._named_reference(start))
        elif kind and kind in "123456789":
            parts.add(self._reference(start))
        else:
            parts.character(reader.escaped_character(start), self.flags.case)

    def _reference(self, start: int) -> BackReference:
        r"""Parse ``\1``; further digits belong to the number as long as there are that many groups so far."""
        number = int(self.reader.next())
        while self.reader.peek() in tuple("0123456789") and number * 10 + int(self.reader.peek()) <= self.groups:
            number = number * 10 + int(self.reader.next())
        self.references.append((number, start))
        return BackReference(number, self.flags.case)

    def _named_reference(self, start: int) -> BackReference:
        if not self.reader.taken("<"):
            raise invalid(r"a name in angle brackets must follow \k", start)
        name = self.reader.until(">", "the name of the group")
        if name not in self.names:
            raise invalid(f"there is no group {name!r} before", start)
        self.references.append((self.names[name], start))
        return BackReference(self.names[name], self.flags.case)

    def _bracket(self, parts: _Parts, start: int) -> None:
        """Parse a group, look-around, comment or flags; the reader is after the opening bracket."""
        reader = self.reader
        reader.skip()
        if not reader.taken("?"):
            self.groups += 1
            number = self.groups
            parts.add(Group(self._body(start), number))
            return
        reader.skip()
        if reader.taken("#"):
            reader.until(")", "the comment")
        elif reader.taken(":"):
            parts.add(Group(self._body(start)))
        elif reader.taken(">"):
            parts.add(Group(self._body(start), atomic=True))
        elif reader.taken("=") or reader.taken("!"):
            negative = reader.text[reader.index - 1] == "!"
            parts.add(Look(self._body(start), ahead=True, negative=negative), repeatable=False)
        elif reader.taken("<=") or reader.taken("<!"):
            negative = reader.text[reader.index - 1] == "!"
            body = self._body(start)
            _check_bounded(body, start)
            parts.add(Look(body, ahead=False, negative=negative), repeatable=False)
        elif reader.taken("<"):
            name = self._name(start)
            self.groups += 1
            number = self.names[name] = self.groups
            parts.add(Group(self._body(start), number))
        else:
            self._flag_letters(parts, start)

    def _name(self, start: int) -> str:
        name = self.reader.until(">", "the name of the group")
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9]*", name) or name in self.names:
            raise invalid(f"{name!r} is not a name for a group, or another one has it", start)
        return name

    def _body(self, start: int) -> Node:
        """Parse the body of a bracket, up to the closing one. Flags that are set in it end with it."""
        flags, comments = self.flags, self.reader.comments
        with self.reader.inside(start):
            body = self._choice()
        if not self.reader.taken(")"):
            raise invalid("the bracket is not closed", start)
        self.flags, self.reader.comments = flags, comments
        return body

    def _flag_letters(self, parts: _Parts, start: int) -> None:
        flags, comments = self.flags, self.reader.comments
        on = True
        while True:
            letter = self.reader.next()
            match letter:
                case "-" if on:
                    on = False
                case "i":
                    flags = replace(flags, case=Case.UNICODE if on else Case.EXACT)
                case "m":
                    flags = replace(flags, lines=on)
                case "s":
                    flags = replace(flags, all=on)
                case "d":
                    flags = replace(flags, unix=on)
                case "w":
                    flags = replace(flags, words=on)
                case "x":
                    comments = on
                case ")":
                    parts.end_text()
                    self.flags, self.reader.comments = flags, comments
                    return
                case ":":
                    before = self.flags, self.reader.comments
                    self.flags, self.reader.comments = flags, comments
                    parts.add(Group(self._body(start)))
                    self.flags, self.reader.comments = before
                    return
                case _:
                    raise invalid("ICU's regular expressions have no such group", start)


class _Parts:
    """The parts of a sequence so far; adjacent characters become one text."""

    def __init__(self) -> None:
        self.parts: list[Node] = []
        self.text: list[str] = []
        self.case = Case.EXACT
        self.repeatable = False

    def character(self, character: str, case: Case) -> None:
        self.text.append(character)
        self.case = case
        self.repeatable = True

    def end_text(self) -> None:
        if self.text:
            self.parts.append(Text("".join(self.text), self.case))
            self.text = []
        self.repeatable = False

    def add(self, node: Node, *, repeatable: bool = True) -> None:
        self.end_text()
        self.parts.append(node)
        self.repeatable = repeatable

    def repeat(self, least: int, most: int | None, mode: str, start: int) -> None:
        """Repeat the last part: one character, not the whole text that it belongs to."""
        if not self.repeatable:
            raise invalid("there is nothing to repeat here", start)
        if self.text:
            last = self.text.pop()
            self.end_text()
            self.parts.append(Text(last, self.case))
        self.end_text()
        self.parts[-1] = Repeat(self.parts[-1], least, most, mode)

    def sequence(self) -> Node:
        self.end_text()
        return self.parts[0] if len(self.parts) == 1 else Sequence(tuple(self.parts))


def _check_bounded(body: Node, start: int) -> None:
    for node in walk(body):
        if (isinstance(node, Repeat) and node.most is None) or isinstance(node, BackReference | Cluster):
            raise invalid("a look-behind must have a bounded length", start)
