"""Clocks that jump: files with times of the past and the future, also times that change during a write.

The package reads no clock of its own for writes; it compares the times of files.
"""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Final

from faults.states import State
from pyspark_substrait.errors import SubstraitError

if TYPE_CHECKING:
    from faults.conditions import Bench
    from faults.subjects import Subject, Write

__all__ = ["changing_times", "other_times"]

_YEARS: Final = 365 * 24 * 3600


def _set_times(bench: Bench, folder: Path) -> None:
    """Give the files of a folder, and the folder, times between 1971 and 2100."""
    for path in [*folder.rglob("*"), folder]:
        moment = bench.chance.randrange(_YEARS, 130 * _YEARS)
        try:
            os.utime(path, (moment, moment))
        except FileNotFoundError:
            continue


def _settle(bench: Bench, group: str, subject: Subject, write: Write, error: BaseException | None) -> None:
    before = bench.states[subject.name]
    allowed: dict[str, State | None]
    if error is None:
        bench.settle(group, subject, write, {"written": write.after(before)})
    elif isinstance(error, SubstraitError):
        allowed = {"": before}
        told = "refused" if "another process changed the files" in str(error) else f"refused ({str(error)[:150]})"
        bench.settle(group, subject, write, allowed, outcome=told)
    else:
        bench.counts.fault(group, write.kind, f"a foreign exception: {type(error).__name__}: {error}"[:2000])
        bench.anew()


def _tried(write: Write) -> BaseException | None:
    try:
        write.run()
    except Exception as error:
        return error
    return None


def other_times(bench: Bench) -> None:
    """Write a table whose files are of other times, also of the future."""
    subject, write = bench.choose()
    if subject.folder.is_dir():
        _set_times(bench, subject.folder)
    _settle(bench, "files of other times", subject, write, _tried(write))


def changing_times(bench: Bench) -> None:
    """Change the times of the files at a random moment of a write."""
    subject, write = bench.choose()
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(_tried, write)
        time.sleep(bench.moment(write.kind))
        if subject.folder.is_dir():
            _set_times(bench, subject.folder)
    _settle(bench, "files whose times change during a write", subject, write, writing.result())
