"""The names of a query's columns: as the text writes them, where DataFusion has them in lower case or as its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.plan import RelRoot
from pyspark_substrait.model.types import List, Map, NamedStruct, Struct, Type, concrete
from pyspark_substrait.planner.intervals import interval
from pyspark_substrait.planner.tokens import Item, Kind, Piece, Token

__all__ = ["output_names", "with_aliases"]


def output_names(items: Sequence[Item], root: RelRoot, tables: Sequence[NamedStruct]) -> tuple[str, ...]:
    """Return the names of a query's columns, and of the fields of structs in them.

    An alias and the name of a column are as in the text; with ``*``, as in the tables, or as the alias in a query
    below. Anything else without an alias has the text that it is computed by.

    Raises:
        UnsupportedPlanError: a name that ``*`` stands for is written in several ways.
    """
    types = root.input.schema.types
    given = iter(root.names)
    groups = [[next(given) for _ in range(1 + _count(type))] for type in types]
    written = _written(_selected(items), len(groups))
    spellings = _Spellings(items, tables)
    made: list[str] = []
    for group, name, source in zip(groups, written, root.input.names, strict=True):
        known = source if source is not None and source.lower() in (group[0], _of_values(group[0])) else None
        made.append(name or known or spellings.of_column(group[0]))
        made += spellings.of_fields(group[1:])
    return tuple(made)


def _of_values(name: str) -> str:
    """Return Spark's name for a column of VALUES."""
    return name.replace("column", "col", 1) if re.fullmatch(r"column\d+", name) else name


def _written(listed: list[list[Item]] | None, count: int) -> list[str | None]:
    """Return the names that the items of a SELECT have; None for the columns of a ``*``."""
    names: list[str | None] = [None] if listed is None else [_name(item) for item in listed]
    if None not in names:
        return names if len(names) == count else [*[None] * count]
    first, last = names.index(None), names[::-1].index(None)
    front, back = names[:first], names[len(names) - last :]
    return [*front, *[None] * (count - len(front) - len(back)), *back]


def with_aliases(items: Sequence[Item]) -> list[Item]:
    """Return a query in which the columns that it puts out have different names, as DataFusion requires.

    All that has no alias gets one, but for a column whose name is new: ORDER BY may have that.
    """
    behind: dict[int, str] = {}
    for query in _queries(items):
        listed = _selected(query) or []
        known = {alias.lower() for item in listed if item and (alias := _alias(item))}
        has_star = any(item and _is_star(item) for item in listed)
        for number, item in enumerate(listed):
            if not item or _is_star(item) or _alias(item):
                continue
            name = _column(_without_brackets(item))
            if name is None or has_star or name.lower() in known:
                behind[id(item[-1])] = f' AS "{number}$"'
            else:
                known.add(name.lower())
    made: list[Item] = []
    for one in items:
        made += [one, Piece(behind[id(one)], one.start)] if id(one) in behind else [one]
    return made


def _queries(items: Sequence[Item]) -> list[list[Item]]:
    """Return the parts of a query between UNION and the like."""
    depth = 0
    parts: list[list[Item]] = [[]]
    for item in _solid(items):
        word = item.word if isinstance(item, Token) else ""
        if isinstance(item, Token) and item.kind is Kind.SYMBOL:
            depth += {"(": 1, ")": -1}.get(item.text, 0)
        if not depth and word in ("UNION", "EXCEPT", "INTERSECT", "MINUS"):
            parts.append([])
        elif parts[-1] or word not in ("ALL", "DISTINCT"):
            parts[-1].append(item)
    return parts


def _solid(items: Sequence[Item]) -> list[Item]:
    """Return the items without spaces and comments."""
    return [item for item in items if isinstance(item, Piece) or item.kind is not Kind.SPACE]


# the columns of * -----------------------------------------------------------------------------------------------------


