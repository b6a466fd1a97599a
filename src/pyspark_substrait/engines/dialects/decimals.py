"""Operations on decimals in engines whose decimals have 38 digits, and whose results have as many as they need."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from pyspark_substrait.engines.dialects.dialect import Call
from pyspark_substrait.engines.dialects.standard import decimal_type
from pyspark_substrait.model.types import Decimal

__all__ = ["decimal_result", "product_digits", "product_type", "sum_digits", "sum_type"]


def decimal_result(natural: Callable[[Decimal, Decimal], Decimal], template: str) -> Callable[[Call], exp.Expression]:
    """Return the body of an operation on decimals; it is cast where the engine gives it another type."""

    def body(call: Call) -> exp.Expression:
        found = natural(decimal_type(call.type(0)), decimal_type(call.type(1)))
        output = decimal_type(call.output)
        same = (found.precision, found.scale) == (output.precision, output.scale)
        return call.filled(template if same else f"CAST({template} AS {{output}})")

    return body


def sum_digits(left: Decimal, right: Decimal) -> tuple[int, int]:
    """Return the precision and the scale that a sum or a difference needs."""
    scale = max(left.scale, right.scale)
    return max(left.precision - left.scale, right.precision - right.scale) + scale + 1, scale


def product_digits(left: Decimal, right: Decimal) -> tuple[int, int]:
    """Return the precision and the scale that a product needs."""
    return left.precision + right.precision, left.scale + right.scale


def sum_type(left: Decimal, right: Decimal) -> Decimal:
    """Return the type of a sum or a difference."""
    precision, scale = sum_digits(left, right)
    return Decimal(precision=min(38, precision), scale=scale)


def product_type(left: Decimal, right: Decimal) -> Decimal:
    """Return the type of a product, whose scale must not be more than 38."""
    precision, scale = product_digits(left, right)
    return Decimal(precision=min(38, precision), scale=scale)
