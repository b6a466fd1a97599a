"""What the producer asks the JVM: plans, and events of Spark's listeners, as JSON. ``jvm/PlanJson.java`` writes it."""

from __future__ import annotations

import json
from typing import Any

from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.spark.jvm import answering, unpacked
from pyspark_substrait.spark.session import spark_errors

__all__ = ["event_json", "query_json", "tree_json"]


def query_json(execution: Any, *, optimized: bool) -> Any:
    """The plan of a ``QueryExecution``, as :func:`tree_json` has it, and the schema of its result, in Spark's JSON."""
    return _read(_answers().query(execution, optimized))


def tree_json(tree: Any) -> Any:
    """A tree of Catalyst: a list of its nodes, depth first."""
    return _read(_answers().tree(tree))


def event_json(event: Any) -> Any:
    """An event of Spark's listeners as Spark logs it."""
    return _read(_answers().event(event))


def _read(answer: Any) -> Any:
    return json.loads(unpacked(answer))


def _answers() -> Any:
    from pyspark import SparkContext

    try:
        return answering(SparkContext._active_spark_context._jvm, "PlanJson")  # type: ignore[union-attr]
    except spark_errors() as error:
        raise SubstraitError(
            "plans can't be made of this Spark's: its classes aren't those of the releases that this package knows"
        ) from error
