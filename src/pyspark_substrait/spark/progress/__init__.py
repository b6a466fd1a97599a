"""Spark at work: shown while it goes on, cancelled when the user interrupts it.

Whatever starts Spark jobs for a user does so in the body of :func:`running`. ``jobs`` knows which jobs those are,
``display`` shows them, ``interrupts`` says what Ctrl-C does.
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
from pyspark_substrait.spark.session import end_session, is_embedded

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from rich.console import Console

__all__ = ["SWITCH", "interruptible", "running", "waiting"]

SWITCH = "PYSPARK_SUBSTRAIT_PROGRESS"
"""The environment variable that turns progress off (``0``) or on (``1``) where nothing else is said."""

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
    """Show how far Spark is with what the body starts, on standard error or in the notebook, and cancel it at Ctrl-C.

    Inside another one, it does nothing: the outer one sees the same jobs.

    Args:
        spark: a classic or a Connect session.
        progress: whether to show it. None: on a terminal and in a notebook, where Spark doesn't do so itself, and only
            of what takes longer than half a second; the variable :data:`SWITCH` may say otherwise. True: everywhere; as
            a line now and then where there is neither. False: never.
        what: the text beside the bar.
        patterns: gives the regular expressions of the run that may be slow, named where tasks go on after Ctrl-C.

    Raises:
        KeyboardInterrupt: the user interrupted the body; Spark's jobs were cancelled, and the message says so, or that
            tasks go on. If they do in the embedded session, that is ended.
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
            yield  # nobody looks, and Ctrl-C is the main thread's
        return
    jobs = jobs_of(spark)

    def left(tasks: int) -> str:
        return _after_those_left(spark, patterns())

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
    """Show on a terminal that something of unknown length goes on, like the start of a session.

    Args:
        what: what goes on, like ``Starting Spark``.
        progress: as for :func:`running`; there are no lines for this.
        console: where to show it; standard error when None.
    """
    console = console or _standard_error()
    if (_switch() if progress is None else progress) is False or not console.is_terminal:
        yield
        return
    with console.status(f"{what} …"):
        yield


def _after_those_left(spark: SparkSession, patterns: Sequence[str]) -> str:
    """End the session if this package started it, since cancelled tasks go on in it; return the message about it."""
    named = ""
    if patterns:
        shown = ", ".join(repr(pattern[:_PATTERN_LENGTH]) for pattern in patterns[:_MOST_PATTERNS])
        named = f" (the regular expression {shown} may take very long)"
    if not is_embedded(spark):
        return f"{named}. They keep their cores until they are done; to be rid of them, end the session: spark.stop()"
    end_session(spark)
    return f"{named}. So the session was ended, with its Java process; the next run starts another"


def _switch() -> bool | None:
    """What the environment says."""
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

    # a notebook tells by the context which cell something belongs to
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
