"""Literals as text; the dates and times were worked out by hand or with another program."""

from __future__ import annotations

import decimal
import math
import uuid

import pytest

from pyspark_substrait.model.literals import AnyMessage, Compound, DayTime, Literal, LiteralValue
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I32,
    I64,
    UUID,
    Binary,
    Boolean,
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
    UserDefined,
    VarChar,
)
from pyspark_substrait.text.explain.literals import literal_text

ONE = Literal(type=I32(), value=1)
KEY = Literal(type=String(), value="k")


@pytest.mark.parametrize(
    ("type", "value", "text"),
    [
        (Boolean(), True, "TRUE"),
        (Boolean(), False, "FALSE"),
        (I8(), -128, "-128"),
        (I64(), 0, "0"),
        (FP32(), 0.10000000149011612, "0.1"),
        (FP32(), 3.4028234663852886e38, "3.4028235e+38"),
        (FP64(), 0.1, "0.1"),
        (FP64(), math.nan, "NaN"),
        (FP64(), -math.inf, "-inf"),
        (Decimal(precision=38, scale=10), decimal.Decimal("0.0000000001"), "0.0000000001"),
        (Decimal(precision=5, scale=2), decimal.Decimal("-10.00"), "-10.00"),
        (String(), "", "''"),
        (VarChar(length=5), "it's\\", r"'it\'s\\'"),
        (FixedChar(length=2), "\0\n", r"'\x00\n'"),
        (Binary(), b"", "X''"),
        (FixedBinary(length=2), b"\x00\xff", "X'00ff'"),
        (Date(), 0, "DATE '1970-01-01'"),
        (Date(), -1, "DATE '1969-12-31'"),
        (Date(), 11016, "DATE '2000-02-29'"),
        (Date(), 2932896, "DATE '9999-12-31'"),
        (Date(), 2932897, "DATE '10000-01-01'"),
        (Date(), -719162, "DATE '0001-01-01'"),
        (Date(), -719163, "DATE '0000-12-31'"),
        (PrecisionTime(precision=0), 86399, "TIME '23:59:59'"),
        (PrecisionTime(precision=9), 1, "TIME '00:00:00.000000001'"),
        (PrecisionTimestamp(precision=6), 0, "TIMESTAMP '1970-01-01 00:00:00'"),
        (PrecisionTimestamp(precision=3), -1, "TIMESTAMP '1969-12-31 23:59:59.999'"),
        (PrecisionTimestampTZ(precision=0), 951827696, "TIMESTAMP '2000-02-29 12:34:56 UTC'"),
        (PrecisionTimestamp(precision=12), 1, "TIMESTAMP '1970-01-01 00:00:00.000000000001'"),
        (IntervalYear(), 14, "INTERVAL '1 year 2 months'"),
        (IntervalYear(), -14, "INTERVAL '-1 year -2 months'"),
        (IntervalYear(), 0, "INTERVAL '0 seconds'"),
        (IntervalDay(precision=6), DayTime(90, 0, 0), "INTERVAL '90 days'"),
        (IntervalDay(precision=3), DayTime(1, 1, 500), "INTERVAL '1 day 1.500 seconds'"),
        (IntervalDay(precision=3), DayTime(0, 0, -500), "INTERVAL '-0.500 seconds'"),
        (IntervalCompound(precision=0), Compound(1, 2, 3, 0), "INTERVAL '1 month 2 days 3 seconds'"),
        (UUID(), uuid.UUID(int=1), "UUID '00000000-0000-0000-0000-000000000001'"),
        (Struct(types=(I32(), String())), (ONE, KEY), "struct(1, 'k')"),
        (Struct(types=()), (), "struct()"),
        (List(type=I32()), (ONE, ONE), "[1, 1]"),
        (List(type=I32(), nullable=True), (), "[]::list<i32>"),
        (Map(key=String(), value=I32()), ((KEY, ONE),), "{'k': 1}"),
        (Map(key=String(), value=I32()), (), "{}::map<string, i32>"),
        (UserDefined(urn="u", name="point"), (ONE, ONE), "point(1, 1)"),
        (UserDefined(urn="u", name="point"), AnyMessage("a/b.Point", b"123"), "point(b.Point (3 bytes))"),
        (Decimal(precision=5, scale=2, nullable=True), None, "NULL::decimal<5, 2>"),
        # what a broken plan may hold: the value doesn't fit the type
        (Date(), "x", "'x'"),
        (IntervalDay(precision=3), 7, "7"),
        (I32(), (ONE,), "[1]"),
    ],
)
def test_literal(type: Type, value: LiteralValue, text: str) -> None:
    assert literal_text(Literal(type=type, value=value)) == text


def test_long_values_are_cut_and_say_so() -> None:
    assert literal_text(Literal(type=String(), value="x" * 1000)) == f"'{'x' * 200}'… (1,000 characters)"
    assert literal_text(Literal(type=Binary(), value=b"\0" * 1000)) == f"X'{'00' * 100}'… (1,000 bytes)"
    shown = ", ".join(["1"] * 20)
    assert literal_text(Literal(type=List(type=I32()), value=(ONE,) * 1021)) == f"[{shown}, … 1,001 more]"
