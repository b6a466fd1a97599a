"""Plans whose limits cut no ties, to tell a wrong result from one of several right ones."""

from __future__ import annotations

from dataclasses import replace

from pyspark_substrait.documents import Plan
from pyspark_substrait.engines.constructors import field
from pyspark_substrait.model.expressions import Expression, SortDirection, SortField
from pyspark_substrait.model.plan import PlanRel, RelRoot
from pyspark_substrait.model.relations import Fetch, Filter, Project, Relation, Sort, TopN
from pyspark_substrait.model.walk import subquery_relation, with_children, with_expressions, with_inputs, with_query

__all__ = ["has_limit", "with_total_orders", "without_limit"]


def with_total_orders(plan: Plan) -> Plan:
    """Return a plan in which records are sorted by all columns, after the keys they had, before some are kept."""
    return replace(plan, relations=tuple(map(_total_tree, plan.relations)))


def without_limit(plan: Plan) -> Plan:
    """Return a plan without the last limit."""
    return replace(plan, relations=tuple(map(_unlimited_tree, plan.relations)))


def has_limit(plan: Plan) -> bool:
    """Whether a plan keeps some of its records last."""
    return without_limit(plan) != plan


def _total_tree(tree: PlanRel) -> PlanRel:
    return replace(tree, input=_total(tree.input)) if isinstance(tree, RelRoot) else tree


def _total(node: Relation) -> Relation:
    node = with_expressions(with_inputs(node, _total), _total_queries)
    match node:
        case TopN(sorts=sorts):
            return replace(node, sorts=(*sorts, *_all_columns(node.input)))
        case Fetch():
            return replace(node, input=_sorted(node.input) or Sort(input=node.input, sorts=_all_columns(node.input)))
        case _:
            return node


def _sorted(node: Relation) -> Relation | None:
    """Return a relation that is in order, in a total order; None if it is in none."""
    match node:
        case Sort(sorts=sorts):
            return replace(node, sorts=(*sorts, *_all_columns(node.input)))
        case Project() | Filter():
            below = _sorted(node.input)
            return None if below is None else replace(node, input=below)
        case _:
            return None


def _total_queries(expression: Expression) -> Expression:
    expression = with_children(expression, _total_queries)
    query = subquery_relation(expression)
    return expression if query is None else with_query(expression, _total(query))


def _all_columns(node: Relation) -> tuple[SortField, ...]:
    return tuple(
        SortField(expr=field(node, position), sort_kind=SortDirection.ASC_NULLS_FIRST)
        for position in range(len(node.schema.types))
    )


def _unlimited_tree(tree: PlanRel) -> PlanRel:
    return replace(tree, input=_unlimited(tree.input)) if isinstance(tree, RelRoot) else tree


def _unlimited(node: Relation) -> Relation:
    match node:
        case Fetch(offset_expr=None) if node.common.emit is None:
            return node.input
        case TopN(offset=None):
            return Sort(common=node.common, input=node.input, sorts=node.sorts)
        case Project() | Sort():
            return replace(node, input=_unlimited(node.input))
        case _:
            return node
