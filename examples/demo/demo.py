"""The tutorial's plan, in the form of 2023, on the Spark of today: what ``make demo`` runs."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console

import pyspark_substrait as substrait
from pyspark_substrait import samples
from pyspark_substrait.spark.progress import waiting
from pyspark_substrait.spark.results import as_table


def main() -> None:
    # A file or a pipe gets lines as long as they are; only a terminal has an edge to fold at.
    console = Console(highlight=False) if sys.stdout.isatty() else Console(highlight=False, width=10_000)

    def title(text: str) -> None:
        console.print(f"\n[bold]{text}[/bold]")

    title("Two Parquet tables")
    tables, plan_file = samples.tables(), samples.plan_2023()
    for name, path in tables.items():
        console.print(f"  {name}: {_short(path)}", markup=False)

    title("A plan of 2023")
    console.print(f"  {_short(plan_file)}: sales of each product that is not in the category “Computers”", markup=False)
    plan = substrait.load(plan_file)

    title("What was upgraded")
    for note in plan.upgrades:
        console.print(f"  {note}", markup=False, soft_wrap=True)

    title("The plan as text")
    for line in substrait.explain(plan).splitlines():
        console.print(f"  {line}", markup=False, soft_wrap=True)

    title("Run on Spark")
    with waiting("Starting Spark"):
        spark = substrait.session()
    rows = substrait.run_query(plan, tables=tables, spark=spark)
    console.print(as_table(rows, types=True).table)


def _short(path: Path) -> Path:
    """A path as seen from here, where that is shorter."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


if __name__ == "__main__":
    try:
        main()
    except substrait.SubstraitError as error:
        sys.exit(f"error: {error}")
