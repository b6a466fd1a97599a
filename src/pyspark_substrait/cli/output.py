"""Where commands write: the only way to standard output and standard error.

Names and values of plans may hold what a terminal acts on: escape sequences, marks of direction. Nothing of that
reaches one. What goes to a file or to another program is exactly what it is.
"""

from __future__ import annotations

import sys

import click

from pyspark_substrait.message_text import escaped

__all__ = ["for_terminal", "say", "to_terminal", "write_bytes", "write_text"]

_LAYOUT = "\n\t"


def to_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout.isatty()


def for_terminal(text: str) -> str:
    """Text that a terminal only shows, in lines: everything else that doesn't show stands as an escape."""
    return escaped(text, keep=_LAYOUT)


def say(text: str, *, err: bool = False) -> None:
    """Print lines for people."""
    click.echo(for_terminal(text) if err or to_terminal() else text, err=err, color=True)


def write_text(text: str, *, nl: bool = True) -> None:
    """Print a text that a program reads too, exactly; but on a terminal as :func:`for_terminal` has it, and say so."""
    if not to_terminal():
        click.echo(text, nl=nl, color=True)  # which leaves escape sequences in it
        return
    shown = for_terminal(text)
    click.echo(shown, nl=nl)
    if shown != text:
        say("note: what a terminal would act on is shown as escapes; a file or a pipe gets the exact text", err=True)


def write_bytes(content: bytes, form: str) -> None:
    """Write bytes that are no text.

    Raises:
        click.UsageError: standard output is a terminal.
    """
    if to_terminal():
        raise click.UsageError(f"{form} is not for a terminal; choose another form, or send it to a file or a pipe")
    sys.stdout.buffer.write(content)
