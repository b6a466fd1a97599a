"""``make bench``: how fast plans are read, translated and run, beside Spark doing the same from SQL.

It needs the 22 TPC-H queries and their plans in ``../shared/plans/tpch``, and the generator ``tpchgen-cli`` (extra
``test``).
"""

from __future__ import annotations

import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROOT = Path(__file__).resolve().parent.parent
PLANS = ROOT.parent / "shared" / "plans" / "tpch"
DATA = Path.home() / ".cache" / "pyspark-substrait"
TABLES = ("customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier")
QUERIES = [f"q{number:02}" for number in range(1, 23)]


@click.command()
@click.option("--scale", default="1", help="The TPC-H scale factor of the runs.")
@click.option("--rounds", default=5, help="How often each query runs; the median counts.")
@click.option("--producer", default="datafusion", type=click.Choice(["datafusion", "isthmus"]))
@click.option("--query", "queries", multiple=True, help="Only these queries, like q01; repeatable.")
@click.option("--no-run", is_flag=True, help="Leave the runs out: only import, load and translate.")
@click.option("--master", default="local[*]")
def main(scale: str, rounds: int, producer: str, queries: tuple[str, ...], no_run: bool, master: str) -> None:
    """Measure import, load, translation and run times."""
    if not PLANS.is_dir():
        raise click.ClickException(
            "the TPC-H plans are missing: there is no ../shared/plans/tpch beside the repository"
        )
    console = Console(width=100)
    chosen = [name for name in queries or QUERIES if _plan_file(producer, name).exists()]
    console.print(f"{date.today()}, {platform.machine()}, {_cores()} cores, Python {platform.python_version()}")
    _report_import(console)
    _report_load(console, producer, chosen, rounds)
    tables = _data(scale)
    from pyspark_substrait.spark.session import embedded_session

    spark = embedded_session(master, **{"spark.driver.memory": "6g"})
    console.print(f"Spark {spark.version}, {master}, TPC-H at scale {scale}")
    for name, path in tables.items():
        spark.read.parquet(str(path)).createOrReplaceTempView(name)
    _report_translation(console, spark, producer, chosen, tables, rounds)
    _report_production(console, spark, chosen, tables, rounds)
    if not no_run:
        _report_runs(console, spark, producer, chosen, tables, rounds)
    spark.stop()


def _plan_file(producer: str, query: str) -> Path:
    return PLANS / producer / f"{query}.{'pb' if producer == 'datafusion' else 'json'}"


