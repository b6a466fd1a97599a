"""The last operand of ``IS DISTINCT FROM`` and of ``BETWEEN``, which DataFusion's parser ends elsewhere than Spark's.

In Spark, it has everything up to the next AND or OR. DataFusion's parser takes the AND and what follows for a part of
the first one, which is written as ``<=>`` therefore; it ends the second one at a comparison, so that it gets brackets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pyspark_substrait.planner.tokens import Item, Kind, Piece, Token

__all__ = ["with_brackets"]

_COMPARISONS: Final = frozenset({"=", "==", "<=>", "<>", "!=", "<", ">", "<=", ">="})
#: words that an operand ends before
_ENDS: Final = frozenset(
    {"AND", "OR", "IS", "IN", "NOT", "BETWEEN", "LIKE", "ILIKE", "RLIKE", "REGEXP", "AS", "WHEN", "THEN", "ELSE", "END"}
    | {"ASC", "DESC", "NULLS", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "WINDOW", "UNION"}
    | {"EXCEPT", "INTERSECT", "MINUS", "JOIN", "LEFT", "RIGHT", "FULL", "INNER", "CROSS", "SEMI", "ANTI", "ON"}
    | {"PARTITION", "ROWS", "RANGE", "LATERAL", "FETCH"}
)


def with_brackets(items: Sequence[Item]) -> list[Item]:
    """Return a query whose predicates have their last operand in brackets."""
    solid = [at for at, item in enumerate(items) if isinstance(item, Piece) or item.kind is not Kind.SPACE]
    words = [_word(items[at]) for at in solid]
    instead: dict[int, str] = {}
    before: dict[int, int] = {}
    behind: dict[int, list[str]] = {}
    for number, word in enumerate(words):
        if word == "DISTINCT" and words[number + 1 : number + 2] == ["FROM"]:
            negated = words[number - 1] == "NOT"
            first = number - (2 if negated else 1)
            if first < 0 or words[first] != "IS":
                continue
            start, closing = number + 2, ")" if negated else ") = FALSE"
            instead |= {solid[at]: "" for at in range(first, start)} | {solid[first]: "<=>"}
        elif word == "BETWEEN":
            start, closing = _end(items, solid, number + 1) + 1, ")"
            if words[start - 1 : start] != ["AND"]:
                continue
        else:
            continue
        end = _without_alias(items, solid, start, _end(items, solid, start))
        if end <= start or (word == "BETWEEN" and not _has_comparison(items, solid, start, end)):
            continue
        before[solid[start]] = before.get(solid[start], 0) + 1
        behind.setdefault(solid[end - 1], []).insert(0, closing)
    if not instead and not before:
        return [*items]
    made: list[Item] = []
    for at, item in enumerate(items):
        made += [Piece("(", item.start)] * before.get(at, 0)
        made.append(Piece(instead[at], item.start) if at in instead else item)
        made += [Piece(closing, item.start) for closing in behind.get(at, ())]
    return made


def _has_comparison(items: Sequence[Item], solid: Sequence[int], start: int, end: int) -> bool:
    depth = 0
    for number in range(start, end):
        text = items[solid[number]].text
        depth += {"(": 1, ")": -1}.get(text, 0)
        if depth == 0 and text in _COMPARISONS:
            return True
    return False


def _without_alias(items: Sequence[Item], solid: Sequence[int], start: int, end: int) -> int:
    """Return the position behind an operand, without a name at its end that has no AS before it."""
    if end - start < 2:
        return end
    last, before = items[solid[end - 1]], items[solid[end - 2]]
    if not isinstance(last, Token) or last.kind not in (Kind.WORD, Kind.QUOTED) or last.word == "END":
        return end
    if not isinstance(before, Token):
        return end - 1
    if before.kind is Kind.SYMBOL:
        return end - 1 if before.text == ")" else end
    is_unit = end - start > 2 and "INTERVAL" in {_word(items[solid[at]]) for at in (end - 3, max(end - 4, 0))}
    return end if before.word == "DIV" or is_unit else end - 1


def _end(items: Sequence[Item], solid: Sequence[int], start: int) -> int:
    """Return the position behind an operand that begins at a position, among the items that aren't spaces."""
    depth = cases = 0
    for number in range(start, len(solid)):
        item = items[solid[number]]
        if not isinstance(item, Token):
            continue
        word = item.word
        if item.kind is Kind.SYMBOL and item.text in "()":
            depth += 1 if item.text == "(" else -1
            if depth < 0:
                return number
        elif depth:
            continue
        elif word == "CASE":
            cases += 1
        elif word == "END" and cases:
            cases -= 1
        elif not cases and (item.text == "," or (word in _ENDS and not _is_name(items, solid, number, start))):
            return number
    return len(solid)


def _is_name(items: Sequence[Item], solid: Sequence[int], number: int, start: int) -> bool:
    """Whether a word is that of a function or of a column: before a bracket, or behind a point."""
    behind = items[solid[number + 1]] if number + 1 < len(solid) else None
    if number > start and items[solid[number - 1]].text == ".":
        return True
    word = _word(items[solid[number]])
    return word in ("LEFT", "RIGHT") and behind is not None and behind.text == "("


def _word(item: Item) -> str:
    return item.word if isinstance(item, Token) else ""
