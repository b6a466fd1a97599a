"""What casts give: numbers, booleans and nested types. Expected values are worked out by hand or by Python."""

from __future__ import annotations

import decimal
import math
import random
import struct
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import Cast, Expression, FailureBehavior, ScalarSubquery
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
    List,
    Map,
    String,
    Struct,
    Type,
    TypeVariation,
    UserDefined,
    VarChar,
    with_nullability,
)
from tests.spark.casting import FAILS, Case, check, check_raises, pts, ptz, unsigned
from tests.spark.plans import REAL, TEXT, TEXT_, col, project, rows, run, values

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

D = decimal.Decimal
U8, U16, U32, U64 = (unsigned(bits) for bits in (8, 16, 32, 64))
INF, NAN = math.inf, math.nan


def dec(precision: int, scale: int) -> Decimal:
    return Decimal(precision=precision, scale=scale)


NUMBERS = [
    # integers
    Case(I8(), -128, I64(), -128),
    Case(I32(), 5, I64(), 5),
    Case(I64(), 127, I8(), 127),
    Case(I64(), 128, I8(), FAILS),
    Case(I64(), -129, I8(), FAILS),
    Case(I64(), 2**31, I32(), FAILS),
    Case(I64(), -(2**31), I32(), -(2**31)),
    Case(I8(), -1, U8, FAILS),
    Case(I8(), 127, U8, 127),
    Case(I8(), -1, U64, FAILS),
    Case(I16(), 255, U8, 255),
    Case(I16(), 256, U8, FAILS),
    Case(I64(), 2**62, U8, FAILS),
    Case(I64(), 65535, U16, 65535),
    Case(I64(), 2**32, U32, FAILS),
    Case(I64(), 2**63 - 1, U64, 2**63 - 1),
    Case(U64, 2**63 - 1, I64(), 2**63 - 1),
    Case(U64, 2**63, I64(), FAILS),
    Case(U64, 2**64 - 1, U32, FAILS),
    Case(U64, 255, U8, 255),
    Case(U8, 255, U64, 255),
    Case(U8, 255, I8(), FAILS),
    Case(U8, 200, I16(), 200),
    Case(U32, 2**32 - 1, I64(), 2**32 - 1),
    Case(U32, 2**31, I32(), FAILS),
    # booleans
    Case(I32(), 0, Boolean(), False),
    Case(I32(), -3, Boolean(), True),
    Case(U64, 2**64 - 1, Boolean(), True),
    Case(dec(2, 2), "0.01", Boolean(), True),
    Case(dec(2, 2), "0.00", Boolean(), False),
    Case(FP64(), -0.0, Boolean(), False),
    Case(FP64(), 0.1, Boolean(), True),
    Case(FP64(), NAN, Boolean(), True),  # as DuckDB and DataFusion have it
    Case(Boolean(), True, I16(), 1),
    Case(Boolean(), False, FP32(), 0.0),
    Case(Boolean(), True, U64, 1),
    Case(Boolean(), True, dec(3, 1), "1.0"),
    Case(Boolean(), True, dec(3, 3), FAILS),
    Case(Boolean(), False, dec(3, 3), "0.000"),
    # to decimals
    Case(I32(), 1, dec(15, 2), "1.00"),
    Case(I32(), 1000, dec(4, 2), FAILS),
    Case(I64(), -(2**63), dec(19, 0), str(-(2**63))),
    Case(I64(), 2**63 - 1, dec(38, 19), str(2**63 - 1)),
    Case(I64(), 2**63 - 1, dec(38, 20), FAILS),
    Case(U64, 2**64 - 1, dec(20, 0), str(2**64 - 1)),
    Case(U64, 2**64 - 1, dec(19, 0), FAILS),
    Case(U8, 255, dec(3, 0), "255"),
    Case(dec(4, 2), "12.35", dec(3, 1), "12.4"),
    Case(dec(4, 2), "-12.35", dec(3, 1), "-12.4"),
    Case(dec(4, 2), "12.34", dec(3, 1), "12.3"),
    Case(dec(4, 2), "99.95", dec(3, 1), FAILS),
    Case(dec(4, 2), "99.95", dec(4, 1), "100.0"),
    Case(dec(4, 2), "12.35", dec(38, 10), "12.3500000000"),
    Case(dec(38, 0), "9" * 38, dec(38, 1), FAILS),
    Case(dec(38, 38), "0." + "5" + "0" * 37, dec(1, 0), "1"),
    Case(FP64(), 2.345, dec(4, 2), "2.35"),
    Case(FP64(), -2.345, dec(4, 2), "-2.35"),
    Case(FP64(), 0.1, dec(38, 20), "0.1"),
    Case(FP32(), struct.unpack("f", struct.pack("f", 0.1))[0], dec(20, 10), "0.1000000015"),
    Case(FP64(), 1e10, dec(4, 2), FAILS),
    Case(FP64(), 1e300, dec(38, 2), FAILS),
    Case(FP64(), 1e-300, dec(38, 38), "0"),
    Case(FP64(), -0.0, dec(4, 2), "0.00"),
    Case(FP64(), 1e37, dec(38, 0), "1" + "0" * 37),
    Case(FP64(), 1e38, dec(38, 0), FAILS),
    Case(FP64(), NAN, dec(4, 2), FAILS),
    Case(FP64(), INF, dec(38, 0), FAILS),
    Case(FP32(), -INF, dec(38, 0), FAILS),
    # to integers
    Case(FP64(), -1.9, I32(), -1),
    Case(FP64(), 2147483647.9, I32(), 2**31 - 1),
    Case(FP64(), -2147483648.9, I32(), -(2**31)),
    Case(FP64(), 2.0**31, I32(), FAILS),
    Case(FP64(), 127.9, I8(), 127),
    Case(FP32(), 128.0, I8(), FAILS),
    Case(FP32(), -129.0, I8(), FAILS),
    Case(FP64(), 9.2e18, I64(), 9200000000000000000),
    Case(FP64(), -(2.0**63), I64(), -(2**63)),
    Case(FP64(), 2.0**63, I64(), FAILS),
    Case(FP64(), math.nextafter(2.0**63, 0), I64(), 2**63 - 1024),
    Case(FP32(), 2.0**63, I64(), FAILS),
    Case(FP64(), math.nextafter(-(2.0**63), -INF), I64(), FAILS),
    Case(FP64(), NAN, I32(), FAILS),
    Case(FP32(), INF, I64(), FAILS),
    Case(FP64(), -0.0, I8(), 0),
    Case(FP64(), -0.9, U8, 0),
    Case(FP64(), -1.0, U8, FAILS),
    Case(FP64(), 255.9, U8, 255),
    Case(FP64(), 256.0, U8, FAILS),
    Case(FP32(), 65536.0, U16, FAILS),
    Case(FP64(), 2.0**63, U64, 2**63),
    Case(FP64(), 2.0**63 + 2048, U64, 2**63 + 2048),
    Case(FP64(), 2.0**64, U64, FAILS),
    Case(FP64(), math.nextafter(2.0**64, 0), U64, 2**64 - 2048),
    Case(FP32(), 2.0**63, U64, 2**63),
    Case(FP32(), 1.5, U64, 1),
    Case(FP64(), -0.5, U64, 0),
    Case(FP64(), -1.0, U64, FAILS),
    Case(FP64(), NAN, U64, FAILS),
    Case(dec(4, 2), "-1.99", I64(), -1),
    Case(dec(4, 2), "1.99", I64(), 1),
    Case(dec(4, 1), "128.0", I8(), FAILS),
    Case(dec(4, 1), "127.9", I8(), 127),
    Case(dec(38, 0), "9" * 38, I64(), FAILS),
    Case(dec(38, 1), str(2**63 - 1) + ".9", I64(), 2**63 - 1),
    Case(dec(38, 18), str(2**64 - 1) + ".9", U64, 2**64 - 1),
    Case(dec(38, 18), str(2**64), U64, FAILS),
    Case(dec(38, 18), "-0.9", U64, 0),
    Case(dec(38, 18), "-1", U64, FAILS),
    Case(dec(5, 2), "255.99", U8, 255),
    Case(dec(5, 2), "256.00", U8, FAILS),
    Case(dec(2, 1), "-0.9", U8, 0),
    # to floating point
    Case(I64(), 2**53 + 1, FP64(), 2.0**53),
    Case(I64(), 2**24 + 1, FP32(), 2.0**24),
    Case(U64, 2**64 - 1, FP64(), 2.0**64),
    Case(dec(4, 2), "12.34", FP64(), 12.34),
    Case(dec(38, 0), "9" * 38, FP64(), 1e38),
    Case(dec(38, 38), "0." + "0" * 37 + "1", FP64(), 1e-38),
    Case(FP64(), 1e300, FP32(), INF),
    Case(FP64(), -1e300, FP32(), -INF),
    Case(FP64(), 1e-300, FP32(), 0.0),
    Case(FP64(), -0.0, FP32(), -0.0),
    Case(FP64(), NAN, FP32(), NAN),
    Case(FP32(), 0.5, FP64(), 0.5),
    Case(FP32(), -0.0, FP64(), -0.0),
]


