"""Translate lateral joins: the right side is evaluated for each left record, and refers to it by an anchor."""

from __future__ import annotations

from typing import Final

from pyspark_substrait.model.expressions import SortDirection, SortField
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Cross, Fetch, Filter, JoinType, LateralJoin, Relation, RelCommon, Sort
from pyspark_substrait.model.types import I64
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions import condition, expression
from pyspark_substrait.spark.producer.relations import relation
from pyspark_substrait.spark.producer.relations.generate import over_lateral
from pyspark_substrait.spark.producer.relations.joins import join_type, joined
from pyspark_substrait.spark.producer.scope import Output, Production, Scope, scope_of

__all__ = ["FORMS"]


def lateral_join(node: Node, production: Production, outer: Scope | None) -> Output:
    """``LateralJoin``; a plain join where the right side refers to no column of the left one."""
    left = relation(node.child("left"), production, outer)
    type = join_type(node)
    subquery, on = node.tree("right"), node.tree("condition")
    assert subquery is not None
    query = subquery.tree("plan")
    assert query is not None
    if on is None and type in (JoinType.INNER, JoinType.LEFT):
        generated = over_lateral(left, query, production, outer, kept=type is JoinType.LEFT)
        if generated is not None:
            return generated
    if not subquery.value("outerAttrs"):
        return joined(left, relation(query, production, outer), type, on, production, outer)
    anchor = production.anchor()
    right = relation(query, production, Scope(production, left.columns, left.relation.schema, outer, anchor=anchor))
    both = Output(Cross(left=left.relation, right=right.relation), left.columns + right.columns)
    expression = None if on is None else condition(on, scope_of(both, production, outer))
    return Output(
        LateralJoin(
            common=RelCommon(rel_anchor=anchor),
            left=left.relation,
            right=right.relation,
            type=type,
            expression=expression,
        ),
        both.columns,
    )


def as_of_join(node: Node, production: Production, outer: Scope | None) -> Output:
    """``AsOfJoin``: each left record with the nearest matching right one, computed as in Spark itself.

    Its ``toleranceAssertion`` was checked when the plan was analysed; the tolerance is part of the condition.
    """
    left = relation(node.child("left"), production, outer)
    anchor = production.anchor()
    beside = Scope(production, left.columns, left.relation.schema, outer, anchor=anchor)
    right = relation(node.child("right"), production, beside)
    scope = scope_of(right, production, beside)
    found: Relation = right.relation
    for field in ("asOfCondition", "condition"):
        matches = node.tree(field)
        if matches is not None:
            found = Filter(input=found, condition=condition(matches, scope))
    distance = node.tree("orderExpression")
    assert distance is not None
    apart = expression(distance, scope)
    if apart.type.nullable:  # a record without a distance is no match
        found = Filter(input=found, condition=production.call("functions_comparison", "is_not_null", (apart,)))
    nearest = SortField(expr=apart, sort_kind=SortDirection.ASC_NULLS_LAST)
    first = Fetch(input=Sort(input=found, sorts=(nearest,)), count_expr=Literal(type=I64(), value=1))
    joined = LateralJoin(
        common=RelCommon(rel_anchor=anchor), left=left.relation, right=first, type=join_type(node), expression=None
    )
    return Output(joined, left.columns + right.columns)


FORMS: Final = {"LateralJoin": lateral_join, "AsOfJoin": as_of_join}
