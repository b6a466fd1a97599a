"""Literals of Spark SQL, and the casts that it has."""

from __future__ import annotations

import datetime
import decimal
import re
from typing import Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.literals import Compound, DayTime, Literal
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I32,
    I64,
    Binary,
    Boolean,
    Date,
    Decimal,
    IntervalCompound,
    IntervalDay,
    IntervalYear,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Type,
    concrete,
)
from pyspark_substrait.planner import coercion
from pyspark_substrait.planner.coercion import INTEGERS, NUMBERS

__all__ = ["TIMESTAMP", "folded", "is_castable", "may_be_null", "spark_type", "typed_literal"]

#: Spark's TIMESTAMP
TIMESTAMP: Final = PrecisionTimestampTZ(precision=6)
_EPOCH: Final = datetime.date(1970, 1, 1)
_DATE: Final = re.compile(r"\s*(\d{4})-(\d{1,2})-(\d{1,2})\s*", re.ASCII)
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_INTEGER: Final = re.compile(r"[+-]?\d{1,30}", re.ASCII)


def typed_literal(value: Literal) -> Literal:
    """Return a literal with its type in Spark: an INT if it fits, decimals of the digits that they have."""
    match concrete(value.type), value.value:
        case I64(), int() as number if -(1 << 31) <= number < 1 << 31:
            return Literal(type=I32(), value=number)
        case Decimal(), decimal.Decimal() as number:
            scale = max(0, -int(number.as_tuple().exponent))
            digits = len(str(abs(int(number.scaleb(scale)))))
            return Literal(type=Decimal(precision=max(digits, scale), scale=scale), value=number)
        case IntervalCompound(precision=precision), Compound() as parts:
            return _interval(parts, precision)
        case _:
            return value


def _interval(parts: Compound, precision: int) -> Literal:
    months, days, seconds, rest = parts.months, parts.days, parts.seconds, parts.subseconds
    if months and (days or seconds or rest):
        raise UnsupportedPlanError(
            "an INTERVAL of months and of days or time at once has no Substrait form",
            hint="Add one of months, then one of days and time",
        )
    if months:
        return Literal(type=IntervalYear(), value=months)
    micros = rest // 10 ** (precision - 6) if precision > 6 else rest * 10 ** (6 - precision)
    whole = seconds * 1_000_000 + micros
    return Literal(type=IntervalDay(precision=6), value=DayTime(days, *_split(whole)))


def _split(micros: int) -> tuple[int, int]:
    sign = -1 if micros < 0 else 1
    seconds, rest = divmod(abs(micros), 1_000_000)
    return sign * seconds, sign * rest


def spark_type(type: Type) -> Type:
    """Return the type of Spark that a type of a cast stands for.

    DataFusion's TIMESTAMP has nanoseconds and no zone; in Spark it is an instant. The text says TIMESTAMP(6) for a
    TIMESTAMP_NTZ.
    """
    match concrete(type):
        case PrecisionTimestamp(precision=6):
            return PrecisionTimestamp(precision=6)
        case PrecisionTimestamp() | PrecisionTimestampTZ():
            return TIMESTAMP
        case IntervalCompound() | IntervalDay() | IntervalYear():
            raise UnsupportedPlanError("a cast to an interval is not planned without Spark", hint="Write a literal")
        case kind:
            return kind


def folded(value: Expression, target: Type) -> Literal | None:
    """Return a literal as one of another type, where the result is plain; None to compute it when the plan runs."""
    if not isinstance(value, Literal) or not isinstance(value.value, str):
        return None
    match concrete(target):
        case Date() if found := _DATE.fullmatch(value.value):
            try:
                date = datetime.date(*map(int, found.groups()))
            except ValueError:
                return None
            return Literal(type=Date(), value=(date - _EPOCH).days)
        case FP64() if _NUMBER.fullmatch(value.value):
            return Literal(type=FP64(), value=float(value.value))
        case (I32() | I64()) as kind if _INTEGER.fullmatch(value.value):
            bits = 31 if isinstance(kind, I32) else 63
            number = int(value.value)
            return Literal(type=kind, value=number) if -(1 << bits) <= number < 1 << bits else None
        case _:
            return None


def may_be_null(source: Type, target: Type) -> bool:
    """Whether Spark declares a cast nullable whatever the value is (``Cast.forceNullable``)."""
    match source, target:
        case String(), _:
            return not isinstance(target, Binary)
        case _, Decimal(precision=precision, scale=scale):
            held = coercion.decimal_of(source)
            return held is None or held.precision - held.scale > precision - scale or held.scale > scale
        case ((FP32() | FP64() | Decimal()), _):
            return target.__class__ in INTEGERS
        case _:
            return False


def is_castable(source: Type, target: Type) -> bool:
    """Whether Spark has a cast between two types in ANSI mode."""
    numbers, times = NUMBERS, (Date, PrecisionTimestamp, PrecisionTimestampTZ)
    kind, wanted = source.__class__, target.__class__
    if kind is String or wanted is String:
        return True
    if kind in numbers and wanted in (*numbers, Boolean):
        return True
    if kind is Boolean:
        return wanted in numbers
    if kind in times and wanted in times:
        return True
    if kind in numbers:
        return wanted is PrecisionTimestampTZ
    return kind is PrecisionTimestampTZ and wanted in numbers
