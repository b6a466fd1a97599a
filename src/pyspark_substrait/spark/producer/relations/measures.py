"""The measures of an aggregate: the aggregate functions in its results."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.extensions.calls import aggregate as aggregate_call
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.relations import Aggregate, Measure
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions import expression
from pyspark_substrait.spark.producer.expressions.aggregate_forms import Aggregated, aggregated, filter_of
from pyspark_substrait.spark.producer.refusals import written
from pyspark_substrait.spark.producer.scope import Production, Scope, field_of, urn_of

__all__ = ["Measures", "aggregate_expressions", "count_of_records"]


@dataclass(frozen=True)
class Measures:
    """The aggregate functions in some expressions, each once.

    Args:
        calls: the functions by the signatures of their ``AggregateExpression``.
        measures: the measures in the same order.
    """

    calls: Mapping[Hashable, Aggregated]
    measures: tuple[Measure, ...]

    @classmethod
    def of(cls, results: Sequence[Node], scope: Scope) -> Measures:
        """Return the aggregate functions in the results of an aggregate."""
        found: dict[Hashable, tuple[Aggregated, Measure]] = {}
        for node in aggregate_expressions(results):
            if node.signature not in found:
                found[node.signature] = _measure(node, scope)
        return cls(
            {signature: call for signature, (call, _) in found.items()}, tuple(measure for _, measure in found.values())
        )

    def replaced(self, made: Aggregate, first: int) -> dict[Hashable, Expression]:
        """Return their results, the columns of an aggregate from a position on, in Spark's types."""
        return {
            signature: call.result(field_of(made.schema, first + position))
            for position, (signature, call) in enumerate(self.calls.items())
        }


def aggregate_expressions(results: Sequence[Node]) -> Iterator[Node]:
    """Yield the calls of aggregate functions in some expressions."""
    for result in results:
        for item in result.walk():
            if item.name == "AggregateExpression":
                yield item


def _measure(node: Node, scope: Scope) -> tuple[Aggregated, Measure]:
    if node.object_name("mode") != "Complete":
        raise UnsupportedPlanError(f"`{written(node)}` is a part of an aggregation, which has no Substrait form")
    found = aggregated(node.child("aggregateFunction"), scope, distinct=bool(node.value("isDistinct")))
    condition = filter_of(node)
    return found, Measure(measure=found.call, filter=None if condition is None else expression(condition, scope))


def count_of_records(production: Production) -> Measure:
    """Return the measure that counts the records of a group."""
    return Measure(measure=aggregate_call(production.registry, urn_of("functions_aggregate_generic"), "count", ()))
