"""The tutorial's plan, in the form of 2023, on the Spark of today: what ``make demo`` runs."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console
from tables import write_tables

import pyspark_substrait
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.spark.progress import waiting
from pyspark_substrait.spark.results import as_table
from pyspark_substrait.spark.session import embedded_session

EXAMPLES = Path(__file__).resolve().parent.parent
PLAN = EXAMPLES / "tutorial" / "plan.2023.json"


def main() -> None:
    # A file or a pipe gets lines as long as they are; only a terminal has an edge to fold at.
    console = Console(highlight=False) if sys.stdout.isatty() else Console(highlight=False, width=10_000)

    def title(text: str) -> None:
        console.print(f"\n[bold]{text}[/bold]")

    title("Two Parquet tables")
    tables = write_tables(EXAMPLES / "demo" / "data")
    for name, path in tables.items():
        console.print(f"  {name}: {_short(path)}", markup=False)

    title("A plan of 2023")
    console.print(f"  {_short(PLAN)}: sales of each product that is not in the category “Computers”", markup=False)
    plan = pyspark_substrait.load(PLAN)

    title("What was upgraded")
    for note in plan.upgrades:
        console.print(f"  {note}", markup=False, soft_wrap=True)

    title("The plan as text")
    for line in pyspark_substrait.explain(plan).splitlines():
        console.print(f"  {line}", markup=False, soft_wrap=True)

    title("Run on Spark")
    with waiting("Starting Spark"):
        spark = embedded_session()
    rows = pyspark_substrait.run_query(plan, tables=tables, spark=spark)
    console.print(as_table(rows, types=True).table)


def _short(path: Path) -> Path:
    """A path as seen from here, where that is shorter."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


if __name__ == "__main__":
    try:
        main()
    except SubstraitError as error:
        sys.exit(f"error: {error}")
