"""Rows of DataFrames as Arrow data, and Arrow data as DataFrames, by what each version of pyspark has for it."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, cast

from pyspark_substrait.spark.compatibility import active_session_kept, classic_frame, require_distutils, session_version
from pyspark_substrait.spark.session import is_copy

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

__all__ = [
    "arrow_schema",
    "classic_messages",
    "collected",
    "connect_tables",
    "frame_of_arrow",
    "spark_schema",
]


def spark_schema(schema: pa.Schema) -> StructType:
    """Return the types of Arrow columns in Spark. A timestamp without a zone stays one, whatever the session prefers.

    Raises:
        PySparkTypeError: Spark has no such type.
        SubstraitError: pyspark lacks a module for it.
    """
    require_distutils()
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema, prefer_timestamp_ntz=True)


def collected(frame: DataFrame) -> pa.Table:
    """Return the rows of a DataFrame as an Arrow table."""
    if hasattr(frame, "toArrow"):
        return frame.toArrow()
    older: Any = frame
    if not hasattr(older, "_jdf"):
        table, _ = older._session.client.to_table(older._plan.to_proto(older._session.client))
        return table
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema

    require_distutils()
    batches = older._collect_as_arrow()
    return (
        pa.Table.from_batches(batches, to_arrow_schema(frame.schema)) if not batches else pa.Table.from_batches(batches)
    )


def arrow_schema(schema: StructType, *, large: bool) -> pa.Schema:
    """Return the Arrow schema in which Spark hands over rows.

    Args:
        schema: their schema in Spark.
        large: whether texts and binary values have 64-bit offsets (``spark.sql.execution.arrow.useLargeVarTypes``).

    Raises:
        PySparkTypeError: a type has no form in Arrow.
    """
    from inspect import signature

    from pyspark.sql.pandas.types import to_arrow_schema

    require_distutils()
    known = signature(to_arrow_schema).parameters
    wanted = {"timezone": "UTC", "prefers_large_types": large}
    made: Any = to_arrow_schema
    converted: pa.Schema = made(schema, **{name: value for name, value in wanted.items() if name in known})
    return converted


def classic_messages(spark: Any, messages: Any) -> Iterator[bytes]:
    """Return the byte arrays of an RDD in Java, one partition after the other; the next one is computed meanwhile."""
    from pyspark.serializers import FramedSerializer

    home = "pyspark.rdd" if session_version(spark).major < 4 else "pyspark.util"
    of_socket: Any = vars(importlib.import_module(home))["_local_iterator_from_socket"]

    class Bytes(FramedSerializer):
        def loads(self, obj: bytes) -> bytes:
            return obj

    from py4j.protocol import Py4JJavaError

    try:
        yield from of_socket(spark._jvm.PythonRDD.toLocalIteratorAndServe(messages, True), Bytes())
    except Py4JJavaError as error:
        raise _known_cause(error) from None


def _known_cause(error: Any) -> Exception:
    """Return the error of a job, as pyspark itself raises it, that is the cause of one about waiting for the job."""
    from pyspark.errors.exceptions import captured

    java, converted = error.java_exception, cast(Any, captured.convert_exception)
    while java is not None:
        found: Exception = converted(java)
        if not isinstance(found, captured.UnknownException):
            return found
        java = java.getCause()
    given: Exception = error
    return given


def connect_tables(frame: Any) -> Iterator[pa.Table]:
    """Return the rows of a Connect session's DataFrame as tables, as they come from the server."""
    import pyarrow as pa

    client, plan = frame._session.client, frame._plan
    observed = () if session_version(frame._session).major < 4 else (plan.observations,)
    for part in client.to_table_as_iterator(plan.to_proto(client), *observed):
        if isinstance(part, pa.Table):
            yield part


def frame_of_arrow(spark: SparkSession, table: pa.Table, schema: StructType | None = None) -> DataFrame:
    """Return a DataFrame of an Arrow table. A copy of the user's session does not become the active one.

    Args:
        spark: a classic or a Connect session.
        table: the data.
        schema: the types that it has in Spark; by default as Spark converts them.
    """
    if session_version(spark).major >= 4:
        with _no_copy_active(spark) if is_copy(spark) else nullcontext():
            return spark.createDataFrame(table) if schema is None else spark.createDataFrame(table, schema)
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

    require_distutils()
    known = from_arrow_schema(table.schema) if schema is None else schema
    table = table.cast(to_arrow_schema(known))
    return _of_stream(spark, table, known) if hasattr(spark, "_jsparkSession") else _of_relation(spark, table, known)


_MAKING_ACTIVE: Final = Lock()


@contextmanager
def _no_copy_active(copy: SparkSession) -> Iterator[None]:
    """Leave the active session of the process; pyspark makes that of ``createDataFrame`` the active one."""
    python: Any = type(copy)
    with _MAKING_ACTIVE, active_session_kept(copy):
        before = python._activeSession
        try:
            yield
        finally:
            python._activeSession = before


def _of_stream(spark: Any, table: pa.Table, schema: StructType) -> DataFrame:
    """Return it in a classic session of Spark 3.5, in the way in which pyspark makes one of a pandas DataFrame."""
    from pyspark.sql.pandas.serializers import ArrowStreamSerializer

    size = int(spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch"))
    java = spark._sc._serialize_to_jvm(
        table.to_batches(max_chunksize=size if size > 0 else None),
        ArrowStreamSerializer(),
        spark._jvm.PythonSQLUtils.readArrowStreamFromFile,
        spark._jvm.ArrowIteratorServer,
    )
    made = spark._jvm.PythonSQLUtils.toDataFrame(java, schema.json(), spark._jsparkSession)
    return classic_frame(made, spark)


def _of_relation(spark: Any, table: pa.Table, schema: StructType) -> DataFrame:
    """Return it in a Connect session of Spark 3.5, in the way in which pyspark makes one of a pandas DataFrame."""
    from pyspark.sql.connect import plan as plans
    from pyspark.sql.connect.dataframe import DataFrame as ConnectDataFrame

    maker: Any = ConnectDataFrame
    relations: Any = plans  # newer versions have others
    # of data without records, the server reads no schema
    plan = relations.LocalRelation(table if table.num_rows else None, schema=schema.json())
    [limit] = spark.client.get_configs("spark.sql.session.localRelationCacheThreshold")
    if limit is not None and int(limit) <= table.nbytes:  # too long for a message
        plan = relations.CachedLocalRelation(spark._cache_local_relation(plan))
    made: DataFrame = maker.withPlan(plan, spark)
    return made
