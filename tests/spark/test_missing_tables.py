"""A table that nobody gave is reported before Spark starts, with all that the plan reads."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import pyspark_substrait as ps
from pyspark_substrait.builder import read
from pyspark_substrait.cli import main
from pyspark_substrait.errors import TableError
from pyspark_substrait.spark import missing_tables, session_start
from pyspark_substrait.spark.missing_tables import refuse_missing_tables

ROOT = Path(__file__).resolve().parents[2]
ORDERS = read("orders", {"id": "i64", "price": "decimal?<10, 2>"})
LINES = read("sales.lines", {"order": "i64", "n": "i32?"})
PLAN = ORDERS.join(LINES, lambda o, line: o.id == line.order).to_plan()


@pytest.fixture
def none_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process without a session; starting one is an error."""

    def started(*_: object, **__: object) -> None:
        raise AssertionError("Spark was started")

    monkeypatch.setattr(session_start, "_running_session", lambda: None)
    monkeypatch.setattr(session_start, "_start_classic", started)
    for name in ("SPARK_REMOTE", "PYSPARK_GATEWAY_PORT", "PYSPARK_SUBMIT_ARGS", "SPARK_SUBMIT_OPTS", "SPARK_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("none_runs")
def test_all_that_the_plan_reads_is_listed(tmp_path: Path) -> None:
    plan, file = tmp_path / "plan.pb", tmp_path / "o.parquet"
    PLAN.save(plan)
    pq.write_table(pa.table({"id": pa.array([1], pa.int64())}), file)
    found = CliRunner().invoke(main, ["run", str(plan), "--table", f"orders={file}", "--table", f"lines={file}"])
    assert found.exit_code == 1
    assert found.stderr == (
        "error: there is no table sales.lines: it must be given, because the Spark session that would run the plan "
        'starts without tables. Name a file or folder: --table sales.lines=PATH, or tables={"sales.lines": path}. '
        "The plan reads:\n"
        "  orders(id: i64, price: decimal?<10, 2>)\n"
        "  sales.lines(order: i64, n: i32?)  (missing)\n"
        "It does not read: lines\n"
    )
    for command in (["run"], ["explain", "--profile"], ["view", "--profile", "-o", str(tmp_path / "x.html")]):
        found = CliRunner().invoke(main, [command[0], str(plan), *command[1:]])
        assert found.exit_code == 1
        assert "there are no tables orders, sales.lines: they must be given" in found.stderr


@pytest.mark.usefixtures("none_runs")
def test_the_same_in_python() -> None:
    for verb in (ps.run_query, ps.from_substrait, ps.profile):
        with pytest.raises(TableError, match=r"there is no table sales\.lines: it must be given"):
            verb(PLAN, tables={"Orders": "o.parquet"})


@pytest.mark.usefixtures("none_runs")
def test_given_tables_are_none_that_miss() -> None:
    given: dict[str | tuple[str, ...], Any] = {"ORDERS": "o", ("sales", "lines"): "l"}
    refuse_missing_tables(PLAN, given)
    refuse_missing_tables(PLAN, {"orders": "o", "Sales.Lines": "l"})


@pytest.mark.usefixtures("none_runs")
def test_only_what_runs_counts() -> None:
    """Of several roots, one runs."""
    both = replace(PLAN, relations=(ORDERS.to_plan().relations[0], LINES.to_plan().relations[0]))
    refuse_missing_tables(both, {"orders": "o"}, 0)
    refuse_missing_tables(both, {"sales.lines": "l"}, 1)
    with pytest.raises(TableError, match="there is no table orders"):
        refuse_missing_tables(both, {"sales.lines": "l"}, 0)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("SPARK_REMOTE", "sc://host"),
        ("PYSPARK_GATEWAY_PORT", "1"),
        ("PYSPARK_SUBMIT_ARGS", "--conf spark.sql.catalog.c=x pyspark-shell"),
        ("JAVA_TOOL_OPTIONS", "-Dspark.sql.catalog.c=x"),
    ],
)
@pytest.mark.usefixtures("none_runs")
def test_a_session_that_may_have_tables_is_asked(variable: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, value)
    refuse_missing_tables(PLAN, None)


@pytest.mark.usefixtures("none_runs")
def test_settings_in_a_file_may_name_catalogs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    with pytest.raises(TableError):
        refuse_missing_tables(PLAN, None)
    (tmp_path / "spark-defaults.conf").write_text("spark.sql.catalog.c x\n")
    refuse_missing_tables(PLAN, None)


def test_a_running_session_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_start, "_running_session", object)
    refuse_missing_tables(PLAN, None)
    assert missing_tables.would_start_empty is session_start.would_start_empty  # type: ignore[attr-defined]


def test_no_java_is_needed_to_know_it(tmp_path: Path) -> None:
    plan = tmp_path / "plan.pb"
    PLAN.save(plan)
    environment = {"PATH": "", "PYTHONPATH": str(ROOT / "src"), "JAVA_HOME": str(tmp_path), "HOME": str(tmp_path)}
    found = subprocess.run(
        [sys.executable, "-m", "pyspark_substrait", "run", str(plan)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert found.returncode == 1
    assert found.stderr.startswith("error: there are no tables orders, sales.lines: ")
