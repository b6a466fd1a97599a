"""What commands read and write: files, standard input and output."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from pyspark_substrait.cli.output import say, to_terminal, write_bytes, write_text
from pyspark_substrait.errors import SubstraitWarning
from pyspark_substrait.message_text import json_escaped

if TYPE_CHECKING:
    from rich.console import Console

    from pyspark_substrait.documents import ExtendedExpression, Plan

__all__ = ["console", "counted", "files", "form_of", "named", "noted", "opened", "place", "save"]

_FILE_SUFFIXES = ("", ".parquet", ".parq", ".pq", ".orc", ".arrow", ".feather", ".ipc")


def opened(path: Path) -> Path | bytes:
    """A file, or what standard input has."""
    return sys.stdin.buffer.read() if str(path) == "-" else path


def form_of(source: Path | bytes) -> Literal["json", "pb", "text"]:
    """The form that a plan has."""
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


def named(text: str) -> tuple[str, str]:
    """The name and the path of a table."""
    name, equals, path = text.partition("=")
    if not (name and equals and path):
        raise click.BadParameter(f"{text!r} is not of the form NAME=PATH", param_hint="--table")
    return name, files(path, "--table")


def files(path: str, option: str) -> str:
    """The path of files that hold a table, as far as can be seen from here."""
    file = Path(path)
    if "://" in path:
        return path
    if not file.exists():
        raise click.BadParameter(f"{path} does not exist", param_hint=option)
    if file.is_file() and file.suffix.lower() not in _FILE_SUFFIXES:
        raise click.BadParameter(f"{path} is not a Parquet, ORC or Arrow file or folder", param_hint=option)
    return path


@contextmanager
def noted() -> Iterator[None]:
    """Say in a line each, on standard error, what the library warns of in the body."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", SubstraitWarning)
        yield
    for warning in told:
        if issubclass(warning.category, SubstraitWarning):
            say(f"note: {warning.message}", err=True)
        else:
            text = warnings.formatwarning(warning.message, warning.category, warning.filename, warning.lineno)
            say(text.rstrip("\n"), err=True)


def counted(number: int, noun: str) -> str:
    """So many things, as a text."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def place(path: Path) -> str:
    """What to call the place where something was written."""
    return "standard output" if str(path) == "-" else str(path)


def console() -> Console:
    """Where tables go. A file or another program gets the whole width; only a terminal has an edge to fold at."""
    from rich.console import Console

    return Console() if to_terminal() else Console(width=100_000)
