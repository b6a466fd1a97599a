"""The command that fits plans to tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

import pyspark_substrait
from pyspark_substrait.cli.files import form_of, output_name, plan_source, save
from pyspark_substrait.cli.options import FUNCTIONS, PLAN, RENAME, renamed_tables, table_paths
from pyspark_substrait.cli.output import print_text
from pyspark_substrait.documents import FORMS

if TYPE_CHECKING:
    from pyspark_substrait.extensions.registry import Registry

__all__ = ["bind"]


@click.command(short_help="Adapt a plan to tables: names, columns, types.")
@click.argument("plan", type=PLAN)
@click.option(
    "--table",
    "tables",
    metavar="NAME=PATH",
    multiple=True,
    required=True,
    help="A table: its name where the plan will run (dots between the parts), and a Parquet, ORC or Arrow file or "
    "folder with its columns. Repeatable.",
)
@RENAME
@FUNCTIONS
@click.option("--target", metavar="ENGINE", help="Also adapt the plan to an engine: datafusion, acero or duckdb.")
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    default="-",
    help="Write the plan here, as JSON (.json), text (.txt, .substrait) or binary; by default to standard output, in "
    "the form of PLAN.",
)
def bind(
    plan: Path,
    tables: tuple[str, ...],
    renamed: tuple[str, ...],
    registry: Registry | None,
    target: str | None,
    output: Path,
) -> None:
    """Adapt PLAN to tables: to their names, their columns and order of columns, and their types.

    Each change is printed as a line on standard error. No data is read.

    \b
    Examples:
      pyspark-substrait bind plan.json --table orders=orders.parquet -o bound.json
      pyspark-substrait bind isthmus.json --table lineitem=lineitem/ --target datafusion -o bound.pb
    """
    given, source, names = table_paths(tables), plan_source(plan), renamed_tables(renamed)
    if target is None:
        bound = pyspark_substrait.bind(source, given, rename=names, registry=registry)
    else:
        bound = pyspark_substrait.for_target(source, target, tables=given, rename=names, registry=registry)
    for note in bound.notes:
        if note.rule in ("bound-table", "bound-column", "target-option", "target-value"):
            print_text(str(note), err=True)
    form = form_of(source) if str(output) == "-" else FORMS.get(output.suffix.lower(), "pb")
    save(bound, output, form)
    if str(output) != "-":
        print_text(f"written to {output_name(output)}", err=True)
