"""The commands that compute rows: from a plan, and from an extended expression."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import pyspark_substrait
from pyspark_substrait.cli.files import checked_table_path, plan_source
from pyspark_substrait.cli.options import (
    FUNCTIONS,
    KEEP,
    PARAMETERS,
    PLAN,
    ROOT,
    SLOW_PATTERNS,
    Session,
    loaded_from,
    parameter_values,
    table_paths,
    with_limits,
    with_session,
    with_tables,
)
from pyspark_substrait.cli.output import print_text
from pyspark_substrait.cli.rows import Form, Rows, with_rows
from pyspark_substrait.model.limits import RunLimits

if TYPE_CHECKING:
    from pyspark_substrait.documents import ExtendedExpression, Plan
    from pyspark_substrait.extensions.registry import Registry

__all__ = ["evaluate", "read_paths", "run"]


@click.command(short_help="Run a plan on Spark and print its rows.")
@click.argument("plan", type=PLAN)
@with_tables
@PARAMETERS
@ROOT
@click.option("--dry-run", is_flag=True, help="Only print what the plan would read and change. Needs no Spark.")
@FUNCTIONS
@SLOW_PATTERNS
@with_limits
@with_rows
@with_session
@KEEP
def run(
    plan: Path,
    tables: tuple[str, ...],
    allowed: tuple[str, ...],
    parameters: tuple[str, ...],
    root: int | None,
    dry_run: bool,
    registry: Registry | None,
    refuse_slow_patterns: bool,
    limit: int | None,
    form: Form | None,
    output: Path | None,
    types: bool,
    width: int | None,
    whole: bool,
    master: str | None,
    remote: str | None,
    progress: bool | None,
    keep: bool,
    **limits: Any,
) -> None:
    """Run PLAN on Spark, and print its rows or write them to a file. For a plan that only writes, print what it did.

    \b
    Examples:
      pyspark-substrait run plan.json --table orders=orders.parquet --types
      pyspark-substrait run plan.pb --table sales.orders=/data/orders/ --output result.parquet
      pyspark-substrait run plan.pb --table orders=orders.parquet --format json | jq .price
      pyspark-substrait run plan.pb --param 1=2024-02-29 --param "2=Rome" --param 3
      pyspark-substrait run plan.pb --remote sc://spark.example.com:15002 --limit 10
      pyspark-substrait run plan.pb --dry-run
    """
    paths = table_paths(tables)
    session = Session(master, remote, progress)
    rows = Rows(limit=limit, form=form, output=output, types=types, width=width, whole=whole)
    loaded = loaded_from(plan_source(plan), registry)

    touches = pyspark_substrait.touches(loaded, root=root)
    if dry_run:
        for touch in touches:
            print_text(f"{touch}  ({touch.path})")
        return
    values = parameter_values(parameters, loaded)
    session.check_tables(loaded, paths, root)
    changes = [touch.done() for touch in touches if touch.action.changes]
    rows.show(
        replace(session, keep=keep and not changes),  # tables that the plan makes end with its session
        lambda spark, most, batches: pyspark_substrait.run_query(
            loaded,
            tables=paths,
            parameters=values,
            spark=spark,
            allowed_paths=[*paths.values(), *allowed],
            limit=most,
            root=root,
            progress=progress,
            refuse_slow_patterns=refuse_slow_patterns,
            limits=RunLimits(**limits),
            batches=batches,
        ),
        changes,
        [*read_paths(loaded, paths, root), *allowed],
        loaded,
    )


def read_paths(loaded: Plan | ExtendedExpression, paths: Mapping[str, str], root: int | None) -> list[str]:
    """Return the paths of the tables that a plan reads."""
    from pyspark_substrait.documents import Plan
    from pyspark_substrait.spark.missing_tables import named_reads

    if not isinstance(loaded, Plan):
        return []
    read = {name.lower() for name, _ in named_reads(loaded, root)}
    return [path for name, path in paths.items() if name.lower() in read]


@click.command(short_help="Evaluate an extended expression over a table.")
@click.argument("expression", metavar="EXPR", type=PLAN)
@click.option("--data", metavar="PATH", required=True, help="The table: a Parquet, ORC or Arrow file or folder.")
@PARAMETERS
@FUNCTIONS
@SLOW_PATTERNS
@with_limits
@with_rows
@with_session
@KEEP
def evaluate(
    expression: Path,
    data: str,
    parameters: tuple[str, ...],
    registry: Registry | None,
    refuse_slow_patterns: bool,
    limit: int | None,
    form: Form | None,
    output: Path | None,
    types: bool,
    width: int | None,
    whole: bool,
    master: str | None,
    remote: str | None,
    progress: bool | None,
    keep: bool,
    **limits: Any,
) -> None:
    """Evaluate the extended expression EXPR over the records of a table, and print its columns or write them to a file.

    \b
    Examples:
      pyspark-substrait evaluate expression.json --data orders.parquet --types
      pyspark-substrait evaluate expression.pb --data /data/orders/ --output result.parquet
    """
    session = Session(master, remote, progress, keep)
    rows = Rows(limit=limit, form=form, output=output, types=types, width=width, whole=whole)
    path = checked_table_path(data, "--data")
    loaded = loaded_from(plan_source(expression), registry)
    values = parameter_values(parameters, loaded)

    rows.show(
        session,
        lambda spark, most, _: pyspark_substrait.evaluate_arrow(
            loaded,
            path,
            parameters=values,
            spark=spark,
            limit=most,
            progress=progress,
            refuse_slow_patterns=refuse_slow_patterns,
            limits=RunLimits(**limits),
        ),
        reads=[path],
    )
