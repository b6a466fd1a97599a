"""The next floating-point number up or down, for rounding directions where Spark only rounds to the nearest number.

Spark SQL can't access the bits of a number, but one addition finds the neighbour: ``x + |x| * u * (1 + 2u)``, where
``u`` is half the distance from 1 to the next number, is beyond the midpoint between ``x`` and its neighbour and before
the following midpoint. Near the subnormal numbers, whose distance is fixed, the sum is computed at a larger scale.
"""

from __future__ import annotations

import math
import sys

from pyspark_substrait.model.types import FP64, Type, concrete
from pyspark_substrait.sql.functions.common_expressions import constant

__all__ = ["next_down", "next_up"]

_SINGLE_LARGEST = (2 - 2.0**-23) * 2.0**127


def next_up(x: str, type: Type) -> str:
    """Return the next larger number of a floating-point type.

    It is -0.0 after the negative number next to zero, infinity after the largest number and after infinity, and NaN
    or null for those.

    Args:
        x: an atom of text, used several times.
        type: the type of ``x`` and of the result, FP32 or FP64.
    """
    return _neighbour(x, type, 1)


def next_down(x: str, type: Type) -> str:
    """The next smaller number of a floating-point type; the mirror image of :func:`next_up`."""
    return _neighbour(x, type, -1)


def _neighbour(x: str, type: Type, sign: int) -> str:
    operator = "+" if sign > 0 else "-"
    if isinstance(concrete(type), FP64):
        big = 2.0**53
        scaled = f"({x} * {big!r}D)"
        step = f"greatest(abs{scaled} * {_step(53)}, {2.0**-1021!r}D)"
        near_zero = f"({scaled} {operator} {step}) * {1 / big!r}D"
        value = f"if(abs({x}) < {2.0**-969!r}D, {near_zero}, {x} {operator} abs({x}) * {_step(53)})"
        smallest, largest = math.ulp(0.0), sys.float_info.max
    else:
        wide = f"CAST({x} AS DOUBLE)"
        step = f"greatest(abs({wide}) * {_step(24)}, {2.0**-149!r}D)"
        value = f"CAST({wide} {operator} {step} AS FLOAT)"
        smallest, largest = 2.0**-149, _SINGLE_LARGEST
    # toward zero, two sums don't give the neighbour: from infinity, and from the smallest number to a zero of its sign
    finite = f"WHEN {x} = {constant(-sign * math.inf, type)} THEN {constant(-sign * largest, type)}"
    zero = f"WHEN {x} = {constant(-sign * smallest, type)} THEN {constant(-sign * 0.0, type)}"
    return f"CASE {finite} {zero} ELSE {value} END"


def _step(digits: int) -> str:
    """Return the factor of the step to the neighbour, for numbers of ``digits`` binary digits."""
    u = 2.0**-digits
    return f"{u * (1 + 2 * u)!r}D"
