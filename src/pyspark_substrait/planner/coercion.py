"""The implicit conversions of Spark SQL in ANSI mode, as its analyzer makes them (``AnsiTypeCoercion``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    Binary,
    Boolean,
    Date,
    Decimal,
    IntervalDay,
    IntervalYear,
    List,
    Map,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Struct,
    Type,
    concrete,
    same_type,
    with_nullability,
)

__all__ = [
    "FRACTIONS",
    "INTEGERS",
    "NUMBERS",
    "can_pass",
    "compared",
    "decimal_of",
    "decimal_of_literal",
    "is_null",
    "tightest",
    "wider",
    "widest",
]

INTEGERS: Final = (I8, I16, I32, I64)
_NUMERIC_PRECEDENCE: Final = (I8, I16, I32, I64, FP32, FP64)
FRACTIONS: Final = (FP32, FP64, Decimal)
NUMBERS: Final = (*INTEGERS, *FRACTIONS)
_TIMES: Final = (Date, PrecisionTimestamp, PrecisionTimestampTZ)
_ATOMIC: Final = (*NUMBERS, *_TIMES, Boolean, Binary)
_MOST_DIGITS: Final = 38
#: the decimals that hold all values of an integer
_DECIMALS: Final[Mapping[type, int]] = {I8: 3, I16: 5, I32: 10, I64: 20}


def is_null(value: Expression) -> bool:
    """Whether an expression is a null without a value to compute; its type counts for nothing."""
    return isinstance(value, Literal) and value.value is None


def decimal_of(type: Type) -> Decimal | None:
    """Return the decimal that an integer or a decimal is converted to among decimals; None for another type."""
    kind = concrete(type)
    if isinstance(kind, Decimal):
        return kind
    digits = _DECIMALS.get(kind.__class__)
    return None if digits is None else Decimal(precision=digits, scale=0)


def decimal_of_literal(value: Expression) -> Decimal | None:
    """Return the decimal of an integer literal in arithmetic with decimals: of as many digits as it has.

    Spark has no such rule for a TINYINT.
    """
    if (
        isinstance(value, Literal)
        and concrete(value.type).__class__ in (I16, I32, I64)
        and isinstance(value.value, int)
    ):
        return Decimal(precision=len(str(abs(value.value))), scale=0)
    return None


def wider_decimal(one: Decimal, other: Decimal) -> Decimal:
    """Return the decimal of two: it keeps the digits before the point if not all fit."""
    scale = max(one.scale, other.scale)
    precision = max(one.precision - one.scale, other.precision - other.scale) + scale
    if precision > _MOST_DIGITS:
        scale = max(scale - (precision - _MOST_DIGITS), 0)
        precision = _MOST_DIGITS
    return Decimal(precision=precision, scale=scale)


def tightest(one: Type, other: Type) -> Type | None:
    """Return the type of two without a decimal or a text among them that loses nothing; None without one."""
    one, other = concrete(one), concrete(other)
    if same_type(one, other):
        return one
    classes = (one.__class__, other.__class__)
    if all(kind in _NUMERIC_PRECEDENCE for kind in classes):
        wide = max(_NUMERIC_PRECEDENCE.index(kind) for kind in classes)
        found = _NUMERIC_PRECEDENCE[wide]
        return FP64() if found is FP32 else found()  # an integer and a FLOAT meet as DOUBLEs
    if all(kind in _TIMES for kind in classes):
        return PrecisionTimestampTZ(precision=6) if PrecisionTimestampTZ in classes else PrecisionTimestamp(precision=6)
    match one, other:
        case List(type=left), List(type=right):
            element = tightest(left, right)
            return None if element is None else List(type=with_nullability(element, left.nullable or right.nullable))
        case _:
            return None


def wider(one: Type, other: Type) -> Type | None:
    """Return the type of two values of which one is taken; None without one."""
    one, other = concrete(one), concrete(other)
    found = tightest(one, other)
    if found is not None:
        return found
    if isinstance(one, Decimal) or isinstance(other, Decimal):
        left, right = decimal_of(one), decimal_of(other)
        if left is not None and right is not None:
            return wider_decimal(left, right)
        if isinstance(one, FP32 | FP64) or isinstance(other, FP32 | FP64):
            return FP64()
    for text, type in ((one, other), (other, one)):
        if isinstance(text, String):
            if type.__class__ in INTEGERS:
                return I64()
            if type.__class__ in FRACTIONS:
                return FP64()
            if type.__class__ in _ATOMIC:
                return with_nullability(type, False)
    return None


def widest(values: Sequence[Expression]) -> Type | None:
    """Return the type of several values of which one is taken, whatever nulls are among them; None without one."""
    types = [concrete(value.type) for value in values if not is_null(value)]
    if not types:
        return concrete(values[0].type)
    found = _folded(types)
    # of a text among several other types, the order counts: refused, if it does
    last = _folded(sorted(types, key=lambda type: isinstance(type, String)))
    return found if found is not None and last is not None and same_type(found, last) else None


def _folded(types: Sequence[Type]) -> Type | None:
    found: Type | None = types[0]
    for type in types[1:]:
        found = None if found is None else wider(found, type)
    return found


def compared(one: Expression, other: Expression) -> Type | None:
    """Return the type in which two values are compared; None if Spark doesn't compare them."""
    if is_null(one) or is_null(other):
        return concrete(other.type if is_null(one) else one.type)
    return wider(one.type, other.type)


def can_pass(source: Type, target: Type) -> bool:
    """Whether an argument of one type is cast to that of a parameter without being asked."""
    source, target = concrete(source), concrete(target)
    if same_type(source, target):
        return True
    kind, wanted = source.__class__, target.__class__
    if kind is String:
        return wanted in _ATOMIC
    if wanted is String:
        return kind in _ATOMIC or kind in (IntervalDay, IntervalYear)
    if kind in NUMBERS and wanted in NUMBERS:
        return True
    return kind in _TIMES and wanted in _TIMES and not isinstance(source, Map | Struct)
