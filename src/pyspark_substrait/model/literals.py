"""Literals: constant values in the plan. Spec: Expression.Literal; types/type_classes for the ranges.

One node serves every kind: the type identifies it. The Python form of ``value`` by type:

==========================================  ==========================================================================
type                                        value
==========================================  ==========================================================================
boolean                                     bool
i8, i16, i32, i64                           int
fp32, fp64                                  float (NaN is always :data:`math.nan`, so that equal literals are equal)
string, fixedchar, varchar                  str
binary, fixedbinary                         bytes
date                                        int, days since 1970-01-01
precision_time, precision_timestamp(_tz)    int, units of ``10**-precision`` seconds
interval_year                               int, months
interval_day                                :class:`DayTime`
interval_compound                           :class:`Compound`
decimal                                     decimal.Decimal with exactly ``scale`` digits behind the point
uuid                                        uuid.UUID
struct, list                                tuple of Literal
map                                         tuple of (Literal, Literal)
user-defined                                :class:`AnyMessage`, or a tuple of Literal: the fields of its structure
any nullable type                           None
==========================================  ==========================================================================
"""

from __future__ import annotations

import decimal
import math
import uuid
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, Union

from pyspark_substrait.model.types import Type

__all__ = ["AnyMessage", "Compound", "DayTime", "Literal", "LiteralValue"]


class DayTime(NamedTuple):
    """The value of an interval_day: days, seconds, and units of ``10**-precision`` seconds."""

    days: int
    seconds: int
    subseconds: int

    def units(self, precision: int, digits: int) -> int:
        """Return the length in units of ``10**-digits`` seconds, rounded down; the precision is that of the type."""
        whole, rest = self.days * 86_400 + self.seconds, self.subseconds * 10**digits // 10**precision
        return whole * int(10**digits) + int(rest)


class Compound(NamedTuple):
    """The value of an interval_compound: months and the three parts of :class:`DayTime`."""

    months: int
    days: int
    seconds: int
    subseconds: int


@dataclass(frozen=True, slots=True)
class AnyMessage:
    """A ``google.protobuf.Any``: a message of a type that the specification doesn't define."""

    type_url: str
    value: bytes


LiteralValue: TypeAlias = Union[
    None,
    bool,
    int,
    float,
    str,
    bytes,
    decimal.Decimal,
    uuid.UUID,
    DayTime,
    Compound,
    AnyMessage,
    "tuple[Literal, ...]",
    "tuple[tuple[Literal, Literal], ...]",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Literal:
    """A constant. A null is a literal of a nullable type whose value is None."""

    type: Type
    value: LiteralValue

    def __post_init__(self) -> None:
        if isinstance(self.value, float) and math.isnan(self.value):
            object.__setattr__(self, "value", math.nan)
