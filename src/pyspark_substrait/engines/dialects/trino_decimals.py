"""Arithmetic of decimals in Trino, whose quotients have the scale of their operands."""

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

__all__ = ["average", "product", "quotient"]

_MOST_DIGITS: Final = 38


def product(call: Call) -> exp.Expression:
    """Return a product, which is an error if it has more than 38 digits."""
    left, right = decimal_type(call.type(0)), decimal_type(call.type(1))
    if left.scale + right.scale > _MOST_DIGITS:
        raise _too_many(call)
    return decimal_result(product_type, "{0} * {1}")(call)


def _too_many(call: Call) -> UnsupportedPlanError:
    types = ", ".join(str(node.type) for node in call.nodes if node is not None)
    return UnsupportedPlanError(
        f"{call.function.key} of {types} has no exact form in Trino: it has more digits on the way than decimals have",
        hint="Cast the arguments to decimals of fewer digits",
        code=Code.TARGET_FUNCTION,
    )


def _divided(dividend: exp.Expression, divisor: exp.Expression, scale: int, call: Call, *, cut: bool) -> exp.Expression:
    """Return the quotient of two decimals.

    Args:
        dividend, divisor: the decimals.
        scale: the scale of the divisor.
        call: the call, whose type the quotient has.
        cut: whether further digits are cut off; else it is rounded half away from zero.
    """
    output = decimal_type(call.output)
    if scale > output.scale or (cut and scale + output.scale > _MOST_DIGITS):
        raise _too_many(call)
    text = "{0}"
    if cut:
        text = f"{{0}} - {{0}} % ({{1}} * {decimal.Decimal(1).scaleb(-output.scale):f})"
    text = f"CAST({text} AS DECIMAL({_MOST_DIGITS}, {output.scale})) / {{1}}"
    type = f"DECIMAL({output.precision}, {output.scale})"
    return filled(f"CAST({text} AS {type})", [dividend, divisor], "trino")


def quotient(*, cut: bool) -> Callable[[Call], exp.Expression]:
    def body(call: Call) -> exp.Expression:
        x, y = (value for value in call.operands if isinstance(value, exp.Expression))
        return _divided(x, y, decimal_type(call.type(1)).scale, call, cut=cut)

    return body


def average(*, cut: bool) -> Callable[[Call], exp.Expression]:
    def body(call: Call) -> exp.Expression:
        (x,) = (value for value in call.operands if isinstance(value, exp.Expression))
        count = filled("NULLIF(agg(COUNT({0})), 0)", [x.copy()], "trino")
        return _divided(filled("agg(SUM({0}))", [x], "trino"), count, 0, call, cut=cut)

    return body
