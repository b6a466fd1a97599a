"""A plan's JSON out of the JVM, in pieces.

An answer of py4j that is longer than its buffer of 8 KB comes in several packets, and each waits some 40 ms for the
delayed acknowledgement of the one before. So the text stays in the JVM, where ``toJSON`` and the constructor of a
``StringBuilder`` are made one method handle, and comes over in parts that fit.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

__all__ = ["json_of"]

_PART: Final = 7000
_TREE: Final = "org.apache.spark.sql.catalyst.trees.TreeNode"


def json_of(tree: Any) -> str:
    """What ``toJSON`` gives for a tree of Catalyst."""
    from pyspark import SparkContext

    context: Any = SparkContext._active_spark_context
    arguments = context._jvm.java.util.ArrayList()
    arguments.add(tree)
    text = _to_builder(context._jvm).invokeWithArguments(arguments)
    length = text.length()
    return "".join([text.substring(start, min(start + _PART, length)) for start in range(0, length, _PART)])


@lru_cache(maxsize=1)
def _to_builder(jvm: Any) -> Any:
    """The method handle from a tree to a ``StringBuilder`` with its JSON."""
    find = jvm.java.lang.Class.forName
    text, builder = find("java.lang.String"), find("java.lang.StringBuilder")
    tree = jvm.org.apache.spark.util.Utils.classForName(_TREE, True, False)
    handles = jvm.java.lang.invoke.MethodHandles
    signature = jvm.java.lang.invoke.MethodType.methodType
    lookup = handles.publicLookup()
    to_json = lookup.findVirtual(tree, "toJSON", signature(text))
    construct = lookup.findConstructor(builder, signature(jvm.java.lang.Void.TYPE, text))
    return handles.filterReturnValue(to_json, construct)
