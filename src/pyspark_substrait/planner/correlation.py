"""Subqueries that refer to the query around them, for which DataFusion writes no plan.

Such a subquery is planned apart. In the query around it stands a carrier in its place, whose arguments are the columns
that it refers to; in the subquery, a carrier stands for each of these. DataFusion resolves all names: a name that it
doesn't find in the subquery alone is one of the query around it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.model.expressions import Expression, FieldReference, OuterReference, RootReference
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.planner import carriers
from pyspark_substrait.planner.datafusion import Planned, Planner, Rejected
from pyspark_substrait.planner.output_names import with_aliases
from pyspark_substrait.planner.rendering import rendered
from pyspark_substrait.planner.tokens import Item, Kind, Piece, Token
from pyspark_substrait.proto.read import subquery

__all__ = ["Queries", "planned"]

_UNKNOWN: Final = re.compile(r"No field named (.+?)\.(?:\s|$)")
_OUTER: Final = "OuterReferenceColumn"
_SAME_NAMES: Final = "require unique expression names"
_CLAUSES: Final = frozenset(
    {"SELECT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "ON", "JOIN", "LIMIT", "UNION", "EXCEPT", "INTERSECT"}
    | {"BY", "WITH"}
)
_OF_RELATIONS: Final = frozenset({"FROM", "JOIN", "UNION", "EXCEPT", "INTERSECT", "ALL", "LATERAL", "WITH", "AS"})


@dataclass(frozen=True)
class _Query:
    """A subquery: its plan, and the numbers of the columns of the query around it that it refers to."""

    plan: Planned
    columns: tuple[int, ...]


class Queries:
    """The correlated subqueries of a text."""

    def __init__(self) -> None:
        self._queries: list[_Query] = []
        self._columns = 0
        #: the column that a number stands for, and how many queries are around the place where it is one of the record
        self._bound: dict[int, tuple[FieldReference, int]] = {}

    def add(self, plan: Planned, columns: Sequence[int]) -> int:
        """Add a subquery, and return its number."""
        self._queries.append(_Query(plan, tuple(columns)))
        return len(self._queries) - 1

    def column(self) -> int:
        """Return a new number for a column of a query around another one."""
        self._columns += 1
        return self._columns

    def plans(self) -> list[Planned]:
        """Return the plans of the subqueries."""
        return [query.plan for query in self._queries]

    # while the plan is read

    def relation(self, number: int, arguments: Sequence[Expression], scope: Any) -> Relation:
        """Return the relation of a subquery, given the columns that it refers to as they are around it."""
        query = self._queries[number]
        for column, argument in zip(query.columns, arguments, strict=True):
            if not isinstance(argument, FieldReference):
                raise UnsupportedPlanError(
                    "a subquery refers to something computed around it", hint="Compute it in a query of its own"
                )
            self._bound[column] = argument, len(scope.outer)
        return subquery(query.plan.message, scope, None)

    def outer(self, number: int, scope: Any) -> Expression:
        """Return the reference to a column of a query around."""
        argument, depth = self._bound[number]
        steps = len(scope.outer) - depth
        match argument.root:
            case RootReference():
                return replace(argument, root=OuterReference(steps_out=steps))
            case OuterReference(steps_out=int() as further):
                return replace(argument, root=OuterReference(steps_out=steps + further))
            case _:
                raise UnsupportedPlanError("a subquery refers to a part of a computed value around it")


def planned(items: Sequence[Item], planner: Planner, queries: Queries) -> Planned:
    """Return DataFusion's plan of a query, whose correlated subqueries are in ``queries``.

    Raises:
        InvalidPlanError: DataFusion rejects the query.
        UnsupportedPlanError: a subquery has a form that isn't planned.
    """
    current = list(items)
    try:
        try:
            return planner.plan(rendered(current))
        except Rejected as error:
            if _SAME_NAMES not in error.text:
                raise
        current = with_aliases(current)
        return planner.plan(rendered(current))
    except Rejected as error:
        if _OUTER not in error.text:
            raise error.as_invalid() from None
    try:
        return planner.plan(rendered(_Correlated(planner, queries).apart(current)))
    except Rejected as error:
        raise error.as_invalid() from None


class _Correlated:
    """Takes the correlated subqueries out of a text."""

    def __init__(self, planner: Planner, queries: Queries) -> None:
        self._planner = planner
        self._queries = queries
        self._tables: list[Item] = []

    def apart(self, items: list[Item]) -> list[Item]:
        """Return a query with carriers in place of its correlated subqueries."""
        self._tables = _common_tables(items)
        while True:
            made = self._one_apart(items)
            if made is None:
                return items
            items = made

    def _one_apart(self, items: list[Item]) -> list[Item] | None:
        """Replace the first innermost subquery that DataFusion doesn't plan alone; None if there is none."""
        for opening, end in _subqueries(items):
            before = _solid(items, opening, -1)
            if before is None or _is_relation(items, opening):
                continue
            inside = items[opening + 1 : end]
            found = self._alone(inside)
            if found is None:
                continue
            plan, columns, witness = found
            number = self._queries.add(plan, [column for column, _ in columns])
            return self._replaced(items, opening, end, number, [text for _, text in columns], witness)
        return None

    def _alone(self, inside: list[Item]) -> tuple[Planned, list[tuple[int, list[Item]]], str] | None:
        """Plan a subquery by itself; None if it isn't correlated."""
        columns: list[tuple[int, list[Item]]] = []
        current = inside
        while True:
            try:
                plan = self._planner.plan(rendered([*self._tables, *current]))
            except Rejected as error:
                unknown = _UNKNOWN.search(error.text)
                if unknown is None and not columns and _OUTER in error.text:
                    return None  # its own subqueries are correlated, and are planned first
                if unknown is None:
                    raise error.as_invalid() from None
                made = self._with_carrier(current, unknown[1], columns)
                if made is None:
                    raise error.as_invalid() from None
                current = made
                continue
            return (plan, columns, plan.witness) if columns else None

    def _with_carrier(self, items: list[Item], name: str, columns: list[tuple[int, list[Item]]]) -> list[Item] | None:
        """Replace the uses of a name that is unknown by carriers; leave those that DataFusion does find."""
        places = _uses(items, _parts(name))
        if not places:
            return None
        number = self._queries.column()
        columns.append((number, [items[at] for at in range(*places[0])]))
        carrier = carriers.carrier(carriers.OUTER, str(number))
        replaced = set(range(len(places)))

        def with_these(chosen: set[int]) -> list[Item]:
            made: list[Item] = []
            last = 0
            for index, (start, end) in enumerate(places):
                if index in chosen:
                    made += [*items[last:start], Piece(carrier, items[start].start)]
                    last = end
            return [*made, *items[last:]]

        if len(places) > 1:
            for index in range(len(places)):
                if not self._is_unknown(with_these(replaced - {index}), name):
                    replaced -= {index}
        return with_these(replaced)

    def _is_unknown(self, items: list[Item], name: str) -> bool:
        try:
            self._planner.plan(rendered([*self._tables, *items]))
        except Rejected as error:
            found = _UNKNOWN.search(error.text)
            return found is not None and found[1] == name
        return False

    def _replaced(
        self, items: list[Item], opening: int, end: int, number: int, columns: list[list[Item]], witness: str
    ) -> list[Item]:
        start = items[opening].start
        arguments = [rendered(column) for column in columns]

        def piece(kind: str, type: str, before: str = "") -> Piece:
            return Piece(before + carriers.carrier(kind, str(number), type, arguments), start)

        first = _solid(items, opening, -1)
        assert first is not None
        word = _word(items[first])
        if word == "EXISTS":
            return [*items[:first], piece(carriers.QUERY, "CAST(NULL AS BOOLEAN)"), *items[end + 1 :]]
        if word == "IN":
            negation = _solid(items, first, -1)
            sign = "= "
            if negation is not None and _word(items[negation]) == "NOT":
                first, sign = negation, "<> "
            return [*items[:first], piece(carriers.MEMBER, witness, sign), *items[end + 1 :]]
        if word in ("ANY", "ALL", "SOME"):
            raise UnsupportedPlanError(f"Spark has no comparison with {word} of a subquery", hint="Use IN or EXISTS")
        return [*items[:opening], piece(carriers.SCALAR, witness), *items[end + 1 :]]


