"""A plan's bytes to an analysed DataFrame, beside ``spark.sql`` of the query, and where the time goes."""

from __future__ import annotations

import multiprocessing
import statistics
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.options import Options
from benchmarks.report import Section
from benchmarks.timing import Action, anew, median, side_by_side
from benchmarks.tpch import files, plan_file, sql, views

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["measure"]

_BYTES = (
    "Bytes of DataFusion's TPC-H plans to an analysed DataFrame, beside `spark.sql` of the query's text and its schema"
)


def measure(options: Options) -> list[Section]:
    """DataFusion's plans, in a session of either kind."""
    spark = options.session()
    views(spark, options.scale)
    sections = [
        _beside(spark, options, "classic"),
        _beside(spark, options, "classic, tables as paths", files(options.scale)),
        _parts(spark, options),
    ]
    spark.stop()
    # the server that a remote session starts needs a process without any other session
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return sections + pool.submit(_connect, options).result()


def _connect(options: Options) -> list[Section]:
    """The same with a server of Spark Connect on this machine."""
    spark = options.session(remote="local[2]")
    views(spark, options.scale)
    sections = [
        _beside(spark, options, "Connect"),
        _beside(spark, options, "Connect, tables as paths", files(options.scale)),
    ]
    spark.stop()
    return sections


def _beside(spark: SparkSession, options: Options, kind: str, tables: dict[str, Path] | None = None) -> Section:
    import pyspark_substrait

    given = "are views of the session" if tables is None else "are given as paths, and views for `spark.sql`"
    section = Section(
        f"Translate, {kind}",
        peer="spark.sql",
        about=f"{_BYTES}; the tables {given}; warm. A plan is new, or was seen before ('again').",
    )

    def ours(content: bytes) -> object:
        return pyspark_substrait.from_substrait(pyspark_substrait.load(content), spark, tables=tables).schema

    def theirs(text: str) -> object:
        return spark.sql(text).schema

    ratios: dict[str, list[float]] = {"new": [], "seen before": []}
    for query in options.queries:
        content, text = plan_file("datafusion", query).read_bytes(), sql(query)
        new, again, peer = side_by_side(
            [anew(ours, content), partial(ours, content), partial(theirs, text)],
            max(options.rounds, 15),
            warm=2 if options.quick else 10,
        )
        section.add(query, new, peer)
        section.add(f"{query} again", again, peer)
        ratios["new"].append(new / peer)
        ratios["seen before"].append(again / peer)
    for what, most in (("new", 1.4), ("seen before", 1.05)):
        if tables is None:
            section.aim(
                f"translate, {kind}, a plan {what}, median of the queries", most, statistics.median(ratios[what])
            )
    return section


def _parts(spark: SparkSession, options: Options) -> Section:
    """Where the time of a translation goes in a classic session."""
    import pyspark_substrait

    section = Section(
        "Translate, its parts",
        peer="the query's own text",
        about="The medians over the plans of what a translation consists of, in a classic session with views; Spark's "
        "parsing and analysis of our text beside those of the query's.",
    )
    parser = spark._jsparkSession.sessionState().sqlParser()
    found: dict[str, list[tuple[float, float | None]]] = {}
    for query in options.queries:
        content, text = plan_file("datafusion", query).read_bytes(), sql(query)
        plan = pyspark_substrait.load(content)
        statement = pyspark_substrait.to_sql(plan, formatted=False)
        rounds, warm = max(options.rounds, 15), 2 if options.quick else 5
        alone: dict[str, Action] = {
            "load": anew(pyspark_substrait.load, content),
            "to_sql": partial(pyspark_substrait.to_sql, plan, formatted=False),
            "from_substrait of a loaded plan": partial(pyspark_substrait.from_substrait, plan, spark),
        }
        for what, action in alone.items():
            found.setdefault(what, []).append((median(action, rounds, warm=warm), None))
        beside = {
            "Spark's parsing": parser.parsePlan,
            "spark.sql: parsing and analysis": spark.sql,
        }
        for what, ask in beside.items():
            both = side_by_side(
                [partial(ask, statement), partial(ask, text)],
                rounds,
                warm=warm,
            )
            found.setdefault(what, []).append((both[0], both[1]))
    for what, times in found.items():
        peers = [peer for _, peer in times if peer is not None]
        section.add(what, statistics.median(ours for ours, _ in times), statistics.median(peers) if peers else None)
    return section
