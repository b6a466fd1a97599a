"""What else can be built: other reads, writes, parameters, user extensions, extended expressions, models by hand."""

from __future__ import annotations

import datetime
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import pyspark_substrait as ps
from pyspark_substrait.builder import (
    Frame,
    call,
    count,
    current_date,
    current_timestamp,
    current_timezone,
    ddl,
    enum,
    extended_expression,
    fn,
    following,
    lambda_,
    lit,
    parameter,
    preceding,
    rank,
    read,
    read_extension,
    read_files,
    read_iceberg,
    relation,
    sum_,
    update,
    values,
)
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model import relations as nodes
from pyspark_substrait.model.expressions import Lambda
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.types import I32, I64, NamedStruct, Struct, name_count
from tests.builder.tables import ORDERS, TABLES, customers, orders, rows

DETAIL = AnyMessage("type.googleapis.com/org.example.It", b"")
SMALL = {"a": "i32", "b": "string?"}

BUILT: dict[str, Callable[[], Frame]] = {
    "name of parts": lambda: read(["db", "t"], SMALL),
    "text files": lambda: read_files(["file:///a", "file:///b"], SMALL, "text", field_delimiter=";", quote='"'),
    "a folder": lambda: read_files("file:///a/", SMALL, "orc", kind="uri_folder"),
    "Iceberg": lambda: read_iceberg("file:///m.json", SMALL),
    "Iceberg, a snapshot": lambda: read_iceberg("file:///m.json", SMALL, snapshot=17),
    "Iceberg, an instant": lambda: read_iceberg(
        "file:///m.json", SMALL, snapshot=datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)
    ),
    "a table of others": lambda: read_extension(DETAIL, SMALL),
    "insert": lambda: values([(1, "x")], SMALL).insert_into(["db", "t"]),
    "insert with output": lambda: values([(1, "x")], SMALL).insert_into("t", output="modified records"),
    "delete": lambda: read("t", SMALL).filter(lambda t: t.a > 1).write("t", "delete"),
    "table of a query": lambda: orders().select("id").create_table_as("t", mode="replace if exists"),
    "view": lambda: orders().select("id").create_view("v", replace=True),
    "create": lambda: ddl("t", "create", schema=SMALL, defaults={"a": 1, "b": None}),
    "drop": lambda: ddl("t", "drop if exist", "view"),
    "update": lambda: update("t", SMALL, {"a": lambda t: t.a + 1, "b": "x"}, where=lambda t: t.b == "y"),
    "parameters": lambda: read("t", SMALL).filter(lambda t: t.a > parameter(0, "i32")).limit(parameter(1, "i64")),
    "context": lambda: read("t", SMALL).select(a=current_date(), b=current_timestamp(3), c=current_timezone()),
    "exchange in turn": lambda: orders().exchange(round_robin=True, exact=True, partitions=2),
    "exchange to all": lambda: orders().exchange(broadcast=True),
    "exchange to several": lambda: orders().exchange(buckets=lambda o: lit([0, 1], "list<i32>"), partitions=2),
    "nested names": lambda: read("t", {"s": {"x": "i32", "y": {"z": "string?"}}, "l": "list<nstruct<p: i8>>"}),
    "user-defined type": lambda: read("t", {"u": "u!u8?"}),
    "clustered": lambda: orders().sort(lambda o: o.note.clustered()),
    "sort by a function": lambda: orders().sort(lambda o: o.id.sorted_by("lt")),
    "merge join": lambda: (
        orders()
        .sort("id")
        .merge_join(orders().sort("id"), ["id"], "left semi", residual=lambda a, b: a.price > b.price)
    ),
    "an extension relation": lambda: orders().relation(
        lambda input: nodes.ExtensionSingle(detail=DETAIL, input=input), names=["x"]
    ),
    "a set operation": lambda: orders().set_operation("minus multiset", orders()),
    "two lateral joins": lambda: _twice(
        customers().lateral_join(lambda c: orders().filter(lambda o: o.customer == c.customer)).select("id")
    ),
    "lateral in lateral": lambda: (
        customers()
        .lateral_join(
            lambda c: (
                customers()
                .select("name")
                .lateral_join(lambda d: orders().filter(lambda o: (o.note == d.name) & (o.customer == c.customer)))
            )
        )
        .select("id")
    ),
    "shared in a subquery": lambda: (lambda s: orders().filter(lambda o: o.id.isin(s) | (o.id + 1).isin(s)))(
        orders().select("id").shared()
    ),
}


def _twice(frame: Frame) -> Frame:
    return frame.union_all(frame)


@pytest.mark.parametrize("name", BUILT)
def test_a_plan_is_read_back_as_it_was_built(name: str) -> None:
    plan = BUILT[name]().to_plan()
    again = ps.load(plan.to_bytes(), strict=True)
    assert again.notes == ()
    assert again == plan
    assert ps.explain(again)


def test_anchors_of_lateral_joins_are_small_and_unique() -> None:
    (root,) = BUILT["two lateral joins"]().to_plan().relations
    text = repr(root)
    assert "rel_anchor=1," in text or "rel_anchor=1)" in text
    assert "rel_anchor=2" in text


