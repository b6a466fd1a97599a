"""Literals as text: Spark must read back exactly the value and the type."""

from __future__ import annotations

import datetime
import decimal
import math
import random
import struct
import uuid
from typing import TYPE_CHECKING

import pytest

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.model.literals import AnyMessage, Compound, DayTime, Literal, LiteralValue
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    UUID,
    AliasedType,
    Binary,
    Boolean,
    Date,
    Decimal,
    FixedBinary,
    FixedChar,
    Func,
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
    Unbound,
    UserDefined,
    VarChar,
)
from pyspark_substrait.spark.compatibility import session_version
from pyspark_substrait.sql.compiler.literals import literal, string_literal
from pyspark_substrait.sql.compiler.types import has_time, spark_type
from tests.versions import knows_times

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: characters that mean something to a parser on the way, and some that are hard to see
_AWKWARD = "'\"`\\{}$;-/*%_?:@#\n\r\t\0\b\x1b\x7f aBu09é\u00a0\u00ad\u200b\u2028\u301c\ufeff\U0001f600\U0001d11e\u0301"


def _of(type: Type, value: LiteralValue) -> Literal:
    return Literal(type=type, value=value)


def _read_back(spark: SparkSession, literals: list[Literal]) -> list[object]:
    return list(spark.sql(f"SELECT {', '.join(literal(item) for item in literals)}").collect()[0])


def test_any_string_is_only_ever_a_string(spark: SparkSession) -> None:
    chance = random.Random(20)
    strings = ["".join(chance.choices(_AWKWARD, k=chance.randrange(24))) for _ in range(700)]
    strings += [
        "${env:HOME}",
        "${spark.app.name}",
        "{}",
        "{d}",
        "{{d}}",
        r"\u0041",
        r"\101",
        "'; SELECT 1 --",
        "\\",
        "'",
    ]
    texts = ", ".join(string_literal(item) for item in strings)
    assert "{" not in texts and "}" not in texts
    assert list(spark.sql(f"SELECT {texts}").collect()[0]) == strings
    # with bound arguments, PySpark puts the text through a formatter first
    bound = spark.sql(f"SELECT {texts} FROM {{d}}", d=spark.range(1))
    assert list(bound.collect()[0]) == strings


def test_half_a_character_is_refused() -> None:
    with pytest.raises(InvalidPlanError, match="half a character"):
        string_literal("a\ud800b")


def test_floating_point_numbers_keep_every_bit(spark: SparkSession) -> None:
    chance = random.Random(21)
    doubles = [struct.unpack("d", chance.randbytes(8))[0] for _ in range(300)]
    doubles += [0.0, -0.0, math.inf, -math.inf, 5e-324, 1.7976931348623157e308, 2.2250738585072014e-308, 1e16, 0.1]
    singles = [struct.unpack("f", chance.randbytes(4))[0] for _ in range(300)]
    singles += [0.0, -0.0, math.inf, -math.inf, *(struct.unpack("f", bytes(bits))[0] for bits in _EDGES_OF_FP32)]
    doubles, singles = ([number for number in numbers if not math.isnan(number)] for numbers in (doubles, singles))
    found = _read_back(spark, [_of(FP64(), n) for n in doubles] + [_of(FP32(), n) for n in singles])
    expected = [*doubles, *singles]
    assert [struct.pack("d", number) for number in found] == [struct.pack("d", number) for number in expected]
    nan64, nan32 = _read_back(spark, [_of(FP64(), math.nan), _of(FP32(), math.nan)])
    assert math.isnan(nan64) and math.isnan(nan32)  # type: ignore[arg-type]


#: the largest, the smallest normal, the smallest number and their neighbours, little-endian
_EDGES_OF_FP32 = (
    b"\xff\xff\x7f\x7f",
    b"\xfe\xff\x7f\x7f",
    b"\xff\xff\x7f\xff",
    b"\0\0\x80\0",
    b"\x01\0\0\0",
    b"\xff\xff\x7f\0",
)

_D = decimal.Decimal
_POINT = UserDefined(urn="extension:a:b", name="point", structure=Struct(types=(I32(), I32(nullable=True))))


def _unsigned(name: str) -> UserDefined:
    urn = "extension:io.substrait:unsigned_integers"
    return UserDefined(urn=urn, name=name, structure=Struct(types=(String(),)))


def _byte(text: str) -> Literal:
    return _of(_unsigned("u8"), (_of(String(), text),))


