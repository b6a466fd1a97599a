"""Plans that run again: loaded once, compiled once, and right for other tables, settings and limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import pyspark_substrait as ps
from pyspark_substrait.api.loaded_plans import _MOST, _kept, forget_plans, kept_plan
from pyspark_substrait.builder import fn, read
from pyspark_substrait.spark import prepared_statements
from pyspark_substrait.sql.compiler.statement import statement

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def _plan() -> bytes:
    """A plan that sums a column of a table for each value of another."""
    table = read("t", {"k": "i64", "v": "i64?"})
    return table.group_by("k").agg(total=lambda row: fn.sum(row.v)).sort("k").to_plan("k", "total").to_bytes()


def test_the_same_message_is_the_same_plan() -> None:
    forget_plans()
    content = _plan()
    plan = ps.load(content)
    assert ps.load(bytes(bytearray(content))) is plan
    assert ps.load(content, strict=True) is not plan
    own = ps.Registry.default().with_yaml("urn: extension:test:none\nscalar_functions: []\n")
    assert ps.load(content, registry=own).registry is own
    assert ps.load(content) is plan and ps.load(plan.to_json()) is ps.load(plan.to_json()) == plan
    with ps.limited(ps.Limits(message_bytes=10)), pytest.raises(ps.PlanFormatError):
        ps.load(content)
    broken = content[:-3]
    for _ in range(2):
        with pytest.raises(ps.PlanFormatError):
            ps.load(broken)


def test_the_plans_kept_are_bounded() -> None:
    forget_plans()
    plan = ps.load(_plan())
    forget_plans()
    for number in range(200):
        kept_plan(bytes(_MOST // 100) + bytes([number]), (), lambda: plan)
    assert sum(len(content) for content, _ in _kept) <= _MOST and len(_kept) == 99
    forget_plans()
    assert not _kept


def test_a_statement_is_compiled_again_only_if_the_tables_answer_otherwise(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = []

    def counted(*arguments: Any, **options: Any) -> object:
        compiled.append(arguments)
        return statement(*arguments, **options)

    monkeypatch.setattr(prepared_statements, "statement", counted)
    forget_plans()
    content = _plan()
    required = pa.schema([pa.field("k", pa.int64(), False), pa.field("v", pa.int64())])
    tables = [
        (pa.table({"k": [1, 1, 2], "v": [1, 2, None]}, required), {1: 3, 2: None}, 1),
        (pa.table({"k": [3], "v": [5]}, required), {3: 5}, 1),
        (pa.table({"V": [7], "more": ["x"], "K": pa.array([4], pa.int64())}), {4: 7}, 2),
        (pa.table({"V": [8], "more": ["y"], "K": pa.array([4], pa.int64())}), {4: 8}, 2),
        (pa.table({"k": [1, 1, 2], "v": [1, 2, None]}, required), {1: 3, 2: None}, 3),
    ]
    for table, expected, times in tables:
        rows = ps.run_query(content, tables={"t": table}, spark=spark, progress=False)
        assert dict(zip(*rows.to_pydict().values(), strict=True)) == expected
        assert len(compiled) == times
    errors = []
    for forget in (False, True):  # the same error as without anything kept
        if forget:
            forget_plans()
        with pytest.raises(ps.TableError) as caught:
            ps.run_query(content, tables={"t": pa.table({"k": ["x"], "v": [1]})}, spark=spark, progress=False)
        errors.append(str(caught.value))
    assert errors[0] == errors[1]


def test_values_of_parameters_are_new_each_time(spark: SparkSession) -> None:
    table = read("t", {"v": "i64"})
    from pyspark_substrait.builder import parameter

    plan = table.filter(lambda row: row.v > parameter(0, "i64")).to_plan("v").to_bytes()
    given = {"t": pa.table({"v": [1, 2, 3]}, pa.schema([pa.field("v", pa.int64(), False)]))}
    for value, expected in ((1, [2, 3]), (2, [3]), (1, [2, 3])):
        rows = ps.run_query(plan, tables=given, parameters={0: value}, spark=spark, progress=False)
        assert rows["v"].to_pylist() == expected
