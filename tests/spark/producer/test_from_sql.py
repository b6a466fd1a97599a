"""Text to plans: tables of the caller's, parameters, errors; and the session stays as it was."""

from __future__ import annotations

import datetime
import decimal
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql.types import IntegerType, StringType, StructField, StructType

import pyspark_substrait as ps
from pyspark_substrait.errors import InvalidPlanError, ParameterError, TableError, UnsupportedPlanError
from pyspark_substrait.model.plan import RelRoot
from pyspark_substrait.spark.arrow_transfer import frame_of_arrow
from pyspark_substrait.spark.failures import message_with_place
from tests.spark.plans import table_names
from tests.spark.producer.round_trips import assert_same, rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.sweep

ORDERS = {"id": [1, 2, 3, None], "customer": [10, 20, 10, 30], "price": [1.5, None, 2.5, 4.0]}
ITEMS = {"order_id": [1, 1, 3], "name": ["a", "b", None]}


@pytest.fixture
def tables(spark: SparkSession, tmp_path: Path) -> dict[Any, Any]:
    pq.write_table(pa.table(ORDERS), tmp_path / "orders.parquet")
    return {
        "orders": str(tmp_path / "orders.parquet"),
        "shop.items": pa.table(ITEMS),
        ("a.b", "c"): spark.range(3),
        "spark_catalog.shop.items": pa.table({"order_id": [7], "name": ["z"]}),
    }


QUERIES = (
    "SELECT * FROM orders",
    "SELECT customer, sum(price) AS total FROM orders GROUP BY customer",
    "SELECT o.id, i.name FROM orders o LEFT JOIN shop.items i ON o.id = i.order_id",
    "SELECT items.name, shop.items.order_id FROM shop.items",
    "SELECT a.name FROM Shop.ITEMS a, `shop`.`items` b WHERE a.order_id = b.order_id",
    "SELECT * FROM orders WHERE id IN (SELECT order_id FROM shop.items)",
    "SELECT id, (SELECT count(*) FROM shop.items WHERE order_id = id) AS n FROM orders",
    "WITH orders AS (SELECT 1 AS one) SELECT * FROM orders, shop.items",
    "WITH q AS (SELECT * FROM shop.items) SELECT * FROM q UNION ALL SELECT * FROM q",
    "SELECT * FROM spark_catalog.shop.items UNION ALL SELECT * FROM shop.items",
    "SELECT * FROM `a.b`.c",
    "SELECT * FROM (SELECT shop.order_id FROM shop.items AS shop) AS s",
)


@pytest.mark.parametrize("query", QUERIES)
def test_tables_of_the_callers(spark: SparkSession, tables: dict[Any, Any], query: str) -> None:
    plan = ps.from_sql(query, spark, tables=tables)
    back = ps.from_substrait(plan, spark, tables=tables)
    views = {
        "orders": spark.read.parquet(tables["orders"]),
        "items": frame_of_arrow(spark, tables["shop.items"]),
        "others": frame_of_arrow(spark, tables["spark_catalog.shop.items"]),
        "c": tables["a.b", "c"],
    }
    plain = query.replace("spark_catalog.shop.items", "others").replace("shop.items.order_id", "items.order_id")
    for written in ("shop.items", "Shop.ITEMS", "`shop`.`items`", "`a.b`.c"):
        plain = plain.replace(written, "c" if written[-1] == "c" else "items")
    for name, frame in views.items():
        frame.createOrReplaceTempView(name)
    try:
        assert_same(rows(back), rows(spark.sql(plain)))
    finally:
        for name in views:
            spark.catalog.dropTempView(name)


def test_the_session_keeps_no_trace(spark: SparkSession, tables: dict[Any, Any]) -> None:
    def state() -> Any:
        settings = {row[0]: row[1] for row in spark.sql("SET").collect()}
        frames = spark.sparkContext.parallelize([(1,)]).toDF("a INT").sparkSession
        return (
            settings,
            table_names(spark),
            spark.catalog.listDatabases(),
            spark.catalog.currentDatabase(),
            id(frames),
        )

    before = state()
    ps.from_sql("SELECT * FROM orders, shop.items", spark, tables=tables)
    ps.from_sql("CREATE TABLE never USING parquet AS SELECT * FROM orders", spark, tables=tables)
    ps.from_sql("DROP TABLE IF EXISTS never", spark)
    with pytest.raises(InvalidPlanError):
        ps.from_sql("SELECT nothing FROM orders", spark, tables=tables)
    assert state() == before
    assert spark.getActiveSession() is not None


