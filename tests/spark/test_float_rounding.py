"""Roundings of floating-point operations against exact fractions: difficult numbers, every direction."""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from pyspark_substrait.model.types import FP32, FP64, Type
from pyspark_substrait.sql.compiler.types import spark_type
from pyspark_substrait.sql.functions.arithmetic.float_rounding import (
    ROUNDINGS,
    rounded_product,
    rounded_quotient,
    rounded_root,
    rounded_root_of_integer,
    rounded_sum,
)
from pyspark_substrait.sql.functions.arithmetic.interpolation import between_floats

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: binary digits, and the exponents of the smallest number and of the bound of all numbers
FORMATS: dict[type[Type], tuple[int, int, int]] = {FP32: (24, -149, 128), FP64: (53, -1074, 1024)}
TYPES = (FP32(), FP64())


def nearest(exact: Fraction, type: Type, rounding: str) -> float:
    """The number of the type that the direction chooses."""
    digits, smallest, bound = FORMATS[type.__class__]
    size = abs(exact)
    exponent = max(size.numerator.bit_length() - size.denominator.bit_length() - digits - 1, smallest)
    while size / Fraction(2) ** exponent >= 2**digits:
        exponent += 1
    whole, rest = divmod(size / Fraction(2) ** exponent, 1)
    whole += {
        "TIE_TO_EVEN": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1),
        "TIE_AWAY_FROM_ZERO": rest >= Fraction(1, 2),
        "TRUNCATE": False,
        "CEILING": rest > 0 and exact > 0,
        "FLOOR": rest > 0 and exact < 0,
    }[rounding]
    found = whole * Fraction(2) ** exponent
    sign = -1 if exact < 0 else 1
    if found < 2**bound:
        return sign * float(found)
    inward = rounding == "TRUNCATE" or rounding == ("FLOOR" if sign > 0 else "CEILING")
    return sign * (float(2**bound - Fraction(2) ** (bound - digits)) if inward else math.inf)


def numbers(chance: random.Random, type: Type) -> tuple[float, float]:
    """Two numbers of all sizes; often the second is a few powers of two from making a result hard to represent."""
    digits, smallest, bound = FORMATS[type.__class__]

    def number(exponent: int) -> float:
        whole = chance.choice([1, 3, 2**digits - 1, chance.getrandbits(digits) | 1, chance.getrandbits(9) | 1])
        value = Fraction(whole) * Fraction(2) ** min(max(exponent, smallest), bound - digits)
        return chance.choice([1.0, -1.0]) * (float(value) if isinstance(type, FP64) else single(float(value)))

    first = number(chance.randint(smallest, bound))
    size = math.frexp(first)[1]
    near = chance.choice(
        [size - digits, size - 2 * digits, smallest - size, bound - size, size - smallest, size - bound]
    )
    return first, number(near + chance.randint(-digits, 4))


def single(value: float) -> float:
    return float(struct.unpack("f", struct.pack("f", value))[0])


Text = Callable[[str, str, Type, str], str]
OPERATIONS: dict[str, tuple[Text, Callable[[Fraction, Fraction], Fraction]]] = {
    "add": (rounded_sum, lambda x, y: x + y),
    "multiply": (rounded_product, lambda x, y: x * y),
    "divide": (rounded_quotient, lambda x, y: x / y),
    "2 of 7": (lambda x, y, type, how: between_floats(x, y, "2L", 7, type, how), lambda x, y: (x * 5 + y * 2) / 7),
}


#: docs/spark-versions.md: medians and quantiles
_SINCE = {"2 of 7": pytest.mark.since("4.0", "Spark's analyser reaches its most iterations")}


@pytest.mark.parametrize("operation", [pytest.param(name, marks=_SINCE.get(name, ())) for name in OPERATIONS])
@pytest.mark.parametrize("type", TYPES, ids=str)
def test_two_numbers(spark: SparkSession, operation: str, type: Type) -> None:
    chance = random.Random(f"{operation} of {type}")
    written, exact = OPERATIONS[operation]
    pairs = [numbers(chance, type) for _ in range(400)]
    frame = spark.createDataFrame(pairs, f"x {spark_type(type)}, y {spark_type(type)}")
    texts = [f"{written('x', 'y', type, rounding)} AS {rounding}" for rounding in ROUNDINGS]
    for found in frame.selectExpr("x", "y", *texts).collect():
        value = exact(Fraction(found.x), Fraction(found.y))
        for rounding in ROUNDINGS:
            assert found[rounding] == nearest(value, type, rounding), (found.x.hex(), found.y.hex(), rounding)


def root(value: Fraction, type: Type, rounding: str) -> float:
    """The root with so many digits that what is beyond them can't make a tie."""
    scale = 2**1400
    whole = math.isqrt(int(value * scale * scale))
    beyond = Fraction(int(whole * whole != value * scale * scale), 3)
    return nearest((whole + beyond) / scale, type, rounding)


@pytest.mark.parametrize("type", TYPES, ids=str)
def test_roots(spark: SparkSession, type: Type) -> None:
    chance = random.Random(f"root of {type}")
    given = [abs(number) for _ in range(200) for number in numbers(chance, type)]
    frame = spark.createDataFrame([(number,) for number in given], f"x {spark_type(type)}")
    texts = [f"{rounded_root('x', type, rounding)} AS {rounding}" for rounding in ROUNDINGS]
    for found in frame.selectExpr("x", *texts).collect():
        for rounding in ROUNDINGS:
            assert found[rounding] == root(Fraction(found.x), type, rounding), (found.x.hex(), rounding)


def test_roots_of_integers(spark: SparkSession) -> None:
    chance = random.Random(64)
    squares = [chance.randint(2**26, 3037000499) ** 2 + chance.choice([-1, 0, 1]) for _ in range(200)]
    given = [1, 2**53, 2**53 + 1, 2**63 - 1, *squares, *(chance.getrandbits(63) | 1 for _ in range(200))]
    frame = spark.createDataFrame([(number,) for number in given], "x BIGINT")
    texts = [f"{rounded_root_of_integer('x', rounding)} AS {rounding}" for rounding in ROUNDINGS]
    for found in frame.selectExpr("x", *texts).collect():
        for rounding in ROUNDINGS:
            assert found[rounding] == root(Fraction(found.x), FP64(), rounding), (found.x, rounding)