_ID = uuid.UUID("c48ffa9e-64f4-44cb-ae47-152b4e60e77b")
VALUES: list[tuple[Type, LiteralValue, object]] = [
    (Boolean(), True, True),
    (I8(), -128, -128),
    (I8(), 127, 127),
    (I16(), -32768, -32768),
    (I32(), -(2**31), -(2**31)),
    (I64(), -(2**63), -(2**63)),
    (I64(), 2**63 - 1, 2**63 - 1),
    (I32(nullable=True), None, None),
    (AliasedType(type=I32()), 5, 5),
    (String(), "", ""),
    (VarChar(length=3), "abc", "abc"),
    (FixedChar(length=3), "a", "a  "),
    (Binary(), b"\x00\xff'", b"\x00\xff'"),
    (Binary(), b"", b""),
    (FixedBinary(length=2), b"ab", b"ab"),
    (Decimal(precision=4, scale=2), _D("12.30"), _D("12.30")),
    (Decimal(precision=38, scale=0), _D(-(10**38 - 1)), _D(-(10**38 - 1))),
    (Decimal(precision=38, scale=38), _D("0." + "0" * 37 + "1"), _D("1E-38")),
    (Decimal(precision=10, scale=2), _D("0.00"), _D("0.00")),
    (Decimal(precision=3, scale=3), _D("-0.001"), _D("-0.001")),
    (Decimal(precision=15, scale=2), _D("100.00"), _D("100.00")),
    (Date(), 0, datetime.date(1970, 1, 1)),
    (Date(), -719162, datetime.date(1, 1, 1)),
    (Date(), 2932896, datetime.date(9999, 12, 31)),
    (Date(), 11016, datetime.date(2000, 2, 29)),
    (PrecisionTimestamp(precision=6), -1, datetime.datetime(1969, 12, 31, 23, 59, 59, 999999)),
    (PrecisionTimestamp(precision=3), 1_600_000_000_123, datetime.datetime(2020, 9, 13, 12, 26, 40, 123000)),
    (PrecisionTimestamp(precision=0), -62135596800, datetime.datetime(1, 1, 1)),
    (PrecisionTime(precision=6), 86_399_999_999, datetime.time(23, 59, 59, 999999)),
    (PrecisionTime(precision=0), 3661, datetime.time(1, 1, 1)),
    (IntervalDay(precision=6), DayTime(-1, 0, 1), datetime.timedelta(days=-1, microseconds=1)),
    (IntervalDay(precision=3), DayTime(1, 86399, 999), datetime.timedelta(days=1, seconds=86399, milliseconds=999)),
    (IntervalDay(precision=0), DayTime(0, 0, 0), datetime.timedelta(0)),
    (List(type=I8()), (), []),
    (List(type=I8(nullable=True)), (_of(I8(), 1), _of(I8(nullable=True), None)), [1, None]),
    (Map(key=String(), value=I32()), (), {}),
    (Map(key=String(), value=I32()), ((_of(String(), "a"), _of(I32(), 1)),), {"a": 1}),
    (Struct(types=()), (), ()),
    (Struct(types=(I8(), String(nullable=True))), (_of(I8(), 1), _of(String(nullable=True), None)), (1, None)),
    (
        UserDefined(urn="extension:a:b", name="p", structure=Struct(types=(I32(),))),
        (_of(I32(), 7),),
        (7,),
    ),
    (UserDefined(urn="extension:a:b", name="counter", structure=I64()), (_of(I64(), 7),), 7),
    (_POINT, (_of(I32(), 7), _of(I32(nullable=True), None)), (7, None)),
    *((_unsigned(f"u{bits}"), (_of(String(), str(2**bits - 1)),), 2**bits - 1) for bits in (8, 16, 32, 64)),
    (_unsigned("u64"), (_of(String(), "0"),), 0),
    (UUID(), _ID, _ID.bytes),
    (PrecisionTimestamp(precision=9), -(2**63), -(2**63)),
    (PrecisionTimestampTZ(precision=12), 2**63 - 1, 2**63 - 1),
    (PrecisionTime(precision=12), 86_400 * 10**12 - 1, 86_400 * 10**12 - 1),
    (IntervalDay(precision=12), DayTime(-3_650_000, 0, 1), _D(1 - 3_650_000 * 86_400 * 10**12)),
    # only the sum of the parts counts
    (IntervalDay(precision=9), DayTime(1, -86_400, 0), _D(0)),
    (IntervalDay(precision=3), DayTime(0, 0, 1_500), datetime.timedelta(seconds=1.5)),
]


def test_values_and_types(spark: SparkSession) -> None:
    values = [one for one in VALUES if knows_times(spark) or not has_time(one[0])]
    if session_version(spark).major < 4:  # which fails with an internal error for a struct without fields
        values = [one for one in values if one[0] != Struct(types=())]
    texts = [literal(_of(type, value)) for type, value, _ in values]
    kinds = [
        f"typeof({text}) = typeof(CAST(NULL AS {spark_type(type)}))"
        for (type, _, _), text in zip(values, texts, strict=True)
    ]
    found = _read_back(spark, [_of(type, value) for type, value, _ in values])
    assert found == [expected for _, _, expected in values]
    same = list(spark.sql(f"SELECT {', '.join(kinds)}").collect()[0])
    assert all(same), [text for text, right in zip(texts, same, strict=True) if not right]