def test_views_and_settings_of_the_session(spark: SparkSession) -> None:
    spark.sql("SELECT 1 AS x").createOrReplaceTempView("from_sql_view")
    try:
        assert ps.from_substrait(ps.from_sql("SELECT x + 1 AS y FROM from_sql_view", spark), spark).collect() == [(2,)]
        # a table that is given goes before a view of the session
        plan = ps.from_sql("SELECT x FROM from_sql_view", spark, tables={"from_sql_view": "x STRING"})
        assert str(_root(plan).input.schema.types[0]) == "string?"
    finally:
        spark.catalog.dropTempView("from_sql_view")


def _root(plan: ps.model.plan.Plan) -> RelRoot:
    root = plan.relations[-1]
    assert isinstance(root, RelRoot)
    return root


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        ("a INT, b STRING NOT NULL", ["i32?", "string"]),
        ("a: BIGINT NOT NULL, b: ARRAY<INT>", ["i64", "list?<i32?>"]),
        (StructType([StructField("a", IntegerType(), False), StructField("b", StringType())]), ["i32", "string?"]),
        (
            pa.schema([pa.field("a", pa.int64(), nullable=False), pa.field("b", pa.timestamp("us"))]),
            ["i64", "precision_timestamp?<6>"],
        ),
    ],
    ids=["text", "text with colons", "Spark", "Arrow"],
)
def test_schemas_are_enough(spark: SparkSession, schema: Any, types: list[str]) -> None:
    plan = ps.from_sql("SELECT a, b FROM x.y WHERE a = 1", spark, tables={"x.y": schema})
    assert [str(type) for type in _root(plan).input.schema.types] == types
    assert _root(plan).names == ("a", "b")


def test_a_name_of_several_parts_is_found_wherever_it_stands(spark: SparkSession) -> None:
    """In a common table expression that is used twice, a subquery, and a member of a union."""
    plan = ps.from_sql(
        "WITH c AS (SELECT * FROM x.y WHERE a > 1) SELECT l.a FROM c AS l JOIN c AS r ON l.a = r.a "
        "WHERE EXISTS (SELECT 1 FROM x.y WHERE y.a = l.a + 1) UNION ALL SELECT x.y.a FROM x.y WHERE a = 1",
        spark,
        tables={"x.y": "a INT NOT NULL"},
    )
    given = {"x.y": pa.table({"a": [1, 2, 3]}, pa.schema([pa.field("a", pa.int32(), nullable=False)]))}
    assert sorted(ps.run_query(plan, tables=given, spark=spark)["a"].to_pylist()) == [1, 2]


@pytest.mark.parametrize(
    ("query", "args", "expected"),
    [
        ("SELECT :a AS a, :b AS b", {"a": 1, "b": "x'y"}, [(1, "x'y")]),
        ("SELECT id FROM range(5) AS t WHERE id > ? AND id < ?", [1, 4], [(2,), (3,)]),
        (
            "SELECT :d AS d, :n AS n",
            {"d": decimal.Decimal("1.50"), "n": datetime.date(2020, 2, 29)},
            [(decimal.Decimal("1.50"), datetime.date(2020, 2, 29))],
        ),
        ("SELECT id FROM range(5) WHERE array_contains(:ids, id)", {"ids": [1, 4]}, [(1,), (4,)]),
        ("SELECT coalesce(:nothing, 3) AS c", {"nothing": None}, [(3,)]),
        ("SELECT * FROM IDENTIFIER(:name)", {"name": "from_sql_named"}, [(7,)]),
    ],
)
def test_parameters(spark: SparkSession, query: str, args: Any, expected: Any) -> None:
    tables = {"from_sql_named": spark.sql("SELECT 7 AS x")}
    plan = ps.from_sql(query, spark, tables=tables, args=args)
    assert_same(rows(ps.from_substrait(plan, spark, tables=tables)), expected)


