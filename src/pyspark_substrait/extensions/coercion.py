"""Widening without loss: the common type of several types, and the implicit casts of arguments.

The rules are few on purpose. Within one kind of type: the parameters grow (decimals to the one that holds both,
lengths and precisions to the longer), and required elements become nullable. Between kinds: an integer to a wider
integer, fp32 to fp64, varchar and fixedchar to string, fixedbinary to binary; where an integer meets a decimal (as in
a comparison), the integer to a decimal; an integer literal also to a narrower integer that has its value. Nothing
else; no decimal turns into a float.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce
from typing import Final

from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    Binary,
    Decimal,
    FixedBinary,
    FixedChar,
    IntervalCompound,
    IntervalDay,
    List,
    Map,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Struct,
    Type,
    TypeBase,
    VarChar,
    with_nullability,
)

__all__ = ["common_decimal", "common_type", "may_overflow", "narrowed", "widening_cost"]

#: kinds in order, each of which holds all before it
_LADDERS: Final[tuple[tuple[type[Type], ...], ...]] = (
    (I8, I16, I32, I64),
    (FP32, FP64),
)
#: how many decimal digits each kind of integer can have
_DIGITS: Final[dict[type[TypeBase], int]] = {I8: 3, I16: 5, I32: 10, I64: 19}
#: kinds of which any two different ones have the last in common
_FAMILIES: Final[tuple[tuple[type[Type], ...], ...]] = (
    (FixedChar, VarChar, String),
    (FixedBinary, Binary),
)


def common_type(types: Iterable[Type]) -> Type | None:
    """The narrowest type that holds all values of all the types, or None. It is nullable if one of them is."""
    rest = iter(types)
    first: Type | None = next(rest)
    return reduce(lambda left, right: None if left is None else _common(left, right), rest, first)


def common_decimal(left: Decimal, right: Decimal) -> Decimal:
    """The decimal that holds the values of both.

    If that needs more than 38 digits, it keeps the larger scale: a value with too many digits before the point can't be
    cast to it, which is an error at run time and never a wrong value.
    """
    scale = max(left.scale, right.scale)
    precision = max(left.precision - left.scale, right.precision - right.scale) + scale
    return replace(left, precision=min(precision, 38), scale=scale)


def _common(left: Type, right: Type) -> Type | None:
    if left == right:
        return left
    nullable = left.nullable or right.nullable
    if left.variation != right.variation:
        left, right = replace(left, variation=None), replace(right, variation=None)
    left, right = with_nullability(left, nullable), with_nullability(right, nullable)
    if left == right:
        return left
    match left, right:
        case Decimal(), Decimal():
            return common_decimal(left, right)
        case (VarChar(length=one), VarChar(length=other)) | (FixedChar(length=one), FixedChar(length=other)):
            return left if one >= other else right
        case (
            (PrecisionTime(precision=one), PrecisionTime(precision=other))
            | (PrecisionTimestamp(precision=one), PrecisionTimestamp(precision=other))
            | (PrecisionTimestampTZ(precision=one), PrecisionTimestampTZ(precision=other))
            | (IntervalDay(precision=one), IntervalDay(precision=other))
            | (IntervalCompound(precision=one), IntervalCompound(precision=other))
        ):
            return left if one >= other else right
        case List(type=left_element), List(type=right_element):
            element = _common(left_element, right_element)
            return None if element is None else replace(left, type=element)
        case Map(key=one_key, value=one_value), Map(key=other_key, value=other_value):
            key, value = _common(one_key, other_key), _common(one_value, other_value)
            return None if key is None or value is None else replace(left, key=key, value=value)
        case Struct(types=ones), Struct(types=others) if len(ones) == len(others):
            fields = [_common(one, other) for one, other in zip(ones, others, strict=True)]
            found = tuple(field for field in fields if field is not None)
            return replace(left, types=found) if len(found) == len(fields) else None
        case _:
            return _common_kind(left, right)


def _common_kind(left: Type, right: Type) -> Type | None:
    for ladder in _LADDERS:
        if left.__class__ in ladder and right.__class__ in ladder:
            return left if ladder.index(left.__class__) >= ladder.index(right.__class__) else right
    for integer, decimal in ((left, right), (right, left)):
        digits = _DIGITS.get(integer.__class__)
        if digits is not None and isinstance(decimal, Decimal):
            return common_decimal(decimal, replace(decimal, precision=digits, scale=0))
    for family in _FAMILIES:
        if left.__class__ in family and right.__class__ in family:
            return String(nullable=left.nullable) if family[-1] is String else Binary(nullable=left.nullable)
    return None


def widening_cost(source: Type, target: Type) -> int | None:
    """The distance of a type from one that holds all its values: 0 if equal, more for each step; None if it doesn't
    hold them.

    The outermost type may become nullable, but not required.
    """
    if source == target:
        return 0
    if source.nullable and not target.nullable:
        return None
    if with_nullability(source, target.nullable) == target:
        return 1
    match source, target:
        case List(type=one), List(type=other):
            return widening_cost(one, other)
        case Map(key=one_key, value=one_value), Map(key=other_key, value=other_value):
            return _sum([widening_cost(one_key, other_key), widening_cost(one_value, other_value)])
        case Struct(types=ones), Struct(types=others) if len(ones) == len(others):
            return _sum([widening_cost(one, other) for one, other in zip(ones, others, strict=True)])
        case _:
            pass
    common = common_type((source, target))
    if common is None or with_nullability(common, target.nullable) != replace(target, variation=common.variation):
        return None
    for ladder in _LADDERS:
        if source.__class__ in ladder and target.__class__ in ladder:
            return 2 * (ladder.index(target.__class__) - ladder.index(source.__class__))
    if may_overflow(source, target):
        return 4
    if source.__class__ in _DIGITS:
        return 3
    return 1 if source.__class__ is target.__class__ else 2


def may_overflow(source: Type, target: Type) -> bool:
    """Whether a cast to a decimal leaves fewer digits before the point than the source can have."""
    if not isinstance(target, Decimal):
        return False
    digits = source.precision - source.scale if isinstance(source, Decimal) else _DIGITS.get(source.__class__, 0)
    return digits > target.precision - target.scale


def narrowed(literal: int, source: Type, target: Type) -> int | None:
    """The distance of an integer literal from a narrower integer type that it fits into; None if it doesn't fit.

    Narrowing comes after every widening.
    """
    integers = _LADDERS[0]
    if source.__class__ not in integers or target.__class__ not in integers:
        return None
    if source.nullable and not target.nullable:
        return None
    steps = integers.index(source.__class__) - integers.index(target.__class__)
    bits = 8 << integers.index(target.__class__)
    return 8 * steps if steps > 0 and -(1 << bits - 1) <= literal < 1 << bits - 1 else None


def _sum(costs: list[int | None]) -> int | None:
    found = [cost for cost in costs if cost is not None]
    return sum(found) if len(found) == len(costs) else None
