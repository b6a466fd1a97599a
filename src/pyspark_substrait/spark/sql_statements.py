"""Statements of Spark SQL that come from elsewhere: what kind they are, and running them.

Spark executes a command as soon as it is asked for its DataFrame. So the kind is told from the words of the text, and a
text that may be a command is executed only where that is meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from pyspark_substrait.errors import ExecutionError, InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.spark.compatibility import analysed_part, analysed_text, is_command_result, written_rows
from pyspark_substrait.spark.failures import first_message, message_with_place
from pyspark_substrait.spark.lost_connection import reporting_loss
from pyspark_substrait.spark.session import spark_errors

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Kind", "change", "kind_of", "markers", "null_arguments", "parameter_types", "query", "sql_errors"]


class Kind(Enum):
    """The kind of a statement."""

    QUERY = "query"
    #: shows something, and changes nothing: SHOW, DESCRIBE, EXPLAIN
    LISTING = "listing"
    CHANGE = "change"


_QUERIES: Final = frozenset({"(", "SELECT", "TABLE", "VALUES"})
_EITHER: Final = frozenset({"FROM", "WITH"})
_LISTINGS: Final = frozenset({"DESC", "DESCRIBE", "EXPLAIN", "SHOW"})
_WRITES: Final = frozenset({"DELETE", "INSERT", "MERGE", "UPDATE"})
_CHANGES: Final = _WRITES | {
    "ALTER",
    "ANALYZE",
    "CALL",
    "COMMENT",
    "CREATE",
    "DROP",
    "MSCK",
    "OPTIMIZE",
    "REFRESH",
    "REPAIR",
    "REPLACE",
    "TRUNCATE",
    "VACUUM",
}
#: the words that may stand between CREATE and TEMPORARY
_BEFORE: Final = frozenset({"GLOBAL", "LOCAL", "OR", "REPLACE"})
_TEMPORARY: Final = frozenset({"TEMP", "TEMPORARY"})

_TOKEN: Final = re.compile(
    r"""
    (?P<skipped>
        \s+ | --[^\n]* | [rR]'[^']*' | [rR]"[^"]*"
        | '(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" | `(?:[^`]|``)*`
    )
    | (?P<comment>/\*)
    | (?P<word>\w+)
    | (?P<mark>.)
    """,
    re.VERBOSE | re.DOTALL,
)
#: the words before a marker that stands for a number of rows
_BEFORE_COUNTS: Final = frozenset({"LIMIT", "OFFSET"})
#: the words with which the query of a statement begins
_BEFORE_QUERIES: Final = frozenset({"FROM", "SELECT", "VALUES", "WITH"})
_TYPE: Final = r"([\w ]+(?:\([\d, ]+\))?)"
#: a parameter, and the type to which it is cast
_CAST_NAME: Final = re.compile(rf"cast\(nullif\((substrait_parameter_\d+_), \1\) as {_TYPE}\)")
#: a column, and the type to which it is cast
_CAST_COLUMN: Final = re.compile(rf"cast\((\w+)#\d+ as {_TYPE}\)")
#: a column of VALUES, and the name that it gets
_RENAMED: Final = re.compile(r"(col\d+)#\d+ AS (\w+)#\d+")
_FAILED: Final = re.compile(r"\s*[\w.]+Exception:")
_COMMENT: Final = re.compile(r"/\*|\*/")


def _tokens(text: str) -> Iterator[str]:
    """The words, in upper case, and the marks of a statement, without comments and without what stands in quotes."""
    return (token for token, _ in _placed_tokens(text))


def _placed_tokens(text: str) -> Iterator[tuple[str, int]]:
    """The same, each with where it ends."""
    place = 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        assert found is not None
        place = found.end()
        if found["comment"]:
            place = _after_comment(text, place)
        elif found["word"]:
            yield found["word"].upper(), place
        elif found["mark"]:
            yield found["mark"], place


def _after_comment(text: str, place: int) -> int:
    """Return the end of a comment, which may hold others."""
    depth = 1
    while depth:
        found = _COMMENT.search(text, place)
        if found is None:
            return len(text)
        depth += 1 if found[0] == "/*" else -1
        place = found.end()
    return place


def kind_of(text: str) -> Kind:
    """Return the kind of a statement.

    A query that begins with WITH or FROM, and has a bare word like INSERT, counts as a change, and :func:`change`
    refuses it.

    Raises:
        InvalidPlanError: there is no statement.
        UnsupportedPlanError: it would change the session, or is of a kind that isn't known.
    """
    tokens = list(_tokens(text))
    if not tokens:
        raise InvalidPlanError("there is no SQL statement in the text")
    first = tokens[0]
    if first in _QUERIES:
        return Kind.QUERY
    if first in _EITHER:
        return Kind.CHANGE if _WRITES.intersection(tokens) else Kind.QUERY
    if first in _LISTINGS:
        return Kind.LISTING
    if first in _CHANGES and next((token for token in tokens[1:] if token not in _BEFORE), "") not in _TEMPORARY:
        return Kind.CHANGE
    shown = " ".join(tokens[:3]) if first in _CHANGES else first[:40]
    raise UnsupportedPlanError(
        f"statements of the kind {shown} are not run here: they would change the session, which all clients share, or "
        "are not known",
        hint="Queries, SHOW, DESCRIBE, EXPLAIN, and statements that change tables of the catalog are",
    )


def markers(text: str) -> int:
    """Return the number of parameters (``?``) of a statement."""
    return sum(token == "?" for token in _tokens(text))


def null_arguments(text: str) -> list[int | None]:
    """Return nulls for the parameters of a statement, with which it can be analysed; 1 for a number of rows."""
    return [1 if marker.is_count else None for marker in _markers(text)]


@dataclass(frozen=True)
class _Marker:
    """A parameter of a statement.

    Args:
        is_count: whether it is a number of rows, which can be neither a text nor null.
        column: which column of the VALUES of an INSERT it is the value of, from 1.
    """

    is_count: bool = False
    column: int | None = None


def _markers(text: str) -> list[_Marker]:
    """Return the parameters of a statement, in order."""
    tokens = ["", *_tokens(text), ""]
    found = []
    inserts = tokens[1] == "INSERT"
    in_values, depth, column = False, 0, 0
    for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if token == "(":
            depth += 1
            column = 1 if depth == 1 else column
        elif token == ")":
            depth -= 1
        elif token == "," and depth == 1:
            column += 1
        elif depth == 0 and token in _BEFORE_QUERIES:
            in_values = inserts and token == "VALUES"
            inserts = False
        elif token == "?":
            is_value = in_values and depth == 1 and before in ("(", ",") and after in (",", ")")
            found.append(_Marker(before in _BEFORE_COUNTS, column if is_value else None))
    return found


def parameter_types(spark: SparkSession, text: str) -> list[str | None]:
    """Return the types that Spark would give the parameters of a statement; None where that can't be told.

    Spark says nothing of them. But it casts a text that stands beside a number or a date, so null texts with a name
    are bound, and the analysed statement says to what they are cast. A value that is inserted is no text, which Spark
    would not cast to the type of each column, but null, which it does.
    """
    found = _markers(text)
    names = [f"substrait_parameter_{number}_" for number in range(len(found))]
    values = iter(
        "1" if marker.is_count else f"nullif('{name}', '{name}')" if marker.column is None else "NULL"
        for marker, name in zip(found, names, strict=True)
    )
    ends = [0, *(end for token, end in _placed_tokens(text) if token == "?"), len(text) + 1]
    bound = "".join(f"{text[start : end - 1]}{next(values, '')}" for start, end in pairwise(ends))
    try:
        shown = _analysed(spark, bound)
    except (InvalidPlanError, ExecutionError):
        return [None] * len(found)
    of_names = dict(_CAST_NAME.findall(shown))
    of_columns = dict(_CAST_COLUMN.findall(shown))
    renamed = dict(_RENAMED.findall(shown))

    def type_of(marker: _Marker, name: str) -> str | None:
        """Return the type of a parameter; a text that isn't cast is one."""
        if marker.is_count:
            return "int"
        if marker.column is None:
            return of_names.get(name, "string" if name in shown else None)
        column = f"col{marker.column}"
        return of_columns.get(column) or of_columns.get(renamed.get(column, ""))

    return [type_of(marker, name) for marker, name in zip(found, names, strict=True)]


