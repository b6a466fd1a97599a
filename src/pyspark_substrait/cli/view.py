"""The command that makes a page or a drawing of a plan."""

from __future__ import annotations

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
from pyspark_substrait.cli.output import print_text

if TYPE_CHECKING:
    from pyspark_substrait.analysis.profile import Profile
    from pyspark_substrait.extensions.registry import Registry

__all__ = ["view"]


@click.command(short_help="Show a plan in the browser.")
@click.argument("plan", type=PLAN)
@click.argument("other", type=PLAN, required=False)
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The page (.html), or only the drawing (.svg); by default a page named after PLAN in the current folder.",
)
@click.option("--open", "shown", is_flag=True, help="Open the page in the browser.")
@click.option("--target", metavar="ENGINE", help="Also show what this engine cannot run: spark, or a dialect file.")
@click.option(
    "--profile", "profiled", is_flag=True, help="Run PLAN, and show rows and times. The options below are for the run."
)
@FUNCTIONS
@with_tables
@PARAMETERS
@ROOT
@with_session
def view(
    plan: Path,
    other: Path | None,
    output: Path | None,
    shown: bool,
    target: str | None,
    profiled: bool,
    registry: Registry | None,
    tables: tuple[str, ...],
    allowed: tuple[str, ...],
    parameters: tuple[str, ...],
    root: int | None,
    master: str | None,
    remote: str | None,
    progress: bool | None,
) -> None:
    """Write a web page that shows PLAN: its graph, the lineage of its columns, errors and warnings. Needs no Spark.

    With OTHER, the page shows both plans side by side, with the differences in colour. The page is a single file.

    \b
    Examples:
      pyspark-substrait view plan.json --open
      pyspark-substrait view plan.pb -o plan.html --target spark
      pyspark-substrait view plan.pb -o plan.svg
      pyspark-substrait view before.json after.json -o diff.html
      pyspark-substrait view plan.json --profile --table orders=orders.parquet
    """
    if str(plan) == "-" == str(other):
        raise click.UsageError("only one of the plans can come from standard input")
    if not profiled and (tables or allowed or parameters or root is not None or master or remote):
        raise click.UsageError("the options for running PLAN need --profile")
    source = plan_source(plan)
    output = output or Path("plan.html" if isinstance(source, bytes) else f"{source.stem}.html")
    if output.resolve() in {each.resolve() for each in (plan, other) if each is not None}:
        raise click.UsageError(f"{output} is one of the plans")
    session = Session(master, remote, progress)
    profile = _profile(source, session, tables, allowed, parameters, root, registry) if profiled else None
    second = None if other is None else plan_source(other)
    page = pyspark_substrait.view(
        source,
        second,
        profile=profile,
        target=target,
        registry=registry,
        name="standard input" if isinstance(source, bytes) else source.name,
    )
    for sheet, shown_plan in zip(page.sheets, (source, second), strict=False):
        if sheet.lineage is None and shown_plan is not None:
            loaded_from(shown_plan, registry)  # which raises what is wrong
    page.save(output)
    print_text(f"written to {output}", err=True)
    if shown:
        click.launch(str(output.resolve()))


def _profile(
    source: Path | bytes,
    session: Session,
    tables: tuple[str, ...],
    allowed: tuple[str, ...],
    parameters: tuple[str, ...],
    root: int | None,
    registry: Registry | None,
) -> Profile:
    """Run the plan and return its profile."""
    paths = table_paths(tables)
    loaded = loaded_from(source, registry)
    session.check_tables(loaded, paths, root)
    return pyspark_substrait.profile(
        loaded,
        session.start(),
        tables=paths,
        parameters=parameter_values(parameters, loaded),
        allowed_paths=[*paths.values(), *allowed],
        root=root,
    )
