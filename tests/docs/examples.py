"""What the pages of the documentation show is run: commands, programs, and what both print.

In a page that is listed here,

* a block ``sql`` or ``json`` with ``title="NAME"`` is a file of that name;
* a block ``console`` holds commands behind ``$ ``, each with what it prints below it;
* a block ``python`` is run, in one program for the page; a block ``text`` right behind it is what it prints.

``python -m tests.docs.examples`` writes the outputs anew. Look at what changed before you keep it. With ``--check``, it
only says what differs; with names of pages, it runs only these; with ``--installed``, the commands are those of the
installed package. It is a process of its own, because Spark takes relative paths from the folder in which it started.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from difflib import unified_diff
from io import StringIO
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from pyspark_substrait.cli import main

ROOT = Path(__file__).resolve().parents[2]
#: the pages that begin in an empty folder
FIRST_PAGES = ("README.md", "docs/index.md", "docs/tutorial.md")
#: the pages, in the order in which they are run: the files that the first ones make are there for the others
PAGES = (
    *FIRST_PAGES,
    "docs/debugging.md",
    "docs/untrusted-plans.md",
    "docs/other-engines.md",
    "docs/binding.md",
    "docs/comparing-engines.md",
    "docs/sql-for-engines.md",
    "docs/continuous-integration.md",
    "docs/concepts/plans.md",
    "docs/concepts/relations.md",
    "docs/concepts/functions.md",
    "docs/concepts/types.md",
    "docs/concepts/exact-or-refused.md",
)

_BLOCK = re.compile(r"^```(\w+)(?: title=\"([\w./-]+)\")?\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


def blocks(text: str) -> int:
    """How many blocks of a page are run, or are files."""
    return sum(bool(file) or language in ("console", "python") for language, file, _ in _BLOCK.findall(text))


def by_library(command: str) -> str:
    """Return the output of a command, run in this process."""
    program, *arguments = shlex.split(command.replace("\\\n", " "))
    match program:
        case "pyspark-substrait":
            return CliRunner().invoke(main, arguments, catch_exceptions=False).output
        case "echo":
            return "".join(f"{argument}\n" for argument in arguments)
        case _:
            raise ValueError(f"a page runs {program}")


def by_shell(command: str) -> str:
    """Return the output of a command, run as it is written."""
    return subprocess.run(command, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout


def with_outputs(text: str, run: Callable[[str], str] = by_library) -> str:
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
            body = "\n".join(f"$ {command}\n{_lasting(run(command))}" for command in _commands(body))
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


def _lasting(printed: str) -> str:
    """The output, without the lines that a terminal shows only for a while."""
    return "".join(f"{line.rstrip()}\n" for line in printed.splitlines() if not line.endswith(" …"))


def _captured(program: Callable[[], object]) -> str:
    with redirect_stdout(StringIO()) as stdout:
        program()
    return "".join(f"{line.rstrip()}\n" for line in stdout.getvalue().splitlines())


def pages_anew(pages: Sequence[str], run: Callable[[str], str]) -> Iterator[tuple[Path, str]]:
    """Each page with its outputs; all of them run in one folder, which is empty at first, and is removed."""
    with tempfile.TemporaryDirectory() as folder, _working_in(folder):
        for page in (ROOT / name for name in pages):
            yield page, with_outputs(page.read_text(encoding="utf-8"), run)


@contextmanager
def _working_in(folder: str) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def main_program(arguments: list[str]) -> None:
    """Writes the pages anew; with ``--check``, says how they differ from what is printed. Says how many blocks ran."""
    os.environ["COLUMNS"] = "100"
    differences, ran = "", 0
    pages = [name for name in arguments if not name.startswith("-")] or PAGES
    for page, text in pages_anew(pages, by_shell if "--installed" in arguments else by_library):
        now = page.read_text(encoding="utf-8")
        ran += blocks(now)
        if "--check" in arguments:
            here, printed = (content.splitlines(keepends=True) for content in (now, text))
            differences += "".join(unified_diff(here, printed, page.name, "what is printed"))
        elif text != now:
            page.write_text(text, encoding="utf-8")
            print(page.relative_to(ROOT), file=sys.stderr)
    print(ran, "blocks")
    sys.exit(differences or None)


if __name__ == "__main__":
    main_program(sys.argv[1:])
