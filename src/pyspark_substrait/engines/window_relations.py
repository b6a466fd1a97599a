"""Window functions in relations of their own, for engines that don't take them as expressions."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pyspark_substrait.engines.constructors import field
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import (
    Argument,
    BoundsType,
    CurrentRow,
    EnumArgument,
    Expression,
    TypeArgument,
    Unbounded,
    WindowFunction,
)
from pyspark_substrait.model.relations import ConsistentPartitionWindow, Project, Relation, WindowRelFunction
from pyspark_substrait.model.walk import expression_children, holds_window, with_children

__all__ = ["with_window_relations"]


def with_window_relations(node: Project) -> Project:
    """Return a projection whose window functions are columns of its input, computed by relations below it."""
    calls: list[WindowFunction] = []
    for expression in node.expressions:
        _collect(expression, calls)
    frames: list[list[WindowFunction]] = []
    for call in calls:
        _check(call.arguments)
        same = (alike for alike in frames if (alike[0].partitions, alike[0].sorts) == (call.partitions, call.sorts))
        found = next(same, None)
        if found is None:
            frames.append([call])
        elif call not in found:
            found.append(call)
    input: Relation = node.input
    width = len(input.schema.types)
    made: list[tuple[WindowFunction, Expression]] = []
    for alike in frames:
        first = len(input.schema.types)
        functions = tuple(_relational(call) for call in alike)
        input = ConsistentPartitionWindow(
            input=input,
            window_functions=functions,
            partition_expressions=alike[0].partitions,
            sorts=alike[0].sorts,
        )
        made += [(call, field(input, first + place)) for place, call in enumerate(alike)]

    def column(expression: Expression) -> Expression:
        if isinstance(expression, WindowFunction):
            return next(place for call, place in made if call == expression)
        return with_children(expression, column)

    more = len(input.schema.types) - width
    emit = range(width + len(node.expressions)) if node.common.emit is None else node.common.emit
    return replace(
        node,
        common=replace(node.common, emit=tuple(place + more if place >= width else place for place in emit)),
        input=input,
        expressions=tuple(column(expression) for expression in node.expressions),
    )


def _collect(expression: Expression, calls: list[WindowFunction]) -> None:
    if isinstance(expression, WindowFunction):
        calls.append(expression)
        return
    for child in expression_children(expression):
        _collect(child, calls)


def _check(arguments: tuple[Argument, ...]) -> None:
    for argument in arguments:
        if not isinstance(argument, EnumArgument | TypeArgument) and holds_window(argument):
            raise UnsupportedPlanError("a window function inside another one has no relation of its own")


#: The functions of the place of a record among the others, whose frame means nothing; Spark wants it so.
_OF_PLACES: Final = frozenset({"row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile"})


def _relational(call: WindowFunction) -> WindowRelFunction:
    if call.function.name in _OF_PLACES:
        call = replace(call, bounds_type=BoundsType.ROWS, lower_bound=Unbounded(), upper_bound=CurrentRow())
    return WindowRelFunction(
        function=call.function,
        arguments=call.arguments,
        options=call.options,
        output_type=call.output_type,
        derived_type=call.derived_type,
        phase=call.phase,
        invocation=call.invocation,
        lower_bound=call.lower_bound,
        upper_bound=call.upper_bound,
        bounds_type=call.bounds_type,
    )
