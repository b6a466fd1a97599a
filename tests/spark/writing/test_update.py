"""Records changed in tables, by ``UpdateRel`` and by ``WriteRel``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import duckdb
import pytest
from pyspark.sql import SparkSession

from pyspark_substrait.errors import ExecutionError, InvalidPlanError, ParameterError, TableError, UnsupportedPlanError
from pyspark_substrait.model.expressions import DynamicParameter
from pyspark_substrait.model.parameters import declared_parameters
from pyspark_substrait.model.relations import Fetch, RelCommon, WriteOp
from tests.spark.plans import (
    BOOL,
    INT,
    INT_,
    LONG,
    TEXT,
    TEXT_,
    call,
    col,
    lit,
    long,
    number,
    ordered,
    plan,
    project,
    rows,
    run,
    text,
    values,
    where,
)
from tests.spark.plans import stored as read
from tests.spark.writing.records import MODIFIED, PEOPLE, stored, table, update, write

RECORDS = [(1, "Ann", 30), (2, None, None), (3, "Cy", 30), (3, "Cy", 30), (4, "Dee", 41)]


def fill(spark: SparkSession, name: str) -> Any:
    spark.createDataFrame(RECORDS, spark.table(name).schema).write.insertInto(name)
    return read(name, PEOPLE)


def duck(change: str, condition: str = "true") -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """The records after an update of DuckDB's, and those of them that it changed."""
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (id INT, name VARCHAR, age INT)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", RECORDS)
        changed = connection.execute(f"UPDATE t SET {change} WHERE {condition} RETURNING *").fetchall()
        return ordered(connection.execute("FROM t").fetchall()), ordered(changed)


def test_columns_change_where_the_condition_is_true(spark: SparkSession) -> None:
    with table(spark) as name:
        source = fill(spark, name)
        condition = call("gt", col(source, 2), number(29))
        changes = [(2, call("add", col(source, 2), col(source, 0))), (0, call("add", col(source, 0), number(100)))]
        after, changed = duck("age = age + id, id = id + 100", "age > 29")
        assert rows(spark, update(name, condition, changes)) == [(len(changed),)]
        assert stored(spark, name) == after


def test_without_a_condition_all_records_change(spark: SparkSession) -> None:
    with table(spark) as name:
        fill(spark, name)
        done = run(spark, update(name, None, [(1, text("all"))]))
        assert done.to_pylist() == [{"n0": 5}]
        assert str(done.schema.field(0)) == "pyarrow.Field<n0: int64 not null>"
        assert stored(spark, name) == duck("name = 'all'")[0]
        assert rows(spark, update(name, call("gt", col(read(name, PEOPLE), 0), number(9)), [(1, text("none"))])) == [
            (0,)
        ]


def test_the_number_of_changed_records_can_be_used_above(spark: SparkSession) -> None:
    with table(spark) as name:
        fill(spark, name)
        changed = update(name, None, [(1, text("all"))])
        assert rows(spark, project(changed, call("multiply", col(changed, 0), long(2)))) == [(10,)]
        assert rows(spark, where(update(name, None, [(1, text("x"))]), call("gt", col(changed, 0), long(5)))) == []
        assert {row[1] for row in stored(spark, name)} == {"x"}
        emitted = update(name, None, [(1, text("y"))], common=RelCommon(emit=(0, 0)))
        assert rows(spark, emitted) == [(5, 5)]


def test_the_condition_may_refer_to_the_table_itself(spark: SparkSession) -> None:
    from pyspark_substrait.model.expressions import ScalarSubquery
    from tests.spark.plans import aggregate, group

    with table(spark) as name:
        source = fill(spark, name)
        oldest = group(source, [], [aggregate("max", col(source, 2))])
        subquery = ScalarSubquery(input=oldest)
        after, changed = duck("age = (SELECT max(age) FROM t) + 1", "age < (SELECT max(age) FROM t)")
        found = rows(spark, update(name, call("lt", col(source, 2), subquery), [(2, call("add", subquery, number(1)))]))
        assert found == [(len(changed),)]
        assert stored(spark, name) == after


def test_new_values_are_computed_for_changed_records_only(spark: SparkSession) -> None:
    with table(spark) as name:
        source = fill(spark, name)
        quotient = call("divide", number(60), call("subtract", col(source, 0), number(2)))
        change = [(2, quotient)]
        assert rows(spark, update(name, call("not_equal", col(source, 0), number(2)), change)) == [(4,)]
        assert stored(spark, name) == ordered(
            [(1, "Ann", -60), (2, None, None), (3, "Cy", 60), (3, "Cy", 60), (4, "Dee", 30)]
        )
        before = stored(spark, name)
        with pytest.raises(ExecutionError):
            run(spark, update(name, None, change))
        assert stored(spark, name) == before


def test_parameters_in_a_condition_and_in_new_values(spark: SparkSession) -> None:
    with table(spark) as name:
        source = fill(spark, name)
        least, new = (
            DynamicParameter(parameter_reference=1, type=INT),
            DynamicParameter(parameter_reference=2, type=TEXT),
        )
        change = update(name, call("gt", col(source, 0), least), [(1, new)])
        assert declared_parameters(plan(change)) == {1: INT, 2: TEXT}
        assert rows(spark, change, parameters={1: 2, 2: "Zoe"}) == [(3,)]
        assert [row[:2] for row in stored(spark, name)] == [(1, "Ann"), (2, None), (3, "Zoe"), (3, "Zoe"), (4, "Zoe")]


