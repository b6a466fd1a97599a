"""Texts of dialects: what is written, what is refused and where, and the command."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import pyspark_substrait as ps
from pyspark_substrait.builder import Frame, call, count, read, sum_
from pyspark_substrait.cli import main
from pyspark_substrait.engines import dialects

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
    assert text.endswith('"orders"."quantity" NULLS FIRST')


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