FAULTS = (
    ("SELECT * FRM x y", "Syntax error.*line 1, column 14"),
    ("SELECT\n  nope\nFROM t", "`nope` cannot be resolved.*line 2, column 3"),
    ("SELECT * FROM missing.t", "`missing`.`t` cannot be found.*line 1, column 15"),
    ("SELECT a FROM t GROUP BY b", "MISSING_AGGREGATION|non-aggregating"),
    ("SELECT upper(1, 2)", "line 1, column 8"),
    ("SELECT :a", "unbound parameter: a"),
    ("", "."),
)


@pytest.mark.parametrize(("query", "message"), FAULTS)
def test_what_spark_does_not_take(spark: SparkSession, query: str, message: str) -> None:
    with pytest.raises(InvalidPlanError, match=message) as raised:
        ps.from_sql(query, spark, tables={"t": "a INT, b INT"})
    assert "\n" not in str(raised.value)
    assert raised.value.__cause__ is not None


def test_the_message_of_an_error_that_pyspark_does_not_convert() -> None:
    """As pyspark 4.0 leaves those of scripts, whose own text is that of the call."""
    said = "{LINE:1} [UNSUPPORTED_FEATURE.SQL_SCRIPTING] The feature is not supported. SQLSTATE: 0A000"
    error = RuntimeError("An error occurred while calling o78.parsePlan.")
    error.java_exception = SimpleNamespace(getMessage=lambda: said)  # type: ignore[attr-defined]
    assert message_with_place(error) == "The feature is not supported."


_SCRIPTS = pytest.mark.since(
    "4.1", "scripts are off by default, and Spark puts the query in place of EXECUTE IMMEDIATE"
)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        pytest.param("BEGIN SELECT 1; END", "a script.*each statement", marks=_SCRIPTS),
        pytest.param("EXECUTE IMMEDIATE 'SELECT 1'", "EXECUTE IMMEDIATE", marks=_SCRIPTS),
        ("SHOW TABLES", "SHOW TABLES"),
        ("SET x = 1", "SET"),
    ],
)
def test_what_is_no_query(spark: SparkSession, query: str, message: str) -> None:
    with pytest.raises(UnsupportedPlanError, match=message):
        ps.from_sql(query, spark)


def test_tables_that_are_none(spark: SparkSession) -> None:
    with pytest.raises(TableError, match=r"there is no file absent\.parquet for the table x"):
        ps.from_sql("SELECT 1", spark, tables={"x": "absent.parquet"})
    with pytest.raises(TableError, match="the table x is given as a int"):
        ps.from_sql("SELECT 1", spark, tables={"x": 3})
    with pytest.raises(TableError, match="Spark has no type for a column of x"):
        ps.from_sql("SELECT 1", spark, tables={"x": pa.schema([("a", pa.decimal256(50, 2))])})
    with pytest.raises(ParameterError, match="Spark cannot take the value"):
        ps.from_sql("SELECT ?", spark, args=[object()])


def test_the_release_and_the_producer(spark: SparkSession) -> None:
    from pyspark_substrait.model.plan import CURRENT_VERSION

    version = ps.from_sql("SELECT 1 AS x", spark).version
    assert (version.major_number, version.minor_number, version.patch_number) == CURRENT_VERSION
    assert version.producer == "pyspark-substrait"


def test_an_optimized_plan_keeps_no_names(spark: SparkSession) -> None:
    with pytest.raises(UnsupportedPlanError, match="keeps no names"):
        ps.to_substrait(spark.range(3), tables={"t": spark.range(3)}, optimized=True)


def test_optimized(spark: SparkSession) -> None:
    query = "SELECT a FROM (SELECT a, b FROM t) WHERE a = 1 + 1"
    plan = ps.from_sql(query, spark, tables={"t": "a INT, b INT"}, optimized=True)
    frame = spark.createDataFrame([(2, 1), (3, 1)], "a INT, b INT")
    assert ps.from_substrait(plan, spark, tables={"t": frame}).collect() == [(2,)]


def test_spark_inserts_into_tables_of_its_catalog_only(spark: SparkSession) -> None:
    with pytest.raises(
        UnsupportedPlanError, match=r"INSERT INTO shop\.Target: Spark inserts into tables of its catalog"
    ):
        ps.from_sql(
            "INSERT INTO shop.Target SELECT a FROM source",
            spark,
            tables={"shop.target": "a INT", "source": "a INT"},
        )
