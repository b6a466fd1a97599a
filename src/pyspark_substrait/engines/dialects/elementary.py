"""Elementary functions of floating-point numbers, which are computed in double precision."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, cast

from sqlglot import exp

from pyspark_substrait.engines.dialects.dialect import Call, Row, row
from pyspark_substrait.engines.dialects.standard import EVEN, FLOATS, two
from pyspark_substrait.engines.dialects.tree import filled, operand
from pyspark_substrait.model.types import FP64, concrete

__all__ = ["as_double", "comparison_of_floats", "elementary", "logarithms", "quotient_of_floats", "statistics"]

#: functions that are defined for every number
_EVERYWHERE: Final = ("sin", "cos", "tan", "atan", "sinh", "cosh", "tanh", "asinh", "exp", "radians", "degrees")
#: the condition that a number is not in the domain of a function
_OUTSIDE: Final = {
    "asin": "(ABS({x}) > 1 AND {x} <> {nan})",
    "acos": "(ABS({x}) > 1 AND {x} <> {nan})",
    "acosh": "{x} < 1",
    "atanh": "(ABS({x}) > 1 AND {x} <> {nan})",
    "sqrt": "{x} < 0",
}


def as_double(template: str, double: str) -> Callable[[Call], exp.Expression]:
    """Return the body of a function that is computed in double precision.

    Args:
        template: the value; ``{x}`` and ``{y}`` are the arguments.
        double: the dialect's type.
    """

    def body(call: Call) -> exp.Expression:
        text = template
        for place, name in enumerate("xy"):
            if f"{{{name}}}" in text:
                known = isinstance(concrete(call.type(place)), FP64)
                text = text.replace(f"{{{name}}}", f"{{{place}}}" if known else f"CAST({{{place}}} AS {double})")
        return call.filled(text if isinstance(concrete(call.output), FP64) else f"CAST({text} AS {{output}})")

    return body


def elementary(double: str, error: str, *, without: tuple[str, ...] = ()) -> list[Row]:
    """Return the rows of functions that a dialect has under the names of the specification.

    Args:
        double: the dialect's type.
        error: a value that is an error; empty if its functions raise one outside of their domains.
        without: the names of those that it hasn't got.
    """
    rows = [row(name, as_double(f"{name.upper()}({{x}})", double), rounding=EVEN) for name in _EVERYWHERE]
    rows.append(row("atan2", as_double("ATAN2({x}, {y})", double), rounding=EVEN, on_domain_error="NAN"))
    for name, outside in _OUTSIDE.items():
        call = f"{name.upper()}({{x}})"
        outside = outside.replace("{nan}", f"CAST('NaN' AS {double})")
        nan = f"CASE WHEN {outside} THEN CAST('NaN' AS {double}) ELSE {call} END"
        failed = f"CASE WHEN {outside} THEN {error} ELSE {call} END" if error else call
        rows.append(row(name, as_double(nan, double), rounding=EVEN, on_domain_error="NAN"))
        rows.append(row(name, as_double(failed, double), rounding=EVEN, on_domain_error="ERROR"))
    return [item for item in rows if item.name not in without]


def logarithms(
    double: str,
    error: str,
    *,
    names: tuple[tuple[str, str], ...] = (("ln", "LN"), ("log10", "LOG10"), ("log2", "LOG2")),
) -> list[Row]:
    """Return the rows of logarithms.

    Args:
        double, error: as for :func:`elementary`.
        names: the names of the functions, and the dialect's.
    """
    outcomes = {"NAN": f"CAST('NaN' AS {double})", "NULL": "NULL", "ERROR": error}
    zeros = {"MINUS_INFINITY": f"CAST('-Infinity' AS {double})", "NAN": f"CAST('NaN' AS {double})", "ERROR": error}
    rows = []
    for name, function in names:
        for domain, below in outcomes.items():
            for zero, at_zero in zeros.items():
                arms = [("{x} < 0", below), ("{x} = 0", at_zero)]
                text = " ".join(f"WHEN {condition} THEN {value}" for condition, value in arms if value)
                text = f"CASE {text} ELSE {function}({{x}}) END" if text else f"{function}({{x}})"
                body = as_double(text, double)
                numbers = ("i64", "fp32", "fp64")
                rows.append(
                    row(name, body, signatures=numbers, rounding=EVEN, on_domain_error=domain, on_log_zero=zero)
                )
    return rows


def quotient_of_floats(is_nan: str, error: str, *, zero: str = "{1} = 0") -> list[Row]:
    """Return the rows of a quotient of floating-point numbers with an error, or null, for a divisor of zero.

    Args:
        is_nan: the template of whether the dividend is NaN, whose quotient is NaN anyway.
        error: a value that is an error.
        zero: the template of whether the divisor is zero.
    """
    return [
        row(
            "divide",
            f"CASE WHEN {zero} AND NOT {is_nan} THEN {found} ELSE {{0}} / {{1}} END",
            signatures=two(FLOATS),
            rounding=EVEN,
            on_division_by_zero=outcome,
            on_domain_error="NAN",
        )
        for outcome, found in (("ERROR", error), ("NULL", "NULL"))
    ]


def statistics(names: Mapping[str, str], double: str) -> list[Row]:
    """Return the rows of statistics of a sample or a population; ``names`` are their beginnings in the dialect."""
    rows = []
    for name, begin in names.items():
        for kind, end in (("SAMPLE", "SAMP"), ("POPULATION", "POP")):
            body = f"CAST(agg({begin}_{end}(CAST({{0}} AS {double}))) AS {{output}})"
            rows.append(row(name, body, signatures=FLOATS, rounding=EVEN, distribution=kind))
            rows.append(row(name, body, signatures=("req_fp32", "req_fp64"), enums={0: kind}, rounding=EVEN))
    return rows


#: comparisons by operators, which are false for NaN
_COMPARISONS: Final = {
    exp.EQ: "{0} = {1} OR (IS_NAN({0}) AND IS_NAN({1}))",
    exp.NEQ: "{0} <> {1} AND NOT (IS_NAN({0}) AND IS_NAN({1}))",
    exp.LT: "{0} < {1} OR (IS_NAN({1}) AND NOT IS_NAN({0}))",
    exp.GT: "{0} > {1} OR (IS_NAN({0}) AND NOT IS_NAN({1}))",
    exp.LTE: "{0} <= {1} OR (IS_NAN({1}) AND NOT {0} IS NULL)",
    exp.GTE: "{0} >= {1} OR (IS_NAN({0}) AND NOT {1} IS NULL)",
}
#: those with a number on the right
_WITH_NUMBER: Final = {exp.GT: "{0} > {1} OR IS_NAN({0})", exp.GTE: "{0} >= {1} OR IS_NAN({0})"}


def comparison_of_floats(
    sqlglot: str,
) -> Callable[[type[exp.Binary], exp.Expression, exp.Expression], exp.Expression]:
    """Return comparisons in which each NaN is the largest number, of a dialect whose own are false with NaN."""

    def compared(operator: type[exp.Binary], left: exp.Expression, right: exp.Expression) -> exp.Expression:
        template: str | None = _COMPARISONS[operator]
        if isinstance(right.this if isinstance(right, exp.Neg) else right, exp.Literal):
            template = _WITH_NUMBER.get(operator)
        if template is None:
            return cast("exp.Expression", operator(this=operand(left), expression=operand(right)))
        return exp.Paren(this=filled(template, [left, right], sqlglot))

    return compared
