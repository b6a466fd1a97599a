"""Scans of files that a plan names, checked again when Spark plans them.

A DataFrame may run long after it was made, and a folder may be a symbolic link by then. In a classic session, the index
of its files resolves each of them again whenever a scan is planned (``jvm/GuardedScans.java``). In a Spark Connect
session, and where that class can't be made, only the runs that this package starts itself are checked again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark_substrait.spark.access import Access
from pyspark_substrait.spark.jvm import answering
from pyspark_substrait.spark.session import is_connect, spark_errors
from pyspark_substrait.spark.session_cache import kept

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["guarded_scan"]


def guarded_scan(frame: DataFrame, access: Access, spark: SparkSession) -> DataFrame:
    """A DataFrame that is a scan of files, with each file checked again when the scan is planned.

    Args:
        frame: the scan, as the reader gives it.
        access: the files that the plan may name.
        spark: the session.
    """
    guard = _guard(spark) if access.held and access.roots else None
    if guard is None:
        return frame
    from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame

    given: Any = frame
    guarded = guard.frame(given._jdf, "".join(f"{root}\0" for root in access.roots))
    return frame if guarded is None else ClassicDataFrame(guarded, spark)


def _guard(spark: SparkSession) -> Any:
    """The object in the JVM that makes such DataFrames; None where there is none."""
    known = kept(spark, "guarded_scan")
    if "guard" not in known:
        session: Any = spark
        try:
            known["guard"] = None if is_connect(spark) else answering(session._jvm, "GuardedScans")
        except spark_errors():
            known["guard"] = None
    return known["guard"]
