"""The command that brings plans to the current release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

import pyspark_substrait
from pyspark_substrait.cli.files import counted, form_of, output_name, plan_source, save
from pyspark_substrait.cli.options import FUNCTIONS, PLAN
from pyspark_substrait.cli.output import print_text

if TYPE_CHECKING:
    from pyspark_substrait.analysis.report import Report
    from pyspark_substrait.documents import ExtendedExpression, Plan
    from pyspark_substrait.extensions.registry import Registry

__all__ = ["upgrade"]


@click.command(short_help="Upgrade a plan to the current release and list the changes.")
@click.argument("plan", type=PLAN)
@click.option("--check", is_flag=True, help="Only list the changes; exit with 1 if there are any.")
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    help="Write the upgraded plan here; by default, overwrite PLAN.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    help="The form of the list of changes: text to standard error, or a JSON object to standard output.",
)
@FUNCTIONS
def upgrade(plan: Path, check: bool, output: Path | None, form: str, registry: Registry | None) -> None:
    """Upgrade PLAN to the current Substrait release, and list each change with the release that introduced it.

    The form stays the same: JSON, text or binary.

    \b
    Examples:
      pyspark-substrait upgrade plan.json
      pyspark-substrait upgrade old.pb -o new.pb
      pyspark-substrait upgrade plan.json --check --format json
    """
    if check and output is not None:
        raise click.UsageError("--check writes nothing; leave out --output")
    target = plan if output is None else output
    if form == "json" and not check and str(target) == "-":
        raise click.UsageError("the plan and the list of --format json both go to standard output; add --output")
    source = plan_source(plan)

    from pyspark_substrait.api.validate import upgrades

    loaded = pyspark_substrait.load(source, registry=registry)
    name = "standard input" if str(plan) == "-" else str(plan)
    _report(loaded, upgrades(loaded, name=name), form)
    count = len(loaded.upgrades)
    if check:
        print_text(f"{counted(count, 'old form')} to upgrade" if count else "nothing to upgrade", err=True)
        click.get_current_context().exit(1 if count else 0)
    if count == 0 and output is None and str(plan) != "-":
        print_text("nothing to upgrade", err=True)
        return
    save(loaded, target, form_of(source))
    print_text(f"{counted(count, 'old form')} upgraded, written to {output_name(target)}", err=True)


def _report(loaded: Plan | ExtendedExpression, report: Report, form: str) -> None:
    """Report the changes and their reasons, each reason once."""
    if form == "json":
        print_text(report.to_json())
        return
    shown: set[str] = set()
    for note, finding in zip(loaded.upgrades, report, strict=True):
        print_text(str(note), err=True)
        if note.rule not in shown:
            shown.add(note.rule)
            print_text(f"    {finding.why}", err=True)