def _deep(type: Type, value: Any, levels: int) -> tuple[Type, Any]:
    for _ in range(levels):
        type, value = Struct(types=(List(type=type), I8())), ([value], 1)
    return type, value


PARTS = [
    Case(*_deep(String(), "7", 6), *_deep(I16(), 7, 6)),
    Case(*_deep(String(), "x", 6), _deep(I16(), 7, 6)[0], FAILS),
    Case(List(type=I32()), [1], List(type=I64()), [1]),
    Case(List(type=String()), ["a "], List(type=VarChar(length=1)), ["a"]),
    Case(List(type=I32()), [], List(type=I64(nullable=True)), []),
    Case(List(type=String()), ["1", "x"], List(type=I32()), FAILS),
    Case(List(type=String()), ["1", "2"], List(type=I32()), [1, 2]),
    Case(List(type=String(nullable=True)), ["1", None], List(type=I32(nullable=True)), [1, None]),
    Case(List(type=String(nullable=True)), ["x", None], List(type=I32(nullable=True)), FAILS),
    Case(List(type=List(type=String())), [["1"], ["2", "3"]], List(type=List(type=I8())), [[1], [2, 3]]),
    Case(List(type=List(type=String())), [["1"], ["2", "300"]], List(type=List(type=I8())), FAILS),
    Case(List(type=U8), [255], List(type=dec(5, 2)), ["255.00"]),
    Case(Map(key=I8(), value=I8()), {1: 2}, Map(key=I32(), value=String()), {1: "2"}),
    Case(Map(key=I8(), value=String()), {1: "2", 3: "x"}, Map(key=I32(), value=I64()), FAILS),
    Case(Map(key=String(), value=I8()), {"1": 2, "3": 4}, Map(key=I16(), value=I8()), {1: 2, 3: 4}),
    Case(Map(key=String(), value=I8()), {"1": 2, "x": 4}, Map(key=I16(), value=I8()), FAILS),
    Case(Map(key=String(), value=I8()), {"1": 2, " 1": 4}, Map(key=I16(), value=I8()), FAILS),
    Case(
        Map(key=I8(), value=String(nullable=True)),
        {1: None, 2: "3"},
        Map(key=I8(), value=I16(nullable=True)),
        {1: None, 2: 3},
    ),
    Case(Map(key=I8(), value=I8()), {}, Map(key=String(), value=String()), {}),
    Case(
        Struct(types=(I8(), List(type=I8()))),
        (1, [2]),
        Struct(types=(I8(), List(type=dec(3, 1)))),
        (1, ["2.0"]),
    ),
    Case(Struct(types=(I8(), I64())), (1, 300), Struct(types=(I16(), I8())), FAILS),
    Case(
        Struct(types=(String(nullable=True), String())),
        (None, "2"),
        Struct(types=(I32(nullable=True), I32())),
        (None, 2),
    ),
    Case(
        List(type=Struct(types=(String(), I8()))),
        [("1", 1), ("x", 2)],
        List(type=Struct(types=(I8(), I8()))),
        FAILS,
    ),
    Case(
        Struct(types=(Struct(types=(String(),), nullable=True),)),
        (None,),
        Struct(types=(Struct(types=(I8(),), nullable=True),)),
        (None,),
    ),
]