def _word(item: Item) -> str:
    return item.word if isinstance(item, Token) else ""


def _is(item: Item, text: str) -> bool:
    return isinstance(item, Token) and item.kind is Kind.SYMBOL and item.text == text


def _solid(items: Sequence[Item], position: int, step: int) -> int | None:
    """Return the next position, in a direction, of an item that isn't a space."""
    at = position + step
    while 0 <= at < len(items):
        item = items[at]
        if isinstance(item, Piece) or item.kind is not Kind.SPACE:
            return at
        at += step
    return None


def _common_tables(items: Sequence[Item]) -> list[Item]:
    """Return the WITH clause that a query begins with; nothing without one."""
    first = _solid(items, -1, 1)
    if first is None or _word(items[first]) != "WITH":
        return []
    depth = 0
    for at in range(first, len(items)):
        depth += 1 if _is(items[at], "(") else -1 if _is(items[at], ")") else 0
        if depth == 0 and _word(items[at]) == "SELECT":
            return [*items[first:at]]
    return []


def _subqueries(items: Sequence[Item]) -> list[tuple[int, int]]:
    """Return the brackets around queries, the inner ones first."""
    found: list[tuple[int, int]] = []
    openings: list[int] = []
    for at, item in enumerate(items):
        if _is(item, "("):
            openings.append(at)
        elif _is(item, ")"):
            if not openings:
                raise InvalidPlanError("a bracket is closed that is not open")
            opening = openings.pop()
            first = _solid(items, opening, 1)
            if first is not None and _word(items[first]) in ("SELECT", "WITH"):
                found.append((opening, at))
    return found


