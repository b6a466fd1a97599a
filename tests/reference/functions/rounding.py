"""The functions of functions_rounding and functions_rounding_decimal."""

from __future__ import annotations

import decimal
import math
from fractions import Fraction
from typing import Final

from pyspark_substrait.model.types import FP32, FP64, Decimal, Type, concrete
from tests.reference.functions.registry import Call, scalar
from tests.reference.values import DIGITS, Value, nearest_single, single

_MODES: Final = (
    "TIE_TO_EVEN",
    "TIE_AWAY_FROM_ZERO",
    "TRUNCATE",
    "CEILING",
    "FLOOR",
    "AWAY_FROM_ZERO",
    "TIE_DOWN",
    "TIE_UP",
    "TIE_TOWARDS_ZERO",
    "TIE_TO_ODD",
)


def rounded(value: Fraction, mode: str) -> int:
    """The integer that a number is rounded to."""
    low = math.floor(value)
    if low == value:
        return low
    towards_zero = low if value > 0 else low + 1
    away = low + 1 if value > 0 else low
    match mode:
        case "FLOOR":
            return low
        case "CEILING":
            return low + 1
        case "TRUNCATE":
            return towards_zero
        case "AWAY_FROM_ZERO":
            return away
    if value - low != Fraction(1, 2):
        return low if value - low < Fraction(1, 2) else low + 1
    even = low if low % 2 == 0 else low + 1
    ties = {
        "TIE_TO_EVEN": even,
        "TIE_TO_ODD": 2 * low + 1 - even,
        "TIE_AWAY_FROM_ZERO": away,
        "TIE_TOWARDS_ZERO": towards_zero,
        "TIE_DOWN": low,
        "TIE_UP": low + 1,
    }
    return ties[mode]


@scalar("functions_rounding", "ceil")
def _ceil(call: Call, value: float) -> float:
    return math.copysign(float(math.ceil(value)), value) if math.isfinite(value) else value


@scalar("functions_rounding", "floor")
def _floor(call: Call, value: float) -> float:
    return math.copysign(float(math.floor(value)), value) if math.isfinite(value) else value


@scalar("functions_rounding_decimal", "ceil")
def _decimal_ceil(call: Call, value: decimal.Decimal) -> decimal.Decimal:
    return value.to_integral_value(decimal.ROUND_CEILING, DIGITS)


@scalar("functions_rounding_decimal", "floor")
def _decimal_floor(call: Call, value: decimal.Decimal) -> decimal.Decimal:
    return value.to_integral_value(decimal.ROUND_FLOOR, DIGITS)


@scalar("functions_rounding", "round")
@scalar("functions_rounding_decimal", "round")
def _round(call: Call, value: Value, places: int) -> Value:
    if isinstance(value, float) and not math.isfinite(value):
        return value
    if abs(places) > 400:
        raise call.uncovered(f"{places} places")
    mode = call.options.get("rounding")
    if mode not in (None, *_MODES):
        raise call.uncovered(f"rounding {mode}")
    result = _at_places(call, Fraction(value), places, mode)
    if isinstance(value, float):
        # the number itself, or the decimal that is written for it: engines round either
        written = decimal.Decimal(_shortest(value, call.type))
        if _at_places(call, Fraction(written), places, mode) != result:
            raise call.open(f"{value} is close to a boundary")
    match concrete(call.type):
        case FP32():
            return math.copysign(nearest_single(result), value)
        case FP64():
            return math.copysign(float(result), value)
        case Decimal():
            return DIGITS.divide(decimal.Decimal(result.numerator), decimal.Decimal(result.denominator))
        case _:
            return int(result)


def _at_places(call: Call, value: Fraction, places: int, mode: str | None) -> Fraction:
    """The value, rounded to so many places."""
    unit = Fraction(10) ** places
    if mode is not None:
        return rounded(value * unit, mode) / unit
    # the cases round to the nearest, ties too; the two usual rules for ties have to agree
    one, other = (rounded(value * unit, rule) / unit for rule in ("TIE_TO_EVEN", "TIE_AWAY_FROM_ZERO"))
    if one != other:
        raise call.open("a tie, without the option rounding")
    return one


def _shortest(value: float, type: Type) -> str:
    """The fewest digits that identify a number in its type."""
    if isinstance(concrete(type), FP64):
        return repr(value)
    return next(text for text in (f"{value:.{digits}g}" for digits in range(1, 18)) if single(float(text)) == value)
