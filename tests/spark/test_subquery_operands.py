"""Subqueries as operands of other expressions, and window functions as operands of subqueries."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import pyspark_substrait as ps
from pyspark_substrait.builder import Column, Frame, Record, call, exists, lit, read, scalar
from tests.reference import evaluate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES = {
    "t": pa.table({"a": pa.array([1, 2, None], pa.int64()), "p": [True, False, None]}),
    "x": pa.table({"k": pa.array([1, 3], pa.int64())}),
}


def inner() -> Frame:
    return read("x", {"k": "i64?"})


def there(t: Record) -> Column:
    return exists(inner().filter(lambda x: x.k == t.a))


@pytest.mark.parametrize(
    "column",
    [
        lambda t: call("is_false", there(t)),
        lambda t: there(t) == t.p,
        lambda t: lit(False) >= there(t),
        lambda t: call("xor", there(t), t.p),
        lambda t: call("is_null", there(t)),
        lambda t: there(t).cast("i32"),
    ],
    ids=["is false", "equal", "greater", "xor", "is null", "cast"],
)
def test_exists(column: Callable[[Record], Column], spark: SparkSession) -> None:
    frame = read("t", {"a": "i64?", "p": "boolean?"}).select("a", found=column)
    plan = frame.to_plan()
    assert evaluate(plan, TABLES).difference(ps.run_query(plan, tables=TABLES, spark=spark)) is None


def largest(t: Record) -> Column:
    return scalar(inner().filter(lambda x: x.k == t.a).group_by().agg(largest=lambda x: call("max", x.k)))


@pytest.mark.parametrize(
    "condition",
    [
        lambda t: call("nullif", there(t), lit(False)),
        lambda t: call("nullif", largest(t), lit(2)) == lit(1),
        lambda t: call("between", largest(t), lit(1), lit(2)),
        lambda t: call("divide", lit(6), largest(t), on_division_by_zero="NULL") == lit(6),
        lambda t: call("modulus", lit(6), largest(t), on_domain_error="NULL") == lit(0),
    ],
    ids=["null if exists", "null if", "between", "divide", "modulus"],
)
def test_above_a_union(condition: Callable[[Record], Column], spark: SparkSession) -> None:
    both = read("t", {"a": "i64?", "p": "boolean?"})
    plan = both.union_all(both).filter(condition).to_plan()
    assert evaluate(plan, TABLES).difference(ps.run_query(plan, tables=TABLES, spark=spark)) is None


@pytest.mark.parametrize(
    ("condition", "exists"),
    [
        (lambda t: t.p | t.a.isin(inner()), 0),
        (lambda t: t.p | (t.a.isin(inner()) & (t.a > 0)) | there(t), 1),
        (lambda t: t.p | ~t.a.isin(inner()), 2),
        (lambda t: call("is_null", t.p | t.a.isin(inner())), 2),
    ],
    ids=["or", "or and", "or not", "is null"],
)
def test_alternatives(condition: Callable[[Record], Column], exists: int, spark: SparkSession) -> None:
    """Below AND and OR, an IN that is unknown may be false; anywhere else it has to be known, by a second query."""
    plan = read("t", {"a": "i64?", "p": "boolean?"}).filter(condition).to_plan()
    assert evaluate(plan, TABLES).difference(ps.run_query(plan, tables=TABLES, spark=spark)) is None
    assert ps.to_sql(plan).count("EXISTS") == exists


def test_a_window_function_beside_a_query_that_may_give_null_is_refused() -> None:
    frame = read("t", {"a": "i64?", "p": "boolean?"})
    plan = frame.select(found=lambda t: call("sum", t.a).over(order_by=t.a).isin(inner())).to_plan()
    with pytest.raises(ps.UnsupportedPlanError, match="window function that is compared") as error:
        ps.to_sql(plan)
    assert "needles[0]" in str(error.value)
