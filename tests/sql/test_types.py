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
    TypeVariation,
    Unbound,
    UserDefined,
    VarChar,
)
from pyspark_substrait.sql.compiler.types import (
    handed_type,
    has_order,
    has_time,
    is_foreign,
    named_spark_type,
    spark_type,
)
from tests.versions import knows_times

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_UNSIGNED = "extension:io.substrait:unsigned_integers"

#: types that are something else in Spark
FOREIGN: list[tuple[Type, str]] = [
    *(
        (cls(precision=p), "BIGINT")
        for cls in (PrecisionTimestamp, PrecisionTimestampTZ, PrecisionTime)
        for p in (7, 12)
    ),
    *((IntervalDay(precision=p), "DECIMAL(38, 0)") for p in (7, 12)),
    (IntervalCompound(precision=6), "STRUCT<f0: INTERVAL YEAR TO MONTH, f1: INTERVAL DAY TO SECOND>"),
    (IntervalCompound(precision=7), "STRUCT<f0: INTERVAL YEAR TO MONTH, f1: DECIMAL(38, 0)>"),
    (UUID(), "BINARY"),
    *(
        (UserDefined(urn=_UNSIGNED, name=name, structure=Struct(types=(String(),))), carrier)
        for name, carrier in {"u8": "SMALLINT", "u16": "INT", "u32": "BIGINT", "u64": "DECIMAL(20, 0)"}.items()
    ),
    (UserDefined(urn="extension:a:b", name="point", structure=Struct(types=(UUID(),))), "STRUCT<f0: BINARY>"),
]

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
    (I16(variation=TypeVariation(urn="extension:a:b", name="dense")), "SMALLINT"),
    (UserDefined(urn="extension:a:b", name="counter", structure=I64()), "BIGINT"),
    *FOREIGN,
]


@pytest.mark.parametrize(("type", "carrier"), CARRIERS, ids=str)
def test_carrier(type: Type, carrier: str) -> None:
    assert spark_type(type) == carrier


@pytest.mark.parametrize(
    "type",
    [
        Func(parameter_types=(I32(),), return_type=I32()),
        Unbound(),
        UserDefined(urn="extension:a:b", name="opaque"),
        UserDefined(urn="extension:a:b", name="opaque", structure=Struct(types=(Unbound(),))),
        List(type=Unbound()),
    ],
    ids=str,
)
def test_types_without_a_carrier_are_refused(type: Type) -> None:
    with pytest.raises(UnsupportedPlanError, match=r"opaque|unbound|func"):
        spark_type(type)


@pytest.mark.parametrize("key", [Map(key=I8(), value=I8()), List(type=Struct(types=(Map(key=I8(), value=I8()),)))])
def test_maps_as_keys_are_refused(key: Type) -> None:
    with pytest.raises(UnsupportedPlanError, match="is or holds a map"):
        spark_type(Map(key=key, value=I8()))


@pytest.mark.parametrize("type", [type for type, _ in FOREIGN], ids=str)
def test_foreign_carriers_at_any_depth(type: Type) -> None:
    assert is_foreign(type)
    assert is_foreign(Map(key=I8(), value=List(type=Struct(types=(I8(), AliasedType(type=type))))))


def test_other_carriers_mean_the_same_in_spark() -> None:
    foreign = [type for type, _ in FOREIGN]
    native = [type for type, _ in CARRIERS if type not in foreign and not isinstance(type, UserDefined)]
    assert not any(map(is_foreign, native))


def test_order() -> None:
    ordered = [type for type, _ in CARRIERS if has_order(type)]
    unordered = [str(type) for type, _ in CARRIERS if type not in ordered]
    assert unordered == ["u!point", "u!counter", "interval_compound<6>", "interval_compound<7>", "u!point"]
    assert not has_order(List(type=Struct(types=(I8(), IntervalCompound(precision=0)))))


def test_months_leave_spark_as_numbers() -> None:
    type = List(type=Struct(types=(IntervalYear(), IntervalCompound(precision=9), IntervalDay(precision=3))))
    parts = "f0: INT, f1: STRUCT<f0: INT, f1: DECIMAL(38, 0)>, f2: INTERVAL DAY TO SECOND"
    assert handed_type(type) == f"ARRAY<STRUCT<{parts}>>"


def test_names_are_taken_depth_first() -> None:
    inner = Struct(types=(I32(), String()))
    type = Struct(types=(I8(), List(type=inner), Map(key=inner, value=I64()), Date()))
    names = iter(["a", "b", "b1", "b2", "c", "k1", "k2", "d", "left over"])
    assert named_spark_type(type, names) == (
        "STRUCT<`a`: TINYINT, `b`: ARRAY<STRUCT<`b1`: INT, `b2`: STRING>>, "
        "`c`: MAP<STRUCT<`k1`: INT, `k2`: STRING>, BIGINT>, `d`: DATE>"
    )
    assert list(names) == ["left over"]


def test_only_fields_of_the_plan_have_names() -> None:
    point = UserDefined(urn="extension:a:b", name="point", structure=Struct(types=(I32(), I32())))
    type = Struct(types=(point, IntervalCompound(precision=0), UUID()))
    assert named_spark_type(type, iter(["a", "b", "c"])) == (
        "STRUCT<`a`: STRUCT<f0: INT, f1: INT>, "
        "`b`: STRUCT<f0: INTERVAL YEAR TO MONTH, f1: INTERVAL DAY TO SECOND>, `c`: BINARY>"
    )


def test_a_field_without_a_name_is_an_error() -> None:
    with pytest.raises(InvalidPlanError, match="no name"):
        named_spark_type(Struct(types=(I8(), I8())), iter(["only"]))


def test_has_time() -> None:
    assert has_time(List(type=Struct(types=(Map(key=I8(), value=PrecisionTime(precision=0)),))))
    assert not has_time(Struct(types=(Date(), PrecisionTimestamp(precision=6), PrecisionTime(precision=7))))


def test_spark_knows_every_carrier(spark: SparkSession) -> None:
    carriers = [carrier for type, carrier in CARRIERS if knows_times(spark) or not has_time(type)]
    columns = ", ".join(f"typeof(CAST(NULL AS {carrier}))" for carrier in carriers)
    found = spark.sql(f"SELECT {columns}").collect()[0]
    expected = [carrier.lower().replace(" ", "") for carrier in carriers]
    assert [name.replace(" ", "") for name in found] == expected
