"""Long answers out of the JVM in one call: plans, and events of Spark's listeners, as JSON.

``Answers.java`` makes them. Spark brings the compiler of Java that its own generated code goes through (Janino); it
makes a class of that source in the JVM, once. An answer of py4j that is longer than its buffer of 8 KB comes in several
packets, and each waits some 40 ms for the delayed acknowledgement of the one before: so the text is compressed there,
and what is still longer is fetched in parts that fit.
"""

from __future__ import annotations

import json
import zlib
from functools import lru_cache
from importlib.resources import files
from typing import Any

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
    packed = answer if isinstance(answer, bytes) else b"".join(answer.get(number) for number in range(answer.size()))
    return json.loads(zlib.decompress(packed))


def _answers() -> Any:
    from pyspark import SparkContext

    return _compiled(SparkContext._active_spark_context._jvm)  # type: ignore[union-attr]


@lru_cache(maxsize=1)
def _compiled(jvm: Any) -> Any:
    """The object in the JVM that answers."""
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader())
    compiler.cook((files(__package__) / "Answers.java").read_text(encoding="utf-8"))
    return compiler.getClassLoader().loadClass("Answers").newInstance()
