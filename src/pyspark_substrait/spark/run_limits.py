"""End a run that exceeds its limits: it takes too long, scans too much, or has too large a result."""

from __future__ import annotations

import contextvars
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

import pyarrow as pa

from pyspark_substrait.errors import RunLimitError, UnsupportedPlanError
from pyspark_substrait.model.limits import RunLimits
from pyspark_substrait.spark.arrow_transfer import collected
from pyspark_substrait.spark.batches import batches, handed_schema
from pyspark_substrait.spark.progress import after_those_left
from pyspark_substrait.spark.progress.interrupts import CANCELLED, stopped, within
from pyspark_substrait.spark.progress.jobs import Jobs, jobs_of
from pyspark_substrait.spark.session import is_connect
from pyspark_substrait.spark.thread_properties import with_thread_properties

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["bounded", "check_scan", "fetched", "rows_to_compute"]

_LOOK_SECONDS: Final = 0.1
_PATIENCE_SECONDS: Final = 30.0
"""How long a cancelled run may take to end. Spark may be slow, and ending its session is the last resort."""

#: relations that read from something outside of Spark's memory
_FILES: Final = "org.apache.spark.sql.execution.datasources.HadoopFsRelation"
_SOURCES: Final = ("LogicalRelation", "DataSourceV2ScanRelation", "DataSourceV2Relation", "HiveTableRelation")
_UNKNOWN: Final = 2**62
"""A size from which on Spark doesn't know it."""

_T = TypeVar("_T")


def check_scan(frame: DataFrame, limits: RunLimits, more: int = 0) -> None:
    """Refuse a DataFrame that scans larger files than the limits allow, before it runs.

    A file counts whole, and each time that a relation scans it. Data that the caller gave counts nothing.

    Args:
        frame: the DataFrame, analysed.
        limits: the limits.
        more: the bytes of files that were read already.

    Raises:
        RunLimitError: the files are larger, or Spark doesn't know the size of a source.
        UnsupportedPlanError: a Spark Connect session doesn't tell what it scans.
    """
    if limits.scan_bytes is None:
        return
    if is_connect(frame.sparkSession):
        raise UnsupportedPlanError(
            "Spark Connect does not tell how large the files are that a plan scans",
            hint="The limit scan_bytes needs a classic session",
        )
    classic: Any = frame
    optimized = classic._jdf.queryExecution().optimizedPlan()
    queries = optimized.subqueriesAll()
    size = more
    for plan in (optimized, *(queries.apply(number) for number in range(queries.size()))):
        leaves = plan.collectLeaves()
        for number in range(leaves.size()):
            size += _scanned(leaves.apply(number))
    limits.check_scan(size)


def _scanned(leaf: Any) -> int:
    """The bytes that a relation without inputs scans.

    Raises:
        RunLimitError: Spark doesn't know it.
    """
    kind = leaf.getClass().getSimpleName()
    if kind not in _SOURCES:
        return 0
    if kind == "LogicalRelation" and leaf.relation().getClass().getName() == _FILES:
        return int(leaf.relation().location().sizeInBytes())
    size = int(leaf.stats().sizeInBytes().toString())
    if size >= _UNKNOWN:
        raise RunLimitError(
            "Spark does not know the size of a source that the plan reads",
            limit="scan_bytes",
            hint="Only files have a size; run it without the limit scan_bytes",
        )
    return size


def rows_to_compute(limit: int | None, limits: RunLimits) -> int | None:
    """Return the most rows that Spark computes for the first ``limit``: one more than a result may have; None: all."""
    most = limits.result_rows
    return most + 1 if most is not None and (limit is None or limit > most) else limit


def fetched(frame: DataFrame, limit: int | None, limits: RunLimits) -> pa.Table:
    """Return the rows of a DataFrame, or the first ``limit``, in the types that Spark hands over.

    Raises:
        RunLimitError: they are more than the limits allow. Jobs may still run then.
        Exception: one of ``spark_errors()``.
    """
    limit = rows_to_compute(limit, limits)
    frame = frame if limit is None else frame.limit(limit)
    if limits.result_bytes is None:
        table = collected(frame)
        limits.check_result(table.num_rows, 0)
        return table
    found: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches(frame):
        rows, size = rows + batch.num_rows, size + batch.nbytes
        limits.check_result(rows, size)
        found.append(batch)
    return pa.Table.from_batches(found, found[0].schema if found else handed_schema(frame))


