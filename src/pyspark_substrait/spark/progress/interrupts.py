"""Ctrl-C while Spark works: the jobs of the run are cancelled, and Python's ``KeyboardInterrupt`` says so.

Python waits for Spark in calls of pyspark that an exception would tear: the connection to Java is lost, and with it
what the user has set for its thread. So the signal cancels the jobs, Spark's call ends by itself, and only then the
exception is raised. Where Spark doesn't end (it may be planning), it is raised after some seconds all the same, as it
is at the second Ctrl-C.
"""

from __future__ import annotations

import _thread
import contextvars
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, Final

from pyspark_substrait.spark.progress.jobs import Jobs

__all__ = ["CANCELLED", "cancelling", "interrupted_elsewhere", "interruptible"]

CANCELLED: Final = "stopped: the Spark job was cancelled"
"""What the ``KeyboardInterrupt`` says."""

_PATIENCE_SECONDS = 5.0
_AGAIN_SECONDS = 0.1

_Handler = Callable[[int, FrameType | None], Any] | int | signal.Handlers | None

#: code in which Python waits for Spark
_SPARKS = ("pyspark.", "py4j.", "grpc.")


_started: contextvars.ContextVar[list[Jobs] | None] = contextvars.ContextVar("_started", default=None)


@contextmanager
def interruptible() -> Iterator[None]:
    """For a body that may leave the run to another thread: at Ctrl-C, what that thread has started is cancelled.

    Raises:
        KeyboardInterrupt: the body was interrupted; the message is :data:`CANCELLED` if there was a run.
    """
    started: list[Jobs] = []
    token = _started.set(started)
    try:
        yield
    except KeyboardInterrupt as error:
        for jobs in started:
            with suppress(Exception):  # a session that has ended has no jobs
                jobs.cancel()
            error.args = (CANCELLED,)
        raise
    finally:
        _started.reset(token)


def interrupted_elsewhere() -> list[Jobs] | None:
    """Where to put the jobs of a run that :func:`interruptible` is to cancel; None if nobody waits for them."""
    return _started.get()


@contextmanager
def cancelling(jobs: Jobs) -> Iterator[None]:
    """Cancel the jobs when the user interrupts the body.

    In the main thread, Python's way to handle Ctrl-C, or Spark's, is replaced meanwhile; a handler of the user's own
    stays as it is. Spark's would cancel what other threads run too.

    Raises:
        KeyboardInterrupt: the body was interrupted; the message is :data:`CANCELLED`.
    """
    interrupt = _Interrupt(jobs)
    before = interrupt.installed()
    try:
        yield
    except KeyboardInterrupt as error:
        interrupt.cancel()
        error.args = (CANCELLED,)
        raise
    except BaseException:
        if interrupt.came:  # it is Spark's error that says that the job was cancelled
            raise KeyboardInterrupt(CANCELLED) from None
        raise
    finally:
        interrupt.over.set()
        if before is not None:
            signal.signal(signal.SIGINT, before)
    if interrupt.came:
        raise KeyboardInterrupt("stopped")


class _Interrupt:
    """What Ctrl-C does to a run."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self.came = False
        self.over = threading.Event()

    def installed(self) -> _Handler:
        """Handle the signal from now on; gives what handled it before, or None if it still does."""
        if threading.current_thread() is not threading.main_thread():
            return None
        before = signal.getsignal(signal.SIGINT)
        if before is not signal.default_int_handler and getattr(before, "__module__", "") != "pyspark.core.context":
            return None
        signal.signal(signal.SIGINT, self._handle)
        return before

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.came or not _waits_for_spark(frame):
            raise KeyboardInterrupt
        self.came = True
        threading.Thread(target=self._cancel_until_over, name="substrait-cancel", daemon=True).start()

    def _cancel_until_over(self) -> None:
        """Cancel again and again: the call may start a job after another."""
        end = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < end:
            self.cancel()
            if self.over.wait(_AGAIN_SECONDS):
                return
        main = threading.main_thread().ident
        if hasattr(signal, "pthread_kill") and main is not None:
            signal.pthread_kill(main, signal.SIGINT)  # also ends a call of the system
        else:
            _thread.interrupt_main()

    def cancel(self) -> None:
        with suppress(Exception):  # a session that has ended has no jobs
            self._jobs.cancel()


def _waits_for_spark(frame: FrameType | None) -> bool:
    """Whether code of Spark's, or of what it talks through, is on the stack."""
    while frame is not None:
        if f"{frame.f_globals.get('__name__', '')}.".startswith(_SPARKS):
            return True
        frame = frame.f_back
    return False
