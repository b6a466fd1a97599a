"""A plan of the matrix on an engine, in the engine's own process."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import pyspark_substrait as ps
from pyspark_substrait.engines import sessions
from tests.peers.matrix_cases import Case
from tests.peers.matrix_orders import with_total_orders, without_limit

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "Answer",
    "Form",
    "answer",
    "of_the_producer",
    "of_the_text",
    "start_nothing",
    "start_spark",
    "written",
]


#: the plan as it is, with limits over total orders, or without its last limit
Form: TypeAlias = Literal["given", "total", "unlimited"]
_SESSIONS: dict[tuple[str, tuple[tuple[str, str], ...]], sessions.EngineSession] = {}


@dataclass(frozen=True)
class Answer:
    """How far an engine came with a plan: the last step that it did, its rows, or why there are none."""

    step: str
    rows: pa.Table | None = None
    fault: str = ""


def start_spark() -> None:
    """Start Spark with settings for small queries."""
    from pyspark_substrait.spark.session_start import embedded_session
    from tests.conftest import QUICK_SETTINGS

    embedded_session("local[1]", None, **QUICK_SETTINGS)


def start_nothing() -> None:
    """Start an engine without a session of its own."""


def written(case: Case) -> bytes | str | BaseException:
    """Return the plan of a case, or why there is none."""
    try:
        return case.write()
    except BaseException as error:  # a panic of the producer
        return RuntimeError(_line(error))


def answer(engine: str, source: bytes | str, tables: Mapping[str, str], form: Form = "given") -> Answer:
    """Run a plan on an engine."""
    try:
        plan = ps.bind(source, tables)
    except Exception as error:
        return Answer("written", fault=_line(error))
    if form != "given":
        plan = with_total_orders(plan) if form == "total" else without_limit(plan)
    try:
        texts = engine in ("spark", "duckdb")
        made = ps.to_sql(plan, dialect=engine) if texts else ps.for_target(plan, engine).to_bytes()
    except Exception as error:
        return Answer("loaded", fault=_line(error))
    try:
        if engine == "spark":
            return Answer("ran", ps.run_query(plan, tables=tables, progress=False))
        key = engine, tuple(tables.items())
        if key not in _SESSIONS:
            _SESSIONS[key] = sessions.session(engine, tables)
        return Answer("ran", _SESSIONS[key].run(made))
    except BaseException as error:  # of another library, whose faults may be panics
        return Answer("converted", fault=_line(error))


def of_the_text(case: Case, *, unlimited: bool = False) -> Answer:
    """Return what DuckDB gives for the SQL text that a plan was made of."""
    import duckdb
    import sqlglot

    if case.sql is None:
        return Answer("written", fault="there is no text")
    with duckdb.connect() as connection:
        for name, path in case.tables.items():
            connection.execute(f"CREATE VIEW {name} AS FROM '{path}'")
        connection.execute(f"SET default_null_order = '{case.nulls}'")
        fault = ""
        for dialect in ("duckdb", "spark"):
            text = re.sub("`", '"', case.sql)
            try:
                if dialect == "spark" or unlimited:
                    tree = sqlglot.parse_one(case.sql if dialect == "spark" else text, read=dialect)
                    if unlimited:
                        tree.set("limit", None)
                    text = tree.sql(dialect="duckdb")
                return Answer("ran", connection.sql(text).to_arrow_table())
            except Exception as error:
                fault = fault or _line(error)
        return Answer("written", fault=fault)


def of_the_producer(case: Case) -> Answer:
    """Return what the producer's own engine gives for the query."""
    if case.rows is None:
        return Answer("written", fault="it has no engine")
    try:
        return Answer("ran", case.rows())
    except BaseException as error:
        return Answer("written", fault=_line(error))


def _line(error: BaseException) -> str:
    text = next(iter(str(error).strip().splitlines()), "")
    name = "" if isinstance(error, ps.SubstraitError) else f"{type(error).__name__}: "
    return f"{name}{text}"[:300]
