"""Options that several commands share, and their values: tables, parameters, a session."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, fields
from functools import reduce
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

import pyspark_substrait
from pyspark_substrait.cli.files import printing_warnings, table_option
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.model.limits import RunLimits

if TYPE_CHECKING:
    from pyspark_substrait.documents import ExtendedExpression, Plan
    from pyspark_substrait.extensions.registry import Registry

__all__ = [
    "FUNCTIONS",
    "KEEP",
    "PARAMETERS",
    "PLAN",
    "RENAME",
    "ROOT",
    "SPARK",
    "Session",
    "limit_option",
    "loaded_from",
    "parameter_values",
    "registry_of",
    "renamed_tables",
    "table_paths",
    "with_limits",
    "with_options",
    "with_session",
    "with_tables",
]

_Command = TypeVar("_Command", bound=Callable[..., Any])


class _PlanFile(click.Path):
    """A file with a plan, or ``-``. A text that is given instead, such as SQL, is named in the error."""

    def __init__(self) -> None:
        # a directory is no wrong usage, but what can't be read as a plan
        super().__init__(exists=True, dir_okay=True, allow_dash=True, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        text = str(value)
        if any(map(str.isspace, text)) and not os.path.lexists(text):
            try:
                pyspark_substrait.load(text)
            except SubstraitError as error:
                self.fail(str(error), param, ctx)
        return super().convert(value, param, ctx)


PLAN = _PlanFile()
"""The type of an argument for a plan."""

PARAMETERS = click.option(
    "--param",
    "parameters",
    metavar="N=VALUE",
    multiple=True,
    help="The value of the dynamic parameter N, as text of its type (times and intervals in ISO 8601, binary in "
    "hexadecimal digits, lists and structs in JSON); N alone means null. Repeatable.",
)
"""``parameters``: see :func:`parameter_values`."""

ROOT = click.option(
    "--root", metavar="N", type=click.IntRange(min=0), help="The root to run, counted from 0, if the plan has several."
)
"""``root``: a position, or None."""

SPARK = click.option(
    "--spark",
    "version",
    metavar="VERSION",
    help="The version of Spark, 3.5 or later; by default the newest one that is supported.",
)
"""``version``: the number of a version, or None."""

FUNCTIONS = click.option(
    "--functions",
    "registry",
    metavar="FILE",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    callback=lambda context, option, files: registry_of(files),
    help="Your own functions: a YAML file that declares them, or a Python file whose `with_functions(registry)` "
    "defines them for Spark. The Python file is executed. Repeatable; the files are read in the order given.",
)
"""``registry``: a registry, or None; see :func:`registry_of`."""

RENAME = click.option(
    "--rename",
    "renamed",
    metavar="TABLE=NAME",
    multiple=True,
    help="The plan's table TABLE is the given table NAME; not needed if only upper and lower case differ. Repeatable.",
)
"""``renamed``: see :func:`renamed_tables`."""

_TABLES = (
    click.option(
        "--table",
        "tables",
        metavar="NAME=PATH",
        multiple=True,
        help="A table that the plan reads: its name (dots between the parts) and a Parquet, ORC or Arrow file or "
        "folder. Repeatable; other names come from the session's catalog.",
    ),
    click.option(
        "--allow-path",
        "allowed",
        metavar="PATH",
        multiple=True,
        help="A file or folder that the plan itself may read or write, in addition to those of --table. Repeatable.",
    ),
)

SLOW_PATTERNS = click.option(
    "--refuse-slow-patterns",
    is_flag=True,
    help="Refuse regular expressions that can take very long on some texts; for plans from untrusted sources.",
)

_SESSION = (
    click.option(
        "--master",
        metavar="URL",
        help="Where Spark runs, such as local[4] or spark://host:7077; by default on all cores of this machine.",
    ),
    click.option("--remote", metavar="URL", help="A Spark Connect server: sc://host:15002."),
    click.option(
        "--progress/--no-progress",
        default=None,
        help="Whether to show the progress of Spark; by default only on a terminal, and only if a run takes a while.",
    ),
)

KEEP = click.option(
    "--keep/--no-keep",
    default=True,
    help="Whether to use a session that an earlier command has kept, and to keep one for the next (see `sessions`).",
)


def with_options(*options: Callable[[_Command], _Command]) -> Callable[[_Command], _Command]:
    """Return a decorator that adds these options to a command, in this order."""
    return lambda command: reduce(lambda decorated, option: option(decorated), reversed(options), command)


def limit_option(limit: Field[Any]) -> Callable[[_Command], _Command]:
    """Return the option of a limit: a field of :class:`RunLimits` or of a class that derives from it."""
    least, above = limit.metadata["least"], limit.metadata["above"]
    return click.option(
        "--" + limit.name.replace("_", "-"),
        metavar="S" if limit.name == "seconds" else "N",
        type=click.FloatRange(least, min_open=above) if limit.name == "seconds" else click.IntRange(least),
        default=limit.default,
        help=limit.metadata["about"],
    )


with_limits = with_options(*map(limit_option, fields(RunLimits)))
"""The fields of :class:`RunLimits`, by their names."""

with_tables = with_options(*_TABLES)
"""``tables``, see :func:`table_paths`, and ``allowed``: the paths that the plan itself may name."""

with_session = with_options(*_SESSION)
"""``master``, ``remote`` and ``progress``: the fields of :class:`Session`."""


@dataclass(frozen=True)
class Session:
    """The place where Spark runs, whether to show progress, and whether to keep the session, from the options."""

    master: str | None
    remote: str | None
    progress: bool | None
    keep: bool = False

    def __post_init__(self) -> None:
        if self.master is not None and self.remote is not None:
            raise click.UsageError("--master and --remote cannot be used together")

    def check_tables(self, loaded: Plan | ExtendedExpression, tables: Mapping[str, str], root: int | None) -> None:
        """Refuse a plan whose tables aren't all given, before a session without tables is started for it.

        Raises:
            TableError: a table is missing.
        """
        from pyspark_substrait.documents import Plan
        from pyspark_substrait.spark.missing_tables import refuse_missing_tables

        if self.remote is None and isinstance(loaded, Plan):
            refuse_missing_tables(loaded, tables, root)

    def start(
        self, reads: Sequence[str] = (), loaded: Plan | ExtendedExpression | None = None, *, brief: bool | None = None
    ) -> Any:
        """Return the session. Starting one may take some seconds, and shows progress.

        Args:
            reads, loaded: the files that the run may read, and its plan, which say whether it takes only seconds.
            brief: whether it does, if that is known.
        """
        from pyspark_substrait.cli.startup_estimate import is_brief
        from pyspark_substrait.spark.kept_session import session_places
        from pyspark_substrait.spark.pandas_imports import leave_out_pandas
        from pyspark_substrait.spark.progress import waiting
        from pyspark_substrait.spark.session_start import brief_session, embedded_session

        with (
            printing_warnings(),
            waiting("Starting Spark" if self.remote is None else f"Connecting to {self.remote}", self.progress),
        ):
            leave_out_pandas()
            if brief is None:
                brief = is_brief(reads, loaded)
            places = session_places(self.master, brief=brief) if self.keep and self.remote is None else []
            for place in places:
                if (spark := place.attached()) is not None:
                    return spark
            spark = (brief_session if brief else embedded_session)(self.master, self.remote)
            if places:
                places[0].keep_at_exit(spark)
        _archive_later(spark)
        return spark


def _archive_later(spark: Any) -> None:
    """Schedule what makes the next session on this machine start faster."""
    from pyspark_substrait.spark.archive import archive, make_at_exit
    from pyspark_substrait.spark.session import is_connect

    found = archive()
    if found is not None and not is_connect(spark) and spark.sparkContext.master.startswith("local"):
        make_at_exit(found, (sys.executable, "-m", "pyspark_substrait", "warmup", "--background"))


def table_paths(texts: Sequence[str]) -> dict[str, str]:
    """Return the paths of tables by their names, from the options.

    Raises:
        click.BadParameter: a text is not of the form NAME=PATH, there is no such file, or a name is given twice.
    """
    paths = dict(table_option(text) for text in texts)
    if len(paths) < len(texts):
        raise click.BadParameter("a name is given twice", param_hint="--table")
    return paths


def renamed_tables(texts: Sequence[str]) -> dict[str, str]:
    """Return the names of tables by those that the plan has for them, from the options.

    Raises:
        click.BadParameter: a text is not of the form TABLE=NAME, or a table is renamed twice.
    """
    names: dict[str, str] = {}
    for text in texts:
        name, equals, other = text.partition("=")
        if not (name and equals and other):
            raise click.BadParameter(f"{text!r} is not of the form TABLE=NAME", param_hint="--rename")
        if name in names:
            raise click.BadParameter("a table is renamed twice", param_hint="--rename")
        names[name] = other
    return names


def registry_of(files: Sequence[Path]) -> Registry | None:
    """Return the registry that files of functions make of the specification's; None for no files.

    Raises:
        click.BadParameter: a program fails, or has no ``with_functions`` that returns a registry.
        InvalidPlanError: a YAML file is wrong.
    """
    if not files:
        return None
    registry = pyspark_substrait.Registry.default()
    for file in files:
        registry = _with_program(registry, file) if file.suffix.lower() == ".py" else registry.with_yaml(file)
    return registry


def _with_program(registry: Registry, file: Path) -> Registry:
    name = f"functions_of_{file.stem}"
    spec = spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise click.BadParameter(f"{file} is not a Python file", param_hint="--functions")
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        found = module.with_functions(registry)
    except SubstraitError:
        raise
    except AttributeError as error:
        raise click.BadParameter(f"{file}: {error}", param_hint="--functions") from error
    except Exception as error:  # of the user's program
        raise click.BadParameter(f"{file} fails: {type(error).__name__}: {error}", param_hint="--functions") from error
    if not isinstance(found, pyspark_substrait.Registry):
        raise click.BadParameter(f"{file}: with_functions(registry) must return a registry", param_hint="--functions")
    return found


def loaded_from(source: Path | bytes, registry: Registry | None = None) -> Plan | ExtendedExpression:
    """Return the plan or the extended expression in a file or in the content of standard input."""
    return pyspark_substrait.load(source) if registry is None else pyspark_substrait.load(source, registry=registry)


def parameter_values(texts: Sequence[str], loaded: Plan | ExtendedExpression) -> dict[int, Any]:
    """Return the values of the plan's parameters, from the options.

    Raises:
        click.BadParameter: a text is not of the form N=VALUE, or a parameter is given twice.
        ParameterError: the plan has no such parameter, or the text isn't a value of its type.
    """
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