_POINT = UserDefined(urn="extension:a:b", name="point", structure=Struct(types=(I32(), I32())))
SAME = [
    Case(_POINT, (1, 2), UserDefined(urn=_POINT.urn, name="point", structure=_POINT.structure, nullable=True), (1, 2)),
    Case(I32(variation=TypeVariation("extension:a:b", "packed")), 7, I32(), 7),
    Case(I32(variation=TypeVariation("extension:a:b", "packed")), 7, I64(), 7),
    Case(FixedBinary(length=2), b"ab", Binary(), b"ab"),
    Case(Binary(), b"abc", FixedBinary(length=2), b"ab"),
    Case(Binary(), b"a", FixedBinary(length=2), b"a\0"),
    Case(FixedBinary(length=3), b"abc", FixedBinary(length=2), b"ab"),
    Case(FixedChar(length=2), "ab", String(), "ab"),
    Case(Date(), 0, Date(nullable=True), 0),
]


@pytest.mark.sweep
def test_numbers(spark: SparkSession) -> None:
    check(spark, NUMBERS)
    check_raises(spark, NUMBERS)


@pytest.mark.sweep
def test_nested_types(spark: SparkSession) -> None:
    check(spark, PARTS)
    check_raises(spark, PARTS)


def test_the_same_type_and_bytes(spark: SparkSession) -> None:
    check(spark, SAME)


# random numbers ------------------------------------------------------------------------------------------------------

