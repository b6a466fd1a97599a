"""Aggregates: groupings and measures below, and what is computed of them above."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Final

from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.relations import Aggregate, Grouping, Measure
from pyspark_substrait.model.types import Type
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions import expression, typed
from pyspark_substrait.spark.producer.expressions.aggregate_forms import aggregated
from pyspark_substrait.spark.producer.relations import relation
from pyspark_substrait.spark.producer.relations.basic import named_column
from pyspark_substrait.spark.producer.relations.columns import projected
from pyspark_substrait.spark.producer.scope import Output, Production, Scope, field_of, scope_of

__all__ = ["FORMS"]


def aggregate(node: Node, production: Production, outer: Scope | None) -> Output:
    """``Aggregate``: its grouping expressions and the aggregate functions in its results, and a projection above."""
    below = relation(node.children[0], production, outer)
    scope = scope_of(below, production, outer)
    keys = {key.signature: expression(key, scope) for key in node.trees("groupingExpressions")}
    results = node.trees("aggregateExpressions")
    measures: dict[Hashable, tuple[Measure, Type | None]] = {}
    for call in _aggregate_calls(results):
        if call.signature not in measures:
            measures[call.signature] = _measure(call, scope)
    made = Aggregate(
        input=below.relation,
        groupings=(Grouping(tuple(range(len(keys)))),) if keys else (),
        grouping_expressions=tuple(keys.values()),
        measures=tuple(measure for measure, _ in measures.values()),
    )
    replaced: dict[Hashable, Expression] = {}
    for position, signature in enumerate((*keys, *measures)):
        reference = field_of(made.schema, position)
        wanted = measures[signature][1] if signature in measures else None
        replaced[signature] = reference if wanted is None else typed(reference, wanted)
    above = Scope(production, (), made.schema, outer, replaced=replaced)
    values = [expression(result, above) for result in results]
    return Output(projected(made, values), tuple(named_column(result, below) for result in results))


def _aggregate_calls(results: tuple[Node, ...]) -> Iterator[Node]:
    for result in results:
        for item in result.walk():
            if item.name == "AggregateExpression":
                yield item


def _measure(node: Node, scope: Scope) -> tuple[Measure, Type | None]:
    """The measure that an ``AggregateExpression`` is, and its type in Spark where the extension derives another one."""
    found = aggregated(node.child("aggregateFunction"), scope, distinct=bool(node.value("isDistinct")))
    condition = node.tree("filter") or (node.child("filter") if isinstance(node.value("filter"), int) else None)
    filter = None if condition is None else expression(condition, scope)
    return Measure(measure=found.call, filter=filter), found.type


FORMS: Final = {"Aggregate": aggregate}
