"""The command line: commands parse arguments, call the library and print. Only commands that make rows import Spark."""

from __future__ import annotations

import gc
from importlib import import_module
from typing import Any, Final

import click

from pyspark_substrait.cli.files import error_text
from pyspark_substrait.cli.output import for_terminal, print_text
from pyspark_substrait.errors import SubstraitError

__all__ = ["main"]

#: The exit code that shells report for a program ended by Ctrl-C.
_INTERRUPTED: Final = 130
#: The module of each command, in the order of the documentation.
_MODULES: Final = {
    "run": "run",
    "evaluate": "run",
    "serve": "serve",
    "serve-user": "serve",
    "sql": "sql",
    "explain": "explain",
    "view": "view",
    "lineage": "lineage",
    "functions": "functions",
    "convert": "convert",
    "plan": "plan",
    "bind": "bind",
    "compare": "compare",
    "conformance": "conformance",
    "dialect": "dialect",
    "capabilities": "dialect",
    "validate": "validate",
    "lint": "lint",
    "upgrade": "upgrade",
    "findings": "findings",
    "diff": "diff",
    "samples": "samples",
    "sessions": "sessions",
    "warmup": "warmup",
}


class _Commands(click.Group):
    """A group that imports the command that is called.

    Commands end with exit code 1 and one line for each of our errors, and with 130 on Ctrl-C.
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command line of this process."""
        # what imports make stays; looking through it again and again takes a fifth of the time of a short command
        gc.set_threshold(50_000, 20, 20)
        return super().__call__(*args, **kwargs)

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
        return list(_MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        module = _MODULES.get(cmd_name)
        if module is None:
            return None
        found: click.Command = getattr(import_module(f"pyspark_substrait.cli.{module}"), cmd_name.replace("-", "_"))
        return found


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
