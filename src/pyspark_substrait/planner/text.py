"""A text in Spark SQL as the text that DataFusion takes for the same query.

The tokens stay in their order; what DataFusion writes otherwise, or doesn't have, is replaced one by one. What it has
and leaves out of its plans is refused.
"""

from __future__ import annotations

import datetime
import decimal
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pyspark_substrait.errors import InvalidPlanError, ParameterError, UnsupportedPlanError
from pyspark_substrait.planner import carriers
from pyspark_substrait.planner.functions import signatures
from pyspark_substrait.planner.tokens import Kind, Token, place, tokens, unescaped

__all__ = ["Item", "Piece", "query_items", "rendered"]


@dataclass(frozen=True, slots=True)
class Piece:
    """A text in DataFusion's SQL that stands for some tokens.

    Args:
        text: the text.
        start: the place of the first of the tokens.
    """

    text: str
    start: int


Item = Token | Piece

#: constructs that DataFusion leaves out of its plans, or means otherwise: words in a row, and what to say of them
_REFUSED: Final[Mapping[tuple[str, ...], tuple[str, str | None]]] = {
    ("TABLESAMPLE",): ("TABLESAMPLE picks records by how Spark distributes them", "Filter by a condition on a key"),
    ("IGNORE", "NULLS"): ("DataFusion's plans leave IGNORE NULLS out", None),
    ("INTERSECT", "ALL"): ("DataFusion plans INTERSECT ALL as a semi join, which keeps other numbers of records", None),
    ("EXCEPT", "ALL"): ("DataFusion plans EXCEPT ALL as an anti join, which keeps other numbers of records", None),
    ("MINUS", "ALL"): ("DataFusion plans EXCEPT ALL as an anti join, which keeps other numbers of records", None),
    ("GROUPS", "BETWEEN"): ("Spark has no frames of GROUPS", None),
    ("SIMILAR", "TO"): ("Spark has no SIMILAR TO", "Use RLIKE"),
    ("LATERAL", "VIEW"): ("LATERAL VIEW is not planned without Spark", None),
    ("WITH", "RECURSIVE"): ("recursive queries have no Substrait form", None),
    ("DISTINCT", "ON"): ("Spark has no DISTINCT ON", "Use a window function"),
    ("QUALIFY",): ("Spark has no QUALIFY", "Filter the query around"),
    ("COLLATE",): ("collations are not planned without Spark", None),
    ("USING",): ("DataFusion writes no plan of a join with USING", "Write the condition: ON a.id = b.id"),
    ("NATURAL",): ("DataFusion writes no plan of a natural join", "Write the condition: ON a.id = b.id"),
}
#: words that are replaced by others, or by symbols
_WORDS: Final = {"MINUS": "EXCEPT", "RLIKE": "~", "REGEXP": "~"}
_SYMBOLS: Final = {"==": "=", "!": " NOT "}
#: aggregate functions that have another name in DataFusion
_AGGREGATES: Final = {
    "mean": "avg",
    "std": "stddev",
    "stddev_samp": "stddev",
    "variance": "var_samp",
    "every": "bool_and",
    "any": "bool_or",
    "some": "bool_or",
    "first": "first_value",
    "last": "last_value",
    "any_value": "first_value",
    "collect_list": "array_agg",
    "approx_count_distinct": "approx_distinct",
}
_AGGREGATES_AS_THEY_ARE: Final = frozenset(
    {"count", "sum", "avg", "min", "max", "stddev", "stddev_pop", "var_samp", "var_pop", "corr", "covar_samp"}
    | {"covar_pop", "bool_and", "bool_or", "bit_and", "bit_or", "bit_xor", "median", "first_value", "last_value"}
    | {"array_agg", "grouping", "row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag"}
    | {"lead", "nth_value"}
)
#: functions whose type depends on their arguments, and that DataFusion has, so that it knows it
_NATIVE: Final = {
    **{name: name for name in ("coalesce", "nullif", "greatest", "least", "abs", "ceil", "floor", "round")},
    "nvl": "coalesce",
    "ifnull": "coalesce",
    "ceiling": "ceil",
}
#: functions that are a CASE: what is written before, between and behind their arguments
_CASES: Final[Mapping[str, tuple[str, ...]]] = {
    "if": ("(CASE WHEN ", " THEN ", " ELSE ", " END)"),
    "iff": ("(CASE WHEN ", " THEN ", " ELSE ", " END)"),
    "nvl2": ("(CASE WHEN (", ") IS NOT NULL THEN ", " ELSE ", " END)"),
    "count_if": ("count(CASE WHEN ", " THEN 1 END)"),
}
#: words before a bracket that are no functions
_NO_FUNCTIONS: Final = frozenset(
    [
        "SELECT",
        "FROM",
        "WHERE",
        "GROUP",
        "BY",
        "HAVING",
        "ORDER",
        "LIMIT",
        "OFFSET",
        "ON",
        "AND",
        "OR",
        "NOT",
        "IN",
        "EXISTS",
        "AS",
        "OVER",
        "PARTITION",
        "ROWS",
        "RANGE",
        "BETWEEN",
        "UNION",
        "ALL",
        "EXCEPT",
        "INTERSECT",
        "MINUS",
        "DISTINCT",
        "VALUES",
        "CASE",
        "WHEN",
        "THEN",
        "ELSE",
        "END",
        "WITH",
        "JOIN",
        "ROLLUP",
        "CUBE",
        "SETS",
        "FILTER",
        "WITHIN",
        "INTERVAL",
        "LIKE",
        "ILIKE",
        "RLIKE",
        "REGEXP",
        "IS",
        "USING",
        "LATERAL",
        "CAST",
        "TRY_CAST",
        "EXTRACT",
        "DIV",
        "DECIMAL",
        "DEC",
        "NUMERIC",
        "VARCHAR",
        "CHAR",
        "CHARACTER",
        "TIMESTAMP",
        "ESCAPE",
        "SOME",
        "FETCH",
        "WINDOW",
    ]
)
#: functions with words between their arguments, which DataFusion's parser reads itself
_OWN_SYNTAX: Final = {
    "SUBSTRING": ("FROM",),
    "SUBSTR": ("FROM",),
    "TRIM": ("FROM",),
    "POSITION": ("IN",),
    "OVERLAY": ("PLACING",),
    "CEIL": ("TO",),
    "FLOOR": ("TO",),
}
#: types with another name in DataFusion
_TYPES: Final = {
    "BYTE": "TINYINT",
    "SHORT": "SMALLINT",
    "LONG": "BIGINT",
    "INTEGER": "INT",
    "DEC": "DECIMAL",
    "NUMERIC": "DECIMAL",
    "TIMESTAMP_NTZ": "TIMESTAMP(6)",
    "TIMESTAMP_LTZ": "TIMESTAMP",
    "REAL": "FLOAT",
}
_NUMBER: Final = re.compile(r"([\d.]+)(?:[eE]([+-]?\d+))?(BD|bd|[LSYDFlsydf])?")
_SUFFIXES: Final = {"L": "BIGINT", "S": "SMALLINT", "Y": "TINYINT", "D": "DOUBLE", "F": "FLOAT"}
_MOST_DIGITS: Final = 38
_STATEMENTS: Final = ("SELECT", "WITH", "VALUES")
#: the types that carriers of functions have for DataFusion, by the type of the function
_WITNESSES: Final = {
    "int": "CAST(NULL AS INT)",
    "long": "CAST(NULL AS BIGINT)",
    "double": "CAST(NULL AS DOUBLE)",
    "string": "CAST(NULL AS STRING)",
    "date": "CAST(NULL AS DATE)",
    "timestamp": "CAST(NULL AS TIMESTAMP)",
    "boolean": "CAST(NULL AS BOOLEAN)",
}
_NAMED_TYPES: Final = {
    "to_date": "date",
    "to_timestamp": "timestamp",
    "trim": "string",
    "ltrim": "string",
    "rtrim": "string",
}
#: functions that are planned, besides those of the table: those with another meaning for each type of argument
_OTHERS: Final = frozenset(
    {"to_date", "to_timestamp", "negative", "mod", "pmod", "trim", "ltrim", "rtrim"}
    | {"date", "timestamp", "string", "boolean", "tinyint", "smallint", "int", "bigint", "float", "double"}
)


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
        for refused, (why, hint) in _REFUSED.items():
            if tuple(one.word for one in words[position : position + len(refused)]) == refused:
                raise UnsupportedPlanError(f"{why} (at {place(text, token.start)})", hint=hint)
        if token.word == "OVER" and position > 0 and words[position - 1].text == ")":
            _check_window(words, position, text)
        if token.word == "RANGE" and words[position + 1 : position + 2] and _has_offset(words, position + 1):
            raise UnsupportedPlanError(
                f"DataFusion's plans leave the offsets of RANGE frames out (at {place(text, token.start)})",
                hint="Use ROWS, UNBOUNDED or CURRENT ROW",
            )
        if token.kind is Kind.SYMBOL and token.text in ("->", "=>", "[", "{"):
            raise UnsupportedPlanError(f"`{token.text}` is not planned without Spark (at {place(text, token.start)})")


