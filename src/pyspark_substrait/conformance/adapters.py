"""Adapters: what an engine in Python needs to run plans. Each lives in a process of its own (``worker``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol, TypeAlias

import pyarrow as pa

from pyspark_substrait.api.for_target import for_target
from pyspark_substrait.api.loading import load
from pyspark_substrait.api.run import run_query
from pyspark_substrait.api.to_sql import to_sql
from pyspark_substrait.engines import sessions
from pyspark_substrait.spark.session_start import embedded_session

__all__ = ["ADAPTERS", "Adapter", "Tables"]

Tables: TypeAlias = Mapping[str, pa.Table]


class Adapter(Protocol):
    """An engine that runs plans."""

    @property
    def version(self) -> str:
        """Return its release."""

    def load(self, plan: bytes, tables: Tables, *, convert: bool) -> Callable[[], pa.Table]:
        """Load a plan, and return a function that runs it and returns the rows.

        An exception of this method means that the engine refuses the plan; one of the returned function, that the plan
        failed on its data.

        Args:
            plan: its bytes.
            tables: the named tables that it reads.
            convert: whether it may be brought into the form of the engine first.
        """


class _Spark:
    """Spark, through this package."""

    def __init__(self) -> None:
        self._session: Any = embedded_session(None, None, **{"spark.sql.shuffle.partitions": 2})

    @property
    def version(self) -> str:
        return str(self._session.version)

    def load(self, plan: bytes, tables: Tables, *, convert: bool) -> Callable[[], pa.Table]:
        loaded = load(plan)
        return lambda: run_query(loaded, tables=tables, spark=self._session, progress=False)


class _Sessions:
    """Sessions of an engine, of which the last one is kept for plans over the same tables."""

    def __init__(self, engine: str) -> None:
        self._engine = engine
        self._last: tuple[Tables, sessions.EngineSession] | None = None

    def over(self, tables: Tables) -> sessions.EngineSession:
        """Return a session with the tables."""
        if self._last is None or self._last[0] != tables:
            self._last = tables, sessions.session(self._engine, tables, isolated=False)
        return self._last[1]


class _Other:
    """DataFusion or Acero."""

    def __init__(self, engine: str) -> None:
        self._engine = engine
        self._sessions = _Sessions(engine)

    @property
    def version(self) -> str:
        return sessions.release(self._engine)

    def load(self, plan: bytes, tables: Tables, *, convert: bool) -> Callable[[], pa.Table]:
        given = for_target(plan, self._engine).to_bytes() if convert else plan
        return self._sessions.over(tables).prepared(given)


class _DuckDB:
    """DuckDB, which has no Substrait any more: the plan as its SQL (``to_sql``)."""

    def __init__(self) -> None:
        self._sessions = _Sessions("duckdb")

    @property
    def version(self) -> str:
        return sessions.release("duckdb")

    def load(self, plan: bytes, tables: Tables, *, convert: bool) -> Callable[[], pa.Table]:
        return self._sessions.over(tables).prepared(to_sql(plan, dialect="duckdb", formatted=False))


ADAPTERS: Final[Mapping[str, Callable[[], Adapter]]] = {
    "spark": _Spark,
    "datafusion": lambda: _Other("datafusion"),
    "duckdb": _DuckDB,
    "acero": lambda: _Other("acero"),
}
