"""Texts of dialects: what is written, what is refused and where, and the command."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

import pyspark_substrait as ps
from pyspark_substrait.builder import Frame, call, count, lit, read, sum_
from pyspark_substrait.cli import main
from pyspark_substrait.engines import dialects
from pyspark_substrait.model.expressions import (
    FieldReference,
    Function,
    Lambda,
    LambdaParameterReference,
    NestedList,
    ScalarFunction,
    StructField,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Project
from pyspark_substrait.model.types import I32, Struct
from tests.spark.plans import plan as spark_plan
from tests.spark.plans import stored

ORDER = {"product_id": "i64?", "quantity": "i32?", "price": "decimal?<10,2>"}


def orders() -> Frame:
    return read("orders", ORDER)


def test_one_select_holds_what_fits() -> None:
    plan = (
        orders()
        .filter(lambda t: t.quantity > 1)
        .group_by("product_id")
        .agg(total=lambda t: sum_(t.price), n=count())
        .sort("product_id")
        .to_plan()
    )
    assert ps.to_sql(plan, dialect="duckdb", formatted=False) == (
        'SELECT "orders"."product_id" AS "product_id", SUM("orders"."price") AS "total", COUNT(*) AS "n" FROM "orders" '
        'WHERE "orders"."quantity" > 1 GROUP BY "orders"."product_id" ORDER BY "orders"."product_id" NULLS FIRST'
    )


@pytest.mark.parametrize("dialect", dialects.DIALECTS)
def test_nulls_stand_where_the_plan_says(dialect: str) -> None:
    text = ps.to_sql(orders().select("quantity").sort("quantity").to_plan(), dialect=dialect)
    assert text.replace("`", '"').endswith('"orders"."quantity" NULLS FIRST')


@pytest.mark.parametrize(
    ("dialect", "written"), [("postgres", '"kind" COLLATE "C" NULLS FIRST'), ("duckdb", '"kind" N')]
)
def test_texts_are_ordered_by_code_points(dialect: str, written: str) -> None:
    plan = read("t", {"kind": "string?"}).sort("kind").to_plan()
    assert written in ps.to_sql(plan, dialect=dialect)


def test_names_are_quoted_and_differ() -> None:
    table = read('odd "name"', {"a": "i32"})
    plan = table.join(table, on=lambda a, b: a.a == b.a).to_plan()
    text = ps.to_sql(plan, dialect="sqlite", formatted=False)
    with sqlite3.connect(":memory:") as connection:
        connection.execute('CREATE TABLE "odd ""name""" (a INTEGER)')
        connection.execute('INSERT INTO "odd ""name""" VALUES (1), (2)')
        assert sorted(connection.execute(text).fetchall()) == [(1, 1), (2, 2)]


def test_a_shared_part_is_written_once() -> None:
    shared = orders().group_by("product_id").agg(n=count()).shared()
    text = ps.to_sql(shared.union_all(shared).to_plan(), dialect="duckdb")
    assert text.startswith('WITH "shared" AS (')
    assert text.count("COUNT(*)") == 1


def test_a_shared_part_never_hides_a_table() -> None:
    shared = orders().group_by("product_id").agg(n=count()).shared()
    other = read("shared", {"product_id": "i64?", "n": "i64"})
    text = ps.to_sql(shared.union_all(shared).union_all(other).to_plan(), dialect="duckdb", formatted=False)
    assert text.startswith('WITH "shared_') and 'FROM "shared" AS "' in text


def test_texts_that_were_never_run_say_so() -> None:
    plan = orders().filter(lambda t: t.quantity > 1).select("quantity").to_plan()
    note = "/* not run in BigQuery; follows its documentation */"
    select = "SELECT `orders`.`quantity` AS `quantity` FROM `orders` WHERE `orders`.`quantity` > 1"
    assert ps.to_sql(plan, dialect="bigquery", formatted=False) == f"{note} {select}"
    view = ps.view_sql(plan, "reports.some`", dialect="bigquery", formatted=False)
    assert view == f"CREATE VIEW `reports`.`some\\`` (`quantity`) AS {note} {select}"


def test_a_filter_of_an_aggregate_is_a_case_where_there_is_no_filter() -> None:
    frame = orders().agg(total=lambda t: sum_(t.quantity).filter(t.price > 1), n=lambda t: count().filter(t.price > 1))
    text = ps.to_sql(frame.to_plan(), dialect="bigquery", formatted=False)
    condition = "`orders`.`price` > CAST('1.00' AS NUMERIC)"
    assert f"SUM(CASE WHEN {condition} THEN `orders`.`quantity` END)" in text
    assert f"COUNT(CASE WHEN {condition} THEN 1 END)" in text


