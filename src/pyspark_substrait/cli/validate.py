"""The command that reports the errors in plans."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

import pyspark_substrait
from pyspark_substrait.cli.files import counted, plan_source
from pyspark_substrait.cli.options import FUNCTIONS, PLAN, SPARK
from pyspark_substrait.cli.output import print_text, write_text
from pyspark_substrait.codes import Level
from pyspark_substrait.errors import SubstraitError

if TYPE_CHECKING:
    from rich.console import Console

    from pyspark_substrait.analysis.report import Report
    from pyspark_substrait.extensions.registry import Registry

__all__ = ["FORMS", "validate", "write_reports"]

FORMS = {".json": "json", ".sarif": "sarif", ".html": "html", ".htm": "html"}
"""The form of a report, by the suffix of its file."""

_STYLES = {
    "plain": "",
    "name": "bold",
    "error": "bold red",
    "warning": "bold yellow",
    "info": "bold cyan",
    "path": "cyan",
}
_QUIET = "dim"


@click.command(short_help="Check plans for errors and doubtful constructs.")
@click.argument(
    "plans",
    metavar="PLAN...",
    nargs=-1,
    required=True,
    type=PLAN,
)
@click.option("--target", metavar="ENGINE", help="Also check what this engine cannot run: spark, or a dialect file.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif", "html"]),
    help="The form of the report; by default that of the suffix of OUT (.json, .sarif, .html), or else text.",
)
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    default="-",
    help="Write the report here; by default to standard output.",
)
@click.option(
    "--level",
    type=click.Choice([level.value for level in Level]),
    default="info",
    help="List only findings of this level and above.",
)
@click.option("--strict", is_flag=True, help="Exit with 1 for warnings, too.")
@FUNCTIONS
@SPARK
def validate(
    plans: tuple[Path, ...],
    target: str | None,
    form: str | None,
    output: Path,
    level: str,
    strict: bool,
    registry: Registry | None,
    version: str | None,
) -> None:
    """Check each PLAN for errors and doubtful constructs; print where each is, why, and how to fix it. Needs no Spark.

    Exit codes: 0 no errors (with --strict, no warnings either), 1 errors, 2 wrong usage.

    \b
    Examples:
      pyspark-substrait validate plan.json
      pyspark-substrait validate plans/*.pb --level error
      pyspark-substrait validate plan.pb --target spark --strict
      pyspark-substrait validate plan.pb --target spark --spark 3.5
      pyspark-substrait validate plans/*.json -o findings.sarif
      pyspark-substrait validate plan.json -o report.html
    """
    if sum(str(plan) == "-" for plan in plans) > 1:
        raise click.UsageError("standard input can be read only once")
    if str(output) != "-" and output.resolve() in {plan.resolve() for plan in plans}:
        raise click.UsageError(f"{output} is one of the plans")
    reports = [_report(plan, target, registry, version).at_least(Level(level)) for plan in plans]
    write_reports(reports, form or FORMS.get(output.suffix.lower(), "text"), output)
    fails = any(report.errors or (strict and report.warnings) for report in reports)
    click.get_current_context().exit(1 if fails else 0)


def _report(plan: Path, target: str | None, registry: Registry | None, version: str | None) -> Report:
    name = "standard input" if str(plan) == "-" else str(plan)
    try:
        return pyspark_substrait.validate(plan_source(plan), target, name=name, registry=registry, version=version)
    except SubstraitError as error:  # the target, as a plan raises no error
        raise click.BadParameter(str(error), param_hint="--target, --spark") from error


def write_reports(reports: Sequence[Report], form: str, output: Path) -> None:
    """Write reports to a file or to standard output, as text, json, sarif or html."""
    if form == "text" and str(output) == "-":
        _print(reports)
        return
    content = _content(reports, form)
    if str(output) == "-":
        write_text(content)
        return
    try:
        output.write_text(content + "\n", encoding="utf-8")
    except OSError as error:
        raise click.FileError(str(output), error.strerror or str(error)) from error
    print_text(f"{_total(reports)}; written to {output}", err=True)


def _content(reports: Sequence[Report], form: str) -> str:
    from pyspark_substrait.analysis.report import as_json, html, sarif, text

    match form:
        case "json":
            return as_json.jsons(reports)
        case "sarif":
            return sarif.sarif(reports)
        case "html":
            return html.html(reports)
        case _:
            several = [_total(reports)] if len(reports) > 1 else []
            return "\n\n".join([*map(text.text, reports), *several])


def _print(reports: Sequence[Report]) -> None:
    """Print the text, with colours if standard output is a terminal."""
    from pyspark_substrait.analysis.report.text import parts

    console = _console()
    for number, report in enumerate(reports):
        if number:
            console.print()
        for role, part in parts(report):
            console.print(part, style=_STYLES.get(role, _QUIET), end="", soft_wrap=True, highlight=False, markup=False)
    if len(reports) > 1:
        console.print(f"\n{_total(reports)}", style="bold", highlight=False)


def _console() -> Console:
    from rich.console import Console

    return Console(file=sys.stdout, emoji=False)


def _total(reports: Sequence[Report]) -> str:
    errors = sum(len(report.errors) for report in reports)
    warnings = sum(len(report.warnings) for report in reports)
    found = (counted(errors, "error") if errors else "no errors", counted(warnings, "warning"))
    return f"{counted(len(reports), 'plan')}: {found[0]}, {found[1] if warnings else 'no warnings'}"
