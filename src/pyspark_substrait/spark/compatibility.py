"""The calls of pyspark that differ between its versions, from 3.5 up.

Everything else of this room is written for the newest pyspark. What text a Spark takes is no matter of this module, but
of ``sql``, which makes it for a version.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import logging
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from pyspark_substrait.errors import NewerSparkError, SubstraitError
from pyspark_substrait.spark.session_cache import session_cache
from pyspark_substrait.sql.spark_version import SparkVersion, version_of_session

if TYPE_CHECKING:
    from pyspark import SparkContext, StorageLevel
    from pyspark.sql import Column, DataFrame, SparkSession

_T = TypeVar("_T")

__all__ = [
    "HIDDEN",
    "active_session_kept",
    "analysed_part",
    "analysed_text",
    "can_start_spark",
    "checkpointed",
    "classic_frame",
    "connect_frame",
    "connect_server_port",
    "error_condition",
    "has_retry_policies",
    "is_command_result",
    "is_frame",
    "java_package",
    "metadata_column",
    "python_context",
    "require_distutils",
    "session_version",
    "silence_query_context",
    "table_description",
    "with_classic_properties",
    "written_rows",
]


def session_version(spark: SparkSession | SparkContext) -> SparkVersion:
    """Return the version of Spark that runs the session's queries; with Spark Connect, the server's.

    Raises:
        SubstraitError: it is older than all that are supported.
    """
    known = session_cache(spark, "version")
    if "version" not in known:
        known["version"] = version_of_session(spark.version)
    version: SparkVersion = known["version"]
    return version


def require_distutils() -> None:
    """Fail if the installed pyspark imports a module that Python no longer has: 3.5 does, for Arrow and Connect.

    Raises:
        SubstraitError: it is missing.
    """
    import pyspark

    if version_of_session(pyspark.__version__).major < 4 and importlib.util.find_spec("distutils") is None:
        raise SubstraitError(
            f"PySpark {pyspark.__version__} needs the module distutils, which Python has not had since 3.12",
            hint="The package setuptools has it: pip install setuptools",
        )


def can_start_spark() -> bool:
    """Whether pyspark is here as a whole; the package pyspark-client can only connect."""
    return importlib.util.find_spec("pyspark.java_gateway") is not None


def silence_query_context() -> None:
    """Keep pyspark from printing each error that it raises also as a line of JSON, as it does since 4.0."""
    if importlib.util.find_spec("pyspark.logger") is None:
        return
    from pyspark.logger import PySparkLogger

    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL)


def error_condition(error: Exception) -> str | None:
    """Return the name of the condition that Spark reports, like ``DIVIDE_BY_ZERO``; None if an error has none."""
    get = getattr(error, "getCondition", None) or getattr(error, "getErrorClass", None)
    found = None if get is None else get()
    return None if found is None else str(found)


# classic sessions -----------------------------------------------------------------------------------------------------


def classic_frame(java: Any, spark: SparkSession) -> DataFrame:
    """Return the DataFrame of one in Java. Since 4.0, the class of DataFrames has one for each kind of session."""
    if importlib.util.find_spec("pyspark.sql.classic") is None:
        from pyspark.sql import DataFrame as OnlyDataFrame

        made: DataFrame = OnlyDataFrame(java, spark)
        return made
    from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame

    return ClassicDataFrame(java, spark)


def java_package(spark: Any) -> Any:
    """Return the package of Java in which the classes of a classic session are."""
    sql = spark._jvm.org.apache.spark.sql
    return sql if session_version(spark).major < 4 else sql.classic


@contextmanager
def active_session_kept(spark: Any) -> Iterator[None]:
    """Leave what session is the active one in Java, for this thread, after the body, which may make another one active.

    Args:
        spark: any classic session of the process.
    """
    sessions = java_package(spark).SparkSession
    before = sessions.getActiveSession()
    try:
        yield
    finally:
        if before.isDefined():
            sessions.setActiveSession(before.get())
        else:
            sessions.clearActiveSession()


def metadata_column(frame: DataFrame) -> Column:
    """Return the column that has the file and the place of each record, also beside one of that name in the data."""
    name = "_metadata"
    if session_version(frame.sparkSession).major >= 4:
        return frame.metadataColumn(name)
    from pyspark.sql import Column, functions

    if hasattr(frame, "_jdf"):
        columns: Any = Column
        column: Column = columns(frame._jdf.metadataColumn(name))
        return column
    if name in map(str.lower, frame.columns):
        raise NewerSparkError(
            f"the file has a column {name}, which hides that of Spark here",
            feature=f"parts of files with a column {name}, with Spark Connect",
            since=SparkVersion(4, 0),
        )
    return functions.col(name)


def checkpointed(frame: DataFrame, level: StorageLevel) -> DataFrame:
    """Compute the records of a DataFrame, and keep them on a level; before 4.0, in memory and on disk."""
    given: Any = frame
    made: DataFrame = (
        given.localCheckpoint(eager=True, storageLevel=level)
        if session_version(frame.sparkSession) >= SparkVersion(4, 0)
        else given.localCheckpoint(eager=True)
    )
    return made


def with_classic_properties(spark: SparkSession, function: Callable[[], _T]) -> Callable[[], _T]:
    """Return a function so that, called in another thread, it has the properties of this one in a classic session."""
    from pyspark.util import inheritable_thread_target

    given: Any = inheritable_thread_target
    made: Callable[[], _T] = given(function) if session_version(spark).major < 4 else given(spark)(function)
    return made


# catalogs -------------------------------------------------------------------------------------------------------------


def table_description(spark: SparkSession, path: str) -> Mapping[str, Any] | None:
    """Return what Spark's own catalog says of a table or view, as ``DESCRIBE TABLE … AS JSON`` does since 4.0.

    Args:
        spark: a session; before 4.0, a classic one.
        path: the name, quoted.

    Returns:
        The description; None for a table of another catalog.

    Raises:
        PySparkException: there is none of the name, or Spark can't describe it.
    """
    if session_version(spark).major < 4:
        return _described(spark, path)
    try:
        found = spark.sql(f"DESCRIBE TABLE EXTENDED {path} AS JSON").collect()[0][0]
    except Exception as error:
        if error_condition(error) == "NOT_SUPPORTED_COMMAND_FOR_V2_TABLE":
            return None
        raise
    description: dict[str, Any] = json.loads(found)
    return _with_hidden(spark, description) if hasattr(spark, "_jsparkSession") else description


#: what Spark puts in the place of a property that may be a secret (``spark.redaction.regex``)
HIDDEN: Final = "*********(redacted)"


def _with_hidden(spark: Any, description: dict[str, Any]) -> Mapping[str, Any]:
    """Fill in, in a classic session, the properties that the description of a table hides."""
    kinds = [
        kind for kind in ("storage_properties", "table_properties") if HIDDEN in description.get(kind, {}).values()
    ]
    if not kinds or description.get("type") == "VIEW":
        return description
    state = spark._jsparkSession.sessionState()
    full = ".".join(f"`{name.replace('`', '``')}`" for name in (*description["namespace"], description["table_name"]))
    table = state.catalog().getTableMetadata(state.sqlParser().parseTableIdentifier(full))
    for kind in kinds:
        stored = _pairs(spark, (table.storage() if kind == "storage_properties" else table).properties())
        description[kind] = {key: stored.get(key, value) for key, value in description[kind].items()}
    return description


def _pairs(spark: Any, mapping: Any) -> dict[str, str]:
    """Convert a map of Scala."""
    return dict(spark._jvm.scala.collection.JavaConverters.mapAsJavaMapConverter(mapping).asJava())


def _described(spark: Any, path: str) -> Mapping[str, Any] | None:
    """Read it from the catalog of a classic session of Spark 3.5."""
    jvm, session = spark._jvm, spark._jsparkSession
    command = session.sql(f"DESCRIBE TABLE EXTENDED {path}").queryExecution().analyzed()
    if command.getClass().getSimpleName() != "DescribeTableCommand":
        return None
    name, catalog = command.table(), session.sessionState().catalog()
    if catalog.isTempView(name):
        fields = _columns(json.loads(session.table(path).schema().json()))["fields"]
        return {"type": "VIEW", "catalog_name": "system", "columns": fields}
    table = catalog.getTableMetadata(name)

    def listed(sequence: Any) -> list[str]:
        return [sequence.apply(number) for number in range(sequence.size())]

    def known(option: Any) -> Any:
        return option.get() if option.isDefined() else None

    buckets, place = known(table.bucketSpec()), known(table.storage().locationUri())
    uri = jvm.org.apache.spark.sql.catalyst.catalog.CatalogUtils.URIToString
    return {
        "type": table.tableType().name(),
        "catalog_name": known(table.identifier().catalog()),
        "namespace": [known(table.identifier().database())],
        "table_name": table.identifier().table(),
        "provider": known(table.provider()) or "",
        "location": "" if place is None else uri(place),
        "serde_library": known(table.storage().serde()) or "",
        "storage_properties": _pairs(spark, table.storage().properties()),
        "table_properties": {key: value for key, value in _pairs(spark, table.properties()).items() if value},
        "partition_provider": "Catalog" if table.tracksPartitionsInCatalog() else None,
        "partition_columns": listed(table.partitionColumnNames()),
        "num_buckets": 0 if buckets is None else buckets.numBuckets(),
        "bucket_columns": [] if buckets is None else listed(buckets.bucketColumnNames()),
        "sort_columns": [] if buckets is None else listed(buckets.sortColumnNames()),
        "comment": known(table.comment()),
        "columns": _columns(json.loads(table.schema().json()))["fields"],
    }


def _columns(type: Any) -> dict[str, Any]:
    """Convert a type in the JSON of schemas to that of descriptions, as far as names and nulls are concerned."""
    match type:
        case {"type": "struct", "fields": fields}:
            return {"fields": [{**field, "type": _columns(field["type"])} for field in fields]}
        case {"type": "array", "elementType": element}:
            return {"element_type": _columns(element)}
        case {"type": "map", "keyType": key, "valueType": value}:
            return {"key_type": _columns(key), "value_type": _columns(value)}
        case _:
            return {}


# Spark Connect --------------------------------------------------------------------------------------------------------


def has_retry_policies() -> bool:
    """Whether a Connect client's retries can be bounded: since 4.1, whose policies are told of the error."""
    if importlib.util.find_spec("pyspark.sql.connect.client.retries") is None:
        return False
    from pyspark.sql.connect.client import retries

    return hasattr(retries, "extract_retry_info")


