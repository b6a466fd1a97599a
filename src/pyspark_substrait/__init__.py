"""Substrait plans on Apache Spark, from Python.

    >>> import pyspark_substrait as ps
    >>> plan = ps.load("plan.json")                                         # doctest: +SKIP
    >>> print(ps.explain(plan))                                             # doctest: +SKIP
    >>> ps.run_query(plan, tables={"orders": "orders.parquet"})             # doctest: +SKIP

Importing this package imports neither Spark nor protobuf; each verb brings what it needs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from pyspark_substrait.checking import capabilities, dialect, diff, explain, fixed, lint, message_of, validate
from pyspark_substrait.codes import Code, Level
from pyspark_substrait.errors import (
    ExecutionError,
    InvalidPlanError,
    JavaNotFoundError,
    ParameterError,
    PlanFormatError,
    SubstraitError,
    SubstraitWarning,
    TableError,
    UnsupportedPlanError,
)
from pyspark_substrait.model.limits import Limits, limited
from pyspark_substrait.producing import from_sql, to_substrait, to_substrait_expressions
from pyspark_substrait.showing import lineage, profile, view

if TYPE_CHECKING:
    import pyarrow as pa
    from google.protobuf.message import Message
    from IPython.core.interactiveshell import InteractiveShell
    from pyspark.sql import DataFrame, SparkSession

    from pyspark_substrait.display.touches import Touch
    from pyspark_substrait.documents import ExtendedExpression, Plan
    from pyspark_substrait.extensions.registry import Registry
    from pyspark_substrait.spark.tables import Given, TableSource

    #: Anything that :func:`load` takes.
    PlanSource: TypeAlias = bytes | str | os.PathLike[str] | Mapping[str, Any] | Message | Plan | ExtendedExpression

_T = TypeVar("_T")

__all__ = [
    "Code",
    "ExecutionError",
    "InvalidPlanError",
    "JavaNotFoundError",
    "Level",
    "Limits",
    "ParameterError",
    "PlanFormatError",
    "Registry",
    "SubstraitError",
    "SubstraitWarning",
    "TableError",
    "UnsupportedPlanError",
    "capabilities",
    "dialect",
    "diff",
    "evaluate",
    "evaluate_arrow",
    "explain",
    "fixed",
    "for_target",
    "from_sql",
    "from_substrait",
    "limited",
    "lineage",
    "lint",
    "load",
    "profile",
    "run_query",
    "to_sql",
    "to_substrait",
    "to_substrait_expressions",
    "touches",
    "validate",
    "view",
]


def __getattr__(name: str) -> Any:
    if name == "Registry":  # imported when it is first used, like all that a verb needs
        from pyspark_substrait.extensions.registry import Registry

        return Registry
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load(source: PlanSource, *, strict: bool = False, registry: Registry | None = None) -> Plan | ExtendedExpression:
    """Read a plan or an extended expression of any release since 0.10, bring it up to date and bind it.

    What was rewritten stands in ``upgrades`` of the result, what was assumed where the plan is looser than the
    specification in ``notes``.

    Args:
        source: binary protobuf; JSON text; the text form (``to_text``); a path of a file with one of these; a dict of
            the JSON form; a message.
        strict: refuse what is looser than the specification instead of noting it.
        registry: the extensions; by default those of the specification.

    Raises:
        PlanFormatError: the source isn't a plan, or has fields that no release has.
        InvalidPlanError: the plan contradicts the specification.
    """
    from pyspark_substrait.documents import ExtendedExpression, Plan, Source, held, keep_source

    if isinstance(source, Plan | ExtendedExpression):
        return source
    from pyspark_substrait.extensions.registry import Registry
    from pyspark_substrait.proto import read
    from pyspark_substrait.proto.depth import with_deep_stack

    parsed = message_of(source)

    def bound() -> read.Bound:
        return read.bound(
            parsed.message,
            registry or Registry.default(),
            strict=strict,
            upgrades=parsed.notes,
            original_version=parsed.original_version,
        )

    found = with_deep_stack(bound) if parsed.deep else bound()
    document = held(found.document, deep=parsed.deep, registry=registry)
    if found.places is not None and parsed.content is not None and not parsed.deep and isinstance(document, Plan):
        keep_source(document, Source(parsed.content, found.places, found.again))
    return document


def _called(document: Plan | ExtendedExpression, function: Callable[[], _T]) -> _T:
    """What a function that walks the document returns; it gets the stack that the document's depth needs."""
    if not document.deep:
        return function()
    from pyspark_substrait.proto.depth import with_deep_stack

    return with_deep_stack(function)


