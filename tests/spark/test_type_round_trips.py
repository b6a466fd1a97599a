"""Values of every type, from a plan's literals through Spark to Arrow, and from Arrow tables through Spark back."""

from __future__ import annotations

import decimal
import math
import uuid
from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import ExecutionError, TableError
from pyspark_substrait.model.literals import Compound, DayTime
from pyspark_substrait.model.relations import NamedTable, Read, Relation
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
    TypeVariation,
    VarChar,
    with_nullability,
)
from pyspark_substrait.spark import arrow
from tests.spark.plans import emit, plan, project, run, schema, values
from tests.spark.typed_values import (
    COUNTER,
    EXACT,
    LEAF_KINDS,
    POINT,
    TYPES,
    YEAR_1,
    YEAR_10000,
    comparable,
    drawn,
    expected,
    made,
    natural,
    of_type,
    unsigned,
)
from tests.spark.zones import zone

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def check(table: pa.Table, types: Sequence[Type], rows: Sequence[Sequence[Any]]) -> None:
    """Whether a result has the natural Arrow types and exactly these values."""
    for position, type in enumerate(types):
        field = table.schema.field(position)
        # the names that ``plans.invented`` gives to what is nested
        names = (f"n{number}" for number in count(int(field.name[1:]) + 1))
        assert field.type.equals(natural(type, names)), (str(type), field.type)
        assert field.nullable == type.nullable
        wanted = [expected(type, row[position]) for row in rows]
        assert comparable(table.column(position)) == wanted, str(type)


def table_of(types: Sequence[Type], rows: Sequence[Sequence[Any]]) -> Relation:
    """A virtual table of literals."""
    return values(types, [[made(type, value) for type, value in zip(types, row, strict=True)] for row in rows])


def read_of(types: Sequence[Type]) -> Relation:
    """A read of the table ``t``."""
    return Read(base_schema=schema(types), read_type=NamedTable(names=("t",)))


def random_rows(types: Sequence[Type], number: int) -> list[list[Any]]:
    """Rows of random values; the first has a null wherever one may be."""
    columns = [(drawn(of_type(type), number) * number)[:number] for type in types]
    rows = [list(row) for row in zip(*columns, strict=True)]
    rows[0] = [None if type.nullable else value for type, value in zip(types, rows[0], strict=True)]
    return rows


# the tests -----------------------------------------------------------------------------------------------------------


@pytest.mark.sweep
def test_every_simple_type(spark: SparkSession) -> None:
    types = [with_nullability(type, True) for type in LEAF_KINDS]
    rows = random_rows(types, 12)
    with zone(spark, "America/New_York"):
        result = run(spark, table_of(types, rows))
        check(result, types, rows)
        # the same values, given as an Arrow table
        check(run(spark, read_of(types), tables={"t": result}), types, rows)


def test_nested_types(spark: SparkSession) -> None:
    types = drawn(TYPES, 70)
    assert sum(isinstance(type, Struct | List | Map) for type in types) > 20
    rows = random_rows(types, 4)
    result = run(spark, table_of(types, rows))
    check(result, types, rows)
    with zone(spark, "Asia/Kathmandu"):
        check(run(spark, read_of(types), tables={"t": result}), types, rows)


