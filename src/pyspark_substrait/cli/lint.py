"""The command that reports what could be written better in plans, and fixes it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

import pyspark_substrait
from pyspark_substrait.cli.files import counted, form_of, output_name, plan_source, save
from pyspark_substrait.cli.options import FUNCTIONS, PLAN
from pyspark_substrait.cli.output import print_text, write_text
from pyspark_substrait.cli.validate import FORMS, write_reports

if TYPE_CHECKING:
    from pyspark_substrait.analysis.report import Report
    from pyspark_substrait.extensions.registry import Registry

__all__ = ["lint"]


@click.command(short_help="Find redundant, slow and suspicious parts of plans, and fix them.")
@click.argument(
    "plans",
    metavar="PLAN...",
    nargs=-1,
    type=PLAN,
)
@click.option("--fix", is_flag=True, help="Apply the fixes that provably keep the meaning of the plan, and list them.")
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    help="With --fix, write the fixed plan here instead of over PLAN; without it, write the findings here.",
)
@click.option("--select", metavar="RULES", help="Only these rules: their names or class numbers, separated by commas.")
@click.option("--ignore", metavar="RULES", help="All but these rules, in the same form.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif", "html"]),
    help="The form of the report; by default that of the suffix of OUT, or else text.",
)
@click.option("--rules", is_flag=True, help="Print the page of the documentation that lists the rules.")
@FUNCTIONS
def lint(
    plans: tuple[Path, ...],
    fix: bool,
    output: Path | None,
    select: str | None,
    ignore: str | None,
    form: str | None,
    rules: bool,
    registry: Registry | None,
) -> None:
    """List the redundant, slow and suspicious parts of each PLAN, with the reason and the fix. Needs no Spark.

    With --fix, apply the fixes. Exit codes: 0 no findings (with --fix: none left), 1 findings, 2 wrong usage.

    \b
    Examples:
      pyspark-substrait lint plan.json
      pyspark-substrait lint plans/*.pb --select double-negation,9003 --format json
      pyspark-substrait lint plan.json --fix
      pyspark-substrait lint plan.pb --fix -o better.pb
    """
    if rules:
        from pyspark_substrait.analysis.lint.page import markdown

        write_text(markdown(), nl=False)
        return
    if not plans:
        raise click.UsageError("Missing argument 'PLAN...'.")
    if sum(str(plan) == "-" for plan in plans) > 1:
        raise click.UsageError("standard input can be read only once")
    try:
        if fix:
            _fix(plans, output, _rules(select), _rules(ignore), form or "text", registry)
            return
        found = [_linted(plan, _rules(select), _rules(ignore), registry) for plan in plans]
    except ValueError as error:  # an unknown rule
        raise click.BadParameter(str(error), param_hint="--select, --ignore") from error
    target = output or Path("-")
    write_reports(found, form or FORMS.get(target.suffix.lower(), "text"), target)
    click.get_current_context().exit(1 if any(len(report) for report in found) else 0)


def _rules(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())


def _name(plan: Path) -> str:
    return "standard input" if str(plan) == "-" else str(plan)


def _linted(plan: Path, select: tuple[str, ...], ignore: tuple[str, ...], registry: Registry | None) -> Report:
    report: Report = pyspark_substrait.lint(
        plan_source(plan), select=select, ignore=ignore, name=_name(plan), registry=registry
    )
    return report


def _fix(
    plans: tuple[Path, ...],
    output: Path | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    form: str,
    registry: Registry | None,
) -> None:
    if output is not None and len(plans) > 1:
        raise click.UsageError("--output needs exactly one plan; without it, each plan is overwritten")
    left = 0
    for plan in plans:
        target = plan if output is None else output
        if str(target) == "-" and form != "text":
            raise click.UsageError("the plan and the report of --format both go to standard output; add --output")
        source = plan_source(plan)
        made, done = pyspark_substrait.fixed(source, select=select, ignore=ignore, name=_name(plan), registry=registry)
        if form == "text":
            for finding in done:
                print_text(f"fixed: {finding.path or 'plan'}: {finding.what}", err=True)
        else:
            write_reports([done], form, Path("-"))
        if len(done) or output is not None or str(plan) == "-":
            save(made, target, form_of(source))
            print_text(f"{counted(len(done), 'finding')} fixed, written to {output_name(target)}", err=True)
        else:
            print_text(f"{_name(plan)}: nothing to fix", err=True)
        left += len(pyspark_substrait.lint(made, select=select, ignore=ignore, registry=registry))
    if left:
        print_text(f"{counted(left, 'finding')} left without an automatic fix (lint lists them)", err=True)
    click.get_current_context().exit(1 if left else 0)