def test_a_shared_part_stands_once_in_the_plan() -> None:
    part = orders().select("id").shared()
    assert len(part.union_all(part).to_plan().relations) == 2
    assert len(part.to_plan().relations) == 1


def test_names_of_a_plan_choose_and_order_its_columns(spark: SparkSession) -> None:
    plan = orders().to_plan("note", "id")
    table = ps.run_query(plan, tables=TABLES, spark=spark)
    assert table.column_names == ["note", "id"]
    assert rows(table)[0] == ("a", "1")


def test_files_are_read(tmp_path: Path, spark: SparkSession) -> None:
    pq.write_table(ORDERS, tmp_path / "o.parquet")
    plan = read_files(f"file://{tmp_path}/o.parquet", ORDERS.schema).filter(lambda o: o.id < 3).to_plan("id")
    assert rows(ps.run_query(plan, spark=spark, allowed_paths=[tmp_path])) == [("1",), ("2",)]


def test_parameters_have_the_values_that_are_given(spark: SparkSession) -> None:
    plan = orders().filter(lambda o: o.id > parameter(0, "i64")).sort("id").to_plan("id")
    assert rows(ps.run_query(plan, tables=TABLES, parameters={0: 5}, spark=spark)) == [("6",), ("7",)]


def test_records_are_written_and_changed(spark: SparkSession) -> None:
    ps.run_query(values([(1, "x"), (2, None)], SMALL).create_table_as("built").to_plan(), spark=spark)
    try:
        ps.run_query(values([(3, "z")], SMALL).insert_into("built").to_plan(), spark=spark)
        found = ps.run_query(read("built", SMALL).to_plan(), spark=spark)
        assert sorted(rows(found)) == [("1", "x"), ("2", None), ("3", "z")]
    finally:
        ps.run_query(ddl("built", "drop").to_plan(), spark=spark)


USER = """%YAML 1.2
---
urn: extension:org.example:shouting
scalar_functions:
  - name: shout
    impls:
      - args:
          - {name: text, value: string}
          - {name: how, options: [LOUD, LOUDER]}
        return: string
aggregate_functions:
  - name: product
    impls:
      - args: [{name: x, value: fp64}]
        nullability: DECLARED_OUTPUT
        return: fp64?
"""


def test_functions_of_a_user_are_called(spark: SparkSession) -> None:
    urn = "extension:org.example:shouting"
    registry = Registry.default().with_yaml(USER)
    registry = registry.with_function(urn, "shout", sql="upper({text}) || '!'", enums={"how": "LOUD"})
    frame = read("orders", ORDERS.schema, registry=registry)
    plan = frame.select("id", a=lambda o: fn.shout(o.note, "loud")).to_plan()
    again = ps.load(plan.to_bytes(), registry=registry)
    assert again == plan
    found = rows(ps.run_query(again, tables=TABLES, spark=spark, registry=registry))
    assert found[0] == ("1", "A!")
    assert frame.agg(p=lambda o: call("product", o.score, urn=urn)).types[0].nullable
    assert fn(urn, registry).shout(lit("x"), enum("LOUDER")).type == lit("x").type


def test_our_own_extensions_are_found_by_name(spark: SparkSession) -> None:
    frame = orders().select("id", a=lambda o: fn.crc32(o.note.cast("binary")))
    assert rows(ps.run_query(frame.to_plan(), tables=TABLES, spark=spark))[0] == ("1", str(zlib.crc32(b"a")))
    with pytest.raises(ps.InvalidPlanError, match="There are: sha2"):
        orders().select(a=lambda o: fn.sha2(o.note, 256))


def test_extended_expressions_are_built(spark: SparkSession) -> None:
    made = extended_expression(
        ORDERS.schema, {"total": lambda o: o.quantity * o.price, "is_cheap": lambda o: o.price < 10}
    )
    again: Any = ps.load(made.to_bytes(), strict=True)
    assert again == made
    table = ps.evaluate_arrow(again, ORDERS, spark=spark)
    assert table.column_names == ["total", "is_cheap"]
    assert rows(table)[:2] == [("19", True), ("10", False)]


def test_measures_are_extended_expressions_too(spark: SparkSession) -> None:
    made = orders().to_expressions(total=sum_(lambda o: o.quantity), n=count())
    again: Any = ps.load(made.to_bytes(), strict=True)
    assert again == made
    assert rows(ps.evaluate_arrow(made, ORDERS, spark=spark)) == [("18", "7")]


def test_a_schema_may_be_given_in_any_form() -> None:
    struct = NamedStruct(names=("a", "b"), struct=Struct(types=(I32(), I64(nullable=True))))
    arrow = pa.schema([pa.field("a", pa.int32(), nullable=False), pa.field("b", pa.int64())])
    frames = [read("t", given) for given in (struct, arrow, {"a": "i32", "b": "i64?"}, {"a": I32(), "b": "i64?"})]
    assert {frame.schema for frame in frames} == {struct}
    assert repr(frames[0]) == "<Frame: a: i32, b: i64?>"


