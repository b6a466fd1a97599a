"""The command that compares two plans."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

import pyspark_substrait
from pyspark_substrait.cli.files import error_text, plan_source
from pyspark_substrait.cli.options import FUNCTIONS, PLAN
from pyspark_substrait.cli.output import print_text
from pyspark_substrait.errors import SubstraitError

if TYPE_CHECKING:
    from pyspark_substrait.extensions.registry import Registry

__all__ = ["diff"]


@click.command(short_help="Show how two plans differ in meaning.")
@click.argument("a", type=PLAN)
@click.argument("b", type=PLAN)
@click.option("--json", "as_json", is_flag=True, help="Print the changes as JSON.")
@FUNCTIONS
def diff(a: Path, b: Path, as_json: bool, registry: Registry | None) -> None:
    """Show how the plans A and B differ in meaning.

    Function anchors, column positions, hints and the like don't count. Exit codes: 0 both mean the same, 1 they differ,
    2 one of them can't be read, or wrong usage.

    \b
    Examples:
      pyspark-substrait diff before.json after.pb
      pyspark-substrait diff before.json after.json --json
    """
    if str(a) == "-" == str(b):
        raise click.UsageError("only one of the plans can come from standard input")
    try:
        found = pyspark_substrait.diff(plan_source(a), plan_source(b), registry=registry)
    except SubstraitError as error:
        print_text(error_text(error), err=True)
        click.get_current_context().exit(2)
    print_text(found.to_json() if as_json else str(found))
    click.get_current_context().exit(1 if found else 0)
