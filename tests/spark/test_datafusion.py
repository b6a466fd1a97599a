"""From SQL through DataFusion's planner to Spark: plans made on the spot, compared with DuckDB running the same SQL."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pytest

import pyspark_substrait
from tests.agreement import assert_same_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

datafusion = pytest.importorskip("datafusion")
substrait = pytest.importorskip("datafusion.substrait")

DAYS = [datetime.date(2024, 1, day) for day in (1, 2, 3, 4, 5, 6)]
TABLES = {
    "people": pa.table(
        {
            "id": pa.array([1, 2, 3, 4, 5, 6], pa.int64()),
            "name": ["Ada", "Grace", None, "Edsger", "Barbara", "Alan"],
            "team": pa.array([10, 10, 20, None, 30, 20], pa.int64()),
            "salary": pa.array([Decimal(n) for n in ("100.50", "200.25", "150", "99.99", "0", "150")]).cast(
                pa.decimal128(10, 2)
            ),
            "joined": DAYS,
        }
    ),
    "teams": pa.table({"team": pa.array([10, 20, 40, None], pa.int64()), "title": ["red", "blue", "green", "none"]}),
}

QUERIES = [
    "SELECT name, salary * 2 FROM people WHERE salary > 100 ORDER BY salary DESC, id LIMIT 3",
    "SELECT team, count(*), sum(salary), min(joined), max(id) FROM people GROUP BY team",
    "SELECT p.id, t.title FROM people p LEFT JOIN teams t ON p.team = t.team",
    "SELECT p.id, t.title FROM people p FULL JOIN teams t ON p.team = t.team AND p.id > 1",
    "SELECT p.id, q.id FROM people p JOIN people q ON p.team = q.team AND p.id < q.id",
    "SELECT id FROM people p WHERE EXISTS (SELECT 1 FROM teams t WHERE t.team = p.team)",
    "SELECT id FROM people p WHERE NOT EXISTS (SELECT 1 FROM teams t WHERE t.team = p.team)",
    "SELECT id FROM people WHERE team IN (SELECT team FROM teams)",
    "SELECT id, CASE WHEN salary >= 150 THEN 'high' WHEN salary > 0 THEN 'low' END FROM people",
    "SELECT team FROM people UNION ALL SELECT team FROM teams",
    "SELECT DISTINCT team FROM people",
    "SELECT count(DISTINCT team) FROM people",
    "SELECT id FROM people WHERE name LIKE 'A%' OR name IS NULL",
    "SELECT id FROM people WHERE joined BETWEEN DATE '2024-01-02' AND DATE '2024-01-04'",
    "SELECT id FROM people WHERE team IN (10, 30) AND NOT (salary = 0)",
    "SELECT title FROM teams WHERE team > (SELECT min(team) FROM people)",
    "SELECT upper(name), CAST(team AS VARCHAR) FROM people WHERE id <= 4",
    "SELECT team, sum(salary) AS total FROM people GROUP BY team HAVING sum(salary) > 150",
]


@pytest.mark.parametrize("query", QUERIES)
def test_the_same_rows(query: str, spark: SparkSession) -> None:
    context = datafusion.SessionContext()
    with duckdb.connect() as duck:
        for name, rows in TABLES.items():
            context.register_record_batches(name, [rows.to_batches()])
            duck.register(name, rows)
        plan = substrait.Serde.serialize_bytes(query, context)
        result = pyspark_substrait.run_query(plan, tables=TABLES, spark=spark)
        assert_same_rows(result, duck.sql(query).to_arrow_table(), ordered="ORDER BY" in query)


WITHOUT_CONDITIONS = [
    "SELECT p.id, t.title FROM people p, teams t",
    "SELECT p.id, t.title FROM people p CROSS JOIN teams t WHERE p.team > t.team",
    "SELECT p.id, t.n FROM people p LEFT JOIN (SELECT count(*) AS n FROM teams WHERE team > 99) t ON true",
    "SELECT CASE team WHEN 10 THEN 'ten' WHEN 20 THEN 'twenty' ELSE 'other' END FROM people",
    "SELECT CASE team WHEN 10 THEN id WHEN NULL THEN -1 END FROM people",
    "SELECT CASE name WHEN 'Ada' THEN 1.5 WHEN upper(name) THEN 2 ELSE salary END FROM people",
    "SELECT id FROM people WHERE CASE id % 3 WHEN 0 THEN team > 10 WHEN team / 10 THEN true END",
    "SELECT CASE (SELECT min(team) FROM teams) WHEN 10 THEN joined END FROM people",
    "SELECT team, 38, count(*) FROM people GROUP BY team, id % 2, team",
]


def test_what_datafusion_leaves_out_gives_the_same_rows(spark: SparkSession) -> None:
    """The condition of a cross join, the result of the value of a simple CASE, and a key that is there twice."""
    context = datafusion.SessionContext()
    with duckdb.connect() as duck:
        for name, rows in TABLES.items():
            context.register_record_batches(name, [rows.to_batches()])
            duck.register(name, rows)
        for query in WITHOUT_CONDITIONS:
            expected = duck.sql(query.replace(" / ", " // ")).to_arrow_table()
            for plan in (
                substrait.Serde.serialize_bytes(query, context),
                substrait.Producer.to_substrait_plan(context.sql(query).optimized_logical_plan(), context).encode(),
                substrait.Producer.to_substrait_plan(context.sql(query).logical_plan(), context).encode(),
            ):
                result = pyspark_substrait.run_query(plan, tables=TABLES, spark=spark)
                assert_same_rows(result, expected, ordered=False)


def test_what_datafusion_leaves_out_is_noted_and_strictly_refused() -> None:
    context = datafusion.SessionContext()
    for name, rows in TABLES.items():
        context.register_record_batches(name, [rows.to_batches()])
    for query, rule in ((WITHOUT_CONDITIONS[0], "datafusion-join"), (WITHOUT_CONDITIONS[3], "simple-case")):
        plan = substrait.Serde.serialize_bytes(query, context)
        assert rule in {note.rule for note in pyspark_substrait.load(plan).notes}
        assert not [found for found in pyspark_substrait.validate(plan) if found.level.name == "ERROR"]
        with pytest.raises(pyspark_substrait.InvalidPlanError):
            pyspark_substrait.load(plan, strict=True)


def test_what_datafusion_computes_otherwise_is_noted_or_refused() -> None:
    context = datafusion.SessionContext()
    for name, rows in TABLES.items():
        context.register_record_batches(name, [rows.to_batches()])
    rounded = substrait.Serde.serialize_bytes("SELECT CAST(id / 7.0E0 AS DECIMAL(5, 2)) FROM people", context)
    assert "datafusion-decimal" in {note.rule for note in pyspark_substrait.load(rounded).notes}
    for number in ("9223372036854775808", "arrow_cast(4294967295, 'UInt32')"):
        plan = substrait.Serde.serialize_bytes(f"SELECT {number} AS x, id FROM people", context)
        with pytest.raises(pyspark_substrait.InvalidPlanError, match="is the unsigned number"):
            pyspark_substrait.load(plan)


def test_any_value_skips_nulls(spark: SparkSession) -> None:
    context = datafusion.SessionContext()
    rows = pa.table({"g": [1, 1, 2, 2, 3], "x": pa.array([None, 5, 7, None, None], pa.int64())})
    context.register_record_batches("t", [rows.to_batches()])
    query = "SELECT g, any_value(x) FROM t GROUP BY g"
    plan = substrait.Serde.serialize_bytes(query, context)
    result = pyspark_substrait.run_query(plan, tables={"t": rows}, spark=spark)
    assert_same_rows(result, context.sql(query).to_arrow_table(), ordered=False)


SETS = [
    "SELECT team, name, count(salary), sum(id) FROM people GROUP BY ROLLUP(team, name)",
    "SELECT sum(id), min(joined), team FROM people GROUP BY CUBE(name, team) HAVING count(*) > 1 ORDER BY team",
    "SELECT sum(id), max(salary) FROM people GROUP BY GROUPING SETS ((team, name), (name), (name), ()) ORDER BY 1, 2",
    "SELECT grouping(team), count(*), team FROM people GROUP BY ROLLUP(team)",
    "SELECT team, count(*) FROM (SELECT team, name, sum(id) FROM people GROUP BY ROLLUP(team, name)) r GROUP BY "
    "CUBE(team)",
    "SELECT p.team, p.n, t.n FROM (SELECT team, count(*) AS n FROM people GROUP BY ROLLUP(team)) p JOIN "
    "(SELECT team, count(title) AS n FROM teams GROUP BY CUBE(team)) t ON p.team = t.team",
    "SELECT rank() OVER (PARTITION BY grouping(team) ORDER BY sum(id)), team FROM people WHERE id > 9 GROUP BY "
    "ROLLUP(team)",
]


@pytest.mark.sweep
def test_grouping_sets_give_the_same_rows(spark: SparkSession) -> None:
    """Relations above an aggregate of several grouping sets refer to its columns by DataFusion's positions."""
    context = datafusion.SessionContext()
    with duckdb.connect() as duck:
        for name, rows in TABLES.items():
            context.register_record_batches(name, [rows.to_batches()])
            duck.register(name, rows)
        for query in SETS:
            expected = duck.sql(query).to_arrow_table()
            for plan in (
                substrait.Serde.serialize_bytes(query, context),
                substrait.Producer.to_substrait_plan(context.sql(query).optimized_logical_plan(), context).encode(),
                substrait.Producer.to_substrait_plan(context.sql(query).logical_plan(), context).encode(),
            ):
                result = pyspark_substrait.run_query(plan, tables=TABLES, spark=spark)
                assert_same_rows(result, expected, ordered=False)