_D = decimal.Decimal
_DAY = 86_400
_INNER = Struct(types=(List(type=Map(key=String(), value=UUID(nullable=True), nullable=True), nullable=True),))
_ID = uuid.UUID("c48ffa9e-64f4-44cb-ae47-152b4e60e77b")
EXTREMES: list[tuple[Type, Any]] = [
    *((I8(), value) for value in (-128, 127)),
    *((I16(), value) for value in (-(2**15), 2**15 - 1)),
    *((I32(), value) for value in (-(2**31), 2**31 - 1)),
    *((I64(), value) for value in (-(2**63), 2**63 - 1)),
    *(
        (FP32(), value)
        for value in (0.0, -0.0, math.nan, math.inf, -math.inf, 2**-149, -(2**-126), 3.4028234663852886e38)
    ),
    *((FP64(), value) for value in (0.0, -0.0, math.nan, math.inf, -math.inf, 5e-324, -1.7976931348623157e308)),
    *((Decimal(precision=38, scale=0), _D(sign * (10**38 - 1))) for sign in (1, -1)),
    *((Decimal(precision=38, scale=38), _D(digits).scaleb(-38, EXACT)) for digits in (10**38 - 1, 1, -1, 0)),
    *(
        (String(), value)
        for value in ("", "\U0001f600\U0001f468\u200d\U0001f469", "a\0b", 'it\'s "x" `y` \\', "${env:HOME} {t} {{")
    ),
    (VarChar(length=2), "\U0001f600\U0001f600"),
    (FixedChar(length=4), "\U0001f600"),
    *((Binary(), value) for value in (b"", b"\0'\xff")),
    (FixedBinary(length=1), b"\0"),
    *((UUID(), value) for value in (_ID, uuid.UUID(int=0), uuid.UUID(int=2**128 - 1))),
    *((Date(), value) for value in (-719_162, 2_932_896, 0, -1)),
    *(
        (cls(precision=precision), seconds * 10**precision + fraction)
        for cls in (PrecisionTimestamp, PrecisionTimestampTZ)
        for precision in (0, 3, 6)
        for seconds, fraction in ((YEAR_1, 0), (YEAR_10000, -1), (0, -1))
    ),
    # local times that the clocks of New York skip or show twice
    *(
        (PrecisionTimestamp(precision=6), seconds * 10**6)
        for seconds in (1_710_039_600 + 7_200 + 1_800, 1_730_595_600 + 5_400)
    ),
    *(
        (cls(precision=precision), value)
        for cls in (PrecisionTimestamp, PrecisionTimestampTZ)
        for precision in (9, 10, 12)
        for value in (-(2**63), 2**63 - 1, -1)
    ),
    *((PrecisionTime(precision=precision), _DAY * 10**precision - 1) for precision in range(13)),
    *((IntervalYear(), months) for months in (120_000, -120_000, -1, 0)),
    *((IntervalDay(precision=p), DayTime(sign * 3_650_000, 0, 0)) for p in (0, 6, 10, 12) for sign in (1, -1)),
    *((IntervalDay(precision=p), DayTime(-1, 0, 1)) for p in (3, 9, 12)),
    *((IntervalCompound(precision=p), Compound(-120_000, 3_650_000, 0, 0)) for p in (0, 6, 9, 12)),
    *((IntervalCompound(precision=p), Compound(1, 0, 0, -1)) for p in (0, 6, 9, 12)),
    *((unsigned(f"u{bits}"), number) for bits in (8, 16, 32, 64) for number in (0, 2**bits - 1)),
    (POINT, (-0.0, None)),
    (COUNTER, -(2**63)),
    (List(type=I8()), []),
    (List(type=List(type=I8(nullable=True), nullable=True)), [[], None, [None, 1]]),
    (Map(key=String(), value=List(type=I8())), []),
    (Map(key=Struct(types=(I8(), UUID())), value=IntervalCompound(precision=12)), [((1, _ID), Compound(1, 2, 3, 4))]),
    (_INNER, (None,)),
    (_INNER, ([None, [], [("", None), ("a", _ID)]],)),
    (Struct(types=()), ()),
    (List(type=Struct(types=(IntervalYear(nullable=True), IntervalYear()), nullable=True)), [None, (None, -13)]),
    (AliasedType(type=List(type=AliasedType(type=PrecisionTime(precision=12)))), [1]),
    (I32(variation=TypeVariation(urn="extension:test:shapes", name="packed")), 7),
    *((with_nullability(type, True), None) for type in LEAF_KINDS),
    *((with_nullability(type, True), None) for type in (_INNER, List(type=_INNER), Map(key=I8(), value=_INNER))),
]


