"""What a classic session is asked before a statement is made, settings and schemas of tables, in one call.

``Questions.java`` answers. Spark brings the compiler of Java that its own generated code goes through (Janino); it
makes a class of that source in the JVM, once. That takes longer than a few calls, so a session's first translations ask
in single ones, and so do all where the class can't be made. What py4j has to bring over in more than 8 KB would wait
some 40 ms for an acknowledgement; so it is compressed, and what is still longer comes in parts.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from pyspark_substrait.spark.kept import kept
from pyspark_substrait.spark.session import spark_errors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["answers"]

_FEW: Final = 2
_END: Final = "\0"


def answers(
    spark: SparkSession, settings: Sequence[str], tables: Sequence[tuple[str, str]]
) -> tuple[list[str | None], list[str | None]] | None:
    """The values of settings and the schemas of tables, as Spark's JSON; None where they are to be asked one by one.

    Args:
        spark: a classic session.
        settings: the names of the settings.
        tables: how SQL names each table, and its name in lower case if it is a bare one, else nothing.

    Returns:
        A value for each setting, None for one that Spark doesn't know; a schema for each table, None for one that isn't
        there or can't be read.
    """
    asked = _questions(spark)
    if asked is None:
        return None
    named = "".join(f"{path}{_END}{name}{_END}" for path, name in tables)
    session: Any = spark
    try:
        found = asked.answers(session._jsparkSession, "".join(key + _END for key in settings), named)
    except spark_errors():
        return None
    values = [part[1:] if part else None for part in _text(found).split(_END)[:-1]]
    return values[: len(settings)], values[len(settings) :]


def _text(found: Any) -> str:
    if isinstance(found, str):
        return found
    packed = found if isinstance(found, bytes) else b"".join(found.get(number) for number in range(found.size()))
    return zlib.decompress(packed).decode()


def _questions(spark: SparkSession) -> Any:
    """The object in the JVM that answers; None if there is none, or not yet."""
    jvm: Any = getattr(spark, "_jvm", None)
    known = kept(spark, "questions")
    asked: int = known.get("asked", 0)
    if asked < _FEW or jvm is None:
        known["asked"] = asked + 1
        return None
    if "answering" not in known:
        try:
            known["answering"] = _compiled(jvm)
        except spark_errors():
            known["answering"] = None
    return known["answering"]


@lru_cache(maxsize=1)
def _compiled(jvm: Any) -> Any:
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader())
    compiler.cook((files(__package__) / "Questions.java").read_text(encoding="utf-8"))
    return compiler.getClassLoader().loadClass("Questions").newInstance()
