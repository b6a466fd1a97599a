"""Functions of dates, times, timestamps and intervals (``functions_datetime.yaml``).

Most of them are in separate packages, ``datetimes`` and ``time_formats``. ``datetimes.zones`` defines the valid time
zones.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark_substrait.sql.functions import time_formats
from pyspark_substrait.sql.functions.datetimes import arithmetic as datetime_arithmetic
from pyspark_substrait.sql.functions.datetimes import extract
from pyspark_substrait.sql.functions.datetimes import rounding as temporal_rounding
from pyspark_substrait.sql.functions.table import Call, Foreign, Row, Table, in_steps, row

__all__ = ["TABLE"]


def comparison(name: str, operator: str) -> Row:
    return row(name, f"{{x}} {operator} {{y}}", foreign=Foreign.ORDERED)


def aggregate(name: str) -> Callable[[Call], str]:
    return lambda call: call.aggregate(name, call.sql(0))


TABLE = Table(
    "extension:io.substrait:functions_datetime",
    (
        *extract.ROWS,
        *datetime_arithmetic.ROWS,
        *time_formats.ROWS,
        *temporal_rounding.ROWS,
        comparison("lt", "<"),
        comparison("lte", "<="),
        comparison("gt", ">"),
        comparison("gte", ">="),
        row("min", aggregate("min"), steps=in_steps(aggregate("min")), foreign=Foreign.ORDERED, catalyst="Min"),
        row("max", aggregate("max"), steps=in_steps(aggregate("max")), foreign=Foreign.ORDERED, catalyst="Max"),
    ),
)
