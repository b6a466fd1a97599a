"""Dates and timestamps rounded down."""

from __future__ import annotations

from sqlglot import exp

from pyspark_substrait.codes import Code
from pyspark_substrait.engines.dialects.dialect import Call, Row, row
from pyspark_substrait.engines.moments import is_utc, rounded_unit
from pyspark_substrait.errors import UnsupportedPlanError

__all__ = ["start_of_unit"]


def start_of_unit(template: str) -> Row:
    """Return the row of ``round_calendar`` to the start of a unit, in UTC for timestamps with a zone.

    Args:
        template: the value of a date or a timestamp without a zone; ``{part}`` is the name of the unit.
    """

    def body(call: Call) -> exp.Expression:
        rounding, unit, origin = map(str, call.operands[1:4])
        part = rounded_unit(rounding, unit, origin, call.literal(4))
        zoned = len(call.operands) > 5
        if part is None or (zoned and not is_utc(str(call.literal(5)))):
            raise UnsupportedPlanError(
                f"{call.function.key} with {rounding}, {unit}, {origin} has no form in {call.dialect.engine}",
                hint="It rounds down to the start of a year, quarter, month, week (from Monday), day or less, in UTC",
                code=Code.TARGET_FUNCTION,
            )
        made = template.replace("{part}", part.upper())
        if not zoned:
            return call.filled(f"CAST({made} AS {{output}})")
        made = made.replace("{0}", "({0} AT TIME ZONE 'UTC')")
        return call.filled(f"{made} AT TIME ZONE 'UTC'")

    types = ("date_req_req_req_i64", "pts_req_req_req_i64", "ptstz_req_req_req_i64_str")
    return row("round_calendar", body, signatures=types)