def test_updates_that_contradict_themselves(spark: SparkSession) -> None:
    with table(spark) as name:
        fill(spark, name)
        for changes, error, path in (
            ([], "changes no column", "transformations"),
            ([(1, text("a")), (1, text("b"))], "the column 1 is changed twice", "transformations[1].column_target"),
            ([(3, text("a"))], "there is no column 3", "transformations[0].column_target"),
            ([(0, lit(LONG, 1))], "the new value is i64, the column i32", "transformations[0].transformation"),
        ):
            with pytest.raises(InvalidPlanError, match=error) as caught:
                run(spark, update(name, None, changes))
            assert caught.value.path == f"relations[0].root.input.update.{path}"
        unknown = DynamicParameter(parameter_reference=1, type=BOOL)
        with pytest.raises(ParameterError) as missing:
            run(spark, update(name, unknown, [(1, text("a"))]))
        assert missing.value.path == "relations[0].root.input.update.condition.dynamic_parameter"
        with pytest.raises(ParameterError) as missing:
            run(spark, update(name, None, [(1, text("a")), (2, replace(unknown, type=INT))]))
        changed = "relations[0].root.input.update.transformations[1].transformation"
        assert missing.value.path == f"{changed}.dynamic_parameter"
        with pytest.raises(TableError, match="does not have the columns age"):
            run(spark, update(name, None, [(1, text("a"))], {"id": INT, "name": TEXT_}))
        with pytest.raises(ExecutionError, match="id is required"):
            run(spark, update(name, None, [(0, lit(INT_, None))]))
        assert stored(spark, name) == ordered(RECORDS)


def test_a_root_says_what_it_calls_the_count(spark: SparkSession) -> None:
    import pyspark_substrait as ps
    from pyspark_substrait.documents import Plan

    with table(spark) as name:
        fill(spark, name)
        message = plan(update(name, None, [(1, text("all"))])).to_message()
        for names in ((), ("id", "name", "age"), ("changed",)):
            message.relations[0].root.names[:] = names  # type: ignore[attr-defined]
            loaded = ps.load(message)
            assert isinstance(loaded, Plan)
            assert [note.rule for note in loaded.notes] == (["names-of-an-update"] if len(names) != 1 else [])
            expected = "changed" if len(names) == 1 else "modified_records"
            assert ps.run_query(loaded, spark=spark).to_pydict() == {expected: [5]}
        with pytest.raises(InvalidPlanError, match="one column"):
            message.relations[0].root.names[:] = ()  # type: ignore[attr-defined]
            ps.load(message, strict=True)


def test_an_input_that_is_the_table_projected(spark: SparkSession) -> None:
    with table(spark) as name:
        source = fill(spark, name)
        old = where(source, call("gt", col(source, 2), number(29)))
        more = project(old, call("add", col(old, 2), number(1)), keep=True)
        input = project(more, col(more, 0), text("older"), call("multiply", col(more, 3), number(2)))
        after, changed = duck("name = 'older', age = (age + 1) * 2", "age > 29")
        assert ordered(rows(spark, write(WriteOp.UPDATE, name, input, output=MODIFIED))) == changed
        assert stored(spark, name) == after
        # nothing changes, and no records are modified but those that were picked
        assert rows(
            spark, write(WriteOp.UPDATE, name, where(source, call("is_null", col(source, 2))), output=MODIFIED)
        ) == [(2, None, None)]
        assert stored(spark, name) == after


def test_an_input_with_the_records_before_and_after(spark: SparkSession) -> None:
    with table(spark) as name:
        fill(spark, name)
        images = values(
            [INT, TEXT_, INT_, INT, TEXT_, INT_],
            [
                (3, "Cy", 30, 30, "one of two", None),
                (2, None, None, 2, "was null", 1),
                (8, "nobody", 1, 9, "nobody", 1),
            ],
        )
        changed = rows(spark, write(WriteOp.UPDATE, name, images, output=MODIFIED))
        assert ordered(changed) == ordered([(30, "one of two", None), (2, "was null", 1)])
        expected = [(1, "Ann", 30), (2, "was null", 1), (3, "Cy", 30), (30, "one of two", None), (4, "Dee", 41)]
        assert stored(spark, name) == ordered(expected)


def test_images_with_nested_fields(spark: SparkSession) -> None:
    from pyspark_substrait.model.types import Struct
    from tests.spark.plans import schema

    pair = Struct(types=(INT, TEXT_), nullable=True)
    named = schema((pair, INT), ("s", "y", "x", "id"))
    with table(spark, "s STRUCT<x: STRING, y: INT>, id INT") as name:
        spark.sql(f"INSERT INTO {name} VALUES (struct('a', 1), 1), (NULL, 2)")
        images = values([pair, INT, pair, INT], [((1, "a"), 1, (7, "z"), 10), (None, 2, (8, None), 20)])
        run(spark, write(WriteOp.UPDATE, name, images, named))
        found = spark.sql(f"SELECT to_json(s) AS s, id FROM {name} ORDER BY id").collect()
        assert [tuple(row) for row in found] == [('{"x":"z","y":7}', 10), ('{"y":8}', 20)]


def test_inputs_that_do_not_say_which_record_changes(spark: SparkSession) -> None:
    with table(spark) as name:
        source = fill(spark, name)
        for input in (
            values([INT, TEXT_, INT_], [(1, "a", 2)]),
            Fetch(input=source, count_expr=long(1)),
        ):
            with pytest.raises(UnsupportedPlanError, match="does not identify the records to change"):
                run(spark, write(WriteOp.UPDATE, name, input))
        with pytest.raises(InvalidPlanError, match="the input has 2 columns"):
            run(spark, write(WriteOp.UPDATE, name, values([INT, TEXT], [])))
        assert stored(spark, name) == ordered(RECORDS)
