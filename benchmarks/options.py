"""What a benchmark is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.tpch import QUERIES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Options"]


@dataclass(frozen=True)
class Options:
    """How to measure.

    Args:
        scale: the TPC-H scale factor, as text.
        rounds: how often each thing is measured; the median counts.
        queries: the TPC-H queries to take.
        master: where the session runs.
        quick: only enough to see that the benchmark works; its figures mean nothing.
    """

    scale: str = "1"
    rounds: int = 5
    queries: tuple[str, ...] = tuple(QUERIES)
    master: str = "local[*]"
    quick: bool = False

    def session(self, remote: str | None = None) -> SparkSession:
        """The session that plans run in, the same for both sides of a comparison."""
        from pyspark_substrait.spark.session_start import embedded_session

        return embedded_session(None if remote else self.master, remote, **{"spark.driver.memory": "6g"})
