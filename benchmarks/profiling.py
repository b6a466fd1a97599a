"""``make bench-profile``: what a profile costs: the TPC-H plans of DataFusion, run and profiled in turn."""

from __future__ import annotations

import platform
import statistics
from datetime import date
from functools import partial

import click
from rich.console import Console
from rich.table import Table

from benchmarks.report import amount
from benchmarks.timing import timed
from benchmarks.tpch import QUERIES, files, plan_file


@click.command()
@click.option("--scale", default="1", help="The TPC-H scale factor.")
@click.option("--rounds", default=5, help="How often each query runs; the median counts.")
@click.option("--producer", default="datafusion", type=click.Choice(["datafusion", "isthmus"]))
@click.option("--query", "queries", multiple=True, help="Only these queries, like q01; repeatable.")
@click.option("--exact", is_flag=True, help="Count every relation.")
@click.option("--master", default="local[*]")
def main(scale: str, rounds: int, producer: str, queries: tuple[str, ...], exact: bool, master: str) -> None:
    """Measure profiles beside runs: medians, and for how many relations the rows are known."""
    import pyspark_substrait
    from pyspark_substrait.spark.session_start import embedded_session

    tables = {name: str(path) for name, path in files(scale).items()}
    spark = embedded_session(master, **{"spark.driver.memory": "6g"})
    console = Console(width=100)
    console.print(f"{date.today()}, {platform.machine()}, Python {platform.python_version()}, Spark {spark.version}")
    report = Table("query", "run", "profile", "ratio", "relations", "rows known", title=f"Medians of {rounds}")
    totals = [0.0, 0.0]
    for query in queries or QUERIES:
        file = plan_file(producer, query)
        if not file.exists():
            continue
        plan = pyspark_substrait.load(file)

        run = partial(pyspark_substrait.run_query, plan, tables=tables, spark=spark)
        profile = partial(pyspark_substrait.profile, plan, spark, tables=tables, exact=exact)
        run()
        seen = profile()
        times = [(timed(run), timed(profile)) for _ in range(rounds)]
        plain, profiled = (statistics.median(each) for each in zip(*times, strict=True))
        totals[0] += plain
        totals[1] += profiled
        known = sum(relation.rows_out is not None for relation in seen.relations)
        report.add_row(
            query,
            amount(plain, "s"),
            amount(profiled, "s"),
            f"{profiled / plain:.2f}",
            str(len(seen.relations)),
            str(known),
        )
    report.add_section()
    ratio = totals[1] / totals[0] if totals[0] else 0.0
    report.add_row("all", f"{totals[0]:.2f} s", f"{totals[1]:.2f} s", f"{ratio:.2f}", style="bold")
    console.print(report)
    spark.stop()


if __name__ == "__main__":
    main()