def connect_server_port(spark: Any) -> int:
    """Return the port of the Spark Connect server that runs beside a classic session."""
    package = spark._jvm.org.apache.spark.sql.connect.service
    port: int = getattr(getattr(package, "SparkConnectService$"), "MODULE$").localPort()
    return port


def connect_frame(spark: Any, text: str, views: Mapping[str, DataFrame]) -> DataFrame:
    """Return the DataFrame of a statement in a Connect session, which isn't analysed yet.

    Args:
        spark: the session.
        text: the statement.
        views: the DataFrames that it reads, by the names it calls them, which are nobody else's.
    """
    from pyspark.sql.connect import plan as plans
    from pyspark.sql.connect.dataframe import DataFrame as ConnectDataFrame

    made: Any = ConnectDataFrame
    if session_version(spark).major >= 4:
        inputs = [plans.SubqueryAlias(cast(Any, frame)._plan, name) for name, frame in views.items()]
        found: DataFrame = made(plans.SQL(text, [], {}, inputs), spark)
        return found
    # before 4.0, a statement reads nothing but what the session has: its views are there as long as its plan is
    left = session_cache(spark, "left_views")
    with suppress(KeyError):  # none is left, or another thread has taken it
        while True:
            spark.catalog.dropTempView(left.popitem()[0])
    for name, frame in views.items():
        frame.createOrReplaceTempView(name)
    plan = plans.SQL(text)
    weakref.finalize(plan, left.update, dict.fromkeys(views))
    older: DataFrame = made.withPlan(plan, spark)
    return older


