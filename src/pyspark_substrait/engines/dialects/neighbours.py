"""Window functions that give the value of another record, as several dialects have them."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from pyspark_substrait.engines.dialects.dialect import Call
from pyspark_substrait.errors import UnsupportedPlanError

__all__ = ["neighbour", "nth_value"]


def nth_value(place: str) -> Callable[[Call], exp.Expression]:
    """Return the body of ``nth_value``, whose position is a constant; ``place`` is the template of what follows."""

    def body(call: Call) -> exp.Expression:
        number = call.literal(1)
        if not isinstance(number, int) or number < 1:
            raise UnsupportedPlanError(f"{call.function.key} of a position that is not a constant of 1 or more")
        return call.filled(f"NTH_VALUE({{0}}, {place})")

    return body


def neighbour(name: str, offset: str = "{1}", *, least: int = 0, end: str = "") -> Callable[[Call], exp.Expression]:
    """Return the body of ``lead`` or ``lag`` by a constant number of records.

    Args:
        name: the function.
        offset: the template of the number.
        least: the least number that it takes.
        end: what follows the arguments.
    """

    def body(call: Call) -> exp.Expression:
        number = call.literal(1)
        if len(call.operands) > 1 and (not isinstance(number, int) or number < least):
            raise UnsupportedPlanError(
                f"{call.function.key} by a number of records that is not a constant of {least} or more"
            )
        others = ["", f", {offset}", f", {offset}, {{2}}"][len(call.operands) - 1]
        return call.filled(f"{name}({{0}}{others}{end})")

    return body
