"""Compare casts of Spark with those of the specification, value by value (docs/casts.md defines the latter)."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I64,
    Binary,
    Boolean,
    Date,
    Decimal,
    IntervalCompound,
    IntervalDay,
    IntervalYear,
    List,
    Map,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Struct,
    Type,
    concrete,
    same_type,
)
from pyspark_substrait.sql.compiler.casts import holds
from pyspark_substrait.sql.compiler.types import INTEGERS

__all__ = ["Exactness", "contains", "exactness", "has_zone", "is_interval"]

_DIGITS = {8: 3, 16: 5, 32: 10, 64: 19}


class Exactness(Enum):
    """The result of comparing a cast of Spark with that of a plan."""

    #: the result is the same for every value, and it never fails
    CERTAIN = "certain"
    #: the result is the same, and it fails for the same values
    SAME = "same"
    #: the result differs for some value
    DIFFERENT = "different"


def exactness(source: Type, target: Type, utc: bool) -> Exactness:
    """Compare a cast in ANSI mode.

    Args:
        source: the type of the value.
        target: the type of the cast.
        utc: whether Spark's time zone is UTC, as in plans.
    """
    source, target = concrete(source), concrete(target)
    if same_type(source, target):
        return Exactness.CERTAIN
    match source, target:
        case List(type=one), List(type=other):
            return exactness(one, other, utc)
        case Map(), Map():
            # a plan fails for keys that become equal
            keys = same_type(source.key, target.key)
            return exactness(source.value, target.value, utc) if keys else Exactness.DIFFERENT
        case Struct(types=ones), Struct(types=others) if len(ones) == len(others):
            found = {exactness(one, other, utc) for one, other in zip(ones, others, strict=True)}
            return next((kind for kind in (Exactness.DIFFERENT, Exactness.SAME) if kind in found), Exactness.CERTAIN)
        case ((Boolean() | FP32() | FP64() | Decimal()), _):
            return _of_number(source, target)
        case _ if source.__class__ in INTEGERS:
            return _of_number(source, target)
        case String(), Boolean():
            return Exactness.SAME
        case String(), Binary():
            return Exactness.CERTAIN
        case String(), _ if target.__class__ in INTEGERS:
            return Exactness.SAME
        case _:
            return Exactness.CERTAIN if _of_time(source, target, utc) else Exactness.DIFFERENT


def _of_number(source: Type, target: Type) -> Exactness:
    bits, wanted = INTEGERS.get(source.__class__), INTEGERS.get(target.__class__)
    match source, target:
        case _, (Boolean() | FP32() | FP64() | String()):
            return Exactness.CERTAIN
        case Boolean(), Decimal(precision=precision, scale=scale):
            return Exactness.CERTAIN if precision > scale else Exactness.SAME
        case Boolean(), _ if wanted is not None:
            return Exactness.CERTAIN
        case ((FP32() | FP64()), (I64() | Decimal())):
            # Spark casts 2**63 to the largest number, and NaN and the infinities to null
            return Exactness.DIFFERENT
        case Decimal(), Decimal():
            return Exactness.CERTAIN if holds(source, target) else Exactness.SAME
        case _, Decimal(precision=precision, scale=scale) if bits is not None:
            return Exactness.CERTAIN if precision - scale >= _DIGITS[bits] else Exactness.SAME
        case _ if bits is not None and wanted is not None:
            return Exactness.CERTAIN if bits <= wanted else Exactness.SAME
        case Decimal(precision=precision, scale=scale), _ if wanted is not None:
            return Exactness.CERTAIN if precision - scale < _DIGITS[wanted] else Exactness.SAME
        case _, _ if wanted is not None:
            return Exactness.SAME
        case _:
            return Exactness.DIFFERENT


def _of_time(source: Type, target: Type, utc: bool) -> bool:
    match source, target:
        case ((Date() | PrecisionTimestamp() | PrecisionTime()), String()):
            return True
        case (Date(), PrecisionTimestamp()) | (PrecisionTimestamp(), (Date() | PrecisionTime())):
            return True
        case PrecisionTimestampTZ(), (Date() | PrecisionTimestamp() | PrecisionTime()):
            return utc
        case ((Date() | PrecisionTimestamp()), PrecisionTimestampTZ()):
            return utc
        case _:
            return False


def contains(type: Type, condition: Callable[[Type], bool]) -> bool:
    """Whether a condition holds for a type or a part of it."""
    type = concrete(type)
    match type:
        case List(type=element):
            return contains(element, condition)
        case Map(key=key, value=value):
            return contains(key, condition) or contains(value, condition)
        case Struct(types=types):
            return any(contains(one, condition) for one in types)
        case _:
            return condition(type)


def has_zone(source: Type, target: Type) -> bool:
    """Whether a cast depends on a time zone: from instants to local times or text, or vice versa."""
    local = (Date, PrecisionTimestamp, PrecisionTime, String)

    def instant(type: Type) -> bool:
        return isinstance(type, PrecisionTimestampTZ)

    def shown(type: Type) -> bool:
        return isinstance(type, local)

    return (contains(source, instant) and contains(target, shown)) or (
        contains(source, shown) and contains(target, instant)
    )


def is_interval(type: Type) -> bool:
    """Whether a type is an interval."""
    return isinstance(concrete(type), IntervalYear | IntervalDay | IntervalCompound)