# statements -----------------------------------------------------------------------------------------------------------


def is_command_result(frame: Any) -> bool:
    """Whether a DataFrame of ``SparkSession.sql`` is that of a command, which has been executed, and not of a query."""
    if hasattr(frame, "_jdf"):
        executed = frame._jdf.queryExecution().commandExecuted()
        return bool(executed.getClass().getSimpleName() == "CommandResult")
    plan = frame._plan.to_proto(frame._session.client)
    return bool(plan.root.WhichOneof("rel_type") != "sql")


def analysed_text(frame: Any) -> str:
    """Return the analysed plan of a DataFrame as Spark prints it."""
    if hasattr(frame, "_jdf"):
        return str(frame._jdf.queryExecution().analyzed().toString())
    return analysed_part(str(frame._explain_string(extended=True)))


def analysed_part(shown: str) -> str:
    """Return the analysed plan of what ``EXPLAIN EXTENDED`` shows."""
    return shown.partition("== Analyzed Logical Plan ==")[2].partition("== Optimized Logical Plan ==")[0]


def python_context(origin: Any) -> tuple[str, str] | None:
    """Return the call of pyspark that made an expression, and its line in the program, of the expression's origin."""
    from py4j.protocol import Py4JError

    try:
        context = origin.pysparkErrorContext()
    except Py4JError:  # since 4.0
        return None
    return (str(context.get()._1()), str(context.get()._2())) if context.isDefined() else None


def written_rows(frame: Any) -> int | None:
    """Return how many rows the command of a DataFrame wrote to files; None if that isn't known."""
    if not hasattr(frame, "_jdf"):
        return None
    plan = frame._jdf.queryExecution().commandExecuted().commandPhysicalPlan()
    metric = plan.metrics().get("numOutputRows")
    return int(metric.get().value()) if metric.isDefined() else None


def is_frame(value: object) -> bool:
    """Whether a value is a DataFrame of Spark, of whichever kind of session."""
    return hasattr(value, "toArrow") or hasattr(value, "sparkSession")