def _analysed(spark: SparkSession, text: str) -> str:
    """Return the analysed plan of a statement as Spark prints it; a change is explained and not carried out."""
    with sql_errors(spark):
        if kind_of(text) is not Kind.CHANGE:
            return analysed_text(query(spark, text, []))
        shown = analysed_part("\n".join(line for (line,) in spark.sql(f"EXPLAIN EXTENDED {text}").collect()))
    return "" if _FAILED.match(shown) else shown


def query(spark: SparkSession, text: str, arguments: Sequence[Any]) -> DataFrame:
    """Return the DataFrame of a statement that isn't a :attr:`Kind.CHANGE`; a query is analysed and not run.

    Args:
        spark: a classic or a Connect session.
        text: the statement.
        arguments: the values of its parameters (``?``), in order.

    Raises:
        InvalidPlanError: Spark rejects it.
    """
    if kind_of(text) is Kind.CHANGE:
        raise UnsupportedPlanError("the statement changes something, so it has no rows", hint="Send it as an update")
    with sql_errors(spark):
        frame = _frame(spark, text, arguments)
        frame.schema  # noqa: B018 - a Connect server analyses it now
        return frame


def change(spark: SparkSession, text: str, arguments: Sequence[Any]) -> int:
    """Execute a statement that changes something, and return the number of records changed, -1 if it isn't known.

    Raises:
        InvalidPlanError: Spark rejects it, or it is a query.
        ExecutionError: it failed.
    """
    if kind_of(text) is not Kind.CHANGE:
        raise InvalidPlanError("the statement is a query, which changes nothing", hint="Send it as a query")
    with sql_errors(spark):
        frame = _frame(spark, text, arguments)
        if not is_command_result(frame):
            raise InvalidPlanError(
                "the statement has a word like INSERT, but is a query", hint="Write the name in backquotes"
            )
        if frame.columns[:1] == ["num_affected_rows"]:  # Delta's
            return int(frame.collect()[0][0])
        written = written_rows(frame)
        return -1 if written is None else written


def _frame(spark: SparkSession, text: str, arguments: Sequence[Any]) -> DataFrame:
    return spark.sql(text, args=list(arguments)) if arguments else spark.sql(text)


@contextmanager
def sql_errors(spark: SparkSession) -> Iterator[None]:
    """Raise the errors that Spark reports of a statement in the body as errors of this package."""
    from pyspark.errors import AnalysisException, ParseException

    with reporting_loss(spark):
        try:
            yield
        except (AnalysisException, ParseException) as error:
            raise InvalidPlanError(f"Spark does not take the statement: {message_with_place(error)}") from error
        except spark_errors() as error:
            raise ExecutionError(f"the statement failed: {first_message(error)}") from error
