"""Records removed from tables: by conditions over the table itself, and as a relation lists them."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest
from pyspark.sql import SparkSession

from pyspark_substrait.errors import ExecutionError, InvalidPlanError, TableError, UnsupportedPlanError
from pyspark_substrait.model.expressions import (
    InPredicate,
    PredicateOp,
    SetPredicate,
)
from pyspark_substrait.model.relations import Fetch, Relation
from pyspark_substrait.model.types import FP64, Map, Type
from tests.spark.plans import (
    INT,
    INT_,
    LONG,
    REAL_,
    TEXT,
    TEXT_,
    call,
    col,
    long,
    number,
    ordered,
    outer,
    project,
    rows,
    run,
    text,
    values,
    where,
)
from tests.spark.plans import stored as read
from tests.spark.writing.records import MODIFIED, PEOPLE, delete, folder, stored, table

RECORDS = [(1, "Ann", 30), (2, None, None), (3, "Cy", 30), (3, "Cy", 30), (4, "Dee", 41), (5, None, 41)]


def people(*records: tuple[Any, ...]) -> Relation:
    return values([INT, TEXT_, INT_], records)


def fill(spark: SparkSession, name: str, records: list[tuple[Any, ...]] = RECORDS) -> Any:
    spark.createDataFrame(records, spark.table(name).schema).write.insertInto(name)
    return read(name, PEOPLE)


def duck(condition: str) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """What DuckDB leaves of the records, and what it removes."""
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (id INT, name VARCHAR, age INT)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", RECORDS)
        removed = connection.execute(f"DELETE FROM t WHERE {condition} RETURNING *").fetchall()
        return ordered(connection.execute("FROM t").fetchall()), ordered(removed)


def test_records_for_which_a_condition_is_true_go(spark: SparkSession) -> None:
    with table(spark) as name:
        source = fill(spark, name)
        left, removed = duck("age > 35 OR name = 'Cy'")
        found = where(
            source, call("or", call("gt", col(source, 2), number(35)), call("equal", col(source, 1), text("Cy")))
        )
        assert ordered(rows(spark, delete(name, found, output=MODIFIED))) == removed
        assert stored(spark, name) == left
        # where it is null, they stay
        left, _ = duck("age > 35 OR name = 'Cy' OR name IS NULL")
        assert run(spark, delete(name, where(source, call("is_null", col(source, 1))))).num_rows == 0
        assert stored(spark, name) == left


def test_an_input_that_is_the_table_removes_all(spark: SparkSession) -> None:
    with table(spark) as name:
        source = fill(spark, name)
        run(spark, delete(name, source))
        assert stored(spark, name) == []
        fill(spark, name)
        assert len(stored(spark, name)) == len(RECORDS)


def test_filters_projections_and_the_filter_of_the_read_are_followed(spark: SparkSession) -> None:
    with table(spark) as name:
        source = fill(spark, name)
        turned = read(name, {"age": INT_, "ID": INT, "name": TEXT_}, filter=call("gt", col(source, 0), number(1)))
        # the filter of a read sees the columns of its own schema: there, column 0 is the age
        turned = read(name, {"age": INT_, "ID": INT, "name": TEXT_}, filter=call("lt", col(turned, 0), number(40)))
        picked = project(turned, col(turned, 2), col(turned, 1), col(turned, 0))
        input = where(picked, call("gt", col(picked, 1), number(1)))
        back = project(input, col(input, 1), col(input, 0), col(input, 2))
        left, removed = duck("age < 40 AND id > 1")
        assert ordered(rows(spark, delete(name, back, output=MODIFIED))) == removed
        assert stored(spark, name) == left


def test_conditions_may_hold_subqueries(spark: SparkSession) -> None:
    with table(spark) as name, table(spark, "k INT, n STRING") as other:
        source = fill(spark, name)
        spark.sql(f"INSERT INTO {other} VALUES (1, 'Ann'), (5, 'x'), (NULL, 'y')")
        keys = read(other, {"k": INT_, "n": TEXT_})
        listed = InPredicate(needles=(col(source, 0),), haystack=project(keys, col(keys, 0)))
        left, removed = duck("id IN (1, 5)")
        assert ordered(rows(spark, delete(name, where(source, listed), output=MODIFIED))) == removed
        assert stored(spark, name) == left
        same = where(keys, call("equal", col(keys, 1), outer(source, 1, steps_out=1)))
        exists = SetPredicate(predicate_op=PredicateOp.EXISTS, tuples=same)
        run(spark, delete(name, where(source, exists)))
        assert stored(spark, name) == left


def test_each_listed_record_removes_one_that_is_equal(spark: SparkSession) -> None:
    with table(spark) as name:
        fill(spark, name)
        listed = people((3, "Cy", 30), (2, None, None), (2, None, None), (9, "nobody", 1))
        assert ordered(rows(spark, delete(name, listed, output=MODIFIED))) == ordered([(2, None, None), (3, "Cy", 30)])
        # the same as EXCEPT ALL
        left = duckdb.execute(
            "FROM (VALUES (1, 'Ann', 30), (2, NULL, NULL), (3, 'Cy', 30), (3, 'Cy', 30), (4, 'Dee', 41), "
            "(5, NULL, 41)) "
            "EXCEPT ALL FROM (VALUES (3, 'Cy', 30), (2, NULL, NULL), (2, NULL, NULL), (9, 'nobody', 1))"
        ).fetchall()
        assert stored(spark, name) == ordered(left)


def test_a_limit_of_the_table_removes_so_many(spark: SparkSession) -> None:
    with table(spark) as name:
        source = fill(spark, name)
        first = Fetch(input=source, count_expr=long(4))
        gone = rows(spark, delete(name, first, output=MODIFIED))
        assert len(gone) == 4
        assert ordered([*gone, *stored(spark, name)]) == ordered(RECORDS)


def test_values_that_are_equal_and_not_the_same_stay_as_they_are(spark: SparkSession) -> None:
    named = {"id": INT, "x": REAL_}
    with table(spark, "id INT, x DOUBLE") as name:
        spark.sql(f"INSERT INTO {name} VALUES (1, -0.0D), (1, -0.0D), (2, double('NaN')), (3, double('-Infinity'))")
        listed = values([INT, FP64()], [(1, 0.0), (2, float("nan"))])
        run(spark, delete(name, listed, named))
        assert [repr(row) for row in stored(spark, name)] == ["(1, -0.0)", "(3, -inf)"]


def test_columns_computed_from_the_table_are_found_by_their_values(spark: SparkSession) -> None:
    with table(spark) as name:
        source = fill(spark, name)
        shifted = project(source, call("subtract", col(source, 0), number(1)), col(source, 1), col(source, 2))
        run(spark, delete(name, shifted))
        # of what the input has, only (2, 'Cy', 30), (3, 'Dee', 41) … are listed: none of them is there
        assert stored(spark, name) == ordered(RECORDS)


def test_partitions_that_become_empty_stay(spark: SparkSession) -> None:
    with table(spark, rest="USING parquet PARTITIONED BY (age)") as name:
        fill(spark, name)
        source = read(name, PEOPLE)
        run(spark, delete(name, where(source, call("equal", col(source, 2), number(30)))))
        left, _ = duck("age = 30")
        assert stored(spark, name) == left
        assert spark.sql(f"SELECT count(*) AS n FROM {name} WHERE age = 30").collect()[0].n == 0
        spark.sql(f"INSERT INTO {name} VALUES (7, 'Eve', 30)")
        assert (7, "Eve", 30) in stored(spark, name)


def test_orc_tables(spark: SparkSession) -> None:
    with table(spark, rest="USING orc") as name:
        source = fill(spark, name)
        run(spark, delete(name, where(source, call("gt", col(source, 0), number(2)))))
        assert stored(spark, name) == duck("id > 2")[0]


def test_what_is_refused(spark: SparkSession) -> None:
    with table(spark) as name, table(spark, "id INT, name STRING, age INT", "USING csv") as text_table:
        source = fill(spark, name)
        with pytest.raises(TableError, match="table_schema does not have the columns age"):
            run(spark, delete(name, values([INT, TEXT], []), {"id": INT, "name": TEXT}))
        with pytest.raises(InvalidPlanError, match="column 0 of the input is i64"):
            run(spark, delete(name, values([LONG, TEXT, INT], [])))
        with pytest.raises(UnsupportedPlanError, match="a table of csv files"):
            run(spark, delete(text_table, people()))
        failing = where(
            source, call("gt", call("divide", number(1), call("subtract", col(source, 0), number(2))), number(0))
        )
        with pytest.raises(ExecutionError):
            run(spark, delete(name, failing))
        assert stored(spark, name) == ordered(RECORDS)
        assert [entry.name for entry in folder(spark, name).parent.glob(f".{name}.*")] == []


def test_maps_cannot_be_found_by_their_values(spark: SparkSession) -> None:
    named: dict[str, Type] = {"m": Map(key=TEXT, value=INT_, nullable=True), "id": INT}
    with table(spark, "m MAP<STRING, INT>, id INT") as name:
        spark.sql(f"INSERT INTO {name} VALUES (map('a', 1), 1), (NULL, 2)")
        with pytest.raises(UnsupportedPlanError, match="has a map"):
            run(spark, delete(name, values(list(named.values()), []), named))
        source = read(name, named)
        run(spark, delete(name, where(source, call("equal", col(source, 1), number(2))), named))
        assert stored(spark, name) == [([("a", 1)], 1)]
