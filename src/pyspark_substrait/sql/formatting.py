"""Layout of a text in Spark SQL: a clause a line, indented.

Only the white space between tokens changes, so the text keeps its meaning whatever it holds. General formatters don't
know all of Spark's strings (``r'…'``, backslashes), hints and nested comments, or write the text anew. Time and white
space grow in proportion to the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

__all__ = ["formatted", "tokens"]

_WIDTH: Final = 100
"""The most characters of a clause, or of a pair of brackets, that stay in one line."""

_SHORT_QUERY: Final = 80
"""The most characters of a query without another one in it that stays in one line."""

_INDENT: Final = "  "
_DEEPEST: Final = 30
"""The deepest indentation, in levels, so that white space grows only in proportion to the text."""

_TOKEN: Final = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<comment>--(?:\\\n|[^\n\r])*)
  | (?P<block>/\*)
  | [rR]'[^']*' | [rR]"[^"]*"
  | '(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" | `(?:[^`]|``)*`
  | \w+ | .
    """,
    re.VERBOSE | re.DOTALL,
)
_BLOCK_PART: Final = re.compile(r"/\*|\*/")

_QUERIES: Final = frozenset(("SELECT", "VALUES", "WITH"))
_CLAUSES: Final = _QUERIES | frozenset(
    ("FROM", "WHERE", "HAVING", "LIMIT", "OFFSET", "UNION", "INTERSECT", "EXCEPT", "WINDOW")
)
_CLAUSES_BY: Final = frozenset(("GROUP", "ORDER", "SORT", "DISTRIBUTE", "CLUSTER"))
_JOINS: Final = frozenset(("JOIN", "INNER", "CROSS", "LEFT", "RIGHT", "FULL", "NATURAL", "SEMI", "ANTI", "OUTER"))
_LONGEST_JOIN: Final = 4
_CONDITIONS: Final = _JOINS | frozenset(("WHERE", "HAVING"))
_LOGIC: Final = frozenset(("AND", "OR"))


def tokens(text: str) -> Iterator[str]:
    """Yield the tokens of a text in Spark SQL, comments included, without the white space between them."""
    return (token for token, _ in _scanned(text))


def formatted(text: str) -> str:
    """Return a statement with a clause a line; short statements and brackets stay in one line.

    >>> print(formatted("SELECT a FROM (SELECT a, b FROM t WHERE b > 5) ORDER BY a"))
    SELECT a
    FROM (SELECT a, b FROM t WHERE b > 5)
    ORDER BY a
    """
    scanned = list(_scanned(text))
    words, spaces = [word for word, _ in scanned], [space for _, space in scanned]
    parts = (part for pair in zip(_breaks(words, spaces), words, strict=True) for part in pair)
    return "".join(parts)


