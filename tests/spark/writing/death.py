"""A command that dies at a chosen step: from there on nothing of it has an effect, nor what it does to clean up."""

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


class Killed(BaseException):
    """What is raised at and after the step; nothing handles it."""


class Death:
    """A death to come.

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
            raise Killed(text)
        self.effects.append(text)

    def event(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Called before each event of the interpreter, in whatever thread the command works."""
        writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_CREAT | os.O_TRUNC)
        if event in _FILE_EVENTS or writes:
            self.effect(f"{event} {arguments[0]}")


_deaths: list[Death] = []


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if _deaths:
        _deaths[-1].event(event, arguments)


@contextmanager
def killed(spark: SparkSession, at: int | str) -> Iterator[Death]:
    """Kill what runs inside before an effect."""
    if _hook not in _installed:
        sys.addaudithook(_hook)  # can't be removed
        _installed.append(_hook)
    death = Death(at)
    kind: Any = type(spark)
    sql = kind.sql

    def counted(self: Any, text: str, *arguments: Any, **more: Any) -> Any:
        if text.lstrip().upper().startswith(_STATEMENTS):
            death.effect(text)
        return sql(self, text, *arguments, **more)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(kind, "sql", counted)
        _deaths.append(death)
        try:
            yield death
        except Killed:
            pass
        finally:
            _deaths.remove(death)


_installed: list[Any] = []
