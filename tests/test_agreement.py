"""The comparison that other tests rely on: it must see every difference, and none where there is none."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from tests.agreement import assert_same_rows


def column(values: list[Any], kind: pa.DataType | None = None) -> pa.Table:
    return pa.table({"x": pa.array(values, kind)})


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (column([1, 2], pa.int32()), column([2, 1], pa.int64())),
        (column([Decimal("1.50")], pa.decimal128(10, 2)), column([Decimal("1.5")], pa.decimal128(38, 1))),
        (column([Decimal("7.00")], pa.decimal128(10, 2)), column([7])),
        (column([1e15]), column([1e15 + 0.5])),
        (column([float("nan"), None]), column([None, float("nan")])),
        (column([[1, None]]), column([[1, None]])),
        (column([{"a": 1}]), column([{"b": 1}])),
        (
            column([datetime.datetime(2024, 1, 1, 12)], pa.timestamp("us", "UTC")),
            column([datetime.datetime(2024, 1, 1, 12)], pa.timestamp("ns")),
        ),
        (pa.table({"k": ["a", "b"], "v": [1.0, 2.0]}), pa.table({"k": ["b", "a"], "v": [2.0 + 1e-12, 1.0]})),
    ],
)
def test_equal(left: pa.Table, right: pa.Table) -> None:
    assert_same_rows(left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (column([1]), column([2])),
        (column([1]), column([None], pa.int64())),
        (column([1]), column([True])),
        (column(["1"]), column([1])),
        (column([1, 1, 2]), column([1, 2, 2])),
        (column([1.0]), column([1.0 + 1e-6])),
        (column([Decimal("1.50")]), column([Decimal("1.51")])),
        (column([float("nan")]), column([1.0])),
        (column([[1, 2]]), column([[2, 1]])),
        (column([[1]]), column([[1, 1]])),
        (column([{"a": 1}]), column([{"a": None}])),
        (column([datetime.date(2024, 1, 1)]), column([datetime.date(2024, 1, 2)])),
        (column([1]), column([1, 1])),
        (column([1]), pa.table({"x": [1], "y": [1]})),
    ],
)
def test_different(left: pa.Table, right: pa.Table) -> None:
    with pytest.raises(AssertionError):
        assert_same_rows(left, right)


def test_order_counts_when_asked() -> None:
    with pytest.raises(AssertionError, match="row 0, column 'x': 1, expected 2"):
        assert_same_rows(column([1, 2]), column([2, 1]), ordered=True)


def test_message_shows_rows_of_one_side() -> None:
    with pytest.raises(AssertionError, match=r"3 rows, expected 2\n  only in the actual rows:\n    \(3,\)"):
        assert_same_rows(column([1, 2, 3]), column([1, 2]))
