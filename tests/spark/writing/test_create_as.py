"""Tables made of records: the create modes, and what is there afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import SparkSession

from pyspark_substrait.errors import ExecutionError, InvalidPlanError, TableError, UnsupportedPlanError
from pyspark_substrait.model.relations import CreateMode, Write, WriteOp
from pyspark_substrait.model.types import List, Struct
from tests.spark.plans import (
    INT,
    INT_,
    LONG,
    TEXT_,
    call,
    col,
    number,
    ordered,
    project,
    rows,
    run,
    schema,
    table_names,
    values,
)
from tests.spark.plans import stored as read
from tests.spark.writing.records import MODIFIED, PEOPLE, catalog_says, folder, insert, stored, table, write

ANN, BEN = (1, "Ann", 30), (2, None, None)
PAIR = {"id": LONG, "word": TEXT_}


@pytest.fixture
def name(spark: SparkSession) -> Iterator[str]:
    yield "written_by_ctas"
    spark.sql("DROP TABLE IF EXISTS written_by_ctas")


def create(name: str, records: list[tuple[Any, ...]], named: Any = PEOPLE, **more: Any) -> Write:
    input = values(list(named.values()), records) if isinstance(named, dict) else values(named.struct.types, records)
    return write(WriteOp.CTAS, name, input, named, **more)


@pytest.mark.parametrize("mode", list(CreateMode))
def test_a_table_that_is_not_there_is_made(spark: SparkSession, name: str, mode: CreateMode) -> None:
    before = table_names(spark)
    assert ordered(rows(spark, create(name, [ANN, BEN], create_mode=mode, output=MODIFIED))) == ordered([ANN, BEN])
    assert stored(spark, name) == ordered([ANN, BEN])
    assert table_names(spark) == {*before, name}
    found = catalog_says(spark, name)
    assert found["provider"] == spark.conf.get("spark.sql.sources.default")
    assert found["type"] == "MANAGED"
    assert found["location"].endswith(f"/{name}")
    assert [(field["name"], field["type"]["name"], field["nullable"]) for field in found["columns"]] == [
        ("id", "int", False),
        ("name", "string", True),
        ("age", "int", True),
    ]


def test_a_table_that_is_there_is_an_error(spark: SparkSession, name: str) -> None:
    run(spark, create(name, [ANN]))
    for mode in (CreateMode.UNSPECIFIED, CreateMode.ERROR_IF_EXISTS):
        with pytest.raises(TableError, match=f"there is a table {name} already"):
            run(spark, create(name, [BEN], create_mode=mode))
    assert stored(spark, name) == [ANN]


def test_appending(spark: SparkSession, name: str) -> None:
    mode = CreateMode.APPEND_IF_EXISTS
    run(spark, create(name, [ANN], create_mode=mode))
    assert rows(spark, create(name, [BEN], create_mode=mode, output=MODIFIED)) == [BEN]
    assert stored(spark, name) == ordered([ANN, BEN])
    with pytest.raises(TableError, match="is int, which does not hold i64"):
        run(spark, create(name, [], {"id": LONG, "name": TEXT_}, create_mode=mode))


def test_ignoring(spark: SparkSession, name: str) -> None:
    run(spark, create(name, [ANN]))
    source = read(name, PEOPLE)
    # were the input run, it would fail
    failing = project(source, call("divide", number(1), call("subtract", col(source, 0), number(1))))
    ignored = write(WriteOp.CTAS, name, failing, {"id": INT}, create_mode=CreateMode.IGNORE_IF_EXISTS, output=MODIFIED)
    assert rows(spark, ignored) == []
    assert stored(spark, name) == [ANN]


def test_replacing_the_records(spark: SparkSession, name: str) -> None:
    mode = CreateMode.REPLACE_IF_EXISTS
    run(spark, create(name, [ANN], create_mode=mode))
    place = folder(spark, name)
    run(spark, create(name, [BEN], create_mode=mode))
    assert stored(spark, name) == [BEN]
    # of itself
    source = read(name, PEOPLE)
    again = project(source, call("add", col(source, 0), number(10)), col(source, 1), col(source, 2))
    run(spark, write(WriteOp.CTAS, name, again, PEOPLE, create_mode=mode))
    assert stored(spark, name) == [(12, None, None)]
    assert folder(spark, name) == place


def test_replacing_a_table_by_one_with_other_columns(spark: SparkSession, name: str) -> None:
    before = table_names(spark)
    run(spark, create(name, [ANN]))
    run(spark, create(name, [(2**40, "x")], PAIR, create_mode=CreateMode.REPLACE_IF_EXISTS))
    assert stored(spark, name) == [(2**40, "x")]
    assert spark.table(name).columns == ["id", "word"]
    assert table_names(spark) == {*before, name}
    # of its own records
    source = read(name, PAIR)
    again = write(
        WriteOp.CTAS, name, project(source, col(source, 1)), {"w": TEXT_}, create_mode=CreateMode.REPLACE_IF_EXISTS
    )
    run(spark, again)
    assert stored(spark, name) == [("x",)]
    assert table_names(spark) == {*before, name}


def test_columns_with_fields(spark: SparkSession, name: str) -> None:
    inner = Struct(types=(INT, TEXT_), nullable=True)
    named = schema((List(type=inner, nullable=True), INT_), ("l", "x", "Y y", "n"))
    input = values(named.struct.types, [([(1, "a")], 2)])
    run(spark, write(WriteOp.CTAS, name, input, named))
    assert spark.sql(f"SELECT to_json(struct(*)) AS j FROM {name}").collect()[0].j == '{"l":[{"x":1,"Y y":"a"}],"n":2}'


def test_a_failing_input_makes_no_table(spark: SparkSession, name: str) -> None:
    before = table_names(spark)
    with table(spark) as other:
        spark.sql(f"INSERT INTO {other} VALUES (1, 'Ann', 30)")
        source = read(other, PEOPLE)
        failing = project(source, call("divide", number(1), call("subtract", col(source, 0), number(1))))
        with pytest.raises(ExecutionError):
            run(spark, write(WriteOp.CTAS, name, failing, {"id": INT}))
        with pytest.raises(InvalidPlanError, match="the input has 1 columns"):
            run(spark, write(WriteOp.CTAS, name, failing, PEOPLE))
        nulls = project(source, col(source, 2))
        spark.sql(f"INSERT INTO {other} VALUES (2, 'Ben', NULL)")
        with pytest.raises(ExecutionError, match="id is required, and a value is null"):
            run(spark, write(WriteOp.CTAS, name, nulls, {"id": INT}))
    assert table_names(spark) == before


def test_a_name_that_no_table_can_have(spark: SparkSession) -> None:
    with pytest.raises((UnsupportedPlanError, TableError)):
        run(spark, create("no/name", [ANN]))
    with pytest.raises(TableError, match="there is no database"):
        run(spark, write(WriteOp.CTAS, ("no_database", "t"), values([INT], [(1,)]), {"id": INT}))


def test_a_table_made_and_filled_by_one_plan(spark: SparkSession, name: str) -> None:
    made = create(name, [ANN], output=MODIFIED)
    again = project(made, call("add", col(made, 0), number(1)), col(made, 1), col(made, 2))
    run(spark, insert(name, again))
    assert stored(spark, name) == ordered([ANN, (2, "Ann", 30)])
