"""Read plans, and events of Spark's listeners, from the JVM as JSON, which ``jvm/PlanJson.java`` writes."""

from __future__ import annotations

import json
from typing import Any

from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.spark.jvm import compiled_object, unpacked
from pyspark_substrait.spark.session import spark_errors

__all__ = ["event_json", "query_json", "tree_json"]


def query_json(execution: Any, *, optimized: bool) -> Any:
    """Return the plan of a ``QueryExecution``, like :func:`tree_json`, and the schema of its result in Spark's JSON."""
    return _read(_answers().query(execution, optimized))


def tree_json(tree: Any) -> Any:
    """Return a tree of Catalyst as a list of its nodes, depth first."""
    return _read(_answers().tree(tree))


def event_json(event: Any) -> Any:
    """Return an event of Spark's listeners in the form of Spark's event log."""
    return _read(_answers().event(event))


def _read(answer: Any) -> Any:
    return json.loads(unpacked(answer))


def _answers() -> Any:
    from pyspark import SparkContext

    try:
        return compiled_object(SparkContext._active_spark_context, "PlanJson")
    except spark_errors() as error:
        raise SubstraitError(
            "plans cannot be made with this Spark: its classes differ from those of the supported releases"
        ) from error
