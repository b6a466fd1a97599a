"""TopN: a sort and a fetch in one. Expected rows are DuckDB's, and for ties those of the standard's FETCH WITH TIES."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import random
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import ExecutionError, InvalidPlanError
from pyspark_substrait.model.expressions import Expression, ScalarSubquery, SortDirection, SortField
from pyspark_substrait.model.relations import Fetch, FetchMode, Relation, TopN
from tests.spark.plans import (
    INT,
    INT_,
    TEXT_,
    aggregate,
    answers,
    call,
    col,
    emit,
    group,
    long,
    number,
    ordered,
    outer,
    plan,
    project,
    rows,
    sort,
    text,
    values,
    where,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_random = random.Random(5)
#: a number, and values with many ties and nulls
CELLS: list[tuple[Any, ...]] = [
    (i, _random.choice([None, 1, 1, 2, 3]), _random.choice([None, "a", "b"])) for i in range(24)
]
TABLE = values([INT, INT_, TEXT_], CELLS)
ASC, DESC = SortDirection.ASC_NULLS_FIRST, SortDirection.DESC_NULLS_LAST


def c(position: int) -> Any:
    return col(TABLE, position)


def top(
    sorts: tuple[SortField, ...],
    count: Expression | None,
    offset: Expression | None = None,
    mode: FetchMode = FetchMode.ROWS_ONLY,
    input: Relation = TABLE,
    **more: Any,
) -> TopN:
    return TopN(input=input, sorts=sorts, count=count, offset=offset, mode=mode, **more)


@pytest.fixture(scope="module")
def duck() -> Any:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (id INTEGER, x INTEGER, s VARCHAR)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", CELLS)
        yield connection


def computed(value: int | None) -> Expression:
    """The number as an expression that no one folds in Python."""
    return call("add", long(value), long(0))


def test_without_ties(spark: SparkSession, duck: Any) -> None:
    """Unspecified is rows only."""
    by = (sort(c(1), DESC), sort(c(0)))
    cases = []
    for offset, count, made in (
        (None, 0, long),
        (None, 5, long),
        (3, 4, long),
        (3, 4, computed),
        (0, 24, computed),
        (30, 2, computed),
    ):
        sql = f"SELECT * FROM t ORDER BY x DESC NULLS LAST, id LIMIT {count} OFFSET {offset or 0}"
        mode = FetchMode.ROWS_ONLY if made is long else FetchMode.UNSPECIFIED
        cases.append((top(by, made(count), None if offset is None else made(offset), mode), sql))
    everything = "SELECT * FROM t ORDER BY x DESC NULLS LAST, id"
    for null in (long(None), computed(None)):
        cases.append((top(by, null), everything))
        cases.append((top(by, number(2), null), f"{everything} LIMIT 2"))
    cases.append((top(by, long(2**62), long(23)), f"{everything} OFFSET 23"))
    cases.append((top(by, long(3), common=emit(2, 0)), "SELECT s, id FROM t ORDER BY x DESC NULLS LAST, id LIMIT 3"))
    for found, (_, sql) in zip(answers(spark, [node for node, _ in cases]), cases, strict=True):
        assert ordered(found) == ordered(duck.execute(sql).fetchall()), sql
    assert rows(spark, top(by, long(7), long(2))) == duck.execute(f"{everything} LIMIT 7 OFFSET 2").fetchall()


def with_ties(offset: int, count: int | None, keys: str) -> str:
    """The standard: the records from the offset on, up to the last one, and what ties with it."""
    ranked = f"SELECT *, row_number() OVER (ORDER BY {keys}, id) AS n, rank() OVER (ORDER BY {keys}) AS r FROM t"
    if count == 0:
        return f"SELECT id, x, s FROM ({ranked}) WHERE false"
    last = f"(SELECT max(r) FROM ({ranked}) WHERE n <= {offset} + {count})" if count is not None else "1000"
    return f"SELECT id, x, s FROM ({ranked}) WHERE n > {offset} AND r <= {last}"


@pytest.mark.sweep
def test_with_ties(spark: SparkSession, duck: Any) -> None:
    """Which of the records that tie an offset skips is left open: the sort keys and the numbers of records are told."""
    cases: list[tuple[TopN, str]] = []
    for sorts, keys in (
        ((sort(c(1)),), "x NULLS FIRST"),
        ((sort(c(1), DESC), sort(c(2))), "x DESC NULLS LAST, s NULLS FIRST"),
        ((sort(number(1)),), "1 + 0 * id"),
        ((sort(call("modulus", c(0), number(3))), sort(text("x"))), "id % 3"),
    ):
        bounds = ((0, 0, computed), (0, 1, long), (0, 5, computed), (2, 0, computed), (1, 1, long), (3, 6, computed))
        for offset, count, made in (*bounds, (5, None, computed)):
            node = top(sorts, made(count), made(offset) if offset else None, FetchMode.WITH_TIES)
            cases.append((node, with_ties(offset, count, keys)))
    found = answers(spark, [node for node, _ in cases])
    for got, (node, sql) in zip(found, cases, strict=True):
        wanted = duck.execute(sql).fetchall()
        skips = node.offset is not None and node.sorts[0].expr != c(0)
        assert (ordered(_keys(got)) == ordered(_keys(wanted))) if skips else ordered(got) == ordered(wanted), sql


def _keys(found: list[tuple[Any, ...]]) -> list[Any]:
    """What is the same whichever of the records that tie are skipped: how many there are."""
    return [()] * len(found)


def test_ties_by_hand(spark: SparkSession) -> None:
    table = values([INT], [(v,) for v in (10, 20, 20, 20, 30, 40)])
    by = (sort(col(table, 0)),)

    def found(count: Any, offset: Any = None) -> list[int]:
        return [row[0] for row in rows(spark, top(by, count, offset, FetchMode.WITH_TIES, table))]

    assert found(long(2)) == [10, 20, 20, 20]
    assert found(long(1), long(1)) == [20, 20, 20]
    assert found(long(1), long(2)) == [20, 20]
    assert found(long(2), long(3)) == [20, 30]
    assert found(computed(0), computed(2)) == []
    assert found(long(2**63 - 1), long(2**63 - 1)) == []
    assert found(long(2**63 - 1), long(5)) == [40]


def test_nan_and_zeros_tie_as_spark_sorts_them(spark: SparkSession) -> None:
    from tests.spark.plans import REAL

    table = values([REAL], [(v,) for v in (0.0, -0.0, 1.0, float("nan"), float("nan"))])
    least = top((sort(col(table, 0)),), long(1), None, FetchMode.WITH_TIES, table)
    assert [row[0] for row in rows(spark, least)] == [0.0, 0.0]
    most = top((sort(col(table, 0), DESC),), long(1), None, FetchMode.WITH_TIES, table)
    assert [str(row[0]) for row in rows(spark, most)] == ["nan", "nan"]


def test_keys_by_subqueries_and_correlated_ones(spark: SparkSession, duck: Any) -> None:
    other = values([INT, INT], [(i, i * 7 % 5) for i in range(24)])
    duck.execute("CREATE OR REPLACE TABLE o AS SELECT i AS a, i * 7 % 5 AS b FROM range(24) r(i)")
    best = group(
        where(other, call("equal", col(other, 0), outer(TABLE, 0, steps_out=1))), [], [aggregate("max", col(other, 1))]
    )
    key = ScalarSubquery(input=best)
    found = rows(spark, top((sort(key, DESC), sort(c(0))), long(5)))
    sql = "SELECT * FROM t ORDER BY (SELECT max(b) FROM o WHERE a = id) DESC NULLS LAST, id LIMIT 5"
    assert found == duck.execute(sql).fetchall()
    # the first ones among the records of each outer record
    mine = where(other, call("equal", col(other, 1), outer(TABLE, 1, steps_out=1)))
    first = top((sort(col(mine, 0), DESC),), long(1), long(1), input=mine)
    relation = project(TABLE, c(0), ScalarSubquery(input=project(first, col(first, 0))))
    sql = "SELECT id, (SELECT a FROM o WHERE b = x ORDER BY a DESC LIMIT 1 OFFSET 1) FROM t"
    assert ordered(rows(spark, relation)) == ordered(duck.execute(sql).fetchall())


def test_the_order_lasts(spark: SparkSession) -> None:
    best = top((sort(c(0), DESC),), long(10), mode=FetchMode.WITH_TIES)
    kept = where(best, call("lt", col(best, 0), number(20)))
    assert [row[0] for row in rows(spark, kept)] == [19, 18, 17, 16, 15, 14]
    assert [row[0] for row in rows(spark, Fetch(input=kept, count_expr=long(2)))] == [19, 18]


def test_spark_keeps_no_more_than_it_needs(spark: SparkSession) -> None:
    def physical(node: Relation) -> str:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            ps.from_substrait(plan(node), spark).explain()
        return out.getvalue()

    assert "TakeOrderedAndProject" in physical(top((sort(c(1)),), long(3)))
    assert "TakeOrderedAndProject" in physical(top((sort(c(1)),), long(3), long(2)))
    assert "WindowGroupLimit" in physical(top((sort(c(1)),), long(3), mode=FetchMode.WITH_TIES))


def test_faults(spark: SparkSession) -> None:
    by = (sort(c(1)),)
    for node, path, words in (
        (top((), long(1)), "sorts", "no sort fields"),
        (top(by, None), "count", "there is no count"),
        (top(by, text("1")), "count", "must be an integer"),
        (top(by, long(-1)), "count", "cannot be negative"),
        (top(by, long(1), number(-2)), "offset", "cannot be negative"),
        (top(by, c(0)), "count", "there is no field 0"),
    ):
        for mode in FetchMode:
            with pytest.raises(InvalidPlanError, match=words) as caught:
                ps.to_sql(plan(dataclasses.replace(node, mode=mode)))
            assert caught.value.path.startswith(f"relations[0].root.input.top_n.{path}")
    none = where(TABLE, call("lt", c(0), number(0)))
    for count, offset in ((computed(-1), None), (long(1), computed(-1)), (computed(1), computed(-3))):
        for mode in (FetchMode.ROWS_ONLY, FetchMode.WITH_TIES):
            with pytest.raises(ExecutionError, match="a bound of a fetch is negative"):
                rows(spark, top(by, count, offset, mode, none if mode is FetchMode.WITH_TIES else TABLE))
