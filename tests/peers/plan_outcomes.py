"""Outcomes of DataFusion's plans of random queries: on Spark, and back in DataFusion.

``python -m tests.peers.plan_outcomes 1000`` prints how many of a thousand queries DataFusion wrote, and how many of
these load, run and agree. A second number is that of the first query.
"""

from __future__ import annotations

import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa

import pyspark_substrait as ps
from tests.peers.random_sql import TABLES, query

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [
    "OUTCOMES",
    "Outcome",
    "Written",
    "context",
    "figures",
    "in_datafusion",
    "outcomes",
    "rows",
    "rows_difference",
    "tried",
    "written",
]

#: in the order in which a query can fail
OUTCOMES = (
    "out of scope",
    "tried",
    "refused by DataFusion",
    "not written",
    "not loaded",
    "not converted",
    "not run",
    "time limit",
    "differs",
    "undetermined",
    "noted",
    "agrees",
)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a query: one of :data:`OUTCOMES`, and why."""

    query: str
    outcome: str
    why: str = ""
    notes: frozenset[str] = field(default_factory=frozenset)


def context(tables: Mapping[str, pa.Table] = TABLES) -> Any:
    """A DataFusion context with tables."""
    from datafusion import SessionContext

    made = SessionContext()
    for name, table in tables.items():
        made.register_record_batches(name, [table.to_batches()])
    return made


#: what says that values may differ
_DOUBTS = frozenset(
    {
        "datafusion-anti-join",
        "datafusion-approximate",
        "datafusion-float",
        "datafusion-cast",
        "datafusion-decimal",
        "datafusion-interval",
        "datafusion-nested-null",
        "datafusion-text",
        "datafusion-zone",
        "datafusion-frame",
    }
)


#: types of columns whose cells pyarrow doesn't give
_UNREADABLE = frozenset({pa.lib.Type_INTERVAL_MONTHS, pa.lib.Type_INTERVAL_DAY_TIME})


@dataclass(frozen=True)
class Written:
    """A query's plan as DataFusion writes it, and its rows."""

    query: str
    plan: bytes
    rows: pa.Table


def written(text: str, engine: Any, *, optimized: bool) -> Written | Outcome:
    """Return the plan of a query, optimized or not, and its rows in DataFusion; or the outcome if there is none."""
    from datafusion.substrait import Producer

    try:
        frame = engine.sql(text)
        expected = frame.to_arrow_table()
    except BaseException as error:  # a panic of Rust isn't an Exception
        return Outcome(text, "refused by DataFusion", short(error))
    if any(field.type.id in _UNREADABLE for field in expected.schema):
        return Outcome(text, "out of scope", "pyarrow doesn't read its intervals of months, and of days and a time")
    try:
        logical = frame.optimized_logical_plan() if optimized else frame.logical_plan()
        return Written(text, Producer.to_substrait_plan(logical, engine).encode(), expected)
    except BaseException as error:
        return Outcome(text, "not written", short(error))


def in_datafusion(query: Written, plan: bytes, engine: Any, notes: frozenset[str] = frozenset()) -> Outcome:
    """Return the outcome of a plan of a query in DataFusion."""
    from datafusion.substrait import Consumer, Serde

    try:
        logical = Consumer.from_substrait_plan(engine, Serde.deserialize_bytes(plan))
        found = engine.create_dataframe_from_logical_plan(logical).to_arrow_table()
    except BaseException as error:
        return Outcome(query.query, "not run", short(error), notes)
    return compared(query.query, found, query.rows, notes)


def tried(
    query: Written,
    engine: Any,
    spark: SparkSession | None,
    tables: Callable[[ps.Plan], Mapping[str, pa.Table]] = lambda plan: TABLES,
) -> tuple[Outcome, Outcome | None]:
    """Return the outcomes of a query's plan on Spark (if there is a session), and back in DataFusion.

    Args:
        query: the query and its plan.
        engine: the DataFusion context.
        spark: a session; None to load the plan only.
        tables: what gives the tables of a plan.
    """
    text = query.query
    try:
        loaded = ps.load(query.plan)
    except ps.SubstraitError as error:
        return Outcome(text, "not loaded", short(error)), None
    notes = frozenset(note.rule for note in loaded.notes)
    given = tables(loaded)
    try:
        found = query.rows if spark is None else ps.run_query(loaded, tables=given, spark=spark)
        there = compared(text, found, query.rows, notes)
    except ps.SubstraitError as error:
        there = Outcome(text, "not run", short(error), notes)
    try:
        converted = ps.for_target(loaded, "datafusion", tables=given)
    except ps.SubstraitError as error:
        return there, Outcome(text, "not converted", short(error), notes)
    back = frozenset(note.rule for note in converted.notes)
    return there, in_datafusion(query, converted.to_bytes(), engine, back)


