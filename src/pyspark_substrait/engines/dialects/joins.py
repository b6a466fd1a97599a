"""Joins. Types that SQL lacks are conditions with EXISTS; a single join is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from sqlglot import exp

from pyspark_substrait.codes import Code
from pyspark_substrait.engines.dialects import expressions, relations, subqueries
from pyspark_substrait.engines.dialects.query import Item, Query, conjunction
from pyspark_substrait.engines.dialects.scope import Compilation, Record, Scope
from pyspark_substrait.engines.join_keys import with_known_keys
from pyspark_substrait.errors import UnsupportedPlanError, at
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import (
    Cross,
    HashJoin,
    Join,
    JoinType,
    LateralJoin,
    MergeJoin,
    NestedLoopJoin,
)
from pyspark_substrait.model.types import Boolean
from pyspark_substrait.sql.conjuncts import conjuncts
from pyspark_substrait.sql.decorrelation.physical_joins import logical

__all__ = ["join"]

Outer = tuple[Record, ...]
AnyJoin = Join | HashJoin | MergeJoin | NestedLoopJoin | LateralJoin | Cross

_SIDES: Final = {
    JoinType.INNER: "",
    JoinType.LEFT: "LEFT",
    JoinType.RIGHT: "RIGHT",
    JoinType.OUTER: "FULL",
}
_KEEPS_RIGHT: Final = frozenset({JoinType.RIGHT_SEMI, JoinType.RIGHT_ANTI, JoinType.RIGHT_MARK})
_WITH_EXISTS: Final = {
    JoinType.LEFT_SEMI,
    JoinType.LEFT_ANTI,
    JoinType.LEFT_MARK,
    *_KEEPS_RIGHT,
}


def join(node: AnyJoin, outer: Outer, compilation: Compilation) -> Query:
    """Return the query of a join, post-join filter included."""
    with at("left"):
        left = relations.relation(node.left, outer, compilation)
    inner = outer
    if isinstance(node, LateralJoin):
        if not compilation.dialect.laterals:
            raise UnsupportedPlanError(
                f"{compilation.dialect.engine} has no LATERAL", code=Code.TARGET_RELATION, hint="Use a subquery"
            )
        left = _chain(left, compilation)
        inner = (*outer, Record(left.columns, node.common.rel_anchor))
    with at("right"):
        right = relations.relation(node.right, inner, compilation)
    if isinstance(node, Cross):
        return _paired(left, right, JoinType.INNER, None, compilation, lateral=False)
    logical_join = _logical(node)
    found = _by_type(logical_join, left, right, outer, compilation, lateral=isinstance(node, LateralJoin))
    condition = logical_join.post_join_filter
    if condition is None:
        return found
    with at("post_join_filter"):
        return relations.filtered(found, condition, node.common.rel_anchor, outer, compilation)


def _logical(node: Join | HashJoin | MergeJoin | NestedLoopJoin | LateralJoin) -> Join:
    """Return a logical join with the same records."""
    match node:
        case Join():
            return node
        case LateralJoin():
            return Join(
                common=node.common,
                left=node.left,
                right=node.right,
                type=node.type,
                expression=Literal(type=Boolean(), value=True) if node.expression is None else node.expression,
                post_join_filter=node.post_join_filter,
            )
        case _:
            return logical(node)


def _by_type(node: Join, left: Query, right: Query, outer: Outer, compilation: Compilation, *, lateral: bool) -> Query:
    if node.type in _SIDES:
        if not compilation.dialect.null_keys:
            node = with_known_keys(node)
        return _paired(left, right, node.type, node, compilation, outer=outer, lateral=lateral)
    if node.type not in _WITH_EXISTS:
        raise UnsupportedPlanError(
            f"a {node.type.value} join has no form in {compilation.dialect.engine} yet",
            path="type",
            code=Code.TARGET_RELATION,
        )
    left, right = left.flat(compilation.names), right.flat(compilation.names)
    scope = Scope(Record((*left.columns, *right.columns), node.common.rel_anchor), outer)
    certain: list[exp.Expression] = []
    uncertain: list[exp.Expression] = []
    with at("expression"):
        for condition in conjuncts(node.expression):
            if isinstance(condition, Literal) and condition.value is True:
                continue
            made = expressions.expression(condition, scope, compilation)
            (uncertain if condition.type.nullable else certain).append(made)
    kept, other = (right, left) if node.type in _KEEPS_RIGHT else (left, right)
    match node.type:
        case JoinType.LEFT_MARK | JoinType.RIGHT_MARK:
            mark = subqueries.three_valued(other, certain, uncertain, compilation)
            return replace(kept, items=(*kept.items, Item(mark, "mark")))
        case JoinType.LEFT_SEMI | JoinType.RIGHT_SEMI:
            return kept.filtered([subqueries.exists(other, [*certain, *uncertain], compilation)])
        case _:
            found = subqueries.exists(other, [*certain, *uncertain], compilation)
            return kept.filtered([exp.Not(this=found)])


def _chain(query: Query, compilation: Compilation) -> Query:
    """Return a query that joins can be added to."""
    return query if query.is_flat and query.source is not None else query.nested(compilation.names)


def _is_operand(query: Query, type: JoinType, *, lateral: bool) -> bool:
    """Whether the table of a query can be joined as it is; its conditions then become those of the join or above."""
    if query.joins or query.source is None or not query.is_flat:
        return False
    if lateral:
        return isinstance(query.source, exp.Table) and not query.where
    return not query.where or type is not JoinType.OUTER


def _paired(
    left: Query,
    right: Query,
    type: JoinType,
    node: Join | None,
    compilation: Compilation,
    *,
    outer: Outer = (),
    lateral: bool,
) -> Query:
    """Return the pairs of records of two queries, and for outer joins the records without one."""
    left = _chain(left, compilation)
    if type in (JoinType.RIGHT, JoinType.OUTER) and left.where:
        left = left.nested(compilation.names)
    if not _is_operand(right, type, lateral=lateral):
        right = right.nested(compilation.names)
    conditions: list[exp.Expression] = []
    if node is not None:
        scope = Scope(Record((*left.columns, *right.columns), node.common.rel_anchor), outer)
        with at("expression"):
            conditions = [
                expressions.expression(condition, scope, compilation)
                for condition in conjuncts(node.expression)
                if not _is_true(condition)
            ]
    where = left.where
    match type:
        case JoinType.LEFT:
            conditions += right.where
        case _:
            where = (*where, *right.where)
    source = right.source
    assert source is not None
    if lateral and isinstance(source, exp.Subquery):
        source = exp.Lateral(this=exp.Subquery(this=source.this), alias=source.args["alias"])
    made = exp.Join(this=source)
    if _SIDES[type]:
        made.set("side", _SIDES[type])
    if conditions:
        made.set("on", conjunction(conditions))
    elif type is JoinType.INNER:
        made.set("kind", "CROSS")
    else:
        made.set("on", exp.true())
    return Query(
        source=left.source,
        joins=(*left.joins, made),
        items=(*left.items, *right.items),
        where=where,
        order=left.order,
    )


def _is_true(condition: Expression) -> bool:
    return isinstance(condition, Literal) and condition.value is True
