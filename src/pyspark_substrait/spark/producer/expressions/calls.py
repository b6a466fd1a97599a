"""Calls of functions: reverse lookup in the tables of ``sql/functions``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.extensions.calls import aggregate as aggregate_call
from pyspark_substrait.extensions.calls import scalar as scalar_call
from pyspark_substrait.model.expressions import AggregateFunction, Argument, EnumArgument, Expression, ScalarFunction
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions import decimals, expression, typed, zones
from pyspark_substrait.spark.producer.scope import Scope
from pyspark_substrait.sql.functions import table
from pyspark_substrait.sql.functions.catalyst import CatalystForm
from pyspark_substrait.sql.functions.catalyst_classes import CLASSES
from pyspark_substrait.sql.functions.table import Row

__all__ = ["aggregate", "candidates", "scalar"]


@cache
def _known(name: str) -> Sequence[tuple[str, Row, CatalystForm]]:
    """Return the extension, the row and the form for a class of Catalyst, in the order of the tables."""
    found: list[tuple[str, Row, CatalystForm]] = []
    for urn, classes in CLASSES.items():
        known = table(urn) if name in classes else None
        for row in () if known is None else known.rows:
            found += [(urn, row, form) for form in row.catalyst if form.name == name]
    return found


def candidates(node: Node) -> list[tuple[str, Row, CatalystForm]]:
    """Return the rows of the tables that a node may match."""
    known = _known(node.name)
    if not any(form.mode for _, _, form in known):
        return list(known)
    return [item for item in known if item[2].mode in (None, node.mode)]


def scalar(node: Node, scope: Scope) -> Expression | None:
    """Translate a node to a call of a scalar function by the tables; None if they have no match.

    The result has its type in Spark: it is in a cast if the extension derives another type.
    """
    translated: dict[int, Expression] = {}
    for urn, row, form in candidates(node):
        arguments = _arguments(node, form, scope, translated)
        try:
            call = scalar_call(
                scope.production.registry, urn, row.name, _with_words(urn, row, arguments, scope), _options(row)
            )
        except InvalidPlanError:
            continue
        if row.signatures and call.function.signature not in row.signatures:
            continue
        return in_spark(call, node, form, arguments, scope)
    return None


def aggregate(node: Node, scope: Scope, *, distinct: bool = False) -> tuple[AggregateFunction, CatalystForm] | None:
    """Translate a node to a call of an aggregate function by the tables; None if they have no match."""
    translated: dict[int, Expression] = {}
    for urn, row, form in candidates(node):
        arguments = _arguments(node, form, scope, translated)
        try:
            call = aggregate_call(
                scope.production.registry,
                urn,
                row.name,
                _with_words(urn, row, arguments, scope),
                _options(row),
                distinct=distinct,
            )
        except InvalidPlanError:
            continue
        if row.signatures and call.function.signature not in row.signatures:
            continue
        return call, form
    return None


def _arguments(
    node: Node, form: CatalystForm, scope: Scope, translated: dict[int, Expression]
) -> tuple[Expression, ...]:
    """Return the arguments that a form passes to its function; each child is translated once for all forms."""
    positions = range(len(node.children)) if form.arguments is None else form.arguments
    for position in positions:
        if position not in translated:
            translated[position] = expression(node.children[position], scope)
    values = tuple(translated[position] for position in positions)
    return (*values, zones.named(node)) if form.zone else values


def in_spark(
    call: ScalarFunction | AggregateFunction,
    node: Node,
    form: CatalystForm,
    arguments: Sequence[Expression],
    scope: Scope,
) -> Expression:
    """Cast a scalar call to the type that the node has in Spark."""
    assert isinstance(call, ScalarFunction)
    wanted = form.returns or decimals.result(node, [argument.type for argument in arguments], scope.production)
    return call if wanted is None else typed(call, wanted)


def _options(row: Row) -> dict[str, str | tuple[str, ...]]:
    return {name: values[0] for name, values in row.options.items() if values}


def _with_words(urn: str, row: Row, arguments: Sequence[Expression], scope: Scope) -> list[Argument]:
    """Return the arguments with the enumeration values of the row, at the positions that the extension declares."""
    if not row.enums:
        return list(arguments)
    overloads = scope.production.registry.overloads(urn, row.name)
    definition = next(one for one in overloads if row.enums.keys() <= {argument.name for argument in one.arguments})
    values = iter(arguments)
    made: list[Argument] = []
    for declared in definition.arguments:
        if declared.name in row.enums:
            made.append(EnumArgument(row.enums[declared.name][0]))
        else:
            value = next(values, None)
            if value is not None:
                made.append(value)
    return [*made, *values]
