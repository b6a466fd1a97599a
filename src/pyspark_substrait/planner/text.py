"""A text in Spark SQL as the text that DataFusion takes for the same query.

The tokens stay in their order; what DataFusion writes otherwise, or doesn't have, is replaced one by one. What it has
and leaves out of its plans is refused.
"""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pyspark_substrait.errors import InvalidPlanError, ParameterError, UnsupportedPlanError
from pyspark_substrait.planner.differences import DIFFERENCES
from pyspark_substrait.planner.intervals import interval
from pyspark_substrait.planner.rendering import integer, quoted
from pyspark_substrait.planner.tokens import Item, Kind, Piece, Token, place, tokens

__all__ = ["query_items"]

_STATEMENTS: Final = ("SELECT", "WITH", "VALUES")
#: the differences that are refused by words, by the first of them
_BY_WORDS: Final = {
    first: [one for one in DIFFERENCES if one.words and one.words[0] == first]
    for first in {one.words[0] for one in DIFFERENCES if one.words}
}


def query_items(text: str, args: Mapping[str, Any] | Sequence[Any] | None = None) -> list[Item]:
    """Return the tokens of a query, with the values of its parameters.

    Raises:
        InvalidPlanError: it isn't one query.
        ParameterError: a parameter has no value, or one that SQL has no literal for.
        UnsupportedPlanError: it has a construct that DataFusion's plans don't have.
    """
    found = tokens(text)
    while found and (found[-1].kind is Kind.SPACE or found[-1].text == ";"):
        found.pop()
    words = [token for token in found if token.kind is not Kind.SPACE]
    if not words:
        raise InvalidPlanError("the query is empty")
    for token in words:
        if token.text == ";":
            raise InvalidPlanError(f"there is a second statement behind {place(text, token.start)}")
    if words[0].word not in _STATEMENTS and words[0].text != "(":
        raise UnsupportedPlanError(
            f"the statement begins with {words[0].text}: only queries are planned without Spark",
            hint='Leave engine="datafusion" out',
        )
    _check(words, text)
    values = iter(args) if args is not None and not isinstance(args, Mapping) else iter(())
    items: list[Item] = []
    for token in found:
        if token.kind is Kind.PARAMETER:
            items.append(Piece(_parameter(token, args, values, text), token.start))
        else:
            items.append(token)
    return items


def _check(words: Sequence[Token], text: str) -> None:
    """Refuse what DataFusion would leave out of its plans."""
    for position, token in enumerate(words):
        for one in _BY_WORDS.get(token.word, ()):
            if tuple(word.word for word in words[position : position + len(one.words)]) == one.words:
                raise UnsupportedPlanError(
                    f"{one.subject} is not planned with Spark's meaning: in DataFusion, {one.datafusion}; in Spark, "
                    f"{one.spark} (at {place(text, token.start)})",
                    hint=one.hint or 'Leave engine="datafusion" out',
                )
        if token.word == "OVER" and position > 0 and words[position - 1].text == ")":
            _check_window(words, position, text)
        if token.word == "INTERVAL":
            try:
                interval(words, position)
            except InvalidPlanError as error:
                fault = f"{error.message} (at {place(text, token.start)})"
                raise UnsupportedPlanError(fault, hint=error.hint) from None
        found = _fault(words, position)
        if found is not None:
            raise UnsupportedPlanError(f"{found[0]} (at {place(text, token.start)})", hint=found[1])
        if token.kind is Kind.SYMBOL and token.text in ("->", "=>", "[", "{"):
            raise UnsupportedPlanError(f"`{token.text}` is not planned without Spark (at {place(text, token.start)})")


def _fault(words: Sequence[Token], position: int) -> tuple[str, str] | None:
    """Return why a word is refused where it stands, and what to do about it; None if it isn't."""
    word = words[position].word
    before = words[position - 1] if position else None
    behind = [one.text.upper() for one in words[position + 1 : position + 4]]
    match word, behind:
        case "RANGE", [_, *_] if _is_frame(words, position) and _has_offset(words, position + 1):
            return "DataFusion's plans leave the offsets of RANGE frames out", "Use ROWS, UNBOUNDED or CURRENT ROW"
        case "GROUPING", ["SETS", *_] if before is not None and before.word != "BY" and before.text != ",":
            return "DataFusion leaves GROUPING SETS out behind other keys", "Write GROUP BY GROUPING SETS (…)"
        case "COUNT", ["(", ")", *_]:
            return "Spark's count takes an argument", "Use count(*)"
        case "COUNT", ["(", "DISTINCT", "*"]:
            return "DataFusion counts the records of count(DISTINCT *) once", "List the columns"
        case "COUNT", ["(", *_] if _is_of_table(words, position + 2):
            return "Spark has no count of all columns of a table", "Use count(*)"
        case "OVER" | "AS", ["(", *_] if _names_window(words, position):
            return "DataFusion leaves the name of a window out that is in brackets", "Write OVER and the name"
        case "PIVOT" | "UNPIVOT", ["(" | "INCLUDE" | "EXCLUDE", *_] if before is not None and before.text != ".":
            return f"{word} is not planned without Spark", "Aggregate a CASE for each column"
        case "LATERAL", ["(", *_]:
            return "LATERAL is not planned without Spark", "Use a subquery as a value"
        case _ if words[position].text == "-" and _is_ordinal(words, position):
            return "in Spark, a negative number in ORDER BY is a position, which there is not", "Leave it out"
        case "AS", [_, *_] if words[position + 1].kind is Kind.TEXT:
            return "in Spark, an alias is no text", "Write it in backquotes, or as a word"
    return None


