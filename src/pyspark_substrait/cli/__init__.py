"""The command line: arguments in, one call of the library, output out. Only what makes rows imports Spark."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import click

from pyspark_substrait.cli.dialect import capabilities, dialect
from pyspark_substrait.cli.diff import diff
from pyspark_substrait.cli.explain import explain
from pyspark_substrait.cli.files import counted, files, named, opened, save
from pyspark_substrait.cli.findings import findings
from pyspark_substrait.cli.lint import lint
from pyspark_substrait.cli.plan import plan
from pyspark_substrait.cli.upgrade import upgrade
from pyspark_substrait.cli.validate import validate
from pyspark_substrait.errors import SubstraitError, SubstraitWarning

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import Console

    from pyspark_substrait.documents import ExtendedExpression, Plan
    from pyspark_substrait.spark.results import FileFormat

__all__ = ["main"]

_DEFAULT_LIMIT = 50
_FILE_FORMATS = {".parquet": "parquet", ".csv": "csv", ".json": "json", ".jsonl": "json", ".ndjson": "json"}

_PLAN = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)
_PARAM = click.option(
    "--param",
    "parameters",
    metavar="N=VALUE",
    multiple=True,
    help="The value of the dynamic parameter N, as text of its type (times and intervals in ISO 8601, binary in "
    "hexadecimal digits, lists and structs in JSON); N alone means null. Repeatable.",
)

_ROOT = click.option(
    "--root", metavar="N", type=click.IntRange(min=0), help="Which root, from 0, of a plan that has several."
)

_ROWS = (
    click.option("--limit", metavar="N", type=click.IntRange(min=0), help="The most rows; 50 when they are printed."),
    click.option("--types", is_flag=True, help="Print the type of each column too."),
    click.option(
        "--output", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path), help="Write the rows here instead."
    ),
    click.option(
        "--format",
        "form",
        type=click.Choice(["parquet", "csv", "json"]),
        help="Of FILE; by its suffix when not given. JSON is one object a line.",
    ),
    click.option(
        "--master", metavar="URL", help="Where Spark runs: local[4], spark://host:7077; all cores here by default."
    ),
    click.option("--remote", metavar="URL", help="A Spark Connect server: sc://host:15002."),
)


def _with_rows(command: Callable[..., None]) -> Callable[..., None]:
    """A command with the options of those that make rows."""
    return reduce(lambda decorated, option: option(decorated), reversed(_ROWS), command)


class _Commands(click.Group):
    """A group whose commands end with exit code 1 and one line for every error in the SubstraitError family."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except SubstraitError as error:
            click.echo(f"error: {error}", err=True)
            ctx.exit(1)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)  # in the order a reader meets them, not of the alphabet


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="pyspark-substrait", prog_name="pyspark-substrait")
def main() -> None:
    """Substrait plans on Apache Spark.

    A PLAN is a file of any Substrait release, binary or JSON (found out by looking), or - for standard input.

    \b
    Examples:
      pyspark-substrait explain plan.json
      pyspark-substrait run plan.json --table orders=orders.parquet --table products=products/
      pyspark-substrait plan "SELECT * FROM orders" --table orders=orders.parquet -o plan.json
      pyspark-substrait convert plan.pb plan.json

    Exit codes: 0 done; 1 something is wrong with the plan or its data, or was found in it; 2 wrong usage.
    """


@main.command()
@click.argument("plan", type=_PLAN)
@click.option(
    "--table",
    "tables",
    metavar="NAME=PATH",
    multiple=True,
    help="A table that the plan reads: its name (dots between the parts) and a Parquet, ORC or Arrow file or folder. "
    "Repeatable; other names come from the session's catalog.",
)
@click.option(
    "--allow-path",
    "allowed",
    metavar="PATH",
    multiple=True,
    help="A file or folder that the plan itself may read, besides those of --table, or write. Repeatable.",
)
@_PARAM
@_ROOT
@click.option("--dry-run", is_flag=True, help="Only print what the plan would read and change. Needs no Spark.")
@_with_rows
def run(
    plan: Path,
    tables: tuple[str, ...],
    allowed: tuple[str, ...],
    parameters: tuple[str, ...],
    root: int | None,
    dry_run: bool,
    limit: int | None,
    types: bool,
    output: Path | None,
    form: FileFormat | None,
    master: str | None,
    remote: str | None,
) -> None:
    """Run PLAN on Spark and print its rows, or write them to a file; of a plan that only writes, what it has done.

    \b
    Examples:
      pyspark-substrait run plan.json --table orders=orders.parquet --types
      pyspark-substrait run plan.pb --table sales.orders=/data/orders/ --output result.parquet
      pyspark-substrait run plan.pb --param 1=2024-02-29 --param "2=Rome" --param 3
      pyspark-substrait run plan.pb --remote sc://spark.example.com:15002 --limit 10
      pyspark-substrait run plan.pb --dry-run
    """
    paths = dict(named(text) for text in tables)
    if len(paths) < len(tables):
        raise click.BadParameter("a name is given twice", param_hint="--table")
    rows = _Rows(limit, types, output, form, master, remote)
    loaded = _load(opened(plan))

    import pyspark_substrait

    touches = pyspark_substrait.touches(loaded, root=root)
    if dry_run:
        for touch in touches:
            click.echo(f"{touch}  ({touch.path})")
        return
    values = _parameters(parameters, loaded)
    rows.show(
        lambda spark, most: pyspark_substrait.run_query(
            loaded,
            tables=paths,
            parameters=values,
            spark=spark,
            allowed_paths=[*paths.values(), *allowed],
            limit=most,
            root=root,
        ),
        [touch.done() for touch in touches if touch.action.changes],
    )


