"""The command that lists the classes of findings."""

from __future__ import annotations

import click

from pyspark_substrait.cli.output import print_text, write_text
from pyspark_substrait.codes import Code

__all__ = ["findings"]


@click.command(short_help="List the classes of findings, or show one.")
@click.argument("code", required=False)
@click.option("--markdown", "as_page", is_flag=True, help="Print the page of the documentation, in Markdown.")
def findings(code: str | None, as_page: bool) -> None:
    """List the classes of findings, or show the one with the number or name CODE.

    \b
    Examples:
      pyspark-substrait findings
      pyspark-substrait findings 6100
      pyspark-substrait findings TYPE_MISMATCH
    """
    from pyspark_substrait.analysis.report.classes import listed, markdown, shown

    if as_page:
        write_text(markdown(), nl=False)
    elif code is None:
        print_text(listed())
    else:
        print_text(shown(_code(code)))


def _code(text: str) -> Code:
    try:
        return Code(int(text)) if text.isascii() and text.isdigit() else Code[text.upper()]
    except (KeyError, ValueError):
        raise click.UsageError(f"there is no class {text!r}; without CODE, all are listed") from None
