"""Run a plan on Spark: its statement, with DataFrames bound into it, as a DataFrame or an Arrow table."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pyspark_substrait.errors import SubstraitError, at
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.limits import RunLimits
from pyspark_substrait.model.parameters import declared_parameters, parameter_values
from pyspark_substrait.model.plan import Plan, RelRoot
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.walk import writes
from pyspark_substrait.spark import arrow, writing
from pyspark_substrait.spark.access import Access
from pyspark_substrait.spark.batches import batches
from pyspark_substrait.spark.bound_statements import bound
from pyspark_substrait.spark.compatibility import session_version
from pyspark_substrait.spark.failures import failed, refused
from pyspark_substrait.spark.lost_connection import reporting_loss
from pyspark_substrait.spark.prepared_statements import prepared_statement
from pyspark_substrait.spark.progress import running
from pyspark_substrait.spark.python_functions import register
from pyspark_substrait.spark.reading.extension_tables import relation_table
from pyspark_substrait.spark.run_limits import check_scan, fetched
from pyspark_substrait.spark.session import is_connect, spark_errors
from pyspark_substrait.spark.session_start import embedded_session
from pyspark_substrait.spark.sources import SessionSources
from pyspark_substrait.spark.tables import Given
from pyspark_substrait.sql.compiler.reads import matched
from pyspark_substrait.sql.compiler.scope import Compilation, Counting, Sources
from pyspark_substrait.sql.compiler.statement import Statement, root, statement
from pyspark_substrait.sql.compiler.statement_steps import SqlStep, Step
from pyspark_substrait.sql.functions.regexp.judging import slow_in

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Streamed", "collect", "dataframe", "streamed"]


def dataframe(
    plan: Plan,
    spark: SparkSession | None,
    *,
    registry: Registry,
    tables: Given | None = None,
    parameters: Mapping[int, object] | None = None,
    allowed_paths: Sequence[str | os.PathLike[str]] = (),
    chosen: int | None = None,
    refuse_slow_patterns: bool = False,
) -> DataFrame:
    """Return the result of a plan as a DataFrame, analysed and not yet run.

    Raises:
        InvalidPlanError, UnsupportedPlanError: the plan is wrong, or can't run on Spark.
        TableError: a table is missing, or isn't what the plan says.
        ParameterError: a dynamic parameter has no value, or one that isn't of its type.
    """
    session = embedded_session() if spark is None else spark
    with reporting_loss(session):
        run = _Run(session, registry, tables, parameters, Access(allowed_paths), chosen, refuse_slow_patterns)
        return run.prepared(run.without_writes(plan), positional=False)[0]


def collect(
    plan: Plan,
    spark: SparkSession | None,
    *,
    registry: Registry,
    tables: Given | None = None,
    parameters: Mapping[int, object] | None = None,
    allowed_paths: Sequence[str | os.PathLike[str]] = (),
    limit: int | None = None,
    chosen: int | None = None,
    progress: bool | None = None,
    counting: Counting | None = None,
    refuse_slow_patterns: bool = False,
    limits: RunLimits | None = None,
    ran: Callable[[DataFrame], None] | None = None,
) -> pa.Table:
    """Return the result of a plan or its first ``limit`` rows, with the exact types, nullability and names of the plan.

    ``progress``: as for :func:`running`. ``counting`` selects the relations whose rows are counted; ``ran`` is called
    with the DataFrame after all rows were fetched. Of ``limits``, those of the result are kept here.

    Raises:
        RunLimitError: the result is larger than ``limits`` allow.
        ExecutionError: the plan fails on its data.
        InvalidPlanError, UnsupportedPlanError, TableError, ParameterError: as :func:`dataframe`.
        KeyboardInterrupt: the user interrupted it; Spark's jobs were cancelled.
    """
    session = embedded_session() if spark is None else spark
    with running(session, progress, patterns=lambda: slow_in(plan)):
        access = Access(allowed_paths, held=writes(root(plan, chosen)[1]))
        run = _Run(session, registry, tables, parameters, access, chosen, refuse_slow_patterns, limits)
        frame, prepared = run.prepared(run.without_writes(plan), positional=True, counting=counting)
        try:
            table = fetched(frame, limit, limits or RunLimits())
        except spark_errors() as error:
            access.check_again()
            raise failed(error) from error
        access.check_again()
        if ran is not None:
            ran(frame)
    return arrow.table(table, prepared.schema)


@dataclass(frozen=True)
class Streamed:
    """The result of a plan that is analysed, and runs when its batches are asked for."""

    schema: pa.Schema
    batches: Callable[[], Iterator[pa.RecordBatch]]


def streamed(
    plan: Plan,
    spark: SparkSession,
    *,
    registry: Registry,
    tables: Given | None = None,
    parameters: Mapping[int, object] | None = None,
    allowed_paths: Sequence[str | os.PathLike[str]] = (),
    limit: int | None = None,
    chosen: int | None = None,
    refuse_slow_patterns: bool = False,
    limits: RunLimits | None = None,
) -> Streamed:
    """Return the result of a plan as a stream of batches, with the exact types, nullability and names of the plan.

    What the plan writes is written now. The files that it reads are checked again before each batch is handed over.
    The caller marks the jobs, to cancel them, and keeps the limits of time and of the result. With ``limit``, there
    are only the first rows.

    Raises:
        RunLimitError: the files that it scans are larger than ``limits`` allow.
        InvalidPlanError, UnsupportedPlanError, TableError, ParameterError: as :func:`dataframe`. While the batches are
            read, an :class:`ExecutionError` as well.
    """
    with reporting_loss(spark):
        access = Access(allowed_paths)
        run = _Run(spark, registry, tables, parameters, access, chosen, refuse_slow_patterns, limits)
        frame, prepared = run.prepared(run.without_writes(plan), positional=True)
        frame = frame if limit is None else frame.limit(limit)

    def read() -> Iterator[pa.RecordBatch]:
        with reporting_loss(spark):
            try:
                for batch in batches(frame):
                    access.check_again()
                    yield from arrow.table(pa.Table.from_batches([batch]), prepared.schema).to_batches()
            except spark_errors() as error:
                access.check_again()
                raise failed(error) from error
            access.check_again()

    return Streamed(arrow.schema(prepared.schema), read)


class _Run:
    """One run of a plan, whose statements share the tables that were looked up."""

    def __init__(
        self,
        spark: SparkSession,
        registry: Registry,
        tables: Given | None,
        parameters: Mapping[int, object] | None,
        access: Access,
        chosen: int | None,
        refuse_slow_patterns: bool,
        limits: RunLimits | None = None,
    ) -> None:
        self._spark = spark
        self._limits = limits or RunLimits()
        self._chosen = chosen
        self._refuse_slow_patterns = refuse_slow_patterns
        self._registry = registry
        self._parameters = parameters
        self._in_parts = False
        self._access = access
        self._sources = SessionSources(spark, tables, access, registry)

    def prepared(
        self, plan: Plan, *, positional: bool, counting: Counting | None = None
    ) -> tuple[DataFrame, Statement]:
        """Return the result of a plan without writes, and its statement. The files that it reads are checked once more.

        Raises:
            UnsupportedPlanError: a file leads elsewhere by now; the error doesn't quote the file.
        """
        try:
            return self._prepared(plan, positional, counting)
        finally:
            self._access.check_again()

    def _prepared(self, plan: Plan, positional: bool, counting: Counting | None) -> tuple[DataFrame, Statement]:
        self._sources.expect(root(plan, self._chosen)[1])
        made = self._compiled(plan, positional, counting)
        spark = self._session_for(made)
        register(spark, made.functions)
        frames = self._sources.frames
        for step in made.steps:
            frames[step.name] = _observed(self._bound(self._text(step, spark), spark), step)
        rows = self._bound(made.text, spark, looked_at=True)
        check_scan(rows, self._limits, self._access.opened_bytes)
        # SQL has no SELECT without columns; for Arrow, the placeholder column keeps the number of rows
        return (rows if positional or made.schema.struct.types else rows.select()), made

    def _compiled(self, plan: Plan, positional: bool, counting: Counting | None) -> Statement:
        options: dict[str, Any] = {
            "positional": positional,
            "parameters": self._given(plan),
            "chosen": self._chosen,
            "refuse_slow_patterns": self._refuse_slow_patterns,
            "spark": session_version(self._spark),
        }
        if counting is not None:
            return statement(plan, self._registry, self._sources, counting=counting, **options)
        return prepared_statement(plan, self._registry, self._sources, **options)

    def _session_for(self, made: Statement) -> SparkSession:
        """Return the session that analyses a statement, which has the settings that the statement needs.

        What a plan writes is written in the session itself, whose caches have to learn of it.
        """
        if not self._in_parts:
            return self._sources.settings.session(made.settings)
        self._sources.settings.require(made.settings)
        return self._spark

    def _text(self, step: Step, spark: SparkSession) -> str:
        """Return the statement of a step; for a handler's step, one over the rows that the handler returns."""
        if isinstance(step, SqlStep):
            return step.text
        frames = [self._sources.frames[name] for name in step.inputs]
        # SQL has no SELECT without columns
        given = [
            frame if schema.names else frame.select() for frame, schema in zip(frames, step.derived.inputs, strict=True)
        ]
        with at(step.derived.place):
            table = relation_table(step, given, spark)
            return matched(self._sources.matched(step.detail.type_url, table, step.derived.output), step.columns)

    def without_writes(self, plan: Plan) -> Plan:
        """Carry out the writes of a plan, and return it with reads of their output in place of these relations."""
        position, node, names = root(plan, self._chosen)
        if not writes(node):
            return plan
        # from here on, each part of the plan gets the parameters that it declares
        parameter_values(plan, self._parameters)
        self._in_parts = True
        session = writing.WriteContext(
            spark=self._spark,
            registry=self._registry,
            access=self._access,
            tables=self._sources.tables,
            frame=lambda relation, names: self._frame(_of(plan, position, relation, names), position),
            statement=lambda relation, names, sources: self._statement(_of(plan, position, relation, names), sources),
            bind=self._sources.bind,
            look_up_anew=self._sources.look_up_anew,
            compilation=lambda: self._compilation(plan),
            run=lambda text: self._bound(text, self._spark, command=True),
            failed=failed,
        )
        with (
            running(self._spark, False),  # may be interrupted, like a query
            at("relations", position, *(("root", "input") if names is not None else ("rel",))),
        ):
            return _of(plan, position, writing.with_writes_executed(node, session), names)

    def _given(self, plan: Plan) -> Mapping[int, object] | None:
        """Return the given parameters that the plan, which may be a part of the whole one, declares."""
        if not self._in_parts or not self._parameters:
            return self._parameters
        declared = declared_parameters(plan)
        return {number: value for number, value in self._parameters.items() if number in declared}

    def _frame(self, plan: Plan, position: int) -> DataFrame:
        """Return the rows of a root; the paths of errors start at its tree."""
        try:
            return self.prepared(plan, positional=False)[0]
        except SubstraitError as error:
            error.path = error.path.removeprefix(f"relations[{position}].root.input").removeprefix(".")
            raise

    def _compilation(self, plan: Plan) -> Compilation:
        return Compilation(
            registry=self._registry,
            sources=self._sources,
            parameters=parameter_values(plan, self._parameters),
            evaluation=plan.execution_behavior,
            refuse_slow_patterns=self._refuse_slow_patterns,
            spark=session_version(self._spark),
        )

    def _bound(self, text: str, spark: SparkSession, *, command: bool = False, looked_at: bool = False) -> DataFrame:
        """Return the DataFrame of a statement or command. With ``looked_at``, a Connect server analyses it now, too."""
        try:
            found = bound(spark, text, self._sources.frames, command=command)
            if looked_at and is_connect(spark):
                found.schema  # noqa: B018 - the DataFrame keeps it
            return found
        except spark_errors() as error:
            self._sources.check_catalog()
            raise refused(error) from error

    def _statement(self, plan: Plan, sources: Sources) -> Statement:
        return statement(
            plan,
            self._registry,
            sources,
            parameters=self._given(plan),
            chosen=self._chosen,
            refuse_slow_patterns=self._refuse_slow_patterns,
            spark=session_version(self._spark),
        )


def _of(plan: Plan, position: int, node: Relation, names: tuple[str, ...] | None) -> Plan:
    """Return the plan with another tree at a position."""
    tree = node if names is None else RelRoot(input=node, names=names)
    return replace(plan, relations=(*plan.relations[:position], tree, *plan.relations[position + 1 :]))


def _observed(frame: DataFrame, step: Step) -> DataFrame:
    """Return the DataFrame of a step, with an observation of its row count if the step is counted."""
    if not isinstance(step, SqlStep) or not step.counted:
        return frame
    from pyspark.sql import functions

    return frame.observe(step.counted, functions.count(functions.lit(1)).alias("rows"))
