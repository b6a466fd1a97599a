"""Sort fields as keys of ORDER BY.

A comparison function becomes a number: how many of the existing values come before this one. The function is called
with two values of the key and returns an integer, negative if the first comes before the second, zero if neither does,
positive if it comes after; or a boolean, whether the first comes before the second. If it returns null because a value
is null, nulls are equal and come first. A function that puts each of two values before the other isn't an order: an
error when the query runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError, at
from pyspark_substrait.extensions.signatures import ValueArg
from pyspark_substrait.model.expressions import Expression, Function, SortDirection, SortField
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import Boolean, Type, concrete
from pyspark_substrait.sql.compiler import calls, expressions
from pyspark_substrait.sql.compiler.lifted_columns import Below
from pyspark_substrait.sql.compiler.literals import string_literal
from pyspark_substrait.sql.compiler.scope import Compilation, Scope
from pyspark_substrait.sql.compiler.types import INTEGERS, has_map, has_order
from pyspark_substrait.sql.fragment import Atom, Constant, Name, atom
from pyspark_substrait.sql.functions.over import SortKey
from pyspark_substrait.sql.functions.table import Call, Operand

__all__ = ["sort_key", "sort_keys"]


def sort_keys(sorts: Sequence[SortField], scope: Scope, compilation: Compilation) -> list[SortKey]:
    """Return the keys of ORDER BY; constants don't affect the order and are left out.

    Raises:
        UnsupportedPlanError: Spark can't order values of a key's type, or not by the comparison function.
        InvalidPlanError: a comparison function isn't valid.
    """
    keys = []
    for position, field in enumerate(sorts):
        with at("sorts", position):
            key = sort_key(field, scope, compilation)
        if not (
            isinstance(field.expr, Literal) or (isinstance(key.text, Constant) and isinstance(key.text.value, int))
        ):
            # Spark would interpret a number as a column's position
            keys.append(key)
    return keys


def sort_key(field: SortField, scope: Scope, compilation: Compilation) -> SortKey:
    """The key of one sort field, even if it is a constant."""
    if has_map(field.expr.type):
        raise UnsupportedPlanError(f"records cannot be sorted by {field.expr.type}: Spark cannot compare maps")
    if isinstance(field.sort_kind, Function):
        return SortKey(_rank(field.expr, field.sort_kind, scope, compilation))
    if field.sort_kind is not SortDirection.CLUSTERED and not has_order(field.expr.type):
        raise UnsupportedPlanError(f"records cannot be sorted by {field.expr.type}, which has no order")
    with at("expr"):
        text = expressions.expression(field.expr, scope, compilation)
    direction = field.sort_kind
    # in clustered records, equal values are adjacent, which any order achieves
    nulls_last = direction in (SortDirection.ASC_NULLS_LAST, SortDirection.DESC_NULLS_LAST)
    descending = direction in (SortDirection.DESC_NULLS_FIRST, SortDirection.DESC_NULLS_LAST)
    return SortKey(text, descending, not nulls_last)


def _rank(expr: Expression, function: Function, scope: Scope, compilation: Compilation) -> str:
    """Return the name of a column that orders the records like a comparison function."""
    if scope.below is None:
        raise UnsupportedPlanError(
            "records cannot be sorted by a comparison function here on Spark", path="comparison_function_reference"
        )
    inner = Below()
    with at("expr"):
        key = expressions.expression(expr, replace(scope, below=inner), compilation)
    variable = compilation.names.fresh("l")
    with at("comparison_function_reference"):
        less = _less(function, expr.type, Name(f"{variable}.f0"), key, compilation)
    values = f"collect_set(named_struct('f0', {key})) OVER ()"
    level = inner.height
    scope.below.take(inner)
    return scope.below.column(f"size(filter({values}, {variable} -> {less}))", compilation, level)


def _less(function: Function, type: Type, left: Atom, right: Atom, compilation: Compilation) -> str:
    """The condition that a value comes before another one by a comparison function; never null."""
    definition, table = calls.meaning(function, compilation)
    found = compilation.registry.resolve(function.urn, function.name, (ValueArg(type), ValueArg(type)), kind="scalar")
    if found.output_type is None or definition is not found.definition:
        raise InvalidPlanError(f"{function.key} does not compare two values of type {type}")
    output = concrete(found.output_type)
    if output.__class__ not in INTEGERS and not isinstance(output, Boolean):
        raise InvalidPlanError(
            f"{function.key} gives {output}, but a comparison gives an integer (negative, zero, positive)",
            hint="A boolean is taken for `comes before`",
        )
    operand_type = concrete(type)
    operand_type, names = concrete(type), calls.argument_names(definition, 2)

    def before(first: Atom, second: Atom) -> str:
        operands = (Operand(first, operand_type), Operand(second, operand_type))
        call = Call(
            function=function,
            operands=operands,
            names=names,
            output=found.output_type or type,
            functions=compilation.functions,
            settings=compilation.settings,
            spark=compilation.spark,
        )
        text = atom(table.text(call, ()))
        return text if isinstance(output, Boolean) else f"({text} < 0)"

    def failed(fault: str) -> str:
        return f"CAST(raise_error({string_literal(f'{function.key} {fault}')}) AS BOOLEAN)"

    null = f"WHEN {left} IS NULL THEN {right} IS NOT NULL WHEN {right} IS NULL THEN false"
    known = f"coalesce({before(left, right)}, CASE {null} ELSE {failed('gives null for values')} END)"
    both = failed("says of two values that each comes before the other")
    return f"CASE WHEN {known} THEN if({before(right, left)}, {both}, true) ELSE false END"
