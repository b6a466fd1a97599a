"""Roots, powers, exponentials, logarithms and trigonometry: floating-point functions of functions_arithmetic and
functions_logarithmic. No algorithm is prescribed, so that their last digits are open."""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final

from pyspark_substrait.model.types import FP32, concrete
from tests.reference.errors import Failure
from tests.reference.functions.arithmetic import integer_result, real_result
from tests.reference.functions.registry import Call, scalar
from tests.reference.values import single

_HERE: Final = "functions_arithmetic"
_LOGARITHMS: Final = "functions_logarithmic"


def _rounded(call: Call, value: float) -> float:
    """The result in the call's type."""
    return single(value) if isinstance(concrete(call.type), FP32) else value


def _domain(call: Call, option: str = "on_domain_error") -> float | None:
    """The choice of an option for an argument without a result."""
    match call.options.get(option):
        case "NAN":
            return math.nan
        case "NULL":
            return None
        case "MINUS_INFINITY":
            return -math.inf
        case "ERROR":
            raise Failure(f"{call.function.name}: {option}")
        case _:
            raise call.open(option)


def _elementary(name: str, of: Callable[[float], float], inside: Callable[[float], bool] = lambda _: True) -> None:
    """Register a function of one number; ``inside`` says whether it has a result. NaN gives NaN."""

    @scalar(_HERE, name)
    def function(call: Call, value: float) -> float | None:
        value = float(value)
        if math.isnan(value):
            return math.nan
        if not inside(value):
            return _domain(call)
        return call.approximate(_rounded(call, of(value)))


def _saturating(of: Callable[[float], float], overflow: Callable[[float], float]) -> Callable[[float], float]:
    """A function that gives an infinity where Python raises an error."""

    def function(value: float) -> float:
        try:
            return of(value)
        except OverflowError:
            return overflow(value)

    return function


_elementary("exp", _saturating(math.exp, lambda value: math.inf))
_elementary("sin", math.sin, math.isfinite)
_elementary("cos", math.cos, math.isfinite)
_elementary("tan", math.tan, math.isfinite)
_elementary("asin", math.asin, lambda value: -1 <= value <= 1)
_elementary("acos", math.acos, lambda value: -1 <= value <= 1)
_elementary("atan", math.atan)
_elementary("sinh", _saturating(math.sinh, lambda value: math.copysign(math.inf, value)))
_elementary("cosh", _saturating(math.cosh, lambda value: math.inf))
_elementary("tanh", math.tanh)
_elementary("asinh", math.asinh)
_elementary("acosh", math.acosh, lambda value: value >= 1)
_elementary(
    "atanh",
    lambda value: math.copysign(math.inf, value) if abs(value) == 1 else math.atanh(value),
    lambda value: -1 <= value <= 1,
)
_elementary("radians", math.radians)
_elementary("degrees", math.degrees)


@scalar(_HERE, "sqrt")
def _sqrt(call: Call, value: float) -> float | None:
    if value < 0:
        return _domain(call)
    # a root is exact but for its one rounding, which IEEE 754 prescribes; an integer may have more digits
    exact = float(value) == value
    root = real_result(call, math.sqrt(value))
    return root if exact else call.approximate(root)


@scalar(_HERE, "atan2")
def _atan2(call: Call, left: float, right: float) -> float:
    if math.isnan(left) or math.isnan(right):
        return math.nan
    return call.approximate(_rounded(call, math.atan2(left, right)))


@scalar(_HERE, "power")
def _power(call: Call, base: float, exponent: float) -> float:
    if isinstance(base, int) and isinstance(exponent, int):
        if exponent < 0:
            raise call.open("an integer to the power of a negative one")
        # more than 64 factors of at least 2 are too many for any integer
        return integer_result(call, base**exponent if abs(base) < 2 or exponent <= 64 else base**65)
    return _real_power(call, base, exponent)


def _real_power(call: Call, base: float, exponent: float) -> float:
    try:
        value = math.pow(base, exponent)
    except OverflowError:
        negative = base < 0 and exponent % 2 == 1
        return real_result(call, -math.inf if negative else math.inf, overflowed=True)
    except ValueError:
        raise call.open("a power without a real value") from None
    if not (math.isfinite(value) and math.isfinite(base) and math.isfinite(exponent)):
        return real_result(call, value)
    if 0 <= exponent <= 64 and exponent == int(exponent) and Fraction(base) ** int(exponent) == Fraction(value):
        return real_result(call, value)
    return call.approximate(_rounded(call, value))


@scalar("functions_arithmetic_decimal", "power")
def _decimal_power(call: Call, base: decimal.Decimal, exponent: decimal.Decimal) -> float:
    if base < 0 and exponent != int(exponent):
        match call.options.get("complex_number_result"):
            case "NAN":
                return math.nan
            case "ERROR":
                raise Failure("power: the result is a complex number")
            case _:
                raise call.open("a complex number")
    if float(base) != base or float(exponent) != exponent:
        raise call.uncovered("decimals that no fp64 holds")
    return _real_power(call, float(base), float(exponent))


@scalar("functions_arithmetic_decimal", "sqrt")
def _decimal_sqrt(call: Call, value: decimal.Decimal) -> float:
    if value < 0:
        raise Failure("sqrt of a negative number")
    root = value.sqrt(decimal.Context(prec=60))
    nearest = float(root)
    return nearest if decimal.Decimal(nearest) == root and root * root == value else call.approximate(nearest)


# logarithms ----------------------------------------------------------------------------------------------------------


_LONG: Final = decimal.Context(prec=80)
_BASES: Final = {"ln": decimal.Decimal(1).exp(_LONG), "log10": decimal.Decimal(10), "log2": decimal.Decimal(2)}


def _log(value: float | decimal.Decimal, base: decimal.Decimal) -> float:
    """The logarithm, with so many digits that only the last step rounds."""
    return float(_LONG.divide(decimal.Decimal(value).ln(_LONG), base.ln(_LONG)))


for _name, _base in _BASES.items():

    @scalar(_LOGARITHMS, _name)
    def _logarithm(call: Call, value: float | decimal.Decimal, base: decimal.Decimal = _base) -> float | None:
        if isinstance(value, float) and math.isnan(value):
            return math.nan
        if value < 0:
            return _domain(call)
        if value == 0:
            return _domain(call, "on_log_zero")
        if value == math.inf:
            return math.inf
        return call.approximate(_rounded(call, _log(value, base)))


@scalar(_LOGARITHMS, "log1p")
def _log1p(call: Call, value: float | decimal.Decimal) -> float | None:
    if isinstance(value, float) and math.isnan(value):
        return math.nan
    if value == math.inf:
        return math.inf
    if value < -1:
        return _domain(call)
    if value == -1:
        return _domain(call, "on_log_zero")
    return call.approximate(_rounded(call, _log(_LONG.add(decimal.Decimal(value), 1), _BASES["ln"])))


@scalar(_LOGARITHMS, "logb")
def _logb(call: Call, value: float | decimal.Decimal, base: float | decimal.Decimal) -> float | None:
    if not (math.isfinite(value) and math.isfinite(base) and value > 0 and base > 0 and base != 1):
        raise call.uncovered("a value or a base that isn't a positive number, or the base 1")
    return call.approximate(_rounded(call, _log(value, decimal.Decimal(base))))
