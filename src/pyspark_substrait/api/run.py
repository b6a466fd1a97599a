"""Plans and expressions on Spark."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from pyspark_substrait.api.loading import PlanSource, loaded_expressions, loaded_plan, on_deep_stack, understood
from pyspark_substrait.documents import Plan, held
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.proto.depth import with_deep_stack
from pyspark_substrait.spark import evaluate as expressions
from pyspark_substrait.spark import run
from pyspark_substrait.spark.profiling.running import profile as profiled
from pyspark_substrait.spark.progress import interruptible
from pyspark_substrait.spark.threads import as_here

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from pyspark_substrait.analysis.profile import Profile
    from pyspark_substrait.documents import ExtendedExpression
    from pyspark_substrait.spark.tables import Given, TableSource

__all__ = ["evaluate", "evaluate_arrow", "from_substrait", "profile", "run_query"]

_T = TypeVar("_T")


def from_substrait(
    plan: PlanSource,
    spark: SparkSession | None = None,
    *,
    tables: Given | None = None,
    parameters: Mapping[int, object] | None = None,
    allowed_paths: Sequence[str | os.PathLike[str]] = (),
    registry: Registry | None = None,
    root: int | None = None,
    refuse_slow_patterns: bool = False,
) -> DataFrame:
    """The result of a plan as a DataFrame.

    Args:
        plan: the plan, or anything that :func:`load` takes.
        spark: a classic or Spark Connect session; by default the running one, or an embedded one that is started.
        tables: tables by name (dotted, or a tuple of parts): DataFrames, Arrow tables or Parquet paths. Other names
            come from the session's catalog. Columns are matched by name.
        parameters: values of the plan's dynamic parameters, by number; they go before those that the plan binds. What
            stands for each type is listed in ``pyspark_substrait.model.values``: int, float, Decimal, str, bytes, date,
            datetime and so on, lists, tuples and dicts of them, None for null.
        allowed_paths: files and folders that the plan itself may name, to read from them or to write to them.
        registry: the extensions; by default those that the plan was loaded with, or those of the specification.
        root: which root of the plan, from 0; needed where it has several.
        refuse_slow_patterns: refuse regular expressions, and patterns of LIKE, that may take very long for some texts,
            and those that are computed. For plans that you don't trust.

    Raises:
        InvalidPlanError: the plan is wrong.
        UnsupportedPlanError: something in it can't run on Spark with exactly its meaning.
        TableError: a table is missing, or isn't what the plan says.
        ParameterError: a dynamic parameter has no value, or one that isn't of its type.
    """
    loaded = loaded_plan(plan, registry)
    known = registry or loaded.registry or Registry.default()
    return _in_session(
        loaded,
        spark,
        lambda: run.dataframe(
            loaded,
            spark,
            registry=known,
            tables=tables,
            parameters=parameters,
            allowed_paths=allowed_paths,
            chosen=root,
            refuse_slow_patterns=refuse_slow_patterns,
        ),
    )


def run_query(
    plan: PlanSource,
    *,
    tables: Given | None = None,
    parameters: Mapping[int, object] | None = None,
    spark: SparkSession | None = None,
    allowed_paths: Sequence[str | os.PathLike[str]] = (),
    limit: int | None = None,
    registry: Registry | None = None,
    root: int | None = None,
    progress: bool | None = None,
    refuse_slow_patterns: bool = False,
) -> pa.Table:
    """The result of a plan as an Arrow table, with exactly the types, nullability and names that the plan states.

    Like ``pyarrow.substrait.run_query``, on Spark. Further arguments and errors are those of :func:`from_substrait`.

    Args:
        limit: the most rows; no more than that are computed.
        progress: whether to show how far Spark is, on standard error or in the notebook. None: on a terminal and in a
            notebook, of what takes more than half a second, unless ``PYSPARK_SUBSTRAIT_PROGRESS=0`` is set. True:
            always, as a line now and then where neither is. False: never.
        refuse_slow_patterns: refuse regular expressions, and patterns of LIKE, that may take very long for some texts,
            and those that are computed. For plans that you don't trust.

    Raises:
        ExecutionError: the plan fails on its data, or Spark by a fault of its own, or Spark is gone.
        KeyboardInterrupt: Ctrl-C; the Spark jobs of this run, and no others, were cancelled. The message says if tasks
            go on.
    """
    loaded = loaded_plan(plan, registry)
    known = registry or loaded.registry or Registry.default()
    with interruptible():
        return _in_session(
            loaded,
            spark,
            lambda: run.collect(
                loaded,
                spark,
                registry=known,
                tables=tables,
                parameters=parameters,
                allowed_paths=allowed_paths,
                limit=limit,
                chosen=root,
                progress=progress,
                refuse_slow_patterns=refuse_slow_patterns,
            ),
        )


def evaluate(
    extended_expression: PlanSource,
    data: TableSource,
    spark: SparkSession | None = None,
    *,
    parameters: Mapping[int, object] | None = None,
    registry: Registry | None = None,
    refuse_slow_patterns: bool = False,
) -> DataFrame:
    """The expressions of an extended expression over the records of a table, as a DataFrame.

    It has a column for each expression, in their order and under their output names, and a row for each record.
    Measures give one row in all. Spec: expressions/extended_expression.

    Args:
        extended_expression: the extended expression, or anything that :func:`load` takes.
        data: a DataFrame, Arrow data (a table, batch, reader or dataset) or a path of Parquet files. Its columns are
            matched by name with the base schema; there may be more of them.
        spark: a classic or Spark Connect session; by default that of the DataFrame or the running one, or else an
            embedded one that is started.
        parameters: values of dynamic parameters, as in :func:`from_substrait`.
        registry: the extensions; by default those of the specification.
        refuse_slow_patterns: refuse regular expressions, and patterns of LIKE, that may take very long for some texts,
            and those that are computed. For plans that you don't trust.

    Raises:
        InvalidPlanError: the extended expression is wrong, or a plan.
        UnsupportedPlanError: something in it can't run on Spark with exactly its meaning, or it has expressions and
            measures.
        TableError: the data isn't what the base schema says.
        ParameterError: a dynamic parameter has no value, or one that isn't of its type.
    """
    loaded = loaded_expressions(extended_expression, registry)
    known = registry or loaded.registry or Registry.default()
    session = spark or expressions.session_of(data)
    return _in_session(
        loaded,
        session,
        lambda: expressions.dataframe(
            loaded,
            data,
            session,
            registry=known,
            parameters=parameters,
            refuse_slow_patterns=refuse_slow_patterns,
        ),
    )


def evaluate_arrow(
    extended_expression: PlanSource,
    data: TableSource,
    *,
    parameters: Mapping[int, object] | None = None,
    spark: SparkSession | None = None,
    limit: int | None = None,
    registry: Registry | None = None,
    progress: bool | None = None,
    refuse_slow_patterns: bool = False,
) -> pa.Table:
    """As :func:`evaluate`, as an Arrow table with exactly the types, nullability and names of the expressions.

    Args:
        limit: the most rows; no more than that are computed.
        progress: whether to show how far Spark is, as in :func:`run_query`.
        refuse_slow_patterns: refuse regular expressions, and patterns of LIKE, that may take very long for some texts,
            and those that are computed. For plans that you don't trust.

    Raises:
        ExecutionError: an expression fails on its data.
        KeyboardInterrupt: Ctrl-C; the Spark jobs of this run, and no others, were cancelled.
    """
    loaded = loaded_expressions(extended_expression, registry)
    known = registry or loaded.registry or Registry.default()
    with interruptible():
        session = spark or expressions.session_of(data)
        return _in_session(
            loaded,
            session,
            lambda: expressions.collect(
                loaded,
                data,
                session,
                registry=known,
                parameters=parameters,
                limit=limit,
                progress=progress,
                refuse_slow_patterns=refuse_slow_patterns,
            ),
        )


def profile(
    plan: PlanSource,
    spark: SparkSession | None = None,
    *,
    tables: Given | None = None,
    parameters: Mapping[int, object] | None = None,
    allowed_paths: Sequence[str | os.PathLike[str]] = (),
    registry: Registry | None = None,
    root: int | None = None,
    limit: int | None = None,
    exact: bool = False,
    progress: bool | None = None,
    refuse_slow_patterns: bool = False,
) -> Profile:
    """Run a plan once, and tell for each relation how many rows went in and out, what was read, and how long it took.

    Printed, it is the page of :func:`explain` with the figures beside the relations. Each figure says whether it was
    measured, follows from others, or is an estimate; what isn't known is None. The result is that of :func:`run_query`.

    Args:
        plan: the plan, or anything that :func:`load` takes.
        spark: a classic or Spark Connect session; by default the running one, or an embedded one that is started.
        exact: whether to count every relation, also where Spark would run several as one. Conditions then stay above
            the relations that they would have been moved into, so the plan may run much longer.

    Other arguments are those of :func:`run_query`.

    Raises:
        UnsupportedPlanError: the plan changes tables, or can't run on Spark.
        PlanFormatError, InvalidPlanError, TableError, ParameterError, ExecutionError: as for :func:`run_query`.
    """
    own = registry or (plan.registry if isinstance(plan, Plan) else None)
    known = own or Registry.default()

    def made(deep: bool = False) -> Profile:
        found = understood(plan, known)
        document = held(found.document, deep=deep, registry=own)
        if not isinstance(document, Plan):
            raise InvalidPlanError("this is an extended expression, which has no relations to profile")
        return profiled(
            document,
            found.places,
            spark,
            registry=known,
            tables=tables,
            parameters=parameters,
            allowed_paths=allowed_paths,
            limit=limit,
            chosen=root,
            exact=exact,
            progress=progress,
            refuse_slow_patterns=refuse_slow_patterns,
        )

    with interruptible():
        try:
            return made()
        except RecursionError:
            return with_deep_stack(as_here(spark, lambda: made(True)))


def _in_session(document: Plan | ExtendedExpression, spark: SparkSession | None, function: Callable[[], _T]) -> _T:
    """Call a function with the stack that the document's depth needs; its jobs have the job group and tags of here."""
    if not document.deep:
        return function()

    return on_deep_stack(document, as_here(spark, function))
