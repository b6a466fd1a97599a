"""Texts: patterns, parts, and texts one after another, as several dialects have them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sqlglot import exp

from pyspark_substrait.codes import Code
from pyspark_substrait.engines.dialects.dialect import Call, Cast, Row, refuse, row
from pyspark_substrait.engines.dialects.tree import operand
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.extensions import engines
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import String, VarChar

__all__ = [
    "ascii_letters",
    "bounded_substring",
    "concatenated",
    "escape_of",
    "like",
    "like_with_backslash",
    "replaced",
    "shortened",
    "string_agg",
    "substring",
]


def shortened(made: Cast) -> exp.Expression | None:
    """Return a text as one of another length; None if it may be too long."""
    if isinstance(made.target, String):
        return made.value
    if isinstance(made.source, VarChar) and isinstance(made.target, VarChar):
        return made.value if made.source.length <= made.target.length else None
    return None


def concatenated(call: Call) -> exp.Expression:
    """Return texts one after another; null if one of them is."""
    first, *others = (value for value in call.operands if isinstance(value, exp.Expression))
    for value in others:
        first = exp.DPipe(this=operand(first), expression=operand(value))
    return first


def escape_of(call: Call) -> str | None:
    """Return the escape character of a call of ``like``; None if it has none, or a null.

    Raises:
        UnsupportedPlanError: it is no constant of one character.
    """
    if len(call.operands) < 3:
        return None
    node, found = call.nodes[2], call.literal(2)
    if not isinstance(node, Literal) or (isinstance(found, str) and len(found) != 1):
        raise UnsupportedPlanError(
            f"{call.function.key} with an escape that isn't a constant of one character has no form in "
            f"{call.dialect.engine}",
            code=Code.TARGET_FUNCTION,
        )
    return found if isinstance(found, str) else None


def like(escape: str, *, written: bool = True) -> Callable[[Call], exp.Expression]:
    """Return the body of ``like``.

    Args:
        escape: the escape character; empty for none.
        written: whether the absence of one is written.
    """

    def body(call: Call) -> exp.Expression:
        character = escape_of(call) or escape
        text, pattern = [value for value in call.operands if isinstance(value, exp.Expression)][:2]
        made: exp.Expression = exp.Like(this=operand(text), expression=operand(pattern))
        if character or written:
            made = exp.Escape(this=made, expression=exp.Literal.string(character))
        return made

    return body


def like_with_backslash(call: Call) -> exp.Expression:
    """Return ``like`` in a dialect whose patterns have the backslash as escape character, and no other."""
    pattern, escape = call.literal(1), escape_of(call)
    if call.function.urn != engines.DATAFUSION.urn and (not isinstance(pattern, str) or "\\" in pattern):
        raise UnsupportedPlanError(
            "like of a pattern with a backslash, or that isn't a constant, has no exact form in "
            f"{call.dialect.engine}: the backslash is always its escape character",
            code=Code.TARGET_FUNCTION,
        )
    if escape not in (None, "\\"):
        raise UnsupportedPlanError(f"{call.dialect.engine} has no other escape character than the backslash")
    return call.filled("{0} LIKE {1}")


def substring(name: str, number: str = "{}") -> Callable[[Call], exp.Expression]:
    """Return the body of ``substring``, in which positions before the text count, but have no characters.

    Args:
        name: a function that does so, and has an error for negative lengths.
        number: how a number is written.
    """

    def body(call: Call) -> exp.Expression:
        start, length = number.format("{1}"), number.format("{2}")
        if len(call.operands) < 3:
            return call.filled(f"{name}({{0}}, {start})")
        known = call.literal(2)
        checked = call.function.urn == engines.DATAFUSION.urn or (isinstance(known, int) and known >= 0)
        count = length if checked else f"CASE WHEN {{2}} < 0 THEN 0 ELSE {length} END"
        return call.filled(f"{name}({{0}}, {start}, {count})")

    return body


def bounded_substring(name: str, error: str) -> Callable[[Call], exp.Expression]:
    """Return the body of ``substring``, in which positions before the text count, but have no characters.

    Args:
        name: a function of a position of 1 or more and a length of 0 or more.
        error: a value that is an error, with ``{}`` for the message.
    """

    def body(call: Call) -> exp.Expression:
        start, length = call.literal(1), call.literal(2)
        more = len(call.operands) > 2
        if isinstance(start, int) and start > 0 and (not more or (isinstance(length, int) and length >= 0)):
            return call.filled(f"{name}({{0}}, {{1}}, {{2}})" if more else f"{name}({{0}}, {{1}})")
        first = "CASE WHEN {1} < 1 THEN 1 ELSE {1} END"
        if not more:
            return call.filled(f"{name}({{0}}, {first})")
        negative = error.format("a negative length") if call.function.urn == engines.DATAFUSION.urn else "0"
        inside = "CAST({1} AS BIGINT) + {2} - 1"
        arms = f"WHEN {{2}} < 0 THEN {negative} WHEN {{1}} >= 1 THEN {{2}} WHEN {inside} < 0 THEN 0"
        return call.filled(f"{name}({{0}}, {first}, CASE {arms} ELSE {inside} END)")

    return body


def replaced(call: Call) -> exp.Expression:
    """Return a text with another one in place of each occurrence of a part; an empty part has none."""
    if call.literal(1):
        return call.filled("REPLACE({0}, {1}, {2})")
    return call.filled("CASE WHEN {1} = '' AND NOT {2} IS NULL THEN {0} ELSE REPLACE({0}, {1}, {2}) END")


_SMALL: Final = "abcdefghijklmnopqrstuvwxyz"
_OTHER_LETTERS: Final = "it maps each letter by itself, so that ß stays one letter and a final sigma is no other one"


def ascii_letters() -> list[Row]:
    """Return the rows of ``lower`` and ``upper`` in a dialect that has them exactly for the letters of ASCII only."""
    rows = []
    for name, source, target in (("lower", _SMALL.upper(), _SMALL), ("upper", _SMALL, _SMALL.upper())):
        rows.append(refuse(name, _OTHER_LETTERS, char_set="UTF8"))
        rows.append(row(name, f"TRANSLATE({{0}}, '{source}', '{target}')", char_set="ASCII_ONLY"))
    return rows


def string_agg(call: Call) -> exp.Expression:
    """Return texts one after another, with a separator, which is a constant: engines differ where it is null."""
    if not isinstance(call.literal(1), str):
        raise UnsupportedPlanError(f"{call.function.key} with a separator that isn't a constant")
    return call.filled("STRING_AGG({0}, {1})")
