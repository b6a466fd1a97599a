"""Say that Spark is at work: a moving display on a terminal, one line anywhere else. Both go to standard error."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.connect.shell.progress import StageInfo
    from rich.console import Console
    from rich.progress import Progress, TaskID

__all__ = ["progress", "waiting"]

_POLL_SECONDS = 0.1


@contextmanager
def waiting(what: str, console: Console | None = None) -> Iterator[None]:
    """Show that something of unknown length goes on, like the start of a session.

    Args:
        what: what goes on, like ``Starting Spark``.
        console: where to show it; standard error when None.
    """
    console = console or _standard_error()
    if not console.is_terminal:
        console.print(f"{what} …", highlight=False)
        yield
        return
    with console.status(f"{what} …"):
        yield


@contextmanager
def progress(spark: SparkSession, what: str = "Running on Spark", console: Console | None = None) -> Iterator[None]:
    """Show how far the jobs of a session are while the body runs.

    The tasks counted are those of the stages that run now: Spark plans later stages as it goes, so there is no total.

    Args:
        spark: a classic or a Connect session.
        what: the text beside the bar.
        console: where to show it; standard error when None.
    """
    console = console or _standard_error()
    if not console.is_terminal:
        console.print(f"{what} …", highlight=False)
        yield
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[tasks]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as display:
        bar = display.add_task(what, total=None, tasks="")
        if type(spark).__module__.startswith("pyspark.sql.connect"):
            with _reported(spark, display, bar):
                yield
        else:
            with _polled(spark, display, bar):
                yield


@contextmanager
def _polled(spark: SparkSession, display: Progress, bar: TaskID) -> Iterator[None]:
    """A classic session is asked."""
    done = threading.Event()

    def poll() -> None:
        try:
            tracker = spark.sparkContext.statusTracker()
            while not done.wait(_POLL_SECONDS):
                stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
                known = [stage for stage in stages if stage is not None]
                _show(display, bar, [(stage.numCompletedTasks, stage.numTasks) for stage in known])
        except Exception:  # a session that ends meanwhile must not be an error of the display
            return

    thread = threading.Thread(target=poll, name="substrait-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join(timeout=2)


@contextmanager
def _reported(spark: Any, display: Progress, bar: TaskID) -> Iterator[None]:
    """A Connect session tells."""

    def handler(
        stages: Iterable[StageInfo] | None, inflight_tasks: int, operation_id: str | None, done: bool, **_: object
    ) -> None:
        _show(display, bar, [(stage.num_completed_tasks, stage.num_tasks) for stage in stages or ()])

    spark.registerProgressHandler(handler)
    try:
        yield
    finally:
        spark.removeProgressHandler(handler)


def _show(display: Progress, bar: TaskID, stages: list[tuple[int, int]]) -> None:
    """Show the finished and all tasks of the stages, given in pairs."""
    done, total = sum(stage[0] for stage in stages), sum(stage[1] for stage in stages)
    if total:
        display.update(bar, completed=done, total=total, tasks=f"{done}/{total} tasks")


def _standard_error() -> Console:
    from rich.console import Console

    return Console(stderr=True)
