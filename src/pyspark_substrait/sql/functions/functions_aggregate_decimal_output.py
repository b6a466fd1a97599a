"""Counts as decimals (``functions_aggregate_decimal_output.yaml``)."""

from __future__ import annotations

from collections.abc import Callable

from pyspark_substrait.sql.compiler.types import spark_type
from pyspark_substrait.sql.fragment import Atom
from pyspark_substrait.sql.functions.functions_aggregate_approx import (
    approximate_count,
    estimate,
    merged_sketch,
    sketch,
)
from pyspark_substrait.sql.functions.functions_aggregate_generic import (
    ANY_OVERFLOW,
    count_records,
    count_values,
    total_count,
)
from pyspark_substrait.sql.functions.table import Call, Foreign, Table, in_steps, row

__all__ = ["TABLE"]


def as_decimal(count: Callable[[Call], str]) -> Callable[[Call], str]:
    return lambda call: Atom(f"CAST({count(call)} AS {spark_type(call.output)})")


TABLE = Table(
    "extension:io.substrait:functions_aggregate_decimal_output",
    (
        *(
            row(
                "count",
                as_decimal(count),
                signatures=(signature,),
                steps=in_steps(as_decimal(count), total_count),
                foreign=Foreign.MOVED,
                overflow=ANY_OVERFLOW,
            )
            for signature, count in (("", count_records), ("any", count_values))
        ),
        row(
            "approx_count_distinct",
            as_decimal(approximate_count),
            steps=in_steps(sketch, merged_sketch, as_decimal(estimate)),
            foreign=Foreign.COMPARED,
        ),
    ),
)
