"""Show the progress of Spark jobs, and cancel them when the user interrupts.

All code that starts Spark jobs for a user runs in the body of :func:`running`. ``jobs`` tracks these jobs, ``display``
shows them, ``interrupts`` handles Ctrl-C.
"""

from __future__ import annotations

import contextvars
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

from pyspark_substrait.spark.lost_connection import reporting_loss
from pyspark_substrait.spark.progress.display import Display, InLines, InNotebook, OnTerminal, notebook
from pyspark_substrait.spark.progress.interrupts import cancelling, interrupted_elsewhere, interruptible
from pyspark_substrait.spark.progress.jobs import Jobs, jobs_of
from pyspark_substrait.spark.session_start import end_session, is_embedded

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from rich.console import Console

__all__ = ["SWITCH", "after_those_left", "interruptible", "running", "waiting"]

SWITCH = "PYSPARK_SUBSTRAIT_PROGRESS"
"""The environment variable that turns progress off (``0``) or on (``1``) by default."""

_DELAY_SECONDS = 0.5
_POLL_SECONDS = 0.2
_MOST_PATTERNS = 3
_PATTERN_LENGTH = 60

_inside = threading.local()


@contextmanager
def running(
    spark: SparkSession,
    progress: bool | None = None,
    *,
    what: str = "Running on Spark",
    patterns: Callable[[], Sequence[str]] = tuple,
) -> Iterator[None]:
    """Show the progress of the body's Spark jobs, on standard error or in the notebook, and cancel them at Ctrl-C.

    Nested in another one, it does nothing: the outer one handles the same jobs.

    Args:
        spark: a classic or a Connect session.
        progress: whether to show it. None: on a terminal and in a notebook, unless Spark does so itself, and only for
            runs longer than half a second; the variable :data:`SWITCH` overrides this. True: always; without a terminal
            or notebook, as a line now and then. False: never.
        what: the text beside the bar.
        patterns: returns the slow regular expressions of the run, to name them if tasks continue after Ctrl-C.

    Raises:
        KeyboardInterrupt: the user interrupted the body; Spark's jobs were cancelled. The message states this, or that
            tasks continue. If they do so in the embedded session, the session is ended.
        ExecutionError: the Connect server, or the Java process, is gone.
    """
    if getattr(_inside, "run", False):
        yield
        return
    shown = _switch() if progress is None else progress
    display = None if shown is False else _display(what, always=shown is True)
    elsewhere = interrupted_elsewhere()
    if display is None and elsewhere is None and threading.current_thread() is not threading.main_thread():
        with reporting_loss(spark):
            yield  # there is no display, and the main thread handles Ctrl-C
        return
    jobs = jobs_of(spark)

    def left(tasks: int) -> str:
        return after_those_left(spark, patterns())

    if elsewhere is not None:
        elsewhere.append((jobs, left))
    if shown is None and jobs.spark_shows:
        display = None
    with ExitStack() as stack:
        stack.enter_context(_nesting())
        stack.enter_context(reporting_loss(spark))
        stack.enter_context(cancelling(jobs, left))
        stack.enter_context(jobs.marked())
        if display is not None:
            stack.enter_context(_shown(jobs, display))
        yield


@contextmanager
def waiting(what: str, progress: bool | None = None, console: Console | None = None) -> Iterator[None]:
    """Show on a terminal that a task of unknown length is in progress, like the start of a session.

    Args:
        what: the task, like ``Starting Spark``.
        progress: as for :func:`running`, but nothing is shown without a terminal.
        console: where to show it; standard error when None.
    """
    console = console or _standard_error()
    if (_switch() if progress is None else progress) is False or not console.is_terminal:
        yield
        return
    with console.status(f"{what} …"):
        yield


def after_those_left(spark: SparkSession, patterns: Sequence[str]) -> str:
    """End the session if this package started it, because cancelled tasks continue in it; return a message."""
    named = ""
    if patterns:
        shown = ", ".join(repr(pattern[:_PATTERN_LENGTH]) for pattern in patterns[:_MOST_PATTERNS])
        named = f" (the regular expression {shown} may take very long)"
    if not is_embedded(spark):
        return f"{named}. They use their cores until they finish; to end them now, end the session: spark.stop()"
    end_session(spark)
    return f"{named}. So the session was ended, with its Java process; the next run starts another"


def _switch() -> bool | None:
    """Return the setting of the environment variable; None if it isn't set."""
    match os.environ.get(SWITCH, "").strip().lower():
        case "0" | "false" | "no" | "off":
            return False
        case "1" | "true" | "yes" | "on":
            return True
        case _:
            return None


def _display(what: str, *, always: bool) -> Display | None:
    if notebook():
        return InNotebook(what)
    console = _standard_error()
    if console.is_terminal and not console.is_dumb_terminal:
        return OnTerminal(what, console)
    return InLines(what) if always else None


@contextmanager
def _nesting() -> Iterator[None]:
    _inside.run = True
    try:
        yield
    finally:
        _inside.run = False


@contextmanager
def _shown(jobs: Jobs, display: Display) -> Iterator[None]:
    """Show the jobs while the body runs, from a thread of its own."""
    over = threading.Event()
    start = time.monotonic()

    def show() -> None:
        wait = _DELAY_SECONDS
        # a session that ends meanwhile, or a display that fails, must not be an error of the run
        with suppress(Exception):
            while not over.wait(wait):
                display.show(jobs.standing(), time.monotonic() - start)
                wait = _POLL_SECONDS
        with suppress(Exception):
            display.clear()

    # the context determines the notebook cell that output belongs to
    context = contextvars.copy_context()
    thread = threading.Thread(target=context.run, args=(show,), name="substrait-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(timeout=2)


def _standard_error() -> Console:
    from rich.console import Console

    return Console(stderr=True)
