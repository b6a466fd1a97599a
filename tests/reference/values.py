"""The values that the evaluator computes with, those of ``pyspark_substrait.conformance.values``, and how they compare.

Of an fp32, a float is one that it holds exactly.
"""

from __future__ import annotations

import decimal
import functools
import math
import struct
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from typing import Any, Final

from pyspark_substrait.conformance.values import (
    DIGITS,
    SECONDS_A_DAY,
    Pairs,
    Row,
    UnknownValue,
    Value,
    padded,
)
from pyspark_substrait.conformance.values import from_literal as literal_value
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import (
    FP32,
    I8,
    I16,
    I32,
    I64,
    UNSIGNED_INTEGERS,
    Date,
    Decimal,
    FixedBinary,
    FixedChar,
    IntervalDay,
    IntervalYear,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    Type,
    UserDefined,
    VarChar,
    concrete,
)
from tests.reference.choices import Choices
from tests.reference.errors import NotCovered, Undetermined

__all__ = [
    "DIGITS",
    "SECONDS_A_DAY",
    "Pairs",
    "Row",
    "Value",
    "compare",
    "comparing",
    "equal",
    "from_literal",
    "identity",
    "in_range",
    "integer_range",
    "nearest_single",
    "padded",
    "single",
]

#: the days of 1000-01-01 and 9999-12-31
_FIRST_DAY, _LAST_DAY = -354285, 2932896
_BITS: Final[dict[type[Any], int]] = {I8: 8, I16: 16, I32: 32, I64: 64}


def from_literal(literal: Literal) -> Value:
    """The value of a literal."""
    if isinstance(literal.type, UserDefined) and literal.type.urn != UNSIGNED_INTEGERS and literal.value is not None:
        raise NotCovered(f"literal of type {literal.type}")
    try:
        return literal_value(literal)
    except UnknownValue as unknown:
        raise NotCovered(str(unknown)) from None


def single(value: float) -> float:
    """The nearest number that an fp32 holds."""
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def nearest_single(value: int | float | decimal.Decimal | Fraction) -> float:
    """The fp32 nearest to a number, rounded once: the way over a double may end in another one."""
    try:
        near = single(float(value))
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    if isinstance(value, float) or not math.isfinite(near) or near == value:
        return near
    (bits,) = struct.unpack("<i", struct.pack("<f", near))
    around = [struct.unpack("<f", struct.pack("<i", bits + step))[0] for step in (-1, 0, 1)]
    finite = [item for item in around if math.isfinite(item)]
    even = bits % 2 == 0
    return float(min(finite, key=lambda item: (abs(Fraction(item) - Fraction(value)), (item == near) != even)))


def integer_range(type: Type) -> tuple[int, int] | None:
    """The least and the greatest value of a type of integers; None for other types."""
    match concrete(type):
        case (I8() | I16() | I32() | I64()) as integer:
            half = 1 << _BITS[integer.__class__] - 1
            return -half, half - 1
        case UserDefined(urn=urn, name=name) if urn == UNSIGNED_INTEGERS:
            return 0, (1 << int(name[1:])) - 1
        case _:
            return None


def in_range(value: Value, type: Type) -> bool:
    """Whether a value that isn't null is one of the type; nested values are taken as they are."""
    limits = integer_range(type)
    if limits is not None:
        return isinstance(value, int) and limits[0] <= value <= limits[1]
    match concrete(type):
        case Decimal(precision=precision, scale=scale):
            cut = value.quantize(decimal.Decimal(1).scaleb(-scale), context=DIGITS)
            return bool(cut == value and value.copy_abs() < decimal.Decimal(10) ** (precision - scale))
        case VarChar(length=length):
            return bool(len(value) <= length)
        case FixedChar(length=length) | FixedBinary(length=length):
            return bool(len(value) == length)
        case PrecisionTime(precision=precision):
            return bool(0 <= value < SECONDS_A_DAY * 10**precision)
        case PrecisionTimestamp() | PrecisionTimestampTZ():
            return bool(-(2**63) <= value < 2**63)
        case Date():
            return bool(_FIRST_DAY <= value <= _LAST_DAY)
        case IntervalYear():
            return bool(abs(value) <= 120_000)
        case IntervalDay(precision=precision):
            return bool(abs(value) <= 3_650_000 * SECONDS_A_DAY * 10**precision)
        case FP32():
            return math.isnan(value) or single(value) == value
        case _:
            return True


# comparisons ---------------------------------------------------------------------------------------------------------


def _is_nan(value: Value) -> bool:
    return isinstance(value, float) and math.isnan(value)


def compare(left: Value, right: Value, choices: Choices) -> int:
    """-1, 0 or 1: whether one value comes before, with or after the other. Neither is null.

    Text is ordered by code points, false comes before true; both zeros of floating-point numbers are equal.
    """
    if _is_nan(left) or _is_nan(right):
        if not choices.nan_is_largest:
            raise Undetermined("a comparison of NaN")
        return int(_is_nan(left)) - int(_is_nan(right))
    if isinstance(left, tuple):
        raise NotCovered("the order of structs, lists and maps")
    return int(left > right) - int(left < right)


def equal(left: Value, right: Value, choices: Choices) -> bool:
    """Whether two values, neither of them null, are equal."""
    if isinstance(left, Pairs):
        raise NotCovered("the equality of maps")
    if isinstance(left, tuple):
        if len(left) != len(right):
            return False
        pairs = list(zip(left, right, strict=True))
        if any(one is None or other is None for one, other in pairs):
            raise Undetermined("the equality of structs and lists with nulls in them")
        return all(equal(one, other, choices) for one, other in pairs)
    return compare(left, right, choices) == 0


def identity(value: Value, choices: Choices) -> Hashable:
    """A key that two values share if and only if they are the same, as in groups and sets: null is null's."""
    if isinstance(value, Pairs):
        raise NotCovered("maps in groups and sets")
    if isinstance(value, tuple):
        return tuple(identity(item, choices) for item in value)
    if _is_nan(value):
        if not choices.nan_is_largest:
            raise Undetermined("whether NaN is the same as NaN")
        return "nan", None
    # both zeros are equal; true isn't the number 1
    return value.__class__.__name__, 0.0 if isinstance(value, float) and value == 0 else value


def comparing(order: Callable[[Value, Value], int], items: Sequence[Value]) -> list[list[Value]]:
    """The items in an order, those that are equal by it together."""
    runs: list[list[Value]] = []
    for item in sorted(items, key=functools.cmp_to_key(order)):
        if runs and order(runs[-1][0], item) == 0:
            runs[-1].append(item)
        else:
            runs.append([item])
    return runs
