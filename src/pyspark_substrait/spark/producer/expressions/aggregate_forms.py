"""Aggregate functions that need more than a row of a table: by the class of the function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from pyspark_substrait.building.calls import aggregate as aggregate_call
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import AggregateFunction, SortField
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import Type
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions import calls, decimals, expressions, written
from pyspark_substrait.spark.producer.scope import Scope, urn_of

__all__ = ["Aggregated", "aggregated"]


@dataclass(frozen=True, slots=True)
class Aggregated:
    """An aggregate function of Catalyst: the call, and the type of its result in Spark, None for that of the call."""

    call: AggregateFunction
    type: Type | None = None


#: a function of the aggregate function (not the ``AggregateExpression`` around it), what it sees and whether equal
#: arguments are merged first
AggregateForm: TypeAlias = Callable[[Node, Scope, bool], "Aggregated | None"]


def aggregated(node: Node, scope: Scope, *, distinct: bool, sorts: tuple[SortField, ...] = ()) -> Aggregated:
    """What an aggregate function of Catalyst is.

    Raises:
        UnsupportedPlanError: there is no function for it.
    """
    form = _FORMS.get(node.name)
    special = None if form is None else form(node, scope, distinct)
    if special is not None:
        return special
    found = calls.aggregate(node, scope, distinct=distinct)
    if found is None:
        raise UnsupportedPlanError(f"`{written(node)}` has no Substrait form: there is no function for {node.name}")
    call, form_found = found
    types = [argument.type for argument in call.arguments if hasattr(argument, "type")]
    return Aggregated(call, form_found.returns or decimals.result(node, types))


def count(node: Node, scope: Scope, distinct: bool) -> Aggregated | None:
    """``count(1)``, and ``count(*)``: of the records."""
    values = expressions(node.children, scope)
    if not distinct and all(isinstance(value, Literal) and value.value is not None for value in values):
        return Aggregated(aggregate_call(scope.production.registry, urn_of("functions_aggregate_generic"), "count", ()))
    return None


_FORMS: Final[Mapping[str, AggregateForm]] = {"Count": count}
