"""Calls of functions into messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from typing_extensions import assert_never

from pyspark_substrait.model.expressions import (
    AggregateFunction,
    Argument,
    Bound,
    CurrentRow,
    EnumArgument,
    Following,
    Function,
    Preceding,
    ScalarFunction,
    SortDirection,
    SortField,
    TypeArgument,
    Unbounded,
    WindowFunction,
)
from pyspark_substrait.model.relations import WindowRelFunction
from pyspark_substrait.proto.enums import AGGREGATION_PHASE, BOUNDS_TYPE, INVOCATION, SORT_DIRECTION
from pyspark_substrait.proto.write import expressions
from pyspark_substrait.proto.write.context import Parts
from pyspark_substrait.proto.write.types import data_type

__all__ = ["aggregate_function", "call", "sort_field", "window_function", "window_rel_function"]

_Call = ScalarFunction | AggregateFunction | WindowFunction | WindowRelFunction


def call(node: _Call, into: Any, parts: Parts) -> None:
    """Write the fields that all calls have: the function, its arguments, options and output type."""
    into.function_reference = parts.declarations.function(node.function)
    for argument in node.arguments:
        _argument(argument, into.arguments.add(), parts)
    for option in node.options:
        into.options.add(name=option.name, preference=option.preference)
    data_type(node.output_type, into.output_type, parts.declarations)


def _argument(argument: Argument, into: Any, parts: Parts) -> None:
    match argument:
        case EnumArgument(value=value):
            into.enum = value
        case TypeArgument(type=type):
            data_type(type, into.type, parts.declarations)
        case _:
            expressions.expression(argument, into.value, parts)


def aggregate_function(node: AggregateFunction, into: Any, parts: Parts) -> None:
    """Write a call into an ``AggregateFunction`` message."""
    call(node, into, parts)
    into.phase = AGGREGATION_PHASE.numbers[node.phase]
    into.invocation = INVOCATION.numbers[node.invocation]
    _sort_fields(node.sorts, into.sorts, parts)


def window_function(node: WindowFunction, into: Any, parts: Parts) -> None:
    """Write a call into an ``Expression.WindowFunction`` message."""
    _over_window(node, into, parts)
    _sort_fields(node.sorts, into.sorts, parts)
    expressions.expressions(node.partitions, into.partitions, parts)


def window_rel_function(node: WindowRelFunction, into: Any, parts: Parts) -> None:
    """Write a call into a ``ConsistentPartitionWindowRel.WindowRelFunction`` message."""
    _over_window(node, into, parts)


def _over_window(node: WindowFunction | WindowRelFunction, into: Any, parts: Parts) -> None:
    call(node, into, parts)
    into.phase = AGGREGATION_PHASE.numbers[node.phase]
    into.invocation = INVOCATION.numbers[node.invocation]
    if node.bounds_type is not None:
        into.bounds_type = BOUNDS_TYPE.numbers[node.bounds_type]
    _bound(node.lower_bound, into.lower_bound, parts)
    _bound(node.upper_bound, into.upper_bound, parts)


def _bound(bound: Bound, into: Any, parts: Parts) -> None:
    match bound:
        case Preceding(offset=offset):
            expressions.expression(offset, into.preceding.offset_expr, parts)
        case Following(offset=offset):
            expressions.expression(offset, into.following.offset_expr, parts)
        case CurrentRow():
            into.current_row.SetInParent()
        case Unbounded():
            into.unbounded.SetInParent()
        case _:
            assert_never(bound)


def _sort_fields(sorts: Iterable[SortField], into: Any, parts: Parts) -> None:
    for sort in sorts:
        sort_field(sort, into.add(), parts)


def sort_field(sort: SortField, into: Any, parts: Parts) -> None:
    """Write a sort field."""
    expressions.expression(sort.expr, into.expr, parts)
    match sort.sort_kind:
        case SortDirection():
            into.direction = SORT_DIRECTION.numbers[sort.sort_kind]
        case Function():
            into.comparison_function_reference = parts.declarations.function(sort.sort_kind)
        case _:
            assert_never(sort.sort_kind)
