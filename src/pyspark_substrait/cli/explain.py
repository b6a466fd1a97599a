"""The command that shows plans as text."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import click

import pyspark_substrait
from pyspark_substrait.cli.files import plan_source
from pyspark_substrait.cli.options import (
    FUNCTIONS,
    PARAMETERS,
    PLAN,
    ROOT,
    Session,
    loaded_from,
    parameter_values,
    table_paths,
    with_session,
    with_tables,
)
from pyspark_substrait.cli.output import print_text, to_terminal, write_text

if TYPE_CHECKING:
    from pyspark_substrait.extensions.registry import Registry

__all__ = ["explain"]


@click.command(short_help="Print a plan as text.")
@click.argument("plan", type=PLAN)
@click.option("--types/--no-types", default=True, help="Whether to show the types of columns; shown by default.")
@click.option("--proto-paths", is_flag=True, help="End each line with the path of the relation in the plan.")
@click.option(
    "--width",
    metavar="N",
    type=click.IntRange(min=20),
    help="Break lines after N characters; by default, at the width of the terminal.",
)
@click.option(
    "--findings/--no-findings",
    default=True,
    help="Whether to show errors and warnings below the lines they belong to; shown by default.",
)
@click.option(
    "--full", is_flag=True, help="Print the text form, which is complete and can be read back (docs/text-form.md)."
)
@click.option("--target", metavar="ENGINE", help="Also show what this engine cannot run: spark, or a dialect file.")
@click.option(
    "--profile", "profiled", is_flag=True, help="Run the plan once, and show the rows, bytes and time of each relation."
)
@click.option(
    "--exact", is_flag=True, help="With --profile: count the rows of every relation, which can take much longer."
)
@click.option("--json", "as_json", is_flag=True, help="With --profile: print the figures as JSON.")
@FUNCTIONS
@with_tables
@PARAMETERS
@ROOT
@with_session
def explain(
    plan: Path,
    types: bool,
    proto_paths: bool,
    width: int | None,
    findings: bool,
    full: bool,
    target: str | None,
    profiled: bool,
    exact: bool,
    as_json: bool,
    registry: Registry | None,
    tables: tuple[str, ...],
    allowed: tuple[str, ...],
    parameters: tuple[str, ...],
    root: int | None,
    master: str | None,
    remote: str | None,
    progress: bool | None,
) -> None:
    """Print PLAN as text: every step with its columns and types, and the errors and warnings found. Needs no Spark.

    With --profile, run PLAN once on Spark, with the same tables and options as `run`, and print the rows, bytes and
    time of each relation beside it.

    \b
    Examples:
      pyspark-substrait explain plan.json
      pyspark-substrait explain plan.pb --no-types --width 100
      pyspark-substrait explain plan.pb --target spark
      pyspark-substrait explain plan.pb --full
      pyspark-substrait explain plan.pb --profile --table orders=orders.parquet
    """
    if not profiled and (exact or as_json or tables or allowed or parameters or root is not None or master or remote):
        raise click.UsageError("the options for tables, parameters and Spark need --profile")
    if profiled and (full or target is not None):
        raise click.UsageError("--full and --target cannot be used with --profile")
    if full:
        write_text(loaded_from(plan_source(plan), registry).to_text(), nl=False)
        return
    if width is None and to_terminal():
        width = shutil.get_terminal_size().columns
    if profiled:
        paths, session = table_paths(tables), Session(master, remote, progress)
        loaded = loaded_from(plan_source(plan), registry)
        session.check_tables(loaded, paths, root)
        made = pyspark_substrait.profile(
            loaded,
            session.start(),
            tables=paths,
            parameters=parameter_values(parameters, loaded),
            allowed_paths=[*paths.values(), *allowed],
            root=root,
            exact=exact,
            progress=progress,
        )
        print_text(made.to_json() if as_json else made.text(types=types, width=width, proto_paths=proto_paths))
        return
    report = pyspark_substrait.validate(plan_source(plan), target, registry=registry)
    print_text(pyspark_substrait.explain(report, types=types, proto_paths=proto_paths, width=width, findings=findings))
    if report.document is None:
        click.get_current_context().exit(1)
