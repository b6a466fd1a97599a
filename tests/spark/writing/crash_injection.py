"""Crash a command at a chosen step: no later statement or file operation has an effect, clean-up included."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pyspark.sql import SparkSession

_FILE_EVENTS = {
    "os.rename",
    "os.mkdir",
    "os.remove",
    "os.rmdir",
    "os.link",
    "os.symlink",
    "os.chmod",
    "shutil.rmtree",
    "ctypes.dlsym",  # the exchange of two folders
}
_STATEMENTS = ("CREATE", "INSERT", "ALTER", "DROP")


class InjectedCrash(BaseException):
    """Raised at the step and at each later effect; nothing handles it."""


class CrashPoint:
    """The step at which a command crashes.

    Args:
        at: the number of the effect before which it comes, or how the statement begins.
    """

    def __init__(self, at: int | str) -> None:
        self._at = at
        #: the effects that there were before
        self.effects: list[str] = []
        self.came = False

    def effect(self, text: str) -> None:
        """Called before each effect."""
        if self.came or (len(self.effects) == self._at if isinstance(self._at, int) else text.startswith(self._at)):
            self.came = True
            raise InjectedCrash(text)
        self.effects.append(text)

    def event(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Called before each event of the interpreter, in whatever thread the command works."""
        writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_CREAT | os.O_TRUNC)
        if event in _FILE_EVENTS or writes:
            self.effect(f"{event} {arguments[0]}")


_crash_points: list[CrashPoint] = []


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if _crash_points:
        _crash_points[-1].event(event, arguments)


@contextmanager
def crashed(spark: SparkSession, at: int | str) -> Iterator[CrashPoint]:
    """Crash the body before an effect."""
    if _hook not in _installed:
        sys.addaudithook(_hook)  # can't be removed
        _installed.append(_hook)
    point = CrashPoint(at)
    kind: Any = type(spark)
    sql = kind.sql

    def counted(self: Any, text: str, *arguments: Any, **more: Any) -> Any:
        if text.lstrip().upper().startswith(_STATEMENTS):
            point.effect(text)
        return sql(self, text, *arguments, **more)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(kind, "sql", counted)
        _crash_points.append(point)
        try:
            yield point
        except InjectedCrash:
            pass
        finally:
            _crash_points.remove(point)


_installed: list[Any] = []
