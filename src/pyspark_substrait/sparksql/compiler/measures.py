"""Aggregate function calls as Spark SQL."""

from __future__ import annotations

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import AggregateFunction, AggregationInvocation, AggregationPhase
from pyspark_substrait.sparksql.compiler import calls
from pyspark_substrait.sparksql.compiler.scope import Compilation, Scope
from pyspark_substrait.sparksql.functions.table import Call

__all__ = ["measure"]


def measure(call: AggregateFunction, condition: str | None, order: str, scope: Scope, compilation: Compilation) -> str:
    """The text of an aggregate function call over the rows for which ``condition`` (None: all) is true."""
    if call.phase is not AggregationPhase.INITIAL_TO_RESULT:
        raise UnsupportedPlanError(f"the phase {call.phase.value} of an aggregate can't run on Spark yet", path="phase")
    definition, table = calls.meaning(call.function, compilation)
    if order and definition.ordered:
        raise UnsupportedPlanError(f"the ordered aggregate {call.function.key} can't run on Spark yet", path="sorts")
    text = table.text(
        Call(
            function=call.function,
            operands=calls.operands(call.arguments, scope, compilation),
            names=calls.argument_names(definition, len(call.arguments)),
            output=call.derived_type,
            distinct=call.invocation is AggregationInvocation.DISTINCT,
            filter=condition,
            order=order,
        ),
        [(option.name, option.preference) for option in call.options],
    )
    return calls.declared(text, call.derived_type, call.output_type)
