"""The TPC-H queries to their last row: our plans, DataFusion's plans, and Spark's SQL.

Where Spark makes another physical plan of a Substrait plan than of the query, the line says in what they differ.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.options import Options
from benchmarks.report import Section
from benchmarks.shapes import differences, shape
from benchmarks.timing import side_by_side
from benchmarks.tpch import TABLES, plan_file, sql, views

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["drain", "measure"]

_LIMIT_OF_ONE = 1.2


def measure(options: Options) -> list[Section]:
    """Each query in turn on each side, from the plan's bytes or the text; nothing is kept of the rows."""
    import pyspark_substrait

    spark = options.session()
    views(spark, options.scale)

    def frame(content: bytes) -> DataFrame:
        return pyspark_substrait.from_substrait(pyspark_substrait.load(content), spark)

    def run(content: bytes) -> None:
        drain(frame(content))

    def run_text(text: str) -> None:
        drain(spark.sql(text))

    about = "From the plan's bytes, or the text, to the last row, which goes nowhere; views over Parquet files."
    own = Section(f"Run our own plans, TPC-H at scale {options.scale}", "spark.sql", about)
    foreign = Section(f"Run DataFusion's plans, TPC-H at scale {options.scale}", "spark.sql", about)
    for query in options.queries:
        text = sql(query)
        produced = pyspark_substrait.to_substrait(spark.sql(text), tables=TABLES).to_bytes()
        sent = Path(plan_file("datafusion", query)).read_bytes()
        ours, theirs, plain = side_by_side(
            [partial(run, produced), partial(run, sent), partial(run_text, text)], options.rounds
        )
        native = shape(spark.sql(text))
        own.add(query, ours, plain, note=differences(shape(frame(produced)), native))
        foreign.add(query, theirs, plain, note=differences(shape(frame(sent)), native))
    for section, what, limit in ((own, "our own plans", 1.0), (foreign, "DataFusion's plans", 1.03)):
        section.aim(f"run {what}, together", limit, section.total_ratio())
        section.aim(f"run {what}, the slowest query", _LIMIT_OF_ONE, section.largest_ratio())
    spark.stop()
    return [own, foreign]


def drain(frame: DataFrame) -> None:
    """Run a DataFrame to its last row, and keep nothing of it."""
    frame.write.format("noop").mode("overwrite").save()
