"""The rows of a DataFrame as Arrow batches, as Spark makes them: the result is never held as a whole.

In a classic session each partition of the last stage is a job of its own. A few run ahead of the reader, and their
batches wait in Java until they are read, in the order of the partitions; a reader that waits makes Spark wait. A
Connect server sends batches, which gRPC holds back in the same way.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.spark.arrow_transfer import arrow_schema, classic_messages, connect_tables
from pyspark_substrait.spark.compatibility import with_classic_properties
from pyspark_substrait.spark.session import is_connect, spark_errors
from pyspark_substrait.spark.tables import first_line

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["batches", "cast_batches", "handed_schema"]

#: the most partitions that run ahead of the reader; Java holds their batches
_MOST_AHEAD: Final = 4
_LARGE: Final = "spark.sql.execution.arrow.useLargeVarTypes"


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
    for message in _messages(frame.sparkSession, classic._jdf.toArrowBatchRdd()):
        yield pa.ipc.read_record_batch(pa.py_buffer(message), schema)


def cast_batches(found: Iterator[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield batches with the types of a schema."""
    for batch in found:
        yield from pa.Table.from_batches([batch]).cast(schema).to_batches()


def _messages(spark: Any, rdd: Any) -> Iterator[bytes]:
    """Return the byte arrays of an RDD in Java, in the order of its partitions, of which some run ahead."""
    count = int(rdd.getNumPartitions())
    ahead = min(count - 1, int(spark.sparkContext.defaultParallelism), _MOST_AHEAD)
    if ahead < 1:
        yield from classic_messages(spark, rdd)
        return
    stopped = threading.Event()

    def run(number: int) -> Iterator[bytes]:
        """Run a partition, and return its byte arrays."""
        messages = classic_messages(spark, _partition(spark, rdd, number))
        return chain([] if stopped.is_set() else list(islice(messages, 1)), messages)

    numbers = iter(range(count))
    running: deque[Future[Iterator[bytes]]] = deque()
    pool = ThreadPoolExecutor(ahead, "substrait-partition")

    def start(most: int) -> None:
        for number in islice(numbers, most):
            running.append(pool.submit(with_classic_properties(spark, partial(run, number))))

    try:
        start(ahead)
        while running:
            messages = running.popleft().result()
            start(1)
            yield from messages
    finally:
        stopped.set()
        pool.shutdown(wait=False, cancel_futures=True)


def _partition(spark: Any, rdd: Any, number: int) -> Any:
    """Return an RDD in Java of one partition of another."""
    chosen = spark._jvm.java.util.ArrayList()
    chosen.add(number)
    # a set in Scala is a function that says what it contains
    contains = spark._jvm.PythonUtils.toSeq(chosen).toSet()
    return spark._jvm.org.apache.spark.rdd.PartitionPruningRDD.create(rdd, contains)
