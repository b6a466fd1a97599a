"""Java classes that answer in one call what would take many calls to the JVM.

Each call of py4j takes a tenth of a millisecond, and a plan would need hundreds. Spark includes the Java compiler for
its own generated code (Janino), which compiles the sources of this folder in the driver, once. The classes only read
the state of Spark and serialise it, or resolve the paths of files (``GuardedScans``). There is no jar, and nothing of
this runs on executors.

A line that ends in ``// since 4.0`` or ``// before 4.0`` is only for Spark of these versions, whose classes differ.

py4j sends answers of more than 8 KB in several packets, each of which waits some 40 ms for the delayed acknowledgement
of the one before. So long texts are compressed, and if still too long, returned in parts that fit (``Packed``).
"""

from __future__ import annotations

import re
import zlib
from functools import lru_cache
from importlib.resources import files
from typing import Any

from pyspark_substrait.spark.compatibility import session_version
from pyspark_substrait.sql.spark_version import SparkVersion, parsed_version

__all__ = ["compiled_object", "source", "unpacked"]


def compiled_object(spark: Any, name: str) -> Any:
    """Return an object of a compiled class, by name: ``PlanJson``, ``TableFacts``, ``GuardedScans``.

    Args:
        spark: a classic session, or its context.
        name: the class.

    Raises:
        Py4JError: the source doesn't fit the classes of this version of Spark.
    """
    return _object(spark._jvm, name, session_version(spark))


@lru_cache(maxsize=8)
def _object(jvm: Any, name: str, version: SparkVersion) -> Any:
    packed = _compiled(jvm, "Packed", version, jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader())
    return _compiled(jvm, name, version, packed).loadClass(name).newInstance()


def unpacked(answer: Any) -> str:
    """Unpack a text that ``Packed`` returned."""
    if isinstance(answer, str):
        return answer
    packed = answer if isinstance(answer, bytes) else b"".join(answer.get(number) for number in range(answer.size()))
    return zlib.decompress(packed).decode()


def _compiled(jvm: Any, name: str, version: SparkVersion, parent: Any) -> Any:
    """Compile a class, and return its class loader."""
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(parent)
    compiler.cook(source(name, version))
    return compiler.getClassLoader()


def source(name: str, version: SparkVersion) -> str:
    """Return the source of a class for a version of Spark; lines for other versions are empty."""
    text = (files(__package__) / f"{name}.java").read_text(encoding="utf-8")
    return "\n".join(line if _is_for(line, version) else "" for line in text.split("\n"))


_MARK = re.compile(r"// (since|before) (\d+\.\d+)$")


def _is_for(line: str, version: SparkVersion) -> bool:
    mark = _MARK.search(line)
    return mark is None or (version >= parsed_version(mark[2])) is (mark[1] == "since")
