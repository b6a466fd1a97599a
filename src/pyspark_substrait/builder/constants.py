"""Literals from Python values: of the type of a neighbouring value, or of a type of their own."""

from __future__ import annotations

import datetime
import decimal
import math
import uuid
from typing import Any

from pyspark_substrait.errors import InvalidPlanError, ParameterError
from pyspark_substrait.extensions.coercion import common_type
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    UUID,
    Binary,
    Boolean,
    Date,
    Decimal,
    IntervalDay,
    List,
    Map,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Type,
    UserDefined,
    concrete,
    with_nullability,
)
from pyspark_substrait.model.values import literal_of

__all__ = ["fitted", "literal", "own_type"]


def literal(value: object, type: Type) -> Literal:
    """Return a value as a literal of a type.

    Raises:
        InvalidPlanError: it isn't one of the type's values.
    """
    try:
        return literal_of(_written(value, type), type)
    except ParameterError as error:
        raise InvalidPlanError(error.message, path=error.path, hint=error.hint) from None


def fitted(value: object, type: Type) -> Literal | None:
    """Return a value as a literal of a neighbouring value's type; None if that doesn't hold it exactly.

    It is required, unless it is null. A float means the decimal number that Python prints.
    """
    here = concrete(type)
    number = isinstance(value, int) and not isinstance(value, bool)
    if number and not isinstance(here, I8 | I16 | I32 | I64 | FP32 | FP64 | Decimal | UserDefined):
        return None
    try:
        found = literal_of(_written(value, type), with_nullability(here, value is None))
    except ParameterError:
        return None
    rounded = isinstance(here, FP32) and isinstance(value, float) and found.value != value and not math.isnan(value)
    return None if rounded else found


def _written(value: object, type: Type) -> object:
    """Return a float for a decimal type as the decimal number that is written."""
    if isinstance(value, float) and isinstance(concrete(type), Decimal) and math.isfinite(value):
        return decimal.Decimal(repr(value))
    return value


def own_type(value: object) -> Type:
    """Return the type of a value that has no neighbour.

    Integers are i32, or i64 if they need it; floats are fp64; times have microseconds.

    Raises:
        InvalidPlanError: its type isn't known.
    """
    match value:
        case Literal(type=type):
            return type
        case bool():
            return Boolean()
        case int():
            return I32() if -(1 << 31) <= value < 1 << 31 else I64()
        case float():
            return FP64()
        case str():
            return String()
        case bytes() | bytearray():
            return Binary()
        case decimal.Decimal() if value.is_finite():
            _, digits, exponent = value.as_tuple()
            assert isinstance(exponent, int)
            scale = max(-exponent, 0)
            return Decimal(precision=max(len(digits) + max(exponent, 0), scale, 1), scale=scale)
        case datetime.datetime():
            return PrecisionTimestamp(precision=6) if value.tzinfo is None else PrecisionTimestampTZ(precision=6)
        case datetime.date():
            return Date()
        case datetime.time():
            return PrecisionTime(precision=6)
        case datetime.timedelta():
            return IntervalDay(precision=6)
        case uuid.UUID():
            return UUID()
        case list() | tuple() if value:
            return List(type=_shared(value))
        case dict() if value:
            return Map(key=_shared(value.keys()), value=_shared(value.values()))
        case _:
            raise InvalidPlanError(f"the type of {value!r} is unknown", hint="State it: lit(value, type)")


def _shared(values: Any) -> Type:
    """Return the type that holds all elements of a value."""
    types = [own_type(value) for value in values if value is not None]
    found = common_type(types) if types else None
    if found is None:
        raise InvalidPlanError(f"no type holds all of {list(values)!r}", hint="State the type: lit(value, type)")
    return with_nullability(found, any(value is None for value in values))
