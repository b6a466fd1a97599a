"""Counts as decimals (``functions_aggregate_decimal_output.yaml``)."""

from __future__ import annotations

from pyspark_substrait.sparksql.functions.functions_aggregate_generic import ANY_OVERFLOW, count_records
from pyspark_substrait.sparksql.functions.table import Call, Table, row

__all__ = ["TABLE"]


def count_records_as_decimal(call: Call) -> str:
    return f"CAST({count_records(call)} AS DECIMAL(38, 0))"


TABLE = Table(
    "extension:io.substrait:functions_aggregate_decimal_output",
    (
        row("count", count_records_as_decimal, signatures=("",), overflow=ANY_OVERFLOW),
        row("count", "CAST([count({x})] AS {output})", signatures=("any",), overflow=ANY_OVERFLOW),
        row("approx_count_distinct", "CAST([approx_count_distinct({x})] AS {output})"),
    ),
)
