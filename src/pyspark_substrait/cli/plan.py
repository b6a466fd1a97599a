"""The command that makes plans of Spark SQL."""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import click

import pyspark_substrait
from pyspark_substrait.cli.files import output_name, save, table_option
from pyspark_substrait.cli.options import KEEP, Session
from pyspark_substrait.cli.output import print_text
from pyspark_substrait.spark.pandas_imports import without_pandas

__all__ = ["plan"]


@click.command(name="plan", short_help="Make a plan from a query or statement in Spark SQL.")
@click.argument("text", metavar="SQL")
@click.option(
    "--table",
    "tables",
    metavar="NAME=PATH",
    multiple=True,
    help="A table that the query reads: its name (dots between the parts) and a Parquet, ORC or Arrow file or folder. "
    "The plan reads the table by this name. Repeatable.",
)
@click.option(
    "--schema",
    "schemas",
    metavar="NAME=COLUMNS",
    multiple=True,
    help='A table given by its columns only: "orders=id BIGINT NOT NULL, price DECIMAL(10, 2)". Repeatable.',
)
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    default="-",
    help="Write the plan here, as JSON (.json) or binary (any other suffix); by default as JSON to standard output.",
)
@click.option("--optimized", is_flag=True, help="Use Spark's optimized plan instead of the analysed one.")
@click.option("--portable", is_flag=True, help="Refuse constructs that only Spark has, and name their place.")
@click.option(
    "--engine",
    type=click.Choice(["spark", "datafusion"]),
    default="spark",
    help="Who makes the plan: Spark, or DataFusion, which needs no Java, takes queries only and starts at once.",
)
@click.option(
    "--dialect",
    type=click.Choice(["spark", "datafusion"]),
    default="spark",
    help="With --engine datafusion, whose SQL it is; by default Spark's.",
)
@click.option("--target", metavar="ENGINE", help="The engine that the plan is for: datafusion, acero, duckdb.")
@KEEP
def plan(
    text: str,
    tables: tuple[str, ...],
    schemas: tuple[str, ...],
    output: Path,
    optimized: bool,
    portable: bool,
    engine: str,
    dialect: str,
    target: str | None,
    keep: bool,
) -> None:
    """Make a plan from SQL: a query or statement in Spark SQL, a file with one (.sql), or - for standard input.

    The query is analysed, not executed.

    \b
    Examples:
      pyspark-substrait plan "SELECT * FROM orders WHERE price > 10" --table orders=orders.parquet -o plan.json
      pyspark-substrait plan query.sql --schema "orders=id BIGINT NOT NULL, price DOUBLE" -o plan.pb
      pyspark-substrait plan query.sql --schema "orders=id BIGINT NOT NULL, price DOUBLE" --engine datafusion
      echo "SELECT 1 AS x" | pyspark-substrait plan - | pyspark-substrait explain -
    """
    given = [*(table_option(table) for table in tables), *(_schema(schema) for schema in schemas)]
    if len(dict(given)) < len(given):
        raise click.BadParameter("a name is given twice", param_hint="--table, --schema")
    query = _query(text)
    if engine == "datafusion":
        with without_pandas(), suppress(ImportError):
            import_module("datafusion")  # makes pyarrow look for pandas
    made = pyspark_substrait.from_sql(
        query,
        Session(None, None, None, keep).start(brief=True) if engine == "spark" and dialect == "spark" else None,
        tables=dict(given),
        optimized=optimized,
        portable=portable,
        target=target,
        engine=engine,
        dialect=dialect,
    )
    save(made, output, "json" if str(output) == "-" or output.suffix.lower() == ".json" else "pb")
    if str(output) != "-":
        print_text(f"written to {output_name(output)}", err=True)


def _schema(text: str) -> tuple[str, str]:
    """Split an option into the name and the columns of a table."""
    name, equals, columns = text.partition("=")
    if not (name and equals and columns.strip()):
        raise click.BadParameter(f"{text!r} is not of the form NAME=COLUMNS", param_hint="--schema")
    return name, columns


def _query(text: str) -> str:
    """Return the text of the query: the argument itself, a file's content, or standard input."""
    if text == "-":
        found = sys.stdin.read()
    elif text.lower().endswith(".sql") and not any(mark.isspace() for mark in text):
        try:
            found = Path(text).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise click.BadParameter(f"{text} cannot be read: {error}", param_hint="SQL") from error
    elif not any(map(str.isspace, text)) and Path(text).is_file():
        raise click.BadParameter(
            f"{text} is a file, and its name does not end in .sql; `explain` shows a plan", param_hint="SQL"
        )
    else:
        found = text
    if not found.strip():
        raise click.BadParameter("the query is empty", param_hint="SQL")
    return found.strip().removesuffix(";")
