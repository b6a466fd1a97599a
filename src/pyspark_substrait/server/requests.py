"""Calls that let Spark work: how many there may be, watching their clients, cancelling their jobs, a line in the log.

Each runs in a thread of its own, whose jobs Spark can tell from others. pyarrow's thread waits for it, and asks now and
then whether the client is still there: that is not told by itself, and can be asked only while the call lasts.
"""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from queue import Empty, Queue
from typing import Any, Final, Generic, TypeVar

import pyarrow as pa

from pyspark_substrait.errors import RunLimitError
from pyspark_substrait.message_text import escaped
from pyspark_substrait.server.limits import ServerLimits
from pyspark_substrait.server.refusals import (
    Cancelled,
    Internal,
    TimedOut,
    TooLarge,
    Unavailable,
    refusal,
    verdict,
)
from pyspark_substrait.server.turns import Turns
from pyspark_substrait.spark.progress.jobs import Jobs
from pyspark_substrait.spark.result_reader import AHEAD, put

__all__ = ["LOGGER", "Request", "Requests", "Rows"]

LOGGER: Final = logging.getLogger("pyspark_substrait.server")

_T = TypeVar("_T")
_LOOK_SECONDS: Final = 0.1
_END: Final = object()


class Request:
    """One call.

    Args:
        number: its number, which errors and the log name.
        user: whose it is.
        method: the Flight method.
    """

    #: the Spark jobs that it starts, from its turn on
    jobs: Jobs

    def __init__(self, number: int, user: str, method: str) -> None:
        self.number = number
        self.user = user
        self.method = method
        #: what it is about, for the log: a kind, and the digest of a statement
        self.subject = ""
        self.rows = 0
        self.bytes = 0
        #: why it was stopped; None if it wasn't
        self.reason: Exception | None = None
        #: when it came, and from its turn on, when that was
        self.start = time.monotonic()
        self.done = threading.Event()

    @property
    def has_run(self) -> bool:
        """Whether it had its turn."""
        return hasattr(self, "jobs")

    @property
    def seconds(self) -> float:
        """The time since its turn."""
        return time.monotonic() - self.start if self.has_run else 0.0

    def stop(self, reason: Exception) -> None:
        """Stop it, and cancel its jobs; the first reason counts. May be called from any thread."""
        if self.reason is None and not self.done.is_set():
            self.reason = reason
            self.cancel()

    def cancel(self) -> None:
        """Cancel its jobs, without waiting for that."""
        self.jobs.end(self.done)


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a result.

    Args:
        schema: their schema.
        batches: runs the statement, and gives its batches.
        limited: whether the limits of results hold for it.
        changed: whether something was changed before there were rows.
    """

    schema: pa.Schema
    batches: Callable[[], Iterator[pa.RecordBatch]]
    _: KW_ONLY
    limited: bool = True
    changed: bool = False


class Requests:
    """All calls that let Spark work.

    Args:
        jobs: makes the jobs of a new call.
        limits: how many there may be, how long one may take, and how large its result may be.

    Attributes:
        turns: those that run and wait.
        observers: called with each call that is over, and its verdict.
        closed: why no more calls are taken; None if they are.
    """

    def __init__(self, jobs: Callable[[], Jobs], limits: ServerLimits) -> None:
        self._jobs = jobs
        self._limits = limits
        self.turns = Turns(limits)
        self.observers: list[Callable[[Request, str], None]] = []
        self.closed: Exception | None = None
        self._numbers = itertools.count(1)
        self._running: set[Request] = set()
        self._lock = threading.Lock()

    def perform(self, context: Any, user: str, method: str, work: Callable[[Request], _T]) -> _T:
        """Return the result of some work for a client, who may go away meanwhile.

        Raises:
            Exception: one of ``refusals``.
        """
        call = self._begun(context, user, method, work)
        try:
            result = call.result()
        except BaseException as error:
            self._log(call.request, error)
            raise
        self._log(call.request, None)
        return result

    def stream(
        self, context: Any, user: str, method: str, work: Callable[[Request], Rows]
    ) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        """Return the schema of a statement's rows, and the rows, which come while Spark makes them."""
        queue: Queue[Any] = Queue(AHEAD)

        def produce(request: Request) -> None:
            def given_up() -> bool:
                return request.reason is not None

            rows = work(request)
            put(queue, rows.schema, given_up)
            for batch in rows.batches():  # nothing else refers to it, so that an error ends it
                if rows.limited:
                    self._check_size(request, batch, rows)
                if not put(queue, batch, given_up):
                    return
                request.rows += batch.num_rows
                request.bytes += batch.nbytes

        stream = _Stream(self._begun(context, user, method, produce), queue, self._log)
        return next(stream), stream

    def stop_all(self, reason: Exception, seconds: float) -> None:
        """Take no more calls, wait for those that run, and stop those that run for longer."""
        with self._lock:
            self.closed = reason
        end = time.monotonic() + seconds
        for request in self._all():
            request.done.wait(max(0.0, end - time.monotonic()))
        for request in self._all():
            request.stop(reason)
        for request in self._all():
            request.done.wait(5)

    def _check_size(self, request: Request, batch: pa.RecordBatch, rows: Rows) -> None:
        """Cancel the jobs of a result that becomes larger than it may with a batch.

        Raises:
            TooLarge: it does.
        """
        try:
            self._limits.check_result(request.rows + batch.num_rows, request.bytes + batch.nbytes)
        except RunLimitError as error:
            request.cancel()
            raise TooLarge(
                f"{error.message}, the most that this server sends (--{error.limit.replace('_', '-')}, "
                f"{error.limit}={getattr(self._limits, error.limit)}); "
                + ("what the statement changes is changed" if rows.changed else "ask for less of it")
            ) from None

    def _all(self) -> list[Request]:
        with self._lock:
            return list(self._running)

    def _begun(self, context: Any, user: str, method: str, work: Callable[[Request], _T]) -> _Call[_T]:
        """Start a call when it is its turn."""
        request = Request(next(self._numbers), user, method)

        def look() -> None:
            if self.closed is not None:
                raise Unavailable(str(self.closed))
            if context.is_cancelled():
                raise Cancelled("the client went away")
            seconds = self._limits.seconds
            if seconds is not None and time.monotonic() - request.start > seconds:
                raise TimedOut(f"the request waited for its turn for more than {seconds:g} seconds")

        try:
            if self.closed is not None:
                raise Unavailable(str(self.closed))
            self.turns.enter(user, look)
            try:
                request.jobs = self._jobs()
                request.start = time.monotonic()
                call = _Call(request, context, self._limits.seconds, work, self._ended)
                with self._lock:
                    if self.closed is not None:
                        raise Unavailable(str(self.closed))
                    self._running.add(request)
                call.thread.start()
            except BaseException:
                self._ended(request)
                raise
        except BaseException as error:
            self._log(request, error)
            raise
        return call

    def _ended(self, request: Request) -> None:
        with self._lock:
            self._running.discard(request)
        self.turns.leave(request.user)

    def _log(self, request: Request, error: BaseException | None) -> None:
        """Write the line of a call that is over, and tell the observers."""
        outcome = verdict(error)
        LOGGER.info(
            "request=%d user=%s method=%s subject=%s verdict=%s rows=%d bytes=%d seconds=%.3f",
            request.number,
            escaped(request.user).replace(" ", "_"),
            request.method,
            request.subject or "-",
            outcome,
            request.rows,
            request.bytes,
            request.seconds,
        )
        for observe in self.observers:
            observe(request, outcome)


