"""Approximate aggregates (``functions_aggregate_approx.yaml``).

In one phase, distinct values are counted by HyperLogLog++ with an error of 5 %; in several phases, by sketches that
Spark can merge, with an error below 2 %. The results of both are exact for few values, and may differ for many.
"""

from __future__ import annotations

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.types import FP32, FP64, concrete
from pyspark_substrait.sql.compiler.types import has_map, spark_type
from pyspark_substrait.sql.functions.common_expressions import constant
from pyspark_substrait.sql.functions.table import Call, Foreign, Table, in_steps, row

__all__ = ["TABLE", "approximate_count", "estimate", "merged_sketch", "sketch"]

#: the logarithm of the number of registers
_SIZE = 12


def approximate_count(call: Call) -> str:
    if has_map(call.type(0)):
        raise UnsupportedPlanError(f"approx_count_distinct of {call.type(0)}: Spark cannot compare maps")
    return call.aggregate("approx_count_distinct", call.sql(0))


def sketch(call: Call) -> str:
    """Return a sketch of the values; values of types that Spark has no sketch for are converted to text first."""
    x, type = call.sql(0), concrete(call.type(0))
    text: str
    match spark_type(type):
        case "INT" | "BIGINT":
            text = x
        case "TINYINT" | "SMALLINT":
            text = f"CAST({x} AS INT)"
        case "STRING":
            text = f"concat('x', {x})"  # a sketch ignores empty strings
        case "BINARY":
            text = f"concat(X'00', {x})"
        case "TIMESTAMP":
            text = f"unix_micros({x})"
        case "FLOAT" | "DOUBLE" if isinstance(type, FP32 | FP64):
            text = f"CAST({x} + {constant(0, type)} AS STRING)"  # the two zeros are one
        case nested if "<" in nested:
            raise UnsupportedPlanError(f"Spark has no sketch of {type}, so it cannot be counted in several phases")
        case _:
            text = f"CAST({x} AS STRING)"
    return call.aggregate("hll_sketch_agg", text, str(_SIZE))


def merged_sketch(call: Call) -> str:
    return call.aggregate("hll_union_agg", call.sql(0))


def estimate(call: Call) -> str:
    return f"hll_sketch_estimate({merged_sketch(call)})"


TABLE = Table(
    "extension:io.substrait:functions_aggregate_approx",
    (
        row(
            "approx_count_distinct",
            approximate_count,
            steps=in_steps(sketch, merged_sketch, estimate),
            foreign=Foreign.COMPARED,
        ),
    ),
)
