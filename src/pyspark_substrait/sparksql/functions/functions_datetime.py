"""Functions of dates, times, timestamps and intervals (``functions_datetime.yaml``), those without time zones.

A month added to the end of a month gives the end of the shorter month. Days are 24 hours.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark_substrait.sparksql.functions.table import Call, Foreign, Row, Table, in_steps, row

__all__ = ["TABLE"]

_DATE = "req_date"
_TIMESTAMP = "req_pts"
_TIME = "req_pt"
_INDEXED = ("req_req_date", "req_req_pts")

_MICROS_OF_SECOND = "CAST(extract(SECOND FROM {x}) % 1 * 1000000 AS BIGINT)"
# the Wednesday of the week that begins on Sunday: its year is the week's year
_WEDNESDAY = "date_add(CAST({x} AS DATE), 4 - dayofweek({x}))"

#: components without an indexing, of dates and timestamps
_OF_DATES = {
    "YEAR": "CAST(year({x}) AS BIGINT)",
    "ISO_YEAR": "CAST(extract(YEAROFWEEK FROM {x}) AS BIGINT)",
    "US_YEAR": f"CAST(year({_WEDNESDAY}) AS BIGINT)",
}
#: components without an indexing, of times and timestamps
_OF_TIMES = {
    "HOUR": "CAST(hour({x}) AS BIGINT)",
    "MINUTE": "CAST(minute({x}) AS BIGINT)",
    "SECOND": "CAST(second({x}) AS BIGINT)",
    "MILLISECOND": f"{_MICROS_OF_SECOND} div 1000L",
    "MICROSECOND": f"{_MICROS_OF_SECOND} % 1000L",
    "SUBSECOND": _MICROS_OF_SECOND,
}
_UNIX_TIME_OF_DATE = "CAST(unix_date({x}) AS BIGINT) * 86400L"
_UNIX_TIME = (
    "CAST(unix_date(CAST({x} AS DATE)) AS BIGINT) * 86400L"
    " + CAST(hour({x}) * 3600 + minute({x}) * 60 + second({x}) AS BIGINT)"
)
#: components that are counted from one
_FROM_ONE = {
    "QUARTER": "quarter({x})",
    "MONTH": "month({x})",
    "DAY": "day({x})",
    "DAY_OF_YEAR": "dayofyear({x})",
    "MONDAY_DAY_OF_WEEK": "weekday({x}) + 1",
    "SUNDAY_DAY_OF_WEEK": "dayofweek({x})",
    "ISO_WEEK": "weekofyear({x})",
    "US_WEEK": f"(dayofyear({_WEDNESDAY}) + 6) div 7",
}


def _extract() -> tuple[Row, ...]:
    rows = [
        row("extract", body, signatures=(_DATE, _TIMESTAMP), enums={"component": name})
        for name, body in _OF_DATES.items()
    ]
    rows += [
        row("extract", body, signatures=(_TIMESTAMP, _TIME), enums={"component": name})
        for name, body in _OF_TIMES.items()
    ]
    rows += [
        row("extract", _UNIX_TIME_OF_DATE, signatures=(_DATE,), enums={"component": "UNIX_TIME"}),
        row("extract", _UNIX_TIME, signatures=(_TIMESTAMP,), enums={"component": "UNIX_TIME"}),
        # finer than any timestamp that Spark can hold
        row("extract", no_nanoseconds, signatures=(_TIMESTAMP,), enums={"component": "NANOSECOND"}),
    ]
    for name, body in _FROM_ONE.items():
        one, zero = f"CAST({body} AS BIGINT)", f"CAST({body} - 1 AS BIGINT)"
        rows.append(row("extract", one, signatures=_INDEXED, enums={"component": name, "indexing": "ONE"}))
        rows.append(row("extract", zero, signatures=_INDEXED, enums={"component": name, "indexing": "ZERO"}))
    return tuple(rows)


def no_nanoseconds(call: Call) -> str:
    return f"if({call.sql(1)} IS NULL, NULL, 0L)"


_LEAP_YEAR = "(year({x}) % 4 = 0 AND (year({x}) % 100 <> 0 OR year({x}) % 400 = 0))"


def shifted(operator: str) -> tuple[Row, ...]:
    """The rows of ``add`` or ``subtract``."""
    name = {"+": "add", "-": "subtract"}[operator]
    return (
        row(name, f"{{x}} {operator} {{y}}", signatures=("pts_iyear", "pts_iday", "date_iyear")),
        # Spark would add whole days to a date as days, and the rest as a timestamp with zone
        row(name, f"CAST({{x}} AS TIMESTAMP_NTZ) {operator} {{y}}", signatures=("date_iday",)),
    )


def comparison(name: str, operator: str) -> Row:
    return row(name, f"{{x}} {operator} {{y}}", foreign=Foreign.ORDERED)


def aggregate(name: str) -> Callable[[Call], str]:
    return lambda call: call.aggregate(name, call.sql(0))


TABLE = Table(
    "extension:io.substrait:functions_datetime",
    (
        *_extract(),
        row("extract_boolean", _LEAP_YEAR, signatures=("req_date", "req_pts"), enums={"component": "IS_LEAP_YEAR"}),
        *shifted("+"),
        *shifted("-"),
        row("multiply", "{y} * {x}"),
        row("add_intervals", "{x} + {y}"),
        comparison("lt", "<"),
        comparison("lte", "<="),
        comparison("gt", ">"),
        comparison("gte", ">="),
        row("min", aggregate("min"), steps=in_steps(aggregate("min")), foreign=Foreign.ORDERED),
        row("max", aggregate("max"), steps=in_steps(aggregate("max")), foreign=Foreign.ORDERED),
    ),
)
