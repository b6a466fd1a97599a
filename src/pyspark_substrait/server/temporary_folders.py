"""Temporary folders that the next process removes if theirs was killed.

A folder has a file ``lock``, which its process holds; the system releases it when that process ends.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

__all__ = ["temporary_folder"]

_LOCK: Final = "lock"


@contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """Make a folder for the body, and remove those of the same prefix that killed processes of this user have left.

    Where the system has no such locks, nothing of others is removed.
    """
    _remove_left(prefix)
    with tempfile.TemporaryDirectory(prefix=prefix) as made:
        lock = _locked(Path(made))
        try:
            yield Path(made)
        finally:
            if lock is not None:
                os.close(lock)


def _locked(folder: Path) -> int | None:
    """Make and hold the lock of a new folder; return its descriptor, or None if the system has no such locks."""
    try:
        import fcntl
    except ImportError:
        return None
    lock = os.open(folder / f".{_LOCK}", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    os.rename(folder / f".{_LOCK}", folder / _LOCK)  # nobody sees a lock that isn't held yet
    return lock


def _remove_left(prefix: str) -> None:
    try:
        import fcntl
    except ImportError:
        return
    for entry in os.scandir(tempfile.gettempdir()):
        if not entry.name.startswith(prefix):
            continue
        with suppress(OSError):  # it is another user's, or still used
            if not entry.is_dir(follow_symlinks=False) or entry.stat(follow_symlinks=False).st_uid != os.getuid():
                continue
            lock = os.open(Path(entry.path, _LOCK), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(entry.path, ignore_errors=True)
            finally:
                os.close(lock)
