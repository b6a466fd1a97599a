"""Replace a folder of files by a new version in one atomic step.

The new version is written beside the folder, synced to disk, and then exchanged with it: readers of the folder always
see the old version or the new one, also after a crash. While a folder ``t`` is changed, there are beside it

* ``.t.lock``: held by the process that changes it (the system releases it when that process ends);
* ``.t.<id>.version``: the new version and, after the exchange, the old one;
* ``.t.<id>.written``: new files that become a part of the new version.

The next change removes those that a crash has left.
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias
from uuid import uuid4

from pyspark_substrait.binding.data_files import is_hidden
from pyspark_substrait.errors import ExecutionError, UnsupportedPlanError

__all__ = [
    "Change",
    "Listing",
    "changing",
    "data_files",
    "exchange",
    "listing",
    "locked",
    "parts",
    "sync",
    "to_disk",
]

#: The files of a folder: relative path, inode, size and time of the last change.
Listing: TypeAlias = frozenset[tuple[str, int, int, int]]

_AT_FDCWD: Final = -100
_RENAME_EXCHANGE: Final = 2
_RENAME_SWAP: Final = 2  # the same on macOS, where the function has another name


@dataclass(frozen=True)
class Change:
    """A change of a folder in progress.

    Args:
        folder: the folder.
        version: the path of the new version, beside it, which doesn't exist yet.
        written: the path of a folder beside it for new files.
        before: the files of the folder when the change began.
    """

    folder: Path
    version: Path
    written: Path
    before: Listing

    def keep(self) -> None:
        """Add the existing files to the new version, as hard links if possible."""
        _linked(self.folder, self.version)

    def add(self) -> None:
        """Move the new files into the new version."""
        if not self.version.exists():
            os.rename(self.written, self.version)
            return
        for file in sorted(_files(self.written)):
            target = self.version / file.relative_to(self.written)
            target.parent.mkdir(parents=True, exist_ok=True)
            os.rename(file, target)

    def take_effect(self) -> None:
        """Replace the old version by the new one.

        Raises:
            ExecutionError: the files have changed since the change began.
        """
        to_disk(self.version)
        self.check_unchanged()
        if self.folder.exists():
            shutil.copymode(self.folder, self.version)
            exchange(self.folder, self.version)
            if listing(self.version) != self.before:
                # another process wrote between the last check and the exchange
                exchange(self.folder, self.version)
                raise self._changed()
        else:
            os.rename(self.version, self.folder)
        sync(self.folder.parent)

    def remove(self) -> None:
        """Remove the folder with its contents.

        Raises:
            ExecutionError: the files have changed since the change began.
        """
        self.check_unchanged()
        os.rename(self.folder, self.version)
        if listing(self.version) != self.before:
            os.rename(self.version, self.folder)
            raise self._changed()
        sync(self.folder.parent)

    def check_unchanged(self) -> None:
        """Check that no other process has changed the files.

        Raises:
            ExecutionError: the files have changed since the change began.
        """
        if listing(self.folder) != self.before:
            raise self._changed()

    def _changed(self) -> ExecutionError:
        return ExecutionError(
            f"another process changed the files in {self.folder} during the write",
            hint="Nothing was changed. Run the plan again",
        )


@contextmanager
def changing(folder: Path) -> Iterator[Change]:
    """Change a folder while holding its lock.

    Raises:
        ExecutionError: another process is changing it.
        UnsupportedPlanError: this system has no locks, or the folder can't be changed.
    """
    folder = folder.resolve()
    with locked(folder):
        _clear(folder)
        prefix = f".{folder.name}.{uuid4().hex}"
        try:
            yield Change(
                folder, folder.parent / f"{prefix}.version", folder.parent / f"{prefix}.written", listing(folder)
            )
        finally:
            _clear(folder)


def listing(folder: Path) -> Listing:
    """Return the files of a folder, with the data that identifies their versions."""
    found = []
    for file in _files(folder):
        status = file.stat(follow_symlinks=False)
        found.append((str(file.relative_to(folder)), status.st_ino, status.st_size, status.st_mtime_ns))
    return frozenset(found)


def data_files(folder: Path) -> set[Path]:
    """Return the files of a folder that Spark reads as data: neither they nor their folders have hidden names."""
    return {file for file in _files(folder) if not any(is_hidden(part) for part in file.relative_to(folder).parts)}


def parts(folder: Path) -> list[Path]:
    """Return the partition folders (``name=value``) inside a folder, relative to it."""
    found = (Path(parent).relative_to(folder) for parent, _, _ in os.walk(folder))
    return sorted(part for part in found if part.parts and all("=" in name for name in part.parts))


def _files(folder: Path, *, links: bool = True) -> Iterator[Path]:
    """Yield the files of a folder and, with ``links``, the links to folders."""
    for parent, folders, names in os.walk(folder):
        for name in names:
            yield Path(parent, name)
        if links:
            yield from (Path(parent, name) for name in folders if os.path.islink(os.path.join(parent, name)))


# atomic ops ----------------------------------------------------------------------------------------------------------


def exchange(one: Path, other: Path) -> None:
    """Exchange two folders of the same file system in one atomic step.

    Raises:
        UnsupportedPlanError: the system or the file system can't do that; nothing is changed.
    """
    library = ctypes.CDLL(None, use_errno=True)
    source, target = os.fsencode(one), os.fsencode(other)
    if sys.platform == "linux" and hasattr(library, "renameat2"):
        failed = library.renameat2(_AT_FDCWD, source, _AT_FDCWD, target, _RENAME_EXCHANGE)
    elif sys.platform == "darwin" and hasattr(library, "renamex_np"):
        failed = library.renamex_np(source, target, _RENAME_SWAP)
    else:
        raise _impossible(one, "this system cannot exchange two folders in one step")
    if failed:
        reason = os.strerror(ctypes.get_errno())
        raise _impossible(one, f"two folders cannot be exchanged in one step there ({reason})")


def _impossible(folder: Path, reason: str) -> UnsupportedPlanError:
    return UnsupportedPlanError(
        f"the table in {folder} cannot be changed: {reason}",
        hint="Use a Delta or Iceberg table, or another file system",
    )


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold this package's lock on a folder, which needn't exist.

    Raises:
        ExecutionError: another process is changing it.
        UnsupportedPlanError: this system has no locks, or none can be made there.
    """
    try:
        import fcntl
    except ImportError:
        raise _impossible(folder, "this system lacks the required kind of lock") from None
    path = folder.parent / f".{folder.name}.lock"
    lock = _open(path, folder)
    try:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                    raise _impossible(folder, f"it cannot be locked ({error.strerror})") from error
                raise ExecutionError(
                    f"another process is changing the table in {folder}",
                    hint="Nothing was written. Run the plan again later",
                ) from error
            if _is(lock, path):
                break
            # the previous holder has removed it
            os.close(lock)
            lock = _open(path, folder)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)
    finally:
        os.close(lock)


