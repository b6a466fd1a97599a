"""Java classes that answer in one call what would take many calls to the JVM.

Each call of py4j takes a tenth of a millisecond, and a plan would need hundreds. Spark includes the Java compiler for
its own generated code (Janino), which compiles the sources of this folder in the driver, once. The classes only read
the state of Spark and serialise it, or resolve the paths of files (``GuardedScans``). There is no jar, and nothing of
this runs on executors.

py4j sends answers of more than 8 KB in several packets, each of which waits some 40 ms for the delayed acknowledgement
of the one before. So long texts are compressed, and if still too long, returned in parts that fit (``Packed``).
"""

from __future__ import annotations

import zlib
from functools import lru_cache
from importlib.resources import files
from typing import Any

__all__ = ["compiled_object", "unpacked"]


@lru_cache(maxsize=8)
def compiled_object(jvm: Any, name: str) -> Any:
    """Return an object of a compiled class, by name: ``PlanJson``, ``TableFacts``, ``GuardedScans``.

    Raises:
        Py4JError: the source doesn't fit the classes of this version of Spark.
    """
    packed = _compiled(jvm, "Packed", jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader())
    return _compiled(jvm, name, packed).loadClass(name).newInstance()


def unpacked(answer: Any) -> str:
    """Unpack a text that ``Packed`` returned."""
    if isinstance(answer, str):
        return answer
    packed = answer if isinstance(answer, bytes) else b"".join(answer.get(number) for number in range(answer.size()))
    return zlib.decompress(packed).decode()


def _compiled(jvm: Any, name: str, parent: Any) -> Any:
    """Compile a class, and return its class loader."""
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(parent)
    compiler.cook((files(__package__) / f"{name}.java").read_text(encoding="utf-8"))
    return compiler.getClassLoader()
