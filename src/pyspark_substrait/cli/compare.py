"""The command that runs a plan on several engines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

import pyspark_substrait
from pyspark_substrait.cli.files import output_name, plan_source
from pyspark_substrait.cli.options import (
    FUNCTIONS,
    PLAN,
    RENAME,
    ROOT,
    Session,
    renamed_tables,
    table_paths,
    with_session,
)
from pyspark_substrait.cli.output import print_text, write_text

if TYPE_CHECKING:
    from pyspark_substrait.extensions.registry import Registry

__all__ = ["compare"]

_FORMS = {".json": "json", ".html": "html", ".htm": "html"}


@click.command(short_help="Run a plan on several engines and report where their rows differ.")
@click.argument("plan", type=PLAN)
@click.option(
    "--engine",
    "engines",
    metavar="ENGINE",
    multiple=True,
    help="spark, datafusion, duckdb or acero. Repeatable; by default Spark, and DataFusion and DuckDB if installed.",
)
@click.option(
    "--table",
    "tables",
    metavar="NAME=PATH",
    multiple=True,
    help="A table: its name (dots between the parts) and a file or folder of Parquet or Arrow. Repeatable.",
)
@RENAME
@FUNCTIONS
@ROOT
@click.option(
    "--no-bisect", is_flag=True, help="Do not look for the smallest part of the plan on which engines differ."
)
@click.option("--strict", is_flag=True, help="Exit with 1 also if an engine cannot run the plan.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "html"]),
    help="The form of the report; by default that of the suffix of OUT (.json, .html), or else text.",
)
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    default="-",
    help="Write the report here; by default to standard output.",
)
@with_session
def compare(
    plan: Path,
    engines: tuple[str, ...],
    tables: tuple[str, ...],
    renamed: tuple[str, ...],
    registry: Registry | None,
    root: int | None,
    no_bisect: bool,
    strict: bool,
    form: str | None,
    output: Path,
    master: str | None,
    remote: str | None,
    progress: bool | None,
) -> None:
    """Run PLAN on several engines, and report the rows that differ and the part of the plan that causes it.

    Exit codes: 0 the rows are the same; 1 they differ, or fewer than two engines gave rows; 2 wrong usage.

    \b
    Examples:
      pyspark-substrait compare plan.json --table orders=orders.parquet
      pyspark-substrait compare plan.pb --engine datafusion --engine duckdb --table orders=orders/ -o report.html
    """
    session, given, names = Session(master, remote, progress), table_paths(tables), renamed_tables(renamed)
    source = plan_source(plan)
    pyspark_substrait.bind(source, given, rename=names, registry=registry)  # its errors come before Spark starts
    spark = session.start() if not engines or "spark" in engines else None
    found = pyspark_substrait.compare(
        source,
        engines or None,
        tables=given,
        rename=names,
        registry=registry,
        root=root,
        bisect=not no_bisect,
        spark=spark,
    )
    form = form or _FORMS.get(output.suffix.lower(), "text")
    text = found.to_json() if form == "json" else found.to_html() if form == "html" else str(found)
    if str(output) == "-":
        write_text(text)
    else:
        output.write_text(text + "\n", encoding="utf-8")
        print_text(f"written to {output_name(output)}", err=True)
    fails = not found.agree or (strict and any(result.refusal for result in found.results))
    click.get_current_context().exit(1 if fails else 0)
