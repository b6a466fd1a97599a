"""Comparison functions (``functions_comparison.yaml``).

Where the specification is silent, Spark's order holds: NaN equals NaN and is larger than every other number, 0.0 equals
-0.0, strings compare by code point, and structs and lists by their parts, where null equals null and comes first.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.sql.compiler.types import has_map
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.common_expressions import any_null, infinity
from pyspark_substrait.sql.functions.table import Call, Foreign, Table, row

__all__ = ["TABLE"]


def comparison(operator: str) -> Callable[[Call], str]:
    def body(call: Call) -> str:
        _comparable(call)
        return f"{call.sql(0)} {operator} {call.sql(1)}"

    return body


def _comparable(call: Call) -> None:
    for position in range(len(call.operands)):
        if has_map(call.type(position)):
            raise UnsupportedPlanError(f"{call.function.name} of {call.type(position)}: Spark cannot compare maps")


def between(call: Call) -> str:
    _comparable(call)
    expression, low, high = (operand.sql for operand in call.operands)
    return f"{expression} BETWEEN {low} AND {high}"


def nullif(call: Call) -> str:
    _comparable(call)
    return Atom(f"nullif({call.sql(0)}, {call.sql(1)})")


def coalesce(call: Call) -> str:
    return Atom(f"coalesce({_listed(call)})")


def _listed(call: Call) -> str:
    return ", ".join(operand.sql for operand in call.operands)


def extreme(name: str) -> Callable[[Call], str]:
    """``least`` or ``greatest``: null if one argument is null."""

    def body(call: Call) -> str:
        _comparable(call)
        nulls = any_null(*(operand.sql for operand in call.operands))
        return f"CASE WHEN {nulls} THEN NULL ELSE {name}({_listed(call)}) END"

    return body


def extreme_of_known(name: str) -> Callable[[Call], str]:
    """``least`` or ``greatest`` of the arguments that aren't null."""

    def body(call: Call) -> str:
        _comparable(call)
        return Atom(f"{name}({_listed(call)})")

    return body


def is_nan(call: Call) -> str:
    # Spark's isnan is false for null
    return Atom(f"if({call.sql(0)} IS NULL, NULL, isnan({call.sql(0)}))")


def is_finite(call: Call) -> str:
    return f"abs({call.sql(0)}) < {infinity(call.type(0))}"


def is_infinite(call: Call) -> str:
    return f"abs({call.sql(0)}) = {infinity(call.type(0))}"


TABLE = Table(
    "extension:io.substrait:functions_comparison",
    (
        row("equal", comparison("="), foreign=Foreign.COMPARED, catalyst="EqualTo"),
        row("not_equal", comparison("<>"), foreign=Foreign.COMPARED),
        row("lt", comparison("<"), foreign=Foreign.ORDERED, catalyst="LessThan"),
        row("lte", comparison("<="), foreign=Foreign.ORDERED, catalyst="LessThanOrEqual"),
        row("gt", comparison(">"), foreign=Foreign.ORDERED, catalyst="GreaterThan"),
        row("gte", comparison(">="), foreign=Foreign.ORDERED, catalyst="GreaterThanOrEqual"),
        row("is_not_distinct_from", comparison("<=>"), foreign=Foreign.COMPARED, catalyst="EqualNullSafe"),
        row("is_distinct_from", comparison("IS DISTINCT FROM"), foreign=Foreign.COMPARED),
        row("between", between, foreign=Foreign.ORDERED),
        row("is_null", "{x} IS NULL", foreign=Foreign.MOVED, catalyst="IsNull"),
        row("is_not_null", "{x} IS NOT NULL", foreign=Foreign.MOVED, catalyst="IsNotNull"),
        row("is_true", "{x} IS TRUE"),
        row("is_not_true", "{x} IS NOT TRUE"),
        row("is_false", "{x} IS FALSE"),
        row("is_not_false", "{x} IS NOT FALSE"),
        row("is_nan", is_nan),
        row("is_finite", is_finite),
        row("is_infinite", is_infinite),
        row("nullif", nullif, foreign=Foreign.COMPARED),
        row("coalesce", coalesce, foreign=Foreign.COMPARED, catalyst="Coalesce"),
        row("least", extreme("least"), foreign=Foreign.ORDERED),
        row("greatest", extreme("greatest"), foreign=Foreign.ORDERED),
        row("least_skip_null", extreme_of_known("least"), foreign=Foreign.ORDERED, catalyst="Least"),
        row("greatest_skip_null", extreme_of_known("greatest"), foreign=Foreign.ORDERED, catalyst="Greatest"),
    ),
)
