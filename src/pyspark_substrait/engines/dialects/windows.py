"""Window functions. Frames with offsets that aren't constants are refused."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from pyspark_substrait.codes import Code
from pyspark_substrait.engines.dialects import aggregates, expressions, relations
from pyspark_substrait.engines.dialects.scope import Compilation, Scope
from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError, at
from pyspark_substrait.model.expressions import (
    AggregationInvocation,
    AggregationPhase,
    Bound,
    BoundsType,
    CurrentRow,
    Following,
    Preceding,
    Unbounded,
    WindowFunction,
)
from pyspark_substrait.model.relations import ConsistentPartitionWindow, WindowRelFunction
from pyspark_substrait.model.types import FP32, FP64, concrete

__all__ = ["standing_alone", "window"]

#: functions that look at the whole partition
_OF_PARTITIONS: Final = frozenset(
    {"row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lead", "lag"}
)

#: functions that add numbers up
_SUMS: Final = frozenset({"sum", "sum0", "avg", "std_dev", "variance"})


def standing_alone(function: WindowRelFunction, node: ConsistentPartitionWindow) -> WindowFunction:
    """Return a function of a window relation as an expression, with the partitions and sorts of the relation."""
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


def window(node: WindowFunction, scope: Scope, compilation: Compilation) -> exp.Expression:
    """Return a window function."""
    if not scope.windows:
        raise UnsupportedPlanError(
            "a window function cannot stand here", hint="Compute it in a projection below, and refer to that"
        )
    if node.phase is not AggregationPhase.INITIAL_TO_RESULT:
        raise UnsupportedPlanError(f"a window function has no phase {node.phase.name}", path="phase")
    if node.invocation is AggregationInvocation.DISTINCT:
        raise UnsupportedPlanError(
            f"DISTINCT over a window has no form in {compilation.dialect.engine} yet",
            path="invocation",
            code=Code.TARGET_FEATURE,
        )
    inside = Scope(scope.record, scope.outer)
    call, row = expressions.call(node, inside, compilation)
    partitions, keys = [], []
    for position, expression in enumerate(node.partitions):
        with at("partitions", position):
            value = expressions.expression(expression, inside, compilation)
            template = relations.equality_template(expression.type, compilation)
            partitions.append(compilation.dialect.filled(template, value))
    for position, field in enumerate(node.sorts):
        with at("sorts", position):
            keys.append(expressions.expression(field.expr, inside, compilation))
    order = relations.orders(node.sorts, keys, compilation)
    over = exp.Window(partition_by=partitions)
    if order:
        over.set("order", exp.Order(expressions=order))
    frame = None if node.function.name in _OF_PARTITIONS else _frame(node, bool(order), compilation)
    if frame is not None and not compilation.dialect.exact_frames:
        _refuse_moving_sums(node, compilation)
    if frame is not None:
        over.set("spec", frame)
    made = aggregates.decorated(row.made(call), window=over)
    return expressions.declared(made, node, compilation)


def _refuse_moving_sums(node: WindowFunction, compilation: Compilation) -> None:
    """Refuse sums of floating-point numbers over frames that values leave: one beside a large number is lost with it.

    Raises:
        UnsupportedPlanError: it is one of these.
    """
    if isinstance(node.lower_bound, Unbounded) or node.function.name not in _SUMS:
        return
    if isinstance(concrete(node.derived_type), FP32 | FP64):
        raise UnsupportedPlanError(
            f"{node.function.key} over a frame whose start moves has no exact form in {compilation.dialect.engine}: "
            "it subtracts the values that leave the frame",
            hint="Let the frame begin with the partition",
            code=Code.TARGET_FUNCTION,
        )


def _frame(node: WindowFunction, ordered: bool, compilation: Compilation) -> exp.WindowSpec | None:
    """Return the frame; None for the whole partition of a window without an order."""
    kind = "RANGE" if node.bounds_type is BoundsType.RANGE else "ROWS"
    whole = isinstance(node.lower_bound, Unbounded) and isinstance(node.upper_bound, Unbounded)
    if whole and not ordered:
        return None
    if not ordered and kind == "RANGE":
        kind = "ROWS"
        if not whole:  # all records are peers
            return None
    start, start_side = _bound(node.lower_bound, "lower_bound", "PRECEDING", kind, compilation)
    end, end_side = _bound(node.upper_bound, "upper_bound", "FOLLOWING", kind, compilation)
    return exp.WindowSpec(kind=kind, start=start, start_side=start_side, end=end, end_side=end_side)


def _bound(
    bound: Bound, path: str, unbounded: str, kind: str, compilation: Compilation
) -> tuple[str | exp.Expression, str | None]:
    match bound:
        case Unbounded():
            return "UNBOUNDED", unbounded
        case CurrentRow():
            return "CURRENT ROW", None
        case Preceding(offset=offset) | Following(offset=offset):
            with at(path):
                found = expressions.known(offset, compilation)
                if found is None or not isinstance(found.value, int) or kind == "RANGE":
                    raise UnsupportedPlanError(
                        f"a bound of this kind has no form in {compilation.dialect.engine} yet",
                        hint="Use ROWS with constant offsets",
                        code=Code.TARGET_FEATURE,
                    )
                if found.value < 0:
                    raise InvalidPlanError("the offset of a bound is negative", path="offset")
                return exp.Literal.number(found.value), "PRECEDING" if isinstance(bound, Preceding) else "FOLLOWING"
