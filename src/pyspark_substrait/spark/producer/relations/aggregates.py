"""Translate aggregates: the groupings and measures, and a projection of the results above."""

from __future__ import annotations

from typing import Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.relations import Aggregate, Grouping
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions import expression
from pyspark_substrait.spark.producer.relations import grouping_sets, relation
from pyspark_substrait.spark.producer.relations.columns import projected
from pyspark_substrait.spark.producer.relations.measures import Measures, count_of_records
from pyspark_substrait.spark.producer.relations.single_input import named_column
from pyspark_substrait.spark.producer.scope import Column, Output, Production, Scope, column, field_of, scope_of

__all__ = ["FORMS"]

#: the metadata key of a grouping expression for session windows, whose groups are merged
_SESSION: Final = "spark.sessionWindow"


def aggregate(node: Node, production: Production, outer: Scope | None) -> Output:
    """``Aggregate``: its grouping expressions and the aggregate functions in its results, and a projection above."""
    if any(map(_is_session, node.trees("groupingExpressions"))):
        raise UnsupportedPlanError(
            "session_window has no Substrait form: Spark merges the sessions when the query runs",
            hint="Number the sessions by window functions, and group by the number",
        )
    found = grouping_sets.aggregate(node, production, outer)
    if found is not None:
        return found
    below = relation(node.children[0], production, outer)
    scope = scope_of(below, production, outer)
    keys = {key.signature: (key, expression(key, scope)) for key in node.trees("groupingExpressions")}
    results = node.trees("aggregateExpressions")
    measures = Measures.of(results, scope)
    made = Aggregate(
        input=below.relation,
        groupings=(Grouping(tuple(range(len(keys)))),) if keys else (),
        grouping_expressions=tuple(value for _, value in keys.values()),
        # an aggregate without keys and measures returns one record
        measures=measures.measures if keys or measures.calls else (count_of_records(production),),
    )
    replaced = {signature: field_of(made.schema, position) for position, signature in enumerate(keys)}
    columns = tuple(_key_column(key) for key, _ in keys.values())
    above = Scope(production, columns, made.schema, outer, replaced={**replaced, **measures.replaced(made, len(keys))})
    values = [expression(result, above) for result in results]
    return Output(projected(made, values), tuple(named_column(result) for result in results))


def _key_column(key: Node) -> Column:
    """Return the column by which correlated subqueries above the aggregate refer to a grouping expression."""
    return column(key) if key.name == "AttributeReference" else Column(-1, "", None)


def _is_session(key: Node) -> bool:
    """Whether a grouping expression is a session window; the JSON doesn't have its metadata."""
    is_struct = key.name == "AttributeReference" and isinstance(key.value("dataType"), dict)
    return is_struct and _SESSION in str(key.java.metadata().json())


FORMS: Final = {"Aggregate": aggregate}
