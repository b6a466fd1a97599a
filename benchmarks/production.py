"""Queries and DataFrames to the bytes of plans, beside Spark's analysis alone and beside DataFusion; and the parts."""

from __future__ import annotations

import statistics
from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks.options import Options
from benchmarks.report import Section
from benchmarks.timing import median, side_by_side
from benchmarks.tpch import TABLES, files, sql, views

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

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
    analysed = Section(
        "Produce, of a DataFrame",
        peer="spark.sql",
        about="A DataFrame, analysed already, to the bytes of a plan, beside the analysis of its text.",
    )
    rounds = max(options.rounds, 7)

    def produced(frame: DataFrame) -> bytes:
        return pyspark_substrait.to_substrait(frame, tables=TABLES).to_bytes()

    def produced_of_text(text: str) -> bytes:
        return produced(spark.sql(text))

    for query in options.queries:
        text = sql(query)
        frame = spark.sql(text)
        ours, alone, theirs, made = side_by_side(
            [
                partial(produced_of_text, text),
                partial(spark.sql, text),
                partial(datafusion.substrait.Serde.serialize_bytes, text, context),
                partial(produced, frame),
            ],
            rounds,
            warm=1 if options.quick else 10,
        )
        analysis.add(query, ours, alone)
        peer.add(query, ours, theirs)
        analysed.add(query, made, alone)
    analysis.aim("produce, by the analysis alone, median of the queries", 2.0, analysis.median_ratio())
    parts = _parts(spark, options.queries, rounds)
    spark.stop()
    return [analysis, peer, analysed, parts]


def _parts(spark: SparkSession, queries: tuple[str, ...], rounds: int) -> Section:
    """Where the time of a DataFrame to bytes goes."""
    import pyspark_substrait
    from pyspark_substrait.spark.producer.transfer import query_json

    found: dict[str, list[float]] = {"answer": [], "plan": [], "bytes": []}
    for query in queries:
        frame = spark.sql(sql(query))
        execution = frame._jdf.queryExecution()
        plan = pyspark_substrait.to_substrait(frame, tables=TABLES)
        answer, whole, written = side_by_side(
            [
                partial(query_json, execution, optimized=False),
                partial(pyspark_substrait.to_substrait, frame, tables=TABLES),
                plan.to_bytes,
            ],
            rounds,
        )
        found["answer"].append(answer)
        found["plan"].append(max(whole - answer, 0.0))
        found["bytes"].append(written)
    jvm: Any = spark._jvm
    call = median(jvm.java.lang.Runtime.getRuntime().availableProcessors, 50, warm=10)
    section = Section("Produce, the parts", about="Medians over the queries.")
    section.add("the plan in the JVM as JSON, compressed, fetched and read", statistics.median(found["answer"]))
    section.add("of that, an answer without content (one call of py4j)", call)
    section.add("the model made of it", statistics.median(found["plan"]))
    section.add("written as bytes", statistics.median(found["bytes"]))
    return section
