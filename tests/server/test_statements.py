"""Plans and SQL through ADBC's driver give the rows that DuckDB gives."""

from __future__ import annotations

import datetime
import decimal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.parquet
import pytest

import pyspark_substrait
from pyspark_substrait.builder import parameter, read
from tests.agreement import assert_same_rows
from tests.spark.test_foreign_plans import PLACES, PLANS, plans

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUERIES = [f"q{number:02}" for number in range(1, 23)] if PLANS.is_dir() else []


def text_of(name: str) -> str:
    return (PLANS / "tpch" / "sql" / f"{name}.sql").read_text()


@pytest.mark.sweep
@pytest.mark.parametrize("name", plans(QUERIES))
def test_tpch_plans(name: str, cursor: Any, duck: duckdb.DuckDBPyConnection) -> None:
    cursor.execute((PLANS / "tpch" / "datafusion" / f"{name}.pb").read_bytes())
    assert_same_rows(cursor.fetch_arrow_table(), duck.sql(text_of(name)).to_arrow_table(), places=PLACES.get(name))


@pytest.mark.sweep
@pytest.mark.parametrize("name", plans(QUERIES))
def test_tpch_texts(name: str, cursor: Any, duck: duckdb.DuckDBPyConnection) -> None:
    text = text_of(name).strip().rstrip(";")
    cursor.execute(text)
    assert_same_rows(cursor.fetch_arrow_table(), duck.sql(text).to_arrow_table(), places=PLACES.get(name, 6))


@pytest.mark.sweep
def test_clients_get_their_own_rows(connect: Callable[[], Any], duck: duckdb.DuckDBPyConnection) -> None:
    """Eight clients ask for different nations at the same time, as plans and as SQL."""
    expected = dict(duck.sql("SELECT n_nationkey, n_name FROM nation").fetchall())
    wrong: list[object] = []

    def ask(client: int) -> None:
        try:
            with connect() as connection, connection.cursor() as cursor:
                for key in range(client, 24, 8):
                    nation = read("nation", {"n_nationkey": "i64?", "n_name": "string?"})
                    plan = nation.filter(lambda n, key=key: n.n_nationkey == key).select("n_name").to_plan()
                    for statement in (plan.to_bytes(), f"SELECT n_name FROM nation WHERE n_nationkey = {key}"):
                        cursor.execute(statement)
                        if (rows := cursor.fetchall()) != [(expected[key],)]:
                            wrong.append((client, key, rows))
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=ask, args=(client,)) for client in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_parameters_of_a_plan(cursor: Any) -> None:
    nation = read("nation", {"n_nationkey": "i64?", "n_name": "string?"})
    plan = nation.filter(lambda n: n.n_nationkey == parameter(1, "i64?")).select("n_name").to_plan().to_bytes()
    assert cursor.adbc_prepare(plan) == pa.schema([pa.field("1", pa.int64())])
    for key, name in ((3, "CANADA"), (6, "FRANCE")):
        cursor.execute(plan, (key,))
        assert cursor.fetchall() == [(name,)]
    with pytest.raises(Exception, match=r"the plan has 1 parameters, and|the statement has 1 parameters, and"):
        cursor.execute(plan, (1, 2))
    with pytest.raises(Exception, match="the parameter 1 is of type i64\\?, and its value is a string"):
        cursor.execute(plan, ("x",))


def test_parameters_of_sql(cursor: Any) -> None:
    cursor.execute("SELECT ? + 1 AS a, ? AS b, ? AS c, ? AS d, '?' AS e -- ?", (1, "x", decimal.Decimal("1.50"), None))
    assert cursor.fetchall() == [(2, "x", decimal.Decimal("1.50"), None, "?")]
    cursor.execute("SELECT n_name FROM nation WHERE n_nationkey = ?", (3,))
    assert cursor.fetchall() == [("CANADA",)]
    moment = datetime.datetime(2024, 2, 29, 12, 30, tzinfo=datetime.timezone.utc)
    cursor.execute("SELECT ? AS a", (moment,))
    assert cursor.fetchall() == [(moment,)]


