"""The command that shows the lineage of columns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

import pyspark_substrait
from pyspark_substrait.cli.files import plan_source
from pyspark_substrait.cli.options import FUNCTIONS, PLAN
from pyspark_substrait.cli.output import print_text

if TYPE_CHECKING:
    from pyspark_substrait.extensions.registry import Registry

__all__ = ["lineage"]


@click.command(short_help="Show the table columns that each column of a plan depends on.")
@click.argument("plan", type=PLAN)
@click.option("--column", metavar="NAME", help="Only columns of this name, in the result or in a written table.")
@click.option(
    "--conditions",
    is_flag=True,
    help="Also show the columns that filter, join, group or sort the records.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@FUNCTIONS
def lineage(plan: Path, column: str | None, conditions: bool, as_json: bool, registry: Registry | None) -> None:
    """Show the table columns that each column of PLAN's result depends on. Needs no Spark.

    \b
    Examples:
      pyspark-substrait lineage plan.json
      pyspark-substrait lineage plan.pb --column revenue --conditions
      pyspark-substrait lineage plan.pb --json
    """
    from pyspark_substrait.text.explain.columns import quoted

    made = pyspark_substrait.lineage(plan_source(plan), registry=registry)
    try:
        message = (
            made.to_json(column=column, conditions=conditions)
            if as_json
            else made.text(column=column, conditions=conditions)
        )
    except KeyError as error:
        known = ", ".join(map(quoted, made.known_names()))
        hint = f"there are {known}" if known else "no column has a name"
        raise click.BadParameter(f"there is no column {column!r}; {hint}", param_hint="--column") from error
    print_text(message)
