"""Arithmetic of decimals in DuckDB, whose quotients and averages are floating-point numbers.

They are computed with the digits as HUGEINT, which raises an error for numbers of more than 38 digits.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable
from typing import Final

from sqlglot import exp

from pyspark_substrait.codes import Code
from pyspark_substrait.engines.dialects.decimals import decimal_result, product_type
from pyspark_substrait.engines.dialects.dialect import Call
from pyspark_substrait.engines.dialects.standard import decimal_type
from pyspark_substrait.engines.dialects.tree import filled
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.types import Decimal

__all__ = ["average", "decimal_sum", "product", "quotient"]


_MOST_DIGITS: Final = 38


def product(call: Call) -> exp.Expression:
    left, right = decimal_type(call.type(0)), decimal_type(call.type(1))
    if left.scale + right.scale <= _MOST_DIGITS:
        return decimal_result(product_type, "{0} * {1}")(call)
    return call.filled("error('a product of more than 38 digits')")


def digits(value: exp.Expression) -> exp.Expression:
    """Return the digits of a decimal as a whole number."""
    return filled("CAST(REPLACE(CAST({0} AS VARCHAR), '.', '') AS HUGEINT)", [value], "duckdb")


def _quotient_of_digits(
    dividend: exp.Expression, divisor: exp.Expression, scale: int, output: Decimal, *, cut: bool
) -> exp.Expression:
    """Return the quotient of two whole numbers.

    Args:
        dividend, divisor: HUGEINT; the divisor isn't zero.
        scale: the digits behind the point of the dividend less those of the divisor.
        output: the type of the quotient.
        cut: whether further digits are cut off; else it is rounded half away from zero.
    """
    places = output.scale if cut else output.scale + 1  # the cast rounds by the last one
    if places > _MOST_DIGITS:
        raise UnsupportedPlanError(
            f"a quotient with {output.scale} places has no exact form in DuckDB", code=Code.TARGET_FUNCTION
        )
    more = places - scale
    if more > 0:
        dividend = filled(f"{{0}} * {_huge(10**more)}", [dividend], "duckdb")
    elif more < 0:
        divisor = filled(f"{{0}} * {_huge(10**-more)}", [divisor], "duckdb")
    text = "CAST({0} // {1} AS DECIMAL(38, 0))"
    if places:
        text += f" * CAST({decimal.Decimal(1).scaleb(-places):f} AS DECIMAL(38, {places}))"
    return filled(f"CAST({text} AS DECIMAL({output.precision}, {output.scale}))", [dividend, divisor], "duckdb")


def _huge(value: int) -> str:
    return str(value) if value < 2**31 else f"CAST({value} AS HUGEINT)"


def quotient(*, cut: bool) -> Callable[[Call], exp.Expression]:
    def body(call: Call) -> exp.Expression:
        left, right, output = (decimal_type(type) for type in (call.type(0), call.type(1), call.output))
        x, y = (value for value in call.operands if isinstance(value, exp.Expression))
        found = _quotient_of_digits(digits(x), digits(y.copy()), left.scale - right.scale, output, cut=cut)
        divisor = call.literal(1)
        if isinstance(divisor, decimal.Decimal) and divisor:
            return found
        failed = filled("error('division by zero')", [], "duckdb")
        return exp.Case(ifs=[exp.If(this=filled("{0} = 0", [y], "duckdb"), true=failed)], default=found)

    return body


#: digits of the numbers of an average; a sum of up to 10**10 of them fits
_SUMMED: Final = 28


def average(*, cut: bool) -> Callable[[Call], exp.Expression]:
    def body(call: Call) -> exp.Expression:
        type, output = decimal_type(call.type(0)), decimal_type(call.output)
        if type.precision + max(output.scale - type.scale, 0) > _SUMMED:
            raise UnsupportedPlanError(
                f"{call.function.key} of {type} has no exact form in DuckDB: its sums have 38 digits",
                hint="Cast the argument to a decimal of fewer digits",
                code=Code.TARGET_FUNCTION,
            )
        (x,) = (value for value in call.operands if isinstance(value, exp.Expression))
        total = digits(filled("agg(SUM({0}))", [x], "duckdb"))
        count = filled("CAST(NULLIF(agg(COUNT({0})), 0) AS HUGEINT)", [x.copy()], "duckdb")
        return _quotient_of_digits(total, count, type.scale, output, cut=cut)

    return body


def decimal_sum(call: Call) -> exp.Expression:
    output = decimal_type(call.output)
    return call.filled("SUM({0})" if output.precision == 38 else "CAST(agg(SUM({0})) AS {output})")
