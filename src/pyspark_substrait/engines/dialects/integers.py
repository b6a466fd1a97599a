"""Checks of integers in engines whose own have more bits, or overflow without an error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pyspark_substrait.model.types import I8, I16, I32, I64, Type, concrete

__all__ = ["bits", "in_range"]

_BITS: Final[Mapping[type[Type], int]] = {I8: 8, I16: 16, I32: 32, I64: 64}


def bits(type: Type) -> int:
    """Return the number of bits of an integer type."""
    return _BITS[concrete(type).__class__]


def in_range(value: str, type: Type, error: str, *, of_64: str = "") -> str:
    """Return the template of an integer, or of an error if it is not of its type.

    Args:
        value: the template of the integer, which is repeated.
        type: the type.
        error: the template of a value that is an error.
        of_64: the condition that a value is one of 64 bits; by default, that it is between the least and the most.
    """
    most = 2 ** (bits(type) - 1) - 1
    condition = of_64 if of_64 and bits(type) == 64 else f"({value}) BETWEEN {-most} - 1 AND {most}"
    return f"CASE WHEN {condition} OR ({value}) IS NULL THEN {value} ELSE {error} END"
