"""The rules, by the nodes that they check."""

from pyspark_substrait.analysis.lint.rules import (
    booleans,
    calls,
    casts,
    choices,
    comparisons,
    documents,
    filters,
    joins,
    measures,
    projections,
    sorts,
    subqueries,
)

__all__ = [
    "booleans",
    "calls",
    "casts",
    "choices",
    "comparisons",
    "documents",
    "filters",
    "joins",
    "measures",
    "projections",
    "sorts",
    "subqueries",
]
