"""Long texts out of the JVM, in pieces: a plan as JSON.

An answer of py4j that is longer than its buffer of 8 KB comes in several packets, and each waits some 40 ms for the
delayed acknowledgement of the one before. So the text stays in the JVM, where the method that makes it and the
constructor of a ``StringBuilder`` are made one method handle, and comes over in parts that fit.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

__all__ = ["event_json", "json_of"]

_PART: Final = 7000
_TREE: Final = "org.apache.spark.sql.catalyst.trees.TreeNode"
_EVENT: Final = "org.apache.spark.scheduler.SparkListenerEvent"
_EVENTS: Final = "org.apache.spark.util.JsonProtocol"


def json_of(tree: Any) -> str:
    """What ``toJSON`` gives for a tree of Catalyst."""
    return _text(_of_trees, tree)


def event_json(event: Any) -> str:
    """An event of Spark's listeners as the JSON that Spark logs."""
    return _text(_of_events, event)


def _text(handle: Any, argument: Any) -> str:
    from pyspark import SparkContext

    context: Any = SparkContext._active_spark_context
    arguments = context._jvm.java.util.ArrayList()
    arguments.add(argument)
    text = handle(context._jvm).invokeWithArguments(arguments)
    length = text.length()
    return "".join([text.substring(start, min(start + _PART, length)) for start in range(0, length, _PART)])


@lru_cache(maxsize=1)
def _of_trees(jvm: Any) -> Any:
    """The method handle from a tree to a ``StringBuilder`` with its JSON."""
    tree = jvm.org.apache.spark.util.Utils.classForName(_TREE, True, False)
    signature = jvm.java.lang.invoke.MethodType.methodType(_class(jvm, "String"))
    return _to_builder(jvm, jvm.java.lang.invoke.MethodHandles.publicLookup().findVirtual(tree, "toJSON", signature))


@lru_cache(maxsize=1)
def _of_events(jvm: Any) -> Any:
    """The method handle from an event to a ``StringBuilder`` with its JSON."""
    find = jvm.org.apache.spark.util.Utils.classForName
    signature = jvm.java.lang.invoke.MethodType.methodType(_class(jvm, "String"), find(_EVENT, True, False))
    lookup = jvm.java.lang.invoke.MethodHandles.publicLookup()
    return _to_builder(jvm, lookup.findStatic(find(_EVENTS, True, False), "sparkEventToJsonString", signature))


def _to_builder(jvm: Any, to_text: Any) -> Any:
    handles = jvm.java.lang.invoke.MethodHandles
    signature = jvm.java.lang.invoke.MethodType.methodType(jvm.java.lang.Void.TYPE, _class(jvm, "String"))
    construct = handles.publicLookup().findConstructor(_class(jvm, "StringBuilder"), signature)
    return handles.filterReturnValue(to_text, construct)


def _class(jvm: Any, name: str) -> Any:
    return jvm.java.lang.Class.forName(f"java.lang.{name}")
