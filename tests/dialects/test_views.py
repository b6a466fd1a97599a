"""Views of a plan: the same rows in Spark and other engines, the text of each dialect, and what no view can be."""

from __future__ import annotations

import uuid
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

import pyspark_substrait as ps
from pyspark_substrait.builder import Frame, call, parameter, read
from pyspark_substrait.cli import main
from pyspark_substrait.documents import Plan
from pyspark_substrait.sql.view_statement import ViewName
from tests.dialects.engines import DuckDB, Engine, Postgres, SQLite, Trino

ORDERS = {"id": "i64", "price": "fp64?"}


def orders() -> Frame:
    return read("orders", ORDERS)


def test_a_view_of_the_tutorial_has_the_same_rows_everywhere(spark: SparkSession, postgres: Postgres) -> None:
    plan = ps.load(ps.samples.plan())
    expected = sorted(
        map(tuple, (row.values() for row in ps.run_query(plan, tables=ps.samples.tables(), spark=spark).to_pylist())),
        key=str,
    )
    types = plan.relations[0].input.schema.types  # type: ignore[union-attr]
    query = 'SELECT "product_name", "product_id", "sales" FROM "tutorial"'

    duck = DuckDB()
    for name, path in ps.samples.tables().items():
        duck.connection.execute(f"CREATE TABLE {name} AS FROM '{path}'")
    orders, products = (pq.read_table(ps.samples.tables()[name]) for name in ("orders", "products"))
    postgres.load("orders", orders, ["bigint", "int", "date", "numeric(10,2)"])
    products = duck.table(
        "SELECT product_id, '{' || array_to_string(categories, ',') || '}', product_name FROM products"
    )
    products = products.rename_columns(["product_id", "categories", "product_name"])
    postgres.load("products", products, ["bigint", "text[]", "text"])
    engines: tuple[Engine, ...] = (duck, postgres)
    duck.connection.execute(ps.view_sql(plan, "tutorial", dialect="duckdb"))
    postgres._server.run(ps.view_sql(plan, "tutorial", dialect="postgres"))
    for engine in engines:
        assert sorted(engine.rows(query, types), key=str) == expected, engine.name

    database = f"views_{uuid.uuid4().hex}"
    spark.sql(f"CREATE DATABASE {database}")
    try:
        for name, path in ps.samples.tables().items():
            spark.read.parquet(str(path)).write.saveAsTable(f"{database}.{name}")
        spark.catalog.setCurrentDatabase(database)
        ps.create_view(plan, spark, "tutorial", temporary=False)
        spark.sql(ps.view_sql(plan, "by_text"))
        ps.create_view(plan, spark, "of_session", tables=ps.samples.tables())
        for view in ("tutorial", "by_text", "of_session"):
            found = spark.table(view).select("product_name", "product_id", "sales").collect()
            assert sorted(map(tuple, found), key=str) == expected, view
        with pytest.raises(ps.TableError, match="already"):
            ps.create_view(plan, spark, "tutorial", temporary=False)
        with pytest.raises(ps.TableError, match="is a table, not a view"):
            ps.create_view(orders_of(database), spark, f"{database}.products", temporary=False, replace=True)
        with pytest.raises(ps.TableError, match="temporary view of_session, which would hide"):
            ps.create_view(plan, spark, "of_session", temporary=False)
        with pytest.raises(ps.UnsupportedPlanError, match="reads orders, a table passed to this run"):
            ps.create_view(plan, spark, "other", temporary=False, tables=ps.samples.tables())
        ps.create_view(orders_of(database), spark, "tutorial", temporary=False, replace=True)
        assert spark.table("tutorial").columns == ["quantity"]
    finally:
        spark.catalog.setCurrentDatabase("default")
        spark.catalog.dropTempView("of_session")
        spark.sql(f"DROP DATABASE {database} CASCADE")


def orders_of(database: str) -> Plan:
    return read((database, "orders"), {"quantity": "i32?"}).to_plan()


def test_temporary_views(spark: SparkSession) -> None:
    name = f"v{uuid.uuid4().hex}"
    frame = spark.createDataFrame([(1, 5.0), (2, 20.0)], "id BIGINT NOT NULL, price DOUBLE")
    limit = orders().filter(lambda o: o.price > parameter(0, "fp64")).to_plan()
    try:
        ps.create_view(limit, spark, name, tables={"orders": frame}, parameters={0: 10.0})
        assert spark.table(name).collect() == [(2, 20.0)]
        with pytest.raises(ps.TableError, match=f"there can be no view {name}"):
            ps.create_view(limit, spark, name, tables={"orders": frame}, parameters={0: 1.0})
        ps.create_view(limit, spark, name, tables={"orders": frame}, parameters={0: 1.0}, replace=True)
        assert spark.table(name).count() == 2
        with pytest.raises(ps.ParameterError):
            ps.create_view(limit, spark, name, tables={"orders": frame}, replace=True)
        with pytest.raises(ps.TableError, match="the name of a temporary view has one part"):
            ps.create_view(limit, spark, "a.b", tables={"orders": frame}, parameters={0: 1.0})
        with pytest.raises(ps.InvalidPlanError, match="changes a table"):
            ps.create_view(orders().insert_into("other").to_plan(), spark, name, replace=True)
    finally:
        spark.catalog.dropTempView(name)


