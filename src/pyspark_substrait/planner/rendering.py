"""Tokens of Spark SQL as the text that DataFusion takes for them."""

from __future__ import annotations

import decimal
import re
from collections.abc import Sequence
from typing import Final

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.planner import carriers
from pyspark_substrait.planner.carriers import TYPED
from pyspark_substrait.planner.functions import signatures
from pyspark_substrait.planner.intervals import interval
from pyspark_substrait.planner.tokens import Item, Kind, Piece, Token, unescaped
from pyspark_substrait.planner.words import (
    AGGREGATES,
    AGGREGATES_AS_THEY_ARE,
    CASES,
    NAMED_TYPES,
    NATIVE,
    NO_FUNCTIONS,
    OTHERS,
    OWN_SYNTAX,
    SYMBOLS,
    TYPES,
    WITNESSES,
    WORDS,
)

__all__ = ["integer", "quoted", "rendered"]


_NUMBER: Final = re.compile(r"([\d.]+)(?:[eE]([+-]?\d+))?(BD|bd|[LSYDFlsydf])?")
_SUFFIXES: Final = {"L": "BIGINT", "S": "SMALLINT", "Y": "TINYINT", "D": "DOUBLE", "F": "FLOAT"}
_MOST_DIGITS: Final = 38
#: types that have names in Spark's casts
_NAMED: Final = frozenset(
    {"TINYINT", "BYTE", "SMALLINT", "SHORT", "INT", "INTEGER", "BIGINT", "LONG", "FLOAT", "REAL", "DOUBLE", "DECIMAL"}
    | {"DEC", "NUMERIC", "STRING", "BOOLEAN", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ"}
)
_BEHIND_TYPES: Final = frozenset({"PRECISION", "UNSIGNED", "SIGNED", "WITH", "WITHOUT", "VARYING", "LARGE"})
#: the number whose negative is the smallest BIGINT
_BEYOND: Final = str(1 << 63)


def rendered(items: Sequence[Item]) -> str:
    """Return the text that DataFusion takes for some tokens."""
    return "".join(_Rendering(items).pieces())


class _Rendering:
    """Writes tokens for DataFusion."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._items = items
        #: what is written at a position instead of the token: the text, and what comes before and behind it
        self._instead: dict[int, str] = {}
        self._solid = [at for at, item in enumerate(items) if isinstance(item, Piece) or item.kind is not Kind.SPACE]

    def pieces(self) -> list[str]:
        """Return the texts, in order."""
        for number, at in enumerate(self._solid):
            item = self._items[at]
            if isinstance(item, Token) and at not in self._instead:
                self._token(item, number, at)
        return [
            self._instead.get(at, item.text if isinstance(item, Piece) else _space(item))
            for at, item in enumerate(self._items)
        ]

    def _near(self, number: int) -> Token | None:
        """Return the token at a position among those that aren't spaces; None for none, or for a piece."""
        if not 0 <= number < len(self._solid):
            return None
        item = self._items[self._solid[number]]
        return item if isinstance(item, Token) else None

    def _text(self, number: int) -> str:
        near = self._near(number)
        return "" if near is None else near.text

    def _word(self, number: int) -> str:
        near = self._near(number)
        return "" if near is None else near.word

    def _token(self, item: Token, number: int, at: int) -> None:
        match item.kind:
            case Kind.QUOTED:
                self._instead[at] = "`" + item.name.lower().replace("`", "``") + "`"
            case Kind.TEXT:
                self._texts(number, at)
            case Kind.NUMBER:
                negative = self._text(number - 1) == "-"
                self._instead[at] = item.text if negative and item.text == _BEYOND else _number(item, negative)
            case Kind.SYMBOL if item.text in SYMBOLS:
                self._instead[at] = SYMBOLS[item.text]
            case Kind.WORD:
                self._named(item, number, at)
            case _:
                return

    def _texts(self, number: int, at: int) -> None:
        """Write a text; several in a row are one in Spark."""
        value = ""
        while (near := self._near(number)) is not None and near.kind is Kind.TEXT:
            value += unescaped(near)
            self._instead[self._solid[number]] = ""
            number += 1
        self._instead[at] = quoted(value)

    def _named(self, item: Token, number: int, at: int) -> None:
        word, before = item.word, self._text(number - 1)
        if before == "." or self._text(number + 1) == ".":
            return
        if word == "DIV" and self._near(number - 1) is not None:
            mark = carriers.carrier(carriers.INTEGRAL_DIVISION, "0")
            self._instead[at] = f"% {mark} %"
            return
        if word in ("RLIKE", "REGEXP") and self._text(number + 1) != "(":
            if self._word(number - 1) == "NOT":
                self._instead[self._solid[number - 1]] = ""
                self._instead[at] = "!~"
            else:
                self._instead[at] = "~"
            return
        if word == "INTERVAL" and self._interval(number, at):
            return
        if word in WORDS and self._text(number + 1) != "(":
            self._instead[at] = WORDS[word]
            return
        if self._is_type(number):
            self._type(word, number, at)
            return
        if self._text(number + 1) == "(" and word not in NO_FUNCTIONS:
            self._function(item, number, at)
            return
        if word in ("CHAR", "TIMESTAMP") and self._text(number + 1) == "(":
            self._function(item, number, at)

    def _interval(self, number: int, at: int) -> bool:
        """Write a literal of an interval, if the word at a position begins one."""
        found = interval([self._items[one] for one in self._solid], number)
        if found is None:
            return False
        self._instead |= {self._solid[one]: "" for one in range(number, found.end)} | {at: found.text}
        return True

    # types

    def _is_type(self, number: int) -> bool:
        """Whether a word is the type of a cast or of a literal."""
        before = self._near(number - 1)
        if before is None:
            return False
        if before.text == "::":
            return True
        behind = self._near(number + 1)
        if behind is not None and behind.kind is Kind.TEXT and self._word(number) in (*TYPES, "TIMESTAMP", "DATE"):
            return True
        return before.word == "AS" and self._in_cast(number)

    def _in_cast(self, number: int) -> bool:
        """Whether the bracket around a position is that of a cast."""
        depth = 0
        for at in range(number - 1, 0, -1):
            text = self._text(at)
            if text == ")":
                depth += 1
            elif text == "(":
                if depth == 0:
                    return self._word(at - 1) in ("CAST", "TRY_CAST")
                depth -= 1
        return False

    def _type(self, word: str, number: int, at: int) -> None:
        bracket = self._text(number + 1) == "("
        if word in ("VARCHAR", "CHAR", "CHARACTER") or word in ("ARRAY", "MAP", "STRUCT", "INTERVAL", "BINARY"):
            raise UnsupportedPlanError(
                f"a cast to {word} is not planned without Spark", hint="Cast to STRING" if "CHAR" in word else None
            )
        if word == "TIMESTAMP" and bracket:
            raise UnsupportedPlanError("Spark has no TIMESTAMP of a precision", hint="Leave it out")
        behind = self._word(number + 1)
        if word not in _NAMED or behind in _BEHIND_TYPES or (bracket and TYPES.get(word, word) != "DECIMAL"):
            written = " ".join(filter(None, (word, behind if behind in _BEHIND_TYPES else "(…)" * bracket)))
            raise UnsupportedPlanError(f"a cast to {written} is not planned without Spark", hint="Use a type of Spark")
        written = TYPES.get(word, word)
        if written == "DECIMAL" and not bracket:
            written = "DECIMAL(10, 0)"
        self._instead[at] = written

    # functions

    def _function(self, item: Token, number: int, at: int) -> None:
        name = item.text.lower()
        end = self._end(number + 1)
        if any(word in self._words_inside(number + 1, end) for word in OWN_SYNTAX.get(item.word, ())):
            return
        if name in CASES:
            if name == "if" and self._word(number + 2) == "NULL" and self._text(number + 3) == ",":
                # a condition of CASE is no NULL in Spark; that of `if` may be one
                self._instead[self._solid[number + 2]] = "CAST(NULL AS BOOLEAN)"
            self._parts(number, end, CASES[name], name)
            return
        if name in NATIVE:
            self._instead[at] = NATIVE[name]
            return
        if name in carriers.POSITIONS and self._commas(number, end):
            self._of_one_record(name, number, end)
            return
        if name in AGGREGATES or name in AGGREGATES_AS_THEY_ARE:
            self._instead[at] = AGGREGATES.get(name, name)
            return
        if self._is_list_of_names(number) or (self._word(end + 1) == "AS" and self._text(end + 2) == "("):
            return
        if name not in signatures() and name not in OTHERS:
            raise UnsupportedPlanError(f"the function `{name}` is not one of those that are planned without Spark")
        known = signatures().get(name)
        witness = WITNESSES.get(known.result if known is not None else NAMED_TYPES.get(name, ""), "NULL")
        begin = carriers.beginning(carriers.CALL, name, witness)
        commas = self._commas(number, end)
        if number + 2 == end:
            self._parts(number, end, (begin, "), 'v')"), name)
        else:
            between = [f", '{one}', " for one in range(1, len(commas) + 1)]
            self._parts(number, end, (f"{begin}, '0', ", *between, "), 'v')"), name)

    def _of_one_record(self, name: str, number: int, end: int) -> None:
        """Write ``first(value, ignore_nulls)`` and its like."""
        commas = self._commas(number, end)
        word = self._word(end - 1)
        if len(commas) != 1 or end - commas[0] != 2 or word not in ("TRUE", "FALSE"):
            raise UnsupportedPlanError(f"the second argument of `{name}` is true or false in Spark")
        ignored = word == "TRUE"
        self._instead[self._solid[number]] = "nth_value" if ignored else AGGREGATES.get(name, name)
        self._instead[self._solid[end - 1]] = f"{carriers.POSITIONS[name]}" if ignored else ""
        if not ignored:
            self._instead[self._solid[commas[0]]] = ""

    def _commas(self, number: int, end: int) -> list[int]:
        """Return the positions of the commas between the arguments of a call."""
        found, depth = [], 0
        for at in range(number + 2, end):
            text = self._text(at)
            depth += {"(": 1, ")": -1}.get(text, 0)
            if text == "," and depth == 0:
                found.append(at)
        return found

    def _parts(self, number: int, end: int, written: Sequence[str], name: str) -> None:
        """Write a call as its arguments with other texts around and between them."""
        commas = self._commas(number, end)
        if len(written) != len(commas) + 2:
            raise InvalidPlanError(f"`{name}` doesn't take {len(commas) + 1} arguments")
        self._instead[self._solid[number]] = ""
        for at, text in zip((number + 1, *commas, end), written, strict=True):
            self._instead[self._solid[at]] = text

    def _is_list_of_names(self, number: int) -> bool:
        """Whether a name with a bracket behind it is that of a relation with names for its columns."""
        before = self._word(number - 1)
        if before in ("AS", "WITH"):
            return True
        return self._text(number - 1) == ")" and before == ""

    def _end(self, opening: int) -> int:
        """Return the position of the closing bracket, among the tokens that aren't spaces."""
        depth = 0
        for at in range(opening, len(self._solid)):
            text = self._text(at)
            if text == "(":
                depth += 1
            elif text == ")":
                depth -= 1
                if depth == 0:
                    return at
        raise InvalidPlanError("a bracket is not closed")

    def _words_inside(self, opening: int, end: int) -> set[str]:
        """Return the words directly inside a bracket."""
        found, depth = set(), 0
        for at in range(opening, end):
            text = self._text(at)
            depth += {"(": 1, ")": -1}.get(text, 0)
            if depth == 1:
                found.add(self._word(at))
        return found


def _space(item: Token) -> str:
    """Return a token as it is; a comment as a blank, so that no hint of the dialect is in it."""
    if item.kind is Kind.SPACE and item.text.strip():
        return " " + "\n" * item.text.count("\n")
    return item.text


def quoted(text: str) -> str:
    """Return a text as a literal."""
    return "'" + text.replace("'", "''") + "'"


def integer(digits: str) -> str:
    """Return an integer literal: beyond a BIGINT, it is a decimal in Spark."""
    number = digits.lstrip("0") or "0"
    if int(number) < 1 << 63:
        return number
    if len(number) > _MOST_DIGITS:
        raise InvalidPlanError(f"{digits} has more than {_MOST_DIGITS} digits")
    return f"{number}."


def _number(item: Token, negative: bool) -> str:
    match = _NUMBER.fullmatch(item.text)
    assert match is not None, "the tokens have the same form"
    digits, exponent, suffix = match[1], match[2], (match[3] or "").upper()
    if suffix in _SUFFIXES:
        written = digits + (f"e{exponent}" if exponent else "")
        if suffix in "LSY":
            if "." in digits or exponent:
                raise InvalidPlanError(f"{item.text} is no number of Spark")
            bits = {"L": 63, "S": 15, "Y": 7}[suffix]
            if int(digits) >= (1 << bits) + negative:
                raise InvalidPlanError(f"{item.text} is beyond the numbers of {_SUFFIXES[suffix]}")
            return f"CAST('{TYPED}{digits}' AS {_SUFFIXES[suffix]})"
        return f"CAST('{written}' AS {_SUFFIXES[suffix]})"
    if exponent and not suffix:
        return f"CAST('{digits}e{exponent}' AS DOUBLE)"
    if suffix == "BD":
        number = decimal.Decimal(digits + (f"e{exponent}" if exponent else ""))
        return f"{number:f}" if "." in f"{number:f}" else f"{number:f}."
    return digits if "." in digits else integer(digits)