FOR_DATAFUSION = [
    # outer columns, which DataFusion finds by name: the same table inside and outside
    "SELECT id FROM people a WHERE EXISTS (SELECT 1 FROM people b WHERE b.team = a.id * 10)",
    "SELECT id FROM people a WHERE NOT EXISTS (SELECT 1 FROM people b WHERE b.team = a.team AND b.id > a.id)",
    "SELECT id FROM people a WHERE 10 * id IN (SELECT team FROM people b WHERE b.salary > a.salary)",
    "SELECT id, (SELECT max(joined) FROM people b WHERE b.team = a.id * 10) FROM people a",
    "SELECT id FROM people a WHERE salary > (SELECT avg(salary) FROM people b WHERE b.team = a.team)",
    "SELECT id FROM people a WHERE EXISTS (SELECT 1 FROM people b WHERE b.team = a.team AND EXISTS "
    "(SELECT 1 FROM people c WHERE c.id = 10 - b.id))",
    "SELECT team FROM (SELECT team, count(*) AS n FROM people GROUP BY team) x WHERE EXISTS "
    "(SELECT 1 FROM (SELECT title, count(*) AS n FROM teams GROUP BY title) y WHERE y.n = x.n)",
    # copies of records
    "SELECT team FROM people INTERSECT ALL SELECT team FROM teams",
    "SELECT team FROM people EXCEPT ALL SELECT team FROM teams",
    "SELECT team FROM people INTERSECT ALL (SELECT team FROM people EXCEPT ALL SELECT team FROM teams)",
    # grouping sets
    "SELECT team, name, count(salary), sum(id) FROM people GROUP BY ROLLUP(team, name)",
    "SELECT sum(id), min(joined), team FROM people GROUP BY CUBE(name, team) HAVING count(*) > 1",
    "SELECT max(id), count(DISTINCT team) FROM people GROUP BY GROUPING SETS ((team, name), (name), (name), ())",
    "SELECT grouping_id(team), count(*) FROM people GROUP BY ROLLUP(team)",
    "SELECT sum(id) FILTER (WHERE salary > 100), team FROM people GROUP BY ROLLUP(team)",
    # offsets of frames, parts of dates, conditions that are joins with a mark
    "SELECT id, sum(id) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING) FROM people",
    "SELECT id, count(*) OVER (ORDER BY id ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING) FROM people",
    "SELECT id, dayofyear(joined), weekofyear(joined), month(joined) FROM people",
    "SELECT id FROM people WHERE id = 2 OR team IN (SELECT team FROM teams WHERE team > 10) OR "
    "EXISTS (SELECT 1 FROM teams t WHERE t.team = id * 10)",
]


