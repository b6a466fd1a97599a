"""Elementary functions of hard numbers, beside Python's math: within a few units of the last place on every Spark."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from pyspark_substrait.model.types import FP64
from tests.spark.plans import call, col, project, rows, values

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SIZES: Final = (0.0, 5e-324, 1e-300, 1e-10, 0.1, 0.5, 0.999999, 1.0, 1 + 2**-52, 1.0000001, 2.0, 30.0, 1e5, 2.0**28)
_NUMBERS: Final = (
    *(sign * size for size in (*_SIZES, 1e9, 1e200, 1.7e308, math.inf) for sign in (1.0, -1.0)),
    math.nan,
)
_FUNCTIONS: Final[dict[str, Callable[[float], float]]] = {
    name: getattr(math, name)
    for name in ("exp", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "asin", "acos", "atan")
}


def expected(function: Callable[[float], float], number: float) -> float:
    """The value of a function as IEEE 754 has it where Python raises an error."""
    try:
        return function(number)
    except OverflowError:
        return math.copysign(math.inf, number) if function is math.sinh else math.inf
    except ValueError:
        return math.copysign(math.inf, number) if function is math.atanh and abs(number) == 1 else math.nan


def same(one: float, other: float) -> bool:
    if math.isnan(other) or math.isinf(other) or other == 0:
        return repr(one) == repr(other)
    return abs(one - other) <= 4 * math.ulp(other)


def test_hard_numbers(spark: SparkSession) -> None:
    table = values([FP64()], [(number,) for number in _NUMBERS])
    numbers = col(table, 0)
    found = rows(spark, project(table, *(call(name, numbers) for name in _FUNCTIONS), keep=True))
    assert len(found) == len(_NUMBERS)
    wrong = [
        f"{name}({number!r}) is {value!r}, and not {wanted!r}"
        for number, *results in found
        for (name, function), value in zip(_FUNCTIONS.items(), results, strict=True)
        if not same(value, wanted := expected(function, number))
    ]
    assert not wrong, "\n".join(wrong)
