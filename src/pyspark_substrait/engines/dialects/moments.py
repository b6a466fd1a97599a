"""Dates and timestamps rounded down."""

from __future__ import annotations

from sqlglot import exp

from pyspark_substrait.codes import Code
from pyspark_substrait.engines.dialects.dialect import Call, Row, row
from pyspark_substrait.engines.moments import is_utc
from pyspark_substrait.errors import UnsupportedPlanError

__all__ = ["starts_of_units"]


def starts_of_units(template: str) -> list[Row]:
    """Return the rows of ``round_calendar`` to the start of a unit, in UTC for timestamps with a zone.

    Args:
        template: the value of a date or a timestamp without a zone; ``{part}`` is the name of the unit.
    """

    def body(call: Call) -> exp.Expression:
        unit, many = call.operands[2], call.literal(4)
        part = "QUARTER" if (unit, many) == ("MONTH", 3) else unit
        zone = call.literal(5)
        if (many != 1 and part != "QUARTER") or not (len(call.operands) == 5 or is_utc(str(zone))):
            raise UnsupportedPlanError(
                f"{call.function.key} to a multiple of several units, or in a time zone other than UTC, has no form in "
                f"{call.dialect.engine}",
                code=Code.TARGET_FUNCTION,
            )
        made = template.replace("{part}", str(part))
        if zone is None:
            return call.filled(f"CAST({made} AS {{output}})")
        made = made.replace("{0}", "({0} AT TIME ZONE 'UTC')")
        return call.filled(f"{made} AT TIME ZONE 'UTC'")

    coarse = {1: "FLOOR", 2: ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND")}
    weeks = {1: "FLOOR", 2: "WEEK", 3: ("MONDAY_WEEK", "ISO_WEEK")}
    return [row("round_calendar", body, enums=enums) for enums in (coarse, weeks)]