BACK = [
    "SELECT id FROM people p WHERE p.team = ANY (SELECT team FROM teams)",
    "SELECT team, grouping(team), count(*) FROM people GROUP BY GROUPING SETS ((team), ())",
    "SELECT struct(id, name) FROM people",
    "SELECT date_part('epoch', joined), date_part('doy', joined), date_part('dow', joined) FROM people",
]


def test_plans_of_datafusion_go_back_in_a_form_that_it_takes() -> None:
    """It reads no switches, no nested expressions, and no two marks in one input; it has no function for the epoch."""
    context = datafusion.SessionContext()
    for name, rows in TABLES.items():
        context.register_record_batches(name, [rows.to_batches()])
    for query in BACK:
        for optimized in (False, True):
            frame = context.sql(query)
            logical = frame.optimized_logical_plan() if optimized else frame.logical_plan()
            try:
                given = substrait.Producer.to_substrait_plan(logical, context).encode()
            except Exception:
                assert "ANY" in query, "only subqueries are written by optimized plans alone"
                continue
            made = pyspark_substrait.for_target(pyspark_substrait.load(given), "datafusion")
            plan = substrait.Consumer.from_substrait_plan(context, substrait.Serde.deserialize_bytes(made.to_bytes()))
            found = context.create_dataframe_from_logical_plan(plan).to_arrow_table()
            assert ordered(found) == ordered(frame.to_arrow_table()), query


def test_plans_made_for_datafusion_give_the_same_rows_there(spark: SparkSession) -> None:
    context = datafusion.SessionContext()
    with duckdb.connect() as duck:
        for name, rows in TABLES.items():
            context.register_record_batches(name, [rows.to_batches()])
            duck.register(name, rows)
        for query in FOR_DATAFUSION:
            made = pyspark_substrait.from_sql(query, tables=TABLES, spark=spark, target="datafusion")
            plan = substrait.Consumer.from_substrait_plan(context, substrait.Serde.deserialize_bytes(made.to_bytes()))
            found = context.create_dataframe_from_logical_plan(plan).to_arrow_table()
            expected = duck.sql(query).to_arrow_table()
            assert ordered(found) == ordered(expected), query


def ordered(table: pa.Table) -> list[tuple[str, ...]]:
    """The records as texts, numbers without regard to their type, in an order."""
    columns = [[_text(value) for value in column.to_pylist()] for column in table.columns]
    return sorted(zip(*columns, strict=True))


def _text(value: object) -> str:
    return f"{float(value):g}" if isinstance(value, int | float | Decimal) else str(value)
