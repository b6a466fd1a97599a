"""Columns of tables as the plan's types: what is read exactly, and what is refused because something would be lost."""

from __future__ import annotations

import struct
import uuid
from decimal import Decimal as D
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pyspark_substrait.errors import ExecutionError, TableError
from pyspark_substrait.model.relations import NamedTable, Read
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I16,
    I32,
    I64,
    UUID,
    Binary,
    Date,
    Decimal,
    FixedBinary,
    FixedChar,
    IntervalCompound,
    IntervalDay,
    IntervalYear,
    List,
    Map,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Struct,
    Type,
    VarChar,
    name_count,
    with_nullability,
)
from pyspark_substrait.sql.compiler.types import has_time
from tests.spark.plans import run
from tests.spark.plans import schema as named
from tests.spark.typed_values import POINT, comparable, unsigned
from tests.spark.zones import zone
from tests.versions import knows_times

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

_ID = uuid.UUID("c48ffa9e-64f4-44cb-ae47-152b4e60e77b")
_DAY = 86_400


def ts(precision: int) -> Type:
    return PrecisionTimestamp(precision=precision)


def tz(precision: int) -> Type:
    return PrecisionTimestampTZ(precision=precision)


def time(precision: int) -> Type:
    return PrecisionTime(precision=precision)


def days(precision: int) -> Type:
    return IntervalDay(precision=precision)


def compound(precision: int) -> Type:
    return IntervalCompound(precision=precision)


def dec(precision: int, scale: int = 0) -> Type:
    return Decimal(precision=precision, scale=scale)


#: an Arrow type and a value in its units, the plan's type, and the value in the units of that type's Arrow type
Case = tuple[pa.DataType, Any, Type, Any]

