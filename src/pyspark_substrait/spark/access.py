"""The files and folders that a plan itself may name. Everything else it must not read or write."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from glob import iglob
from pathlib import Path
from typing import Literal

from pyspark_substrait.errors import TableError, UnsupportedPlanError
from pyspark_substrait.spark.tables import local_path

__all__ = ["Access", "escaped"]


class Access:
    """What a plan may reach in file systems.

    Args:
        allowed: the files and folders, with all that is below them, as paths or URIs.
    """

    def __init__(self, allowed: Sequence[str | os.PathLike[str]]) -> None:
        self._allowed = [os.fspath(path) for path in allowed]
        self._roots = [root.resolve() for root in map(local_path, self._allowed) if root is not None]

    def readable(self, path: str, *, glob: bool = False) -> list[str]:
        """A path or URI, or what a pattern matches, as Spark may read it.

        Those of this machine are resolved, so that what was checked is what is read; characters that Spark takes for
        a pattern are escaped.

        Raises:
            UnsupportedPlanError: a path isn't below the allowed ones.
            TableError: no file matches a pattern.
        """
        found = self.on_this_machine(path, glob=glob)
        if found is None:
            return [path if glob else escaped(path)]
        for link in (link for folder in found for link in _links(folder)):
            self.check(link)
        if not found:
            raise TableError(f"no file matches {path}")
        scheme = "file://" if path.lower().startswith("file:") else ""
        return [scheme + escaped(str(each)) for each in found]

    def on_this_machine(self, path: str, *, glob: bool = False) -> list[Path] | None:
        """A path or URI, or what a pattern matches, resolved; None for what is in another file system.

        Raises:
            UnsupportedPlanError: a path isn't below the allowed ones.
        """
        if glob and any(mark in path for mark in ("{", "\\", "[^")):
            raise UnsupportedPlanError(f"the pattern {path} can't be read", hint="It may hold *, ? and [...]")
        local = local_path(path)
        if local is None:
            self._check_remote(path, "reads")
            return None
        self.check(local)
        if not glob:
            return [local.resolve()]
        found = sorted(map(Path, iglob(str(local))))
        for each in found:
            self.check(each)
        return [each.resolve() for each in found]

    def check(self, path: Path) -> None:
        """Refuse a file of this machine that the plan may not read.

        Raises:
            UnsupportedPlanError: it isn't below the allowed ones.
        """
        self._check_local(path, "reads")

    def writable(self, path: str) -> str:
        """A path or URI that a plan may write to, resolved where it is of this machine.

        Raises:
            UnsupportedPlanError: it isn't below the allowed ones.
        """
        local = local_path(path)
        if local is None:
            self._check_remote(path, "writes")
            return path
        self._check_local(local, "writes")
        return str(local.resolve())

    def _check_remote(self, path: str, doing: Literal["reads", "writes"]) -> None:
        if ".." in path.split("/") or not any(_below(path, allowed) for allowed in self._allowed):
            raise self._not_allowed(path, doing)

    def _check_local(self, path: Path, doing: Literal["reads", "writes"]) -> None:
        resolved = path.resolve()
        if not any(resolved.is_relative_to(root) for root in self._roots):
            raise self._not_allowed(str(path), doing)

    def _not_allowed(self, path: str, doing: Literal["reads", "writes"]) -> UnsupportedPlanError:
        return UnsupportedPlanError(
            f"the plan {doing} {path}, which isn't among the allowed paths",
            hint="A plan may reach only files below the paths named in allowed_paths (--allow-path)",
        )


def escaped(path: str) -> str:
    """The path with the characters that Spark takes for a glob taken as they are."""
    return "".join(f"\\{character}" if character in "*?[]{}\\" else character for character in path)


def _below(path: str, allowed: str) -> bool:
    return local_path(allowed) is None and (path == allowed or path.startswith(allowed.rstrip("/") + "/"))


def _links(folder: Path) -> Iterator[Path]:
    """The symbolic links in a folder, which may lead anywhere."""
    return (path for path in folder.rglob("*") if path.is_symlink())
