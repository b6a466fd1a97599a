"""Plans of SQL without a JVM: what becomes of the text, what is refused, and the rows beside DuckDB."""

from __future__ import annotations

import datetime
import decimal
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

import pyspark_substrait as ps
from pyspark_substrait.cli import main
from pyspark_substrait.engines import sessions
from pyspark_substrait.errors import ParameterError, SubstraitError, TableError, UnsupportedPlanError
from pyspark_substrait.model.plan import RelRoot
from pyspark_substrait.planner.differences import DIFFERENCES, Handling, markdown
from pyspark_substrait.planner.functions import planned_functions
from pyspark_substrait.planner.tokens import Kind, tokens, unescaped
from tests.planner.queries import EXPRESSIONS, QUERIES, TABLES
from tests.reference import evaluate

pytest.importorskip("datafusion", minversion="55")

ORDERS = {"orders": "id BIGINT NOT NULL, customer STRING, price DECIMAL(10, 2), placed DATE, amount INT"}


def planned(text: str, tables: Any = ORDERS, **options: Any) -> ps.Plan:
    return ps.from_sql(text, tables=tables, engine="datafusion", **options)


def types(plan: ps.Plan) -> list[str]:
    (root,) = plan.relations
    assert isinstance(root, RelRoot)
    return [str(type).replace("?", "") for type in root.input.schema.types]


def names(plan: ps.Plan) -> tuple[str, ...]:
    (root,) = plan.relations
    assert isinstance(root, RelRoot)
    return root.names


def values(text: str, tables: Any = None) -> list[dict[str, Any]]:
    """The rows of a query by the evaluator, which shares nothing with what runs plans on Spark."""
    found = evaluate(planned(text, tables or TABLES), tables or TABLES)
    return [dict(zip(found.names, row, strict=True)) for row in found.rows]


@pytest.mark.parametrize("subject", EXPRESSIONS)
def test_every_expression_is_planned_and_valid(subject: str) -> None:
    for text in EXPRESSIONS[subject]:
        plan = planned(f"SELECT {text} AS c FROM t", TABLES)
        assert ps.to_sql(plan, formatted=False)
        assert ps.load(plan.to_bytes(), strict=True).notes == (), text


@pytest.mark.parametrize("text", QUERIES)
def test_every_query_is_planned_and_valid(text: str) -> None:
    plan = planned(text, TABLES)
    assert plan.notes == () and plan.upgrades == ()
    assert ps.load(plan.to_bytes(), strict=True).notes == ()
    assert ps.validate(plan, "spark").errors == ()


#: expressions over ORDERS, with the types that Spark's documentation gives them
TYPES = {
    "amount + 1": "i32",
    "amount / 2": "fp64",
    "amount DIV 2": "i64",
    "amount * price": "decimal<21, 2>",
    "price * 2": "decimal<12, 2>",
    "price / 3": "decimal<14, 6>",
    "price + 1.5": "decimal<11, 2>",
    "1.50": "decimal<3, 2>",
    "1e2": "fp64",
    "5L": "i64",
    "3000000000": "i64",
    "-9223372036854775808": "i64",
    "9223372036854775808": "decimal<19, 0>",
    "sum(amount)": "i64",
    "sum(price)": "decimal<20, 2>",
    "avg(price)": "decimal<14, 6>",
    "avg(amount)": "fp64",
    "count(*)": "i64",
    "coalesce(amount, 1L)": "i64",
    "CASE WHEN amount > 1 THEN 1 ELSE 2.5 END": "decimal<11, 1>",
    "placed + 5": "date",
    "placed - placed": "interval_day<6>",
    "placed + INTERVAL 1 HOUR": "precision_timestamp_tz<6>",
    "placed + INTERVAL 1 WEEK": "date",
    "placed + INTERVAL 1 DAY 0 HOURS": "precision_timestamp_tz<6>",
    "placed + INTERVAL '1 day'": "date",
    "CAST('2024-01-01' AS TIMESTAMP)": "precision_timestamp_tz<6>",
    "CAST(amount AS DECIMAL)": "decimal<10, 0>",
    "row_number() OVER (ORDER BY id)": "i32",
    "year(placed)": "i32",
    "ceil(price)": "decimal<9, 0>",
    "ceil(amount)": "i64",
}


