"""Scans of files that a plan names, with a check of the files when Spark plans the scan.

A DataFrame may run long after it was made, and a folder may be a symbolic link by then. In a classic session, the file
index of a scan resolves each file again whenever the scan is planned (``jvm/GuardedScans.java``). In a Spark Connect
session, or if that class can't be compiled, only the runs that this package starts itself are checked again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark_substrait.spark.access import Access
from pyspark_substrait.spark.compatibility import classic_frame
from pyspark_substrait.spark.jvm import compiled_object
from pyspark_substrait.spark.session import is_connect, spark_errors
from pyspark_substrait.spark.session_cache import session_cache

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["guarded_scan"]


def guarded_scan(frame: DataFrame, access: Access, spark: SparkSession) -> DataFrame:
    """Return a DataFrame that scans files, with each file checked again when the scan is planned.

    Args:
        frame: the scan, as the reader returns it.
        access: the files that the plan may name.
        spark: the session.
    """
    guard = _guard(spark) if access.held and access.roots else None
    if guard is None:
        return frame
    given: Any = frame
    guarded = guard.frame(given._jdf, "".join(f"{root}\0" for root in access.roots))
    return frame if guarded is None else classic_frame(guarded, spark)


def _guard(spark: SparkSession) -> Any:
    """Return the object in the JVM that makes such DataFrames; None if there is none."""
    known = session_cache(spark, "guarded_scan")
    if "guard" not in known:
        try:
            known["guard"] = None if is_connect(spark) else compiled_object(spark, "GuardedScans")
        except spark_errors():
            known["guard"] = None
    return known["guard"]
