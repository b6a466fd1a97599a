"""The files and folders that a plan itself may name. It must not read or write any others.

The target of a path may change after it was checked: a folder becomes a symbolic link. So files read here are opened
without following a link (:meth:`Access.opened`), and what Spark reads is checked again when its scan is planned
(``reading/guarded_scans.py``), when a job of ours begins and when it has ended (:meth:`Access.check_again`).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from glob import iglob
from pathlib import Path
from typing import Literal

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.spark.addresses import Address, parsed_address

__all__ = ["Access", "escaped"]


class Access:
    """The files and folders that a plan may read and write.

    Args:
        allowed: the files and folders, with all that is below them, as paths or URIs. One that can't be understood
            allows nothing.
        held: whether the result is a DataFrame, which the caller may run at any time.
    """

    def __init__(self, allowed: Sequence[str | os.PathLike[str]], *, held: bool = True) -> None:
        self.held = held
        #: the allowed files and folders of this machine, without links
        self.roots: tuple[Path, ...] = ()
        self._remote: tuple[Address, ...] = ()
        self._not_understood: list[str] = []
        for path in allowed:
            text = os.fspath(path)
            try:
                place = parsed_address(text)
                if isinstance(place, Address):
                    self._remote += (place,)
                else:
                    self.roots += (_resolved(place),)
            except UnsupportedPlanError as error:
                self._not_understood.append(error.message)
        #: the paths of the local files that were checked and that Spark will read
        self._seen: dict[str, None] = {}
        #: the size of all files that :meth:`opened` has opened
        self.opened_bytes = 0

    def place(self, path: str, *, glob: bool = False, escapes: bool = True) -> list[Path] | Address:
        """Return the resolved local paths that a path, a URI or a pattern stands for, or an address elsewhere.

        Open the returned paths, never the text.

        Raises:
            UnsupportedPlanError: it isn't below the allowed ones, or can't be understood.
        """
        if glob and any(mark in path for mark in ("{", "\\", "[^")):
            raise UnsupportedPlanError(f"the pattern {path} cannot be read", hint="It may hold *, ? and [...]")
        found = parsed_address(path, glob=glob, escapes=escapes)
        if isinstance(found, Address):
            if not any(found.is_within(allowed) for allowed in self._remote):
                raise self._not_allowed(path, "reads")
            return found
        resolved = self.check(found)
        if not glob:
            return [resolved]
        return [self.check(each) for each in sorted(map(Path, iglob(str(found))))]

    def pattern(self, path: str) -> str:
        """Return a resolved pattern, without `..`, for a server whose files this machine does not see.

        Raises:
            UnsupportedPlanError: it isn't below the allowed paths, or can't be understood.
        """
        found = parsed_address(path, glob=True)
        assert isinstance(found, Path)
        return str(self.check(found))

    def check(self, path: Path) -> Path:
        """Check that the plan may read a local file, and return its resolved path.

        Raises:
            UnsupportedPlanError: it isn't below the allowed ones.
        """
        return self._checked(path, "reads")

    def remember(self, paths: Iterator[str] | Sequence[str]) -> None:
        """Check files of this machine that Spark will read, and remember them for :meth:`check_again`.

        Raises:
            UnsupportedPlanError: one isn't below the allowed ones.
        """
        found = list(paths)
        self._check_all(found)
        self._seen.update(dict.fromkeys(found))

    def check_again(self) -> None:
        """Check once more all files of this machine that are read.

        Raises:
            UnsupportedPlanError: one leads elsewhere by now. An error that came before is left out of the traceback,
                because it may quote the file.
        """
        try:
            self._check_all(self._seen)
        except UnsupportedPlanError as error:
            raise error from None

    def _check_all(self, paths: Sequence[str] | dict[str, None]) -> None:
        folders: dict[str, bool] = {}
        for path in paths:
            folder = os.path.dirname(path)
            if folder not in folders:
                folders[folder] = self._is_allowed(_resolved(Path(folder)))
            if not folders[folder] or os.path.islink(path):
                self.check(Path(path))

    @contextmanager
    def opened(self, path: str) -> Iterator[int]:
        """Open a file that the plan may read; no link is followed after it was checked.

        Raises:
            UnsupportedPlanError: it isn't below the allowed ones, or is no file.
            OSError: it can't be opened.
        """
        found = self.check(Path(path))
        with _entered(found.parent) as folder:
            flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
            descriptor = os.open(found.name, flags, dir_fd=folder)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise UnsupportedPlanError(f"{path} is not a file")
            self.opened_bytes += status.st_size
            yield descriptor
        finally:
            os.close(descriptor)

    def writable(self, path: str) -> Path | Address:
        """Check that the plan may write to a place, and return it, resolved if it is local.

        Raises:
            UnsupportedPlanError: it isn't below the allowed ones, or can't be understood.
        """
        found = parsed_address(path)
        if isinstance(found, Path):
            return self._checked(found, "writes")
        if found.query is not None:
            raise UnsupportedPlanError(f"the address {path!r} has a query", hint="Spark writes to none that has one")
        if not any(found.is_within(allowed) for allowed in self._remote):
            raise self._not_allowed(path, "writes")
        return found

    def make_folder(self, root: Path) -> None:
        """Create a folder that :meth:`writable` returned, and its parents, without following a link.

        Raises:
            OSError: it can't be created, or its path has a link by now.
        """
        with _entered(root, make=True):
            pass

    def check_written(self, root: Path) -> None:
        """Check once more a folder that :meth:`writable` returned, before something in it changes.

        Raises:
            UnsupportedPlanError: it leads elsewhere by now.
        """
        if self._checked(root, "writes") != root:
            raise UnsupportedPlanError(f"{root} leads elsewhere by now", hint="Run the plan again")

    def _checked(self, path: Path, doing: Literal["reads", "writes"]) -> Path:
        resolved = _resolved(path)
        if not self._is_allowed(resolved):
            raise self._not_allowed(str(path), doing)
        return resolved

    def _is_allowed(self, resolved: Path) -> bool:
        return any(resolved.is_relative_to(root) for root in self.roots)

    def _not_allowed(self, path: str, doing: Literal["reads", "writes"]) -> UnsupportedPlanError:
        wrong = "".join(f"; {message}" for message in self._not_understood)
        return UnsupportedPlanError(
            f"the plan {doing} {path}, which is not among the allowed paths{wrong}",
            hint="A plan may access only files below the paths in allowed_paths (--allow-path)",
        )


def escaped(path: str) -> str:
    """Escape the characters of a path that Spark would interpret as a glob."""
    return "".join(f"\\{character}" if character in "*?[]{}\\" else character for character in path)


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise UnsupportedPlanError(f"the path {str(path)!r} cannot be followed: {error}") from error


@contextmanager
def _entered(path: Path, *, make: bool = False) -> Iterator[int]:
    """Open a folder by a path without links, and yield its descriptor; a link in the path is an error."""
    flags = os.O_CLOEXEC | os.O_DIRECTORY | os.O_NOFOLLOW | getattr(os, "O_PATH", os.O_RDONLY)
    folder = os.open(path.anchor, flags)
    try:
        for part in path.parts[1:]:
            try:
                inner = os.open(part, flags, dir_fd=folder)
            except FileNotFoundError:
                if not make:
                    raise
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=folder)
                inner = os.open(part, flags, dir_fd=folder)
            os.close(folder)
            folder = inner
        yield folder
    finally:
        os.close(folder)
