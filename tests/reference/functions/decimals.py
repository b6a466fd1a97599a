"""The functions of functions_arithmetic_decimal whose results are decimals."""

from __future__ import annotations

import decimal
import math
from fractions import Fraction
from typing import Final

from pyspark_substrait.model.types import Decimal, concrete
from tests.reference.casts import cut
from tests.reference.errors import Failure
from tests.reference.functions.registry import Call, scalar

__all__ = ["decimal_result"]

_HERE: Final = "functions_arithmetic_decimal"
#: more digits than any result shows, for quotients
_LONG: Final = decimal.Context(prec=150, rounding=decimal.ROUND_DOWN)


def decimal_result(call: Call, value: Fraction) -> decimal.Decimal:
    """The exact value in the call's type: undetermined if it has more digits behind the point than the type has, and
    what the option ``overflow`` says if it has more before it."""
    type = concrete(call.type)
    assert isinstance(type, Decimal)
    quotient = _LONG.divide(decimal.Decimal(value.numerator), decimal.Decimal(value.denominator))
    made = cut(quotient, type.scale, call.choices)
    largest = decimal.Decimal((0, (9,) * type.precision, -type.scale))
    if made.copy_abs() <= largest:
        return made
    match call.options.get("overflow"):
        case "SATURATE":
            return largest.copy_sign(made)
        case "ERROR":
            raise Failure(f"{call.function.name}: {made} is no {type}")
        case _:
            raise call.open("an overflow that isn't an error and doesn't saturate")


@scalar(_HERE, "add")
def _add(call: Call, left: decimal.Decimal, right: decimal.Decimal) -> decimal.Decimal:
    return decimal_result(call, Fraction(left) + Fraction(right))


@scalar(_HERE, "subtract")
def _subtract(call: Call, left: decimal.Decimal, right: decimal.Decimal) -> decimal.Decimal:
    return decimal_result(call, Fraction(left) - Fraction(right))


@scalar(_HERE, "multiply")
def _multiply(call: Call, left: decimal.Decimal, right: decimal.Decimal) -> decimal.Decimal:
    return decimal_result(call, Fraction(left) * Fraction(right))


@scalar(_HERE, "divide")
def _divide(call: Call, left: decimal.Decimal, right: decimal.Decimal) -> decimal.Decimal:
    if right == 0:
        raise call.open("a division by zero")
    return decimal_result(call, Fraction(left) / Fraction(right))


@scalar(_HERE, "modulus")
def _modulus(call: Call, left: decimal.Decimal, right: decimal.Decimal) -> decimal.Decimal:
    if right == 0:
        raise call.open("a division by zero")
    quotient = Fraction(left) / Fraction(right)
    if quotient < 0 and quotient != int(quotient):
        raise call.open("the remainder of numbers of different signs")
    return decimal_result(call, Fraction(left) - Fraction(right) * int(quotient))


@scalar(_HERE, "negate")
def _negate(call: Call, value: decimal.Decimal) -> decimal.Decimal:
    return decimal_result(call, -Fraction(value))


@scalar(_HERE, "abs")
def _abs(call: Call, value: decimal.Decimal) -> decimal.Decimal:
    return decimal_result(call, abs(Fraction(value)))


@scalar(_HERE, "bitwise_and")
def _bitwise_and(call: Call, left: decimal.Decimal, right: decimal.Decimal) -> decimal.Decimal:
    return decimal.Decimal(int(left) & int(right))


@scalar(_HERE, "bitwise_or")
def _bitwise_or(call: Call, left: decimal.Decimal, right: decimal.Decimal) -> decimal.Decimal:
    return decimal.Decimal(int(left) | int(right))


@scalar(_HERE, "bitwise_xor")
def _bitwise_xor(call: Call, left: decimal.Decimal, right: decimal.Decimal) -> decimal.Decimal:
    return decimal.Decimal(int(left) ^ int(right))


@scalar(_HERE, "factorial")
def _factorial(call: Call, value: decimal.Decimal) -> decimal.Decimal:
    # the factorial of 34 has 39 digits
    if not 0 <= value < 34:
        raise Failure(f"factorial of {value}")
    return decimal.Decimal(math.factorial(int(value)))
