"""``make bench-large``: how time grows with what is large, beside the same written by hand in Spark."""

from __future__ import annotations

import platform
import statistics
import tempfile
import time
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table

from benchmarks.timing import anew
from tests.spark.large import GROWTH, Large

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@click.command()
@click.option("--rounds", default=3, help="How often each is measured; the median counts.")
@click.option("--only", help="Only what has this word in its name.")
@click.option("--remote", help="A Spark Connect server; local[2] starts one.")
@click.option("--master", default="local[*]")
def main(rounds: int, only: str | None, remote: str | None, master: str) -> None:
    """Measure loading and running for growing plans and inputs."""
    import pyspark_substrait
    from pyspark_substrait.spark.session_start import embedded_session

    spark = embedded_session(None if remote else master, remote, **{"spark.driver.memory": "6g"})
    console = Console(width=100)
    where = "Spark Connect" if remote else master
    console.print(
        f"{date.today()}, {platform.machine()}, Python {platform.python_version()}, {where}, medians of {rounds}"
    )
    report = Table("what", "size", "load", "run", "by hand in Spark", "growth")
    with tempfile.TemporaryDirectory() as folder:
        for what, (made, sizes) in GROWTH.items():
            if only is not None and only not in what:
                continue
            before: tuple[int, float] | None = None
            for size in sizes:
                large = made(size, Path(folder))
                plan = pyspark_substrait.load(large.plan)
                load = _median(anew(pyspark_substrait.load, large.plan), rounds)
                run = _median(lambda large=large, plan=plan: _drain(_frame(large, plan, spark)), rounds)
                peer = _by_hand(large, spark, rounds)
                report.add_row(what, f"{size:,}", _shown(load), _shown(run), peer, _growth(before, size, load + run))
                before = (size, load + run)
                console.print(f"{what} {size:,}: load {_shown(load)}, run {_shown(run)}, by hand {peer}")
            report.add_section()
    console.print(report)
    spark.stop()


def _by_hand(large: Large, spark: SparkSession, rounds: int) -> str:
    from pyspark.errors import PySparkException

    try:
        return _shown(_median(lambda: _drain(large.peer(spark)), rounds))
    except PySparkException as error:
        return f"fails: {str(error).splitlines()[0][:80]}"


def _frame(large: Large, plan: object, spark: SparkSession) -> DataFrame:
    import pyspark_substrait

    return pyspark_substrait.from_substrait(plan, spark, tables=large.tables, allowed_paths=large.allowed)  # type: ignore[arg-type]


def _drain(frame: DataFrame) -> None:
    frame.write.format("noop").mode("overwrite").save()


def _median(action: object, rounds: int) -> float:
    times = []
    for _ in range(rounds + 1):
        start = time.perf_counter()
        action()  # type: ignore[operator]
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def _shown(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"


def _growth(before: tuple[int, float] | None, size: int, seconds: float) -> str:
    """How much longer it takes, by how much larger it is."""
    return "" if before is None else f"{seconds / before[1]:.1f} for {size / before[0]:.1f}"


if __name__ == "__main__":
    main()
