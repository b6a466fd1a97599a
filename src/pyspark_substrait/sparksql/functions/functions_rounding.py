"""Rounding of integers and floating-point numbers (``functions_rounding.yaml``).

Rounding to decimal places looks at the shortest decimal text of a floating-point number, as Spark does: ``1.005`` is
taken for a tie, though the number is a little below it.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.types import FP32, FP64, concrete
from pyspark_substrait.sparksql.functions.fragments import narrowed
from pyspark_substrait.sparksql.functions.table import Call, Table, row

__all__ = ["TABLE", "places"]


def whole(comparison: str, step: str) -> Callable[[Call], str]:
    """``ceil`` or ``floor``; Spark's own give a BIGINT, which has no room for large numbers and no -0.0."""

    def body(call: Call) -> str:
        nearest = f"rint({call.sql(0)})"
        moved = f"CASE WHEN {nearest} {comparison} {call.sql(0)} THEN {nearest} {step} 1.0D ELSE {nearest} END"
        return narrowed(moved, call.output)

    return body


def places(call: Call) -> int:
    """The number of decimal places, which Spark wants to know beforehand."""
    count = call.operands[1].literal
    if not isinstance(count, int):
        raise UnsupportedPlanError("rounding to a number of places that isn't a literal has no Spark form yet")
    return count


def rounded(name: str) -> Callable[[Call], str]:
    def body(call: Call) -> str:
        count = places(call)
        if count >= 0 and not isinstance(concrete(call.output), FP32 | FP64):
            return call.sql(0)
        return f"{name}({call.sql(0)}, {count})"

    return body


TABLE = Table(
    "extension:io.substrait:functions_rounding",
    (
        row("ceil", whole("<", "+")),
        row("floor", whole(">", "-")),
        row("round", rounded("round"), rounding="TIE_AWAY_FROM_ZERO"),
        row("round", rounded("bround"), rounding="TIE_TO_EVEN"),
    ),
)
