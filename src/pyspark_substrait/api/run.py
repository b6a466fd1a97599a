"""Running plans and expressions on Spark."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeVar, overload

from pyspark_substrait.api.bind import lacks_types, with_types
from pyspark_substrait.api.loading import PlanSource, extensions_of, load_expressions, loaded_plan, on_deep_stack
from pyspark_substrait.model.limits import RunLimits
from pyspark_substrait.model.plan import Plan as ModelPlan
from pyspark_substrait.spark import evaluate as expressions
from pyspark_substrait.spark import run
from pyspark_substrait.spark.missing_tables import refuse_missing_tables
from pyspark_substrait.spark.progress import interruptible, running
from pyspark_substrait.spark.result_reader import Fetching, ResultReader
from pyspark_substrait.spark.run_limits import bounded, rows_to_compute
from pyspark_substrait.spark.session_start import embedded_session
from pyspark_substrait.spark.thread_properties import with_thread_properties
from pyspark_substrait.sql.functions.regexp.judging import slow_in

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from pyspark_substrait.documents import ExtendedExpression, Plan
    from pyspark_substrait.extensions.registry import Registry
    from pyspark_substrait.spark.run import Streamed
    from pyspark_substrait.spark.tables import Given, TableSource

__all__ = ["evaluate", "evaluate_arrow", "from_substrait", "run_query", "streamed"]

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
    """Return the result of a plan as a DataFrame.

    Args:
        plan: the plan, or anything that :func:`load` takes.
        spark: a classic or Spark Connect session; by default the running one, or an embedded one that is started.
        tables: tables by name (dotted, or a tuple of parts): DataFrames, Arrow tables or Parquet paths. Other names
            come from the session's catalog. Columns are matched by name.
        parameters: values of the plan's dynamic parameters, by number; they override the values that the plan binds.
            ``pyspark_substrait.model.values`` lists the Python types for each type: int, float, Decimal, str, bytes,
            date, datetime and so on, lists, tuples and dicts of them, None for null.
        allowed_paths: files and folders that the plan itself may name, for reading or writing.
        registry: the extensions; by default those that the plan was loaded with, or those of the specification.
        root: which root of the plan, from 0; needed where it has several.
        refuse_slow_patterns: raise an error for regular expressions and LIKE patterns that may take very long for some
            texts, and for patterns that aren't constant. For plans that you don't trust.

    Raises:
        InvalidPlanError: the plan is wrong.
        UnsupportedPlanError: something in it can't run on Spark with exactly its meaning.
        TableError: a table is missing, or doesn't match its schema in the plan.
        ParameterError: a dynamic parameter has no value, or one that isn't of its type.

    Examples:
        >>> frame = substrait.from_substrait(substrait.samples.plan(), tables=substrait.samples.tables())
        >>> frame.where("sales > 1000").count()
        2
    """
    loaded = loaded_plan(plan, registry)
    known = extensions_of(loaded, registry)
    if spark is None:
        refuse_missing_tables(loaded, tables, root)
    loaded = _with_types(loaded, tables, spark, known)
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


@overload
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
    limits: RunLimits | None = None,
    batches: Literal[False] = False,
) -> pa.Table: ...


@overload
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
    limits: RunLimits | None = None,
    batches: Literal[True],
) -> pa.RecordBatchReader: ...


@overload
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
    limits: RunLimits | None = None,
    batches: bool,
) -> pa.Table | pa.RecordBatchReader: ...


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
    limits: RunLimits | None = None,
    batches: bool = False,
) -> pa.Table | pa.RecordBatchReader:
    """Run a plan and return an Arrow table, with exactly the types, nullability and names that the plan states.

    Like ``pyarrow.substrait.run_query``, on Spark. Further arguments and errors are those of :func:`from_substrait`.

    Args:
        limit: the most rows to compute.
        progress: whether to show the progress, on standard error or in the notebook. None: on a terminal and in a
            notebook, for runs of more than half a second, unless ``PYSPARK_SUBSTRAIT_PROGRESS=0`` is set. True: always,
            as a line from time to time elsewhere. False: never.
        refuse_slow_patterns: raise an error for regular expressions and LIKE patterns that may take very long for some
            texts, and for patterns that aren't constant. For plans that you don't trust.
        limits: how long the run may take, how large the files that it scans and its result may be; by default, there
            are no limits.
        batches: return a ``pyarrow.RecordBatchReader`` instead, which yields the rows while Spark computes them, and
            holds only a few batches. What the plan writes is written before it is returned; Spark computes the rows
            from the first read on, and the errors of that are raised by reads. Closing the reader cancels the run;
            leave a ``with`` block, or call ``close()``. The time of the limits also runs while nobody reads.

    Raises:
        RunLimitError: it exceeded one of them, and was cancelled.
        ExecutionError: the plan fails on its data, Spark fails, or the connection to Spark is lost.
        KeyboardInterrupt: Ctrl-C; only the Spark jobs of this run were cancelled. The message says if tasks are still
            running.

    Examples:
        >>> rows = substrait.run_query(substrait.samples.plan(), tables=substrait.samples.tables())
        >>> rows.column_names
        ['product_name', 'product_id', 'sales']
        >>> rows.num_rows
        4
        >>> plan, tables = substrait.samples.plan(), substrait.samples.tables()
        >>> with substrait.run_query(plan, tables=tables, batches=True) as reader:
        ...     sum(batch.num_rows for batch in reader)
        4
    """
    loaded = loaded_plan(plan, registry)
    known = extensions_of(loaded, registry)
    if spark is None:
        refuse_missing_tables(loaded, tables, root)
    if batches:
        session, bounds = spark or embedded_session(), limits or RunLimits()
        work = partial(
            streamed,
            loaded,
            session,
            tables=tables,
            parameters=parameters,
            allowed_paths=allowed_paths,
            limit=rows_to_compute(limit, bounds),
            registry=registry,
            root=root,
            refuse_slow_patterns=refuse_slow_patterns,
            limits=bounds,
        )
        return _reader(loaded, session, work, bounds, progress)
    with interruptible():
        loaded = _with_types(loaded, tables, spark, known)
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
                limits=limits,
            ),
            limits,
        )


def _reader(
    plan: Plan, spark: SparkSession, work: Callable[[], Streamed], limits: RunLimits, progress: bool | None
) -> pa.RecordBatchReader:
    """Return a reader of the result of a plan, which some work begins; see :func:`run_query`."""
    start = time.monotonic()

    def patterns() -> Sequence[str]:
        return slow_in(plan)

    def begun() -> Streamed:
        with running(spark, progress, patterns=patterns):
            return work()

    with interruptible():
        found = bounded(spark, limits, begun, patterns)
        spent = time.monotonic() - start
        fetching = Fetching(spark, found.batches, limits, spent=spent, progress=progress, patterns=patterns)
        return ResultReader(found.schema, fetching)


def streamed(
    plan: Plan,
    spark: SparkSession,
    *,
    tables: Given | None = None,
    parameters: Mapping[int, object] | None = None,
    allowed_paths: Sequence[str | os.PathLike[str]] = (),
    limit: int | None = None,
    registry: Registry | None = None,
    root: int | None = None,
    refuse_slow_patterns: bool = False,
    limits: RunLimits | None = None,
) -> Streamed:
    """Return the result of a plan as a stream of Arrow batches; what it writes is written now.

    Arguments and errors are those of :func:`from_substrait`, and ``limit`` is the most rows to compute. Of ``limits``,
    that of the files is kept here.
    """
    known = extensions_of(plan, registry)
    complete = _with_types(plan, tables, spark, known)
    return _in_session(
        complete,
        spark,
        lambda: run.streamed(
            complete,
            spark,
            registry=known,
            tables=tables,
            parameters=parameters,
            allowed_paths=allowed_paths,
            limit=limit,
            chosen=root,
            refuse_slow_patterns=refuse_slow_patterns,
            limits=limits,
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
    """Evaluate an extended expression over the records of a table, and return a DataFrame.

    It has a column for each expression, in their order and under their output names, and a row for each record.
    Measures give one row in all. Spec: expressions/extended_expression.

    Args:
        extended_expression: the extended expression, or anything that :func:`load` takes.
        data: a DataFrame, Arrow data (a table, batch, reader or dataset) or a path of Parquet files. Its columns are
            matched by name with the base schema; further columns are ignored.
        spark: a classic or Spark Connect session; by default that of the DataFrame or the running one, or else an
            embedded one that is started.
        parameters: values of dynamic parameters, as in :func:`from_substrait`.
        registry: the extensions; by default those of the specification.
        refuse_slow_patterns: raise an error for regular expressions and LIKE patterns that may take very long for some
            texts, and for patterns that aren't constant. For plans that you don't trust.

    Raises:
        InvalidPlanError: the extended expression is invalid, or it is a plan.
        UnsupportedPlanError: something in it can't run on Spark with exactly its meaning, or it has both expressions
            and measures.
        TableError: the data doesn't match the base schema.
        ParameterError: a dynamic parameter has no value, or one that isn't of its type.

    Examples:
        >>> orders = substrait.samples.tables()["orders"]
        >>> frame = substrait.evaluate(substrait.samples.expression(), orders)
        >>> frame.columns
        ['total', 'large']
    """
    loaded = load_expressions(extended_expression, registry=registry)
    known = extensions_of(loaded, registry)
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
    limits: RunLimits | None = None,
) -> pa.Table:
    """Like :func:`evaluate`, but return an Arrow table, with exactly the types, nullability and names that are stated.

    Args:
        limit: the most rows to compute.
        progress: whether to show the progress, as in :func:`run_query`.
        refuse_slow_patterns: raise an error for regular expressions and LIKE patterns that may take very long for some
            texts, and for patterns that aren't constant. For plans that you don't trust.
        limits: how long the run may take, how large the files that it scans and its result may be; by default, there
            are no limits.

    Raises:
        RunLimitError: it exceeded one of them, and was cancelled.
        ExecutionError: an expression fails on its data.
        KeyboardInterrupt: Ctrl-C; only the Spark jobs of this run were cancelled.

    Examples:
        >>> orders = substrait.samples.tables()["orders"]
        >>> table = substrait.evaluate_arrow(substrait.samples.expression(), orders)
        >>> table.num_rows
        9
    """
    loaded = load_expressions(extended_expression, registry=registry)
    known = extensions_of(loaded, registry)
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
                limits=limits,
            ),
            limits,
        )


def _with_types(plan: Plan, tables: Given | None, spark: SparkSession | None, registry: Registry) -> Plan:
    """Return a plan with types for the columns of its tables, where it states none."""
    return with_types(plan, tables, spark or embedded_session(), registry) if lacks_types(plan) else plan


def _in_session(
    document: Plan | ExtendedExpression,
    spark: SparkSession | None,
    function: Callable[[], _T],
    limits: RunLimits | None = None,
) -> _T:
    """Call a function on a large enough stack for the document's depth, with the job group and tags of this thread.

    Raises:
        RunLimitError: it exceeded a limit; see :func:`bounded`.
    """

    def called() -> _T:
        if not document.deep:
            return function()
        return on_deep_stack(document, with_thread_properties(spark, function))

    if limits is None:
        return called()
    plan = document if isinstance(document, ModelPlan) else expressions.as_plan(document)
    return bounded(spark or embedded_session(), limits, called, lambda: slow_in(plan))
