"""The placeholder for an expression that contradicts the specification, where reading continues after faults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark_substrait.model.types import Type, Unbound

if TYPE_CHECKING:
    from pyspark_substrait.model.expressions import Expression

__all__ = ["BrokenExpression"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenExpression:
    """An expression that can't be understood. Only reading that collects findings creates it, and it never runs.

    Args:
        kind: the field of the message ``Expression`` that is set, like ``cast``; empty when none is.
        fault: the description of the fault.
        type: its type as far as it is known; unbound otherwise, which fits everywhere.
        parts: the expressions inside it that were read.
    """

    kind: str
    fault: str
    type: Type = Unbound(nullable=True)
    parts: tuple[Expression, ...] = ()
