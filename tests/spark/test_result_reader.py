"""Results that come batch by batch: the rows of other runs, with their errors; closing the reader cancels the run."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pyspark_substrait as ps
from pyspark_substrait import RunLimits
from pyspark_substrait.builder import read
from pyspark_substrait.errors import ExecutionError, RunLimitError, TableError
from pyspark_substrait.model.types import I64, with_nullability
from pyspark_substrait.spark.results import FileFormat, write_file
from pyspark_substrait.spark.session import is_connect
from tests.spark.plans import emit, plan, run, values
from tests.spark.typed_values import LEAF_KINDS, TYPES, comparable, drawn, expected, made, of_type

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = {"k": "i64"}


def reader_of(spark: SparkSession, of: Any, **options: Any) -> pa.RecordBatchReader:
    return ps.run_query(of, spark=spark, batches=True, **options)


def partitions(spark: SparkSession, rows: int, number: int) -> dict[str, Any]:
    """The table ``t`` of the numbers from 0 on, in so many partitions."""
    return {"t": spark.range(0, rows, 1, number).withColumnRenamed("id", "k")}


def until(condition: Callable[[], bool], seconds: float = 30.0) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


def fetches() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "substrait-fetch"]


def endless() -> Any:
    """A cross product of 10¹⁰ records, none of which is in the result."""
    one, two = read("t", SCHEMA).select(a=lambda r: r.k), read("t", SCHEMA).select(b=lambda r: r.k)
    return one.cross_join(two).filter(lambda r: r.a + r.b < -1).to_plan()


def test_rows_of_every_type(spark: SparkSession) -> None:
    nested = drawn(TYPES, 20)
    types = [*(with_nullability(type, True) for type in LEAF_KINDS), *nested]
    columns = [(drawn(of_type(type), 6) * 6)[:6] for type in types]
    rows = [list(row) for row in zip(*columns, strict=True)]
    rows[0] = [None if type.nullable else value for type, value in zip(types, rows[0], strict=True)]
    table = values(types, [[made(type, value) for type, value in zip(types, row, strict=True)] for row in rows])
    with reader_of(spark, plan(table)) as reader:
        assert isinstance(reader, pa.RecordBatchReader)
        schema, found = reader.schema, reader.read_all()
    whole = run(spark, table)
    assert schema.equals(whole.schema, check_metadata=True) and found.schema.equals(schema, check_metadata=True)
    for position, type in enumerate(types):
        wanted = [expected(type, row[position]) for row in rows]
        assert comparable(found.column(position)) == wanted == comparable(whole.column(position)), str(type)


def test_rows_keep_their_order_and_number(spark: SparkSession) -> None:
    tables = partitions(spark, 1_000, 10)
    whole, names = read("t", SCHEMA), {"tables": tables}
    assert reader_of(spark, whole.to_plan(), **names).read_all()["k"].to_pylist() == list(range(1_000))
    assert reader_of(spark, whole.to_plan(), limit=7, **names).read_all()["k"].to_pylist() == list(range(7))
    assert reader_of(spark, whole.to_plan(), limit=0, **names).read_all().num_rows == 0
    empty = reader_of(spark, whole.filter(lambda r: r.k < 0).to_plan(), **names)
    assert empty.schema.names == ["k"] and list(empty) == []
    without_columns = values([I64()], [[made(I64(), number)] for number in range(9)], common=emit())
    assert reader_of(spark, plan(without_columns)).read_all().num_rows == 9
    # as other libraries read it, and keep it when the first reader is gone
    assert pa.RecordBatchReader.from_stream(reader_of(spark, whole.to_plan(), **names)).read_all().num_rows == 1_000


def test_errors_of_the_plan_come_at_once_and_those_of_its_data_while_reading(spark: SparkSession) -> None:
    with pytest.raises(TableError, match="has no column"):
        reader_of(spark, read("t", SCHEMA).to_plan(), tables={"t": pa.table({"x": [1]})})
    failing = read("t", SCHEMA).select(n=lambda r: (r.k * 10).cast("i8")).to_plan()  # from 13 on
    reader, rows = reader_of(spark, failing, tables=partitions(spark, 40, 4)), 0
    with pytest.raises(ExecutionError, match="the plan failed on its data") as caught:
        for batch in reader:
            rows += batch.num_rows
    assert is_connect(spark) or rows == 10
    with pytest.raises(ExecutionError) as again:  # not an end, which would mean that this is all
        reader.read_next_batch()
    assert again.value is caught.value
    reader.close()


def test_closing_cancels_the_run(spark: SparkSession) -> None:
    """The test's session has one core or two: a run that went on would be in the way of the next."""
    tables = {"t": pa.table({"k": range(100_000)})}
    errors: list[BaseException] = []

    def reading() -> None:
        try:
            reader.read_next_batch()
        except BaseException as error:
            errors.append(error)

    with reader_of(spark, endless(), tables=tables) as reader:
        thread = threading.Thread(target=reading)
        thread.start()
        assert until(lambda: bool(fetches()))
        time.sleep(1)
    thread.join(30)
    assert [(type(error), str(error)) for error in errors] == [(pa.ArrowInvalid, "the reader of the result is closed")]
    with pytest.raises(pa.ArrowInvalid, match="is closed"):
        reader.read_next_batch()
    assert ps.run_query(read("t", SCHEMA).to_plan(), tables=tables, spark=spark).num_rows == 100_000
    assert until(lambda: not fetches())


