"""The rounding directions of the elementary functions: from a value of about 100 digits to an adjacent number.

Spark's own functions are within one or two units of the last place, which is enough for TIE_TO_EVEN. The other
directions need the value itself: a kernel computes it as a pair (``machine``), and the sign of the part of the pair
beyond the result's type determines the neighbour. If even the pair is not precise enough, the value is either exactly
a number of the type, or a case that occurs once in 10^13: that one fails with an error.
"""

from __future__ import annotations

from pyspark_substrait.model.types import FP64, Type, concrete
from pyspark_substrait.sql.compiler.types import spark_type
from pyspark_substrait.sql.functions.arithmetic.neighbours import next_down, next_up
from pyspark_substrait.sql.functions.common_expressions import bound
from pyspark_substrait.sql.functions.elementary.machine import power_of_two

__all__ = ["DIRECTIONS", "NEAREST", "rounded"]

#: no value of a transcendental function is a midpoint between two numbers, so ties don't exist
NEAREST = ("TIE_TO_EVEN", "TIE_AWAY_FROM_ZERO")
DIRECTIONS = ("TRUNCATE", "CEILING", "FLOOR")

#: the maximum relative error of the pairs of a formula
_DOUBT = 2.0**-99


def rounded(value: str, direction: str, type: Type, in_doubt: str) -> str:
    """A value as a number of a floating-point type.

    Args:
        value: the result of the machine.
        direction: one of ``DIRECTIONS``, or another for the nearest number.
        type: FP32 or FP64.
        in_doubt: used if the pair isn't precise enough: the sign of the difference from ``v`` (the result), a DOUBLE.
    """
    double = isinstance(concrete(type), FP64)
    nearest = power_of_two("v.k", "v.p.h")
    nearest = nearest if double else f"CAST({nearest} AS {spark_type(type)})"
    if direction not in DIRECTIONS:
        return bound(value, "v", nearest)
    back = power_of_two("-v.k", "f" if double else "CAST(f AS DOUBLE)")
    rest = bound(f"(v.p.h - {back}) + v.p.l", "e", f"if(abs(e) <= abs(v.p.h) * v.d * {_DOUBT!r}D, {in_doubt}, e)")
    down = f"WHEN e < 0D{' AND f > 0' if direction == 'TRUNCATE' else ''} THEN {next_down('f', type)}"
    up = f"WHEN e > 0D{' AND f < 0' if direction == 'TRUNCATE' else ''} THEN {next_up('f', type)}"
    moves = {"FLOOR": down, "CEILING": up, "TRUNCATE": f"{down} {up}"}[direction]
    return bound(value, "v", bound(nearest, "f", bound(rest, "e", f"CASE {moves} ELSE f END")))