def test_nested_names_come_out(spark: SparkSession) -> None:
    plan = BUILT["nested names"]().select("l", inner=lambda t: t.s.y).to_plan()
    assert plan.relations[0].names == ("l", "p", "inner", "z")


def test_a_relation_by_hand_is_a_frame(spark: SparkSession) -> None:
    made = relation(orders().model, list(ORDERS.column_names)).select("id")
    assert made.plan() == orders().select("id").plan()


def test_the_names_of_nested_fields_of_a_relation_by_hand() -> None:
    node = BUILT["nested names"]().select("l", "s").model
    columns = relation(node, ["l", "s"]).schema.names
    assert len(columns) == name_count(node.schema)
    assert {name for name in columns if name not in ("l", "s")} <= {f"field_{position}" for position in range(9)}
    all_names = [f"n{position}" for position in range(len(columns))]
    plan = relation(node, all_names).to_plan()
    assert plan.relations[0].names == tuple(all_names)
    assert ps.validate(plan).ok
    assert ps.validate(relation(node, ["l", "s"]).to_plan()).ok
    with pytest.raises(ps.InvalidPlanError, match=f"3 names were given for 2 columns, which have {len(columns)}"):
        relation(node, ["a", "b", "c"])


def test_a_frame_and_a_column_never_change() -> None:
    frame = orders()
    before = frame.plan()
    frame.filter("paid").select("id").sort("id")
    assert frame.plan() == before


def test_a_lambda_with_types_is_a_value() -> None:
    made = lambda_(["i32", "i32?"], lambda x, y: x + y)
    assert isinstance(made.expression, Lambda)
    assert str(made.type) == "func<(i32, i32?) -> i32?>"


def test_every_function_of_the_specification_is_an_attribute() -> None:
    names: set[Any] = set(dir(fn))
    assert {"add", "sum", "transform", "rank"} <= names
    assert fn["add"].__name__ == "add"


def test_names_beside_the_keys_get_suffixes() -> None:
    joined = orders().select("id", "note").join(orders().select("id", "note"), "id", suffixes=("", "_right"))
    assert joined.columns == ("id", "note", "note_right")
    outer = orders().select("id", "note").join(orders().select("id", "note"), "id", "outer", suffixes=("_l", "_r"))
    assert outer.columns == ("id", "note_l", "note_r")


def test_windows_over_groups(spark: SparkSession) -> None:
    frame = (
        orders()
        .filter(lambda o: o.customer.is_not_null())
        .group_by("customer")
        .agg(place=lambda o: rank().over(order_by=sum_(o.quantity).desc()))
    )
    found = rows(ps.run_query(frame.to_plan(), tables=TABLES, spark=spark))
    assert sorted(found) == [("10", "2"), ("20", "1"), ("30", "3")]


def test_higher_order_functions_of_a_user_take_functions_of_python() -> None:
    text = """%YAML 1.2
---
urn: extension:org.example:lists
scalar_functions:
  - name: each
    impls:
      - args: [{name: input, value: list<any1>}, {name: f, value: func<any1 -> any2>}]
        return: list<any2>
"""
    registry = Registry.default().with_yaml(text)
    frame = read("customers", TABLES["customers"].schema, registry=registry)
    assert str(frame.select(a=lambda c: fn.each(c.points, lambda x: x + 1)).types[0]) == "list?<i32?>"


def test_plans_may_be_deep(spark: SparkSession) -> None:
    def sum_of(record: Any) -> Any:
        value = record.id
        for _ in range(400):
            value = value + 1
        return value

    plan = orders().select(a=sum_of).to_plan()
    assert plan.deep
    assert ps.load(plan.to_bytes()).notes == ()
    assert rows(ps.run_query(plan, tables=TABLES, spark=spark, limit=1)) == [("401",)]
    frame = orders()
    for _ in range(400):
        frame = frame.filter(lambda o: o.id > 1)
    assert frame.to_plan().deep
    assert ps.load(frame.to_plan().to_bytes()).notes == ()


def test_bounds_in_records_are_counted_by_i64() -> None:
    frame = orders().select(a=lambda o: sum_(o.id).over(order_by=o.id, rows=(preceding(2), following(1))))
    assert ps.load(frame.to_plan().to_bytes(), strict=True).notes == ()
    with pytest.raises(ps.InvalidPlanError, match="is not a distance between values of date"):
        orders().select(a=lambda o: sum_(o.id).over(order_by=o.day, range=(-1, 0)))
    frame = orders().select(a=lambda o: sum_(o.id).over(order_by=o.day, range=(-datetime.timedelta(days=2), 0)))
    assert ps.load(frame.to_plan().to_bytes(), strict=True).notes == ()


def test_new_values_are_of_the_type_of_their_column() -> None:
    with pytest.raises(ps.InvalidPlanError, match="the value is string\\?, where i32 is wanted"):
        update("t", SMALL, {"a": lambda t: t.b})
