"""What stands for an expression that contradicts the specification, where reading goes on after faults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark_substrait.model.types import Type, Unbound

if TYPE_CHECKING:
    from pyspark_substrait.model.expressions import Expression

__all__ = ["BrokenExpression"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenExpression:
    """An expression that can't be understood. Only reading that collects findings makes it, and nothing runs it.

    Args:
        kind: the field of the message ``Expression`` that is set, like ``cast``; empty when none is.
        fault: what is wrong with it.
        type: its type as far as it can be told; unbound otherwise, which fits everywhere.
        parts: the expressions inside it that were read.
    """

    kind: str
    fault: str
    type: Type = Unbound(nullable=True)
    parts: tuple[Expression, ...] = ()