class _Spellings:
    """How the names in lower case are written in a text and in the tables."""

    def __init__(self, items: Sequence[Item], tables: Sequence[NamedStruct]) -> None:
        self._aliases: dict[str, list[str]] = {}
        self._words: dict[str, list[str]] = {}
        solid = _solid(items)
        for at, item in enumerate(solid):
            if not isinstance(item, Token) or item.kind not in (Kind.WORD, Kind.QUOTED):
                continue
            before = solid[at - 1] if at else None
            is_alias = before is not None and before.text != "." and _ends_value(before)
            for found in (self._aliases, self._words) if is_alias else (self._words,):
                ways = found.setdefault(item.name.lower(), [])
                if item.name not in ways:
                    ways.append(item.name)
        self._fields: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
        for table in tables:
            names = iter(table.names)
            for type in table.struct.types:
                next(names)
                self._add_fields(type, names)

    def of_column(self, name: str) -> str:
        """Return the spelling of a column's name."""
        ways = self._aliases.get(name) or self._words.get(name) or []
        if len(ways) > 1:
            listed = " and as ".join(ways)
            raise UnsupportedPlanError(f"the name of a column of * is written as {listed}", hint="Write it in one way")
        return ways[0] if ways else name

    def of_fields(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the spelling of the names of all fields in a column, depth first."""
        ways = self._fields.get(tuple(names), {tuple(names)})
        if len(ways) > 1:
            listed = " and as ".join(", ".join(way) for way in sorted(ways))
            raise UnsupportedPlanError(f"the fields of a struct are written as {listed}", hint="Write them in one way")
        return next(iter(ways))

    def _add_fields(self, type: Type, names: Iterator[str]) -> list[str]:
        found: list[str] = []
        match concrete(type):
            case Struct(types=fields):
                for field in fields:
                    found += [next(names), *self._add_fields(field, names)]
            case List(type=element):
                found = self._add_fields(element, names)
            case Map(key=key, value=value):
                found = [*self._add_fields(key, names), *self._add_fields(value, names)]
        self._fields.setdefault(tuple(name.lower() for name in found), set()).add(tuple(found))
        return found


def _count(type: Type) -> int:
    """Return the number of the fields of structs in a type."""
    match concrete(type):
        case Struct(types=fields):
            return sum(1 + _count(field) for field in fields)
        case List(type=element):
            return _count(element)
        case Map(key=key, value=value):
            return _count(key) + _count(value)
        case _:
            return 0


# the items of SELECT --------------------------------------------------------------------------------------------------


def _selected(items: Sequence[Item]) -> list[list[Item]] | None:
    """Return the items of the first SELECT that is in no bracket; None if there is none."""
    solid = _solid(items)
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
        elif start is not None and item.word in _ENDS and solid[at - 1].text.upper() not in ("DISTINCT", "."):
            found.append([*solid[start:at]])
            return _without_distinct(found)
        elif start is not None and item.kind is Kind.SYMBOL and text == ",":
            found.append([*solid[start:at]])
            start = at + 1
    if start is None:
        return None
    found.append([*solid[start:]])
    return _without_distinct(found)


_SETS: Final = frozenset({"UNION", "ALL", "EXCEPT", "INTERSECT", "MINUS", "DISTINCT"})
_ENDS: Final = frozenset(
    {"FROM", "UNION", "EXCEPT", "INTERSECT", "MINUS", "ORDER", "LIMIT", "WHERE", "GROUP", "HAVING", "OFFSET", "WINDOW"}
)


def _without_distinct(found: list[list[Item]]) -> list[list[Item]]:
    first = found[0]
    if len(first) > 1 and isinstance(first[0], Token) and first[0].word in ("DISTINCT", "ALL"):
        found[0] = first[1:]
    return found


def _name(item: list[Item]) -> str | None:
    """Return the name of a selected item; None for several columns."""
    item = _without_brackets(item)
    if not item or _is_star(item):
        return None
    return _alias(item) or _column(_cast_value(item) or item) or "".join(_spaced(item)).strip()


def _cast_value(item: list[Item]) -> list[Item] | None:
    """Return the value of an item that is a cast. In Spark, a cast of a column has the name of the column."""
    if len(item) > 2 and item[0].text.upper() in ("CAST", "TRY_CAST"):
        inside = _without_brackets(item[1:])
        words = [one.word if isinstance(one, Token) else "" for one in inside]
        return inside[: words.index("AS")] if len(inside) < len(item) - 1 and "AS" in words else None
    texts = [one.text for one in item]
    if "::" not in texts:
        return None
    at = texts.index("::")
    is_type = all(text.isalnum() or text in ("(", ",", ")") for text in texts[at + 1 :])
    return item[:at] if is_type else None


def _alias(item: list[Item]) -> str | None:
    """Return the alias that an item ends with."""
    last = item[-1]
    if len(item) < 2 or not isinstance(last, Token) or last.kind not in (Kind.WORD, Kind.QUOTED):
        return None
    return last.name if last.word not in _NO_ALIASES and _ends_value(item[-2]) and not _is_unit(item) else None


def _column(item: list[Item]) -> str | None:
    """Return the name of an item that is a column, or a field of one."""
    last = item[-1]
    if not isinstance(last, Token) or last.kind not in (Kind.WORD, Kind.QUOTED):
        return None
    return last.name if len(item) == 1 or item[-2].text == "." else None


def _is_star(item: list[Item]) -> bool:
    """Whether an item is ``*`` or ``name.*``, with or without what is left out of it."""
    at = 0
    while at + 1 < len(item) and item[at + 1].text == ".":
        at += 2
    return at < len(item) and item[at].text == "*"


def _is_unit(item: list[Item]) -> bool:
    """Whether the last word is the unit of an INTERVAL."""
    for at, one in enumerate(item):
        if isinstance(one, Token) and one.word == "INTERVAL":
            found = interval(item, at)
            if found is not None and found.end == len(item):
                return True
    return False


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


#: words that a value may end with
_NO_ALIASES: Final = frozenset({"END", "NULL", "TRUE", "FALSE", "UNKNOWN"})
#: words that a value follows
_OPERATORS: Final = frozenset(
    {"AND", "OR", "NOT", "IS", "LIKE", "ILIKE", "RLIKE", "REGEXP", "BETWEEN", "IN", "DIV", "INTERVAL", "FROM", "OVER"}
    | {"CASE", "WHEN", "THEN", "ELSE", "DISTINCT", "ALL", "SELECT", "WHERE", "ON", "BY", "HAVING", "WITH", "JOIN"}
    | {"ESCAPE", "ANY", "SOME", "EXISTS"}
)


def _spaced(item: list[Item]) -> Iterator[str]:
    tight, named = True, False
    for one in item:
        symbol = isinstance(one, Token) and one.kind is Kind.SYMBOL
        if not tight and not (symbol and (one.text in (")", ",", ".") or (one.text == "(" and named))):
            yield " "
        tight = symbol and one.text in ("(", ".")
        named = not symbol  # a bracket behind a name is that of a call
        yield one.text
