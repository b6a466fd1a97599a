"""The statement as a whole: the settings it needs, and how it shows itself. No Spark."""

from __future__ import annotations

from pyspark_substrait.extensions import Registry
from pyspark_substrait.model.expressions import NestedStruct
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.plan import Plan, RelRoot
from pyspark_substrait.model.relations import NamedTable, Read, VirtualTable
from pyspark_substrait.model.types import I64, NamedStruct, PrecisionTime, String, Struct, Type
from pyspark_substrait.sql.compiler.statement import Statement, statement


def one_value(type: Type, value: object, name: str = "x") -> Statement:
    """The statement of a plan that gives one value."""
    row = NestedStruct(fields=(Literal(type=type, value=value),))  # type: ignore[arg-type]
    schema = NamedStruct(names=(name,), struct=Struct(types=(type,)))
    read = Read(base_schema=schema, read_type=VirtualTable(expressions=(row,)))
    return statement(Plan(relations=(RelRoot(input=read, names=(name,)),)), Registry.default())


def test_times_of_day_need_a_setting_and_their_name_does_not() -> None:
    setting = "spark.sql.timeType.enabled"
    assert setting in one_value(PrecisionTime(precision=6), 1_000_000).settings
    assert setting not in one_value(String(), "TIME '12:00' it\\'s TIME(6)", "TIME").settings


def test_every_statement_needs_ansi_mode() -> None:
    assert one_value(I64(), 1).settings["spark.sql.ansi.enabled"] == "true"


def test_a_stored_table_is_read_by_name() -> None:
    schema = NamedStruct(names=("a b", "c"), struct=Struct(types=(I64(), String())))
    read = Read(base_schema=schema, read_type=NamedTable(names=("db", "t`x")))
    made = statement(Plan(relations=(RelRoot(input=read, names=("one", "one")),)), Registry.default())
    assert made.readable() == "SELECT `a b` AS `one`, `c` AS `one` FROM `db`.`t``x`"
