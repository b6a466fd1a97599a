"""Translate pivots by ``pivotfirst``.

Spark groups by the keys and the pivot column first, collects the results of each key in a list, in the order of the
pivot's values, and splits the list into columns above.

A plan has a measure for each position of these lists: the value of the one record with the pivot's value, if there is
one. Other pivots are aggregates of conditional values, which are translated like any aggregate.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from typing import Final

from pyspark_substrait.extensions.calls import aggregate as aggregate_call
from pyspark_substrait.model.expressions import Expression, IfClause, IfThen
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Aggregate, Grouping, Measure
from pyspark_substrait.model.types import Boolean, with_nullability
from pyspark_substrait.spark.producer.catalyst import Node, plan_of
from pyspark_substrait.spark.producer.expressions import expression
from pyspark_substrait.spark.producer.relations import relation, single_input
from pyspark_substrait.spark.producer.relations.columns import projected
from pyspark_substrait.spark.producer.relations.single_input import named_column
from pyspark_substrait.spark.producer.scope import Output, Production, Scope, column, field_of, scope_of, urn_of

__all__ = ["FORMS"]


def project(node: Node, production: Production, outer: Scope | None) -> Output:
    """``Project``; over the lists of a pivot, the elements that it uses are measures."""
    below = node.children[0]
    lists = _lists(below)
    items = node.trees("projectList")
    if not lists or not all(_is_taken_apart(item, lists) for item in items):
        return single_input.project(node, production, outer)
    input = relation(below.children[0], production, outer)
    scope = scope_of(input, production, outer)
    keys = below.trees("groupingExpressions")
    measures: list[Measure] = []
    firsts: dict[int, int] = {}
    for id, call in lists.items():
        firsts[id] = len(keys) + len(measures)
        measures += _measures(call, scope)
    made = Aggregate(
        input=input.relation,
        groupings=(Grouping(tuple(range(len(keys)))),) if keys else (),
        grouping_expressions=tuple(expression(key, scope) for key in keys),
        measures=tuple(measures),
    )
    taken: dict[Hashable, Expression] = {}
    for item in items:
        for part in item.walk():
            if part.name == "GetArrayItem":
                list_, place = part.children
                position = firsts[list_.expression_id] + int(place.value("value"))
                taken[part.signature] = field_of(made.schema, position)
    above = Scope(production, tuple(map(column, keys)), made.schema, outer, replaced=taken)
    values = [expression(item, above) for item in items]
    return Output(projected(made, values), tuple(named_column(item) for item in items))


def _lists(node: Node) -> Mapping[int, Node]:
    """Return the calls of ``pivotfirst`` in an ``Aggregate`` of only these, by the ids of their columns."""
    found: dict[int, Node] = {}
    if node.name != "Aggregate":
        return found
    keys = {key.expression_id for key in node.trees("groupingExpressions") if key.name == "AttributeReference"}
    for result in node.trees("aggregateExpressions"):
        call = result.children[0] if result.name == "Alias" else None
        if call is not None and call.name == "AggregateExpression" and call.children[0].name == "PivotFirst":
            found[result.expression_id] = call.children[0]
        elif result.name != "AttributeReference" or result.expression_id not in keys:
            return {}
    return found


def _is_taken_apart(item: Node, lists: Mapping[int, Node]) -> bool:
    """Whether an expression uses only single elements of the lists."""
    if item.name == "AttributeReference":
        return item.expression_id not in lists
    if item.name == "GetArrayItem":
        list_, place = item.children
        return list_.name == "AttributeReference" and list_.expression_id in lists and place.name == "Literal"
    return all(_is_taken_apart(child, lists) for child in item.children)


def _measures(call: Node, scope: Scope) -> Iterator[Measure]:
    """Yield a measure for each value of the pivot column, which at most one record has."""
    pivot, value = expression(call.child("pivotColumn"), scope), expression(call.child("valueColumn"), scope)
    for item in _pivot_values(call, scope):
        condition = _is(pivot, item, scope)
        nothing = Literal(type=with_nullability(value.type, True), value=None)
        yield Measure(
            measure=aggregate_call(
                scope.production.registry,
                urn_of("functions_aggregate_generic"),
                "any_value",
                (IfThen(ifs=(IfClause(condition, value),), else_=nothing),),
                {"ignore_nulls": "TRUE"},
            )
        )


def _is(pivot: Expression, item: Literal, scope: Scope) -> Expression:
    """Return the comparison of the pivot column with a value; Spark's hash table never finds NaN and binary values."""
    match item.value:
        case None:
            return scope.production.call("functions_comparison", "is_null", (pivot,))
        case float(nan) if math.isnan(nan):
            return Literal(type=Boolean(), value=False)
        case bytes():
            return Literal(type=Boolean(), value=False)
        case _:
            return scope.production.call("functions_comparison", "equal", (pivot, item))


def _pivot_values(call: Node, scope: Scope) -> tuple[Literal, ...]:
    """Return the values of the pivot column, in the order of the lists."""
    catalyst = scope.production.session._jvm.org.apache.spark.sql.catalyst
    types = scope.production.session._jvm.org.apache.spark.sql.types
    values = catalyst.util.GenericArrayData(call.java.pivotColumnValues())
    array = catalyst.expressions.Literal.create(values, types.ArrayType(call.java.pivotColumn().dataType(), True))
    made = expression(plan_of(array), scope)
    assert isinstance(made, Literal) and isinstance(made.value, tuple)
    return tuple(item for item in made.value if isinstance(item, Literal))


FORMS: Final = {"Project": project}
