"""The tables that built plans run over, in Spark and in DuckDB."""

from __future__ import annotations

import math
from datetime import date, datetime
from decimal import Decimal as D
from typing import Any

import pyarrow as pa

from pyspark_substrait.builder import Frame, read

ORDERS = pa.table(
    {
        "id": pa.array([1, 2, 3, 4, 5, 6, 7], pa.int64()),
        "customer": pa.array([10, 10, 20, None, 30, 20, 10], pa.int32()),
        "quantity": pa.array([2, 1, 3, 1, None, 10, 1], pa.int32()),
        "price": pa.array(
            [D("9.50"), D("10.00"), None, D("0.00"), D("-3.25"), D("10.00"), D("99999.99")], pa.decimal128(10, 2)
        ),
        "score": pa.array([0.5, -1.0, None, 2.5, 0.1, 2.5, 100.0], pa.float64()),
        "day": pa.array(
            [
                date(2024, 2, 29),
                date(2024, 1, 1),
                date(1999, 12, 31),
                None,
                date(2024, 2, 29),
                date(2000, 1, 1),
                date(2024, 3, 1),
            ]
        ),
        "moment": pa.array(
            [
                datetime(2024, 2, 29, 12, 30),
                datetime(2024, 1, 1),
                None,
                datetime(1969, 12, 31, 23, 59, 59),
                datetime(2024, 2, 29, 12, 30),
                datetime(2000, 1, 1),
                datetime(2024, 3, 1, 0, 0, 1),
            ],
            pa.timestamp("us"),
        ),
        "note": pa.array(["a", "", None, "B c", "a", "ü%_", "a'b"], pa.string()),
        "paid": pa.array([True, False, None, True, False, True, None], pa.bool_()),
    }
)
CUSTOMERS = pa.table(
    {
        "customer": pa.array([10, 20, 40], pa.int32()),
        "name": pa.array(["Ada", "Bob", None], pa.string()),
        "address": pa.array(
            [{"city": "Rome", "zip": 1}, {"city": None, "zip": 2}, None],
            pa.struct([("city", pa.string()), ("zip", pa.int32())]),
        ),
        "tags": pa.array([["x", "y"], [], None], pa.list_(pa.string())),
        "points": pa.array([[3, 1, None], [5], []], pa.list_(pa.int32())),
        "limits": pa.array([[("low", 1), ("high", 9)], [], None], pa.map_(pa.string(), pa.int32())),
    }
)
TABLES: dict[str, Any] = {"orders": ORDERS, "customers": CUSTOMERS}


def orders() -> Frame:
    return read("orders", ORDERS.schema)


def customers() -> Frame:
    return read("customers", CUSTOMERS.schema)


def plain(value: Any) -> Any:
    """A value in a form that both engines give alike."""
    match value:
        case float() if math.isnan(value):
            return "NaN"
        case bool():
            return value
        case int() | float() | D():  # DuckDB counts and adds in other types
            return format(D(str(round(value, 9))).normalize() + 0, "f")
        case list():
            return tuple(map(plain, value))
        case dict():
            return tuple((key, plain(item)) for key, item in value.items())
        case tuple():
            return tuple(map(plain, value))
        case _:
            return value


def rows(table: Any) -> list[tuple[Any, ...]]:
    """The records of an Arrow table."""
    columns = [column.to_pylist() for column in table.columns]
    return [tuple(map(plain, row)) for row in zip(*columns, strict=True)]
