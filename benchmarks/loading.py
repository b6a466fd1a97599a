"""Bytes to a bound plan, and to a checked one, warm, in one process."""

from __future__ import annotations

import statistics

from benchmarks.options import Options
from benchmarks.report import Section
from benchmarks.timing import side_by_side
from benchmarks.tpch import plan_file

__all__ = ["measure"]


def measure(options: Options) -> list[Section]:
    """Load, and load and check, each TPC-H plan of DataFusion."""
    import pyspark_substrait

    section = Section(
        "Load and check",
        about="Bytes of DataFusion's TPC-H plans to a bound plan, and to a plan and its findings (`load`, then "
        "`validate` of that plan).",
    )
    together = []
    for query in options.queries:
        content = plan_file("datafusion", query).read_bytes()
        load, both = side_by_side(
            [
                lambda content=content: pyspark_substrait.load(content),
                lambda content=content: pyspark_substrait.validate(pyspark_substrait.load(content)),
            ],
            max(options.rounds, 15),
            warm=3,
        )
        section.add(f"{query} load", load)
        section.add(f"{query} load and check", both)
        together.append(both)
    section.aim("load and check a TPC-H plan, median", 0.002, statistics.median(together), "s")
    return [section]
