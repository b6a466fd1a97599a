"""Aggregates of values of any type (``functions_aggregate_generic.yaml``)."""

from __future__ import annotations

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.sparksql.functions.table import Call, Table, row

__all__ = ["TABLE", "count_records"]


def count_records(call: Call) -> str:
    if call.distinct:
        raise UnsupportedPlanError("count of distinct records, without an argument, has no Spark form yet")
    return call.aggregate("count", "1")


def any_known_value(call: Call) -> str:
    return call.aggregate("any_value", call.sql(0), ignore_nulls=True)


ANY_OVERFLOW = ("ERROR", "SATURATE", "SILENT")  # no table has 2**63 records

TABLE = Table(
    "extension:io.substrait:functions_aggregate_generic",
    (
        row("count", count_records, signatures=("",), overflow=ANY_OVERFLOW),
        row("count", "[count({x})]", signatures=("any",), overflow=ANY_OVERFLOW),
        row("any_value", "[any_value({x})]", ignore_nulls="FALSE"),
        row("any_value", any_known_value, ignore_nulls="TRUE"),
    ),
)
