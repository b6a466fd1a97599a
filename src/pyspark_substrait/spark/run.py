"""Run a plan on Spark: its statement, with DataFrames bound into it, as a DataFrame or an Arrow table."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from pyspark_substrait.errors import ExecutionError, SubstraitError, UnsupportedPlanError
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.plan import Plan
from pyspark_substrait.spark import arrow
from pyspark_substrait.spark.python_functions import register
from pyspark_substrait.spark.session import embedded_session, require_settings, spark_errors
from pyspark_substrait.spark.sources import SessionSources
from pyspark_substrait.spark.tables import Given
from pyspark_substrait.sparksql.compiler.query import FRAME_MARK
from pyspark_substrait.sparksql.compiler.statement import Statement, statement

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["collect", "dataframe"]


def dataframe(
    plan: Plan,
    spark: SparkSession | None,
    *,
    registry: Registry,
    tables: Given | None = None,
    parameters: Mapping[int, object] | None = None,
    allowed_paths: Sequence[str | os.PathLike[str]] = (),
) -> DataFrame:
    """The result of a plan as a DataFrame, analysed and not yet run.

    Raises:
        InvalidPlanError, UnsupportedPlanError: the plan is wrong, or can't run on Spark.
        TableError: a table is missing, or isn't what the plan says.
        ParameterError: a dynamic parameter has no value, or one that isn't of its type.
    """
    return _prepared(plan, spark, registry, tables, parameters, allowed_paths, positional=False)[0]


def collect(
    plan: Plan,
    spark: SparkSession | None,
    *,
    registry: Registry,
    tables: Given | None = None,
    parameters: Mapping[int, object] | None = None,
    allowed_paths: Sequence[str | os.PathLike[str]] = (),
    limit: int | None = None,
) -> pa.Table:
    """The result of a plan, or its first ``limit`` rows, with exactly the types, nullability and names of the plan.

    Raises:
        ExecutionError: the plan fails on its data.
        InvalidPlanError, UnsupportedPlanError, TableError, ParameterError: as :func:`dataframe`.
    """
    frame, prepared = _prepared(plan, spark, registry, tables, parameters, allowed_paths, positional=True)
    try:
        table = (frame if limit is None else frame.limit(limit)).toArrow()
    except spark_errors() as error:
        raise _failed(error) from error
    return arrow.table(table, prepared.schema)


def _prepared(
    plan: Plan,
    spark: SparkSession | None,
    registry: Registry,
    tables: Given | None,
    parameters: Mapping[int, object] | None,
    allowed_paths: Sequence[str | os.PathLike[str]],
    *,
    positional: bool,
) -> tuple[DataFrame, Statement]:
    session = embedded_session() if spark is None else spark
    sources = SessionSources(session, tables, allowed_paths)
    prepared = statement(plan, registry, sources, positional=positional, parameters=parameters)
    require_settings(session, prepared.settings)
    register(session, prepared.functions)
    frames = sources.frames
    for name, text in prepared.pieces:
        frames[name] = _bound(session, text, frames)
    return _bound(session, prepared.text, frames), prepared


def _bound(spark: SparkSession, text: str, frames: Mapping[str, DataFrame]) -> DataFrame:
    """The DataFrame of one statement."""
    parts = text.split(FRAME_MARK)
    used = {name: frames[name] for name in parts[1::2]}
    try:
        if not used:
            return spark.sql(text)
        # what stands between the marks is a name; elsewhere a brace is only a brace
        template = "".join(
            f"{{{part}}}" if position % 2 else part.replace("{", "{{").replace("}", "}}")
            for position, part in enumerate(parts)
        )
        return spark.sql(template, None, **used)
    except spark_errors() as error:
        raise _refused(error) from error


def _refused(error: Exception) -> SubstraitError:
    """Spark didn't take the statement."""
    if "StackOverflowError" in str(error):
        return _too_deep()
    return UnsupportedPlanError(
        f"Spark refuses the plan's statement: {_message(error)}", hint="to_sql(plan) shows the statement"
    )


def _too_deep() -> SubstraitError:
    return UnsupportedPlanError(
        "the plan is nested too deeply for the stacks of Spark's threads",
        hint="Start the session with larger ones: spark.driver.extraJavaOptions=-Xss16m, and the executors' likewise",
    )


def _failed(error: Exception) -> SubstraitError:
    """The statement failed while it ran, or (Connect analyses only then) wasn't taken."""
    from pyspark.errors import AnalysisException, ParseException

    if isinstance(error, AnalysisException | ParseException):
        return _refused(error)
    if "StackOverflowError" in str(error):
        return _too_deep()
    return ExecutionError(f"the plan failed on its data: {_message(error)}")


def _message(error: Exception) -> str:
    """The first line of what Spark says, or the message that the statement itself raised."""
    get = getattr(error, "getCondition", None)
    java = getattr(error, "java_exception", None)
    while java is not None and java.getCause() is not None:
        java = java.getCause()
    text = (str(error) if java is None else java.toString().partition(": ")[2]).strip()
    if type(error).__name__ == "PythonException":
        return _last_of_traceback(str(error))
    if get is not None and get() == "USER_RAISED_EXCEPTION":
        return text.removeprefix("[USER_RAISED_EXCEPTION]").split(" SQLSTATE:", 1)[0].strip(" .")
    line = text.split("\n", 1)[0]
    return line.split(" SQLSTATE:", 1)[0].rstrip(". ")


def _last_of_traceback(text: str) -> str:
    """What a Python function raised, without where."""
    python = re.split(r"\n *SQLSTATE|\n\n?JVM stacktrace|\n\s*at ", text)[0]
    lines = [line for line in python.splitlines() if re.match(r"[A-Za-z_][\w.]*(Error|Exception|Warning)?(: |$)", line)]
    return lines[-1].strip() if lines else text.strip().splitlines()[0]
