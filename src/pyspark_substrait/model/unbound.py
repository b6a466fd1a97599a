"""Types that are left for a binder to fill in."""

from __future__ import annotations

from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    Boolean,
    Date,
    Decimal,
    List,
    Map,
    String,
    Struct,
    Type,
    Unbound,
    VarChar,
)

__all__ = ["LEAVES", "is_unbound"]

LEAVES = frozenset({Boolean, I8, I16, I32, I64, FP32, FP64, String, VarChar, Decimal, Date})
"""The most frequent classes of types that have no other type in them, for quick checks."""


def is_unbound(type: Type) -> bool:
    """Whether a type, or a part of it, is unbound."""
    if type.__class__ in LEAVES:
        return False
    match type:
        case Unbound():
            return True
        case List(type=element):
            return is_unbound(element)
        case Map(key=key, value=value):
            return is_unbound(key) or is_unbound(value)
        case Struct(types=types):
            return any(is_unbound(child) for child in types if child.__class__ not in LEAVES)
        case _:
            return False
