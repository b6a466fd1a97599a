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


def make_view(spark: SparkSession, name: str, frame: DataFrame, *, replace: bool) -> None:
    """Make a temporary view of a DataFrame, which may be of another classic session.

    Args:
        spark: the session.
        name: its name, which is of one part.
        frame: what it shows.
        replace: whether it takes the place of a temporary view of that name.

    Raises:
        TableError: the session has one of that name, or there can't be one.
    """
    try:
        if is_connect(spark) or _java(spark).equals(_java(frame.sparkSession)):
            made = frame.createOrReplaceTempView if replace else frame.createTempView
            made(str(quoted(name)))
        else:
            _java(spark).sessionState().catalog().createTempView(name, view_of(frame), replace)
    except spark_errors() as error:
        raise TableError(f"there can be no view {name}: {first_line(error)}") from error


def _java(spark: SparkSession) -> Any:
    return cast("Any", spark)._jsparkSession


def remove_views(spark: SparkSession, names: Iterable[str]) -> None:
    """Remove temporary views, as far as they and the session are still there."""
    for name in names:
        with suppress(*spark_errors(), OSError, AttributeError):  # Java has ended, or the session was stopped
            spark.catalog.dropTempView(name)