def _cores() -> int:
    import os

    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _timed(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def _median(action: Callable[[], object], rounds: int) -> float:
    return statistics.median(_timed(action) for _ in range(rounds))


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"


def _report_import(console: Console) -> None:
    """A new interpreter that imports the package, less one that imports nothing."""

    def started(code: str) -> float:
        return _median(lambda: subprocess.run([sys.executable, "-c", code], check=True), 5)

    console.print(f"import pyspark_substrait: {_milliseconds(started('import pyspark_substrait') - started('pass'))}")


def _report_load(console: Console, producer: str, queries: Iterable[str], rounds: int) -> None:
    """Bytes or JSON text to a bound plan, warm, in one process."""
    import pyspark_substrait

    medians = []
    for query in queries:
        content = _plan_file(producer, query).read_bytes()
        pyspark_substrait.load(content)
        medians.append(_median(lambda content=content: pyspark_substrait.load(content), rounds))
    console.print(
        f"load a {producer} plan, warm: median {_milliseconds(statistics.median(medians))}, "
        f"slowest {_milliseconds(max(medians))}"
    )


def _report_translation(
    console: Console, spark: SparkSession, producer: str, queries: list[str], tables: dict[str, Path], rounds: int
) -> None:
    """A loaded plan to an analysed DataFrame, beside ``spark.sql`` of the query; tables are views of the session."""
    import pyspark_substrait

    ratios = []
    ours_all, theirs_all = [], []
    for query in queries:
        plan = pyspark_substrait.load(_plan_file(producer, query))
        text = _sql(query)
        both = []
        for action in (
            lambda plan=plan: pyspark_substrait.from_substrait(plan, spark),
            lambda text=text: spark.sql(text),
        ):
            action()
            both.append(_median(action, max(rounds, 7)))
        ours, theirs = both
        ours_all.append(ours)
        theirs_all.append(theirs)
        ratios.append(ours / theirs)
    console.print(
        f"{producer} plan to analysed DataFrame, warm: median {_milliseconds(statistics.median(ours_all))}, "
        f"spark.sql {_milliseconds(statistics.median(theirs_all))}, "
        f"median ratio {statistics.median(ratios):.2f}, largest {max(ratios):.2f}"
    )


def _report_production(
    console: Console, spark: SparkSession, queries: list[str], tables: dict[str, Path], rounds: int
) -> None:
    """The text of a query to the bytes of a plan, beside DataFusion; tables are views of the session."""
    import datafusion
    import datafusion.substrait

    import pyspark_substrait

    context = datafusion.SessionContext()
    for name, path in tables.items():
        context.register_parquet(name, str(path))
    names = tuple(tables)
    ours_all, analysis_all, theirs_all = [], [], []
    for query in queries:
        text = _sql(query).strip().rstrip(";")
        for medians, action in (
            (ours_all, lambda text=text: pyspark_substrait.to_substrait(spark.sql(text), tables=names).to_bytes()),
            (analysis_all, lambda text=text: spark.sql(text)),
            (theirs_all, lambda text=text: datafusion.substrait.Serde.serialize_bytes(text, context)),
        ):
            action()
            medians.append(_median(action, max(rounds, 7)))
    console.print(
        f"query text to plan bytes, warm: median {_milliseconds(statistics.median(ours_all))}, slowest "
        f"{_milliseconds(max(ours_all))}, of which spark.sql {_milliseconds(statistics.median(analysis_all))}; "
        f"DataFusion {_milliseconds(statistics.median(theirs_all))}, slowest {_milliseconds(max(theirs_all))}"
    )


def _report_runs(
    console: Console, spark: SparkSession, producer: str, queries: list[str], tables: dict[str, Path], rounds: int
) -> None:
    """The queries in turn, ours and Spark's, each to the last row; nothing is kept."""
    import pyspark_substrait

    paths = {name: str(path) for name, path in tables.items()}
    report = Table("query", "plan", "spark.sql", "ratio", title=f"Run time, medians of {rounds}")
    total_ours = total_theirs = 0.0
    for query in queries:
        plan = pyspark_substrait.load(_plan_file(producer, query))
        text = _sql(query)
        ours, theirs = [], []
        _drain(pyspark_substrait.from_substrait(plan, spark, tables=paths))
        _drain(spark.sql(text))
        for _ in range(rounds):
            ours.append(_timed(lambda plan=plan: _drain(pyspark_substrait.from_substrait(plan, spark, tables=paths))))
            theirs.append(_timed(lambda text=text: _drain(spark.sql(text))))
        mine, spark_sql = statistics.median(ours), statistics.median(theirs)
        total_ours += mine
        total_theirs += spark_sql
        report.add_row(query, _milliseconds(mine), _milliseconds(spark_sql), f"{mine / spark_sql:.2f}")
    report.add_section()
    report.add_row(
        "all", f"{total_ours:.2f} s", f"{total_theirs:.2f} s", f"{total_ours / total_theirs:.3f}", style="bold"
    )
    console.print(report)


def _drain(frame: DataFrame) -> None:
    frame.write.format("noop").mode("overwrite").save()


def _sql(query: str) -> str:
    return (PLANS / "sql" / f"{query}.sql").read_text().strip().rstrip(";")


def _data(scale: str) -> dict[str, Path]:
    folder = DATA / f"tpch-{scale}"
    if not folder.is_dir():
        generator = Path(sys.executable).with_name("tpchgen-cli")
        unfinished = folder.with_name(f"{folder.name}.new")
        unfinished.mkdir(parents=True, exist_ok=True)
        subprocess.run([generator, "parquet", "-s", scale, "--output-dir", unfinished], check=True)
        unfinished.rename(folder)
    return {name: folder / f"{name}.parquet" for name in TABLES}


if __name__ == "__main__":
    main()
