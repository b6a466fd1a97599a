"""Window functions as Spark SQL.

A call is text with OVER, for a place in a SELECT list. Elsewhere, it becomes a column below (``below``). Functions that
Spark can't express are computed from columns below: whether a value occurs for the first time in a partition
(DISTINCT), or the list of a frame's records, from which a positional function picks one and over which an aggregate is
folded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from typing_extensions import assert_never

from pyspark_substrait.errors import UnsupportedPlanError, at
from pyspark_substrait.extensions.definitions import FunctionDefinition
from pyspark_substrait.model.expressions import (
    AggregationInvocation,
    AggregationPhase,
    DetachedExpression,
    DynamicParameter,
    EnumArgument,
    Lambda,
    TypeArgument,
    WindowFunction,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import ConsistentPartitionWindow, WindowRelFunction
from pyspark_substrait.sql.compiler import calls, expressions, window_frames
from pyspark_substrait.sql.compiler.lifted_columns import Below
from pyspark_substrait.sql.compiler.measures import INDIFFERENT
from pyspark_substrait.sql.compiler.query import Item
from pyspark_substrait.sql.compiler.scope import Compilation, Scope
from pyspark_substrait.sql.compiler.sorting import sort_key
from pyspark_substrait.sql.compiler.types import has_map, spark_type
from pyspark_substrait.sql.fragment import Atom, Name, atom
from pyspark_substrait.sql.functions.over import WHOLE, Over, SortKey
from pyspark_substrait.sql.functions.table import Call

__all__ = ["standing_alone", "window"]

#: window functions that look at the frame; the others look at the whole partition
_POSITIONAL: Final = frozenset({"first_value", "last_value", "nth_value"})


@dataclass(frozen=True, slots=True)
class _Window:
    """A call with its parts as texts."""

    node: WindowFunction
    definition: FunctionDefinition
    text: Callable[[Call], str]
    call: Call
    partition: str
    keys: tuple[SortKey, ...]
    below: Below
    compilation: Compilation


def window(node: WindowFunction, scope: Scope, compilation: Compilation) -> Atom:
    """Return the text of a window function, for the place that the scope represents.

    Raises:
        InvalidPlanError: the call is invalid.
        UnsupportedPlanError: Spark can't compute it exactly, or not in this place.
    """
    if scope.below is None:
        raise UnsupportedPlanError(
            "a window function cannot stand here, where there is no relation whose records it could look at",
            hint="Compute it in a projection below, and refer to that",
        )
    if node.phase is not AggregationPhase.INITIAL_TO_RESULT:
        raise UnsupportedPlanError(
            f"a window function has a result for each record, and no phase {node.phase.name} on Spark",
            path="phase",
            hint="Use INITIAL_TO_RESULT",
        )
    definition, table = calls.meaning(node.function, compilation)
    below = Below()
    inside = replace(scope, below=below)
    operands = calls.operands(node.arguments, inside, compilation)
    partition = _partition(node, inside, compilation)
    keys = []
    for position, field in enumerate(node.sorts):
        with at("sorts", position):
            keys.append(sort_key(field, inside, compilation))
    call = Call(
        function=node.function,
        operands=operands,
        names=calls.argument_names(definition, len(operands)),
        output=node.derived_type,
        sorts=tuple(keys) if definition.ordered else (),
        windowed=True,
        functions=compilation.functions,
        settings=compilation.settings,
        spark=compilation.spark,
    )
    options = [(option.name, option.preference) for option in node.options]
    parts = _Window(
        node, definition, lambda made: table.text(made, options), call, partition, tuple(keys), below, compilation
    )
    frame = window_frames.frame(node, partition, keys, inside, below, compilation)
    text = _own(parts, frame) if definition.kind == "window" else _aggregate(parts, frame)
    compilation.has_elsewhere = True
    made = calls.declared(atom(text), node.derived_type, node.output_type, compilation)
    level = below.height
    scope.below.take(below)
    return made if scope.below.inline else scope.below.column(made, compilation, level)


def standing_alone(function: WindowRelFunction, node: ConsistentPartitionWindow) -> WindowFunction:
    """A function of a window relation as an expression, with the partitions and sorts of the relation."""
    return WindowFunction(
        function=function.function,
        arguments=function.arguments,
        options=function.options,
        output_type=function.output_type,
        derived_type=function.derived_type,
        phase=function.phase,
        sorts=node.sorts,
        invocation=function.invocation,
        partitions=node.partition_expressions,
        bounds_type=function.bounds_type,
        lower_bound=function.lower_bound,
        upper_bound=function.upper_bound,
    )


def _partition(node: WindowFunction, scope: Scope, compilation: Compilation) -> str:
    texts = []
    for position, expression in enumerate(node.partitions):
        with at("partitions", position):
            if has_map(expression.type):
                raise UnsupportedPlanError(f"there are no partitions by {expression.type}: Spark cannot compare maps")
            texts.append(expressions.expression(expression, scope, compilation))
    return f"PARTITION BY {', '.join(texts)}" if texts else ""


def _own(parts: _Window, frame: window_frames.Frame) -> str:
    """Return a function that is a window function only."""
    name = parts.node.function.name
    if parts.node.invocation is AggregationInvocation.DISTINCT:
        raise UnsupportedPlanError(
            f"{name} of distinct records has no meaning that Spark could follow", path="invocation"
        )
    if name not in _POSITIONAL:
        order = ", ".join(map(str, parts.keys)) or "NULL"
        return parts.text(replace(parts.call, over=Over(partition=parts.partition, order=f"ORDER BY {order}")))
    match frame:
        case Over():
            return parts.text(replace(parts.call, over=frame))
        case window_frames.Empty():
            return f"CAST(NULL AS {spark_type(parts.node.derived_type)})"
        case window_frames.PeersOfNull(key=key, peers=peers):
            return f"if({key} IS NULL, {parts.text(replace(parts.call, over=peers))}, NULL)"
        case _:
            assert_never(frame)


def _aggregate(parts: _Window, frame: window_frames.Frame) -> str:
    distinct = _is_distinct(parts)
    match frame:
        case window_frames.Empty():
            return _of_nothing(parts)
        case window_frames.PeersOfNull(key=key, peers=peers):
            over_peers = _fold(parts, peers, True) if distinct else parts.text(replace(parts.call, over=peers))
            return f"if({key} IS NULL, {over_peers}, {_of_nothing(parts)})"
        case Over(frame=None):
            return _fold(parts, frame, distinct)
        case Over() if distinct:
            return _distinct(parts, frame)
        case Over(frame=text):
            # the order matters for few functions if the frame is the whole partition
            needs_order = text != WHOLE or parts.definition.ordered
            return parts.text(replace(parts.call, over=frame if needs_order else replace(frame, order="")))
        case _:
            assert_never(frame)


def _of_nothing(parts: _Window) -> str:
    """Return the value of an aggregate over no records."""
    return parts.text(replace(parts.call, over=Over(partition=parts.partition), filter="false"))


# distinct ------------------------------------------------------------------------------------------------------------


def _is_distinct(parts: _Window) -> bool:
    if parts.node.invocation is AggregationInvocation.ALL or parts.node.function.name in INDIFFERENT:
        return False
    with at("invocation"):
        values = [
            argument for argument in parts.node.arguments if not isinstance(argument, EnumArgument | TypeArgument)
        ]
        if not values:
            raise UnsupportedPlanError(
                "distinct records, without an argument, cannot be counted over a window on Spark"
            )
        for argument in values:
            if has_map(argument.type):
                raise UnsupportedPlanError(f"distinct values of {argument.type}: Spark cannot compare maps")
    return True


def _distinct(parts: _Window, over: Over) -> str:
    """Return an aggregate of distinct values.

    In a frame that starts with the partition, a value counts from its first occurrence, so that later ones can be
    dropped; likewise at the other end. In other frames the values are merged one by one.
    """
    frame = over.frame or ""
    from_start, to_end = "BETWEEN UNBOUNDED" in frame, frame.endswith("UNBOUNDED FOLLOWING")
    if parts.definition.ordered or not (from_start or to_end):
        return _fold(parts, over, True)
    level, compilation = parts.below.height, parts.compilation
    values = ", ".join(operand.sql for operand in parts.call.operands if operand.type is not None)
    among_equals = f"{parts.partition}, {values}" if parts.partition else f"PARTITION BY {values}"
    if frame == WHOLE:
        order, over = "NULL", replace(over, order="")
    else:
        rows = frame.startswith("ROWS")
        function = "row_number" if rows else "rank"
        number = parts.below.column(f"{function}() OVER ({over.ordered})", compilation, level)
        order = number if from_start else f"{number} DESC"
        over = replace(over, order=f"ORDER BY {number}") if rows else over
        level += 1
    first = parts.below.column(f"(row_number() OVER ({among_equals} ORDER BY {order}) = 1)", compilation, level)
    return parts.text(replace(parts.call, over=over, filter=first))


# lists ---------------------------------------------------------------------------------------------------------------


def _fold(parts: _Window, over: Over, distinct: bool) -> str:
    """An aggregate over the list of the frame's records."""
    fields: list[str] = []

    def place(text: str) -> int:
        if text not in fields:
            fields.append(text)
        return fields.index(text)

    kept = [_is_constant(argument) for argument in parts.node.arguments]
    places = [
        None if constant else place(operand.sql) for constant, operand in zip(kept, parts.call.operands, strict=True)
    ]
    sorts = [(place(key.text), key) for key in parts.call.sorts]
    records = over.elements(*(fields or ["1"]))
    fold = parts.below.fold(records, parts.compilation, parts.below.height)
    call = replace(
        parts.call,
        operands=tuple(
            operand if position is None else operand._replace(sql=Name(f"{fold.element}.f{position}"))
            for position, operand in zip(places, parts.call.operands, strict=True)
        ),
        sorts=tuple(key._replace(text=f"{fold.element}.f{position}") for position, key in sorts),
        distinct=distinct,
        filter=f"{fold.position} IS NOT NULL",
    )
    name = parts.compilation.column()
    fold.results.append(Item(parts.text(call), name))
    return name


def _is_constant(argument: object) -> bool:
    """Whether an argument has the same value for all records of the list."""
    match argument:
        case DetachedExpression(expression=inner):
            return _is_constant(inner)
        case _:
            return isinstance(argument, EnumArgument | TypeArgument | Literal | DynamicParameter | Lambda)
