"""What the pages of the documentation show is run: commands, programs, and what both print.

In a page that is listed here,

* a block ``sql`` or ``json`` with ``title="NAME"`` is a file of that name;
* a block ``console`` holds commands behind ``$ ``, each with what it prints below it;
* a block ``python`` is run, in one program for the page; a block ``text`` right behind it is what it prints.

``python -m tests.docs.examples`` writes the outputs anew. Look at what changed before you keep it.
It is a process of its own, because Spark takes relative paths from the folder in which it was started.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from difflib import unified_diff
from io import StringIO
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from pyspark_substrait.cli import main

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
#: The pages, in the order in which they are run: the files that the first one makes are there for the others.
PAGES = (
    "tutorial",
    "debugging",
    "untrusted-plans",
    "other-engines",
    "binding",
    "comparing-engines",
    "continuous-integration",
)

_BLOCK = re.compile(r"^```(\w+)(?: title=\"([\w./-]+)\")?\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


def with_outputs(text: str) -> str:
    """A page with what its examples print, here and now. They run in the current folder."""
    known: dict[str, Any] = {}
    printed: str | None = None

    def anew(block: re.Match[str]) -> str:
        nonlocal printed
        language, file, body = block.groups()
        output, printed = printed, None
        if file is not None:
            Path(file).write_text(body, encoding="utf-8")
        elif language == "console":
            body = "\n".join(f"$ {command}\n{_printed(command)}" for command in _commands(body))
        elif language == "python":
            printed = _captured(lambda: exec(compile(body, "page", "exec"), known))
        elif language == "text" and output is not None:
            body = output
        title = f' title="{file}"' if file else ""
        return f"```{language}{title}\n{body}```\n"

    return _BLOCK.sub(anew, text)


def _commands(body: str) -> Iterator[str]:
    """The commands of a block; one that ends with a backslash goes on in the next line."""
    return (found[0] for found in re.finditer(r"(?<=^\$ )(?:.*\\\n)*.*", body, re.MULTILINE))


def _printed(command: str) -> str:
    """What a command prints, without the lines that a terminal shows only for a while."""
    program, *arguments = shlex.split(command.replace("\\\n", " "))
    match program:
        case "pyspark-substrait":
            lines = CliRunner().invoke(main, arguments, catch_exceptions=False).output.splitlines()
        case "echo":
            lines = arguments
        case _:
            raise ValueError(f"a page runs {program}")
    return "".join(f"{line.rstrip()}\n" for line in lines if not line.endswith(" …"))


def _captured(program: Callable[[], object]) -> str:
    with redirect_stdout(StringIO()) as stdout:
        program()
    return "".join(f"{line.rstrip()}\n" for line in stdout.getvalue().splitlines())


def pages_anew() -> Iterator[tuple[Path, str]]:
    """Each page with its outputs; all of them run in one folder, which is removed."""
    with tempfile.TemporaryDirectory() as folder, _working_in(folder):
        for page in (DOCS / f"{name}.md" for name in PAGES):
            yield page, with_outputs(page.read_text(encoding="utf-8"))


@contextmanager
def _working_in(folder: str) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def main_program(arguments: list[str]) -> None:
    """Writes the pages anew; with ``--check``, says how they differ from what they should be."""
    os.environ["COLUMNS"] = "100"
    differences = ""
    for page, text in pages_anew():
        now = page.read_text(encoding="utf-8")
        if "--check" in arguments:
            here, printed = (content.splitlines(keepends=True) for content in (now, text))
            differences += "".join(unified_diff(here, printed, page.name, "what is printed"))
        elif text != now:
            page.write_text(text, encoding="utf-8")
            print(page.relative_to(ROOT), file=sys.stderr)
    sys.exit(differences or None)


if __name__ == "__main__":
    main_program(sys.argv[1:])
