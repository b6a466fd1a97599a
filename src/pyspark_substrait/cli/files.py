"""The input and output of commands: files, standard input and standard output."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from pyspark_substrait.cli.output import print_text, to_terminal, write_bytes, write_text
from pyspark_substrait.errors import PlanFormatError, SubstraitError, SubstraitWarning
from pyspark_substrait.message_text import json_escaped

if TYPE_CHECKING:
    from rich.console import Console

    from pyspark_substrait.documents import ExtendedExpression, Plan

__all__ = [
    "checked_table_path",
    "console",
    "counted",
    "error_text",
    "form_of",
    "output_name",
    "plan_source",
    "printing_warnings",
    "save",
    "table_option",
]

_STANDARD_INPUT = "pyspark_substrait.standard_input"
"""The key of what a context knows: a plan was read from standard input."""

_FILE_SUFFIXES = ("", ".parquet", ".parq", ".pq", ".orc", ".arrow", ".feather", ".ipc")


def plan_source(path: Path) -> Path | bytes:
    """Return a file, or the content of standard input."""
    if str(path) != "-":
        return path
    click.get_current_context().meta[_STANDARD_INPUT] = True
    return sys.stdin.buffer.read()


def error_text(error: SubstraitError) -> str:
    """Return the text of an error of a command, which names standard input if a plan from there can't be read."""
    if isinstance(error, PlanFormatError) and _STANDARD_INPUT in click.get_current_context().meta:
        error.file = error.file or "standard input"
    return f"error: {error}"


def form_of(source: Path | bytes) -> Literal["json", "pb", "text"]:
    """Return the form of a plan."""
    from pyspark_substrait import documents

    return documents.form_of(source if isinstance(source, bytes) else source.read_bytes())


def save(loaded: Plan | ExtendedExpression, target: Path, form: Literal["json", "pb", "text"]) -> None:
    """Write a plan to a file or to standard output."""
    if str(target) != "-":
        loaded.save(target, format=form)
    elif form == "json":
        write_text(json_escaped(loaded.to_json()))
    elif form == "text":
        write_text(loaded.to_text(), nl=False)
    else:
        write_bytes(loaded.to_bytes(), "a binary plan")


def table_option(text: str) -> tuple[str, str]:
    """Split an option into the name and the path of a table."""
    name, equals, path = text.partition("=")
    if not (name and equals and path):
        raise click.BadParameter(f"{text!r} is not of the form NAME=PATH", param_hint="--table")
    return name, checked_table_path(path, "--table")


def checked_table_path(path: str, option: str) -> str:
    """Check the path of a table's files, as far as that is possible here."""
    file = Path(path)
    if "://" in path:
        return path
    if not file.exists():
        raise click.BadParameter(f"{path} does not exist", param_hint=option)
    if file.is_file() and file.suffix.lower() not in _FILE_SUFFIXES:
        raise click.BadParameter(f"{path} is not a Parquet, ORC or Arrow file or folder", param_hint=option)
    return path


@contextmanager
def printing_warnings() -> Iterator[None]:
    """Print the warnings of the library in the body as a line each, on standard error."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", SubstraitWarning)
        yield
    for warning in told:
        if issubclass(warning.category, SubstraitWarning):
            print_text(f"note: {warning.message}", err=True)
        else:
            text = warnings.formatwarning(warning.message, warning.category, warning.filename, warning.lineno)
            print_text(text.rstrip("\n"), err=True)


def counted(number: int, noun: str) -> str:
    """Format a count with its noun."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def output_name(path: Path) -> str:
    """Return the name of an output in messages."""
    return "standard output" if str(path) == "-" else str(path)


def console() -> Console:
    """Return the console for tables. A file or another program gets the whole width; only a terminal has an edge."""
    from rich.console import Console

    return Console() if to_terminal() else Console(width=100_000)