def test_a_view_keeps_the_meaning_of_the_plan_in_a_session_without_ansi_mode(spark: SparkSession) -> None:
    name = f"v{uuid.uuid4().hex}"
    lacking = spark.newSession()
    lacking.conf.set("spark.sql.ansi.enabled", "false")
    plan = read("t", {"a": "i32"}).select(b=lambda t: call("add", t.a, t.a, overflow="ERROR")).to_plan()
    frame = lacking.sql("SELECT 2147483647 AS a")
    ps.create_view(plan, lacking, name, tables={"t": frame})
    with pytest.raises(Exception, match="OVERFLOW"):
        lacking.table(name).collect()
    lacking.sql("CREATE TABLE views_t USING parquet AS SELECT 1 AS a")
    stored = read("views_t", {"a": "i32?"}).select(b=lambda t: call("add", t.a, t.a, overflow="ERROR")).to_plan()
    try:
        with pytest.raises(ps.UnsupportedPlanError, match=r"the plan needs spark\.sql\.ansi\.enabled"):
            ps.create_view(stored, lacking, f"c{name}", temporary=False)
    finally:
        lacking.sql("DROP TABLE views_t")


def test_names_are_quoted_and_can_be_read(engine: Engine) -> None:
    odd = 'a "view"'
    plan = read("spaced t", {"x": "i32"}).select(**{'the "x"': lambda t: t.x}).to_plan()
    statements = ['CREATE TABLE "spaced t" (x INTEGER)', 'INSERT INTO "spaced t" VALUES (7)']
    statements.append(ps.view_sql(plan, (odd,), dialect=engine.name))
    if not isinstance(engine, SQLite):
        statements.append(ps.view_sql(plan, (odd,), dialect=engine.name, replace=True, formatted=False))
    if isinstance(engine, Trino):
        statements.insert(0, "USE memory.default")
    for text in statements:
        engine.run(text)
    types = plan.relations[0].input.schema.types  # type: ignore[union-attr]
    assert engine.rows('SELECT "the ""x""" FROM "a ""view"""', types) == [(7,)]


@pytest.mark.parametrize("dialect", ["spark", "duckdb", "postgres", "trino", "datafusion", "sqlite"])
def test_what_is_no_view_is_refused(dialect: str) -> None:
    twice = orders().join(orders(), on=lambda a, b: a.id == b.id).to_plan()
    cased = orders().select(a=lambda o: o.id, A=lambda o: o.id).to_plan()

    def refused(plan: Plan, name: ViewName, message: str, error: type[Exception]) -> None:
        with pytest.raises(error, match=message):
            ps.view_sql(plan, name, dialect=dialect)

    refused(twice, "v", r"two columns of one name, and `id` is one", ps.UnsupportedPlanError)
    refused(
        orders().to_plan(),
        "Orders" if dialect in ("spark", "duckdb") else "orders",
        "would read itself",
        ps.UnsupportedPlanError,
    )
    refused(orders().insert_into("t").to_plan(), "v", r"^relations\[0\].*changes a table", ps.InvalidPlanError)
    refused(orders().filter(lambda o: o.price > parameter(0, "fp64")).to_plan(), "v", "parameter", ps.ParameterError)
    for name in ("", "a..b", ()):
        refused(orders().to_plan(), name, "is no name of a view", ps.TableError)
    if dialect in ("postgres", "datafusion"):
        assert '("a", "A")' in ps.view_sql(cased, "v", dialect=dialect)
    else:
        refused(cased, "v", "whatever its case", ps.UnsupportedPlanError)


def test_what_a_dialect_lacks_is_refused() -> None:
    with pytest.raises(ps.UnsupportedPlanError, match="keeps 63 bytes of a name"):
        ps.view_sql(orders().to_plan(), "é" * 32, dialect="postgres")
    with pytest.raises(ps.UnsupportedPlanError, match="SQLite 3 has no CREATE OR REPLACE VIEW"):
        ps.view_sql(orders().to_plan(), "v", dialect="sqlite", replace=True)


def test_the_command(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    orders().to_plan().save(path)
    done = CliRunner().invoke(main, ["sql", str(path), "--view", "a.b", "--replace", "--compact"])
    assert done.stdout.startswith("CREATE OR REPLACE VIEW `a`.`b` (`id`, `price`) AS SELECT ")
    assert "--replace needs --view NAME" in CliRunner().invoke(main, ["sql", str(path), "--replace"]).output
