"""Full disks and read-only folders, on a small file system in memory."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Final

from faults.states import State
from pyspark_substrait.errors import SubstraitError

if TYPE_CHECKING:
    from faults.conditions import Bench
    from faults.subjects import Subject, Write

__all__ = ["becoming_read_only", "filling", "full", "mount", "no_more_files", "read_only"]

_BYTES: Final = 8 * 1024 * 1024
_INODES: Final = 2000
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_BALLAST: Final = "ballast"


def mount(folder: Path) -> None:
    """Make a folder a small file system of its own, for this namespace of mounts."""
    options = f"size={_BYTES},nr_inodes={_INODES}"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=True)


def _remount(folder: Path, mode: str) -> bool:
    done = subprocess.run(["mount", "-o", f"remount,{mode}", str(folder)], capture_output=True, check=False)
    return done.returncode == 0


def _fill(folder: Path, pages: int) -> None:
    """Leave some pages of the file system free."""
    ballast = os.open(folder / _BALLAST, os.O_CREAT | os.O_WRONLY)
    try:
        os.ftruncate(ballast, 0)
        status = os.statvfs(folder)
        rest = status.f_bavail * status.f_frsize // _PAGE - pages
        if rest > 0:
            os.posix_fallocate(ballast, 0, rest * _PAGE)
    except OSError:
        pass  # a write that goes on was faster
    finally:
        os.close(ballast)


def _use_up(folder: Path, free: int) -> None:
    """Leave some files that can still be made on the file system."""
    place = folder / f"{_BALLAST}s"
    place.mkdir(exist_ok=True)
    for number in range(os.statvfs(folder).f_favail - free):
        (place / str(number)).touch()


def _free(folder: Path) -> None:
    (folder / _BALLAST).unlink(missing_ok=True)
    place = folder / f"{_BALLAST}s"
    if place.is_dir():
        for file in place.iterdir():
            file.unlink()
        place.rmdir()


def _settle(bench: Bench, group: str, subject: Subject, write: Write, error: BaseException | None) -> None:
    before = bench.states[subject.name]
    after = write.after(before)
    if error is None:
        bench.settle(group, subject, write, {"written": after})
    elif isinstance(error, SubstraitError):
        said = " ".join(str(each) for each in (error, error.__cause__)).lower()
        clear = any(word in said for word in ("no space left", "read-only", "cannot be opened", "mkdirs failed"))
        outcome = "refused" if clear else f"refused ({str(error)[:150]})"
        allowed: dict[str, State | None] = {"": before, ", but done": after}
        bench.settle(group, subject, write, allowed, outcome=outcome)
    else:
        bench.settle(group, subject, write, {"": before, ", but done": after}, outcome="")
        bench.counts.fault(group, write.kind, f"a foreign exception: {type(error).__name__}: {error}"[:3000])


def _tried(run: Callable[[], object]) -> BaseException | None:
    try:
        run()
    except Exception as error:
        return error
    return None


def full(bench: Bench) -> None:
    """Write while only some pages are free."""
    subject, write = bench.choose()
    _fill(bench.folder, bench.chance.randrange(12))
    error = _tried(write.run)
    _free(bench.folder)
    _settle(bench, "a full disk", subject, write, error)


def no_more_files(bench: Bench) -> None:
    """Write while only some more files can be made."""
    subject, write = bench.choose()
    _use_up(bench.folder, bench.chance.randrange(24))
    error = _tried(write.run)
    _free(bench.folder)
    _settle(bench, "no more files", subject, write, error)


def filling(bench: Bench) -> None:
    """Let the disk become full at a random moment of a write."""
    subject, write = bench.choose()
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(_tried, write.run)
        time.sleep(bench.moment(write.kind))
        _fill(bench.folder, 0)
    _free(bench.folder)
    _settle(bench, "the disk becomes full", subject, write, writing.result())


def read_only(bench: Bench) -> None:
    """Write to a read-only file system."""
    if not _remount(bench.folder, "ro"):
        return  # a file is still open
    subject, write = bench.choose()
    error = _tried(write.run)
    _remount(bench.folder, "rw")
    _settle(bench, "a read-only folder", subject, write, error)


def becoming_read_only(bench: Bench) -> None:
    """Let the file system become read-only at a random moment of a write, in which no file is being written."""
    subject, write = bench.choose()
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(_tried, write.run)
        time.sleep(bench.moment(write.kind))
        while not _remount(bench.folder, "ro") and not writing.done():
            time.sleep(0.001)
    _remount(bench.folder, "rw")
    _settle(bench, "the folder becomes read-only", subject, write, writing.result())
