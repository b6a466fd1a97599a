"""The command that shows plans as text."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import click

from pyspark_substrait.cli.files import opened

__all__ = ["explain"]


@click.command(short_help="Print a plan as text.")
@click.argument("plan", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
@click.option("--types/--no-types", default=True, help="Whether to show the types of columns; shown by default.")
@click.option("--proto-paths", is_flag=True, help="End each line with the path of the relation in the plan.")
@click.option(
    "--width",
    metavar="N",
    type=click.IntRange(min=20),
    help="Break lines that are longer than N; by default than the terminal.",
)
@click.option(
    "--findings/--no-findings",
    default=True,
    help="Whether to show errors and warnings below the lines they belong to; shown by default.",
)
@click.option(
    "--full", is_flag=True, help="Print everything, in the text form that can be read back (see docs/text-form.md)."
)
@click.option("--target", metavar="ENGINE", help="Also show what the engine can't run: spark, or a dialect file.")
def explain(
    plan: Path,
    types: bool,
    proto_paths: bool,
    width: int | None,
    findings: bool,
    full: bool,
    target: str | None,
) -> None:
    """Print PLAN as text, with the columns and types of every step, and what is wrong with it. Needs no Spark.

    \b
    Examples:
      pyspark-substrait explain plan.json
      pyspark-substrait explain plan.pb --no-types --width 100
      pyspark-substrait explain plan.pb --target spark
      pyspark-substrait explain plan.pb --full
    """
    import pyspark_substrait

    if full:
        click.echo(pyspark_substrait.load(opened(plan)).to_text(), nl=False)
        return
    if width is None and sys.stdout.isatty():
        width = shutil.get_terminal_size().columns
    report = pyspark_substrait.validate(opened(plan), target)
    click.echo(pyspark_substrait.explain(report, types=types, proto_paths=proto_paths, width=width, findings=findings))
    if report.document is None:
        click.get_current_context().exit(1)
