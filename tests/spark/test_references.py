"""Field references: into structs, lists and maps, from every root but outer queries."""

from __future__ import annotations

import math
import uuid
from decimal import Decimal as Number
from typing import TYPE_CHECKING, Any

import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model.expressions import (
    DetachedExpression,
    Expression,
    FieldReference,
    IfClause,
    IfThen,
    ListElement,
    MapKey,
    NestedList,
    NestedMap,
    NestedStruct,
    RootReference,
    ScalarSubquery,
    StructField,
    referenced_type,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I64,
    UUID,
    Binary,
    Boolean,
    Date,
    Decimal,
    FixedBinary,
    FixedChar,
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
)
from tests.spark.plans import (
    INT,
    INT_,
    REAL,
    TEXT,
    TEXT_,
    aggregate,
    call,
    col,
    group,
    lit,
    number,
    plan,
    project,
    run,
    text,
    tuples,
    values,
    where,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def inside(base: Expression, *segments: Any) -> FieldReference:
    return FieldReference(root=base, reference=segments, type=referenced_type(base.type, segments))


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple(plain(part) for part in value.values())
    return [plain(part) for part in value] if isinstance(value, list) else value


ONE = values([INT], [(1,)])

DEEP = Struct(
    types=(INT, List(type=Map(key=TEXT, value=Struct(types=(INT_, TEXT)), nullable=True), nullable=True)),
    nullable=True,
)


def test_paths_through_columns(spark: SparkSession) -> None:
    """The example of field_references: a.b[2].c['my_map_key'].x; a step through null, or past an end, gives null."""
    given: list[Any] = [
        (1, [{"k": (5, "five")}, None, {"": (None, "none"), "k": (6, "six")}]),
        (2, [{}]),
        (3, []),
        (4, None),
        None,
    ]
    table = values([DEEP], [(cell,) for cell in given])

    def path(*segments: Any) -> FieldReference:
        return col(table, 0, *segments)

    key = MapKey(text("k"))
    cases: list[tuple[FieldReference, list[Any]]] = [
        (path(StructField(0)), [1, 2, 3, 4, None]),
        (path(StructField(1), ListElement(0), key, StructField(0)), [5, None, None, None, None]),
        (path(StructField(1), ListElement(2), key, StructField(1)), ["six", None, None, None, None]),
        (path(StructField(1), ListElement(-1), key, StructField(0)), [6, None, None, None, None]),
        (path(StructField(1), ListElement(-3), key), [(5, "five"), None, None, None, None]),
        (path(StructField(1), ListElement(-4), key), [None] * 5),
        (path(StructField(1), ListElement(1), key), [None] * 5),
        (path(StructField(1), ListElement(2), MapKey(text("")), StructField(0)), [None] * 5),
        (path(StructField(1), ListElement(2), MapKey(text("")), StructField(1)), ["none", None, None, None, None]),
        (path(StructField(1), ListElement(2**31 - 1)), [None] * 5),
        (path(StructField(1), ListElement(-(2**31))), [None] * 5),
        (path(StructField(1), ListElement(0), MapKey(Literal(type=TEXT_, value=None))), [None] * 5),
    ]
    assert all(case.type.nullable for case, _ in cases)
    found = tuples(run(spark, project(table, *(case for case, _ in cases))))
    for position, (_, expected) in enumerate(cases):
        assert [plain(row[position]) for row in found] == expected, position


#: two keys of each type that can be one
KEYS: list[tuple[Type, Any, Any]] = [
    (Boolean(), True, False),
    (I8(), -128, 127),
    (I16(), -1, 1),
    (INT, 0, 2**31 - 1),
    (I64(), -(2**63), 0),
    (FP32(), 0.5, math.inf),
    (FP64(), math.nan, 1e300),
    (FP64(), 0.0, -1.0),
    (Decimal(precision=38, scale=2), Number("0.01"), Number("-99999999999999999999999999999999.99")),
    (String(), "", "it's ${x} {y}"),
    (VarChar(length=3), "ab", "abc"),
    (FixedChar(length=3), "ab ", "abc"),
    (Binary(), b"", b"\x00'"),
    (FixedBinary(length=2), b"ab", b"\xff\x00"),
    (Date(), 0, -719162),
    (PrecisionTime(precision=6), 1, 86_399_999_999),
    (PrecisionTime(precision=9), 1, 86_399_999_999_999),
    (PrecisionTimestamp(precision=3), 1, -1),
    (PrecisionTimestampTZ(precision=6), 1, 1_700_000_000_000_000),
    (PrecisionTimestamp(precision=9), 1, 2),
    (IntervalYear(), 13, -1),
    (UUID(), uuid.UUID(int=1), uuid.UUID(int=2)),
    (List(type=INT_), [1, None], []),
    (Struct(types=(INT_, TEXT)), (None, "a"), (1, "a")),
    (List(type=Struct(types=(REAL, List(type=TEXT)))), [(math.nan, ["x"])], [(1.0, [])]),
]


def key_of(type: Type, value: Any) -> Literal:
    return lit(type, value)


def test_keys_of_every_type(spark: SparkSession) -> None:
    cells: list[Expression] = []
    for type, one, other in KEYS:
        first, second = key_of(type, one), key_of(type, other)
        both = NestedMap(key_values=((first, number(1)), (second, number(2))))
        alone = NestedMap(key_values=((first, number(1)),))
        cells += [
            inside(both, MapKey(first)),
            inside(both, MapKey(second)),
            inside(alone, MapKey(second)),
        ]
    found: list[Any] = []
    for start in range(0, len(cells), 25):
        [row] = tuples(run(spark, project(ONE, *cells[start : start + 25])))
        found += row
    assert found == [1, 2, None] * len(KEYS)


def test_zero_and_minus_zero_are_one_key(spark: SparkSession) -> None:
    mapped = NestedMap(key_values=((lit(REAL, 0.0), number(1)),))
    assert tuples(run(spark, project(ONE, inside(mapped, MapKey(lit(REAL, -0.0)))))) == [(1,)]


def test_roots_that_are_expressions(spark: SparkSession) -> None:
    table = values([INT_, List(type=INT)], [(1, [10, 20]), (None, [30]), (3, [])])
    count, items = col(table, 0), col(table, 1)
    pair = Struct(types=(INT, List(type=INT)))
    other = values([pair], [((7, [8, 9]),)])
    query = ScalarSubquery(input=other)
    none = ScalarSubquery(input=where(other, call("equal", number(1), number(2))))
    struct = NestedStruct(fields=(count, NestedStruct(fields=(items, NestedList(values=(items, items))))))
    choice = IfThen(ifs=(IfClause(call("is_null", count), NestedList(values=(number(-1),))),), else_=items)
    sorted_ = call("sort", items)
    cells = [
        inside(query, StructField(0)),
        inside(query, StructField(1), ListElement(-1)),
        inside(none, StructField(1), ListElement(0)),
        inside(struct, StructField(1), StructField(1), ListElement(1), ListElement(0)),
        inside(choice, ListElement(0)),
        inside(sorted_, ListElement(-1)),
        inside(DetachedExpression(expression=struct), StructField(0)),
        inside(lit(pair, (5, [6])), StructField(1), ListElement(0)),
        inside(Literal(type=DEEP, value=None), StructField(0)),
        # no steps at all
        inside(count),
        inside(struct, StructField(1), StructField(0)),
    ]
    found = tuples(run(spark, project(table, *cells)))
    assert found == [
        (7, 9, None, 10, 10, 20, 1, 6, None, 1, [10, 20]),
        (7, 9, None, 30, -1, 30, None, 6, None, None, [30]),
        (7, 9, None, None, None, None, 3, 6, None, 3, []),
    ]


def test_references_in_every_clause(spark: SparkSession) -> None:
    table = values([DEEP], [((1, [{"k": (5, "a")}]),), ((2, [{"k": (6, "a")}]),), (None,)])
    value = col(table, 0, StructField(1), ListElement(0), MapKey(text("k")), StructField(0))
    name = col(table, 0, StructField(1), ListElement(0), MapKey(text("k")), StructField(1))
    node = group(where(table, call("gte", value, number(5))), [name], [aggregate("sum", value)])
    assert tuples(run(spark, node)) == [("a", 11)]


def test_references_that_fit_nothing_are_refused() -> None:
    table = values([DEEP, Map(key=INT, value=INT), Map(key=FixedChar(length=2), value=INT)], [])
    cases: list[tuple[tuple[Any, ...], str]] = [
        ((StructField(0), StructField(2)), "there is no field 2; the struct has 2"),
        ((StructField(0), ListElement(0)), "a list element cannot be taken from struct"),
        ((StructField(0), StructField(0), StructField(0)), "a struct field cannot be taken from i32"),
        ((StructField(1), MapKey(lit(I64(), 1))), "a key of type i64 cannot be one of the map's, which are i32"),
        ((StructField(1), MapKey(text("1"))), "a key of type string cannot be one of the map's"),
        ((StructField(2), MapKey(text("ab"))), "a key of type string cannot be one of the map's"),
    ]
    for path, match in cases:
        with pytest.raises(InvalidPlanError, match=match):
            referenced_type(table.schema, path)
    with pytest.raises(InvalidPlanError, match="starts with a struct field"):
        ps.to_sql(plan(project(table, FieldReference(root=RootReference(), reference=(), type=table.schema))))


def test_text_keys_of_any_length() -> None:
    """A string literal is the natural way to write the key of a map of varchar."""
    path = (StructField(0), MapKey(text("ab")))
    assert str(referenced_type(Struct(types=(Map(key=VarChar(length=9), value=INT),)), path)) == "i32?"
