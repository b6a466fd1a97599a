"""Find files that are not a table's own, which replacing or removing its folder would delete."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit

from pyspark_substrait.binding.data_files import is_hidden

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [
    "FolderEntry",
    "entries_below",
    "first_unexpected",
    "hadoop_entries",
    "is_parquet",
    "is_record_file",
]

#: The files that Spark writes beside the files of records: the success marker of a job, and Parquet footers.
#: ``_committed_*`` and ``_started_*`` aren't here: Apache Spark doesn't write them, and a folder that has them is
#: managed by another system. ``_temporary`` isn't either: a job may be writing there.
_WRITTEN_BY_SPARK: Final = frozenset({"_SUCCESS", "_metadata", "_common_metadata"})


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """An entry of a folder.

    Args:
        path: its path relative to the folder.
        kind: ``link`` and ``other`` (a pipe, a socket) are never followed or opened.
    """

    path: PurePosixPath
    kind: str


def first_unexpected(
    entries: Iterable[FolderEntry], holds_records: Callable[[str], bool], *, partly: bool = False
) -> PurePosixPath | None:
    """Return the first entry that neither holds records nor is written by Spark beside them; None without one.

    Hidden files count like all others. Empty folders are ignored, because nothing in them could be lost, unless their
    names are hidden: Spark creates no such folders.

    Args:
        entries: all entries below the folder.
        holds_records: whether a file of this name holds records.
        partly: whether some of the files are removed already, so that checksum files may be without theirs.
    """
    entries = sorted(entries, key=lambda entry: entry.path)
    files = {entry.path for entry in entries if entry.kind == "file"}

    def is_ours(path: PurePosixPath) -> bool:
        return path.name in _WRITTEN_BY_SPARK or (not is_hidden(path.name) and holds_records(path.name))

    for path, kind in ((entry.path, entry.kind) for entry in entries):
        if kind == "folder":
            if is_hidden(path.name):
                return path
            continue
        checked = path.with_name(path.name[1:-4]) if path.name.startswith(".") and path.name.endswith(".crc") else None
        of_ours = checked is not None and (partly or checked in files) and is_ours(checked)
        if kind != "file" or not (of_ours or is_ours(path)):
            return path
    return None


def is_parquet(name: str) -> bool:
    """Whether a file of this name is a Parquet file."""
    return name.endswith(".parquet")


def is_record_file(name: str) -> bool:
    """Whether a file of this name holds records of a table, as all files do in Spark unless they are hidden."""
    return not is_hidden(name)


def entries_below(folder: Path) -> Iterator[FolderEntry]:
    """Yield all entries below a local folder."""
    pending = [folder]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                path = PurePosixPath(Path(entry.path).relative_to(folder).as_posix())
                if entry.is_symlink():
                    yield FolderEntry(path, "link")
                elif entry.is_dir(follow_symlinks=False):
                    yield FolderEntry(path, "folder")
                    pending.append(Path(entry.path))
                else:
                    yield FolderEntry(path, "file" if entry.is_file(follow_symlinks=False) else "other")


def hadoop_entries(spark: SparkSession, uri: str) -> list[FolderEntry] | None:
    """Return all entries below a folder in another file system; None in Spark Connect, which can't list them.

    Raises:
        Exception: one of :func:`pyspark_substrait.spark.session.spark_errors`: it can't be listed.
    """
    jvm: Any = getattr(spark, "_jvm", None)
    if jvm is None:  # Spark Connect lists no hidden files
        return None
    root = jvm.org.apache.hadoop.fs.Path(uri)
    system = root.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())
    found: list[FolderEntry] = []
    if not system.exists(root):
        return found
    base = unquote(urlsplit(str(system.makeQualified(root).toUri())).path).rstrip("/")
    pending = [root]
    while pending:
        for status in system.listStatus(pending.pop()):
            whole = unquote(urlsplit(str(status.getPath().toUri())).path)
            path = PurePosixPath(whole.removeprefix(f"{base}/"))
            if status.isSymlink():
                found.append(FolderEntry(path, "link"))
            elif status.isDirectory():
                found.append(FolderEntry(path, "folder"))
                pending.append(status.getPath())
            else:
                found.append(FolderEntry(path, "file"))
    return found
