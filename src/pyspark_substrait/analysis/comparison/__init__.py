"""Comparison of engines: the rows that each gives for a plan, and the smallest part of it on which two differ.

* ``rows``: which rows of two results differ
* ``bisection``: the smallest part of a plan with different rows
* ``comparison``: the result, as text, JSON and a page
"""

from __future__ import annotations

from pyspark_substrait.analysis.comparison.bisection import Bisection, smallest_part
from pyspark_substrait.analysis.comparison.comparison import Comparison, Disagreement, EngineResult, SmallestPart
from pyspark_substrait.analysis.comparison.rows import RowDifference, difference

__all__ = [
    "Bisection",
    "Comparison",
    "Disagreement",
    "EngineResult",
    "RowDifference",
    "SmallestPart",
    "difference",
    "smallest_part",
]
