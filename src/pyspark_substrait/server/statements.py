"""The statements that clients send, plans and SQL: what they give, what parameters they have, and running them."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pyspark_substrait.api.loading import loaded_plan
from pyspark_substrait.api.run import streamed
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model.limits import Limits, limited
from pyspark_substrait.model.parameters import declared_parameters
from pyspark_substrait.model.plan import CURRENT_VERSION
from pyspark_substrait.model.relations import OutputMode, Write
from pyspark_substrait.model.walk import writes
from pyspark_substrait.proto.upgrade import FIRST_VERSION
from pyspark_substrait.server.limits import ServerLimits
from pyspark_substrait.server.parameters import parameter_schema, plan_values, sql_values
from pyspark_substrait.server.refusals import InvalidArgument, Unauthorized, Unimplemented
from pyspark_substrait.server.requests import Rows
from pyspark_substrait.spark import arrow, sql_statements
from pyspark_substrait.spark.batches import batches, cast_batches, handed_schema
from pyspark_substrait.spark.run_limits import check_scan
from pyspark_substrait.spark.sql_statements import Kind, sql_errors
from pyspark_substrait.sql.compiler.statement import root, root_schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pyspark_substrait.documents import Plan
    from pyspark_substrait.extensions.registry import Registry
    from pyspark_substrait.server.backend import Backend

__all__ = ["Engine", "PlanStatement", "SqlStatement", "Statement"]


@dataclass(frozen=True, kw_only=True)
class Engine:
    """Where statements run, and what they may do.

    Args:
        backend: the session, and the tables in it.
        allowed_paths: files and folders that plans themselves may name.
        registry: the extensions; None for those of the specification.
        allow_sql: whether clients may send SQL, which may do whatever the session may.
        allow_writes: whether statements may change something.
        limits: how much a statement may ask for.
        place: the current catalog and schema; None for those of the session.
    """

    backend: Backend
    allowed_paths: Sequence[str | os.PathLike[str]] = ()
    registry: Registry | None = None
    allow_sql: bool = False
    allow_writes: bool = False
    limits: ServerLimits = ServerLimits()
    place: tuple[str, str] | None = None

    @property
    def spark(self) -> SparkSession:
        """The session, which another one may replace when it has gone."""
        return self.backend.spark if self.place is None else self.backend.session_at(*self.place)

    def plan(self, message: Any) -> PlanStatement:
        """Return the statement of a ``SubstraitPlan``.

        Raises:
            Exception: one of ``refusals``, or a ``SubstraitError``.
        """
        _check_version(message.version)
        content = message.plan
        if not content:
            raise InvalidArgument("there is no plan in the message")
        with limited(Limits(message_bytes=self.limits.message_bytes)):
            statement = PlanStatement(self, loaded_plan(content, self.registry), _digest(content))
        self._check_changes(statement)
        return statement

    def sql(self, text: str) -> SqlStatement:
        """Return the statement of a text.

        Raises:
            Exception: one of ``refusals``, or a ``SubstraitError``.
        """
        if not self.allow_sql:
            raise Unauthorized("this server takes plans, but no SQL (--allow-sql, allow_sql=True)")
        content = text.encode("utf-8", "surrogatepass")
        if len(content) > (most := self.limits.message_bytes):
            raise InvalidArgument(f"the SQL text has {len(content):,} bytes, more than {most:,}")
        statement = SqlStatement(self, text, sql_statements.kind_of(text), _digest(content))
        self._check_changes(statement)
        return statement

    def _check_changes(self, statement: Statement) -> None:
        if statement.changes and not self.allow_writes:
            raise Unauthorized(
                "the statement changes something, which this server does not allow (--allow-writes, allow_writes=True)"
            )


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()[:16]


def _check_version(text: str) -> None:
    """Refuse a release that this server doesn't know. Plans state their release; this is for those that don't."""
    if not text:
        return
    parts = text.split(".")
    if len(parts) != 3 or not all(part.isascii() and part.isdigit() for part in parts):
        raise InvalidArgument(f"the release of the plan is given as {text[:40]!r}; it has three numbers, like 0.108.0")
    version = tuple(map(int, parts))
    if not FIRST_VERSION <= version <= CURRENT_VERSION:
        first, last = (".".join(map(str, each)) for each in (FIRST_VERSION, CURRENT_VERSION))
        raise Unimplemented(f"the plan is of release {text[:40]}; this server takes plans of {first} to {last}")


class Statement(ABC):
    """A statement.

    Args:
        engine: where it runs.
        digest: names it in the log.
    """

    kind: str

    def __init__(self, engine: Engine, digest: str) -> None:
        self.engine = engine
        self.digest = digest

    @property
    @abstractmethod
    def changes(self) -> bool:
        """Whether it changes something, so that it runs only where that is meant, and once."""

    @property
    @abstractmethod
    def parameters(self) -> pa.Schema:
        """A field for each parameter, in order."""

    @abstractmethod
    def schema(self) -> pa.Schema:
        """Return the schema of its rows; without fields, if it has none. If it depends on parameters, it may change."""

    @abstractmethod
    def analysed(self, values: pa.RecordBatch | None) -> Rows:
        """Return its rows, for one record of values of its parameters. They are computed when they are asked for.

        What it changes is changed now.

        Raises:
            SubstraitError: it can't run.
        """

    @abstractmethod
    def changed(self, values: pa.RecordBatch | None) -> int:
        """Carry it out, and return the number of records that it changed; -1 if that isn't known.

        Raises:
            SubstraitError: it can't run, or changes nothing.
        """


class PlanStatement(Statement):
    """A plan."""

    kind = "plan"

    def __init__(self, engine: Engine, plan: Plan, digest: str) -> None:
        super().__init__(engine, digest)
        self._plan = plan

    @cached_property
    def changes(self) -> bool:
        return writes(root(self._plan)[1])

    @cached_property
    def parameters(self) -> pa.Schema:
        return parameter_schema(declared_parameters(self._plan))

    def schema(self) -> pa.Schema:
        return arrow.schema(root_schema(self._plan))

    def analysed(self, values: pa.RecordBatch | None) -> Rows:
        found = streamed(
            self._plan,
            self.engine.spark,
            tables=self.engine.backend.tables,
            parameters=None if values is None else plan_values(declared_parameters(self._plan), values),
            allowed_paths=self.engine.allowed_paths,
            refuse_slow_patterns=True,
            limits=self.engine.limits,
        )
        return Rows(found.schema, found.batches, changed=self.changes)

    def changed(self, values: pa.RecordBatch | None) -> int:
        node = root(self._plan)[1]
        if not self.changes:
            raise InvalidPlanError("the plan changes nothing", hint="Ask for its rows instead, with GetFlightInfo")
        rows = sum(batch.num_rows for batch in self.analysed(values).batches())
        return rows if isinstance(node, Write) and node.output is OutputMode.MODIFIED_RECORDS else -1


class SqlStatement(Statement):
    """A statement of Spark SQL."""

    kind = "sql"

    def __init__(self, engine: Engine, text: str, kind: Kind, digest: str) -> None:
        super().__init__(engine, digest)
        self._text = text
        self._kind = kind

    @property
    def changes(self) -> bool:
        return self._kind is Kind.CHANGE

    @cached_property
    def parameters(self) -> pa.Schema:
        """A field for each parameter; of the type null where Spark does not say which it is."""
        spark = self.engine.spark
        types = sql_statements.parameter_types(spark, self._text) if self._markers else []
        casts = [f"CAST(NULL AS {type or 'VOID'}) AS parameter_{number}" for number, type in enumerate(types, 1)]
        if not casts:
            return pa.schema([])
        try:
            return handed_schema(sql_statements.query(spark, f"SELECT {', '.join(casts)}", []))
        except InvalidPlanError:  # a text in the query looks like a cast of a parameter
            return pa.schema([(f"parameter_{number}", pa.null()) for number, _ in enumerate(types, 1)])

    @cached_property
    def _markers(self) -> int:
        return sql_statements.markers(self._text)

    def schema(self) -> pa.Schema:
        if self.changes:
            return pa.schema([])
        values = sql_statements.null_arguments(self._text)
        return handed_schema(sql_statements.query(self.engine.spark, self._text, values))

    def analysed(self, values: pa.RecordBatch | None) -> Rows:
        spark = self.engine.spark
        if self.changes:
            self.changed(values)
            return Rows(pa.schema([]), lambda: iter(()))
        frame = sql_statements.query(spark, self._text, self._arguments(values))
        check_scan(frame, self.engine.limits)
        schema = handed_schema(frame)

        def read() -> Iterator[pa.RecordBatch]:
            with sql_errors(spark):
                yield from cast_batches(batches(frame), schema)

        return Rows(schema, read)

    def changed(self, values: pa.RecordBatch | None) -> int:
        return sql_statements.change(self.engine.spark, self._text, self._arguments(values))

    def _arguments(self, values: pa.RecordBatch | None) -> list[Any]:
        count = 0 if values is None else values.num_columns
        if count != self._markers:
            raise InvalidPlanError(f"the statement has {self._markers} parameters, and {count} have a value")
        return [] if values is None else sql_values(values)
