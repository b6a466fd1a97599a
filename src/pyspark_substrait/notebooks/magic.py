"""``%%substrait``: run SQL and show its plan and rows. ``%substrait``: load and show a plan."""

# mypy: allow-untyped-calls, allow-untyped-decorators
# (IPython's decorators have no types)

from __future__ import annotations

import re
from argparse import BooleanOptionalAction
from os import name as system
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments
from IPython.display import display
from IPython.utils.process import arg_split  # type: ignore[attr-defined]  # which one depends on the system

import pyspark_substrait as substrait
from pyspark_substrait.documents import ExtendedExpression, Plan, form_of
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.notebooks.errors import in_short
from pyspark_substrait.notebooks.rows import Rows
from pyspark_substrait.notebooks.tables import given_tables, is_table, session_in

__all__ = ["SubstraitMagics", "load_ipython_extension"]

_MOST_ROWS = 1_000


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Register the magics ``%substrait`` and ``%%substrait``; ``%load_ext pyspark_substrait`` calls this."""
    shell.register_magics(SubstraitMagics)


def _variable(text: str) -> str:
    if not text.isidentifier():
        raise UsageError(f"{text!r} is not a name of a variable")
    return text


def _limit(text: str) -> int | None:
    if text == "all":
        return None
    if not (text.isascii() and text.isdigit()):
        raise UsageError(f"{text!r} is not a number of rows; `all` stands for all of them")
    return int(text)


@magics_class
class SubstraitMagics(Magics):
    """The magics of this package."""

    @magic_arguments()
    @argument("plan", nargs="?", help="%%substrait: the file of a plan, or a variable with anything that `load` takes.")
    @argument("--name", metavar="VARIABLE", type=_variable, default="_plan", help="Where the plan goes (_plan).")
    @argument("--rows", metavar="VARIABLE", type=_variable, default="_rows", help="Where the rows go (_rows).")
    @argument(
        "-t",
        "--tables",
        metavar="NAME[=VALUE]",
        nargs="+",
        action="extend",
        default=[],
        help="Tables: NAME is the variable of that name; a VALUE is a variable, or a path of Parquet, ORC or Arrow "
        "files.",
    )
    @argument("--target", metavar="ENGINE", help="The engine that the plan is for, as for `for_target`.")
    @argument(
        "--limit",
        metavar="N",
        type=_limit,
        default=_MOST_ROWS,
        help=f"Compute no more rows than that ({_MOST_ROWS:,}); `all` computes all.",
    )
    @argument("--run", action=BooleanOptionalAction, help="Whether to run the plan: what is in a cell is run.")
    @argument("--view", action="store_true", help="Show the plan on the page on which one can look around.")
    @argument("--profile", action="store_true", help="Run it, and show what happened in each relation.")
    @line_cell_magic
    def substrait(self, line: str, cell: str | None = None) -> None:
        """Make the plan of the query in the cell, in Spark SQL, show it, run it, and show its rows.

        The cell may be a plan as well: as JSON, or in the text form. On a single line, a plan is loaded and shown. The
        session is the variable `spark` where it is one, or else the running one, or one that is started.
        """
        options = self.substrait.parser.parse_args(arg_split(line, posix=system != "nt"))
        if (options.plan is None) is (cell is None):
            raise UsageError("%substrait needs a plan" if cell is None else f"{options.plan}: the plan is in the cell")
        with in_short():
            tables = given_tables(options.tables, self._variables)
            plan = self._loaded(options) if cell is None else self._plan_of(cell, tables, options.target)
            self._show(
                plan, options, tables, run=options.profile or (cell is not None if options.run is None else options.run)
            )

    @property
    def _variables(self) -> dict[str, Any]:
        assert self.shell is not None
        found: dict[str, Any] = self.shell.user_ns
        return found

    def _loaded(self, options: Any) -> Plan | ExtendedExpression:
        plan = substrait.load(self._variables.get(options.plan, options.plan))
        return plan if options.target is None else substrait.for_target(plan, options.target)

    def _plan_of(self, cell: str, tables: dict[str, Any], target: str | None) -> Plan | ExtendedExpression:
        text = cell.strip()
        if form_of(text.encode("utf-8", "replace")) != "pb":
            plan = substrait.load(text)
            return plan if target is None else substrait.for_target(plan, target)
        query = text.removesuffix(";")
        if not query:
            raise UsageError("there is no query in the cell")
        try:
            return substrait.from_sql(query, session_in(self._variables), tables=tables, target=target)
        except SubstraitError as error:
            error.hint = error.hint or self._advice(error, tables)
            raise

    def _advice(self, error: SubstraitError, tables: dict[str, Any]) -> str | None:
        """Return a hint if the query reads a table that is a variable but wasn't given in ``--tables``."""
        for name in re.findall(r"`(\w+)`", error.message):
            if name not in tables and is_table(self._variables.get(name)):
                return f"There is a variable of that name: --tables {name}"
        return None

    def _show(self, plan: Plan | ExtendedExpression, options: Any, tables: dict[str, Any], *, run: bool) -> None:
        """Show a plan and its rows, and assign both to variables."""
        self._variables[options.name] = plan
        run = run and isinstance(plan, Plan)  # an extended expression has no rows of its own
        if run and options.profile:
            profile = substrait.profile(
                plan, session_in(self._variables), tables=tables, limit=_one_more(options.limit)
            )
            display(substrait.view(profile) if options.view else profile)
            rows = profile.rows
        else:
            display(substrait.view(plan) if options.view else plan)
            if not run:
                return
            spark = session_in(self._variables)
            rows = substrait.run_query(plan, tables=tables, spark=spark, limit=_one_more(options.limit))
        shown = Rows.limited(rows, options.limit, options.rows)
        self._variables[options.rows] = shown.table
        display(shown)


def _one_more(limit: int | None) -> int | None:
    """Return a limit that shows whether there are more rows."""
    return None if limit is None else limit + 1
