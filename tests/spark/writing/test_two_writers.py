"""Two that change a table at once: one of them wins, the other gets an error, and nothing is lost."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from pyspark_substrait.errors import ExecutionError, SubstraitError
from pyspark_substrait.model.relations import Relation
from tests.spark.plans import INT, INT_, TEXT_, call, col, number, ordered, run, table_names, text, values, where
from tests.spark.plans import stored as read
from tests.spark.writing.records import PEOPLE, delete, folder, insert, stored, table, update

pytestmark = pytest.mark.sweep

ANN, BEN = (1, "Ann", 30), (2, None, None)


def people(*records: tuple[Any, ...]) -> Relation:
    return values([INT, TEXT_, INT_], records)


_HOLDING = """
import sys
from pathlib import Path
from pyspark_substrait.spark.writing import folders
with folders.changing(Path(sys.argv[1])) as version:
    version.written.mkdir()
    print("holding", flush=True)
    sys.stdin.read()
"""


@contextmanager
def another_process(place: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that is changing the table."""
    command = [sys.executable, "-c", _HOLDING, str(place)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "holding\n"
        try:
            yield process
        finally:
            process.kill()


def test_while_another_process_writes_there_is_an_error(spark: SparkSession) -> None:
    with table(spark) as name:
        run(spark, insert(name, people(ANN)))
        place = folder(spark, name)
        source = read(name, PEOPLE)
        with another_process(place) as process:
            for change in (insert(name, people(BEN)), delete(name, source), update(name, None, [(1, text("x"))])):
                with pytest.raises(ExecutionError, match="another process is changing the table"):
                    run(spark, change)
            assert stored(spark, name) == [ANN]
            # one that dies leaves nothing that is in the way
            process.kill()
            process.wait()
            run(spark, insert(name, people(BEN)))
        assert stored(spark, name) == ordered([ANN, BEN])
        assert [entry.name for entry in place.parent.glob(f".{name}.*")] == []


def test_threads_that_insert_at_once_lose_nothing(spark: SparkSession) -> None:
    with table(spark) as name:

        def attempt(number: int) -> bool:
            try:
                run(spark, insert(name, people((number, "x", None))))
            except ExecutionError as error:
                assert "another process is changing" in str(error)
                return False
            return True

        with ThreadPoolExecutor(4) as pool:
            done = list(pool.map(attempt, range(6)))
        assert any(done)
        expected = [(number, "x", None) for number, fine in enumerate(done) if fine]
        assert stored(spark, name) == ordered(expected)


def test_what_was_written_after_the_plan_was_checked_is_kept(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark_substrait.spark.writing import records

    checked = records.checked

    def late(node: Any, session: Any) -> None:
        checked(node, session)
        spark.sql("INSERT INTO t1 VALUES (2, NULL, NULL)")

    # a table of such a name is bound into statements as a DataFrame
    spark.sql("CREATE TABLE t1 (id INT, name STRING, age INT) USING parquet")
    try:
        run(spark, insert("t1", people(ANN)))
        with monkeypatch.context() as patched:
            patched.setattr(records, "checked", late)
            gone = where(read("t1", PEOPLE), call("equal", col(people(), 0), number(1)))
            run(spark, delete("t1", gone))
        assert stored(spark, "t1") == [BEN]
    finally:
        spark.sql("DROP TABLE t1")


@pytest.mark.parametrize("change", ["insert", "delete", "update"])
def test_what_spark_itself_writes_meanwhile_is_not_lost(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    from pyspark_substrait.spark.writing import folders

    with table(spark) as name:
        run(spark, insert(name, people(ANN)))
        add = folders.Change.add

        def interrupted(version: folders.Change) -> None:
            spark.sql(f"INSERT INTO {name} VALUES (2, NULL, NULL)")
            add(version)

        changes: dict[str, Any] = {
            "insert": insert(name, people((3, "Cy", 1))),
            "delete": delete(name, read(name, PEOPLE)),
            "update": update(name, None, [(1, text("x"))]),
        }
        with monkeypatch.context() as patched:
            patched.setattr(folders.Change, "add", interrupted)
            with pytest.raises(ExecutionError, match="another process changed the files"):
                run(spark, changes[change])
        assert stored(spark, name) == ordered([ANN, BEN])


def test_two_that_make_the_same_table(spark: SparkSession) -> None:
    from pyspark_substrait.model.relations import WriteOp
    from tests.spark.writing.records import write

    before = table_names(spark)

    def attempt(number: int) -> bool:
        try:
            run(spark, write(WriteOp.CTAS, "written_by_two", people((number, "x", None))))
        except SubstraitError:
            return False
        return True

    try:
        with ThreadPoolExecutor(2) as pool:
            done = list(pool.map(attempt, range(2)))
        assert done.count(True) == 1
        assert stored(spark, "written_by_two") == [(done.index(True), "x", None)]
        assert table_names(spark) == {*before, "written_by_two"}
    finally:
        spark.sql("DROP TABLE IF EXISTS written_by_two")
