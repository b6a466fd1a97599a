"""The tables of random plans: few rows, with nulls, NaN, -0.0, infinities, extremes, Unicode and nested values."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa

from pyspark_substrait.model import types as t
from pyspark_substrait.model.relations import NamedTable, Read
from pyspark_substrait.model.types import NamedStruct, Struct, Type, name_count

__all__ = ["SCHEMAS", "TABLES", "read", "rooted_names"]


def _decimals(*texts: str) -> list[Decimal | None]:
    return [Decimal(text) if text else None for text in texts]


def _days(*texts: str) -> list[datetime.date | None]:
    return [datetime.date.fromisoformat(text) if text else None for text in texts]


def _times(*texts: str) -> list[datetime.datetime | None]:
    return [datetime.datetime.fromisoformat(text) if text else None for text in texts]


#: the columns of each table: name, type, Arrow type, values
_COLUMNS: Final[Mapping[str, list[tuple[str, Type, pa.DataType, list[Any]]]]] = {
    "facts": [
        ("id", t.I32(), pa.int32(), [1, 2, 3, 4, 5, 6, 7, 8]),
        ("g", t.I32(nullable=True), pa.int32(), [1, 1, 2, None, 2, 1, None, 3]),
        ("n", t.I64(nullable=True), pa.int64(), [10, -3, None, 0, 7, 7, 100, -1]),
        ("b", t.Boolean(nullable=True), pa.bool_(), [True, False, None, True, True, False, None, False]),
        ("f", t.FP64(nullable=True), pa.float64(), [1.5, -2.25, None, 0.0, 0.5, 0.5, 8.0, -0.75]),
        ("s", t.String(nullable=True), pa.string(), ["a", "b", None, "", "abc", "A", "b", "a b"]),
        (
            "d",
            t.Decimal(precision=10, scale=2, nullable=True),
            pa.decimal128(10, 2),
            _decimals("1.50", "-2.25", "", "0.00", "99.99", "1.50", "7.00", "-0.01"),
        ),
        (
            "day",
            t.Date(nullable=True),
            pa.date32(),
            _days("2024-02-29", "1970-01-01", "", "2000-12-31", "1969-12-31", "2024-02-29", "1900-03-01", "2023-01-01"),
        ),
    ],
    "few": [
        ("k", t.I32(), pa.int32(), [1, 2, 3, 3]),
        ("v", t.I64(nullable=True), pa.int64(), [7, None, 10, 10]),
        ("w", t.String(nullable=True), pa.string(), ["b", "a", None, "x"]),
    ],
    "extremes": [
        ("i8", t.I8(nullable=True), pa.int8(), [-128, 127, 0, None, 1, -1]),
        ("i16", t.I16(nullable=True), pa.int16(), [-(2**15), 2**15 - 1, 0, 1, None, -1]),
        ("i32", t.I32(nullable=True), pa.int32(), [-(2**31), 2**31 - 1, None, 0, 1, -1]),
        ("i64", t.I64(nullable=True), pa.int64(), [-(2**63), 2**63 - 1, 1, None, 0, 2**53 + 1]),
        ("f32", t.FP32(nullable=True), pa.float32(), [math.nan, math.inf, -math.inf, -0.0, None, 0.0]),
        ("f64", t.FP64(nullable=True), pa.float64(), [math.nan, -0.0, 1e308, None, math.inf, 5e-324]),
        (
            "big",
            t.Decimal(precision=38, scale=6, nullable=True),
            pa.decimal128(38, 6),
            [Decimal("9" * 32), Decimal("-" + "9" * 32), Decimal("0.000001"), None, Decimal(0), Decimal(1)],
        ),
        (
            "day",
            t.Date(nullable=True),
            pa.date32(),
            _days("1000-01-01", "9999-12-31", "", "1582-10-15", "1582-10-04", "1970-01-01"),
        ),
    ],
    "texts": [
        (
            "s",
            t.String(nullable=True),
            pa.string(),
            ["", " ", "é", "e\u0301", "日本語", "😀x", "a%_b\\", None, "İßſ", "\n\t'\""],
        ),
        (
            "v",
            t.VarChar(length=10, nullable=True),
            pa.string(),
            ["", "a", "ab ", None, "Zz", "0123456789", "ñ", "-7", "1.5", "a"],
        ),
        (
            "c",
            t.FixedChar(length=3, nullable=True),
            pa.string(),
            ["abc", "a  ", "   ", None, "é  ", "ABC", "日本語", "a  ", "x y", "000"],
        ),
        (
            "x",
            t.Binary(nullable=True),
            pa.binary(),
            [b"", b"\0", b"\xff\xfe", b"abc", None, b"abc\0", b"a", b"\x80", b"\x7f", b"A"],
        ),
    ],
    "times": [
        (
            "p",
            t.PrecisionTimestamp(precision=6, nullable=True),
            pa.timestamp("us"),
            _times("2024-02-29T23:59:59.999999", "1970-01-01", "", "1969-12-31T23:59:59.000001", "1900-01-01T12:00:00"),
        ),
        (
            "z",
            t.PrecisionTimestampTZ(precision=6, nullable=True),
            pa.timestamp("us", "UTC"),
            [
                None if item is None else item.replace(tzinfo=datetime.timezone.utc)
                for item in _times("2024-03-31T01:30:00", "1970-01-01", "2038-01-19T03:14:08", "", "2000-02-29")
            ],
        ),
        (
            "day",
            t.Date(nullable=True),
            pa.date32(),
            _days("2024-02-29", "2023-02-28", "2024-01-31", "", "2000-02-29"),
        ),
        ("k", t.I32(), pa.int32(), [1, 2, 3, 4, 5]),
    ],
    "nested": [
        ("k", t.I32(), pa.int32(), [1, 2, 3, 4, 5]),
        (
            "l",
            t.List(type=t.I32(nullable=True), nullable=True),
            pa.list_(pa.int32()),
            [[1, 2, None], [], None, [3], [1, 2, None]],
        ),
        (
            "st",
            t.Struct(types=(t.I32(nullable=True), t.String(nullable=True)), nullable=True),
            pa.struct([("a", pa.int32()), ("b", pa.string())]),
            [{"a": 1, "b": "x"}, {"a": None, "b": None}, None, {"a": 1, "b": ""}, {"a": 1, "b": "x"}],
        ),
        (
            "m",
            t.Map(key=t.String(), value=t.I64(nullable=True), nullable=True),
            pa.map_(pa.string(), pa.int64()),
            [[("a", 1), ("b", None)], [], None, [("", 0)], [("b", 2)]],
        ),
    ],
    "empty": [
        ("k", t.I32(), pa.int32(), []),
        ("v", t.String(nullable=True), pa.string(), []),
        ("l", t.List(type=t.I32(nullable=True), nullable=True), pa.list_(pa.int32()), []),
    ],
}  # fmt: skip


def _names(name: str, type: Type) -> tuple[str, ...]:
    """The name of a column and of the fields in it."""
    fields = "ab" if isinstance(type, Struct) else ""
    return (name, *fields)


def _schema(table: str) -> NamedStruct:
    columns = _COLUMNS[table]
    names = tuple(part for name, type, _, _ in columns for part in _names(name, type))
    return NamedStruct(names=names, struct=Struct(types=tuple(type for _, type, _, _ in columns)))


SCHEMAS: Final[Mapping[str, NamedStruct]] = {table: _schema(table) for table in _COLUMNS}
"""The schema of each table."""

TABLES: Final[Mapping[str, pa.Table]] = {
    table: pa.table(
        [pa.array(values, arrow) for _, _, arrow, values in columns],
        schema=pa.schema([pa.field(name, arrow, type.nullable) for name, type, arrow, _ in columns]),
    )
    for table, columns in _COLUMNS.items()
}
"""The rows of each table."""


def read(table: str) -> Read:
    """Return a read of a table."""
    return Read(base_schema=SCHEMAS[table], read_type=NamedTable(names=(table,)))


def rooted_names(schema: Struct) -> tuple[str, ...]:
    """Return names for the columns of a result, and for the fields nested in them."""
    return tuple(f"c{number}" for number in range(name_count(schema)))
