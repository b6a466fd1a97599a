"""The conversions of a table's column to the type that a plan states for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    Decimal,
    FixedChar,
    List,
    Map,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Struct,
    Type,
    Unbound,
    VarChar,
    concrete,
    same_type,
    with_nullability,
)

__all__ = ["completed", "is_cast", "is_convertible"]

_TEXTS: Final = (String, VarChar, FixedChar)
#: the integers that a floating-point number holds all of
_WHOLE: Final = {FP32: (I8, I16), FP64: (I8, I16, I32)}


def completed(stated: Type, found: Type) -> Type:
    """Return the type that a plan states, with the unbound parts filled in from the table's.

    It is nullable where either is: a value that may be null in the table may be null in the plan.
    """
    nullable = stated.nullable or found.nullable
    here, there = concrete(stated), concrete(found)
    match here, there:
        case Unbound(), _:
            return found
        case List(), List():
            return replace(here, nullable=nullable, type=completed(here.type, there.type))
        case Map(), Map():
            key, value = completed(here.key, there.key), completed(here.value, there.value)
            return replace(here, nullable=nullable, key=key, value=value)
        case Struct(), Struct() if len(here.types) == len(there.types):
            return replace(here, nullable=nullable, types=tuple(map(completed, here.types, there.types)))
        case _:
            return with_nullability(stated, nullable)


def is_convertible(found: Type, wanted: Type) -> bool:
    """Whether every value of a type is one of another, or a cast raises an error for those that aren't."""
    found, wanted = concrete(found), concrete(wanted)
    match found, wanted:
        case _ if same_type(found, wanted) or (isinstance(found, _TEXTS) and isinstance(wanted, _TEXTS)):
            return True
        case ((I8() | I16() | I32() | I64()), (I8() | I16() | I32() | I64())):
            return True
        case ((I8() | I16() | I32() | I64()), Decimal()):
            return True
        case Decimal(scale=0), (I8() | I16() | I32() | I64()):
            return True
        case Decimal(scale=scale), Decimal(scale=wanted_scale):
            return scale <= wanted_scale
        case _, (FP32() | FP64()) if isinstance(found, _WHOLE[type(wanted)]):
            return True
        case FP32(), FP64():
            return True
        case (PrecisionTimestamp(), PrecisionTimestamp()) | (PrecisionTimestampTZ(), PrecisionTimestampTZ()):
            return found.precision <= wanted.precision  # type: ignore[union-attr]
        case PrecisionTime(precision=precision), PrecisionTime(precision=wanted_precision):
            return precision <= wanted_precision
        case List(type=one), List(type=other):
            return is_convertible(one, other)
        case Map(key=one_key, value=one), Map(key=other_key, value=other):
            return is_convertible(one_key, other_key) and is_convertible(one, other)
        case Struct(types=ones), Struct(types=others):
            return len(ones) == len(others) and all(map(is_convertible, ones, others))
        case _:
            return False


def is_cast(found: Type, wanted: Type) -> bool:
    """Whether a convertible column needs a cast. Texts of any length are the same values."""
    found, wanted = concrete(found), concrete(wanted)
    match found, wanted:
        case _ if isinstance(found, _TEXTS) and isinstance(wanted, _TEXTS):
            return False
        case List(type=one), List(type=other):
            return is_cast(one, other)
        case Map(key=one_key, value=one), Map(key=other_key, value=other):
            return is_cast(one_key, other_key) or is_cast(one, other)
        case Struct(types=ones), Struct(types=others):
            return any(map(is_cast, ones, others))
        case _:
            return not same_type(found, wanted)
