"""The statement as a whole: the settings it needs, and how it shows itself. No Spark."""

from __future__ import annotations

from pyspark_substrait.extensions import Registry
from pyspark_substrait.model.expressions import (
    Cast,
    Expression,
    FieldReference,
    NestedMap,
    NestedStruct,
    RootReference,
    StructField,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.plan import Plan, RelRoot
from pyspark_substrait.model.relations import NamedTable, Project, Read, VirtualTable
from pyspark_substrait.model.types import I64, Map, NamedStruct, PrecisionTime, PrecisionTimestamp, String, Struct, Type
from pyspark_substrait.sql.compiler.statement import Statement, statement


def one_value(type: Type, value: object, name: str = "x") -> Statement:
    """The statement of a plan that gives one value."""
    row = NestedStruct(fields=(Literal(type=type, value=value),))  # type: ignore[arg-type]
    schema = NamedStruct(names=(name,), struct=Struct(types=(type,)))
    read = Read(base_schema=schema, read_type=VirtualTable(expressions=(row,)))
    return statement(Plan(relations=(RelRoot(input=read, names=(name,)),)), Registry.default())


def of_table(type: Type, *expressions: Expression) -> Statement:
    """The statement of a plan that projects expressions over a table of one column."""
    schema = NamedStruct(names=("c",), struct=Struct(types=(type,)))
    node = Project(input=Read(base_schema=schema, read_type=NamedTable(names=("t",))), expressions=expressions)
    names = ("c", *(f"e{position}" for position, _ in enumerate(expressions)))
    return statement(Plan(relations=(RelRoot(input=node, names=names),)), Registry.default())


def field(position: int, type: Type) -> FieldReference:
    """A column of the record."""
    return FieldReference(root=RootReference(), reference=(StructField(field=position),), type=type)


def test_times_of_day_need_a_setting_and_their_name_does_not() -> None:
    setting = "spark.sql.timeType.enabled"
    assert setting in one_value(PrecisionTime(precision=6), 1_000_000).settings
    assert setting not in one_value(String(), "TIME '12:00' it\\'s TIME(6)", "TIME").settings


def test_a_column_of_times_needs_the_setting_too() -> None:
    assert "spark.sql.timeType.enabled" in of_table(PrecisionTime(precision=6)).settings
    assert "spark.sql.timeType.enabled" not in of_table(PrecisionTimestamp(precision=6)).settings


def test_what_makes_maps_needs_a_setting() -> None:
    setting, numbers = "spark.sql.mapKeyDedupPolicy", Map(key=I64(), value=I64())
    one = Literal(type=I64(), value=1)
    assert setting in one_value(numbers, ((one, one),)).settings
    assert setting in of_table(I64(), NestedMap(key_values=((one, one),))).settings
    assert setting in of_table(numbers, Cast(type=Map(key=String(), value=I64()), input=field(0, numbers))).settings
    assert setting not in of_table(I64(), field(0, I64())).settings


def test_every_statement_needs_ansi_mode() -> None:
    assert one_value(I64(), 1).settings["spark.sql.ansi.enabled"] == "true"


def test_a_stored_table_is_read_by_name() -> None:
    schema = NamedStruct(names=("a b", "c"), struct=Struct(types=(I64(), String())))
    read = Read(base_schema=schema, read_type=NamedTable(names=("db", "t`x")))
    made = statement(Plan(relations=(RelRoot(input=read, names=("one", "one")),)), Registry.default())
    assert made.readable() == "SELECT `a b` AS `one`, `c` AS `one` FROM `db`.`t``x`"
