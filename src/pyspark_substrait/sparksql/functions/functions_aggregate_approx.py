"""Approximate aggregates (``functions_aggregate_approx.yaml``)."""

from __future__ import annotations

from pyspark_substrait.sparksql.functions.table import Table, row

__all__ = ["TABLE"]

TABLE = Table(
    "extension:io.substrait:functions_aggregate_approx",
    (row("approx_count_distinct", "[approx_count_distinct({x})]"),),
)