@pytest.mark.parametrize("text", TYPES)
def test_types_are_those_of_spark(text: str) -> None:
    assert types(planned(f"SELECT {text} AS c FROM orders")) == [TYPES[text]]


def test_values_are_those_of_spark() -> None:
    (row,) = values(
        "SELECT i / 2 AS quotient, i DIV 2 AS whole, upper(s) AS loud, s || NULL AS nothing, "
        "n = 12 AS same, 'it''s' AS quoted, 'a\\tb' AS tab, d * 2 AS twice FROM t WHERE id = 1"
    )
    assert row == {
        "quotient": 3.5,
        "whole": 3,
        "loud": "HELLO WORLD",
        "nothing": None,
        "same": True,
        "quoted": "it's",
        "tab": "a\tb",
        "twice": decimal.Decimal("3.00"),
    }


def test_nulls_are_first_as_in_spark() -> None:
    assert [row["i"] for row in values("SELECT i FROM t ORDER BY i")] == [None, -7, 2, 7, 1000]
    assert [row["i"] for row in values("SELECT i FROM t ORDER BY i DESC")] == [1000, 7, 2, -7, None]


# names ---------------------------------------------------------------------------------------------------------------


def test_names_have_the_case_of_the_text_or_of_the_table() -> None:
    tables = {"Shop.Orders": "Id BIGINT NOT NULL, `Full Name` STRING"}
    plan = planned("SELECT ID, o.`full name`, upper(`Full Name`) AS Loud FROM shop.ORDERS o", tables)
    assert names(plan) == ("ID", "full name", "Loud")
    assert names(planned("SELECT * FROM SHOP.orders", tables)) == ("Id", "Full Name")
    assert names(planned("SELECT id + 1, count(*) FROM shop.orders GROUP BY id + 1", tables)) == ("id + 1", "count(*)")
    assert "Shop.Orders" in str(ps.explain(plan))
    assert names(planned("SELECT DISTINCT(Id), (id) + (1) FROM shop.orders", tables)) == ("Id", "(id) + (1)")
    assert names(
        planned("SELECT CASE WHEN id > 1 THEN id END, id IS DISTINCT FROM 1 AND true FROM shop.orders", tables)
    ) == (
        "CASE WHEN id > 1 THEN id END",
        "id IS DISTINCT FROM 1 AND true",
    )
    assert names(planned("VALUES (1, 2)", tables)) == ("col1", "col2")
    below = "SELECT id, x.*, 2 AS B FROM (SELECT 1 AS `Foo`, id AS ID2 FROM shop.orders) x, shop.orders o"
    assert names(planned(below, tables)) == ("id", "Foo", "ID2", "B")
    two = {"a": "K INT", "b": "k INT"}
    assert names(planned("SELECT * FROM a JOIN b ON a.k = b.k", two)) == ("K", "k")
    assert names(
        planned(
            "SELECT placed + INTERVAL '1' DAY, customer REGEXP 'x', 1 + CASE WHEN true THEN 1 END FROM o",
            {"o": ORDERS["orders"]},
        )
    ) == (
        "placed + INTERVAL '1' DAY",
        "customer REGEXP 'x'",
        "1 + CASE WHEN true THEN 1 END",
    )


