"""A plan's bytes to an analysed DataFrame, beside ``spark.sql`` of the query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.options import Options
from benchmarks.report import Section
from benchmarks.timing import side_by_side
from benchmarks.tpch import plan_file, sql, views

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["measure"]


def measure(options: Options) -> list[Section]:
    """DataFusion's plans, in a classic session."""
    spark = options.session()
    views(spark, options.scale)
    section = _beside(spark, options, "classic")
    spark.stop()
    return [section]


def _beside(spark: SparkSession, options: Options, kind: str) -> Section:
    import pyspark_substrait

    section = Section(
        f"Translate, {kind}",
        peer="spark.sql",
        about="Bytes of DataFusion's TPC-H plans to an analysed DataFrame, beside `spark.sql` of the query's text; the "
        "tables are views of the session; warm.",
    )

    def ours(content: bytes) -> object:
        return pyspark_substrait.from_substrait(pyspark_substrait.load(content), spark).schema

    for query in options.queries:
        content, text = plan_file("datafusion", query).read_bytes(), sql(query)
        both = side_by_side(
            [lambda content=content: ours(content), lambda text=text: spark.sql(text).schema],
            max(options.rounds, 15),
            warm=10,
        )
        section.add(query, *both)
    section.aim(f"translate, {kind}, median of the queries", 1.0, section.median_ratio())
    return section