def _has_offset(words: Sequence[Token], position: int) -> bool:
    """Whether the bounds behind RANGE have a number or an interval."""
    for token in words[position : position + 12]:
        if token.text == ")":
            return False
        if token.kind is Kind.NUMBER or token.word == "INTERVAL":
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
            return f"({value})" if value < 0 else _integer(str(value))
        case float() if math.isfinite(value):
            return f"CAST('{value!r}' AS DOUBLE)"
        case decimal.Decimal() if value.is_finite():
            return f"({value:f})"
        case str():
            return _quoted(value)
        case datetime.datetime():
            kind = "TIMESTAMP" if value.tzinfo else "TIMESTAMP(6)"
            if value.tzinfo:
                value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
            return f"CAST('{value.isoformat(sep=' ')}' AS {kind})"
        case datetime.date():
            return f"DATE '{value.isoformat()}'"
        case _:
            return None


# rendering ------------------------------------------------------------------------------------------------------------


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
                self._instead[at] = _number(item)
            case Kind.SYMBOL if item.text in _SYMBOLS:
                self._instead[at] = _SYMBOLS[item.text]
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
        self._instead[at] = _quoted(value)

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
        if word in _WORDS and self._text(number + 1) != "(":
            self._instead[at] = _WORDS[word]
            return
        if self._is_type(number):
            self._type(word, number, at)
            return
        if self._text(number + 1) == "(" and word not in _NO_FUNCTIONS:
            self._function(item, number, at)
            return
        if word in ("CHAR", "TIMESTAMP") and self._text(number + 1) == "(":
            self._function(item, number, at)

    # types

    def _is_type(self, number: int) -> bool:
        """Whether a word is the type of a cast or of a literal."""
        before = self._near(number - 1)
        if before is None:
            return False
        if before.text == "::":
            return True
        behind = self._near(number + 1)
        if behind is not None and behind.kind is Kind.TEXT and self._word(number) in (*_TYPES, "TIMESTAMP", "DATE"):
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
        written = _TYPES.get(word, word)
        if written == "DECIMAL" and not bracket:
            written = "DECIMAL(10, 0)"
        self._instead[at] = written

    # functions

    def _function(self, item: Token, number: int, at: int) -> None:
        name = item.text.lower()
        end = self._end(number + 1)
        if any(word in self._words_inside(number + 1, end) for word in _OWN_SYNTAX.get(item.word, ())):
            return
        if name in _CASES:
            self._parts(number, end, _CASES[name], name)
            return
        if name in _NATIVE:
            self._instead[at] = _NATIVE[name]
            return
        if name in _AGGREGATES or name in _AGGREGATES_AS_THEY_ARE:
            self._instead[at] = _AGGREGATES.get(name, name)
            return
        if self._is_list_of_names(number) or (self._word(end + 1) == "AS" and self._text(end + 2) == "("):
            return
        if name not in signatures() and name not in _OTHERS:
            raise UnsupportedPlanError(f"the function `{name}` is not one of those that are planned without Spark")
        known = signatures().get(name)
        witness = _WITNESSES.get(known.result if known is not None else _NAMED_TYPES.get(name, ""), "NULL")
        begin = carriers.beginning(carriers.CALL, name, witness)
        commas = self._commas(number, end)
        if number + 2 == end:
            self._parts(number, end, (begin, "), 'v')"), name)
        else:
            between = [f", '{one}', " for one in range(1, len(commas) + 1)]
            self._parts(number, end, (f"{begin}, '0', ", *between, "), 'v')"), name)

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


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _integer(digits: str) -> str:
    """Return an integer literal: beyond a BIGINT, it is a decimal in Spark."""
    number = digits.lstrip("0") or "0"
    if int(number) < 1 << 63:
        return number
    if len(number) > _MOST_DIGITS:
        raise InvalidPlanError(f"{digits} has more than {_MOST_DIGITS} digits")
    return f"{number}."


def _number(item: Token) -> str:
    match = _NUMBER.fullmatch(item.text)
    assert match is not None, "the tokens have the same form"
    digits, exponent, suffix = match[1], match[2], (match[3] or "").upper()
    if suffix in _SUFFIXES:
        written = digits + (f"e{exponent}" if exponent else "")
        if suffix in "LSY":
            if "." in digits or exponent:
                raise InvalidPlanError(f"{item.text} is no number of Spark")
            return f"CAST({digits} AS {_SUFFIXES[suffix]})"
        return f"CAST('{written}' AS {_SUFFIXES[suffix]})"
    if exponent and not suffix:
        return f"CAST('{digits}e{exponent}' AS DOUBLE)"
    if suffix == "BD":
        number = decimal.Decimal(digits + (f"e{exponent}" if exponent else ""))
        return f"{number:f}" if "." in f"{number:f}" else f"{number:f}."
    return digits if "." in digits else _integer(digits)
