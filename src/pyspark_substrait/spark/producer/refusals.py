"""Errors for queries that can't be translated, in the terms of SQL and DataFrames, with hints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pyspark_substrait.errors import SubstraitError, UnsupportedPlanError
from pyspark_substrait.spark.compatibility import session_version
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.sql.spark_version import SparkVersion

__all__ = ["EXPRESSIONS", "FUNCTIONS", "operator", "refused_expression", "refused_relation", "written"]

_NATIVE: Final = "Write it with Spark's own functions, or compute it before or after the plan runs"
_PYTHON: Final = "it is a Python function, which a plan cannot carry"
_SCALA: Final = "it is a function of compiled code, which a plan cannot carry"
_VARIANT: Final = "Substrait has no type for Spark's VARIANT"
_JSON_HINT: Final = "Keep the JSON as text: get_json_object and from_json are supported"
_PLACE: Final = "Substrait has no types for Spark's GEOMETRY and GEOGRAPHY"
_CANDIDATES: Final = "its result has a value only to state a type, and a plan cannot distinguish that from a null"

#: why expressions of Catalyst can't be translated, and what to do about it, by class
EXPRESSIONS: Final[Mapping[str, tuple[str, str]]] = {
    **dict.fromkeys(("PythonUDF", "PythonUDAF", "PythonUDTF", "PythonFuncExpression"), (_PYTHON, _NATIVE)),
    **dict.fromkeys(
        (
            "ScalaUDF",
            "ScalaUDAF",
            "ScalaAggregator",
            "SimpleTypedAggregateExpression",
            "ComplexTypedAggregateExpression",
            "HiveSimpleUDF",
            "HiveGenericUDF",
            "HiveUDAFFunction",
            "HiveGenericUDTF",
            "ApplyFunctionExpression",
            "V2Aggregator",
        ),
        (_SCALA, _NATIVE),
    ),
    "CallMethodViaReflection": (
        "it calls arbitrary Java methods, and a plan is data that must not run code",
        "Write it with Spark's own functions",
    ),
    **dict.fromkeys(
        (
            "ParseJson",
            "VariantGet",
            "VariantInsert",
            "VariantSet",
            "VariantDelete",
            "VariantStripNulls",
            "VariantArrayAppend",
            "IsVariantNull",
            "IsValidVariant",
            "SchemaOfVariant",
            "SchemaOfVariantAgg",
            "ToVariantObject",
            "VariantExplode",
        ),
        (_VARIANT, _JSON_HINT),
    ),
    **dict.fromkeys(
        ("ST_AsBinary", "ST_GeogFromWKB", "ST_GeomFromWKB", "ST_SetSrid", "ST_Srid"),
        (_PLACE, "Keep the shapes in WKB, as BINARY"),
    ),
    **dict.fromkeys(
        ("ApproxTopKAccumulate", "ApproxTopKCombine", "ApproxTopKEstimate"),
        (_CANDIDATES, "approx_top_k(value, k) is supported"),
    ),
    **dict.fromkeys(
        ("FromAvro", "AvroDataToCatalyst", "ToAvro", "CatalystDataToAvro", "SchemaOfAvro"),
        ("Avro is a separate module of Spark", "Read and write Avro in files"),
    ),
    **dict.fromkeys(
        ("FromProtobuf", "ProtobufDataToCatalyst", "ToProtobuf", "CatalystDataToProtobuf"),
        ("Protobuf is a separate module of Spark", "Decode the messages before or after the plan runs"),
    ),
    **dict.fromkeys(
        ("AssertTrue",),
        ("it is a value of no type", "Filter by a condition with raise_error('...'), or check beforehand"),
    ),
    **dict.fromkeys(
        ("Collations", "SQLKeywords"), ("it lists what Spark itself knows", "Write the needed values as VALUES")
    ),
    "Measure": ("it is a measure of a metric view", "Write the aggregate function itself"),
}


_NO_VALUE: Final = "it has no value: its type is Spark's void"
_VARIANTS: Final = ("variant_get", "variant_insert", "variant_set", "variant_array_append")

#: the functions of Spark that can't be translated with any arguments: by name, the reason
FUNCTIONS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("java_method", "reflect", "try_reflect"), EXPRESSIONS["CallMethodViaReflection"][0]),
    **dict.fromkeys(
        (
            *_VARIANTS,
            *(f"try_{name}" for name in _VARIANTS),
            "variant_delete",
            "variant_strip_nulls",
            "variant_explode",
            "variant_explode_outer",
            "parse_json",
            "try_parse_json",
            "is_variant_null",
            "is_valid_variant",
            "schema_of_variant",
            "schema_of_variant_agg",
            "to_variant_object",
        ),
        _VARIANT,
    ),
    **dict.fromkeys(("st_asbinary", "st_geogfromwkb", "st_geomfromwkb", "st_setsrid", "st_srid"), _PLACE),
    **dict.fromkeys(("approx_top_k_accumulate", "approx_top_k_combine", "approx_top_k_estimate"), _CANDIDATES),
    **dict.fromkeys(("from_avro", "to_avro", "schema_of_avro"), EXPRESSIONS["FromAvro"][0]),
    **dict.fromkeys(("from_protobuf", "to_protobuf"), EXPRESSIONS["FromProtobuf"][0]),
    "assert_true": _NO_VALUE,
    "measure": EXPRESSIONS["Measure"][0],
    **dict.fromkeys(("collations", "sql_keywords"), EXPRESSIONS["Collations"][0]),
    **dict.fromkeys(
        ("make_interval", "try_make_interval"),
        "its result has months, days and time in one, which Spark cannot compare",
    ),
    **dict.fromkeys(("timestamp_nanos", "unix_nanos"), "PySpark cannot read timestamps with nanoseconds"),
    "shuffle": "its result is random",
    "counter_diff": "it keeps a state over a window, which no window function does",
    "session_window": "it groups records by the gaps between them",
    "time_bucket": "it counts months and days in the zone of the session",
    "python_worker_logs": "it is about the session itself",
}

_FUNCTION_HINT: Final = "Use Spark's own functions and joins"
_STREAM: Final = "Make the plan of a batch query"

#: relations that can't be translated: by class, the user's name for it, the reason and what to do about it
_RELATIONS: Final[Mapping[str, tuple[str, str, str]]] = {
    **{
        name: (words, "runs a Python function, which a plan cannot carry", _FUNCTION_HINT)
        for name, words in {
            "MapInPandas": "mapInPandas",
            "PythonMapInArrow": "mapInArrow",
            "MapInArrow": "mapInArrow",
            "FlatMapGroupsInPandas": "groupBy(...).applyInPandas",
            "FlatMapGroupsInArrow": "groupBy(...).applyInArrow",
            "FlatMapCoGroupsInPandas": "cogroup(...).applyInPandas",
            "FlatMapCoGroupsInArrow": "cogroup(...).applyInArrow",
            "FlatMapGroupsInPandasWithState": "applyInPandasWithState",
            "TransformWithStateInPySpark": "transformWithState",
            "TransformWithStateInPandas": "transformWithStateInPandas",
            "AttachDistributedSequence": "the index of a pandas-on-Spark frame",
            "AggregateInPandas": "a pandas function over groups",
            "WindowInPandas": "a pandas function over a window",
            "ArrowWindowPython": "a Python function over a window",
            "ArrowAggregate": "a Python function over groups",
            "BatchEvalPython": "a Python function",
            "ArrowEvalPython": "a pandas or Arrow function",
            "BatchEvalPythonUDTF": "a Python table function",
            "ArrowEvalPythonUDTF": "a Python table function",
            "PythonDataSourceRelation": "a data source in Python",
        }.items()
    },
    "AttachDistributedSequence": (
        "the index of a pandas-on-Spark frame",
        "is made while the query runs",
        "Set pandas_on_spark's compute.default_index_type to distributed, or give the frame an index column",
    ),
    **{
        name: (words, "runs compiled code, which a plan cannot carry", _FUNCTION_HINT)
        for name, words in {
            "MapElements": "map",
            "MapPartitions": "mapPartitions",
            "MapPartitionsInR": "dapply",
            "FlatMapGroupsInR": "gapply",
            "FlatMapGroupsInRWithArrow": "gapply",
            "TypedFilter": "a filter by a function",
            "AppendColumns": "groupByKey",
            "AppendColumnsWithObject": "groupByKey",
            "MapGroups": "mapGroups",
            "CoGroup": "cogroup",
            "SerializeFromObject": "a Dataset of objects",
            "DeserializeToObject": "a Dataset of objects",
        }.items()
    },
    **{
        name: (words, "is for streams, and a plan is a query that ends", _STREAM)
        for name, words in {
            "StreamingRelation": "readStream",
            "StreamingRelationV2": "readStream",
            "StreamingDataSourceV2Relation": "readStream",
            "StreamingDataSourceV2ScanRelation": "readStream",
            "StreamingExecutionRelation": "readStream",
            "EventTimeWatermark": "withWatermark",
            "UpdateEventTimeWatermarkColumn": "withWatermark",
            "DeduplicateWithinWatermark": "dropDuplicatesWithinWatermark",
            "FlatMapGroupsWithState": "flatMapGroupsWithState",
            "TransformWithState": "transformWithState",
            "WriteToMicroBatchDataSource": "writeStream",
        }.items()
    },
    **{
        name: (words, "has its rows only in memory", "Write them to a table or a file and read that")
        for name, words in {
            "LogicalRDD": "a DataFrame of an RDD",
            "ExternalRDD": "a DataFrame of an RDD",
            "LogicalQueryStage": "a part of a query that has run",
        }.items()
    },
    "ScriptTransformation": (
        "TRANSFORM ... USING",
        "runs a program, which a plan cannot carry",
        _FUNCTION_HINT,
    ),
    "Sample": (
        "sample",
        "picks records by how Spark distributes them over partitions",
        "Filter by a condition on a key, like crc32(key) % 100 < 10, or sample before or after the plan runs",
    ),
    "CollectMetrics": ("observe", "reports figures in addition to the result", "Make the plan of the query without it"),
    "PythonWorkerLogs": ("python_worker_logs()", "is about the session itself", "Ask the session"),
    "UnresolvedRelation": ("a table", "is not known to the session", "Make a view of it"),
}


def refused_expression(node: Node, text: str) -> UnsupportedPlanError:
    """Return the error for an expression that can't be translated, with its SQL text."""
    reason = EXPRESSIONS.get(node.name)
    if reason is not None:
        return UnsupportedPlanError(f"`{text}` has no Substrait form: {reason[0]}", hint=reason[1])
    return UnsupportedPlanError(
        f"`{text}` has no Substrait form: there is no function for {node.name} of Spark {_version()}",
        hint="Express it by other functions",
    )