def _is_ordinal(words: Sequence[Token], position: int) -> bool:
    """Whether a minus and the number behind it are all of an item of the query's ORDER BY."""
    number = words[position + 1] if position + 1 < len(words) else None
    if position == 0 or number is None or number.kind is not Kind.NUMBER or not number.text.isdecimal():
        return False
    behind = words[position + 2] if position + 2 < len(words) else None
    if behind is not None and behind.text not in (",", ")") and behind.word not in _BEHIND_KEYS:
        return False
    if words[position - 1].word != "BY" and words[position - 1].text != ",":
        return False
    depth = 0
    for at in range(position - 1, 0, -1):
        depth += {")": 1, "(": -1}.get(words[at].text, 0)
        if depth < 0 or (depth == 0 and words[at].word in ("SELECT", "FROM", "VALUES")):
            return False
        if depth == 0 and words[at].word == "BY":
            return words[at - 1].word == "ORDER" and not _in_window(words, at)
    return False


_BEHIND_KEYS: Final = frozenset({"ASC", "DESC", "NULLS", "LIMIT", "OFFSET"})


def _is_frame(words: Sequence[Token], position: int) -> bool:
    """Whether RANGE begins the frame of a window; else it is a name."""
    before = words[position - 1] if position else None
    if before is None or before.word in ("BY", "AND", "OR", "NOT"):
        return False
    return (before.kind is not Kind.SYMBOL or before.text in "()") and _in_window(words, position)


def _in_window(words: Sequence[Token], position: int) -> bool:
    """Whether the bracket around a position has the specification of a window."""
    depth = 0
    for at in range(position - 1, 0, -1):
        depth += {")": 1, "(": -1}.get(words[at].text, 0)
        if depth < 0:
            word = words[at - 1].word
            return word == "OVER" or (word == "AS" and _in_window_clause(words, at - 1))
    return False


def _has_offset(words: Sequence[Token], position: int) -> bool:
    """Whether the bounds behind RANGE have more than words of a frame: a number, an interval, a parameter, a name."""
    known = ("BETWEEN", "AND", "UNBOUNDED", "CURRENT", "ROW", "PRECEDING", "FOLLOWING")
    for token in words[position:]:
        if token.text == ")":
            return False
        if token.word not in known:
            return True
    return False


def _is_of_table(words: Sequence[Token], position: int) -> bool:
    """Whether the argument at a position is ``name.*``."""
    while position + 1 < len(words) and words[position + 1].text == ".":
        position += 2
        if words[position : position + 1] and words[position].text == "*":
            return True
    return False


def _names_window(words: Sequence[Token], position: int) -> bool:
    """Whether a specification of a window begins with the name of another one."""
    first = words[position + 2] if position + 2 < len(words) else None
    if first is None or first.kind not in (Kind.WORD, Kind.QUOTED):
        return False
    if words[position].word == "AS" and not _in_window_clause(words, position):
        return False
    return first.word not in ("PARTITION", "ORDER", "ROWS", "RANGE", "GROUPS", "DISTRIBUTE", "SORT", "CLUSTER")


def _in_window_clause(words: Sequence[Token], position: int) -> bool:
    """Whether the clause around an AS is WINDOW."""
    depth = 0
    for token in reversed(words[:position]):
        depth += {")": 1, "(": -1}.get(token.text, 0)
        if depth < 0 or (depth == 0 and token.word in ("SELECT", "FROM", "WITH", "WHERE")):
            return False
        if depth == 0 and token.word == "WINDOW":
            return True
    return False


def _check_window(words: Sequence[Token], over: int, text: str) -> None:
    """Refuse FILTER and DISTINCT of a call over a window."""
    opening = _opening(words, over - 1)
    if opening > 0 and words[opening - 1].word == "FILTER":
        raise UnsupportedPlanError(
            f"DataFusion's plans leave the FILTER of window functions out (at {place(text, words[opening - 1].start)})",
            hint="Aggregate a CASE that is null for the other records",
        )
    if words[opening + 1].word == "DISTINCT":
        raise UnsupportedPlanError(f"Spark has no DISTINCT over a window (at {place(text, words[opening].start)})")


def _opening(words: Sequence[Token], position: int) -> int:
    depth = 0
    for at in range(position, -1, -1):
        if words[at].text == ")":
            depth += 1
        elif words[at].text == "(":
            depth -= 1
            if depth == 0:
                return at
    return 0


# parameters -----------------------------------------------------------------------------------------------------------


def _parameter(token: Token, args: Any, values: Any, text: str) -> str:
    nothing = object()
    if token.text == "?":
        value = next(values, nothing)
    else:
        value = args.get(token.text[1:], nothing) if isinstance(args, Mapping) else nothing
    if value is nothing:
        raise ParameterError(
            f"the parameter {token.text} at {place(text, token.start)} has no value", hint="Add it to args"
        )
    written = _literal(value)
    if written is None:
        raise ParameterError(f"the value {value!r} of the parameter {token.text} has no literal in SQL")
    return written


def _literal(value: Any) -> str | None:
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).upper()
        case int():
            return f"({value})" if value < 0 else integer(str(value))
        case float() if math.isfinite(value):
            return f"CAST('{value!r}' AS DOUBLE)"
        case decimal.Decimal() if value.is_finite():
            digits = f"{value:f}"
            return f"({digits})" if "." in digits else f"({digits}.)"
        case str():
            return quoted(value)
        case datetime.datetime():
            # one without a zone is in that of this process, as where Spark takes one
            value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
            return f"CAST('{value.isoformat(sep=' ')}' AS TIMESTAMP)"
        case datetime.date():
            return f"DATE '{value.isoformat()}'"
        case _:
            return None
