"""The command line: commands parse arguments, call the library and print. Only commands that make rows import Spark."""

from __future__ import annotations

from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

import pyspark_substrait
from pyspark_substrait.cli.bind import bind
from pyspark_substrait.cli.compare import compare
from pyspark_substrait.cli.conformance import conformance
from pyspark_substrait.cli.dialect import capabilities, dialect
from pyspark_substrait.cli.diff import diff
from pyspark_substrait.cli.explain import explain
from pyspark_substrait.cli.files import console, counted, error_text, plan_source, save
from pyspark_substrait.cli.findings import findings
from pyspark_substrait.cli.lineage import lineage
from pyspark_substrait.cli.lint import lint
from pyspark_substrait.cli.options import FUNCTIONS, PARAMETERS, PLAN, ROOT, SPARK, loaded_from, parameter_values
from pyspark_substrait.cli.output import for_terminal, print_text, write_text
from pyspark_substrait.cli.plan import plan
from pyspark_substrait.cli.run import evaluate, run
from pyspark_substrait.cli.samples import samples
from pyspark_substrait.cli.serve import serve, serve_user
from pyspark_substrait.cli.sessions import sessions
from pyspark_substrait.cli.upgrade import upgrade
from pyspark_substrait.cli.validate import validate
from pyspark_substrait.cli.view import view
from pyspark_substrait.cli.warmup import warmup
from pyspark_substrait.errors import SubstraitError

if TYPE_CHECKING:
    from pyspark_substrait.extensions.registry import Registry

__all__ = ["main"]

#: The exit code that shells report for a program ended by Ctrl-C.
_INTERRUPTED = 130


class _Commands(click.Group):
    """A group whose commands end with exit code 1 and one line for each of our errors, and with 130 on Ctrl-C."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except SubstraitError as error:
            print_text(error_text(error), err=True)
            ctx.exit(1)
        except click.ClickException as error:  # the text may hold the name of a file, or of a plan's column
            texts = {name: text for name, text in vars(error).items() if isinstance(text, str)}
            vars(error).update({name: for_terminal(text) for name, text in texts.items()})
            raise
        except ImportError as error:  # of packages that don't fit each other
            if not str(error).startswith("pyarrow requires"):
                raise
            print_text(f"error: {error}. Install a newer one, or an older pyarrow: pip install 'pyarrow<26'", err=True)
            ctx.exit(1)
        except KeyboardInterrupt as interrupt:
            print_text(str(interrupt) or "stopped", err=True)
            ctx.exit(_INTERRUPTED)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)  # in the order of the documentation, not of the alphabet


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="pyspark-substrait", prog_name="pyspark-substrait")
def main() -> None:
    """Substrait plans on Apache Spark.

    A PLAN is a file in binary, JSON or text form, of any Substrait release, or - for standard input. The form is
    detected.

    \b
    Examples:
      pyspark-substrait explain plan.json
      pyspark-substrait run plan.json --table orders=orders.parquet --table products=products/
      pyspark-substrait plan "SELECT * FROM orders" --table orders=orders.parquet -o plan.json
      pyspark-substrait convert plan.pb plan.json

    Exit codes: 0 success; 1 an error in the plan or its data, or findings; 2 wrong usage; 130 stopped with Ctrl-C.
    """


main.add_command(run)
main.add_command(evaluate)
main.add_command(serve)
main.add_command(serve_user)


@main.command(short_help="Print the Spark SQL of a plan.")
@click.argument("plan", type=PLAN)
@PARAMETERS
@ROOT
@FUNCTIONS
@SPARK
@click.option(
    "--dialect", default="spark", help="spark, duckdb, postgres, trino, datafusion or sqlite; by default spark."
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


main.add_command(explain)
main.add_command(view)
main.add_command(lineage)


@main.command(short_help="List the functions that run on Spark, or show one.")
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


@main.command(short_help="Write a plan as JSON, text or binary.")
@click.argument("source", metavar="IN", type=PLAN)
@click.argument("target", metavar="OUT", type=click.Path(dir_okay=False, allow_dash=True, path_type=Path))
@click.option(
    "--to", "form", type=click.Choice(["json", "pb", "text"]), help="The form of OUT; by default, its suffix decides."
)
@FUNCTIONS
def convert(source: Path, target: Path, form: Literal["json", "pb", "text"] | None, registry: Registry | None) -> None:
    """Write the plan IN to OUT, upgraded to the current release: as JSON (.json), text (.txt, .substrait) or binary.

    \b
    Examples:
      pyspark-substrait convert plan.pb plan.json
      pyspark-substrait convert plan.pb plan.substrait
      pyspark-substrait convert plan.pb - --to json
    """
    from pyspark_substrait.documents import FORMS

    loaded = loaded_from(plan_source(source), registry)
    save(loaded, target, form or FORMS.get(target.suffix.lower(), "pb"))
    if loaded.upgrades:
        print_text(f"{counted(len(loaded.upgrades), 'old form')} upgraded (upgrade --check lists them)", err=True)


main.add_command(plan)
main.add_command(bind)
main.add_command(compare)
main.add_command(conformance)
main.add_command(dialect)
main.add_command(capabilities)
main.add_command(validate)
main.add_command(lint)
main.add_command(upgrade)
main.add_command(findings)
main.add_command(diff)
main.add_command(samples)
main.add_command(sessions)
main.add_command(warmup)
