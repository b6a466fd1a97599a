"""The Spark behind a server: its session, the tables in it, and what becomes of requests when it goes away."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa

from pyspark_substrait.errors import LostSparkError, SubstraitError
from pyspark_substrait.server.refusals import Unavailable, Unimplemented
from pyspark_substrait.spark.catalog_listing import placed
from pyspark_substrait.spark.lost_connection import has_lost_java, reporting_loss
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
    """

    spark: SparkSession
    tables: Given
    views: tuple[str, ...]


class Backend:
    """The session in which statements run; another one, when the first has gone and the server can start one.

    Args:
        spark: the session to begin with; statements run in a copy of it, if it is a classic one.
        furnish: makes the tables in a session, and returns them and the names of the views.
        start: starts another session; None if the server can't.
    """

    def __init__(
        self,
        spark: SparkSession,
        furnish: Callable[[SparkSession], tuple[Given, tuple[str, ...]]],
        start: Callable[[], SparkSession] | None,
    ) -> None:
        self._furnish = furnish
        self._start = start
        self._lock = threading.Lock()
        self._lost: SparkSession | None = None
        self._placing = threading.Lock()
        self._placed: OrderedDict[tuple[SparkSession, str, str], SparkSession] = OrderedDict()
        self._now = self._furnished(spark)

    def _furnished(self, spark: SparkSession) -> Furnished:
        session = private_session(spark)
        return Furnished(session, *self._furnish(session))

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
            Unimplemented: it is a session of Spark Connect, which can't be copied.
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
        return self._lost is self.spark or has_lost_java(self.spark)

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
        """Remove the views."""
        remove_views(self.spark, self._now.views)