@pytest.mark.parametrize(
    ("dialect", "part", "fault"),
    [
        ("sqlite", "sum", r"\.measures\[0\]\.measure: sum:dec .* has no form in SQLite 3"),
        ("duckdb", "option", r"scalar_function: ln:fp64 with rounding=CEILING .* has no form in DuckDB 2.0"),
        ("postgres", "upper", r"scalar_function.*: upper:str with char_set=ASCII_ONLY .* has no form in PostgreSQL 15"),
    ],
)
def test_what_cannot_be_exact_is_refused_with_its_place(dialect: str, part: str, fault: str) -> None:
    frames: dict[str, Any] = {
        "sum": lambda: orders().agg(total=lambda t: sum_(t.price)),
        "option": lambda: read("t", {"x": "fp64"}).select(y=lambda t: call("ln", t.x, rounding="CEILING")),
        "upper": lambda: read("t", {"s": "string"}).select(x=lambda t: call("upper", t.s, char_set="ASCII_ONLY")),
    }
    with pytest.raises(ps.UnsupportedPlanError, match=f"^relations\\[0\\].*{fault}"):
        ps.to_sql(frames[part]().to_plan(), dialect=dialect)


def test_there_is_no_other_dialect() -> None:
    with pytest.raises(ps.UnsupportedPlanError, match=r"there is no dialect `oracle`\. There are spark, duckdb"):
        ps.to_sql(orders().to_plan(), dialect="oracle")
    with pytest.raises(ps.UnsupportedPlanError, match=r"the version 4\.0 is one of Spark"):
        ps.to_sql(orders().to_plan(), dialect="duckdb", version="4.0")


def test_the_plan_of_the_tutorial() -> None:
    found = ps.to_sql(ps.samples.plan(), dialect="duckdb")
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        for name, path in ps.samples.tables().items():
            connection.execute(f"CREATE VIEW {name} AS FROM '{path}'")
        rows = connection.sql(found).fetchall()
    assert [row[0] for row in rows] == ["Oak Desk", "Trail Bicycle", "Reading Lamp", None]


