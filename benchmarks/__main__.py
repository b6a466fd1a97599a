"""``make bench``: every figure of this project's speed, beside Spark or a peer doing the same, in one run.

Each benchmark is a module of this package with a function ``measure``, and runs in a process of its own. ``--save``
keeps its figures in ``benchmarks/RESULTS.md``. The TPC-H plans are those in ``../shared/plans/tpch``; the data is made
once by ``tpchgen-cli`` (extra ``test``).
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime, timezone
from importlib import import_module

import click
from rich.console import Console

from benchmarks import results
from benchmarks.machine import described
from benchmarks.options import Options
from benchmarks.report import Section, print_section
from benchmarks.results import BENCHMARKS, Measured
from benchmarks.tpch import QUERIES, files, require_plans


@click.command()
@click.argument("names", nargs=-1, metavar="[BENCHMARK]...", type=click.Choice(BENCHMARKS))
@click.option("--scale", default="1", help="The TPC-H scale factor.")
@click.option("--rounds", default=5, help="How often each thing is measured; the median counts.")
@click.option("--query", "queries", multiple=True, help="Only these queries, like q01; repeatable.")
@click.option("--master", default="local[*]")
@click.option("--quick", is_flag=True, help="Only see that the benchmarks work; the figures mean nothing.")
@click.option("--save", is_flag=True, help=f"Keep the figures in {results.PAGE.name}.")
def main(
    names: tuple[str, ...], scale: str, rounds: int, queries: tuple[str, ...], master: str, quick: bool, save: bool
) -> None:
    """Measure: all of it, or the benchmarks named."""
    require_plans()
    if quick:
        scale, rounds, queries = "0.1", 1, queries or ("q01", "q03", "q06")
    options = Options(scale, rounds, queries or tuple(QUERIES), master, quick)
    files(scale)
    console = Console(width=110)
    machine, started = described(), time.monotonic()
    day = f"{datetime.now(timezone.utc):%Y-%m-%d %H:%M} UTC"
    console.print(f"{day}; {machine}")
    command = f"make bench ARGS='{' '.join(sys.argv[1:])}'"
    failed = []
    for name in names or BENCHMARKS:
        try:
            found = _measured(name, options)
        except Exception:
            console.print_exception()
            failed.append(name)
            continue
        for section in found:
            print_section(section, console)
        if save:
            results.keep(name, Measured(day, machine, command, found))
    console.print(f"measured in {(time.monotonic() - started) / 60:.0f} minutes")
    if failed:
        raise click.ClickException(f"not measured: {', '.join(failed)}")


def _measured(name: str, options: Options) -> list[Section]:
    """The sections of one benchmark, measured in a process that knows nothing of the others."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        sections: list[Section] = pool.submit(import_module(f"benchmarks.{name}").measure, options).result()
    return sections


if __name__ == "__main__":
    main()
