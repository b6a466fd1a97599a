"""Runs end where they exceed a limit, with an error that names it; the session serves the next run."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import pyspark_substrait as ps
from pyspark_substrait import RunLimits
from pyspark_substrait.builder import read, read_files
from pyspark_substrait.cli import main
from pyspark_substrait.errors import RunLimitError, SubstraitError, UnsupportedPlanError
from pyspark_substrait.model.limits import RunLimits as Model
from pyspark_substrait.spark.run_limits import check_scan
from pyspark_substrait.spark.session import is_connect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = {"k": "i64", "v": "string"}
ROWS = 1_000
DATA = pa.table({"k": range(ROWS), "v": [f"{number:05}" for number in range(ROWS)]})


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("limits") / "t.parquet"
    pq.write_table(DATA, path)
    return path


def whole() -> Any:
    return read("t", SCHEMA).to_plan()


#: a task looks whether it was cancelled at each of its records, which are joined with all of the others
LARGE = pa.table({"k": range(100_000), "v": [""] * 100_000})


def endless() -> Any:
    """A cross product of 10¹⁰ records, none of which is in the result."""
    one, two = read("t", SCHEMA).select(a=lambda r: r.k), read("t", SCHEMA).select(b=lambda r: r.k)
    return one.cross_join(two).filter(lambda r: r.a + r.b < -1).to_plan()


def ended(limit: str, run: Callable[[], object]) -> RunLimitError:
    with pytest.raises(RunLimitError) as caught:
        run()
    assert caught.value.limit == limit
    assert f"raise the limit {limit}" in str(caught.value)
    return caught.value


def test_a_result_has_so_many_rows(spark: SparkSession) -> None:
    options: dict[str, Any] = {"tables": {"t": DATA}, "spark": spark}
    error = ended("result_rows", lambda: ps.run_query(whole(), limits=RunLimits(result_rows=ROWS - 1), **options))
    assert error.message == "the result has more than 999 rows"
    assert ps.run_query(whole(), limits=RunLimits(result_rows=ROWS), **options).num_rows == ROWS
    # fewer rows are asked for than there may be, and more
    assert ps.run_query(whole(), limits=RunLimits(result_rows=10), limit=10, **options).num_rows == 10
    ended("result_rows", lambda: ps.run_query(whole(), limits=RunLimits(result_rows=10), limit=11, **options))


def test_a_result_of_a_cross_product_ends_at_its_limit(spark: SparkSession) -> None:
    """Of 10⁹ records, Spark makes as many as the limit and one."""
    twice = read("t", SCHEMA).cross_join(read("t", SCHEMA)).cross_join(read("t", SCHEMA)).to_plan()
    options: dict[str, Any] = {"tables": {"t": DATA}, "spark": spark}
    ended("result_rows", lambda: ps.run_query(twice, limits=RunLimits(result_rows=100), **options))


def test_a_result_has_so_many_bytes(spark: SparkSession) -> None:
    options: dict[str, Any] = {"tables": {"t": DATA}, "spark": spark}
    expected = ps.run_query(whole(), **options)
    ended("result_bytes", lambda: ps.run_query(whole(), limits=RunLimits(result_bytes=1_000), **options))
    assert ps.run_query(whole(), limits=RunLimits(result_bytes=10**6), **options).equals(expected)
    empty = read("t", SCHEMA).filter(lambda r: r.k < 0).to_plan()
    found = ps.run_query(empty, limits=RunLimits(result_bytes=10**6), **options)
    assert found.equals(ps.run_query(empty, **options))


@pytest.mark.sweep
def test_a_run_takes_so_many_seconds(spark: SparkSession) -> None:
    options: dict[str, Any] = {"tables": {"t": LARGE}, "spark": spark}
    assert ps.run_query(whole(), limits=RunLimits(seconds=600), **options).num_rows == 100_000
    error = ended("seconds", lambda: ps.run_query(endless(), limits=RunLimits(seconds=1), **options))
    assert error.message == "the run takes more than 1 seconds"
    ended("seconds", lambda: ps.profile(endless(), limits=RunLimits(seconds=1), **options))
    assert ps.run_query(whole(), **options).num_rows == 100_000


def test_a_run_that_fails_before_its_end_raises_its_own_error(spark: SparkSession) -> None:
    limits = RunLimits(seconds=600, result_bytes=10**6)
    with pytest.raises(ps.TableError, match="has no column"):
        ps.run_query(whole(), tables={"t": pa.table({"x": [1]})}, spark=spark, limits=limits)
    failing = read("t", SCHEMA).select(n=lambda r: r.v.cast("i8")).to_plan()
    with pytest.raises(ps.ExecutionError) as caught:
        ps.run_query(failing, tables={"t": DATA}, spark=spark, limits=limits)
    assert not isinstance(caught.value, RunLimitError)


def test_a_run_scans_so_many_bytes_of_files(spark: SparkSession, file: Path) -> None:
    size = file.stat().st_size
    options: dict[str, Any] = {"tables": {"t": file, "u": file}, "spark": spark, "allowed_paths": [file]}
    one = whole()
    if is_connect(spark):
        with pytest.raises(UnsupportedPlanError, match="Spark Connect does not tell"):
            ps.run_query(one, limits=RunLimits(scan_bytes=size), **options)
        return
    named = read_files([str(file)], SCHEMA, "parquet").to_plan()
    twice = read("t", SCHEMA).union_all(read("u", SCHEMA)).to_plan()
    for plan, scanned in ((one, size), (named, size), (twice, 2 * size)):
        rows = ps.run_query(plan, limits=RunLimits(scan_bytes=scanned), **options)
        assert rows.num_rows == ROWS * scanned // size
        error = ended("scan_bytes", lambda: ps.run_query(plan, limits=RunLimits(scan_bytes=scanned - 1), **options))  # noqa: B023
        assert error.message == f"the files that the plan scans have {scanned:,} bytes, more than {scanned - 1:,}"
    # data of the caller is no file
    assert ps.run_query(one, tables={"t": DATA}, spark=spark, limits=RunLimits(scan_bytes=1)).num_rows == ROWS


def test_files_in_subqueries_tables_of_the_catalog_and_those_that_are_read_here_count(
    spark: SparkSession, file: Path, tmp_path: Path
) -> None:
    if is_connect(spark):
        pytest.skip("Spark Connect does not tell what is scanned")
    size = file.stat().st_size
    frame = spark.read.parquet(str(file))
    frame.createOrReplaceTempView("limited_view")
    nested = spark.sql("SELECT k FROM limited_view WHERE k = (SELECT max(length(v)) FROM limited_view)")
    ended("scan_bytes", lambda: check_scan(nested, RunLimits(scan_bytes=2 * size - 1)))
    check_scan(nested, RunLimits(scan_bytes=2 * size))
    spark.catalog.dropTempView("limited_view")
    frame.write.saveAsTable("limited_table")
    try:
        plan = read("limited_table", SCHEMA | {"k": "i64?", "v": "string?"}).to_plan()
        ended("scan_bytes", lambda: ps.run_query(plan, spark=spark, limits=RunLimits(scan_bytes=10)))
        assert ps.run_query(plan, spark=spark, limits=RunLimits(scan_bytes=10**6)).num_rows == ROWS
    finally:
        spark.sql("DROP TABLE limited_table")
    arrow = tmp_path / "t.arrow"
    with pa.OSFile(str(arrow), "wb") as sink, pa.ipc.new_file(sink, DATA.schema) as writer:
        writer.write_table(DATA)
    plan = read_files([str(arrow)], SCHEMA, "arrow").to_plan()
    options: dict[str, Any] = {"spark": spark, "allowed_paths": [tmp_path]}
    ended("scan_bytes", lambda: ps.run_query(plan, limits=RunLimits(scan_bytes=10), **options))
    assert ps.run_query(plan, limits=RunLimits(scan_bytes=10**6), **options).num_rows == ROWS


def test_expressions_have_the_same_limits(spark: SparkSession, file: Path) -> None:
    expression, orders = ps.samples.expression(), ps.samples.tables()["orders"]
    ended(
        "result_rows",
        lambda: ps.evaluate_arrow(expression, orders, spark=spark, limits=RunLimits(result_rows=8)),
    )
    found = ps.evaluate_arrow(expression, orders, spark=spark, limits=RunLimits(result_rows=9, seconds=600))
    assert found.equals(ps.evaluate_arrow(expression, orders, spark=spark))


def test_commands_have_the_same_limits(file: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    whole().save(plan)
    command = ["run", str(plan), "--table", f"t={file}", "--format", "csv", "--no-progress"]
    for option, message in (
        (["--result-rows", "9"], "more than 9 rows"),
        (["--result-bytes", "9"], "more than 9 bytes"),
        (["--scan-bytes", "9"], "more than 9"),
    ):
        result = CliRunner().invoke(main, [*command, *option])
        assert result.exit_code != 0 and message in result.output, result.output
    result = CliRunner().invoke(main, [*command, "--result-rows", "1000", "--seconds", "600"])
    assert result.exit_code == 0, result.output
    assert CliRunner().invoke(main, [*command, "--seconds", "0"]).exit_code == 2


@pytest.mark.parametrize("limit", [{"seconds": 0}, {"result_rows": 0}, {"result_bytes": -1}, {"scan_bytes": 0}])
def test_limits_that_make_no_sense_are_refused(limit: dict[str, Any]) -> None:
    with pytest.raises(SubstraitError, match=f"the limit {next(iter(limit))} is"):
        RunLimits(**limit)
    assert Model is RunLimits


_PROGRAM = """
import pyarrow as pa, pyspark_substrait as ps
from pyspark_substrait.builder import fn, read
slow = read("t", {"v": "string"}).select(n=lambda r: fn.regexp_count_substring(r.v, ".*a.*a.*a.*a.*a.*a.*b")).to_plan()
plain = read("t", {"v": "string"}).to_plan()
ps.run_query(plain, tables={"t": pa.table({"v": ["b"]})})
try:
    ps.run_query(slow, tables={"t": pa.table({"v": ["a" * 5_000]})}, limits=ps.RunLimits(seconds=15))
except ps.RunLimitError as error:
    print(error)
print(ps.run_query(plain, tables={"t": pa.table({"v": ["b"]})}).to_pylist())
"""


@pytest.mark.sweep
def test_a_pattern_that_nothing_can_interrupt_ends_with_the_session() -> None:
    """The embedded session alone: in one of the user's, the message says how to end it."""
    done = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=False)
    assert "the run takes more than 15 seconds; " in done.stdout, done.stderr
    assert ".*a.*b' may take very long" in done.stdout and "the session was ended" in done.stdout
    assert done.stdout.endswith("[{'v': 'b'}]\n"), done.stderr
    assert "Traceback" not in done.stderr