def test_tables_are_what_describes_them(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    table = pa.table({"a": pa.array([1], pa.int32()), "b": ["x"]})
    pq.write_table(table, tmp_path / "t.parquet")
    plans = [
        planned("SELECT a, b FROM t", {"t": source})
        for source in (table, table.schema, str(tmp_path / "t.parquet"), "a INT, b STRING", "a: int, b: string")
    ]
    assert len({plan.to_bytes() for plan in plans}) == 1
    nested = "l ARRAY<INT>, m MAP<STRING, DECIMAL(5, 2)>, s STRUCT<x: INT, `y z`: STRING>, c VARCHAR(5) COMMENT 'c'"
    assert names(planned("SELECT * FROM t", {"t": nested}))[0] == "l"
    for wrong in ("a", "a INT b INT", "a DECIMAL(50)", "a NOTHING", "a ARRAY<INT", "a INT,, b INT"):
        with pytest.raises(TableError):
            planned("SELECT 1", {"t": f"{wrong} "})
    with pytest.raises(TableError, match="twice"):
        planned("SELECT 1", {"t": "a INT", "T": "a INT"})


# refusals ------------------------------------------------------------------------------------------------------------

#: texts over ORDERS that are refused, and a part of the message
REFUSED = {
    "SELECT * FROM orders TABLESAMPLE (10 PERCENT)": "TABLESAMPLE",
    "SELECT lag(id) IGNORE NULLS OVER (ORDER BY id) FROM orders": "IGNORE NULLS",
    "SELECT sum(id) OVER (ORDER BY id RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) FROM orders": "RANGE",
    "SELECT sum(id) FILTER (WHERE id > 1) OVER () FROM orders": "FILTER",
    "SELECT count(DISTINCT id) OVER () FROM orders": "DISTINCT",
    "SELECT id FROM orders INTERSECT ALL SELECT id FROM orders": "INTERSECT ALL",
    "SELECT id FROM orders INTERSECT SELECT amount FROM orders": "meets",
    "SELECT id FROM orders a JOIN orders b USING (id)": "USING",
    "SELECT a.id FROM orders a NATURAL JOIN orders b": "NATURAL",
    "SELECT CAST(customer AS VARCHAR(2)) FROM orders": "VARCHAR",
    "SELECT id FROM orders WHERE amount": "non-boolean",
    "SELECT amount = (amount > 1) FROM orders": "",
    "SELECT parse_url(customer, 'HOST') FROM orders": "parse_url",
    "SELECT named_struct('a', 1) FROM orders": "named_struct",
    "SELECT INTERVAL '1 month 1 day' FROM orders": "at once",
    "SELECT INTERVAL 1 MONTH 1 DAY": "at once",
    "SELECT INTERVAL '1 25:00' DAY TO MINUTE": "25 HOURS",
    "SELECT INTERVAL '1:30' DAY TO MONTH": "from DAY to MONTH",
    "SELECT INTERVAL 1 QUARTER": "QUARTER",
    "SELECT id FROM orders WHERE NULL": "NULL for a condition",
    "SELECT CASE WHEN NULL THEN 1 END": "NULL for a condition",
    "SELECT id FROM orders ORDER BY -2": "position",
    "SELECT ntile(3L) OVER (ORDER BY id) FROM orders": "INT above zero",
    "SELECT ntile(amount) OVER (ORDER BY id) FROM orders": "constant",
    "SELECT nth_value(id, -1) OVER (ORDER BY id) FROM orders": "INT above zero",
    "SELECT first(amount, id > 1) FROM orders": "true or false",
    "SELECT * FROM orders PIVOT (sum(amount) FOR customer IN ('a'))": "PIVOT",
    "SELECT * FROM orders, LATERAL (SELECT id + 1)": "LATERAL",
    "SELECT foo.* FROM (SELECT id AS Foo FROM orders) foo": "Foo and as foo",
    "SELECT id FROM orders WHERE id > ALL (SELECT amount FROM orders)": "ALL of a subquery",
    "SELECT id FROM orders QUALIFY id > 1": "QUALIFY",
    "INSERT INTO orders SELECT * FROM orders": "only queries",
    "DROP TABLE orders": "only queries",
    "SELECT 1; SELECT 2": "second statement",
    "SELECT 'a": "no end",
    "SELECT nothing FROM orders": "nothing",
    "SELECT * FROM absent": "absent",
    "SELEC 1": "",
    "SELECT customer + 1 FROM orders": "",
    "SELECT coalesce(customer, amount, price) FROM orders": "in common",
    "SELECT transform(array(1), x -> x + 1)": "",
    "SELECT id, count(*) FROM orders GROUP BY id WITH ROLLUP": "WITH ROLLUP",
    "SELECT id, count(*) FROM orders GROUP BY id GROUPING SETS ((id), ())": "GROUPING SETS",
    "SELECT count(DISTINCT *) FROM orders": "DISTINCT *",
    "SELECT count(orders.*) FROM orders": "all columns of a table",
    "SELECT count() FROM orders": "count(*)",
    "SELECT max(id) OVER (w) FROM orders WINDOW w AS (ORDER BY id)": "name of a window",
    "SELECT max(id) OVER v FROM orders WINDOW w AS (ORDER BY id), v AS (w)": "name of a window",
    "SELECT sum(id) OVER (ORDER BY id RANGE BETWEEN amount PRECEDING AND CURRENT ROW) FROM orders": "RANGE",
    "SELECT rank() OVER () FROM orders": "ORDER BY",
    "SELECT lag(id, amount) OVER (ORDER BY id) FROM orders": "constant",
    "SELECT round(price, amount) FROM orders": "constant",
    "SELECT placed + INTERVAL 1 CENTURY FROM orders": "CENTURY",
    "SELECT placed + INTERVAL '1.5' DAY FROM orders": "fraction",
    "SELECT id AS 'x' FROM orders": "no text",
    "SELECT id FROM orders UNION BY NAME SELECT id FROM orders": "BY NAME",
    "SELECT CAST(id AS INT8) FROM orders": "INT8",
    "SELECT CAST(placed AS TIMESTAMP WITHOUT TIME ZONE) FROM orders": "TIMESTAMP WITHOUT",
    "SELECT CAST(customer AS STRING(3)) FROM orders": "STRING",
    "SELECT length(X'61')": "BINARY",
    "SELECT X'61' || X'62'": "BINARY",
    "SELECT greatest(id, customer) FROM orders": "texts beside other types",
    "SELECT 128Y": "beyond",
    "SELECT charindex('a', customer) FROM orders": "charindex",
    "": "empty",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused_is_named(text: str) -> None:
    with pytest.raises(SubstraitError) as caught:
        planned(text)
    assert REFUSED[text] in str(caught.value)


def test_every_difference_that_is_refused_by_words_is_tried() -> None:
    for one in DIFFERENCES:
        if one.words:
            assert one.handling is Handling.REFUSED
            with pytest.raises(UnsupportedPlanError, match="line 2, column 1"):
                planned("SELECT 1 FROM orders\n" + " ".join(one.words))


def test_the_page_has_the_tables() -> None:
    page = (Path(__file__).parent.parent.parent / "docs" / "producing.md").read_text(encoding="utf-8")
    assert markdown() in page, "put the text of differences.markdown() there"
    assert planned_functions() in page, "put the text of functions.planned_functions() there"


def test_a_place_in_the_text_is_in_the_message() -> None:
    with pytest.raises(UnsupportedPlanError, match="line 2, column 13"):
        planned("SELECT *\nFROM orders TABLESAMPLE (1 ROWS)")


# parameters and options ----------------------------------------------------------------------------------------------


def test_parameters_are_literals() -> None:
    plan = planned(
        "SELECT id FROM orders WHERE price > :least AND customer = :name", args={"least": 10, "name": "O'Neil"}
    )
    assert plan.to_bytes() == planned("SELECT id FROM orders WHERE price > 10 AND customer = 'O''Neil'").to_bytes()
    plan = planned("SELECT ? AS a, ? AS b", args=[decimal.Decimal("1.5"), None])
    assert types(plan)[0] == "decimal<2, 1>"
    for wrong in ({}, {"other": 1}, {"least": object()}):
        with pytest.raises(ParameterError):
            planned("SELECT :least", args=wrong)


def test_a_datetime_is_an_instant() -> None:
    """One without a zone is in that of the process, as where Spark takes one."""
    local = datetime.datetime(2024, 1, 2, 3, 4, 5, 6)
    plans = [planned("SELECT ? AS a", args=[value]) for value in (local, local.astimezone())]
    assert plans[0].to_bytes() == plans[1].to_bytes()
    assert types(plans[0]) == ["precision_timestamp_tz<6>"]


def test_fields_of_structs_have_one_position_for_each_type() -> None:
    tables = {"a": "s STRUCT<x: INT, y: INT>", "b": "s STRUCT<y: INT, x: INT>", "c": "s STRUCT<x: INT, X: INT>"}
    assert names(planned("SELECT s.Y FROM a", {"a": tables["a"]})) == ("Y",)
    for text, wrong in (("SELECT s.x FROM a", tables), ("SELECT s.x FROM c", {"c": tables["c"]})):
        with pytest.raises(SubstraitError):
            planned(text, wrong)


def test_a_decimal_stays_one() -> None:
    assert types(planned("SELECT ? AS a", args=[decimal.Decimal("1E+3")])) == ["decimal<4, 0>"]


def test_offsets_of_range_frames_are_refused_whatever_they_are() -> None:
    with pytest.raises(UnsupportedPlanError, match="RANGE"):
        planned("SELECT sum(id) OVER (ORDER BY id RANGE :n PRECEDING) FROM orders", args={"n": 1})


def test_engines_and_dialects() -> None:
    own = planned("SELECT amount / 2 AS half FROM orders", dialect="datafusion")
    assert types(own) == ["i64"] and own.notes
    assert ps.from_sql("SELECT id FROM orders", tables=ORDERS, engine="datafusion", target="datafusion")
    for wrong in ({"engine": "duckdb"}, {"dialect": "datafusion"}, {"engine": "datafusion", "dialect": "trino"}):
        with pytest.raises(UnsupportedPlanError):
            ps.from_sql("SELECT 1", **wrong)  # type: ignore[arg-type]
    with pytest.raises(UnsupportedPlanError):
        planned("SELECT 1", optimized=True)


def test_the_command() -> None:
    query = "SELECT customer, sum(price) AS total FROM orders GROUP BY customer"
    done = CliRunner().invoke(main, ["plan", query, "--engine", "datafusion", "--schema", f"orders={ORDERS['orders']}"])
    assert done.exit_code == 0, done.output
    assert ps.load(done.stdout) == ps.load(planned(query).to_bytes())


def test_no_java_is_started() -> None:
    program = (
        "import sys; from pyspark_substrait.cli import main\n"
        "given = ['plan', 'SELECT a / 2 AS h FROM t', '--schema', 't=a INT', '--engine', 'datafusion']\n"
        "main(given, standalone_mode=False)\n"
        "assert not {'pyspark', 'py4j', 'pyarrow.dataset', 'pyarrow.compute', 'pandas'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.DEVNULL)


# tokens --------------------------------------------------------------------------------------------------------------


def test_tokens_make_up_the_text() -> None:
    text = "SELECT `a``b`, 'it''s', r'\\n', 1.5e-3BD, 2L -- c\n/* d */ FROM t WHERE a<=>:p AND b != ?"
    found = tokens(text)
    assert "".join(token.text for token in found) == text
    assert [token.name for token in found if token.kind is Kind.QUOTED] == ["a`b"]
    read = {"'a\\nb'": "a\nb", "r'a\\nb'": "a\\nb", "'\\u0041\\101\\%'": "AA\\%", '"x"': "x", "'a''b'": "a'b"}
    for written, value in read.items():
        (token,) = tokens(written)
        assert unescaped(token) == value


# beside DuckDB -------------------------------------------------------------------------------------------------------

CORRELATED = [text for text in QUERIES if " a WHERE" in text or "FROM t b WHERE b.tiny" in text]


@pytest.fixture(scope="module")
def duck() -> Iterator[Any]:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.register("t", TABLES["t"])
        yield connection


@pytest.mark.parametrize("text", CORRELATED)
def test_correlated_subqueries_have_the_rows_of_duckdb(duck: Any, text: str) -> None:
    ours = sessions.session("duckdb", TABLES).run(ps.to_sql(planned(text, TABLES), dialect="duckdb", formatted=False))
    theirs = duck.sql(text).fetchall()
    assert sorted(map(repr, (tuple(row.values()) for row in ours.to_pylist()))) == sorted(map(repr, theirs))


@pytest.mark.parametrize("number", range(1, 23))
def test_tpch_is_planned(shared: Path, tpch: dict[str, Path], number: int) -> None:
    text = (shared / "plans" / "tpch" / "sql" / f"q{number:02}.sql").read_text()
    plan = planned(text, {name: str(path) for name, path in tpch.items()})
    assert ps.load(plan.to_bytes(), strict=True).notes == ()


@pytest.mark.sweep
def test_tpcds_is_planned(shared: Path) -> None:
    schema = json.loads((shared / "tpcds" / "schema.json").read_text())
    tables = {
        name: ", ".join(f"`{column}` {type}{'' if nullable else ' NOT NULL'}" for column, type, nullable in columns)
        for name, columns in schema.items()
    }
    for number in range(1, 100):
        planned((shared / "tpcds" / "queries" / f"q{number:02}.sql").read_text(), tables)