@main.command(short_help="Evaluate an extended expression over a table.")
@click.argument("expression", metavar="EXPR", type=_PLAN)
@click.option("--data", metavar="PATH", required=True, help="The table: a Parquet, ORC or Arrow file or folder.")
@_PARAM
@_with_rows
def evaluate(
    expression: Path,
    data: str,
    parameters: tuple[str, ...],
    limit: int | None,
    types: bool,
    output: Path | None,
    form: FileFormat | None,
    master: str | None,
    remote: str | None,
) -> None:
    """Evaluate the extended expression EXPR over the records of a table, and print its columns or write them to a file.

    \b
    Examples:
      pyspark-substrait evaluate expression.json --data orders.parquet --types
      pyspark-substrait evaluate expression.pb --data /data/orders/ --output result.parquet
    """
    rows = _Rows(limit, types, output, form, master, remote)
    path = files(data, "--data")
    loaded = _load(opened(expression))
    values = _parameters(parameters, loaded)

    import pyspark_substrait

    rows.show(
        lambda spark, most: pyspark_substrait.evaluate_arrow(loaded, path, parameters=values, spark=spark, limit=most)
    )


@main.command()
@click.argument("plan", type=_PLAN)
@_PARAM
@_ROOT
def sql(plan: Path, parameters: tuple[str, ...], root: int | None) -> None:
    """Print the Spark SQL text that runs PLAN. Needs no Spark."""
    import pyspark_substrait

    loaded = _load(opened(plan))
    click.echo(pyspark_substrait.to_sql(loaded, parameters=_parameters(parameters, loaded), root=root))


main.add_command(explain)


@main.command(short_help="List the functions that run, or show one.")
@click.argument("name", required=False)
@click.option(
    "--extension",
    "extensions",
    metavar="FILE",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A YAML file of your own to show as well. Repeatable.",
)
@click.option("--full", is_flag=True, help="Print long Spark SQL in full.")
@click.option("--markdown", "as_page", is_flag=True, help="Print the page of the documentation.")
def functions(name: str | None, extensions: tuple[Path, ...], full: bool, as_page: bool) -> None:
    """List the functions of all extensions, or show the one called NAME: overloads, options, what it is in Spark SQL.

    NAME may be an extension too, like functions_string. Needs no Spark.

    \b
    Examples:
      pyspark-substrait functions
      pyspark-substrait functions round
      pyspark-substrait functions functions_datetime
    """
    from pyspark_substrait.extensions.registry import Registry
    from pyspark_substrait.sparksql.functions.support import listed, markdown, shown, supported

    registry = reduce(lambda larger, path: larger.with_yaml(path), extensions, Registry.default())
    found = supported(registry, name)
    if not found:
        raise click.UsageError(f"there is no function or extension {name!r}; without NAME, all are listed")
    if as_page:
        click.echo(markdown(found), nl=False)
    elif name in {item.name for item in found}:
        click.echo("\n\n".join(shown(item, full=full) for item in found))
    else:
        _console().print(listed(found))


