"""The Spark types that carry Substrait's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError
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
from pyspark_substrait.sparksql.compiler.types import has_time, named_spark_type, spark_type

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CARRIERS: list[tuple[Type, str]] = [
    (Boolean(), "BOOLEAN"),
    (I8(), "TINYINT"),
    (I16(), "SMALLINT"),
    (I32(nullable=True), "INT"),
    (I64(), "BIGINT"),
    (FP32(), "FLOAT"),
    (FP64(), "DOUBLE"),
    (String(), "STRING"),
    (VarChar(length=3), "STRING"),
    (FixedChar(length=3), "STRING"),
    (Binary(), "BINARY"),
    (FixedBinary(length=2), "BINARY"),
    (Date(), "DATE"),
    (Decimal(precision=38, scale=10), "DECIMAL(38, 10)"),
    (PrecisionTimestamp(precision=0), "TIMESTAMP_NTZ"),
    (PrecisionTimestampTZ(precision=6), "TIMESTAMP"),
    (PrecisionTime(precision=3), "TIME(3)"),
    (IntervalYear(), "INTERVAL YEAR TO MONTH"),
    (IntervalDay(precision=6), "INTERVAL DAY TO SECOND"),
    (List(type=I32(nullable=True)), "ARRAY<INT>"),
    (Map(key=String(), value=List(type=Date())), "MAP<STRING, ARRAY<DATE>>"),
    (Struct(types=(I8(), Struct(types=(String(),)))), "STRUCT<f0: TINYINT, f1: STRUCT<f0: STRING>>"),
    (Struct(types=()), "STRUCT<>"),
    (
        UserDefined(urn="extension:a:b", name="point", structure=Struct(types=(I32(), I32()))),
        "STRUCT<f0: INT, f1: INT>",
    ),
    (AliasedType(type=List(type=I64()), nullable=True), "ARRAY<BIGINT>"),
]


@pytest.mark.parametrize(("type", "carrier"), CARRIERS, ids=str)
def test_carrier(type: Type, carrier: str) -> None:
    assert spark_type(type) == carrier


@pytest.mark.parametrize(
    "type",
    [
        PrecisionTimestamp(precision=9),
        PrecisionTimestampTZ(precision=7),
        PrecisionTime(precision=12),
        IntervalDay(precision=9),
        IntervalCompound(precision=6),
        UUID(),
        Func(parameter_types=(I32(),), return_type=I32()),
        Unbound(),
        UserDefined(urn="extension:a:b", name="opaque"),
        List(type=UUID()),
    ],
    ids=str,
)
def test_types_without_a_carrier_are_refused_by_name(type: Type) -> None:
    with pytest.raises(UnsupportedPlanError, match=str(type if not isinstance(type, List) else type.type)):
        spark_type(type)


def test_names_are_taken_depth_first() -> None:
    inner = Struct(types=(I32(), String()))
    type = Struct(types=(I8(), List(type=inner), Map(key=inner, value=I64()), Date()))
    names = iter(["a", "b", "b1", "b2", "c", "k1", "k2", "d", "left over"])
    assert named_spark_type(type, names) == (
        "STRUCT<`a`: TINYINT, `b`: ARRAY<STRUCT<`b1`: INT, `b2`: STRING>>, "
        "`c`: MAP<STRUCT<`k1`: INT, `k2`: STRING>, BIGINT>, `d`: DATE>"
    )
    assert list(names) == ["left over"]


def test_a_field_without_a_name_is_an_error() -> None:
    with pytest.raises(InvalidPlanError, match="no name"):
        named_spark_type(Struct(types=(I8(), I8())), iter(["only"]))


def test_has_time() -> None:
    assert has_time(List(type=Struct(types=(Map(key=I8(), value=PrecisionTime(precision=0)),))))
    assert not has_time(Struct(types=(Date(), PrecisionTimestamp(precision=6))))


def test_spark_knows_every_carrier(spark: SparkSession) -> None:
    columns = ", ".join(f"typeof(CAST(NULL AS {carrier}))" for _, carrier in CARRIERS)
    found = spark.sql(f"SELECT {columns}").collect()[0]
    expected = [carrier.lower().replace(" ", "") for _, carrier in CARRIERS]
    assert [name.replace(" ", "") for name in found] == expected
