"""Spark sessions as they are: their kind, their settings, copies of them, and the errors they raise."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, cast
from weakref import WeakSet

from pyspark_substrait.errors import UnsupportedPlanError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [
    "PLAN_SETTINGS",
    "copied",
    "has_setting",
    "is_connect",
    "is_copy",
    "listed",
    "private_session",
    "require_settings",
    "session_with",
    "spark_errors",
]

PLAN_SETTINGS: Mapping[str, str] = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.timeType.enabled": "true",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.fileSource.insert.enforceNotNull": "true",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # the defaults since 4.0
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInWrite": "CORRECTED",
}
"""The session settings that allow all plans that this package supports."""


def require_settings(spark: SparkSession, needed: Mapping[str, str]) -> None:
    """Check that a session has the settings that a plan needs, without changing them.

    Args:
        spark: a classic or a Connect session.
        needed: values by the names of the settings, like ``{"spark.sql.timeType.enabled": "true"}``.

    Raises:
        UnsupportedPlanError: names every setting that differs, and how to set it.
    """
    wrong = {key: value for key, value in needed.items() if not has_setting(spark, key, value)}
    if wrong:
        found = ", ".join(f"{key} is {spark.conf.get(key, None) or 'not set'}" for key in wrong)
        calls = "; ".join(f'spark.conf.set("{key}", "{value}")' for key, value in wrong.items())
        raise UnsupportedPlanError(
            f"the plan needs {listed(wrong)}, and in this session {found}", hint=f"Before running it: {calls}"
        )


def session_with(spark: SparkSession, needed: Mapping[str, str]) -> SparkSession:
    """Return a session that has the settings that a plan needs, without changing them in the session given.

    A classic session that lacks one is copied: the copy has its tables, views, functions and other settings as they are
    now, and the same Spark behind it. A DataFrame is analysed in one session and keeps the semantics of that, wherever
    it is read.

    Args:
        spark: a classic or a Connect session.
        needed: values by the names of the settings.

    Raises:
        UnsupportedPlanError: a Connect session lacks a setting.
    """
    wrong = {key: value for key, value in needed.items() if not has_setting(spark, key, value)}
    if not wrong:
        return spark
    if is_connect(spark):
        require_settings(spark, wrong)
    copy = _copy(spark)
    for key, value in wrong.items():
        copy.conf.set(key, value)
    return copy


def copied(spark: SparkSession) -> Any:
    """Return a copy of a classic session in Java: with its views, functions, settings, current catalog and database."""
    session: Any = spark
    copy = session._jsparkSession.cloneSession()
    # Spark copies the current database of its own catalog, but not which catalog is the current one
    old, new = (java.sessionState().catalogManager() for java in (session._jsparkSession, copy))
    name = old.currentCatalog().name()
    if name != new.currentCatalog().name():
        new.setCurrentCatalog(name)
        if list(old.currentNamespace()) != list(new.currentNamespace()):
            new.setCurrentNamespace(old.currentNamespace())
    return copy


def private_session(spark: SparkSession) -> SparkSession:
    """Return a copy of a session, whose views are no matter of the given one.

    A Connect session is copied since 4.1; where the client or the server can't, or the server refuses, it is returned
    itself. Its copy can't read DataFrames of the given session whose rows were uploaded from the client.
    """
    if not is_connect(spark):
        return _copy(spark)
    clone: Callable[[], SparkSession] | None = getattr(spark, "cloneSession", None)
    if clone is None:
        return spark
    import grpc

    spark.conf.get("spark.sql.ansi.enabled", None)  # the server begins a session with its first request
    try:
        return clone()
    except grpc.RpcError:
        return spark


_COPIES: Final[WeakSet[Any]] = WeakSet()
_COPYING: Final = Lock()


def _copy(spark: SparkSession) -> SparkSession:
    from pyspark import RDD
    from pyspark.sql import SparkSession

    java, rdd = copied(spark), cast(Any, RDD)
    with _COPYING:
        before = rdd.toDF  # of the session that was made last; a copy is not to be that one
        copy = SparkSession(spark.sparkContext, java)
        rdd.toDF = before
    _COPIES.add(copy)
    return copy


def is_copy(spark: SparkSession) -> bool:
    """Whether a session is a copy that this package made of another one."""
    return spark in _COPIES


def spark_errors() -> tuple[type[Exception], ...]:
    """The errors that Spark raises in Python: its own, and those of the bridge to Java where there is one."""
    from pyspark.errors import PySparkException

    if importlib.util.find_spec("py4j") is None:
        return (PySparkException,)
    from py4j.protocol import Py4JError

    return (PySparkException, Py4JError)


def is_connect(spark: SparkSession) -> bool:
    """Whether a session is one of Spark Connect."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def has_setting(spark: SparkSession, key: str, value: str) -> bool:
    try:
        found = spark.conf.get(key)  # without a default, so that Spark's own is used
    except spark_errors():
        return False
    return (found or "").lower() == value.lower()


def listed(settings: Mapping[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in settings.items())
