"""The names of a query's columns: as the text writes them, where DataFusion has them in lower case or as its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pyspark_substrait.model.plan import RelRoot
from pyspark_substrait.model.types import NamedStruct
from pyspark_substrait.planner.rendering import Item, Piece
from pyspark_substrait.planner.tokens import Kind, Token

__all__ = ["output_names"]


def output_names(items: Sequence[Item], root: RelRoot, tables: Sequence[NamedStruct]) -> tuple[str, ...]:
    """Return the names of a query's columns.

    An alias and the name of a column are as in the text; with ``*``, as in the tables. Anything else without an alias
    has the text that it is computed by.
    """
    listed = _selected(items)
    written = None if listed is None else [_name(item) for item in listed]
    if written is not None and None not in written and len(written) == len(root.names):
        return tuple(name for name in written if name is not None)
    known: dict[str, str] = {}
    for schema in tables:
        for name in schema.names:
            known.setdefault(name.lower(), name)
    for item in listed or ():
        alias = _name(item)
        if alias is not None:
            known[alias.lower()] = alias
    for one in items:
        if isinstance(one, Token) and one.kind in (Kind.WORD, Kind.QUOTED):
            known.setdefault(one.name.lower(), one.name)
    if any(isinstance(one, Token) and one.word == "VALUES" for one in items):
        # Spark's names for the columns of VALUES
        known = {f"column{number}": f"col{number}" for number in range(1, len(root.names) + 1)} | known
    return tuple(known.get(name, name) for name in root.names)


def _selected(items: Sequence[Item]) -> list[list[Item]] | None:
    """Return the items of the first SELECT that is in no bracket; None if there is none."""
    solid = [item for item in items if isinstance(item, Piece) or item.kind is not Kind.SPACE]
    depth, start = 0, None
    found: list[list[Item]] = []
    for at, item in enumerate(solid):
        text = item.text
        if isinstance(item, Token) and item.kind is Kind.SYMBOL:
            depth += {"(": 1, ")": -1}.get(text, 0)
        if depth or not isinstance(item, Token):
            continue
        if item.word == "SELECT" and start is None:
            if at and isinstance(solid[at - 1], Token) and solid[at - 1].text.upper() in _SETS:
                return None  # the first query is in brackets
            start = at + 1
        elif start is not None and item.word in _ENDS and solid[at - 1].text.upper() != "DISTINCT":
            found.append([*solid[start:at]])
            return _without_distinct(found)
        elif start is not None and item.kind is Kind.SYMBOL and text == ",":
            found.append([*solid[start:at]])
            start = at + 1
    if start is None:
        return None
    found.append([*solid[start:]])
    return _without_distinct(found)


_SETS = frozenset({"UNION", "ALL", "EXCEPT", "INTERSECT", "MINUS", "DISTINCT"})
_ENDS = frozenset({"FROM", "UNION", "EXCEPT", "INTERSECT", "MINUS", "ORDER", "LIMIT", "WHERE", "GROUP", "HAVING"})


def _without_distinct(found: list[list[Item]]) -> list[list[Item]]:
    first = found[0]
    if first and isinstance(first[0], Token) and first[0].word in ("DISTINCT", "ALL"):
        found[0] = first[1:]
    return found


def _name(item: list[Item]) -> str | None:
    """Return the name of a selected item; None for several columns."""
    item = _without_brackets(item)
    if not item:
        return None
    last = item[-1]
    if last.text == "*" and (len(item) == 1 or item[-2].text == "."):
        return None
    if isinstance(last, Token) and last.kind in (Kind.WORD, Kind.QUOTED):
        before = item[-2] if len(item) > 1 else None
        if last.text.upper() == "END" and item[0].text.upper() == "CASE" and before is not None and before.text != ".":
            return "".join(_spaced(item)).strip()
        if before is None or before.text == "." or _ends_value(before):
            return last.name
    if any(isinstance(one, Token) and one.text == "*" for one in item[:1]):
        return None  # * EXCEPT (…)
    return "".join(_spaced(item)).strip()


def _without_brackets(item: list[Item]) -> list[Item]:
    """Return an item without brackets around all of it; so ``(name)`` has the name of the column."""
    while len(item) > 2 and item[0].text == "(" and item[-1].text == ")":
        depth = 0
        for one in item[:-1]:
            depth += {"(": 1, ")": -1}.get(one.text, 0)
            if depth == 0:
                return item
        item = item[1:-1]
    return item


def _ends_value(item: Item) -> bool:
    """Whether a name behind an item is an alias."""
    if not isinstance(item, Token):
        return True
    if item.kind is Kind.WORD:
        return item.word == "AS" or item.word not in _OPERATORS
    return item.kind in (Kind.QUOTED, Kind.TEXT, Kind.NUMBER, Kind.PARAMETER) or item.text == ")"


_OPERATORS = frozenset({"AND", "OR", "NOT", "IS", "LIKE", "ILIKE", "RLIKE", "BETWEEN", "IN", "DIV", "INTERVAL", "FROM"})


def _spaced(item: list[Item]) -> Iterator[str]:
    tight, named = True, False
    for one in item:
        symbol = isinstance(one, Token) and one.kind is Kind.SYMBOL
        if not tight and not (symbol and (one.text in (")", ",", ".") or (one.text == "(" and named))):
            yield " "
        tight = symbol and one.text in ("(", ".")
        named = not symbol  # a bracket behind a name is that of a call
        yield one.text
