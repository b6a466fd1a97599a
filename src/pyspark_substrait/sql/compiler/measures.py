"""Aggregate function calls as Spark SQL."""

from __future__ import annotations

from typing import Final

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError, at
from pyspark_substrait.extensions.definitions import FunctionDefinition
from pyspark_substrait.model.expressions import (
    AggregateFunction,
    AggregationInvocation,
    AggregationPhase,
    EnumArgument,
    TypeArgument,
)
from pyspark_substrait.model.types import same_type
from pyspark_substrait.sql.compiler import calls
from pyspark_substrait.sql.compiler.scope import Compilation, Scope
from pyspark_substrait.sql.compiler.sorting import sort_keys
from pyspark_substrait.sql.compiler.types import has_map
from pyspark_substrait.sql.fragment import atom
from pyspark_substrait.sql.functions.table import Call

__all__ = ["INDIFFERENT", "measure"]

#: functions with the same result whether or not equal values are merged
INDIFFERENT: Final = frozenset({"min", "max", "any_value", "bool_and", "bool_or", "approx_count_distinct"})


def measure(call: AggregateFunction, condition: str | None, scope: Scope, compilation: Compilation) -> str:
    """The text of an aggregate function call over the records for which ``condition`` (None: all) is true.

    The order of the records is used only for functions that the extension declares as ordered.

    Raises:
        InvalidPlanError: the function has no such phase.
        UnsupportedPlanError: Spark can't compute it exactly.
    """
    definition, table = calls.meaning(call.function, compilation)
    _check_phase(call, definition)
    keys = sort_keys(call.sorts, scope, compilation) if definition.ordered else []
    text = table.text(
        Call(
            function=call.function,
            operands=calls.operands(call.arguments, scope, compilation),
            names=calls.argument_names(definition, len(call.arguments)),
            output=call.derived_type,
            distinct=_is_distinct(call),
            filter=condition,
            sorts=tuple(keys),
            phase=call.phase,
            functions=compilation.functions,
            settings=compilation.settings,
            spark=compilation.spark,
        ),
        [(option.name, option.preference) for option in call.options],
    )
    return (
        text
        if same_type(call.derived_type, call.output_type)
        else calls.declared(atom(text), call.derived_type, call.output_type, compilation)
    )


def _check_phase(call: AggregateFunction, definition: FunctionDefinition) -> None:
    if call.phase is AggregationPhase.INITIAL_TO_RESULT:
        return
    with at("phase"):
        if definition.decomposable == "NONE":
            raise InvalidPlanError(
                f"{call.function.key} cannot be computed in phases ({call.phase.name})",
                hint="Its only phase is INITIAL_TO_RESULT",
            )
        if definition.decomposable == "ONE" and call.phase is AggregationPhase.INTERMEDIATE_TO_INTERMEDIATE:
            raise InvalidPlanError(
                f"{call.function.key} has one intermediate step, so its intermediate values cannot be merged",
                hint="Use INTERMEDIATE_TO_RESULT",
            )


def _is_distinct(call: AggregateFunction) -> bool:
    """Whether equal arguments have to be merged."""
    if call.invocation is AggregationInvocation.ALL or call.function.name in INDIFFERENT:
        return False
    with at("invocation"):
        if call.phase is not AggregationPhase.INITIAL_TO_RESULT:
            raise UnsupportedPlanError(
                f"{call.function.key} of distinct values cannot be computed in phases: an intermediate value does not "
                "say which values are in it",
                hint="Group by the values first, or use INITIAL_TO_RESULT",
            )
        for argument in call.arguments:
            if not isinstance(argument, EnumArgument | TypeArgument) and has_map(argument.type):
                raise UnsupportedPlanError(f"distinct values of {argument.type}: Spark cannot compare maps")
    return True
