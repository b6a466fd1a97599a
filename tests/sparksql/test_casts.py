"""Casts: what each gives, and what happens to values that don't fit."""

from __future__ import annotations

import datetime
import decimal
import math
from typing import TYPE_CHECKING

import pytest

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import FailureBehavior
from pyspark_substrait.model.literals import Literal, LiteralValue
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    Binary,
    Boolean,
    Date,
    Decimal,
    FixedBinary,
    FixedChar,
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
    UserDefined,
    VarChar,
)
from pyspark_substrait.sparksql.compiler.casts import cast
from pyspark_substrait.sparksql.compiler.literals import literal
from pyspark_substrait.sparksql.compiler.types import spark_type

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

THROW, NULL = FailureBehavior.THROW_EXCEPTION, FailureBehavior.RETURN_NULL
_D = decimal.Decimal


def _dec(precision: int, scale: int) -> Decimal:
    return Decimal(precision=precision, scale=scale)


def _pts(precision: int) -> PrecisionTimestamp:
    return PrecisionTimestamp(precision=precision)


def _of(type: Type, value: LiteralValue) -> Literal:
    return Literal(type=type, value=value)


VALUES: list[tuple[Type, LiteralValue, Type, object]] = [
    (I32(), 5, I64(), 5),
    (I64(), 127, I8(), 127),
    (I32(), 1, _dec(15, 2), _D("1.00")),
    (I64(), 2**53 + 1, FP64(), 2.0**53),
    (I32(), 0, Boolean(), False),
    (Boolean(), True, I16(), 1),
    (Boolean(), True, _dec(3, 1), _D("1.0")),
    (FP64(), -1.9, I32(), -1),
    (FP64(), 9.2e18, I64(), 9200000000000000000),
    (FP64(), -(2.0**63), I64(), -(2**63)),
    (FP64(), 2.345, _dec(4, 2), _D("2.35")),
    (FP64(), 1e300, FP32(), math.inf),
    (FP32(), 0.5, FP64(), 0.5),
    (_dec(4, 2), _D("-1.99"), I64(), -1),
    (_dec(4, 2), _D("12.34"), FP64(), 12.34),
    (_dec(4, 2), _D("12.35"), _dec(3, 1), _D("12.4")),
    (_dec(4, 2), _D("12.35"), _dec(38, 10), _D("12.3500000000")),
    (FixedChar(length=10), "1995-01-01", Date(), datetime.date(1995, 1, 1)),
    (FixedChar(length=6), "PROMO%", String(), "PROMO%"),
    (FixedChar(length=4), "ab", VarChar(length=2), "ab"),
    (FixedChar(length=2), "ab", FixedChar(length=4), "ab  "),
    (FixedChar(length=4), "ab", FixedChar(length=3), "ab "),
    (String(), "abc", VarChar(length=3), "abc"),
    (String(), "abc  ", VarChar(length=4), "abc "),
    (String(), "\U0001f600", FixedChar(length=3), "\U0001f600  "),
    (String(nullable=True), None, VarChar(length=1, nullable=True), None),
    (String(), " 12 ", I32(), 12),
    (String(), "12.345", _dec(4, 2), _D("12.35")),
    (String(), "2020-02-29", Date(), datetime.date(2020, 2, 29)),
    (String(), "2020-01-01 01:02:03.123456", _pts(3), datetime.datetime(2020, 1, 1, 1, 2, 3, 123000)),
    (String(), "01:02:03.987654", PrecisionTime(precision=1), datetime.time(1, 2, 3, 900000)),
    (String(), "é", Binary(), "é".encode()),
    (Binary(), "é".encode(), String(), "é"),
    (Binary(), b"abc", FixedBinary(length=2), b"ab"),
    (Binary(), b"a", FixedBinary(length=2), b"a\0"),
    (FixedBinary(length=2), b"ab", Binary(), b"ab"),
    (I32(), 42, String(), "42"),
    (_dec(4, 2), _D("1.50"), String(), "1.50"),
    (Date(), 0, VarChar(length=10), "1970-01-01"),
    (Boolean(), False, String(), "false"),
    (Date(), 1, _pts(6), datetime.datetime(1970, 1, 2)),
    (_pts(6), -1, Date(), datetime.date(1969, 12, 31)),
    (_pts(6), -1, _pts(0), datetime.datetime(1969, 12, 31, 23, 59, 59)),
    (_pts(6), 1_234_567, _pts(3), datetime.datetime(1970, 1, 1, 0, 0, 1, 234000)),
    (_pts(3), 1500, _pts(6), datetime.datetime(1970, 1, 1, 0, 0, 1, 500000)),
    (_pts(6), 1_500_000, PrecisionTime(precision=0), datetime.time(0, 0, 1)),
    (PrecisionTime(precision=6), 1_999_999, PrecisionTime(precision=3), datetime.time(0, 0, 1, 999000)),
    (List(type=I32()), (_of(I32(), 1),), List(type=I64()), [1]),
    (List(type=String()), (_of(String(), "a "),), List(type=VarChar(length=1)), ["a"]),
    (List(type=I32()), (), List(type=I64(nullable=True)), []),
    (List(type=I32(), nullable=True), None, List(type=I64(), nullable=True), None),
    (
        Map(key=I8(), value=I8()),
        ((_of(I8(), 1), _of(I8(), 2)),),
        Map(key=I32(), value=String()),
        {1: "2"},
    ),
    (
        Struct(types=(I8(), List(type=I8()))),
        (_of(I8(), 1), _of(List(type=I8()), (_of(I8(), 2),))),
        Struct(types=(I8(), List(type=_dec(3, 1)))),
        (1, [_D("2.0")]),
    ),
    (Struct(types=(I8(),), nullable=True), None, Struct(types=(I16(),), nullable=True), None),
]