def _is_relation(items: Sequence[Item], opening: int) -> bool:
    """Whether a query in brackets is a relation: in FROM, in WITH, or in a set operation."""
    before = _solid(items, opening, -1)
    if before is None or _word(items[before]) in _OF_RELATIONS:
        return True
    if not _is(items[before], ","):
        return False
    depth = 0
    for at in range(before, -1, -1):
        item = items[at]
        if _is(item, ")"):
            depth += 1
        elif _is(item, "("):
            if depth == 0:
                return False
            depth -= 1
        elif depth == 0 and _word(item) in _CLAUSES:
            return _word(item) in ("FROM", "JOIN")
    return False


def _parts(name: str) -> list[str]:
    """Return the parts of a name in a message of DataFusion."""
    return [
        part[1:-1].replace('""', '"') if part[0] == '"' else part for part in re.findall(r'"(?:[^"]|"")+"|[^.]+', name)
    ]


def _uses(items: Sequence[Item], parts: Sequence[str]) -> list[tuple[int, int]]:
    """Return where a name stands: the positions of its first token and behind its last one."""
    found = []
    for at, item in enumerate(items):
        if not isinstance(item, Token) or item.kind not in (Kind.WORD, Kind.QUOTED) or item.name.lower() != parts[0]:
            continue
        before = _solid(items, at, -1)
        if before is not None and _is(items[before], "."):
            continue
        end = _end(items, at, parts)
        if end is not None:
            found.append((at, end))
    return found


def _end(items: Sequence[Item], at: int, parts: Sequence[str]) -> int | None:
    for part in parts[1:]:
        point = _solid(items, at, 1)
        name = None if point is None or not _is(items[point], ".") else _solid(items, point, 1)
        if name is None:
            return None
        item = items[name]
        if not isinstance(item, Token) or item.name.lower() != part:
            return None
        at = name
    behind = _solid(items, at, 1)
    if behind is not None and (_is(items[behind], ".") or _is(items[behind], "(")):
        return None
    return at + 1
