"""The tokens of a text in Spark SQL, with their places."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError

__all__ = ["Item", "Kind", "Piece", "Token", "closing", "place", "tokens", "unescaped"]


class Kind(Enum):
    """The kind of a token."""

    SPACE = "space"
    WORD = "word"
    QUOTED = "quoted name"
    TEXT = "text"
    NUMBER = "number"
    PARAMETER = "parameter"
    SYMBOL = "symbol"


@dataclass(frozen=True, slots=True)
class Token:
    """A token.

    Args:
        kind: its kind; comments are spaces.
        text: its characters in the query.
        start: its first character there.
    """

    kind: Kind
    text: str
    start: int

    @property
    def word(self) -> str:
        """A word in capitals; empty for anything else."""
        return self.text.upper() if self.kind is Kind.WORD else ""

    @property
    def name(self) -> str:
        """The name that a word or a quoted name is."""
        return self.text[1:-1].replace("``", "`") if self.kind is Kind.QUOTED else self.text


@dataclass(frozen=True, slots=True)
class Piece:
    """A text in DataFusion's SQL that stands for some tokens.

    Args:
        text: the text.
        start: the place of the first of the tokens.
    """

    text: str
    start: int


#: a part of a query: a token, or what stands for some
Item: TypeAlias = Token | Piece

_PATTERN: Final = re.compile(
    r"""
    (?P<space>\s+|--(?:\\\n|[^\r\n])*|/\*(?:[^*]|\*(?!/))*\*/)
  | (?P<text>[rR]?'(?:[^'\\]|\\.|'')*'|[rR]?"(?:[^"\\]|\\.|"")*")
  | (?P<quoted>`(?:[^`]|``)+`)
  | (?P<number>(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?(?:BD|bd|[LSYDFlsydf])?(?![\w]))
  | (?P<word>[^\W\d]\w*|\d+[^\W\d]\w*)
  | (?P<parameter>:[A-Za-z_]\w*|\?)
  | (?P<symbol><=>|::|<>|!=|==|<=|>=|\|\||->|=>|>>>|<<|>>|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_KINDS: Final = {kind.name.lower(): kind for kind in Kind}


def tokens(text: str) -> list[Token]:
    """Return the tokens of a text, which make it up.

    Raises:
        InvalidPlanError: a text or a comment has no end.
    """
    found: list[Token] = []
    for match in _PATTERN.finditer(text):
        group = str(match.lastgroup)
        token = Token(_KINDS["quoted" if group == "quoted" else group], match.group(), match.start())
        if token.text in ("'", '"', "`") or (token.text == "*" and found and found[-1].text == "/"):
            what = "the comment" if token.text == "*" else "the text or name in quotes"
            raise InvalidPlanError(f"{what} at {place(text, token.start)} has no end")
        found.append(token)
    return found


def place(text: str, position: int) -> str:
    """Return a place in a text for messages: ``line 2, column 5``."""
    before = text[:position]
    return f"line {before.count(chr(10)) + 1}, column {position - before.rfind(chr(10))}"


def closing(items: Sequence[Token], opening: int) -> int:
    """Return the position of the bracket that closes the one at a position; the number of tokens if none does."""
    depth = 0
    for position in range(opening, len(items)):
        if items[position].text == "(" and items[position].kind is Kind.SYMBOL:
            depth += 1
        elif items[position].text == ")" and items[position].kind is Kind.SYMBOL:
            depth -= 1
            if depth == 0:
                return position
    return len(items)


_ESCAPES: Final = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}
_ESCAPED: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2}|.)", re.DOTALL)


def unescaped(token: Token) -> str:
    """Return the value of a text: backslashes escape in Spark, except in ``r'…'``.

    Raises:
        UnsupportedPlanError: it has a character that there isn't.
    """
    text = token.text
    if text[0] in "rR":
        return text[2:-1]
    quote = text[0]

    def character(match: re.Match[str]) -> str:
        escape = match[1]
        if escape[0] in "uU" and len(escape) > 1:
            number = int(escape[1:], 16)
            if number > 0x10FFFF or 0xD800 <= number < 0xE000:
                raise UnsupportedPlanError(f"{text} has the character {escape}, which is none by itself")
            return chr(number)
        if len(escape) == 3:
            return chr(int(escape, 8))
        return _ESCAPES.get(escape, escape)

    # a doubled quote is one; Spark reads it as the end of a text and the start of another, without anything between
    return "".join(_ESCAPED.sub(character, part) if part != quote * 2 else quote for part in _parts(text[1:-1], quote))


def _parts(content: str, quote: str) -> Iterator[str]:
    position = 0
    start = 0
    while position < len(content):
        if content[position] == "\\":
            position += 2
        elif content[position] == quote:
            yield content[start:position]
            yield quote * 2
            position += 2
            start = position
        else:
            position += 1
    yield content[start:]