class _Call(Generic[_T]):
    """A call, and the thread that does its work."""

    def __init__(
        self,
        request: Request,
        context: Any,
        seconds: float | None,
        work: Callable[[Request], _T],
        ended: Callable[[Request], None],
    ) -> None:
        self.request = request
        self._context = context
        self._seconds = seconds
        self._work = work
        self._ended = ended
        self._results: list[_T] = []
        self._error: Exception | None = None
        self.thread = threading.Thread(target=self._run, name=f"substrait-request-{request.number}", daemon=True)

    def _run(self) -> None:
        try:
            with self.request.jobs.marked():
                self._results.append(self._work(self.request))
        except Exception as error:
            self._error = error
            self.request.cancel()  # other partitions of the result may run
        finally:
            self.request.done.set()
            self._ended(self.request)

    def look(self) -> None:
        """Stop the request if nobody waits for it any more, or it takes too long.

        Raises:
            Exception: why it was stopped.
        """
        request, seconds = self.request, self._seconds
        if request.reason is None:
            if self._context.is_cancelled():
                request.stop(Cancelled("the client went away"))
            elif seconds is not None and time.monotonic() - request.start > seconds:
                request.stop(TimedOut(f"the request took more than {seconds:g} seconds, and was cancelled"))
        if request.reason is not None:
            raise request.reason

    def result(self) -> _T:
        """Wait for the result.

        Raises:
            Exception: one of ``refusals``.
        """
        while not self.request.done.wait(_LOOK_SECONDS):
            self.look()
        if self.request.reason is not None:
            raise self.request.reason
        if self._error is not None:
            raise self._refusal(self._error)
        return self._results[0]

    def _refusal(self, error: Exception) -> Exception:
        known = refusal(error)
        if known is not None:
            return known
        LOGGER.error("request=%d failed", self.request.number, exc_info=error)
        return Internal(f"the server failed at this request; its log says why (request {self.request.number})")


class _Stream:
    """The schema and the batches of a result, from the thread that makes them to pyarrow's."""

    def __init__(
        self, call: _Call[None], queue: Queue[Any], log: Callable[[Request, BaseException | None], None]
    ) -> None:
        self._call = call
        self._queue = queue
        self._log = log
        self._over = False

    def __iter__(self) -> _Stream:
        return self

    def __next__(self) -> Any:
        if self._over:
            raise StopIteration
        try:
            item = self._next()
        except BaseException as error:
            self._end(error)
            raise
        if item is _END:
            self._end(None)
            raise StopIteration
        return item

    def _next(self) -> Any:
        while True:
            finished = self._call.request.done.is_set()  # before looking whether something is left
            try:
                item = self._queue.get(block=not finished, timeout=_LOOK_SECONDS)
            except Empty:
                if finished:
                    self._call.result()  # raises the error, if there was one
                    return _END
                self._call.look()
                continue
            self._call.look()
            return item

    def _end(self, error: BaseException | None) -> None:
        if not self._over:
            self._over = True
            self._call.request.stop(Cancelled("the client went away"))
            self._log(self._call.request, error)

    def __del__(self) -> None:
        """End a stream that pyarrow has left, because the client went away."""
        self._end(Cancelled("the client went away"))
