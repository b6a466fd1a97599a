"""Read settings and the schemas of tables from a classic session, in one call, before a statement is compiled.

``jvm/TableFacts.java`` answers. Compiling it takes longer than a few calls, so the first translations of a session use
single calls, and so do all of them if it can't be compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pyspark_substrait.spark.jvm import compiled_object, unpacked
from pyspark_substrait.spark.session import spark_errors
from pyspark_substrait.spark.session_cache import session_cache

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["TableFacts", "table_facts"]

_FEW: Final = 2
_END: Final = "\0"


@dataclass(frozen=True)
class TableFacts:
    """The settings and tables of a session.

    Args:
        settings: the value of each setting; None for one that Spark doesn't know.
        schemas: the schema of each table, as Spark's JSON; None for one that isn't there or can't be read.
        files: the Parquet files, as URIs, that each table is made of and nothing else; empty where that isn't known.
    """

    settings: Sequence[str | None]
    schemas: Sequence[str | None]
    files: Sequence[Sequence[str]]


def table_facts(spark: SparkSession, settings: Sequence[str], tables: Sequence[tuple[str, str]]) -> TableFacts | None:
    """Return the values of settings and the schemas and files of tables; None if single calls are to be used.

    Args:
        spark: a classic session.
        settings: the names of the settings.
        tables: how SQL names each table, and its name in lower case if it is a bare one, else nothing.
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
    values = [part[1:] if part else None for part in unpacked(found).split(_END)[:-1]]
    about = values[len(settings) :]
    files = [(found or "").split("\n")[:-1] for found in about[1::2]]
    return TableFacts(values[: len(settings)], about[::2], files)


def _questions(spark: SparkSession) -> Any:
    """Return the object in the JVM that answers; None if there is none, or not yet."""
    jvm: Any = getattr(spark, "_jvm", None)
    known = session_cache(spark, "questions")
    asked: int = known.get("asked", 0)
    if asked < _FEW or jvm is None:
        known["asked"] = asked + 1
        return None
    if "answering" not in known:
        try:
            known["answering"] = compiled_object(spark, "TableFacts")
        except spark_errors():
            known["answering"] = None
    return known["answering"]