_INTEGERS: dict[Type, tuple[int, int]] = {
    type: (-(1 << bits - 1), (1 << bits - 1) - 1) for type, bits in ((I8(), 8), (I16(), 16), (I32(), 32), (I64(), 64))
}
_INTEGERS |= {unsigned(bits): (0, (1 << bits) - 1) for bits in (8, 16, 32, 64)}
_TYPES: list[Type] = [*_INTEGERS, FP32(), FP64(), dec(5, 2), dec(18, 0), dec(20, 6), dec(38, 0), dec(38, 20)]


def _single(number: Fraction) -> float:
    """The fp32 number next to an exact one, ties to the even."""
    if number == 0:
        return 0.0
    exponent = max(math.floor(math.log2(abs(number))) - 23, -149)
    while abs(number) / Fraction(2) ** exponent >= 2**24:
        exponent += 1
    while abs(number) / Fraction(2) ** exponent < 2**23 and exponent > -149:
        exponent -= 1
    nearest = round(number / Fraction(2) ** exponent) * Fraction(2) ** exponent
    return math.copysign(INF, number) if abs(nearest) >= 2**128 else float(nearest)


def _random(type: Type, rng: random.Random) -> Any:
    if type in _INTEGERS:
        least, greatest = _INTEGERS[type]
        shrunk = rng.choice([1, 1, 2**8, 2**20, 2**40])
        return rng.choice([least, greatest, rng.randint(least, greatest) // shrunk])
    match type:
        case Decimal(precision=precision, scale=scale):
            digits = rng.randint(0, precision)
            return f"{D(rng.randint(-(10**digits) + 1, 10**digits - 1)).scaleb(-scale, decimal.Context(prec=76)):f}"
        case FP32():
            return struct.unpack("f", struct.pack("f", rng.choice([1, -1]) * 10 ** rng.uniform(-3, 22)))[0]
        case _:
            return rng.choice([1, -1]) * 10 ** rng.uniform(-3, 25)


def _expected(source: Type, value: Any, target: Type) -> Any:
    exact = Fraction(value)
    if target in _INTEGERS:
        number = math.trunc(exact)
        return number if _INTEGERS[target][0] <= number <= _INTEGERS[target][1] else FAILS
    match target:
        case Decimal(precision=precision, scale=scale):
            given = D(repr(float(value))) if isinstance(source, FP32 | FP64) else D(value)
            context = decimal.Context(prec=100, rounding=decimal.ROUND_HALF_UP)
            rounded = given.quantize(D(1).scaleb(-scale), context=context)
            return f"{rounded:f}" if abs(rounded) < D(10) ** (precision - scale) else FAILS
        case FP32():
            return _single(exact)
        case _:
            return float(exact)


@pytest.mark.sweep
def test_random_numbers_agree_with_python(spark: SparkSession) -> None:
    rng = random.Random(20)
    cases = []
    for source in _TYPES:
        for target in _TYPES:
            if source != target:
                value = _random(source, rng)
                if isinstance(source, FP32 | FP64) and isinstance(target, Decimal):
                    value = (
                        rng.randint(-(2**23), 2**23) / 2**10
                    )  # Java before 19 doesn't always find the shortest digits
                cases.append(Case(source, value, target, _expected(source, value, target)))
    check(spark, cases)


# in plans ------------------------------------------------------------------------------------------------------------


def _as(type: Type, input: Expression, failure: FailureBehavior = FailureBehavior.THROW_EXCEPTION) -> Cast:
    return Cast(type=type, input=input, failure_behavior=failure)


def test_casts_in_plans(spark: SparkSession) -> None:
    table = values([TEXT_], [["2021-03-14 02:30:00.123456789"], ["never"], [None]])
    null = FailureBehavior.RETURN_NULL
    nanos = _as(with_nullability(pts(9), True), col(table, 0), null)
    found = run(spark, project(table, nanos, _as(TEXT_, _as(with_nullability(ptz(6), True), nanos))))
    assert found.column(0).cast("int64").to_pylist() == [1615689000123456789, None, None]
    assert found.column(1).to_pylist() == ["2021-03-14 02:30:00.123456+00:00", None, None]


def test_a_subquery_can_be_cast(spark: SparkSession) -> None:
    inner = values([REAL], [[255.5]])
    subquery = ScalarSubquery(input=inner)
    one = values([I32()], [[1]])
    number = _as(unsigned(64, nullable=True), subquery)
    assert rows(spark, project(one, _as(TEXT_, number), _as(TEXT_, _as(U8, number)))) == [("255", "255")]
    many = ScalarSubquery(input=values([List(type=TEXT)], [[["1"]]]))
    with pytest.raises(UnsupportedPlanError, match="Cast inside the subquery"):
        rows(spark, project(one, _as(List(type=I8(), nullable=True), many)))