def _open(path: Path, folder: Path) -> int:
    try:
        return os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
    except OSError as error:
        raise _impossible(folder, f"{path} cannot be opened ({error.strerror})") from error


def _is(lock: int, path: Path) -> bool:
    """Whether an open file is the one at a path."""
    try:
        return os.path.samestat(os.fstat(lock), os.stat(path, follow_symlinks=False))
    except FileNotFoundError:
        return False


def _clear(folder: Path) -> None:
    """Remove the folders that an earlier change, or this one, has left beside the folder."""
    ours = re.compile(rf"\.{re.escape(folder.name)}\.[0-9a-f]{{32}}\.(version|written)")
    for entry in os.scandir(folder.parent):
        if ours.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)


def _linked(source: Path, target: Path) -> None:
    """Recreate a folder's contents in another one, with hard links or, if that isn't possible, copies."""
    for parent, _, _ in os.walk(source):
        made = target / Path(parent).relative_to(source)
        made.mkdir()
        shutil.copymode(parent, made)
    for file in _files(source):
        beside = target / file.relative_to(source)
        try:
            os.link(file, beside, follow_symlinks=False)
        except OSError:
            shutil.copy2(file, beside, follow_symlinks=False)


def to_disk(folder: Path) -> None:
    """Sync all files of a folder, and their directory entries, to disk."""
    for parent, _, names in os.walk(folder):
        for name in names:
            sync(Path(parent, name))
        sync(Path(parent))


def sync(path: Path) -> None:
    """Sync a file, or the entries of a folder, to disk."""
    if path.is_symlink():
        return
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
