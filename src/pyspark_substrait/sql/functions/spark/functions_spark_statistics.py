"""Extremes, sums and averages with Spark's semantics (``functions_spark_statistics.yaml``)."""

from __future__ import annotations

from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.arithmetic.aggregates import counted, float_product
from pyspark_substrait.sql.functions.catalyst import ansi, legacy
from pyspark_substrait.sql.functions.table import Call, Table, row

__all__ = ["TABLE"]


def wrapping_sum(call: Call) -> str:
    """Return the lowest 64 bits of a sum: in ANSI mode, Spark's own sum raises an error on overflow."""
    total = call.aggregate("sum", f"CAST({call.sql(0)} AS DECIMAL(20, 0))")
    return Atom(f"CAST(pmod({total} + {2**63}BD, {2**64}BD) - {2**63}BD AS BIGINT)")


def product(call: Call) -> str:
    """A product, which Spark has in DataFrames but not in SQL."""
    return Atom(f"if({counted(call)} = 0L, NULL, {float_product(call)})")


TABLE = Table(
    "extension:pyspark_substrait:functions_spark_statistics",
    (
        row("min", "[min({x})]", catalyst="Min"),
        row("max", "[max({x})]", catalyst="Max"),
        # sums of intervals raise errors in both modes
        row("sum", "[sum({x})]", catalyst=(ansi("Sum"), legacy("Sum"))),
        row("avg", "[avg({x})]", signatures=("dec",), catalyst=ansi("Average")),
        row("avg", "[avg({x})]", signatures=("iyear", "iday"), catalyst=(ansi("Average"), legacy("Average"))),
        row("wrapping_sum", wrapping_sum, catalyst=legacy("Sum")),
        row("product", product, catalyst="Product"),
    ),
)
