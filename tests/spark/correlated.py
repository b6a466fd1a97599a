"""Random correlated queries, each as a relation of the model and as SQL, from a seed.

All columns are nullable i32. Every column has a name of its own, so that in SQL an outer column is only named.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark_substrait.model.expressions import (
    Cast,
    ComparisonOp,
    Expression,
    IfClause,
    IfThen,
    InPredicate,
    PredicateOp,
    ReductionOp,
    ScalarSubquery,
    SetComparison,
    SetPredicate,
)
from pyspark_substrait.model.relations import (
    Fetch,
    JoinType,
    LateralJoin,
    RelCommon,
    Set,
    SetOp,
    Sort,
)
from pyspark_substrait.model.types import Struct
from tests.spark.plans import (
    INT_,
    aggregate,
    call,
    col,
    group,
    join,
    number,
    outer,
    project,
    sort,
    values,
    where,
)

TABLES: dict[str, list[tuple[int | None, int | None]]] = {
    "r": [(0, 1), (1, None), (None, 2), (2, 2), (2, 2), (3, 0)],
    "s": [(1, 1), (1, 2), (2, None), (None, 0), (3, 3), (1, 1)],
    "t": [(2, 0), (0, None), (1, 3)],
}

Pair = tuple[Any, str]  # an expression of the model, and the same in SQL


@dataclass(frozen=True)
class Query:
    """A relation, the same as a SELECT, and the names of its columns there."""

    node: Any
    sql: str
    names: tuple[str, ...]

    @property
    def source(self) -> str:
        return f"({self.sql}) AS q{self.names[0] if self.names else ''}"


@dataclass(frozen=True)
class Frame:
    """A record that expressions see: its schema, and the names of its columns in SQL."""

    schema: Struct
    names: tuple[str, ...]
    anchor: int | None = None


def frame(query: Query) -> Frame:
    return Frame(query.node.schema, query.names)


@dataclass
class Generator:
    """Makes queries; ``numbers`` are those of the names given out."""

    random: random.Random
    numbers: Any = field(default_factory=itertools.count)

    def name(self) -> str:
        return f"x{next(self.numbers)}"

    # relations --------------------------------------------------------------------------------------------------------

    def query(self) -> Query:
        """A query whose conditions and columns have subqueries."""
        table = self.table()
        scope = (frame(table),)
        if self.random.random() < 0.5:
            node, sql = self.condition(scope, 3)
            return self.wrapped(where(table.node, node), f"SELECT * FROM {table.source} WHERE {sql}", table.names)
        parts = [self.value(scope, 3), self.truth(scope, 3)]
        names = (self.name(), self.name())
        listed = ", ".join(f"{sql} AS {name}" for (_, sql), name in zip(parts, names, strict=True))
        shown = ", ".join(table.names)
        node = project(table.node, *(node for node, _ in parts), keep=True)
        return self.wrapped(node, f"SELECT {shown}, {listed} FROM {table.source}", (*table.names, *names))

    def truth(self, scope: tuple[Frame, ...], depth: int) -> Pair:
        """A condition as a number, so that all columns are of one type."""
        node, sql = self.condition(scope, depth)
        clauses = (IfClause(node, number(1)), IfClause(call("not", node), number(0)))
        value = IfThen(ifs=clauses, else_=number(None))
        return value, f"CASE WHEN {sql} THEN 1 WHEN NOT {sql} THEN 0 END"

    def wrapped(self, node: Any, sql: str, names: Sequence[str]) -> Query:
        return Query(node, sql, tuple(names))

    def table(self) -> Query:
        name = self.random.choice(list(TABLES))
        names = (self.name(), self.name())
        node = values([INT_, INT_], TABLES[name])
        return Query(node, f"SELECT a AS {names[0]}, b AS {names[1]} FROM {name}", names)

    def relation(self, scope: tuple[Frame, ...], depth: int) -> Query:
        """A relation inside of a subquery; ``scope`` are the records around, the nearest last."""
        if depth <= 0:
            table = self.table()
            inner = (*scope, frame(table))
            node, sql = self.comparison(inner)
            return self.wrapped(where(table.node, node), f"SELECT * FROM {table.source} WHERE {sql}", table.names)
        kinds = ["table", "filter", "filter", "project", "global", "group", "join", "set", "fetch", "values", "lateral"]
        match self.random.choice(kinds):
            case "table":
                return self.table()
            case "filter":
                input = self.relation(scope, depth - 1)
                node, sql = self.condition((*scope, frame(input)), depth - 1)
                return self.wrapped(where(input.node, node), f"SELECT * FROM {input.source} WHERE {sql}", input.names)
            case "project":
                input = self.relation(scope, depth - 1)
                inner = (*scope, frame(input))
                parts = [self.value(inner, depth - 1) for _ in range(2)]
                return self.projected(input, parts)
            case "global":
                return self.aggregated(scope, depth, [])
            case "group":
                return self.aggregated(scope, depth, [self.random.randrange(2)])
            case "join":
                return self.joined(scope, depth)
            case "set":
                return self.combined(scope, depth)
            case "fetch":
                return self.fetched(scope, depth)
            case "lateral":
                return self.lateral(scope, depth)
            case _:
                return self.listed(scope)

    def projected(self, input: Query, parts: Sequence[Pair]) -> Query:
        names = tuple(self.name() for _ in parts)
        listed = ", ".join(f"{sql} AS {name}" for (_, sql), name in zip(parts, names, strict=True))
        return Query(project(input.node, *(node for node, _ in parts)), f"SELECT {listed} FROM {input.source}", names)

    def aggregated(self, scope: tuple[Frame, ...], depth: int, keys: Sequence[int]) -> Query:
        input = self.relation(scope, depth - 1)
        inner = (*scope, frame(input))
        # with an outer column alone, SQL would make it an aggregate of the outer query
        (one, left), (other, right) = self.reference(inner, 0), self.simple(inner)
        argument, sql = call("add", one, other), f"{left} + {right}"
        kind = self.random.choice(["min", "max", "count"])
        groups = [col(input.node, key) for key in keys]
        node = group(input.node, groups, [aggregate(kind, argument), aggregate("count")])
        count = len(keys)
        cast = [_int(col(node, position)) for position in range(count + 2)]
        names = tuple(self.name() for _ in cast)
        texts = [*(input.names[key] for key in keys), f"CAST({kind}({sql}) AS INT)", "CAST(count(*) AS INT)"]
        listed = ", ".join(f"{text} AS {name}" for text, name in zip(texts, names, strict=True))
        grouped = f" GROUP BY {', '.join(input.names[key] for key in keys)}" if keys else ""
        result = Query(project(node, *cast), f"SELECT {listed} FROM {input.source}{grouped}", names)
        return self.narrowed(result)

    def narrowed(self, query: Query) -> Query:
        """The last two columns."""
        width = len(query.names)
        if width == 2:
            return query
        names = query.names[width - 2 :]
        node = project(query.node, col(query.node, width - 2), col(query.node, width - 1))
        return Query(node, f"SELECT {', '.join(names)} FROM {query.source}", names)

    def joined(self, scope: tuple[Frame, ...], depth: int) -> Query:
        left, right = self.relation(scope, depth - 1), self.relation(scope, depth - 1)
        kind, text = self.random.choice(
            [
                (JoinType.INNER, "JOIN"),
                (JoinType.LEFT, "LEFT JOIN"),
                (JoinType.RIGHT, "RIGHT JOIN"),
                (JoinType.OUTER, "FULL JOIN"),
                (JoinType.LEFT_SEMI, "EXISTS"),
                (JoinType.RIGHT_ANTI, "NOT EXISTS"),
                (JoinType.LEFT_MARK, "IN"),
            ]
        )
        both = Struct(types=left.node.schema.types + right.node.schema.types)
        pair = (*scope, Frame(both, left.names + right.names))
        node, sql = self.comparison(pair)
        more, more_sql = self.comparison(pair)
        condition = call("and", node, more)
        sql = f"({sql} AND {more_sql})"
        whole = join(left.node, right.node, condition, kind)
        if kind is JoinType.LEFT_SEMI:
            sql = f"SELECT * FROM {left.source} WHERE EXISTS (SELECT 1 FROM {right.source} WHERE {sql})"
            return Query(whole, sql, left.names)
        if kind is JoinType.RIGHT_ANTI:
            sql = f"SELECT * FROM {right.source} WHERE NOT EXISTS (SELECT 1 FROM {left.source} WHERE {sql})"
            return Query(whole, sql, right.names)
        if kind is JoinType.LEFT_MARK:
            mark = (self.name(), self.name())
            found = f"EXISTS (SELECT 1 FROM {right.source} WHERE {sql})"
            maybe = f"EXISTS (SELECT 1 FROM {right.source} WHERE ({sql}) IS NULL)"
            node = IfThen(
                ifs=(IfClause(call("not", col(whole, 2)), number(0)), IfClause(col(whole, 2), number(1))),
                else_=number(None),
            )
            sql = (
                f"SELECT {left.names[0]} AS {mark[0]}, "
                f"CASE WHEN {found} THEN 1 WHEN {maybe} THEN NULL ELSE 0 END AS {mark[1]} FROM {left.source}"
            )
            return Query(project(whole, col(whole, 0), node), sql, mark)
        sql = f"SELECT {', '.join(left.names + right.names)} FROM {left.source} {text} {right.source} ON {sql}"
        pairs = Query(whole, sql, left.names + right.names)
        return self.projected(pairs, [(col(whole, 1), pairs.names[1]), (col(whole, 2), pairs.names[2])])

    def lateral(self, scope: tuple[Frame, ...], depth: int) -> Query:
        left = self.relation(scope, depth - 1)
        anchor = 1000 + next(self.numbers)
        right = self.relation((*scope, Frame(left.node.schema, left.names, anchor)), depth - 1)
        kind, text = self.random.choice([(JoinType.INNER, "JOIN"), (JoinType.LEFT, "LEFT JOIN")])
        whole = LateralJoin(left=left.node, right=right.node, type=kind, common=RelCommon(rel_anchor=anchor))
        names = left.names + right.names
        sql = f"SELECT {', '.join(names)} FROM {left.source} {text} LATERAL {right.source} ON true"
        pairs = Query(whole, sql, names)
        return self.projected(pairs, [(col(whole, 1), names[1]), (col(whole, 2), names[2])])

    def combined(self, scope: tuple[Frame, ...], depth: int) -> Query:
        left, right = self.relation(scope, depth - 1), self.relation(scope, depth - 1)
        op, text = self.random.choice(
            [
                (SetOp.UNION_ALL, "UNION ALL"),
                (SetOp.UNION_DISTINCT, "UNION"),
                (SetOp.MINUS_PRIMARY, "EXCEPT"),
                (SetOp.MINUS_PRIMARY_ALL, "EXCEPT ALL"),
                (SetOp.INTERSECTION_MULTISET, "INTERSECT"),
            ]
        )
        names = (self.name(), self.name())
        first = f"SELECT {', '.join(f'{old} AS {new}' for old, new in zip(left.names, names, strict=True))}"
        sql = f"SELECT * FROM ({first} FROM {left.source} {text} SELECT * FROM {right.source}) AS q{names[0]}"
        return Query(Set(members=(left.node, right.node), op=op), sql, names)

    def fetched(self, scope: tuple[Frame, ...], depth: int) -> Query:
        """Ordered by all columns, so that it has one result."""
        input = self.relation(scope, depth - 1)
        offset, count = self.random.randrange(2), self.random.randrange(1, 3)
        node = Sort(input=input.node, sorts=tuple(sort(col(input.node, place)) for place in range(2)))
        order = ", ".join(f"{name} NULLS FIRST" for name in input.names)
        sql = f"SELECT * FROM {input.source} ORDER BY {order} LIMIT {count} OFFSET {offset}"
        whole = Fetch(input=node, offset_expr=number(offset), count_expr=number(count))
        return Query(whole, sql, input.names)

    def listed(self, scope: tuple[Frame, ...]) -> Query:
        """A virtual table whose cells are outer columns."""
        rows = [[self.outside(scope), self.outside(scope)] for _ in range(2)]
        names = (self.name(), self.name())
        node = values([INT_, INT_], [[node for node, _ in row] for row in rows])
        selects = [
            f"SELECT {', '.join(f'{sql} AS {name}' for (_, sql), name in zip(row, names, strict=True))}" for row in rows
        ]
        return Query(node, f"SELECT * FROM ({' UNION ALL '.join(selects)}) AS q{names[0]}", names)

    # expressions ------------------------------------------------------------------------------------------------------

    def reference(self, scope: Sequence[Frame], level: int) -> Pair:
        frame = scope[-1 - level]
        position = self.random.randrange(len(frame.names))
        if level == 0:
            return col(frame.schema, position), frame.names[position]
        if frame.anchor is not None:
            found = outer(frame.schema, position, rel_reference=frame.anchor)
        else:
            # lateral records are no step
            steps = sum(1 for other in list(scope)[len(scope) - 1 - level : -1] if other.anchor is None)
            found = outer(frame.schema, position, steps_out=steps)
        return found, frame.names[position]

    def outside(self, scope: Sequence[Frame]) -> Pair:
        blank = Frame(Struct(types=()), ())
        return self.reference((*scope, blank), self.random.randrange(1, len(scope) + 1))

    def simple(self, scope: Sequence[Frame]) -> Pair:
        """A column of any level, a number, or a sum of two."""
        chance = self.random.random()
        if chance < 0.15:
            value = self.random.randrange(4)
            return number(value), str(value)
        if chance < 0.3:
            (one, left), (other, right) = self.simple(scope), self.simple(scope)
            return call("add", one, other), f"({left} + {right})"
        level = 0 if self.random.random() < 0.45 else self.random.randrange(len(scope))
        return self.reference(scope, level)

    def comparison(self, scope: Sequence[Frame]) -> Pair:
        (one, left), (other, right) = self.simple(scope), self.simple(scope)
        name, sign = self.random.choice(
            [("equal", "="), ("equal", "="), ("lt", "<"), ("gte", ">="), ("not_equal", "<>")]
        )
        return call(name, one, other), f"({left} {sign} {right})"

    def value(self, scope: tuple[Frame, ...], depth: int) -> Pair:
        if depth <= 0 or self.random.random() < 0.4:
            return self.simple(scope)
        query = self.aggregated(scope, depth, [])
        node = project(query.node, col(query.node, 0))
        return ScalarSubquery(input=node), f"(SELECT {query.names[0]} FROM {query.source})"

    def condition(self, scope: tuple[Frame, ...], depth: int) -> Pair:
        if depth <= 0:
            return self.comparison(scope)
        match self.random.choice(["simple", "and", "or", "not", "exists", "exists", "in", "any", "scalar"]):
            case "simple":
                return self.comparison(scope)
            case "and" | "or" as name:
                (one, left), (other, right) = self.condition(scope, depth - 1), self.condition(scope, depth - 1)
                return call(name, one, other), f"({left} {name.upper()} {right})"
            case "not":
                node, sql = self.condition(scope, depth)
                return call("not", node), f"(NOT {sql})"
            case "exists":
                query = self.relation(scope, depth - 1)
                node = SetPredicate(predicate_op=PredicateOp.EXISTS, tuples=query.node)
                return node, f"EXISTS ({query.sql})"
            case "in":
                query = self.relation(scope, depth - 1)
                (needle, text) = self.simple(scope)
                node = project(query.node, col(query.node, 0))
                found = InPredicate(needles=(needle,), haystack=node)
                return found, f"({text} IN (SELECT {query.names[0]} FROM {query.source}))"
            case "any":
                query = self.relation(scope, depth - 1)
                (left, text) = self.simple(scope)
                op, reduction = self.random.choice(list(ComparisonOp)), self.random.choice(list(ReductionOp))
                node = project(query.node, col(query.node, 0))
                compared = SetComparison(reduction_op=reduction, comparison_op=op, left=left, right=node)
                sql = f"({text} {op.value} {reduction.name} (SELECT {query.names[0]} FROM {query.source}))"
                return compared, sql
            case _:
                (one, left), (other, right) = self.value(scope, depth), self.simple(scope)
                return call("lte", one, other), f"({left} <= {right})"


def _int(node: Expression) -> Expression:
    return Cast(type=INT_, input=node)


def generated(seed: int) -> Query:
    """The random query of a seed."""
    return Generator(random.Random(seed)).query()
