"""Measures and grouping sets. Spec: relations/logical_relations, expressions/aggregate_functions."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark_substrait.codes import Code, Level
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.expressions import AggregateFunction, AggregationInvocation
from pyspark_substrait.model.findings import Finding
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.relations import Aggregate
from pyspark_substrait.model.repeats import repeats

__all__ = ["groupings", "invocation", "ordered"]


def groupings(aggregate: Aggregate, path: Path) -> Iterator[Finding]:
    """Check for an expression that a grouping set refers to twice, or that is listed twice."""
    for index, grouping in enumerate(aggregate.groupings):
        references = grouping.expression_references
        again = min((first for _, first in repeats(references)), default=None)
        if again is not None:
            twice = references[again]
            what = f"the grouping set has expression {twice} twice"
            place: Path = ((path, "groupings"), index)
            yield Finding.of(Code.RELATION_GROUPING, place, what, level=Level.WARNING, fix="Leave one of them")
    for index, first in repeats(aggregate.grouping_expressions):
        what = f"the grouping expression is the same as number {first}"
        yield Finding.of(Code.REDUNDANT_FIELD, ((path, "grouping_expressions"), index), what, fix="Refer to that one")


def invocation(call: AggregateFunction, path: Path) -> Iterator[Finding]:
    """Check for a DISTINCT call without arguments."""
    if call.invocation is AggregationInvocation.DISTINCT and not call.arguments:
        what = f"`{call.function.name}` is of different values, but has no argument that could be different"
        fix = "Give it the argument, or count all records"
        yield Finding.of(Code.ILLEGAL_VALUE, (path, "invocation"), what, level=Level.WARNING, fix=fix)


def ordered(call: AggregateFunction, path: Path, registry: Registry) -> Iterator[Finding]:
    """Check for sorts of a function whose definition says that order doesn't matter to it."""
    function = call.function
    for definition in registry.overloads(function.urn, function.name):
        if definition.key == function.key and not definition.ordered:
            what = f"`{function.name}` is not sensitive to order, but has sorts"
            why = "sorts are only allowed where the function is defined to support sorting."
            yield Finding.of(
                Code.EXPRESSION_SORT, (path, "sorts"), what, level=Level.WARNING, why=why, fix="Leave them out"
            )
