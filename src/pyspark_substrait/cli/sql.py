"""The command that prints the SQL of a plan."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

import pyspark_substrait
from pyspark_substrait.cli.files import plan_source
from pyspark_substrait.cli.options import FUNCTIONS, PARAMETERS, PLAN, ROOT, SPARK, loaded_from, parameter_values
from pyspark_substrait.cli.output import write_text

if TYPE_CHECKING:
    from pyspark_substrait.extensions.registry import Registry

__all__ = ["sql"]


@click.command(short_help="Print the Spark SQL of a plan.")
@click.argument("plan", type=PLAN)
@PARAMETERS
@ROOT
@FUNCTIONS
@SPARK
@click.option(
    "--dialect",
    default="spark",
    help="spark, duckdb, postgres, trino, datafusion, sqlite, snowflake or bigquery; by default spark.",
)
@click.option(
    "--view", metavar="NAME", help="Print the CREATE VIEW statement of a view of this name, dots between its parts."
)
@click.option("--replace", is_flag=True, help="With --view: CREATE OR REPLACE VIEW.")
@click.option("--compact", is_flag=True, help="Print the statement as one line.")
def sql(
    plan: Path,
    parameters: tuple[str, ...],
    root: int | None,
    registry: Registry | None,
    version: str | None,
    dialect: str,
    view: str | None,
    replace: bool,
    compact: bool,
) -> None:
    """Print the SQL statement that runs PLAN on Spark, or on another engine, a clause a line. Needs no Spark.

    \b
    Examples:
      pyspark-substrait sql plan.json
      pyspark-substrait sql plan.json --compact
      pyspark-substrait sql plan.json --spark 3.5
      pyspark-substrait sql plan.json --dialect duckdb
      pyspark-substrait sql plan.json --dialect postgres --view reports.sales
    """
    if replace and view is None:
        raise click.UsageError("--replace needs --view NAME")
    loaded = loaded_from(plan_source(plan), registry)
    given = parameter_values(parameters, loaded)
    if view is None:
        text = pyspark_substrait.to_sql(
            loaded, parameters=given, root=root, version=version, dialect=dialect, formatted=not compact
        )
    else:
        text = pyspark_substrait.view_sql(
            loaded,
            view,
            replace=replace,
            parameters=given,
            root=root,
            version=version,
            dialect=dialect,
            formatted=not compact,
        )
    write_text(text)
