"""The page of the command line, from the commands themselves."""

from __future__ import annotations

import html
import inspect
import re
from collections.abc import Iterator

import click

from pyspark_substrait.cli import main

PROGRAM = "pyspark-substrait"


def markdown() -> str:
    """The page: the program, then each command in the order of its help."""
    top = click.Context(main, info_name=PROGRAM)
    lines = ["# Command line", "", *_help(main), *_listed(top)]
    for name in main.list_commands(top):
        command = main.get_command(top, name)
        if command is not None and not command.hidden:
            lines += [f"## {name}", "", *_described(click.Context(command, info_name=name, parent=top))]
    return "\n".join(lines)


def _listed(top: click.Context) -> Iterator[str]:
    yield from ("| command | |", "|---|---|")
    for name in main.list_commands(top):
        command = main.get_command(top, name)
        if command is not None and not command.hidden:
            yield f"| [`{name}`](#{name}) | {_cell(command.get_short_help_str(200))} |"
    yield ""


def _described(context: click.Context) -> Iterator[str]:
    pieces = " ".join(context.command.collect_usage_pieces(context))
    yield from ("```text", f"{context.command_path} {pieces}", "```", "")
    yield from _help(context.command)
    options = (option for option in context.command.get_params(context) if isinstance(option, click.Option))
    records = [record for option in options if (record := option.get_help_record(context))]
    yield from ("| option | |", "|---|---|")
    yield from (f"| {_names(names)} | {_cell(text)} |" for names, text in records)
    yield ""


def _help(command: click.Command) -> Iterator[str]:
    """The help of a command. What click is told not to wrap is an example, in a block of its own."""
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        lines = paragraph.split("\n")
        if lines[0] != "\b":
            yield _text(" ".join(lines))
        elif lines[1].endswith(":"):
            yield from (lines[1], "", "```sh", *(line.strip() for line in lines[2:]), "```")
        else:
            yield from ("```text", *lines[1:], "```")
        yield ""


def _names(names: str) -> str:
    return ", ".join(f"<code>{html.escape(name)}</code>".replace("|", "&#124;") for name in names.split(", "))


def _cell(text: str) -> str:
    return _text(text).replace("|", "&#124;")


def _text(text: str) -> str:
    """Words of the help as Markdown: what is in capitals is an argument."""
    escaped = re.sub(r"([*_<\[])", r"\\\1", text)
    return re.sub(r"(?<![\w-])(--[a-z][a-z-]*)", r"`\1`", escaped)
