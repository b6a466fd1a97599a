"""Tables as temporary views of a session, so that SQL can read them."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from pyspark_substrait.errors import TableError
from pyspark_substrait.spark.bound_statements import view_of
from pyspark_substrait.spark.session import is_connect, spark_errors
from pyspark_substrait.spark.tables import first_line, given_table
from pyspark_substrait.sql.compiler.names import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from pyspark_substrait.spark.tables import TableSource

__all__ = ["make_view", "remove_views", "table_frame"]


def table_frame(spark: SparkSession, name: str, source: TableSource) -> DataFrame:
    """Return a table that a caller gave as a DataFrame.

    Raises:
        TableError: it isn't a table, or Spark can't read it.
    """
    return given_table(name, source, spark).frame


def make_view(spark: SparkSession, name: str, frame: DataFrame) -> None:
    """Make a temporary view of a DataFrame, which may be of another classic session.

    A classic session, which is private here, gets it instead of one that it has under this name.

    Raises:
        TableError: the Connect session has one of that name, or there can't be one.
    """
    try:
        if is_connect(spark):
            frame.createTempView(str(quoted(name)))
            return
        ours, theirs = (session._jsparkSession for session in cast("tuple[Any, Any]", (spark, frame.sparkSession)))
        if ours.equals(theirs):
            frame.createOrReplaceTempView(str(quoted(name)))
        else:
            ours.sessionState().catalog().createTempView(name, view_of(frame), True)
    except spark_errors() as error:
        raise TableError(f"there can be no view {name}: {first_line(error)}") from error


def remove_views(spark: SparkSession, names: Iterable[str]) -> None:
    """Remove temporary views, as far as they and the session are still there."""
    for name in names:
        with suppress(*spark_errors(), OSError, AttributeError):  # Java has ended, or the session was stopped
            spark.catalog.dropTempView(name)
