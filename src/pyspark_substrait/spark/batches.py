"""The rows of a DataFrame as Arrow batches, as Spark makes them: the result is never held as a whole.

In a classic session the last stage of a query runs a partition at a time, one ahead of the reader, and its batches
come through a socket; a reader that waits makes Spark wait. A Connect server sends batches, which gRPC holds back in
the same way.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.spark.compatibility import arrow_schema, classic_messages, connect_tables
from pyspark_substrait.spark.session import is_connect, spark_errors
from pyspark_substrait.spark.tables import first_line

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["batches", "handed_schema"]

_LARGE = "spark.sql.execution.arrow.useLargeVarTypes"


def handed_schema(frame: DataFrame) -> pa.Schema:
    """Return the Arrow schema in which Spark hands over the rows of a DataFrame.

    Raises:
        UnsupportedPlanError: a column has a type that has no form in Arrow; the message names both.
    """
    large = not is_connect(frame.sparkSession) and frame.sparkSession.conf.get(_LARGE, "false") == "true"
    try:
        return arrow_schema(frame.schema, large=large)
    except spark_errors() as error:
        for field in frame.schema.fields:
            try:
                arrow_schema(type(frame.schema)([field]), large=large)
            except spark_errors():
                raise UnsupportedPlanError(
                    f"the column {field.name} is of type {field.dataType.simpleString()}, which has no form in Arrow",
                    hint="Cast it to another type, such as string",
                ) from None
        raise UnsupportedPlanError(f"the result has no form in Arrow: {first_line(error)}") from error


def batches(frame: DataFrame) -> Iterator[pa.RecordBatch]:
    """Run a DataFrame, and yield its rows in batches; those of a column are in the type that Spark hands over.

    Raises:
        Exception: one of :func:`spark_errors`.
    """
    if is_connect(frame.sparkSession):
        for table in connect_tables(frame):
            yield from table.to_batches()
        return
    schema = handed_schema(frame)
    classic: Any = frame
    for message in classic_messages(frame.sparkSession, classic._jdf.toArrowBatchRdd()):
        yield pa.ipc.read_record_batch(pa.py_buffer(message), schema)
