"""Queries as DataFrames, over tables of the caller's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.spark.session import embedded_session, is_connect, spark_errors
from pyspark_substrait.spark.tables import Given, first_line, given_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["query"]


@contextmanager
def query(text: str, spark: SparkSession | None, tables: Given | None) -> Iterator[tuple[DataFrame, tuple[str, ...]]]:
    """The DataFrame of a query, and the names of the given tables, which are views as long as it is looked at.

    They are views of a session of their own, which sees everything that the given one does.

    Raises:
        InvalidPlanError: Spark doesn't take the query.
        TableError: what is given for a table isn't one.
    """
    session = spark or embedded_session()
    if is_connect(session):
        raise UnsupportedPlanError("plans are made in classic sessions only", hint="Give a classic session")
    own = _clone(session) if tables else session
    names = []
    for name, source in (tables or {}).items():
        whole = name if isinstance(name, str) else ".".join(name)
        given_table(whole, source, own).frame.createOrReplaceTempView(f"`{whole}`")
        names.append(whole)
    try:
        frame = own.sql(text)
    except spark_errors() as error:
        raise InvalidPlanError(f"Spark doesn't take the query: {first_line(error)}") from error
    yield frame, tuple(names)


def _clone(session: SparkSession) -> SparkSession:
    """A session with the views, functions and settings of another one, and its own from then on."""
    from pyspark.sql import SparkSession

    state: Any = session
    return SparkSession(state.sparkContext, state._jsparkSession.cloneSession())
