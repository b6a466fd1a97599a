"""Handle Ctrl-C while Spark runs: cancel the jobs of the run, and report this in Python's ``KeyboardInterrupt``.

Python waits for Spark in calls of pyspark that an exception would break off: the connection to Java is lost then, with
the Spark properties of its thread. So the signal cancels the jobs, the call ends by itself, and only then the exception
is raised. If the call doesn't end (Spark may be planning), the exception is raised after some seconds, or at the second
Ctrl-C; and at once if a server doesn't answer.
"""

from __future__ import annotations

import _thread
import contextvars
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final, TypeVar

from pyspark_substrait.spark.progress.jobs import Jobs

__all__ = ["CANCELLED", "UNANSWERED", "cancelling", "interrupted_elsewhere", "interruptible", "stopped", "within"]

CANCELLED: Final = "stopped: the Spark job was cancelled"
"""The message of the ``KeyboardInterrupt``."""

UNANSWERED: Final = "stopped: Spark does not answer, so its job may still be running"
"""The message if Spark did not answer the cancellation."""

_PATIENCE_SECONDS = 5.0
_AGAIN_SECONDS = 0.1
_TASKS_SECONDS = 3.0

_T = TypeVar("_T")
_Handler = Callable[[int, FrameType | None], Any] | int | signal.Handlers | None
#: called with the number of tasks that continue; returns the rest of the message
Left = Callable[[int], str]

#: packages in whose code Python waits for Spark
_SPARKS = ("pyspark.", "py4j.", "grpc.")


_started: contextvars.ContextVar[list[tuple[Jobs, Left]] | None] = contextvars.ContextVar("_started", default=None)


@contextmanager
def interruptible() -> Iterator[None]:
    """Cancel at Ctrl-C the jobs of a run that the body has started in another thread.

    Raises:
        KeyboardInterrupt: the body was interrupted; if there was a run, the message is as for :func:`cancelling`.
    """
    started: list[tuple[Jobs, Left]] = []
    token = _started.set(started)
    try:
        yield
    except KeyboardInterrupt as error:
        if started and not _has_said(error):
            messages = [stopped(jobs, left) for jobs, left in started]
            error.args = (next((text for text in messages if text != CANCELLED), CANCELLED),)
        raise
    finally:
        _started.reset(token)


def interrupted_elsewhere() -> list[tuple[Jobs, Left]] | None:
    """Return the list of jobs that the surrounding :func:`interruptible` cancels; None without one."""
    return _started.get()


@contextmanager
def cancelling(jobs: Jobs, left: Left = lambda tasks: "") -> Iterator[None]:
    """Cancel the jobs when the user interrupts the body.

    In the main thread, the signal handler of Python or Spark is replaced for the time of the body; a handler of the
    user stays. Spark's would also cancel the jobs of other threads.

    Args:
        jobs: the jobs.
        left: called with the number of cancelled tasks that continue; returns the rest of the message.

    Raises:
        KeyboardInterrupt: the body was interrupted; the message is :data:`CANCELLED`, perhaps with the number of tasks
            that continue, or :data:`UNANSWERED`.
    """
    interrupt = _Interrupt(jobs)
    before = interrupt.installed()
    try:
        yield
    except KeyboardInterrupt as error:
        error.args = (interrupt.message(left),)
        raise
    except BaseException:
        if interrupt.came:  # the error is Spark's, about the cancelled job
            raise KeyboardInterrupt(interrupt.message(left)) from None
        raise
    finally:
        interrupt.over.set()
        if before is not None:
            signal.signal(signal.SIGINT, before)
    if interrupt.came:
        raise KeyboardInterrupt("stopped")


class _Interrupt:
    """The signal handler for Ctrl-C during a run."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self.came = False
        self.over = threading.Event()
        self._answered = threading.Event()

    def installed(self) -> _Handler:
        """Install the handler, and return the previous one; None if the previous one stays."""
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
        threading.Thread(target=self._end, name="substrait-interrupt", daemon=True).start()

    def _end(self) -> None:
        """Wait for the end of the body for a bounded time, as long as Spark answers; then interrupt it."""
        threading.Thread(target=self._cancel, name="substrait-cancel", daemon=True).start()
        if self._answered.wait(self._jobs.answers_within):
            self.over.wait(_PATIENCE_SECONDS)
        if self.over.is_set():
            return
        main = threading.main_thread().ident
        if hasattr(signal, "pthread_kill") and main is not None:
            signal.pthread_kill(main, signal.SIGINT)  # also interrupts a system call
        else:
            _thread.interrupt_main()

    def message(self, left: Left) -> str:
        """Return the message about the jobs, after the body has ended."""
        self.over.set()
        if self.came and not self._answered.is_set():
            return UNANSWERED
        return stopped(self._jobs, left)

    def _cancel(self) -> None:
        """Cancel repeatedly: the call may start one job after the other."""
        while not self.over.is_set():
            try:
                self._jobs.cancel()
            except Exception:  # Spark is gone; a session that has ended has no jobs
                return
            self._answered.set()
            self.over.wait(_AGAIN_SECONDS)


def stopped(jobs: Jobs, left: Left) -> str:
    """Cancel the jobs a last time, with a bounded wait, and return the message about them."""

    def cancelled() -> int:
        jobs.cancel()
        return jobs.left(_TASKS_SECONDS)

    tasks = within(jobs.answers_within, cancelled)
    if tasks is None:
        return UNANSWERED
    if not tasks:
        return CANCELLED
    count = "1 of its tasks goes" if tasks == 1 else f"{tasks:,} of its tasks go"
    return f"{CANCELLED}, but {count} on, because nothing in them can be interrupted{left(tasks)}"


def within(seconds: float, function: Callable[[], _T]) -> _T | None:
    """The result of a function; None if it fails or takes more than some seconds (its thread then continues)."""
    found: list[_T] = []

    def call() -> None:
        try:
            found.append(function())
        except Exception:  # Spark isn't there any more, or its session has ended
            return

    thread = threading.Thread(target=call, name="substrait-cancelled", daemon=True)
    thread.start()
    thread.join(seconds)
    return found[0] if found else None


def _has_said(error: KeyboardInterrupt) -> bool:
    return bool(error.args) and str(error.args[0]).startswith("stopped: ")


def _waits_for_spark(frame: FrameType | None) -> bool:
    """Whether code of pyspark, py4j or grpc is on the stack."""
    while frame is not None:
        if f"{frame.f_globals.get('__name__', '')}.".startswith(_SPARKS):
            return True
        frame = frame.f_back
    return False
