"""Joins as Spark SQL.

Join types that Spark has become Spark joins. A single join numbers the records of its outer side and counts their
matches; a mark join uses EXISTS to test for a match and, if the condition can be null, for an unknown one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from typing_extensions import assert_never

from pyspark_substrait.errors import at
from pyspark_substrait.model.expressions import Expression, FieldReference, RootReference, ScalarFunction, StructField
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Cross, HashJoin, Join, JoinType, LateralJoin, MergeJoin, NestedLoopJoin
from pyspark_substrait.model.types import Boolean
from pyspark_substrait.sql.compiler import expressions, relations
from pyspark_substrait.sql.compiler.lifted_columns import Below
from pyspark_substrait.sql.compiler.query import Item, Query, plain
from pyspark_substrait.sql.compiler.scope import Compilation, Record, Scope
from pyspark_substrait.sql.compiler.uniqueness import unique_columns
from pyspark_substrait.sql.conjuncts import COMPARISON, conjuncts
from pyspark_substrait.sql.decorrelation.unions import exposes_union
from pyspark_substrait.sql.fragment import Atom, Name

__all__ = ["Part", "cross", "inputs", "join", "lateral", "matched"]

#: One of the conditions of a match: its path in the join, and the condition itself.
Part: TypeAlias = tuple[tuple[str | int, ...], Expression]

_OUTER_JOINS = {
    JoinType.OUTER: "FULL OUTER JOIN",
    JoinType.LEFT: "LEFT OUTER JOIN",
    JoinType.RIGHT: "RIGHT OUTER JOIN",
}
_KEEP_BOTH = ("INNER JOIN", "CROSS JOIN")
_KEEP_LEFT = (*_KEEP_BOTH, "LEFT OUTER JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN")


def cross(node: Cross, outer: tuple[Record, ...], compilation: Compilation) -> Query:
    """The query of a cross product."""
    left, right = inputs(node, outer, compilation)
    return _joined(left, "CROSS JOIN", right, None, (*left.passed, *right.passed))


def join(node: Join, outer: tuple[Record, ...], compilation: Compilation) -> Query:
    """The query of a join, post-join filter included."""
    left, right = inputs(node, outer, compilation)
    return matched(node, [(("expression",), node.expression)], left, right, outer, compilation)


def lateral(node: LateralJoin, outer: tuple[Record, ...], compilation: Compilation) -> Query:
    """Return the query of a lateral join in the original plan, whose compilation reports faults with their paths.

    Decorrelation rewrites it before it runs: here, references to the left record have no meaning.
    """
    with at("left"):
        left = relations.relation(node.left, outer, compilation)
    beside = Record(left.columns, node.common.rel_anchor, lateral=True)
    with at("right"):
        right = relations.relation(node.right, (*outer, beside), compilation)
    condition = Literal(type=Boolean(), value=True) if node.expression is None else node.expression
    joined = Join(
        common=node.common,
        left=node.left,
        right=node.right,
        type=node.type,
        expression=condition,
        post_join_filter=node.post_join_filter,
    )
    return matched(joined, [(("expression",), condition)], left, right, outer, compilation)


def inputs(
    node: Join | Cross | HashJoin | MergeJoin | NestedLoopJoin, outer: tuple[Record, ...], compilation: Compilation
) -> tuple[Query, Query]:
    """The queries of both inputs."""
    with at("left"):
        left = relations.relation(node.left, outer, compilation)
    with at("right"):
        right = relations.relation(node.right, outer, compilation)
    return left, right


def matched(
    node: Join, parts: Sequence[Part], left: Query, right: Query, outer: tuple[Record, ...], compilation: Compilation
) -> Query:
    """The query of a join, post-join filter included.

    Args:
        node: the join; its ``expression`` is equivalent to all parts together.
        parts: the conditions of a match between two records.
        left, right: the inputs, with the hints for Spark.
        outer: the records of the enclosing queries, the nearest last.
        compilation: the statement being compiled.
    """
    scope = Scope(Record(left.columns + right.columns, node.common.rel_anchor), outer)
    query = _by_type(node, parts, left, right, scope, compilation)
    if node.post_join_filter is None:
        return query
    query = query.flat()
    below = Below()
    with at("post_join_filter"):
        scope = Scope(Record(query.columns, node.common.rel_anchor), outer, below=below)
        conditions = expressions.conditions(node.post_join_filter, scope, compilation)
    return below.filtered(query, conditions, compilation)


def _by_type(
    node: Join, parts: Sequence[Part], left: Query, right: Query, scope: Scope, compilation: Compilation
) -> Query:
    match node.type:
        case JoinType.INNER:
            condition = _conditions(parts, scope, compilation)
            return _joined(left, "INNER JOIN", right, condition, (*left.passed, *right.passed))
        case JoinType.OUTER | JoinType.LEFT | JoinType.RIGHT:
            condition = _condition(parts, scope, compilation)
            return _joined(left, _OUTER_JOINS[node.type], right, condition, (*left.passed, *right.passed))
        case JoinType.LEFT_SEMI:
            return _semi(parts, left, right, unique_columns(node.right), scope, compilation)
        case JoinType.RIGHT_SEMI:
            return _semi(parts, right, left, unique_columns(node.left), scope, compilation)
        case JoinType.LEFT_ANTI:
            return _joined(left, "LEFT ANTI JOIN", right, _condition(parts, scope, compilation), left.passed)
        case JoinType.RIGHT_ANTI:
            return _joined(right, "LEFT ANTI JOIN", left, _condition(parts, scope, compilation), right.passed)
        case JoinType.LEFT_SINGLE:
            query = _single(parts, left, right, scope, compilation)
            return replace(query, items=plain(left.columns + right.columns))
        case JoinType.RIGHT_SINGLE:
            query = _single(parts, right, left, scope, compilation)
            return replace(query, items=plain(left.columns + right.columns))
        case JoinType.LEFT_MARK:
            kept = left.hinted("").flat()
            kept = kept.fenced() if exposes_union(node.left) else kept
            return _mark(parts, kept, right, scope, compilation)
        case JoinType.RIGHT_MARK:
            kept = right.hinted("").flat()
            kept = kept.fenced() if exposes_union(node.right) else kept
            return _mark(parts, kept, left, scope, compilation)
        case _:
            assert_never(node.type)


def _condition(parts: Sequence[Part], scope: Scope, compilation: Compilation) -> str:
    """Return the condition that all parts are true, for any join."""
    texts = []
    for path, part in parts:
        with at(*path):
            texts.append(expressions.expression(part, scope, compilation))
    return " AND ".join(texts)


def _conditions(parts: Sequence[Part], scope: Scope, compilation: Compilation) -> str:
    """Return the condition that all parts are true, for a join that Spark may run as a filter."""
    texts = []
    for path, part in parts:
        with at(*path):
            texts += expressions.conditions(part, scope, compilation)
    return " AND ".join(texts)


def _joined(left: Query, kind: str, right: Query, condition: str | None, items: tuple[Item, ...]) -> Query:
    on = "" if condition is None else f" ON {condition}"
    # conditions of a side that neither loses records in the join nor gets nulls can be applied after the join
    conditions: tuple[str, ...] = ()
    if kind in _KEEP_LEFT:
        left, conditions = left.without_conditions()
    if kind in _KEEP_BOTH:
        right, more = right.without_conditions()
        conditions += more
    return Query(
        source=f"{left.as_source()} {kind} {right.as_right_source()}{on}",
        items=items,
        where=conditions,
        depth=max(left.depth + (not left.is_source), right.depth + (not right.is_source)),
        joins=True,
    )


def _semi(
    parts: Sequence[Part],
    kept: Query,
    other: Query,
    unique: frozenset[int] | None,
    scope: Scope,
    compilation: Compilation,
) -> Query:
    """Return the records of ``kept`` with a match in ``other``.

    A join on equal columns is written as IN: Spark then also infers filters from it, which it doesn't do for a semi
    join. If ``unique`` columns of the other side are among them, and the condition has more parts, no record has two
    matches: it becomes an inner join, as which Spark runs a comparison with a correlated aggregate. A semi join would
    be pushed down to a single table, which is larger than the result of the other joins.
    """
    equal = _equal_columns(parts, kept.columns, other.columns, scope)
    found = {other.columns.index(value) for _, value in equal.pairs}
    if unique is not None and unique <= found and (found - unique or not equal.alone):
        return _joined(kept, "INNER JOIN", other, _conditions(parts, scope, compilation), kept.passed)
    if equal.pairs and equal.alone:
        pairs = equal.pairs
        query = kept.hinted("").flat()
        keys = [key for key, _ in pairs]
        row = keys[0] if len(keys) == 1 else f"({', '.join(keys)})"
        items = tuple(Item(value, Name(value)) for _, value in pairs)
        matches = other.flat().text(items)
        return query.filtered([f"({row} IN ({matches}))"])
    return _joined(kept, "LEFT SEMI JOIN", other, _conditions(parts, scope, compilation), kept.passed)


class _Equal(NamedTuple):
    """The pairs of columns of both sides that a condition compares for equality, and whether it has no other parts."""

    pairs: list[tuple[Atom, Atom]]
    alone: bool


def _equal_columns(parts: Sequence[Part], kept: tuple[str, ...], other: tuple[str, ...], scope: Scope) -> _Equal:
    pairs: list[tuple[Atom, Atom]] = []
    alone = True
    for conjunct in (conjunct for _, part in parts for conjunct in conjuncts(part)):
        match conjunct:
            case ScalarFunction(
                arguments=(
                    FieldReference(root=RootReference(), reference=(StructField(field=first),)),
                    FieldReference(root=RootReference(), reference=(StructField(field=second),)),
                )
            ) if conjunct.function.urn == COMPARISON and conjunct.function.name == "equal":
                names = (scope.record.columns[first], scope.record.columns[second])
                if names[0] in kept and names[1] in other:
                    pairs.append(names)
                elif names[1] in kept and names[0] in other:
                    pairs.append((names[1], names[0]))
                else:
                    alone = False
            case _:
                alone = False
    return _Equal(pairs, alone)


def _single(parts: Sequence[Part], kept: Query, other: Query, scope: Scope, compilation: Compilation) -> Query:
    """Return every record of ``kept`` with its only match, or nulls; more than one match is an error at run time."""
    number, matches = compilation.column(), compilation.column()
    text = _condition(parts, scope, compilation)
    numbered = kept.flat()
    numbered = replace(numbered, items=(*numbered.items, Item("monotonically_increasing_id()", number)))
    query = _joined(numbered, "LEFT OUTER JOIN", other, text, (*kept.passed, *other.passed))
    counted = replace(query, items=(*query.items, Item(f"count(1) OVER (PARTITION BY {number})", matches))).nested()
    message = "a record of a single join has more than one match"
    return counted.filtered([f"(assert_true({matches} <= 1, '{message}') IS NULL)"])


def _mark(parts: Sequence[Part], kept: Query, other: Query, scope: Scope, compilation: Compilation) -> Query:
    """Return the records of ``kept``, and after them whether there is a match in ``other``: true, null or false."""
    candidates = other.flat()
    certain: list[str] = []
    uncertain: list[str] = []
    for path, part in parts:
        with at(*path):
            for conjunct in conjuncts(part):
                text = expressions.expression(conjunct, scope, compilation)
                (uncertain if conjunct.type.nullable else certain).append(text)
    found = f"EXISTS ({candidates.filtered([*certain, *uncertain]).text()})"
    if uncertain:
        # conditions that are never null are separate, as they still tell Spark which records can match
        unknown = f"(({' AND '.join(uncertain)}) IS NULL)"
        maybe = f"EXISTS ({candidates.filtered([*certain, unknown]).text()})"
        found = f"(CASE WHEN {found} THEN true WHEN {maybe} THEN NULL ELSE false END)"
    return replace(kept, items=(*kept.items, Item(found, compilation.column())))