def test_the_command_prints_the_text(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    orders().to_plan().save(path)
    done = CliRunner().invoke(main, ["sql", str(path), "--dialect", "postgres", "--compact"])
    assert done.exit_code == 0, done.output
    assert done.output.startswith('SELECT "orders"."product_id" AS "product_id"')
    refused = CliRunner().invoke(main, ["sql", str(path), "--dialect", "oracle"])
    assert refused.exit_code == 1 and "there is no dialect `oracle`" in refused.output


#: types whose values functions take and return
OPERANDS = ["i8?", "i32?", "i64?", "fp64?", "decimal?<9,2>", "string?", "boolean?", "date?"]


@pytest.mark.sweep
@pytest.mark.parametrize("dialect", dialects.DIALECTS)
def test_texts_do_not_grow_by_a_factor_with_each_call(dialect: str) -> None:
    """A chain of any function of two values of a type, 16 calls deep: a text of its size, or a refusal."""
    names = sorted({name for rows in dialects.DIALECTS[dialect].functions.values() for name in rows})
    written = 0
    for name in names:
        for type in OPERANDS:
            frame = read("t", {"a": type, "b": type})

            def chain(t: Any, name: str = name) -> Any:
                value = t.a
                for _ in range(16):
                    value = call(name, value, t.b)
                return value

            try:
                plan = frame.select(y=chain).to_plan()
            except ps.SubstraitError:
                continue  # there is no such function of these types
            try:
                text = ps.to_sql(plan, dialect=dialect, formatted=False)
            except ps.UnsupportedPlanError:
                continue
            assert len(text) < 10_000, (name, type)
            written += 1
    assert written > 10


@pytest.mark.parametrize(("dialect", "type"), [("sqlite", "i32?"), ("postgres", "i8?"), ("duckdb", "decimal?<9,2>")])
def test_chains_of_checked_calls_are_written(dialect: str, type: str) -> None:
    def chain(t: Any) -> Any:
        value = t.a
        for _ in range(40):
            value = call("divide" if "decimal" in type else "add", value, t.b)
        return value

    plan = read("t", {"a": type, "b": type}).select(y=chain).to_plan()
    assert len(ps.to_sql(plan, dialect=dialect, formatted=False)) < 20_000


@pytest.mark.parametrize("dialect", dialects.DIALECTS)
def test_long_constants_are_not_repeated_again_and_again(dialect: str) -> None:
    def chain(t: Any) -> Any:
        value = call("concat", t.a, lit("x" * 100_000, "string"))
        for _ in range(9):
            value = call("greatest_skip_null", value, t.b)
        return value

    plan = read("t", {"a": "string?", "b": "string?"}).select(y=chain).to_plan()
    try:
        assert len(ps.to_sql(plan, dialect=dialect, formatted=False)) < 10_000_000
    except ps.UnsupportedPlanError:
        return


@pytest.mark.parametrize(
    ("steps", "path", "fault"),
    [
        (0, (), "references to whole records"),
        (3, (StructField(0),), "parameters of lambdas around queries"),
    ],
)
def test_references_of_a_lambda_without_a_form(steps: int, path: Any, fault: str) -> None:
    parameters = Struct(types=(I32(),))
    root = LambdaParameterReference(steps_out=steps)
    body = FieldReference(root=root, reference=path, type=I32() if path else parameters)
    numbers = NestedList(values=(Literal(type=I32(), value=1),))
    made = ScalarFunction(
        function=Function("extension:io.substrait:functions_list", "transform", "list_func"),
        arguments=(numbers, Lambda(parameters=parameters, body=body)),
        output_type=numbers.type,
        derived_type=numbers.type,
    )
    node = Project(input=stored("t", {"a": I32()}), expressions=(made,))
    with pytest.raises(ps.UnsupportedPlanError, match=fault):
        ps.to_sql(spark_plan(node, ("a", "b")), dialect="duckdb")


def test_a_field_of_a_struct_without_a_form() -> None:
    plan = read("t", {"s": "struct?<i32?, string?>"}).select(c=lambda t: t.s[0]).to_plan()
    with pytest.raises(ps.UnsupportedPlanError, match="references into values"):
        ps.to_sql(plan, dialect="postgres")


RECORD = "struct?<i32?, i32?>"


def structs_in_duckdb(plan: Any) -> list[Any]:
    """Return the first column of a plan's result, over tables whose structs have other names for their fields."""
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.execute("CREATE TABLE a AS SELECT 1 AS id, {'p': 1, 'q': 2} AS s UNION ALL SELECT 2, NULL")
    connection.execute("CREATE TABLE b AS SELECT 1 AS id, {'q': 3, 'p': 4} AS s")
    text = ps.to_sql(ps.load(plan.to_bytes()), dialect="duckdb")
    return [row[0] for row in connection.sql(f"FROM ({text}) ORDER BY ALL").fetchall()]


def table(name: str, *fields: str) -> Frame:
    return read(name, pa.schema([("id", pa.int32()), ("s", pa.struct([(field, pa.int32()) for field in fields]))]))


def test_structs_meet_by_their_positions() -> None:
    one, other = table("a", "p", "q"), table("b", "q", "p")
    found = structs_in_duckdb(one.select("s").union_all(other.select("s")).to_plan())
    assert found == [{"p": 1, "q": 2}, {"p": 3, "q": 4}, None]
    paired = one.join(other, on=lambda left, right: left.s[1] < right.s[0])
    assert structs_in_duckdb(paired.select(c=lambda t: t[1]).to_plan()) == [{"p": 1, "q": 2}]


def test_fields_have_the_names_of_the_result() -> None:
    plan = table("a", "p", "q").select("s").to_plan()
    renamed = ps.load(plan.to_text().replace("Root[s, p, q]", "Root[s, q, x]"))
    assert structs_in_duckdb(renamed) == [{"q": 1, "x": 2}, None]


@pytest.mark.parametrize("names", [("a", "A"), ("a", "")])
def test_names_that_a_struct_cannot_have_are_refused(names: tuple[str, str]) -> None:
    plan = table("a", "p", "q").select("s").to_plan()
    renamed = ps.load(
        plan.to_text().replace("Root[s, p, q]", "Root[s, {}, {}]".format(*(f'"{name}"' for name in names)))
    )
    with pytest.raises(ps.UnsupportedPlanError, match="can't have a struct with fields of the names"):
        ps.to_sql(renamed, dialect="duckdb")


@pytest.mark.parametrize("depth", [10, 40])
def test_the_order_of_deep_structs_is_refused(depth: int) -> None:
    """It tells of each part whether it is known: a text that grows faster than the type."""
    type = "struct?<" * depth + "i32?" + ">" * depth
    with pytest.raises(ps.UnsupportedPlanError, match="the text would be too long"):
        ps.to_sql(read("t", {"s": type}).sort("s").to_plan(), dialect="duckdb")
    assert len(ps.to_sql(read("t", {"s": type}).select("s").distinct().to_plan(), dialect="duckdb")) < 200