@main.command(short_help="Write a plan as JSON, text or binary.")
@click.argument("source", metavar="IN", type=_PLAN)
@click.argument("target", metavar="OUT", type=click.Path(dir_okay=False, allow_dash=True, path_type=Path))
@click.option(
    "--to", "form", type=click.Choice(["json", "pb", "text"]), help="The form of OUT; by its suffix when not given."
)
def convert(source: Path, target: Path, form: Literal["json", "pb", "text"] | None) -> None:
    """Write the plan IN to OUT in the current form of the format: as JSON (.json), text (.txt, .substrait) or binary.

    \b
    Examples:
      pyspark-substrait convert plan.pb plan.json
      pyspark-substrait convert plan.pb plan.substrait
      pyspark-substrait convert plan.pb - --to json
    """
    from pyspark_substrait.documents import FORMS

    loaded = _load(opened(source))
    save(loaded, target, form or FORMS.get(target.suffix.lower(), "pb"))
    if loaded.upgrades:
        click.echo(f"{counted(len(loaded.upgrades), 'thing')} upgraded on the way (see: upgrade --check)", err=True)


def _load(source: Path | bytes) -> Plan | ExtendedExpression:
    import pyspark_substrait

    return pyspark_substrait.load(source)


@dataclass(frozen=True)
class _Rows:
    """Where rows are made and where they go, as options say."""

    limit: int | None
    types: bool
    output: Path | None
    form: FileFormat | None
    master: str | None
    remote: str | None

    def __post_init__(self) -> None:
        if self.master is not None and self.remote is not None:
            raise click.UsageError("--master and --remote exclude each other")
        if self.output is None and self.form is not None:
            raise click.UsageError("--format goes with --output")
        if self.output is not None and self.form is None:
            _file_format(self.output)

    def show(self, query: Callable[[Any, int | None], pa.Table], done: Sequence[str] = ()) -> None:
        """Print, or write, the rows of a query, which is given a session and how many rows are wanted.

        Args:
            query: makes the rows.
            done: what it changes, to be said afterwards.
        """
        from pyspark_substrait.spark.progress import progress, waiting
        from pyspark_substrait.spark.results import as_table, write_file
        from pyspark_substrait.spark.session import embedded_session

        with waiting("Starting Spark" if self.remote is None else f"Connecting to {self.remote}"):
            spark = embedded_session(self.master, self.remote)
        shown = _DEFAULT_LIMIT if self.limit is None else self.limit
        # one row more than are printed tells whether there are more
        most = self.limit if self.output is not None else shown + 1
        with progress(spark), warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", SubstraitWarning)
            rows = query(spark, most)
        for warning in told:
            if issubclass(warning.category, SubstraitWarning):
                click.echo(f"note: {warning.message}", err=True)
            else:
                warnings.showwarning(warning.message, warning.category, warning.filename, warning.lineno)
        for line in done:
            click.echo(f"done: {line}", err=bool(rows.num_columns))
        if done and not rows.num_columns:
            return
        if self.output is not None:
            write_file(rows, self.output, self.form or _file_format(self.output))
            click.echo(f"{counted(rows.num_rows, 'row')} written to {self.output}", err=True)
            return

        _console().print(as_table(rows.slice(0, shown), types=self.types))
        if rows.num_rows > shown:
            more = f"… {counted(shown, 'row')} shown of more; --limit N shows more, --output FILE writes all"
            click.echo(more, err=True)
        else:
            click.echo(f"{counted(rows.num_rows, 'row')}", err=True)


def _console() -> Console:
    """Where tables go. A file or another program gets the whole width; only a terminal has an edge to fold at."""
    from rich.console import Console

    return Console() if sys.stdout.isatty() else Console(width=100_000)


def _parameters(texts: tuple[str, ...], loaded: Plan | ExtendedExpression) -> dict[int, Any]:
    """The values of the plan's parameters that options give."""
    given: dict[int, str | None] = {}
    for text in texts:
        number, equals, value = text.partition("=")
        if not (number.isascii() and number.isdigit()):
            raise click.BadParameter(f"{text!r} is not of the form N=VALUE", param_hint="--param")
        if int(number) in given:
            raise click.BadParameter(f"the parameter {int(number)} is given twice", param_hint="--param")
        given[int(number)] = value if equals else None
    if not given:
        return {}
    from pyspark_substrait.documents import Plan
    from pyspark_substrait.model.parameters import parameter_texts

    if isinstance(loaded, Plan):
        return dict(parameter_texts(loaded, given))
    from pyspark_substrait.spark.evaluate import as_plan

    return dict(parameter_texts(as_plan(loaded), given))


def _file_format(output: Path) -> FileFormat:
    form = _FILE_FORMATS.get(output.suffix.lower())
    if form is None:
        raise click.UsageError(f"the suffix of {output} says nothing; add --format parquet, csv or json")
    return cast("FileFormat", form)


main.add_command(plan)
main.add_command(dialect)
main.add_command(capabilities)
main.add_command(validate)
main.add_command(lint)
main.add_command(upgrade)
main.add_command(findings)
main.add_command(diff)