def _on_spark(document: Plan | ExtendedExpression, spark: SparkSession | None, function: Callable[[], _T]) -> _T:
    """:func:`_called` of what runs on Spark: in a thread of its own too, it has the job group and tags of this one."""
    if not document.deep:
        return function()
    from pyspark_substrait.spark.threads import as_here

    return _called(document, as_here(spark, function))


def _plan(source: PlanSource, registry: Registry | None) -> Plan:
    from pyspark_substrait.documents import Plan

    document = load(source, registry=registry)
    if not isinstance(document, Plan):
        raise InvalidPlanError(
            "this is an extended expression, which has no rows of its own", hint="evaluate(...) runs it over data"
        )
    return document


def _extended_expression(source: PlanSource, registry: Registry | None) -> ExtendedExpression:
    from pyspark_substrait.documents import ExtendedExpression

    document = load(source, registry=registry)
    if not isinstance(document, ExtendedExpression):
        raise InvalidPlanError("this is a plan, not an extended expression", hint="from_substrait(...) runs plans")
    return document


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
    from pyspark_substrait.extensions.registry import Registry
    from pyspark_substrait.spark import run

    loaded = _plan(plan, registry)
    known = registry or loaded.registry or Registry.default()
    return _on_spark(
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
    from pyspark_substrait.extensions.registry import Registry
    from pyspark_substrait.spark import run
    from pyspark_substrait.spark.progress import interruptible

    loaded = _plan(plan, registry)
    known = registry or loaded.registry or Registry.default()
    with interruptible():
        return _on_spark(
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
    from pyspark_substrait.extensions.registry import Registry
    from pyspark_substrait.spark import evaluate as expressions

    loaded = _extended_expression(extended_expression, registry)
    known = registry or loaded.registry or Registry.default()
    session = spark or expressions.session_of(data)
    return _on_spark(
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
    from pyspark_substrait.extensions.registry import Registry
    from pyspark_substrait.spark import evaluate as expressions
    from pyspark_substrait.spark.progress import interruptible

    loaded = _extended_expression(extended_expression, registry)
    known = registry or loaded.registry or Registry.default()
    with interruptible():
        session = spark or expressions.session_of(data)
        return _on_spark(
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


def to_sql(
    plan: PlanSource,
    *,
    parameters: Mapping[int, object] | None = None,
    registry: Registry | None = None,
    root: int | None = None,
) -> str:
    """The Spark SQL statement that a plan becomes, over tables of the session's catalog. Needs no session.

    Arguments are those of :func:`from_substrait`.

    Raises:
        ParameterError: a dynamic parameter has no value, or one that isn't of its type.
        InvalidPlanError: the plan is wrong.
        UnsupportedPlanError: something in it can't run on Spark with exactly its meaning.
    """
    from pyspark_substrait.extensions.registry import Registry
    from pyspark_substrait.sparksql.compiler.statement import statement

    loaded = _plan(plan, registry)
    known = registry or loaded.registry or Registry.default()
    return _called(loaded, lambda: statement(loaded, known, parameters=parameters, chosen=root)).readable()


def for_target(plan: PlanSource, target: str, *, registry: Registry | None = None) -> Plan:
    """A plan in the form that an engine takes: its names of functions, its style of projections and so on.

    What the engine doesn't look at, like function options, stands in the result's ``notes``.

    Args:
        plan: the plan, or anything that :func:`load` takes.
        target: the engine: ``datafusion``, ``acero`` or ``duckdb``.
        registry: the extensions; by default those of the specification.

    Raises:
        UnsupportedPlanError: there is no such target, or it has no form for something in the plan.
    """
    from dataclasses import replace

    from pyspark_substrait import targets

    loaded, engine = _plan(plan, registry), targets.target(target)
    made = _called(loaded, lambda: targets.adapted(loaded, engine))
    return replace(loaded, relations=made.relations, notes=made.notes, removed_fields=engine.removed_fields)


def touches(plan: PlanSource, *, root: int | None = None) -> tuple[Touch, ...]:
    """What a plan would read and change, in the order in which it would do so, without running it. Needs no session.

    Args:
        plan: the plan, or anything that :func:`load` takes.
        root: which root of the plan, from 0; None for all of them.

    Raises:
        InvalidPlanError: the plan is wrong, or there is no such root.
    """
    from pyspark_substrait.display import touches as touched

    loaded = _plan(plan, None)
    return _called(loaded, lambda: touched(loaded, root))


def load_ipython_extension(shell: InteractiveShell) -> None:
    """What ``%load_ext pyspark_substrait`` does in a notebook: the magics ``%substrait`` and ``%%substrait``."""
    from pyspark_substrait.notebooks.magic import register

    register(shell)