@pytest.mark.parametrize("name", ["UTC", "America/New_York"])
def test_extremes(spark: SparkSession, name: str) -> None:
    types: list[Type] = [type for type, _ in EXTREMES]
    row = [value for _, value in EXTREMES]
    literals = [made(type, value) for type, value in EXTREMES]
    with zone(spark, name):
        result = run(spark, project(values([I32()], [(1,)]), *literals))
    check(result, types, [row])


def test_fields_say_what_arrow_has_no_type_for(spark: SparkSession) -> None:
    types: list[Type] = [PrecisionTime(precision=12), List(type=IntervalDay(precision=10, nullable=True))]
    result = run(spark, table_of(types, [[1, [DayTime(0, 0, 1)]]]))
    time, days = result.schema
    assert time.metadata == {b"substrait.type": b"precision_time<12>"}
    assert days.type.value_field.metadata == {b"substrait.type": b"interval_day<10>"}
    # so that nobody takes the number for one of another unit
    with pytest.raises(TableError, match=r"t\.n0 is int64, which cannot be read as precision_time<11>"):
        run(spark, read_of([PrecisionTime(precision=11)]), tables={"t": result})


@pytest.mark.parametrize(
    ("type", "value"),
    [
        (PrecisionTimestamp(precision=7), 2**62),
        (PrecisionTimestampTZ(precision=8), -(2**62)),
        (IntervalDay(precision=9), DayTime(200_000, 0, 0)),
        (List(type=IntervalDay(precision=7)), [DayTime(-200_000, 0, 0)]),
    ],
    ids=str,
)
def test_what_arrow_cannot_hold_is_an_error(spark: SparkSession, type: Type, value: Any) -> None:
    with pytest.raises(ExecutionError, match=r"a value of the column n0, a .*, does not fit into Arrow's"):
        run(spark, table_of([type], [[value]]))


def test_no_columns(spark: SparkSession) -> None:
    result = run(spark, values([I32()], [(1,), (2,), (3,)], common=emit()))
    assert (result.num_rows, result.num_columns) == (3, 0)


def test_a_null_inside_a_column_that_has_none_is_an_error() -> None:
    wanted = schema([List(type=I32()), Struct(types=(I32(),), nullable=True)])
    kinds = [pa.list_(pa.int32()), pa.struct([("f0", pa.int32())])]

    def given(*columns: list[Any]) -> pa.Table:
        return pa.Table.from_arrays(
            [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)], names=["c1", "c2"]
        )

    assert arrow.table(given([[1]], [None]), wanted).to_pylist() == [{"n0": [1], "n1": None}]
    for wrong in (given([[None]], [None]), given([[1]], [{"f0": None}])):
        with pytest.raises(ExecutionError, match="1 values of type i32 inside a column are null"):
            arrow.table(wrong, wanted)


def test_dataframes_have_the_carriers_and_the_names_of_the_plan(spark: SparkSession) -> None:
    inner = Struct(types=(POINT, UUID()))
    span, at = IntervalCompound(precision=6), PrecisionTimestamp(precision=9)
    types: list[Type] = [List(type=inner), span, at, unsigned("u64")]
    row = [[((0.5, 1), uuid.UUID(int=1))], Compound(1, 2, 3, 0), 5, 7]
    names = ("list", "point", "id", "span", "at", "count")
    frame = ps.from_substrait(plan(table_of(types, [row]), names), spark)
    assert frame.schema.simpleString() == (
        "struct<list:array<struct<point:struct<f0:double,f1:int>,id:binary>>,"
        "span:struct<f0:interval year to month,f1:interval day to second>,at:bigint,count:decimal(20,0)>"
    )
    # and go back in as such
    again = Read(base_schema=schema(types, names), read_type=NamedTable(names=("t",)))
    check(run(spark, again, tables={"t": frame}), types, [row])
