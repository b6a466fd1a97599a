"""The command that lists the functions that run on Spark."""

from __future__ import annotations

from functools import reduce
from pathlib import Path

import click

from pyspark_substrait.cli.files import console
from pyspark_substrait.cli.options import SPARK
from pyspark_substrait.cli.output import print_text, write_text

__all__ = ["functions"]


@click.command(short_help="List the functions that run on Spark, or show one.")
@click.argument("name", required=False)
@click.option(
    "--extension",
    "extensions",
    metavar="FILE",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A YAML extension file whose functions are listed too. Repeatable.",
)
@click.option("--full", is_flag=True, help="Print long Spark SQL in full.")
@click.option("--markdown", "as_page", is_flag=True, help="Print the page of the documentation, in Markdown.")
@SPARK
def functions(name: str | None, extensions: tuple[Path, ...], full: bool, as_page: bool, version: str | None) -> None:
    """List the functions of all extensions, or show the overloads, options and Spark SQL of the function NAME.

    NAME can also be an extension, like functions_string. Needs no Spark.

    \b
    Examples:
      pyspark-substrait functions
      pyspark-substrait functions round
      pyspark-substrait functions functions_datetime
      pyspark-substrait functions round --spark 3.5
    """
    from pyspark_substrait.extensions.registry import Registry
    from pyspark_substrait.sql.functions.support import listed, markdown, shown, supported
    from pyspark_substrait.sql.spark_version import parsed_version

    registry = reduce(lambda larger, path: larger.with_yaml(path), extensions, Registry.default())
    found = supported(registry, name, parsed_version(version))
    if not found:
        raise click.UsageError(f"there is no function or extension {name!r}; without NAME, all are listed")
    if as_page:
        write_text(markdown(found), nl=False)
    elif name in {item.name for item in found}:
        print_text("\n\n".join(shown(item, full=full) for item in found))
    else:
        console().print(listed(found))