def test_a_reader_that_nobody_has_any_more_ends_the_run(spark: SparkSession) -> None:
    reader = reader_of(spark, read("t", SCHEMA).to_plan(), tables=partitions(spark, 50_000, 50))
    assert reader.read_next_batch().num_rows == 1_000
    assert fetches()
    del reader
    assert until(lambda: not fetches())
    unread = reader_of(spark, read("t", SCHEMA).to_plan(), tables=partitions(spark, 10, 1))
    assert not fetches()  # nothing runs before the first read
    unread.close()


@pytest.mark.sweep
def test_limits_hold_while_rows_come(spark: SparkSession) -> None:
    whole, tables = read("t", SCHEMA).to_plan(), partitions(spark, 1_000, 4)

    def ended(limits: RunLimits, of: Any = whole, given: Any = tables, **options: Any) -> RunLimitError:
        with pytest.raises(RunLimitError) as caught:
            reader_of(spark, of, tables=given, limits=limits, **options).read_all()
        return caught.value

    assert ended(RunLimits(result_rows=999)).limit == "result_rows"
    assert ended(RunLimits(result_bytes=5_000)).limit == "result_bytes"
    late = ended(RunLimits(seconds=2), endless(), {"t": pa.table({"k": range(100_000)})})
    assert (late.limit, late.message) == ("seconds", "the run takes more than 2 seconds")
    enough = RunLimits(seconds=600, result_rows=1_000, result_bytes=8_000)
    assert reader_of(spark, whole, tables=tables, limits=enough).read_all().num_rows == 1_000
    assert reader_of(spark, whole, tables=tables, limits=RunLimits(result_rows=5), limit=5).read_all().num_rows == 5


ROWS = pa.table({"k": range(3_000), "text": [f"|{number}" for number in range(3_000)]})


@pytest.mark.parametrize("form", ["parquet", "arrow", "csv", "json", "markdown"])
def test_files_of_batches_are_those_of_a_table(form: FileFormat, tmp_path: Path) -> None:
    write_file(ROWS, tmp_path / "whole", form)
    batches = ROWS.to_batches(max_chunksize=100)
    assert write_file(pa.RecordBatchReader.from_batches(ROWS.schema, batches), tmp_path / "parts", form) == 3_000
    if form == "arrow":
        assert pa.ipc.open_file(tmp_path / "parts").read_all().equals(ROWS)
    elif form == "parquet":
        assert pq.read_table(tmp_path / "parts").equals(ROWS)
        assert pq.read_metadata(tmp_path / "parts").num_row_groups == 1  # not one for each batch
    else:
        assert (tmp_path / "parts").read_text() == (tmp_path / "whole").read_text()
    empty = ROWS.schema.empty_table()
    write_file(empty, tmp_path / "whole", form)
    assert write_file(empty.to_reader(), tmp_path / "parts", form) == 0
    assert (tmp_path / "parts").read_bytes() == (tmp_path / "whole").read_bytes()

    def failing() -> Iterator[pa.RecordBatch]:
        yield from batches
        raise ExecutionError("the plan failed on its data")

    (tmp_path / "parts").write_text("before")
    with pytest.raises(ExecutionError):
        write_file(pa.RecordBatchReader.from_batches(ROWS.schema, failing()), tmp_path / "parts", form)
    assert (tmp_path / "parts").read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["parts", "whole"]