def refused_relation(node: Node) -> UnsupportedPlanError:
    """Return the error for a relation that can't be translated."""
    known = _RELATIONS.get(node.name)
    if known is not None:
        return UnsupportedPlanError(f"{known[0]} has no Substrait form: it {known[1]}", hint=known[2])
    words = operator(node.name)
    if words.isupper():
        return UnsupportedPlanError(
            f"{words} has no Substrait form: it is a statement about the session or its catalog, not a query",
            hint="Run it in Spark",
        )
    return UnsupportedPlanError(
        f"{words} has no Substrait form: there is no relation for {node.name} of Spark {_version()}",
        hint="Express the query by other operators",
    )


def _version() -> SparkVersion:
    from pyspark import SparkContext

    context: Any = SparkContext._active_spark_context
    return session_version(context)


def operator(name: str) -> str:
    """Return the user's name for a class of Catalyst's relations: a statement in capitals, an operator in lower case.

    >>> operator("ShowTablesCommand"), operator("RebalancePartitions")
    ('SHOW TABLES', 'rebalance partitions')
    """
    base = name.removesuffix("$")
    stem = base.removesuffix("Command")
    words = "".join(f" {letter}" if letter.isupper() else letter for letter in stem).split()
    text = " ".join(words)
    statement = base != stem or words[0] in _STATEMENTS
    return text.upper() if statement else text.lower()


_STATEMENTS: Final = frozenset({"Show", "Describe", "Set", "Reset", "Refresh", "Cache", "Uncache", "Analyze", "Add"})


def written(node: Node) -> str:
    """Return the SQL text of an expression; the name of its class if Spark fails to write it."""
    try:
        return node.sql
    except Exception as error:  # any error of the JVM: the caller reports another one
        if isinstance(error, SubstraitError):
            raise
        return node.name
