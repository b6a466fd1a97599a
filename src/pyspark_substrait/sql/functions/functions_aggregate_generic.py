"""Aggregates of values of any type (``functions_aggregate_generic.yaml``)."""

from __future__ import annotations

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.sql.compiler.types import has_map, spark_type
from pyspark_substrait.sql.functions.table import Call, Foreign, Table, in_steps, row

__all__ = ["ANY_OVERFLOW", "TABLE", "any_known_value", "count_records", "count_values", "total_count"]


def count_records(call: Call) -> str:
    if call.distinct:
        raise UnsupportedPlanError(
            "count of distinct records, without an argument: the equality of records is not defined"
        )
    return call.aggregate("count", "1")


def count_values(call: Call) -> str:
    if call.distinct and has_map(call.type(0)):
        raise UnsupportedPlanError(f"count of distinct values of {call.type(0)}: Spark cannot compare maps")
    return call.aggregate("count", call.sql(0))


def total_count(call: Call) -> str:
    """Return the sum of counts; zero if there are none."""
    return f"coalesce({call.aggregate('sum', call.sql(0))}, CAST(0 AS {spark_type(call.output)}))"


def any_known_value(call: Call) -> str:
    return call.aggregate("any_value", call.sql(0), ignore_nulls=True)


ANY_OVERFLOW = ("ERROR", "SATURATE", "SILENT")  # no table has 2**63 records

TABLE = Table(
    "extension:io.substrait:functions_aggregate_generic",
    (
        row(
            "count",
            count_records,
            signatures=("",),
            steps=in_steps(count_records, total_count),
            overflow=ANY_OVERFLOW,
        ),
        row(
            "count",
            count_values,
            signatures=("any",),
            steps=in_steps(count_values, total_count),
            foreign=Foreign.MOVED,
            catalyst="Count",
            overflow=ANY_OVERFLOW,
        ),
        # the intermediate value of no record is null, and stands for no value
        row(
            "any_value",
            "[any_value({x})]",
            steps=in_steps("[any_value({x})]", any_known_value),
            foreign=Foreign.MOVED,
            ignore_nulls="FALSE",
        ),
        row(
            "any_value",
            any_known_value,
            steps=in_steps(any_known_value),
            foreign=Foreign.MOVED,
            ignore_nulls="TRUE",
        ),
    ),
)