def bounded(
    spark: SparkSession,
    limits: RunLimits,
    function: Callable[[], _T],
    patterns: Callable[[], Sequence[str]] = tuple,
    *,
    spent: float = 0.0,
) -> _T:
    """Return what a function returns that runs on Spark, and end it when it exceeds the limits.

    The function is called in another thread, with the context variables and Spark properties of this one.

    Args:
        spark: a classic or a Connect session.
        limits: the limits.
        function: the function.
        patterns: returns the slow regular expressions of the run, to name them if tasks continue.
        spent: the seconds that the run has taken before.

    Raises:
        RunLimitError: it exceeded a limit. Its jobs were cancelled; the message says if tasks continue.
    """
    if limits.seconds is None and limits.result_bytes is None:  # the others are kept before jobs begin
        return function()
    run: _Run[_T] = _Run(jobs_of(spark), limits, spent)
    context = contextvars.copy_context()
    work = with_thread_properties(spark, lambda: run.call(function))
    threading.Thread(target=context.run, args=(work,), name="substrait-run", daemon=True).start()
    try:
        run.wait()
    except RunLimitError as error:
        raise run.ended(error, lambda tasks: after_those_left(spark, patterns())) from None
    return run.result()


@contextmanager
def _quiet_bridge() -> Iterator[None]:
    """Keep py4j from reporting, by its logger or the root one, that a call has lost its Java process."""
    logger, root = logging.getLogger("py4j"), logging.getLogger()
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    root.addFilter(_is_not_of_py4j)
    try:
        yield
    finally:
        root.removeFilter(_is_not_of_py4j)
        logger.setLevel(level)


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    """Return whether a record of the root logger isn't py4j's."""
    return record.module != "java_gateway"


class _Run(Generic[_T]):
    """A function in a thread of its own, and the jobs that it starts."""

    def __init__(self, jobs: Jobs, limits: RunLimits, spent: float) -> None:
        self._jobs = jobs
        self._limits = limits
        self._spent = spent
        self._done = threading.Event()
        self._results: list[_T] = []
        self._failure: BaseException | None = None

    def call(self, function: Callable[[], _T]) -> None:
        """Call the function, in its thread."""
        try:
            with self._jobs.marked():
                self._results.append(function())
        except BaseException as error:
            self._failure = error
        finally:
            self._done.set()

    def wait(self) -> None:
        """Wait until the function has returned.

        Raises:
            RunLimitError: a limit is exceeded.
        """
        seconds, start = self._limits.seconds, time.monotonic() - self._spent
        while not self._done.wait(_LOOK_SECONDS):
            if seconds is not None and time.monotonic() - start > seconds:
                raise RunLimitError(f"the run takes more than {seconds:g} seconds", limit="seconds")
        if isinstance(self._failure, RunLimitError):
            raise self._failure

    def ended(self, error: RunLimitError, left: Callable[[int], str]) -> RunLimitError:
        """Cancel the jobs, again and again until the function has returned, and return the error with what is left."""
        end = time.monotonic() + _PATIENCE_SECONDS
        while True:
            within(self._jobs.answers_within, self._jobs.cancel)
            if self._done.wait(_LOOK_SECONDS) or time.monotonic() > end:
                break
        if self._done.is_set():
            text = stopped(self._jobs, left)
            if text == CANCELLED:
                return error
            rest = text.removeprefix("stopped: ")
        else:
            with _quiet_bridge():
                rest = f"Spark does not end it{left(1)}"
                self._done.wait(_PATIENCE_SECONDS)
        return RunLimitError(f"{error.message}; {rest}", limit=error.limit)

    def result(self) -> _T:
        """Return what the function returned, or raise what it raised."""
        if self._failure is not None:
            raise self._failure
        return self._results[0]
