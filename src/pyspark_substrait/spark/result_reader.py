"""The result of a run as an Arrow reader, which holds a few batches of it and cancels the run when it is closed.

A thread of its own fetches the rows from the first read on, so that Spark works while the reader's user does, and so
that the Spark properties of the user's thread stay as they are.
"""

from __future__ import annotations

import contextvars
import io
import threading
from collections.abc import Callable, Iterator, Sequence
from queue import Empty, Full, Queue
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from pyspark_substrait.model.limits import RunLimits
from pyspark_substrait.spark.progress import after_those_left, running
from pyspark_substrait.spark.progress.interrupts import cancelling
from pyspark_substrait.spark.progress.jobs import jobs_of
from pyspark_substrait.spark.run_limits import bounded
from pyspark_substrait.spark.thread_properties import with_thread_properties

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["AHEAD", "Fetching", "ResultReader", "put"]

AHEAD: Final = 2
"""How many batches may wait for whoever reads them."""

_LOOK_SECONDS: Final = 0.1
#: how long closing waits for the end of the jobs
_PATIENCE_SECONDS: Final = 5.0


def put(queue: Queue[Any], item: object, given_up: Callable[[], bool]) -> bool:
    """Hand over an item as soon as there is room; False if it was given up meanwhile."""
    while not given_up():
        try:
            queue.put(item, timeout=_LOOK_SECONDS)
            return True
        except Full:
            continue
    return False


class ResultReader(pa.ipc.RecordBatchStreamReader):  # type: ignore[misc]
    """A reader of the rows of a run.

    The readers that pyarrow makes of an iterator don't tell it when they are closed. This one reads the batches as the
    messages of an Arrow stream.

    Args:
        schema: the schema.
        fetching: the run.
    """

    def __init__(self, schema: pa.Schema, fetching: Fetching) -> None:
        messages = _Messages(schema, fetching)
        super().__init__(messages)
        self._messages = messages
        self._fetching = fetching

    def close(self) -> None:
        """Cancel the jobs that still run, and wait for their end for some seconds. Later reads raise an error."""
        self._messages.close()
        self._fetching.wait()


class _Messages(io.RawIOBase):
    """The messages of an Arrow stream as a file, each of which is made when it is read."""

    def __init__(self, schema: pa.Schema, fetching: Fetching) -> None:
        self._fetching = fetching
        self._rest = memoryview(schema.serialize())

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> Any:
        """Return the next bytes: at most ``size``, and none at the end.

        Raises:
            ArrowInvalid: it is closed.
            SubstraitError: the run failed; so does each further read.
        """
        if self.closed:
            raise _closed()
        if not self._rest:
            batch = self._fetching.next()
            if batch is None:
                return b""
            self._rest = memoryview(batch.serialize())
        part = self._rest if size < 0 else self._rest[:size]
        self._rest = self._rest[len(part) :]
        return part

    def close(self) -> None:
        """Stop the run; also called when nothing refers to the file any more."""
        if not self.closed:
            self._fetching.stop(_closed())
        super().close()


def _closed() -> pa.ArrowInvalid:
    return pa.ArrowInvalid("the reader of the result is closed")


class Fetching:
    """A run whose batches a thread fetches.

    Args:
        spark: the session.
        batches: runs it, and yields its batches.
        limits: how long that may take, and how large the result may be.
        spent: the seconds of them that are over.
        progress: as for :func:`running`.
        patterns: returns the slow regular expressions of the run, to name them if cancelled tasks continue.
    """

    def __init__(
        self,
        spark: SparkSession,
        batches: Callable[[], Iterator[pa.RecordBatch]],
        limits: RunLimits,
        *,
        spent: float = 0.0,
        progress: bool | None = None,
        patterns: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self._spark = spark
        self._batches = batches
        self._limits = limits
        self._spent = spent
        self._progress = progress
        self._patterns = patterns
        self._jobs = jobs_of(spark)
        self._queue: Queue[pa.RecordBatch] = Queue(AHEAD)
        self._done = threading.Event()
        #: the error of the run
        self._failure: BaseException | None = None
        #: why nothing is read any more; each further read raises it
        self._reason: BaseException | None = None
        self._begun = False
        self._work = with_thread_properties(spark, self._run)

    def next(self) -> pa.RecordBatch | None:
        """Return the next batch; None at the end.

        Raises:
            RunLimitError: the run exceeded one of its limits, and was cancelled.
            ExecutionError: it failed.
            KeyboardInterrupt: the user interrupted it; its jobs were cancelled.
        """
        with cancelling(self._jobs, lambda tasks: after_those_left(self._spark, self._patterns())):
            try:
                self._begin()
                return self._next()
            except BaseException as error:
                self.stop(error)
                raise

    def stop(self, reason: BaseException) -> None:
        """Cancel the jobs that still run, without waiting for that; the first reason counts. Any thread may call it."""
        if self._reason is not None:
            return
        self._reason = reason
        if not self._begun:
            self._done.set()
        elif not self._done.is_set() or self._failure is not None:  # other partitions of a failed run may run
            self._jobs.end(self._done)

    def wait(self) -> None:
        """Wait for the end of a run that was stopped, for some seconds at most."""
        self._done.wait(_PATIENCE_SECONDS)

    def _begin(self) -> None:
        if not self._begun and self._reason is None:
            self._begun = True
            # the context determines the notebook cell that a display belongs to
            context = contextvars.copy_context()
            threading.Thread(target=context.run, args=(self._call,), name="substrait-fetch", daemon=True).start()

    def _next(self) -> pa.RecordBatch | None:
        while True:
            finished = self._done.is_set()  # before looking whether something is left
            if self._reason is not None:
                raise self._reason
            try:
                return self._queue.get(block=not finished, timeout=_LOOK_SECONDS)
            except Empty:
                if not finished:
                    continue
            if self._failure is not None:
                raise self._failure
            if self._reason is None:
                return None

    def _call(self) -> None:
        try:
            self._work()
        except BaseException as error:
            self._failure = error
        finally:
            self._done.set()

    def _run(self) -> None:
        with self._jobs.marked():
            bounded(self._spark, self._limits, self._fetch, self._patterns, spent=self._spent)

    def _fetch(self) -> None:
        rows = size = 0
        with running(self._spark, self._progress, patterns=self._patterns):
            for batch in self._batches():  # nothing else refers to it, so that an error ends it
                rows, size = rows + batch.num_rows, size + batch.nbytes
                self._limits.check_result(rows, size)
                if not put(self._queue, batch, lambda: self._reason is not None):
                    return
