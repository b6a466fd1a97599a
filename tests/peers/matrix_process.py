"""A process of its own for an engine: it is killed when it doesn't answer in time, and may end by itself."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, TypeVar

__all__ = ["EngineProcess", "NoAnswerError"]

_T = TypeVar("_T")


class NoAnswerError(Exception):
    """A process gave no answer: it took too long, or ended."""


class EngineProcess:
    """Calls functions in another process, which is started when it is needed, and again after it ended.

    Args:
        start: what the process does first, whatever time it takes.
    """

    def __init__(self, start: Callable[[], object]) -> None:
        self._start = start
        self._process: multiprocessing.process.BaseProcess | None = None
        self._connection: Connection | None = None

    def call(self, function: Callable[..., _T], *arguments: Any, seconds: float) -> _T:
        """Return what a function returns there. Both, and the arguments, are pickled.

        Raises:
            NoAnswerError: it didn't return in time, or the process ended.
        """
        connection = self._connected()
        connection.send((function, arguments))
        try:
            if not connection.poll(seconds):
                raise NoAnswerError(f"no answer in {seconds:.0f} s")
            answer: _T = connection.recv()
        except (EOFError, ConnectionError):
            code = self._ended()
            how = signal.Signals(-code).name if code is not None and code < 0 else f"code {code}"
            self.close()
            raise NoAnswerError(f"its process ended with {how}") from None
        except NoAnswerError:
            self.close()
            raise
        return answer

    def close(self) -> None:
        """End the process, and those that it started."""
        if self._process is not None and self._process.pid is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.join()
        self._process = self._connection = None

    def _connected(self) -> Connection:
        if self._connection is None:
            context = multiprocessing.get_context("spawn")
            self._connection, theirs = context.Pipe()
            self._process = context.Process(target=_serve, args=(theirs, self._start))
            self._process.start()
            theirs.close()
            self._connection.recv()  # it has started
        return self._connection

    def _ended(self) -> int | None:
        assert self._process is not None
        self._process.join(10)
        return self._process.exitcode


def _serve(connection: Connection, start: Callable[[], object]) -> None:
    os.setsid()
    start()
    connection.send(None)
    while True:
        try:
            function, arguments = connection.recv()
        except EOFError:
            return
        connection.send(function(*arguments))
