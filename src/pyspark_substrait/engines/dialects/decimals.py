"""Operations on decimals in engines whose decimals have 38 digits, and whose results have as many as they need."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from pyspark_substrait.engines.dialects.dialect import Call
from pyspark_substrait.engines.dialects.standard import decimal_type
from pyspark_substrait.model.types import Decimal

__all__ = ["decimal_result", "product_type", "sum_type"]


def decimal_result(natural: Callable[[Decimal, Decimal], Decimal], template: str) -> Callable[[Call], exp.Expression]:
    """Return the body of an operation on decimals; it is cast where the engine gives it another type."""

    def body(call: Call) -> exp.Expression:
        found = natural(decimal_type(call.type(0)), decimal_type(call.type(1)))
        output = decimal_type(call.output)
        same = (found.precision, found.scale) == (output.precision, output.scale)
        return call.filled(template if same else f"CAST({template} AS {{output}})")

    return body


def sum_type(left: Decimal, right: Decimal) -> Decimal:
    """Return the type of a sum or a difference."""
    scale = max(left.scale, right.scale)
    whole = max(left.precision - left.scale, right.precision - right.scale)
    return Decimal(precision=min(38, whole + scale + 1), scale=scale)


def product_type(left: Decimal, right: Decimal) -> Decimal:
    """Return the type of a product, whose scale must not be more than 38."""
    return Decimal(precision=min(38, left.precision + right.precision), scale=left.scale + right.scale)
