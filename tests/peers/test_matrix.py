"""The tools of the matrix: processes that may not answer, and plans whose limits cut no ties."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

import pyspark_substrait as ps
from pyspark_substrait.builder import read
from pyspark_substrait.engines import sessions
from tests.peers.matrix_orders import with_total_orders, without_limit
from tests.peers.matrix_process import EngineProcess, NoAnswerError

NUMBERS = pa.table({"kind": ["a", "a", "a", "b"], "id": pa.array([4, 2, 3, 1], pa.int64())})


@pytest.fixture
def process() -> Iterator[EngineProcess]:
    made = EngineProcess(os.getpid)
    yield made
    made.close()


def test_a_process_that_does_not_answer_is_started_again(process: EngineProcess) -> None:
    first = process.call(os.getpid, seconds=60)
    assert first != os.getpid()
    with pytest.raises(NoAnswerError, match="no answer in 1 s"):
        process.call(time.sleep, 600, seconds=1)
    assert process.call(os.getpid, seconds=60) != first


def test_a_process_that_ends_is_started_again(process: EngineProcess) -> None:
    with pytest.raises(NoAnswerError, match="SIGABRT"):
        process.call(os.abort, seconds=60)
    assert process.call(abs, -3, seconds=60) == 3


def rows(plan: Any) -> list[tuple[Any, ...]]:
    pytest.importorskip("duckdb")
    pytest.importorskip("sqlglot")
    found = sessions.session("duckdb", {"numbers": NUMBERS}).run(ps.to_sql(plan, dialect="duckdb"))
    return sorted(zip(*(column.to_pylist() for column in found.columns), strict=True))


def test_a_limit_in_a_total_order_has_one_result() -> None:
    table = read("numbers", {"kind": "string?", "id": "i64?"})
    tied = table.sort("kind").limit(2)
    assert rows(with_total_orders(tied.to_plan())) == [("a", 2), ("a", 3)]
    unsorted = table.limit(1)
    assert rows(with_total_orders(unsorted.to_plan())) == [("a", 2)]
    below = table.top_n(2, "kind").group_by("kind").agg().sort("kind")
    assert rows(with_total_orders(below.to_plan())) == [("a",)]


def test_a_plan_without_its_limit_has_all_records() -> None:
    table = read("numbers", {"kind": "string?", "id": "i64?"})
    assert len(rows(without_limit(table.sort("kind").limit(2).to_plan()))) == 4
    assert len(rows(without_limit(table.sort("kind").limit(2).select("id").to_plan()))) == 4
    offset = table.sort("kind").limit(2, offset=1)
    assert len(rows(without_limit(offset.to_plan()))) == 2
