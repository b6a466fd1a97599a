"""The files of a table that is given as a folder: which of them hold records."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from pyspark_substrait.errors import TableError

__all__ = ["LOGS", "files_below", "first_file_below", "is_hidden", "log_of", "refused_table"]

#: what a folder has that is a table of a format with a log, by the name of the format in Spark
LOGS: Final = {"delta": "_delta_log", "hudi": ".hoodie", "iceberg": "metadata/*.metadata.json"}


def is_hidden(name: str) -> bool:
    """Whether Spark ignores files and folders of this name when it reads records."""
    return name.startswith(".") or (name.startswith("_") and "=" not in name) or name.endswith("._COPYING_")


def files_below(folder: str, check_link: Callable[[Path], object] | None = None) -> Iterator[str]:
    """Yield the files in a folder and its subfolders, without those that Spark ignores.

    Args:
        folder: the folder; links in it are followed, but not in circles.
        check_link: raises an error for a link that must not be followed.

    Raises:
        OSError: a folder can't be read.
    """
    folders = [(folder, frozenset([os.path.realpath(folder)]))]
    while folders:
        here, around = folders.pop()
        with os.scandir(here) as entries:
            for entry in entries:
                if is_hidden(entry.name):
                    continue
                if check_link is not None and entry.is_symlink():
                    check_link(Path(entry.path))
                if not entry.is_dir():
                    yield entry.path
                    continue
                real = os.path.realpath(entry.path) if entry.is_symlink() else entry.path
                if real not in around:
                    folders.append((entry.path, around | {real} if entry.is_symlink() else around))


def first_file_below(folder: Path) -> Path:
    """Return the first file in a folder and its subfolders; the folder if there is none.

    Raises:
        OSError: a folder can't be read.
    """
    return Path(min(filter(os.path.isfile, files_below(str(folder))), default=str(folder)))


def log_of(path: Path) -> tuple[str, Path] | None:
    """Return the format and the folder of a table whose log says which of its files hold records; None for others.

    Args:
        path: the folder of the table, or of a partition in it.

    Raises:
        OSError: it can't be read.
    """
    while "=" in path.name:
        path = path.parent
    for format, log in LOGS.items():
        home, _, files = log.partition("/")
        place = os.path.join(path, home)
        if os.path.exists(place) and (not files or fnmatch.filter(os.listdir(place), files)):
            return format, path
    return None


def refused_table(name: str, path: object, format: str, reason: str, hint: str) -> TableError:
    """Return the error of a table given as the path of a folder with a log, which isn't read."""
    kind = format.title()
    return TableError(
        f"{path}, given for {name}, belongs to a table of {kind}, whose log says which files count; {reason}", hint=hint
    )