def outcomes(text: str, engine: Any, spark: SparkSession | None, *, optimized: bool) -> tuple[Outcome, Outcome | None]:
    """Return the outcomes of a query on Spark and back in DataFusion."""
    query = written(text, engine, optimized=optimized)
    return (query, None) if isinstance(query, Outcome) else tried(query, engine, spark)


def compared(text: str, found: pa.Table, expected: pa.Table, notes: frozenset[str]) -> Outcome:
    ordered = re.search(r"ORDER BY [^()]* LIMIT [\d OFSET]*$", text) is not None
    difference = rows_difference(rows(found), rows(expected), ordered)
    if difference is None:
        return Outcome(text, "agrees", notes=notes)
    return Outcome(text, "noted" if notes & _DOUBTS or "target-value" in notes else "differs", difference, notes)


def rows(table: pa.Table) -> list[tuple[Any, ...]]:
    columns = [[_cell(cell) for cell in _exact(column).to_pylist()] for column in table.columns]
    return list(zip(*columns, strict=True)) if columns else [()] * table.num_rows


def _exact(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of timestamps as numbers of nanoseconds, which Python's don't have; dates as numbers."""
    if pa.types.is_date(column.type):
        return column.cast(pa.date32()).cast(pa.int32())
    if pa.types.is_timestamp(column.type):
        factor = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}[column.type.unit]
        cells = column.cast(pa.int64()).to_pylist()
        return pa.chunked_array([pa.array([None if cell is None else Decimal(cell * factor) for cell in cells])])
    return column


def _cell(value: Any) -> Any:
    match value:
        case dict():
            return tuple(_cell(one) for one in value.values())
        case list():
            return tuple(_cell(one) for one in value)
        case _:
            return value


def _sorted(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return sorted(rows, key=lambda row: [_rank(value) for value in row])


def _rank(value: Any) -> tuple[int, str]:
    if isinstance(value, float):
        return (1, "nan") if math.isnan(value) else (2, f"{value + 0.0:.9e}")
    return 0, repr(value)


def rows_difference(found: list[tuple[Any, ...]], expected: list[tuple[Any, ...]], ordered: bool) -> str | None:
    if len(found) != len(expected):
        return f"{len(found)} rows instead of {len(expected)}"
    if not ordered:
        found, expected = _sorted(found), _sorted(expected)
    for mine, other in zip(found, expected, strict=True):
        for one, two in zip(mine, other, strict=True):
            if not _alike(one, two):
                return f"{one!r} instead of {two!r}"
    return None


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        if math.isnan(one) or math.isnan(other):
            return math.isnan(one) and math.isnan(other)
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_alike, one, other))
    return (one is None) is (other is None) and bool(one == other)


def short(error: BaseException) -> str:
    return re.sub(r"\s+", " ", str(error))[:300]


# figures -------------------------------------------------------------------------------------------------------------


def _reason(why: str) -> str:
    """What failures of one kind have in common."""
    why = re.sub(r"^[\w.\[\]]+: ", "", why)
    return re.sub(r"\d+", "9", why)[:110]


def figures(title: str, outcomes: Sequence[Outcome]) -> Iterator[str]:
    counts = Counter(one.outcome for one in outcomes)
    yield f"{title}: {len(outcomes)} queries; " + ", ".join(
        f"{counts[name]} {name}" for name in OUTCOMES if counts[name]
    )
    reasons: dict[tuple[str, str], list[Outcome]] = {}
    for one in outcomes:
        if one.outcome not in ("agrees", "refused by DataFusion", "tried", "out of scope"):
            reasons.setdefault((one.outcome, _reason(one.why)), []).append(one)
    for (outcome, reason), those in sorted(reasons.items(), key=lambda item: -len(item[1])):
        yield f"  {len(those):4} {outcome}: {reason}"
        yield f"       {those[0].query}"


def main(count: int, first: int) -> None:
    """Try queries, as DataFusion writes them before and after it optimizes them, and print what became of them."""
    from pyspark_substrait.spark.session_start import embedded_session
    from tests.conftest import QUICK_SETTINGS

    spark, engine = embedded_session("local[1]", None, **QUICK_SETTINGS), context()
    for optimized in (False, True):
        pairs = [outcomes(query(seed), engine, spark, optimized=optimized) for seed in range(first, first + count)]
        plans = "optimized plans" if optimized else "plans"
        print(*figures(f"{plans} on Spark", [there for there, _ in pairs]), sep="\n")
        print(*figures(f"{plans} back in DataFusion", [back for _, back in pairs if back is not None]), sep="\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