def test_years_beyond_python(spark: SparkSession) -> None:
    days = [-(2**31), 2**31 - 1, -719163, -719529, 2932897, -1_000_000]
    micros = [-(2**63), 2**63 - 1, -62135596800000001, 253402300800000000]
    texts = [f"unix_date({literal(_of(Date(), day))})" for day in days]
    texts += [f"unix_micros({literal(_of(PrecisionTimestampTZ(precision=6), micro))})" for micro in micros]
    assert list(spark.sql(f"SELECT {', '.join(texts)}").collect()[0]) == days + micros
    local = ", ".join(f"CAST({literal(_of(PrecisionTimestamp(precision=6), micro))} AS STRING)" for micro in micros[:2])
    expected = ["-290308-12-21 19:59:05.224192", "+294247-01-10 04:00:54.775807"]
    assert list(spark.sql(f"SELECT {local}").collect()[0]) == expected


def test_months(spark: SparkSession) -> None:
    texts = ", ".join(f"CAST({literal(_of(IntervalYear(), months))} AS STRING)" for months in (14, -1, 0, -120_000))
    found = [text.split("'")[1] for text in spark.sql(f"SELECT {texts}").collect()[0]]
    assert found == ["1-2", "-0-1", "0-0", "-10000-0"]


def test_instants_do_not_depend_on_the_zone() -> None:
    assert literal(_of(PrecisionTimestampTZ(precision=3), 1500)) == "TIMESTAMP'1970-01-01 00:00:01.5Z'"


@pytest.mark.parametrize(
    ("type", "value", "message"),
    [
        (I8(), 128, "too large"),
        (I32(), "1; DROP", "cannot be the value"),
        (Boolean(), "true", "cannot be the value"),
        (I32(), True, "cannot be the value"),
        (FP32(), 0.1, "is not an fp32"),
        (VarChar(length=2), "abc", "3 characters"),
        (FixedBinary(length=2), b"abc", "3 bytes"),
        (Decimal(precision=3, scale=1), _D("12.34"), "is not a decimal"),
        (Decimal(precision=3, scale=1), _D("123.4"), "is not a decimal"),
        (Decimal(precision=3, scale=1), _D("NaN"), "cannot be"),
        (PrecisionTime(precision=0), 86400, "within the day"),
        (PrecisionTime(precision=9), 86_400 * 10**9, "within the day"),
        (PrecisionTime(precision=12), -1, "within the day"),
        (PrecisionTimestamp(precision=9), 2**63, "too large"),
        (PrecisionTimestampTZ(precision=7), 1.0, "cannot be the value"),
        (IntervalYear(), 120_001, "too many"),
        (IntervalCompound(precision=0), Compound(-120_001, 0, 0, 0), "too many"),
        (IntervalDay(precision=6), DayTime(2**31 - 1, 0, 0), "too long"),
        (IntervalDay(precision=0), DayTime(3_650_001, -86_400, 0), "too long"),
        (IntervalDay(precision=12), DayTime(3_650_000, 0, 1), "too long"),
        (IntervalCompound(precision=9), Compound(0, -3_650_000, -1, 0), "too long"),
        (UUID(), b"\0" * 16, "cannot be the value"),
        (_unsigned("u8"), (_of(String(), "256"),), "too large"),
        (_unsigned("u64"), (_of(String(), str(2**64)),), "too large"),
        (_unsigned("u8"), (_of(String(), "-1"),), "cannot be the value"),
        (_unsigned("u8"), (_of(String(), "\u0661"),), "cannot be the value"),
        (_unsigned("u8"), (_of(String(nullable=True), None),), "is null"),
        (_unsigned("u8"), (_of(I8(), 1),), "has the fields"),
        (_POINT, (_of(I32(), 7),), "has the fields"),
        (_POINT, (_of(I32(), 7), _of(I64(), 7)), "has the fields"),
        (_POINT, (_of(I32(nullable=True), None), _of(I32(), 7)), "is null"),
        (Map(key=String(nullable=True), value=I8()), ((_of(String(nullable=True), None), _of(I8(), 1)),), "key"),
    ],
)
def test_values_that_are_not_of_the_type(type: Type, value: LiteralValue, message: str) -> None:
    with pytest.raises(InvalidPlanError, match=message):
        literal(_of(type, value))


@pytest.mark.parametrize(
    ("type", "value"),
    [
        (PrecisionTimestamp(precision=0), 2**62),
        (Map(key=FixedChar(length=2), value=I8()), ((_of(FixedChar(length=1), "a"), _of(I8(), 1)),) * 2),
        (Map(key=_unsigned("u8"), value=I8()), tuple((_byte(text), _of(I8(), 1)) for text in ("7", "07"))),
        (Map(key=FP64(), value=I8()), ((_of(FP64(), -0.0), _of(I8(), 1)),)),
        (Func(parameter_types=(I8(),), return_type=I8()), None),
        (Unbound(nullable=True), None),
        (UserDefined(urn="extension:a:b", name="opaque", nullable=True), None),
        (Map(key=I8(), value=I8()), ((_of(I8(), 1), _of(I8(), 1)), (_of(I8(), 1), _of(I8(), 2)))),
        (
            UserDefined(urn="extension:a:b", name="p", structure=Struct(types=(I32(),))),
            AnyMessage("type.example/p", b""),
        ),
    ],
)
def test_values_that_spark_cannot_hold(type: Type, value: LiteralValue) -> None:
    with pytest.raises(UnsupportedPlanError):
        literal(_of(type, value))
