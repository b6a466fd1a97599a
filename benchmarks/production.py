"""A query to the bytes of a plan, beside Spark's analysis alone and beside DataFusion."""

from __future__ import annotations

from benchmarks.options import Options
from benchmarks.report import Section
from benchmarks.timing import side_by_side
from benchmarks.tpch import TABLES, files, sql, views

__all__ = ["measure"]


def measure(options: Options) -> list[Section]:
    """The TPC-H queries; tables are views of the session."""
    import datafusion
    import datafusion.substrait

    import pyspark_substrait

    spark = options.session()
    views(spark, options.scale)
    context = datafusion.SessionContext()
    for name, path in files(options.scale).items():
        context.register_parquet(name, str(path))
    analysis = Section(
        "Produce, beside Spark's analysis",
        peer="spark.sql",
        about="SQL text to the bytes of a plan, beside `spark.sql` of the same text, which is a part of it.",
    )
    peer = Section("Produce, beside DataFusion", peer="DataFusion", about="The same, beside DataFusion's producer.")
    for query in options.queries:
        text = sql(query)
        ours, alone, theirs = side_by_side(
            [
                lambda text=text: pyspark_substrait.to_substrait(spark.sql(text), tables=TABLES).to_bytes(),
                lambda text=text: spark.sql(text),
                lambda text=text: datafusion.substrait.Serde.serialize_bytes(text, context),
            ],
            max(options.rounds, 7),
            warm=5,
        )
        analysis.add(query, ours, alone)
        peer.add(query, ours, theirs)
    analysis.aim("produce, by the analysis alone, median of the queries", 2.0, analysis.median_ratio())
    spark.stop()
    return [analysis, peer]
