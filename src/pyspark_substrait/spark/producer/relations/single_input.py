"""Translate simple relations with one input."""

from __future__ import annotations

from typing import Final

from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Fetch, Filter, Sort
from pyspark_substrait.model.types import I64
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions import condition, expression
from pyspark_substrait.spark.producer.expressions.sorting import sort_fields
from pyspark_substrait.spark.producer.relations import relation
from pyspark_substrait.spark.producer.relations.columns import projected
from pyspark_substrait.spark.producer.scope import Column, Output, Production, Scope, scope_of

__all__ = ["FORMS"]


def project(node: Node, production: Production, outer: Scope | None) -> Output:
    """``Project``: the expressions of its list."""
    below = relation(node.children[0], production, outer)
    return computed(below, node.trees("projectList"), production, outer)


def computed(below: Output, named: tuple[Node, ...], production: Production, outer: Scope | None) -> Output:
    """Return a projection of named expressions over a relation."""
    scope = scope_of(below, production, outer)
    values, columns = [], []
    for node in named:
        value = expression(node, scope)
        values.append(value)
        columns.append(named_column(node))
    return Output(projected(below.relation, values), tuple(columns))


def named_column(node: Node) -> Column:
    """Return the output column of a named expression: an attribute or an alias; before Spark 4.1, an outer column."""
    if node.name == "OuterReference" and (outer := node.tree("e")) is not None:
        node = outer
    return Column(node.expression_id, node.value("name"), type_json(node))


def type_json(node: Node) -> object:
    """Return the type of an expression in Spark's JSON, if its node has one; else None."""
    if "dataType" in node.fields:
        return node.value("dataType")
    return None


def filter_(node: Node, production: Production, outer: Scope | None) -> Output:
    """``Filter``."""
    below = relation(node.children[0], production, outer)
    kept = node.tree("condition")
    assert kept is not None
    return Output(
        Filter(input=below.relation, condition=condition(kept, scope_of(below, production, outer))), below.columns
    )


def passed(node: Node, production: Production, outer: Scope | None) -> Output:
    """Translate nodes that don't change records (aliases, views, hints) to their input."""
    return relation(node.children[0], production, outer)


def sort(node: Node, production: Production, outer: Scope | None) -> Output:
    """``Sort``; a sort within partitions is ignored, because it doesn't determine the result."""
    below = relation(node.children[0], production, outer)
    if not node.value("global", True):
        return below
    sorts = sort_fields(node.trees("order"), scope_of(below, production, outer))
    return Output(Sort(input=below.relation, sorts=sorts), below.columns)


def limit(node: Node, production: Production, outer: Scope | None) -> Output:
    """``GlobalLimit``, with the ``LocalLimit`` and the ``Offset`` below it."""
    inner = node.children[0].children[0] if node.children[0].name == "LocalLimit" else node.children[0]
    skipped = inner.tree("offsetExpr") if inner.name == "Offset" else None
    below = relation(inner.children[0] if skipped is not None else inner, production, outer)
    count = node.tree("limitExpr")
    assert count is not None
    return Output(
        Fetch(
            input=below.relation,
            offset_expr=None if skipped is None else _count(skipped),
            count_expr=_count(count),
        ),
        below.columns,
    )


def offset(node: Node, production: Production, outer: Scope | None) -> Output:
    """``Offset`` without a limit."""
    below = relation(node.children[0], production, outer)
    skipped = node.tree("offsetExpr")
    assert skipped is not None
    return Output(Fetch(input=below.relation, offset_expr=_count(skipped)), below.columns)


def _count(node: Node) -> Literal:
    """Return a number of records, which is constant in Spark."""
    value = int(node.value("value")) if node.name == "Literal" else int(node.java.eval(None))
    return Literal(type=I64(), value=value)


FORMS: Final = {
    "Project": project,
    "Filter": filter_,
    "Sort": sort,
    "GlobalLimit": limit,
    "Offset": offset,
    "SubqueryAlias": passed,
    "ResolvedHint": passed,
    "Repartition": passed,
    "RepartitionByExpression": passed,
    "RebalancePartitions": passed,
    "LocalLimit": passed,  # of each partition; the global limit is above
    "WindowGroupLimit": passed,  # the filter that it was made for is above
    "CollectMetrics": passed,
    "PipeOperator": passed,
    "SQLFunctionNode": passed,
}
