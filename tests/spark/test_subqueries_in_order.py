"""Subqueries over records in order, whose sorts Spark leaves out below the joins that it makes of subqueries.

Spark 4.3 itself gives b = 10, 20 for ``SELECT (SELECT max(k) FROM x WHERE k = a), b FROM (SELECT * FROM t ORDER BY a
DESC LIMIT 2)`` over (1, 10), (2, 20), (3, 30).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import pyspark_substrait as ps
from pyspark_substrait.builder import Column, Frame, Record, call, exists, read, scalar
from tests.reference import evaluate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES = {
    "t": pa.table({"a": pa.array([1, 2, 3, 4, None], pa.int64()), "b": pa.array([10, 20, 30, 40, 50], pa.int64())}),
    "x": pa.table({"k": pa.array([1, 2, 3, 3], pa.int64()), "v": pa.array([5, 6, 7, 8], pa.int64())}),
}


def inner() -> Frame:
    return read("x", {"k": "i64?", "v": "i64?"})


def in_order() -> Frame:
    return read("t", {"a": "i64?", "b": "i64?"}).sort(lambda t: t.a.desc())


def largest(t: Record) -> Column:
    return scalar(inner().filter(lambda x: x.k == t.a).agg(largest=lambda x: call("max", x.v)))


def is_there(t: Record) -> Column:
    return exists(inner().filter(lambda x: x.k == t.a))


def is_among(t: Record) -> Column:
    return t.a.isin(inner().select("k"))


@pytest.mark.parametrize("query", [largest, is_there, is_among])
@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("place", ["column", "condition", "condition below a limit"])
def test_the_order_is_kept(query: Callable[[Record], Column], limited: bool, place: str, spark: SparkSession) -> None:
    frame = in_order().limit(3) if limited else in_order()
    condition: Callable[[Record], Column] = query if query is not largest else lambda t: largest(t) > 5
    match place:
        case "column":
            frame = frame.select("b", found=query)
        case "condition":
            frame = frame.filter(condition)
        case _:
            frame = frame.filter(condition).limit(2)
    plan = frame.to_plan()
    assert evaluate(plan, TABLES).difference(ps.run_query(plan, tables=TABLES, spark=spark)) is None


def test_several_subqueries(spark: SparkSession) -> None:
    frame = in_order().limit(4).select("b", largest=largest, there=is_there, among=is_among).filter(lambda t: t.there)
    plan = frame.to_plan()
    assert evaluate(plan, TABLES).difference(ps.run_query(plan, tables=TABLES, spark=spark)) is None
