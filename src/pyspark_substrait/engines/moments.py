"""Dates and times by DataFusion's functions: rounded down, and those of the query's start."""

from __future__ import annotations

from typing import Final

from pyspark_substrait.engines.calls import cast
from pyspark_substrait.engines.constructors import called
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.extensions import engines
from pyspark_substrait.model.expressions import (
    ContextVariable,
    EnumArgument,
    ExecutionContextVariable,
    Expression,
    Function,
    ScalarFunction,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import I32, I64, Date, PrecisionTime, PrecisionTimestamp, String, Type, concrete

__all__ = ["is_utc", "rounded_down", "rounded_unit", "variable_call"]

_ARITHMETIC: Final = "extension:io.substrait:functions_arithmetic"
#: units of dates and times, each larger than the next
_UNITS: Final = ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND")


def rounded_unit(rounding: str, unit: str, origin: str, multiple: object) -> str | None:
    """Return the unit to whose start ``round_calendar`` rounds down, as SQL calls it; None if it does something else.

    Examples:
        >>> rounded_unit("FLOOR", "MONTH", "YEAR", 3)
        'quarter'
    """
    if rounding != "FLOOR" or isinstance(multiple, bool):
        return None
    if (unit, multiple) == ("WEEK", 1):
        return "week" if origin in ("MONDAY_WEEK", "ISO_WEEK") else None
    if (unit, origin, multiple) == ("MONTH", "YEAR", 3):
        return "quarter"
    if multiple != 1 or unit not in _UNITS or origin not in _UNITS or _UNITS.index(origin) > _UNITS.index(unit):
        return None
    return unit.lower()


def is_utc(zone: str) -> bool:
    """Whether a time zone is UTC, the only one in which DataFusion computes with timestamps."""
    return zone in ("UTC", "Etc/UTC", "Z", "+00:00")


def _called(
    name: str, signature: str, type: Type, *arguments: Expression, urn: str = engines.DATAFUSION.urn
) -> Expression:
    return called(Function(urn, name, signature), type, *arguments)


def rounded_down(call: ScalarFunction, values: tuple[Expression, ...]) -> Expression:
    """Return ``round_calendar`` to the start of a unit. Dates are computed from their parts: as timestamps, they would
    be limited to the years 1677 to 2262.

    Raises:
        UnsupportedPlanError: it rounds up, to another multiple, from another origin, or in another zone.
    """
    rounding, unit, origin = (item.value for item in call.arguments if isinstance(item, EnumArgument))
    value, multiple, *zones = values
    part = rounded_unit(rounding, unit, origin, multiple.value) if isinstance(multiple, Literal) else None
    if isinstance(concrete(value.type), PrecisionTime):
        part = None
    if part is None or not all(isinstance(zone, Literal) and is_utc(str(zone.value)) for zone in zones):
        raise UnsupportedPlanError(
            f"DataFusion has no form for {call.function.key} of {value.type} with {rounding} {unit} {origin}",
            hint="It rounds down to the start of a year, quarter, month, week (from Monday), day or less, in UTC",
        )
    if isinstance(value.type, Date):
        return _start_of_date(part, value)
    signature = f"str_{'ptstz' if zones else 'pts'}"
    return _called("date_trunc", signature, call.output_type, Literal(type=String(), value=part), value)


def _start_of_date(part: str, value: Expression) -> Expression:
    nullable = value.type.nullable
    number = I64(nullable=nullable)

    def of(name: str) -> Expression:
        found = _called("date_part", "str_date", I32(nullable=nullable), Literal(type=String(), value=name), value)
        return cast(found, number)

    def computed(name: str, left: Expression, right: Expression) -> Expression:
        return _called(name, "i64_i64", number, left, right, urn=_ARITHMETIC)

    one, two, three = (Literal(type=I64(), value=value) for value in (1, 2, 3))
    match part:
        case "week":
            day = cast(cast(value, I32(nullable=nullable)), number)
            monday = computed("subtract", computed("subtract", day, of("isodow")), Literal(type=I64(), value=-1))
            return cast(cast(monday, I32(nullable=nullable)), value.type)
        case "year":
            month: Expression = one
        case "quarter":
            month = computed("subtract", computed("multiply", of("quarter"), three), two)
        case "month":
            month = of("month")
        case _:
            return value
    return _called("make_date", "i64_i64_i64", value.type, of("year"), month, one)


def variable_call(node: ExecutionContextVariable) -> Expression:
    """Return a variable of the execution as DataFusion's function.

    Raises:
        UnsupportedPlanError: it has none.
    """
    match node.variable:
        case ContextVariable.CURRENT_TIMESTAMP:
            return cast(_called("now", "", PrecisionTimestamp(precision=9)), node.type)
        case ContextVariable.CURRENT_DATE:
            return _called("current_date", "", node.type)
        case _:
            raise UnsupportedPlanError(f"DataFusion has no function for the variable {node.variable.value}")
