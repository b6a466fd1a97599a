"""The command that tries an engine on all cases."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

import pyspark_substrait
from pyspark_substrait.cli.dialect import dialect_text
from pyspark_substrait.cli.files import output_name
from pyspark_substrait.cli.output import print_over, print_text, shows_progress, write_text

if TYPE_CHECKING:
    from pyspark_substrait.conformance.report import ConformanceReport

__all__ = ["conformance"]

_FORMS = {".json": "json", ".html": "html", ".htm": "html"}
_FEW = 10


@click.command(short_help="Try an engine on function cases and relation cases.")
@click.option("--engine", metavar="ENGINE", required=True, help="spark, datafusion, duckdb or acero, or a command.")
@click.option("--label", metavar="NAME", default="", help="The name of the engine in reports.")
@click.option(
    "--persistent", is_flag=True, help="The command runs many plans, in messages: for an engine that starts slowly."
)
@click.option(
    "--suite",
    "suites",
    multiple=True,
    type=click.Choice(["specification", "ours", "relations"]),
    help="Only function cases of the specification, or of this package, or relation cases. Repeatable.",
)
@click.option(
    "--case", "cases", metavar="ID", multiple=True, help="Only cases with this id; * stands for any text. Repeatable."
)
@click.option(
    "--cases",
    "folder",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The specification's function cases (tests/cases of its repository); by default those of the installed "
    "package substrait-extensions.",
)
@click.option(
    "--relations",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder of relation cases to take instead of those of this package.",
)
@click.option(
    "--convert",
    is_flag=True,
    help="Also run each plan in the form of the engine: DataFusion, Acero, persistent commands.",
)
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    default=10.0,
    show_default=True,
    help="The limit of time for a plan.",
)
@click.option(
    "--jobs", metavar="N", type=click.IntRange(min=1), default=1, show_default=True, help="Processes that run plans."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "html"]),
    help="The form of the report; by default that of the suffix of OUT (.json, .html), or else text.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    default="-",
    help="Write the report here; by default to standard output.",
)
@click.option(
    "--dialect",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write a dialect file of what passed, as JSON (.json) or YAML (any other suffix).",
)
def conformance(
    engine: str,
    label: str,
    persistent: bool,
    suites: tuple[str, ...],
    cases: tuple[str, ...],
    folder: Path | None,
    relations: Path | None,
    convert: bool,
    timeout: float,
    jobs: int,
    form: str | None,
    as_json: bool,
    output: Path,
    dialect: Path | None,
) -> None:
    """Try an engine on the specification's function cases, on ours, and on relation cases, and report what it gives.

    A command reads a plan in binary form on standard input and writes its rows as an Arrow stream on standard output.
    It ends with exit status 2 where it refuses the plan, and with another one but 0 where the plan fails on its data.

    Exit codes: 0 no case failed; 1 a case failed, or the engine does not start; 2 wrong usage.

    \b
    Examples:
      pyspark-substrait conformance --engine datafusion -o datafusion.html --dialect datafusion.yaml
      pyspark-substrait conformance --engine "./my-engine --substrait" --suite relations
      pyspark-substrait conformance --engine duckdb --case 'join:left-*'
    """
    found = pyspark_substrait.conformance_report(
        engine,
        label=label,
        persistent=persistent,
        suites=suites,
        cases=cases,
        folder=folder,
        relations=relations,
        convert=convert,
        seconds=timeout,
        jobs=jobs,
        progress=_show_progress if shows_progress() else None,
    )
    form = "json" if as_json else form or _FORMS.get(output.suffix.lower(), "text")
    text = found.to_json() if form == "json" else found.to_html() if form == "html" else _text(found)
    if str(output) == "-":
        write_text(text)
    else:
        output.write_text(text + "\n", encoding="utf-8")
        print_text(f"written to {output_name(output)}", err=True)
    if dialect is not None:
        dialect.write_text(dialect_text(found.dialect(), dialect), encoding="utf-8")
        print_text(f"written to {output_name(dialect)}", err=True)
    click.get_current_context().exit(0 if found.passed else 1)


def _show_progress(done: int, total: int) -> None:
    """Write the number of cases that are done over the one before."""
    print_over(f"{done:,} of {total:,} cases", last=done == total)


def _text(found: ConformanceReport) -> str:
    """Return the table, or for few cases each with its plan."""
    few = sum(len(run.outcomes) for run in found.runs) <= _FEW
    return f"{found}\n\n{found.details()}" if few else str(found)
