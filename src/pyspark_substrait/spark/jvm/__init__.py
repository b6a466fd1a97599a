"""Questions that need many calls to the JVM, answered in one.

Each call of py4j costs a tenth of a millisecond, and a plan would need hundreds. Spark brings the compiler of Java that
its own generated code goes through (Janino); it makes a class of a source of this folder, in the driver, once. The
classes only look at what Spark has, and write it down, or look where files lead to (``GuardedScans``). There is no jar,
and nothing of this runs on executors.

py4j's answers of more than 8 KB come in several packets, each of which waits some 40 ms for the delayed acknowledgement
of the one before. So long texts are compressed there, and what is still longer comes in parts that fit (``Packed``).
"""

from __future__ import annotations

import zlib
from functools import lru_cache
from importlib.resources import files
from typing import Any

__all__ = ["answering", "unpacked"]


@lru_cache(maxsize=8)
def answering(jvm: Any, name: str) -> Any:
    """An object of the class in the source of that name: ``PlanJson``, ``TableFacts``, ``GuardedScans``.

    Raises:
        Py4JError: this Spark's classes aren't those that the source was written for.
    """
    packed = _compiled(jvm, "Packed", jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader())
    return _compiled(jvm, name, packed).loadClass(name).newInstance()


def unpacked(answer: Any) -> str:
    """A text that ``Packed`` brought over."""
    if isinstance(answer, str):
        return answer
    packed = answer if isinstance(answer, bytes) else b"".join(answer.get(number) for number in range(answer.size()))
    return zlib.decompress(packed).decode()


def _compiled(jvm: Any, name: str, parent: Any) -> Any:
    """The loader of a class."""
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(parent)
    compiler.cook((files(__package__) / f"{name}.java").read_text(encoding="utf-8"))
    return compiler.getClassLoader()
