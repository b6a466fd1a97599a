"""``make bench``: every figure of this project's speed, beside Spark or a peer doing the same, in one run.

Each benchmark is a module of this package with a function ``measure``, and runs in a process of its own. ``--save``
keeps the figures in ``benchmarks/RESULTS.md``. The TPC-H plans are those in ``../shared/plans/tpch``; the data is made
once by ``tpchgen-cli`` (extra ``test``).
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime, timezone
from importlib import import_module
from pathlib import Path

import click
from rich.console import Console

from benchmarks.machine import described
from benchmarks.options import Options
from benchmarks.report import Section, aims_markdown, print_section, section_markdown
from benchmarks.tpch import QUERIES, files, require_plans

BENCHMARKS = ("starting", "loading", "translation", "runs", "growth", "serving", "production")
RESULTS = Path(__file__).with_name("RESULTS.md")


@click.command()
@click.argument("names", nargs=-1, metavar="[BENCHMARK]...", type=click.Choice(BENCHMARKS))
@click.option("--scale", default="1", help="The TPC-H scale factor.")
@click.option("--rounds", default=5, help="How often each thing is measured; the median counts.")
@click.option("--query", "queries", multiple=True, help="Only these queries, like q01; repeatable.")
@click.option("--master", default="local[*]")
@click.option("--quick", is_flag=True, help="Only see that the benchmarks work; the figures mean nothing.")
@click.option("--save", is_flag=True, help=f"Keep the figures in {RESULTS.name}.")
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
    sections, failed = [], []
    for name in names or BENCHMARKS:
        try:
            found = _measured(name, options)
        except Exception:
            console.print_exception()
            failed.append(name)
            continue
        for section in found:
            print_section(section, console)
            sections.append(section)
    console.print(f"measured in {(time.monotonic() - started) / 60:.0f} minutes")
    if save:
        command = f"make bench ARGS='{' '.join(sys.argv[1:])}'"
        RESULTS.write_text(_page(day, machine, command, sections), encoding="utf-8")
        console.print(f"kept in {RESULTS}")
    if failed:
        raise click.ClickException(f"not measured: {', '.join(failed)}")


def _measured(name: str, options: Options) -> list[Section]:
    """The sections of one benchmark, measured in a process that knows nothing of the others."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        sections: list[Section] = pool.submit(import_module(f"benchmarks.{name}").measure, options).result()
    return sections


def _page(day: str, machine: str, command: str, sections: list[Section]) -> str:
    head = (
        "# Results\n\n"
        f"Measured {day} with `{command}` on: {machine}.\n\n"
        "Each ratio is ours by the peer's, both measured in turn in the same run; each time is a median. What explains "
        "them is in [docs/performance.md](../docs/performance.md).\n\n## Aims\n"
    )
    return "\n\n".join([head + "\n" + aims_markdown(sections), *map(section_markdown, sections)]) + "\n"


if __name__ == "__main__":
    main()