def _scanned(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each token, and whether white space precedes it."""
    space, position = False, 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        assert found is not None  # any character is a token
        start, position = position, found.end()
        if found.lastgroup == "space":
            space = True
            continue
        if found.lastgroup == "block":
            position = _end_of_comment(text, position)
        yield text[start:position], space
        space = False


def _end_of_comment(text: str, position: int) -> int:
    """Return the end of the comment that is open at a position; comments nest."""
    depth = 1
    while depth:
        found = _BLOCK_PART.search(text, position)
        if found is None:
            return len(text)
        depth += 1 if found.group() == "/*" else -1
        position = found.end()
    return position


# structure ------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Span:
    """A pair of brackets, a clause, or the statement: the positions of its tokens, and what stands directly in it."""

    start: int
    end: int = -1
    query: bool = False
    """Whether clauses begin in it."""
    queries: bool = False
    """Whether a query in brackets is somewhere in it."""
    commas: bool = False
    logic: bool = False


def _spans(words: Sequence[str], spaces: Sequence[bool]) -> dict[int, _Span]:
    """Return brackets and clauses by the position at which they begin; the statement is at -1."""
    begins_query = _begins_query(words, spaces)
    statement = _Span(-1, query=True)
    spans, open_spans = {-1: statement}, [(statement, _Span(-1))]  # brackets, and the clause that is open in them
    for position, word in enumerate(words):
        around, clause = open_spans[-1]
        if word == "(":
            spans[position] = _Span(position, query=begins_query[position])
            open_spans.append((spans[position], _Span(-1)))
        elif word == ")" and len(open_spans) > 1:
            open_spans.pop()
            around.end, clause.end = position + 1, position
            outside = open_spans[-1]
            for span in outside:
                span.queries |= around.query or around.queries
        elif around.query and _begins_clause(words, position):
            clause.end = position
            spans[position] = _Span(position)
            open_spans[-1] = around, spans[position]
        elif word == ",":
            around.commas = True
        elif word in _LOGIC:
            around.logic = True
    for around, clause in open_spans:
        around.end = clause.end = len(words)
    return spans


def _begins_query(words: Sequence[str], spaces: Sequence[bool]) -> list[bool]:
    """Return for each token whether it is a bracket in which a query begins, perhaps in further brackets.

    A call whose first argument is a query in brackets has only the brackets of the call around it.
    """
    found = [False] * len(words)
    for position in range(len(words) - 2, -1, -1):
        if words[position] == "(":
            called = not spaces[position] and position > 0 and words[position - 1].isidentifier()
            found[position] = words[position + 1] in _QUERIES or (found[position + 1] and not called)
    return found


def _begins_clause(words: Sequence[str], position: int) -> bool:
    word, before = words[position], words[position - 1] if position else ""
    if word in _CLAUSES:
        return not (word == "FROM" and before == "DISTINCT")  # IS DISTINCT FROM
    if word in _CLAUSES_BY:
        return words[position + 1 : position + 2] == ["BY"]
    if word in _JOINS and before not in _JOINS:
        following = words[position : position + _LONGEST_JOIN]
        return "JOIN" in following and all(each in _JOINS for each in following[: following.index("JOIN")])
    return False


# breaks ---------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Frame:
    """Brackets that are open while lines are broken, or the statement."""

    indent: int
    """The indentation of the lines in it."""
    outside: int
    """The indentation of the line that it begins in."""
    broken: bool
    """Whether its content stands on lines of its own."""
    query: bool = False
    commas: bool = False
    logic: bool = False
    clause: str = ""
    spread: bool = False
    """Whether the clause takes several lines."""
    heading: bool = False
    """Whether no column of the SELECT was seen yet."""
    between: int = 0
    cases: int = 0


def _breaks(words: Sequence[str], spaces: Sequence[bool]) -> Iterator[str]:
    """Yield the white space before each token."""
    spans = _spans(words, spaces)
    lengths = [0, *accumulate(len(word) + space for word, space in zip(words, spaces, strict=True))]

    def length(span: _Span) -> int:
        return lengths[span.end] - lengths[max(span.start, 0)]

    whole = spans[-1]
    frames = [_Frame(0, 0, whole.queries or length(whole) > _SHORT_QUERY, query=True)]
    indent, before = 0, ""
    for position, (word, space) in enumerate(zip(words, spaces, strict=True)):
        frame = frames[-1]
        target = _line(frame, word, before, spans.get(position), length) if frame.broken else None
        if word == ")" and len(frames) > 1:
            frames.pop()
            target = frame.outside if frame.broken else None
        if before.startswith("--") and target is None:
            target = indent
        if target is not None and position:
            indent = target
            yield f"\n{_INDENT * min(indent, _DEEPEST)}"
        else:
            yield " " if space and position else ""
        if word == "(":
            frames.append(_frame(spans[position], indent, length))
        before = word


def _frame(span: _Span, indent: int, length: Callable[[_Span], int]) -> _Frame:
    """Return the frame of brackets that begin in a line of this indentation."""
    long = length(span) > (_SHORT_QUERY if span.query else _WIDTH)
    broken = (long or span.queries) and (span.query or span.commas or span.logic)
    return _Frame(
        indent + broken, indent, broken, query=span.query, commas=span.commas, logic=span.logic and not span.commas
    )


def _line(frame: _Frame, word: str, before: str, clause: _Span | None, length: Callable[[_Span], int]) -> int | None:
    """Return the indentation of the line that a token begins in broken brackets; None if it begins none."""
    if word == "BETWEEN":
        frame.between += 1
    elif word in ("CASE", "END"):
        frame.cases = max(frame.cases + (1 if word == "CASE" else -1), 0)
    logic = word in _LOGIC and not frame.cases
    if logic and word == "AND" and frame.between:
        frame.between -= 1
        logic = False
    if not frame.query:
        begins = before == "(" or (before == "," and frame.commas) or (logic and frame.logic)
        return frame.indent if begins else None
    if clause is not None and word != "(":
        frame.clause, frame.between, frame.cases = word, 0, 0
        frame.spread = clause.queries or length(clause) > _WIDTH
        frame.heading = word == "SELECT"
        return frame.indent
    if before == "(" and not frame.clause:
        return frame.indent  # a query in further brackets
    if frame.heading and frame.spread and word not in ("DISTINCT", "ALL") and not word.startswith("/*"):
        frame.heading = False
        return frame.indent + 1
    if before == "," and frame.spread:
        return frame.indent + (frame.clause != "WITH")
    return frame.indent + 1 if logic and frame.spread and frame.clause in _CONDITIONS else None
