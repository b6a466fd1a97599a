"""Spark's aggregates by DataFusion's ordered ones: the value beside an extreme, and lists of values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final, TypeAlias

from pyspark_substrait.engines.constructors import coalesced, is_known, is_nested
from pyspark_substrait.engines.inner_joins import conjunction
from pyspark_substrait.extensions import engines
from pyspark_substrait.model.expressions import (
    EnumArgument,
    Expression,
    Function,
    SortDirection,
    SortField,
    TypeArgument,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Measure
from pyspark_substrait.model.types import Type, with_nullability

__all__ = ["Finish", "in_ordered_form"]

#: Makes a measure of the plan from the engine's.
Finish: TypeAlias = Callable[[Expression], Expression]

_AGGREGATES: Final = "extension:pyspark_substrait:functions_spark_aggregate"
_DIRECTIONS: Final = {"min_by": SortDirection.ASC_NULLS_LAST, "max_by": SortDirection.DESC_NULLS_LAST}


def in_ordered_form(measure: Measure) -> tuple[Measure, Finish | None]:
    """Return a measure by another function, and what makes the plan's value of it; others as they are, and None."""
    call = measure.measure
    values = [item for item in call.arguments if not isinstance(item, EnumArgument | TypeArgument)]
    if call.function.urn != _AGGREGATES:
        return measure, None
    match call.function.name, values:
        case ("min_by" | "max_by") as name, [value, order] if not is_nested(order.type):
            sorts = (SortField(expr=order, sort_kind=_DIRECTIONS[name]),)
            made = replace(call, function=_own("first_value"), arguments=(value,), sorts=sorts, options=())
            return _of_known(replace(measure, measure=made), order), None
        case ("collect_list" | "collect_list_with_nulls") as name, [value]:
            type = with_nullability(call.output_type, True)
            listed = replace(call, function=_own("array_agg"), output_type=type, derived_type=type, options=())
            found = replace(measure, measure=listed)
            return found if name.endswith("nulls") else _of_known(found, value), _never_null(call.output_type)
        case _:
            return measure, None


def _own(name: str) -> Function:
    return Function(engines.DATAFUSION.urn, name, "any")


def _of_known(measure: Measure, value: Expression) -> Measure:
    """Return a measure of the records in which a value is not null."""
    if not value.type.nullable:
        return measure
    conditions = [is_known(value), *([] if measure.filter is None else [measure.filter])]
    return replace(measure, filter=conjunction(conditions))


def _never_null(type: Type) -> Finish:
    """Return what makes an empty list of null, which a list of no records is."""

    def finish(value: Expression) -> Expression:
        return coalesced(type, value, Literal(type=with_nullability(type, False), value=()))

    return finish