def test_several_records_of_parameters(cursor: Any, duck: duckdb.DuckDBPyConnection) -> None:
    """The rows for each come one after another, and changes are made for each."""
    nation = read("nation", {"n_nationkey": "i64?", "n_name": "string?"})
    plan = nation.filter(lambda n: n.n_nationkey < parameter(1, "i64?")).select("n_name").to_plan().to_bytes()
    keys = pa.record_batch({"1": pa.array([3, 0, 2], pa.int64())})
    expected = [
        row for key in (3, 0, 2) for row in duck.sql(f"SELECT n_name FROM nation WHERE n_nationkey < {key}").fetchall()
    ]
    for statement in (plan, "SELECT n_name FROM nation WHERE n_nationkey < ?"):
        cursor.execute(statement, keys)
        assert sorted(cursor.fetchall()) == sorted(expected)
    cursor.execute("CREATE TABLE many (a INT, b STRING) USING parquet")
    cursor.executemany("INSERT INTO many VALUES (?, ?)", [(1, "x"), (2, None), (3, "z")])
    assert cursor.rowcount in (3, -1)  # a Connect session doesn't tell
    cursor.execute("SELECT * FROM many ORDER BY a")
    assert cursor.fetchall() == [(1, "x"), (2, None), (3, "z")]
    with pytest.raises(Exception, match="The records of parameters before this one, 1, were carried out"):
        cursor.executemany("INSERT INTO many VALUES (int(?), 'w')", [("4",), ("five",), ("6",)])
    cursor.execute("SELECT a FROM many WHERE b = 'w'")
    assert cursor.fetchall() == [(4,)]
    cursor.execute("DROP TABLE many")


def test_sql_that_changes_tables(cursor: Any) -> None:
    for text in (
        "CREATE TABLE served (a INT) USING parquet",
        "INSERT INTO served VALUES (1), (2)",
        "WITH more AS (SELECT 3) INSERT INTO served SELECT * FROM more",
    ):
        cursor.execute(text)
    cursor.execute("SELECT sum(a), count(*) FROM served")
    assert cursor.fetchall() == [(6, 3)]
    cursor.execute("SHOW TABLES LIKE 'served'")
    assert [row[1] for row in cursor.fetchall()] == ["served"]
    cursor.execute("DROP TABLE served")
    cursor.execute("SHOW TABLES LIKE 'served'")
    assert cursor.fetchall() == []


def test_your_session_is_unchanged(spark: SparkSession, server: object) -> None:
    assert "nation" not in {found.name for found in spark.catalog.listTables()}


def test_views_are_read_by_plans_and_by_sql(spark: SparkSession) -> None:
    driver = pytest.importorskip("adbc_driver_flightsql.dbapi")
    nation = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "name": ["a", "b", "c"]})
    source = read("nation", {"id": "i64?", "name": "string?"})
    view = source.filter(lambda n: n.id > 1).to_plan()
    tables = {"nation": nation, "dotted.name": nation}
    with pyspark_substrait.serve(spark, tables=tables, views={"late": view}, allow_sql=True) as server:
        options = {"adbc.flight.sql.authorization_header": f"Bearer {server.token}"}
        with driver.connect(server.uri, options, autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT id FROM late ORDER BY id")
            assert cursor.fetchall() == [(2,), (3,)]
            cursor.execute(read("late", {"id": "i64?"}).to_plan().to_bytes())
            assert sorted(cursor.fetchall()) == [(2,), (3,)]
            cursor.execute("SELECT count(*) FROM `dotted.name`")
            assert cursor.fetchall() == [(3,)]
            with pytest.raises(Exception, match="which this server does not allow"):
                cursor.execute("CREATE TABLE x (a INT)")


def test_what_is_not_allowed(spark: SparkSession, tmp_path: Path) -> None:
    driver = pytest.importorskip("adbc_driver_flightsql.dbapi")
    from pyspark_substrait.builder import read_files

    pa.parquet.write_table(pa.table({"a": [1]}), tmp_path / "t.parquet")
    named = read_files([str(tmp_path / "t.parquet")], {"a": "i64?"}, "parquet").to_plan().to_bytes()
    with pyspark_substrait.serve(spark, message_bytes=2000) as server:
        options = {"adbc.flight.sql.authorization_header": f"Bearer {server.token}"}
        with driver.connect(server.uri, options, autocommit=True) as connection, connection.cursor() as cursor:
            for statement, message in (
                ("SELECT 1", "takes plans, but no SQL"),
                (named, "not among the allowed paths"),
                (b"\x1a" * 3000, "the plan has 3,000 bytes, more than 2,000"),
            ):
                with pytest.raises(Exception, match=message):
                    cursor.execute(statement)
    with pyspark_substrait.serve(spark, allowed_paths=[tmp_path]) as server:
        options = {"adbc.flight.sql.authorization_header": f"Bearer {server.token}"}
        with driver.connect(server.uri, options, autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute(named)
            assert cursor.fetchall() == [(1,)]


def test_the_example_of_the_page(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("adbc_driver_flightsql.dbapi")
    page = (Path(__file__).resolve().parents[2] / "docs" / "serving.md").read_text(encoding="utf-8")
    program = page.partition("```python\n")[2].partition("```\n")[0]
    exec(compile(program, "docs/serving.md", "exec"), {})
    rows = pyspark_substrait.run_query(
        pyspark_substrait.samples.plan(), tables=pyspark_substrait.samples.tables(), spark=spark
    )
    assert capsys.readouterr().out.splitlines() == [str(tuple(row.values())) for row in rows.to_pylist()]