def test_values_and_types(spark: SparkSession) -> None:
    texts = [cast(f"({literal(_of(source, value))})", source, target) for source, value, target, _ in VALUES]
    found = list(spark.sql(f"SELECT {', '.join(texts)}").collect()[0])
    assert found == [expected for *_, expected in VALUES]
    carriers = (spark_type(target) for _, _, target, _ in VALUES)
    kinds = [f"typeof({text}) = typeof(CAST(NULL AS {kind}))" for text, kind in zip(texts, carriers, strict=True)]
    same = list(spark.sql(f"SELECT {', '.join(kinds)}").collect()[0])
    assert all(same), [text for text, right in zip(texts, same, strict=True) if not right]


FAILURES: list[tuple[Type, LiteralValue, Type]] = [
    (I32(), 128, I8()),
    (I32(), 1000, _dec(4, 2)),
    (FP64(), 2.0**63, I64()),
    (FP32(), 2.0**63, I64()),
    (FP64(), 2.0**31, I32()),
    (FP64(), math.nan, I32()),
    (FP64(), math.nan, _dec(4, 2)),
    (FP32(), -math.inf, _dec(38, 0)),
    (FP64(), 1e10, _dec(4, 2)),
    (_dec(4, 2), _D("99.95"), _dec(3, 1)),
    (_dec(4, 1), _D("128.0"), I8()),
    (String(), "abc", I32()),
    (String(), "1995-02-30", Date()),
    (String(), "abcd", VarChar(length=3)),
    (String(), "abcd", FixedChar(length=3)),
    (I32(), 1234, VarChar(length=3)),
    (Binary(), b"\xff", String()),
]


def test_what_does_not_fit_is_null(spark: SparkSession) -> None:
    texts = [cast(f"({literal(_of(source, value))})", source, target, NULL) for source, value, target in FAILURES]
    assert list(spark.sql(f"SELECT {', '.join(texts)}").collect()[0]) == [None] * len(FAILURES)


@pytest.mark.parametrize(("source", "value", "target"), FAILURES, ids=str)
def test_what_does_not_fit_is_an_error(spark: SparkSession, source: Type, value: LiteralValue, target: Type) -> None:
    from pyspark.errors import PySparkException

    text = cast(f"({literal(_of(source, value))})", source, target, THROW)
    with pytest.raises(PySparkException, match=r"CAST|INVALID_UTF8|NUMERIC_VALUE|doesn't fit"):
        spark.sql(f"SELECT {text}").collect()


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (I32(), I32(nullable=True)),
        (VarChar(length=3), VarChar(length=5)),
        (FixedChar(length=3), VarChar(length=3)),
        (VarChar(length=3), String()),
        (FixedBinary(length=3), Binary()),
        (_pts(3), _pts(6)),
        (IntervalDay(precision=0), IntervalDay(precision=6)),
        (List(type=VarChar(length=3)), List(type=String(nullable=True))),
        (Struct(types=(I8(), _pts(0))), Struct(types=(I8(nullable=True), _pts(6)))),
        (_dec(4, 2), _dec(4, 2)),
    ],
    ids=str,
)
def test_what_stays_the_same_needs_no_cast(source: Type, target: Type) -> None:
    assert cast("c1", source, target) == "c1"
    assert cast("c1", source, target, NULL) == "c1"


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (I32(), Date()),
        (Date(), I64()),
        (I64(), _pts(6)),
        (I32(), Binary()),
        (Date(), Boolean()),
        (IntervalYear(), String()),
        (IntervalYear(), IntervalDay(precision=6)),
        (IntervalDay(precision=6), IntervalDay(precision=3)),
        (PrecisionTime(precision=6), _pts(6)),
        (List(type=I32()), I32()),
        (Struct(types=(I8(),)), Struct(types=(I8(), I8()))),
        (_pts(9), _pts(6)),
        (PrecisionTimestampTZ(precision=6), PrecisionTimestampTZ(precision=9)),
        (UserDefined(urn="extension:a:b", name="p", structure=I32()), I32()),
    ],
    ids=str,
)
def test_casts_without_a_certain_result_are_refused(source: Type, target: Type) -> None:
    with pytest.raises(UnsupportedPlanError):
        cast("c1", source, target)


def test_null_on_failure_inside_a_list_is_refused() -> None:
    with pytest.raises(UnsupportedPlanError, match="whole or the part"):
        cast("c1", List(type=String()), List(type=I32()), NULL)
