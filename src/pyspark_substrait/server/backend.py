"""The Spark behind a server: its session, the tables in it, and what becomes of requests when it goes away."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa

from pyspark_substrait.errors import LostSparkError, SubstraitError
from pyspark_substrait.server.refusals import Unavailable, Unimplemented
from pyspark_substrait.spark.catalog_listing import placed
from pyspark_substrait.spark.lost_connection import ask, has_lost_java, release_copy, reporting_loss
from pyspark_substrait.spark.session import is_connect, private_session, spark_errors
from pyspark_substrait.spark.session_start import end_lost_session
from pyspark_substrait.spark.tables import first_line
from pyspark_substrait.spark.views import remove_views

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pyspark_substrait.server.requests import Request, Rows
    from pyspark_substrait.spark.tables import Given

__all__ = ["Backend", "Furnished"]

_T = TypeVar("_T")
#: how many copies of the session, with other catalogs and schemas, are kept
_MOST_PLACES = 64


@dataclass(frozen=True, slots=True)
class Furnished:
    """A session with the tables of a server.

    Args:
        spark: the session.
        tables: its tables by name, for plans.
        views: the names under which SQL sees them.
        is_copy: whether the session is a copy of one that was given or started.
    """

    spark: SparkSession
    tables: Given
    views: tuple[str, ...]
    is_copy: bool


class Backend:
    """The session in which statements run; another one, when the first has gone and the server can start one.

    Args:
        spark: the session to begin with.
        furnish: makes the tables in a session, of which it is told whether it is a copy; returns them and the names of
            the views.
        start: starts another session; None if the server can't.
        lasting: whether the tables can be made in another session.
        copying: whether statements run in a copy of the session, where it can be copied.
    """

    #: after how many seconds without a request a Connect server is asked whether it still has the session
    idle_seconds = 60.0

    def __init__(
        self,
        spark: SparkSession,
        furnish: Callable[[SparkSession, bool], tuple[Given, tuple[str, ...]]],
        start: Callable[[], SparkSession] | None,
        *,
        lasting: bool,
        copying: bool,
    ) -> None:
        self._furnish = furnish
        self._copying = copying
        self._lock = threading.Lock()
        self._lost: SparkSession | None = None
        self._placing = threading.Lock()
        self._placed: OrderedDict[tuple[SparkSession, str, str], SparkSession] = OrderedDict()
        self._used = time.monotonic()
        self._now = self._furnished(spark)
        # a Connect server ends a copy that nobody uses
        ends = start is None and is_connect(spark) and self._now.is_copy
        again = (lambda: spark) if ends else start
        self._start = again if lasting else None

    def _furnished(self, spark: SparkSession) -> Furnished:
        with reporting_loss(spark):
            session = private_session(spark) if self._copying else spark
        is_copy = session is not spark
        try:
            return Furnished(session, *self._furnish(session, is_copy), is_copy)
        except BaseException:
            if is_copy:
                release_copy(session)
            raise

    @property
    def spark(self) -> SparkSession:
        """The session."""
        return self._now.spark

    @property
    def tables(self) -> Given:
        """The tables by name, for plans."""
        return self._now.tables

    def session_at(self, catalog: str, schema: str) -> SparkSession:
        """Return a copy of the session, with the same views, in which a catalog and a schema are the current ones.

        Raises:
            Unimplemented: it is a session of Spark Connect, where requests could not be cancelled in a copy.
            SubstraitError: there is no such catalog or schema.
        """
        now = self.spark
        if is_connect(now):
            raise Unimplemented("over Spark Connect, all clients share a session with its catalog and schema")
        with self._placing:
            key = now, catalog, schema
            if key not in self._placed:
                self._placed[key] = placed(now, catalog, schema)
                while len(self._placed) > _MOST_PLACES:
                    self._placed.popitem(last=False)
            self._placed.move_to_end(key)
            return self._placed[key]

    def ready(self) -> SparkSession:
        """Return the session for a new request, after another one was started where Spark has gone.

        Raises:
            Unavailable: Spark has gone, and the server can't start it, or it doesn't start.
        """
        if not self._is_lost():
            return self.spark
        with self._lock:  # requests that come together start one session
            if not self._is_lost():
                return self.spark
            if self._start is None:
                raise Unavailable(f"Spark is gone, and this server cannot start it again. {self._advice}")
            failures: tuple[type[Exception], ...] = (*spark_errors(), OSError)
            try:
                end_lost_session(self.spark)
                self._now = self._furnished(self._start())
            except SubstraitError as error:
                raise Unavailable(f"Spark is gone, and does not start again: {error}") from None
            except failures as error:
                raise Unavailable(f"Spark is gone, and does not start again: {first_line(error)}") from None
        return self.spark

    def _is_lost(self) -> bool:
        spark = self.spark
        if is_connect(spark) and self._start is not None and time.monotonic() - self._used > self.idle_seconds:
            try:  # the server may have ended a session that nobody used
                with reporting_loss(spark):
                    ask(spark)
            except LostSparkError:
                self._lost = spark
        self._used = time.monotonic()
        return self._lost is spark or has_lost_java(spark)

    @property
    def _advice(self) -> str:
        if self._start is None:
            return "Start the server again"
        return "The next request starts Spark, or connects to it, anew; whether a change was made is not known"

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Refuse the request in the body as unavailable when Spark goes away meanwhile.

        Raises:
            Unavailable: it does.
        """
        spark = self.spark
        try:
            with reporting_loss(spark):
                yield
        except LostSparkError as error:
            if self._start is not None:  # a session that was given may be reached again
                self._lost = spark
            raise Unavailable(f"{error.message}. {self._advice}") from None

    def watching(self, work: Callable[[Request], _T]) -> Callable[[Request], _T]:
        """Return some work that is :meth:`watched`."""

        def inner(request: Request) -> _T:
            with self.watched():
                return work(request)

        return inner

    def watching_rows(self, work: Callable[[Request], Rows]) -> Callable[[Request], Rows]:
        """Return some work that is :meth:`watched`, as are the rows that it gives."""

        def batches(rows: Rows) -> Iterator[pa.RecordBatch]:
            with self.watched():
                yield from rows.batches()

        def inner(request: Request) -> Rows:
            with self.watched():
                rows = work(request)
            return replace(rows, batches=lambda: batches(rows))

        return inner

    def close(self) -> None:
        """Remove the views, or a copy with them."""
        if is_connect(self.spark) and self._now.is_copy:
            release_copy(self.spark)
        else:
            remove_views(self.spark, self._now.views)