_NS = 1_600_000_000_123_456_000
_BERLIN = pa.timestamp("ns", "Europe/Berlin")
TIMES: list[Case] = [
    (pa.timestamp("ns"), _NS, ts(6), _NS // 1000),
    (pa.timestamp("ns"), 1_600_000_000_123_000_000, ts(3), 1_600_000_000_123),
    (pa.timestamp("ns"), -1_000_000_000, ts(0), -1),
    (pa.timestamp("ns"), -_NS, ts(7), -_NS),
    (pa.timestamp("ns"), 2**63 - 1, ts(9), 2**63 - 1),
    (pa.timestamp("ns"), 7, ts(12), 7_000),
    (pa.timestamp("us"), 1_500, ts(4), 1_500),
    (pa.timestamp("us"), 1_500, ts(9), 1_500_000),
    (pa.timestamp("ms"), -1, ts(3), -1),
    (pa.timestamp("s"), -62_135_596_800, ts(0), -62_135_596_800),
    (pa.timestamp("s"), 1, ts(6), 1_000_000),
    (pa.timestamp("s"), 1, ts(12), 10**12),
    (_BERLIN, _NS, tz(6), _NS // 1000),
    (_BERLIN, _NS + 1, tz(9), _NS + 1),
    (_BERLIN, 2_000_000_000, tz(0), 2),
    (pa.timestamp("us", "UTC"), 1_500_000, tz(1), 1_500),
    (pa.timestamp("s", "America/New_York"), 1_710_054_000, tz(3), 1_710_054_000_000),
    (pa.time32("s"), _DAY - 1, time(0), _DAY - 1),
    (pa.time32("s"), 1, time(9), 10**9),
    (pa.time32("ms"), _DAY * 1000 - 1, time(3), _DAY * 1000 - 1),
    (pa.time32("ms"), 5_000, time(0), 5),
    (pa.time64("us"), _DAY * 10**6 - 1, time(6), _DAY * 10**6 - 1),
    (pa.time64("us"), 5, time(9), 5_000),
    (pa.time64("ns"), 1_000, time(6), 1),
    (pa.time64("ns"), _DAY * 10**9 - 1, time(9), _DAY * 10**9 - 1),
    (pa.time64("ns"), 100, time(7), 100),
    (pa.time64("ns"), 1, time(12), 1_000),
    (pa.duration("s"), -1, days(0), -1),
    (pa.duration("s"), 3_650_000 * _DAY, days(10), D(3_650_000 * _DAY * 10**10)),
    (pa.duration("ms"), 1_500, days(3), 1_500),
    (pa.duration("us"), -1, days(6), -1),
    (pa.duration("us"), -1, days(9), -1_000),
    (pa.duration("ns"), -1_000, days(6), -1),
    (pa.duration("ns"), 2**63 - 1, days(9), 2**63 - 1),
    (pa.duration("ns"), -300, days(7), -300),
    (pa.duration("ns"), 1, days(12), D(1_000)),
    (pa.month_day_nano_interval(), (-14, 0, 0), IntervalYear(), (-14, 0, 0)),
    (pa.month_day_nano_interval(), (-14, 3_650_000, 5_000), compound(6), (-14, 3_650_000, 5_000)),
    (pa.month_day_nano_interval(), (1, 1, -_DAY * 10**9), compound(0), (1, 0, 0)),
    (pa.month_day_nano_interval(), (1, -1, -1), compound(9), (1, -1, -1)),
    (pa.month_day_nano_interval(), (1, 2, 3), compound(12), (1, D((2 * _DAY * 10**9 + 3) * 1_000))),
]

_KIND = pa.struct([("at", pa.timestamp("ns")), ("id", pa.binary(16))])
OTHERS: list[Case] = [
    (pa.uint8(), 255, unsigned("u8"), 255),
    (pa.uint16(), 2**16 - 1, unsigned("u16"), 2**16 - 1),
    (pa.uint32(), 2**32 - 1, unsigned("u32"), 2**32 - 1),
    (pa.uint64(), 2**64 - 1, unsigned("u64"), 2**64 - 1),
    (pa.uint16(), 255, unsigned("u8"), 255),
    (pa.int64(), 255, unsigned("u8"), 255),
    (pa.decimal128(38, 0), D(2**64 - 1), unsigned("u64"), 2**64 - 1),
    (pa.uint8(), 255, I16(), 255),
    (pa.uint32(), 2**32 - 1, I64(), 2**32 - 1),
    (pa.uint64(), 2**64 - 1, dec(20), D(2**64 - 1)),
    (pa.uint64(), 2**31 - 1, I32(), 2**31 - 1),
    (pa.binary(16), _ID.bytes, UUID(), _ID.bytes),
    (pa.large_binary(), _ID.bytes, UUID(), _ID.bytes),
    (pa.uuid(), _ID.bytes, UUID(), _ID.bytes),
    (pa.binary(3), b"abc", FixedBinary(length=3), b"abc"),
    (pa.binary(3), b"abc", Binary(), b"abc"),
    (pa.binary_view(), b"abc", FixedBinary(length=3), b"abc"),
    (pa.large_string(), "it's", String(), "it's"),
    (pa.string_view(), "\U0001f600", VarChar(length=1), "\U0001f600"),
    (pa.dictionary(pa.int8(), pa.large_string()), "a", FixedChar(length=3), "a  "),
    (pa.dictionary(pa.int8(), pa.timestamp("ns")), 1, ts(9), 1),
    (pa.date64(), 86_400_000, Date(), 1),
    (pa.float16(), 0.5, FP32(), b"\x3f\x00\x00\x00"),
    (pa.float16(), -0.0, FP64(), b"\x80" + b"\0" * 7),
    (pa.decimal256(40, 2), D("1.50"), dec(38, 2), D("1.50")),
    (pa.decimal128(5, -2), D("12300"), dec(7), D("12300")),
    (pa.decimal128(5, 1), D("1.5"), dec(38, 20), D("1.5")),
    (pa.null(), None, I32(nullable=True), None),
    (pa.null(), None, List(type=compound(9), nullable=True), None),
    (pa.large_list(pa.uint8()), [1, None], List(type=unsigned("u8")), [1, None]),
    (pa.list_(pa.time64("ns"), 2), [1, 2], List(type=time(9)), [1, 2]),
    (pa.map_(pa.uint8(), pa.duration("ns")), [(1, -1)], Map(key=unsigned("u8"), value=days(9)), [(1, -1)]),
    (pa.struct([("a", pa.float64()), ("b", pa.int32())]), {"a": 0.0, "b": None}, POINT, (b"\0" * 8, None)),
    (_KIND, {"id": _ID.bytes, "at": None}, Struct(types=(ts(9), UUID())), (None, _ID.bytes)),
    (
        pa.list_(_KIND),
        [None, {"id": _ID.bytes, "at": 5}],
        List(type=Struct(types=(ts(9), UUID()))),
        [None, (5, _ID.bytes)],
    ),
]


def loose(type: Type) -> Type:
    """The type with nothing in it required."""
    match type:
        case List(type=element):
            type = List(type=loose(element))
        case Struct(types=types):
            type = Struct(types=tuple(map(loose, types)))
        case Map(key=key, value=value):
            type = Map(key=key, value=loose(value))
    return with_nullability(type, True)


def there(spark: SparkSession, cases: list[Case]) -> list[Case]:
    """The cases whose types the running Spark has."""
    return cases if knows_times(spark) else [case for case in cases if not has_time(case[2])]


def column(type: pa.DataType, value: Any) -> pa.Array:
    """The value twice, around a null."""
    if isinstance(type, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(type, pa.array([value, None, value], type.storage_type))
    if pa.types.is_dictionary(type):
        return pa.array([value, None, value], type.value_type).dictionary_encode().cast(type)
    if pa.types.is_timestamp(type) or pa.types.is_time64(type) or pa.types.is_duration(type):
        return pa.array([value, None, value], pa.int64()).cast(type)
    if pa.types.is_float16(type):
        bits = struct.pack("<e", value)
        return pa.array([bits, None, bits], pa.binary(2)).view(type)
    return pa.array([value, None, value], type)


def read_as(spark: SparkSession, table: Any, types: list[Type], names: list[str]) -> pa.Table:
    every = []
    for name, type in zip(names, types, strict=True):
        every += [name, *("at", "id")[: name_count(type)]]
    node = Read(base_schema=named(types, every), read_type=NamedTable(names=("t",)))
    return run(spark, node, tables={"t": table})


@pytest.mark.parametrize(
    ("zone_name", "cases"), [("America/New_York", TIMES), ("UTC", OTHERS)], ids=["times", "others"]
)
def test_arrow_columns(spark: SparkSession, zone_name: str, cases: list[Case]) -> None:
    cases = there(spark, cases)
    names = [f"c{number}" for number in range(len(cases))]
    table = pa.table({name: column(case[0], case[1]) for name, case in zip(names, cases, strict=True)})
    with zone(spark, zone_name):
        found = read_as(spark, table, [loose(case[2]) for case in cases], names)
    for position, (arrow, _, type, value) in enumerate(cases):
        assert comparable(found.column(position)) == [value, None, value], f"{arrow} as {type}"


def test_columns_of_dataframes(spark: SparkSession) -> None:
    cases: list[tuple[str, Type, Any]] = [
        ("TIMESTAMP_NTZ'1969-12-31 23:59:59.999999'", ts(9), -1_000),
        ("TIMESTAMP_NTZ'1969-12-31 23:59:59.999999'", ts(12), -1_000_000),
        ("TIMESTAMP_NTZ'2024-03-10 02:30:00.5'", ts(3), 1_710_037_800_500),
        ("TIMESTAMP'1970-01-01 00:00:00.000001Z'", tz(7), 1_000),
        ("TIMESTAMP'1970-01-01 00:00:01Z'", tz(0), 1),
        ("CAST(TIME'00:00:01.5' AS TIME(3))", time(6), 1_500_000),
        ("CAST(TIME'00:00:01.5' AS TIME(3))", time(1), 1_500),
        ("CAST(TIME'00:00:01.5' AS TIME(3))", time(9), 1_500_000_000),
        ("CAST(TIME'00:00:00.000000001' AS TIME(9))", time(9), 1),
        ("CAST(TIME'00:00:00.000001' AS TIME(9))", time(6), 1),
        ("CAST(TIME'00:00:00.000000001' AS TIME(9))", time(12), 1_000),
        ("INTERVAL '-1 00:00:00.000001' DAY TO SECOND", days(6), -_DAY * 10**6 - 1),
        ("INTERVAL '25' HOUR", days(3), 25 * 3_600 * 1_000),
        ("INTERVAL '0.000001' SECOND", days(9), 1_000),
        ("INTERVAL '2' YEAR", IntervalYear(), (24, 0, 0)),
        ("INTERVAL '-1-2' YEAR TO MONTH", IntervalYear(), (-14, 0, 0)),
        # the forms in which this package itself hands such values over
        ("-5L", ts(9), -5),
        ("CAST(5 AS DECIMAL(30, 0))", days(9), 5),
        ("named_struct('m', INTERVAL '1' MONTH, 'd', INTERVAL '1' DAY)", compound(6), (1, 1, 0)),
        ("named_struct('m', INTERVAL '1' MONTH, 'd', 5BD)", compound(9), (1, 0, 5)),
        ("named_struct('a', 0D, 'b', 1)", POINT, (b"\0" * 8, 1)),
        ("65535", unsigned("u16"), 65_535),
        (f"X'{_ID.hex}'", UUID(), _ID.bytes),
        ("CAST('ab' AS VARCHAR(7))", VarChar(length=2), "ab"),
        ("NULL", Struct(types=()), None),
    ]
    if not knows_times(spark):
        cases = [case for case in cases if not case[0].startswith("CAST(TIME")]
    names = [f"c{number}" for number in range(len(cases))]
    with zone(spark, "America/New_York"):
        items = ", ".join(f"{text} AS {name}" for (text, _, _), name in zip(cases, names, strict=True))
        found = read_as(spark, spark.sql(f"SELECT {items}"), [loose(type) for _, type, _ in cases], names)
    for position, (text, type, value) in enumerate(cases):
        assert comparable(found.column(position)) == [value], f"{text} as {type}"


@pytest.mark.parametrize(
    ("arrow", "value", "type"),
    [
        (pa.timestamp("ns"), 1, ts(6)),
        (pa.timestamp("us"), 1, ts(3)),
        (pa.timestamp("us", "UTC"), -1, tz(5)),
        (pa.time64("ns"), 1, time(6)),
        (pa.time64("us"), 1, time(0)),
        (pa.duration("us"), -1, days(3)),
        (pa.duration("ns"), -1, days(7)),
        (pa.month_day_nano_interval(), (1, 1, 0), IntervalYear()),
        (pa.month_day_nano_interval(), (1, 1, 1), compound(6)),
        (pa.int64(), -1, time(9)),
        (pa.int64(), _DAY * 10**9, time(9)),
        (pa.uint16(), 256, unsigned("u8")),
        (pa.int8(), -1, unsigned("u64")),
        (pa.binary(), b"abc", UUID()),
        (pa.list_(pa.timestamp("us")), [1], List(type=ts(3))),
    ],
    ids=str,
)
def test_values_that_would_lose_something(spark: SparkSession, arrow: pa.DataType, value: Any, type: Type) -> None:
    with pytest.raises(ExecutionError, match=r"t\.c0.* has a value that is no"):
        read_as(spark, pa.table({"c0": column(arrow, value)}), [loose(type)], ["c0"])


@pytest.mark.parametrize(
    ("arrow", "value", "type"),
    [
        (pa.timestamp("us", "UTC"), 1, ts(6)),
        (pa.timestamp("ns"), 1, tz(9)),
        (pa.duration("ns"), 1, ts(9)),
        (pa.timestamp("ns"), 1, days(9)),
        (pa.time64("ns"), 1, ts(9)),
        (pa.int64(), 1, ts(6)),
        (pa.int32(), 1, ts(9)),
        (pa.int64(), 1, days(6)),
        (pa.int32(), 1, IntervalYear()),
        (pa.duration("us"), 1, IntervalYear()),
        (pa.string(), str(_ID), UUID()),
        (pa.float64(), 1.0, unsigned("u8")),
        (pa.struct([("a", pa.float64())]), {"a": 1.0}, POINT),
        (pa.uint64(), 1, ts(9)),
        (pa.timestamp("ns"), 1, I64()),
        (pa.timestamp("us"), 1, I64()),
        (pa.dictionary(pa.int8(), pa.timestamp("ns")), 1, I64()),
        (pa.time32("s"), 1, I32()),
        (pa.time64("ns"), 1, unsigned("u64")),
        (pa.duration("ns"), 1, dec(38)),
        (pa.list_(pa.time64("us")), [1], List(type=I64())),
    ],
    ids=str,
)
def test_other_types_are_refused(spark: SparkSession, arrow: pa.DataType, value: Any, type: Type) -> None:
    with pytest.raises(TableError, match=r"t\.c0(\.element)? is .*, which cannot be read as"):
        read_as(spark, pa.table({"c0": column(arrow, value)}), [loose(type)], ["c0"])


@pytest.mark.parametrize(
    "array",
    [pa.array([2**62], pa.timestamp("s")), pa.array([D(10**38)], pa.decimal256(40, 0))],
    ids=["years", "digits"],
)
def test_what_spark_cannot_take_is_an_error(spark: SparkSession, array: pa.Array) -> None:
    with pytest.raises(TableError, match="Spark cannot take the Arrow table given for t"):
        read_as(spark, pa.table({"c0": array}), [ts(0)], ["c0"])


def test_parquet_files(spark: SparkSession, tmp_path: Path) -> None:
    """Also where Spark by itself reads no such file: nanoseconds, milliseconds of the day, uuids."""
    cases: list[Case] = [
        (pa.timestamp("ns"), 1, ts(9), 1),
        (pa.timestamp("ns"), 1_000, ts(6), 1),
        (pa.timestamp("ns", "UTC"), 1, tz(9), 1),
        (pa.timestamp("ms"), 1, ts(3), 1),
        (pa.timestamp("us", "UTC"), 1, tz(6), 1),
        (pa.time32("ms"), 1, time(3), 1),
        (pa.time64("us"), 1, time(6), 1),
        (pa.time64("us"), 1, time(9), 1_000),
        (pa.time64("ns"), 1, time(9), 1),
        (pa.duration("us"), -1, days(6), -1),
        (pa.duration("ns"), -1, days(9), -1),
        (pa.uint8(), 255, unsigned("u8"), 255),
        (pa.uint16(), 2**16 - 1, unsigned("u16"), 2**16 - 1),
        (pa.uint32(), 2**32 - 1, unsigned("u32"), 2**32 - 1),
        (pa.uint64(), 2**64 - 1, unsigned("u64"), 2**64 - 1),
        (pa.uuid(), _ID.bytes, UUID(), _ID.bytes),
        (pa.binary(16), _ID.bytes, UUID(), _ID.bytes),
        (pa.dictionary(pa.int32(), pa.string()), "a", String(), "a"),
        (pa.decimal128(38, 10), D("-1.5"), dec(38, 10), D("-1.5")),
        (pa.list_(pa.timestamp("ns")), [1], List(type=ts(9)), [1]),
        (_KIND, {"id": _ID.bytes, "at": 7}, Struct(types=(ts(9), UUID())), (7, _ID.bytes)),
        (pa.date32(), 1, Date(), 1),
        (pa.int64(), -5, ts(12), -5),
    ]
    strange = {
        pa.timestamp("ns"),
        pa.timestamp("ns", "UTC"),
        pa.time32("ms"),
        pa.uuid(),
        pa.list_(pa.timestamp("ns")),
        _KIND,
    }
    usual = [case for case in cases if case[0] not in strange]
    for folder, every in {"all": cases, "usual": usual}.items():
        chosen = there(spark, every)
        names = [f"c{number}" for number in range(len(chosen))]
        table = pa.table({name: column(case[0], case[1]) for name, case in zip(names, chosen, strict=True)})
        (tmp_path / folder).mkdir()
        for part in range(2):
            pq.write_table(table, tmp_path / folder / f"{part}.parquet")
        found = read_as(spark, tmp_path / folder, [loose(case[2]) for case in chosen], names)
        for position, (arrow, _, type, value) in enumerate(chosen):
            assert comparable(found.column(position)) == [value, None, value] * 2, f"{arrow} as {type}"


def test_parquet_files_that_spark_cannot_read(spark: SparkSession, tmp_path: Path) -> None:
    pq.write_table(pa.table({"c0": column(pa.float16(), 0.5)}), tmp_path / "half.parquet")
    with pytest.raises(TableError, match="cannot be read as Parquet"):
        read_as(spark, tmp_path / "half.parquet", [FP32()], ["c0"])
