"""Output to standard output and standard error; all commands use this module.

Names and values of plans may hold escape sequences and direction marks. They are escaped for a terminal; a file or
another program gets the exact text.
"""

from __future__ import annotations

import sys

import click

from pyspark_substrait.message_text import escaped

__all__ = [
    "for_terminal",
    "print_over",
    "print_text",
    "shows_progress",
    "to_terminal",
    "write_bytes",
    "write_text",
]

_LAYOUT = "\n\t"


def to_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout.isatty()


def for_terminal(text: str) -> str:
    """Escape all non-printable characters but line breaks and tabs, for a terminal."""
    return escaped(text, keep=_LAYOUT)


def print_text(text: str, *, err: bool = False) -> None:
    """Print lines for people."""
    click.echo(for_terminal(text) if err or to_terminal() else text, err=err, color=True)


def shows_progress() -> bool:
    """Whether standard error is a terminal."""
    return sys.stderr.isatty()


def print_over(text: str, *, last: bool) -> None:
    """Print a line on standard error over the one before; the last one stays."""
    click.echo(f"\r{for_terminal(text)}", err=True, nl=last)


def write_text(text: str, *, nl: bool = True) -> None:
    """Print a text that programs may read, exactly; on a terminal, escape it and note that it was escaped."""
    if not to_terminal():
        click.echo(text, nl=nl, color=True)  # color=True keeps escape sequences
        return
    shown = for_terminal(text)
    click.echo(shown, nl=nl)
    if shown != text:
        print_text("note: control characters are shown as escapes; a file or a pipe gets the exact text", err=True)


def write_bytes(content: bytes, form: str) -> None:
    """Write binary content.

    Raises:
        click.UsageError: standard output is a terminal.
    """
    if to_terminal():
        raise click.UsageError(f"{form} cannot be shown on a terminal; choose another form, or redirect the output")
    sys.stdout.buffer.write(content)
