"""The distance of a value from a point of a grid, as Spark SQL: the arithmetic of ``rounding``, on counts.

A grid of equal steps only needs a remainder: that of the time since any of its points, the *phase*. A grid of months is
computed with the calendar.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pyspark_substrait.sql.compiler.literals import string_literal
from pyspark_substrait.sql.functions.common_expressions import bound
from pyspark_substrait.sql.functions.datetimes.rounding_values import Values, once

__all__ = ["MONTHS", "Step", "anchor", "by_months", "by_steps", "elapsed", "since"]

#: the number of months of the calendar units
MONTHS: Final = {"MONTH": 1, "YEAR": 12}
#: the days from the start of a week to 1970-01-01, a Thursday, by the kind of week
_THURSDAY: Final = {"MONDAY_WEEK": 3, "ISO_WEEK": 3, "SUNDAY_WEEK": 4, "US_WEEK": 4}
#: more than twice the months between any two timestamps. A longer step gives the same results: the origin, or nothing
_MOST_MONTHS: Final = 15_000_000

#: the distance to the chosen point
_BY_STEPS: Final = {
    "FLOOR": "-pmod({phase}, {step})",
    "CEIL": "pmod(-{phase}, {step})",
    "ROUND_TIE_DOWN": "(pmod({half} - {phase}, {step}) - {half})",
    "ROUND_TIE_UP": "({half} - pmod({phase} + {half}, {step}))",
}


@dataclass(frozen=True)
class Step:
    """The distance between two points of a grid.

    Args:
        multiple: the number of units; a text if that isn't a constant.
        ticks: the length of the unit.
    """

    multiple: int | str
    ticks: int

    @property
    def wide(self) -> bool:
        """Whether the arithmetic is done in decimals, in which nothing overflows. Else a BIGINT holds two steps."""
        return isinstance(self.multiple, str) or self.multiple * self.ticks > 1 << 61

    @property
    def length(self) -> str:
        if isinstance(self.multiple, str):
            return f"({self.multiple} * {self.ticks}BD)"
        return f"{self.multiple * self.ticks}{'BD' if self.wide else 'L'}"

    @property
    def half(self) -> str:
        """Half of the step, rounded down, which suffices as counts are whole numbers."""
        if isinstance(self.multiple, str):
            return f"({self.multiple} DIV 2 * {self.ticks}BD + {self.multiple} % 2 * {self.ticks // 2}BD)"
        return f"{self.multiple * self.ticks // 2}{'BD' if self.wide else 'L'}"

    def lands_on(self, resolution: int) -> bool:
        """Whether all points of a grid have a resolution, if one has it."""
        length = self.ticks if isinstance(self.multiple, str) else self.multiple * self.ticks
        return length % resolution == 0


def since(step: Step, n: str, origin: int | str) -> str:
    """The phase of a count on a grid that starts at another one."""
    if step.wide:
        # 38 digits hold any difference of counts, and any step
        return f"(CAST({n} AS DECIMAL(38, 0)) - {f'{origin}BD' if isinstance(origin, int) else origin})"
    if isinstance(origin, str):
        return f"(pmod({n}, {step.length}) - pmod({origin}, {step.length}))"
    assert isinstance(step.multiple, int)
    rest = origin % (step.multiple * step.ticks)
    return f"(pmod({n}, {step.length}) - {rest}L)" if rest else f"pmod({n}, {step.length})"


def anchor(values: Values, unit: str, multiple: int | str, start: str) -> int | None:
    """Return a point of all grids that start at the start of a unit, as days since 1970-01-01; None if they differ.

    They are the same grid if that unit, or the day if its length varies, is a whole number of steps.
    """
    if isinstance(multiple, str):
        return None
    if unit in MONTHS:
        whole = start in MONTHS and MONTHS[start] % (multiple * MONTHS[unit]) == 0
    else:
        length = values.ticks["WEEK"] if start in _THURSDAY else values.day if start in MONTHS else values.ticks[start]
        whole = length % (multiple * values.ticks[unit]) == 0
    return -_THURSDAY.get(start, 0) if whole else None


def elapsed(values: Values, unit: str, n: str) -> str:
    """Return the distance of a count from the start of the unit that contains it."""
    if unit in _THURSDAY:
        week = values.ticks["WEEK"]
        return f"pmod(pmod({n}, {week}L) + {_THURSDAY[unit] * values.day}L, {week}L)"
    if unit not in MONTHS:
        return f"pmod({n}, {values.ticks[unit]}L)"
    function = "day" if unit == "MONTH" else "dayofyear"
    if values.day == 1:
        return f"CAST({function}({values.date(n)}) - 1 AS BIGINT)"
    # a BIGINT doesn't hold the picoseconds of a year
    long = "BD" if values.day > 1 << 54 else "L"
    return once(n, "n", lambda n: f"(({function}({values.date(n)}) - 1) * {values.day}{long} + {values.clock(n)})")


def by_steps(values: Values, rounding: str, step: Step, phase: str) -> str:
    """Return the distance to the chosen point, for a value with a phase."""
    distance = _BY_STEPS[rounding].format(phase=phase, step=step.length, half=step.half)
    resolution = values.resolution
    if step.lands_on(resolution):
        return distance
    reason = string_literal(f"{values.call.function.name}: the nearest multiple has more digits than the type")
    return once(
        distance,
        "d",
        lambda d: f"CASE WHEN {d} % {resolution}L <> 0L THEN CAST(raise_error({reason}) AS BIGINT) ELSE {d} END",
    )


def by_months(
    values: Values, rounding: str, unit: str, multiple: int | str, n: str, start: Callable[[str], str]
) -> str:
    """Return the distance to the chosen point, for a count on a grid of months that starts at its ``start``."""
    factor = MONTHS[unit]
    step = (
        f"{min(multiple * factor, _MOST_MONTHS)}"
        if isinstance(multiple, int)
        else f"CAST(least({multiple}, {_MOST_MONTHS // factor}L) * {factor}L AS INT)"
    )
    return once(n, "n", lambda n: once(start(n), "o", lambda o: _by_months(values, rounding, step, n, o)))


def _by_months(values: Values, rounding: str, step: str, n: str, o: str) -> str:
    def point(months: str) -> str:
        """Return the point ``months`` months from the origin."""
        day = f"unix_date(add_months({values.date(o)}, {months}))"
        return day if values.day == 1 else f"({day} * {values.day}BD + {values.clock(o)})"

    # m: the months from the origin's month to that of the value; j, k: those to a point
    months = f"{_month(values.date(n))} - {_month(values.date(o))}"
    if rounding == "CEIL":
        up = bound(f"m + CAST({point('m')} < {n} AS INT)", "j", f"({point(f'j + pmod(-j, {step})')} - {n})")
        return bound(months, "m", up)
    # the last point that isn't after the value
    down = f"j - pmod(j, {step})"
    if rounding == "FLOOR":
        chosen = f"({point(down)} - {n})"
    else:
        nearer = ">" if rounding == "ROUND_TIE_DOWN" else ">="
        both = f"named_struct('low', {point('k')}, 'high', {point(f'k + {step}')})"
        choice = f"(if({n} * 2BD {nearer} p.low + p.high, p.high, p.low) - {n})"
        chosen = bound(down, "k", bound(both, "p", choice))
    return bound(months, "m", bound(f"m - CAST({point('m')} > {n} AS INT)", "j", chosen))


def _month(date: str) -> str:
    return f"(year({date}) * 12 + month({date}))"
