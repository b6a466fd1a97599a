"""``%%substrait`` in a shell of IPython: what comes out, what is kept, and how it fails."""

from __future__ import annotations

import os
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

import pyspark_substrait as ps
from pyspark_substrait.spark.arrow_transfer import frame_of_arrow
from tests.agreement import assert_same_rows
from tests.notebooks.outputs import output

if TYPE_CHECKING:
    import duckdb
    from pyspark.sql import SparkSession

CLASSIC = pytest.mark.skipif(bool(os.environ.get("TEST_REMOTE")), reason="plans are made in classic sessions only")
ORDERS = pa.table(
    {
        "id": pa.array([1, 2, 3], pa.int64()),
        "price": pa.array([Decimal("1.50"), Decimal("2.50"), None], pa.decimal128(9, 2)),
    }
)
QUERY = "SELECT count(*) AS n, sum(price) AS total FROM orders"


@pytest.fixture
def shell(spark: SparkSession) -> Iterator[Any]:
    """A shell with the magics and the variables ``spark`` and ``orders``. IPython's methods have no types."""
    config = Config()
    config.HistoryManager.enabled = False
    made: Any = InteractiveShell.instance(config=config)
    made.run_line_magic("load_ext", "pyspark_substrait")
    made.push({"spark": spark, "orders": ORDERS})
    yield made
    InteractiveShell.clear_instance()


def run(shell: Any, cell: str) -> list[dict[str, str]]:
    """The outputs of a cell by their mime types; its error is raised."""
    with capture_output() as captured:
        result = shell.run_cell(cell, store_history=False)
    result.raise_error()
    return [dict(found.data) for found in captured.outputs]


def kept(shell: Any, name: str) -> Any:
    return shell.user_ns[name]


@CLASSIC
def test_sql_becomes_a_plan_and_rows(shell: Any, duck: duckdb.DuckDBPyConnection, tpch: dict[str, Path]) -> None:
    query = """
        SELECT o_orderpriority, count(*) AS n, sum(l_extendedprice * (1 - l_discount)) AS revenue
        FROM orders JOIN lineitem ON o_orderkey = l_orderkey
        WHERE l_shipmode = 'AIR' GROUP BY o_orderpriority ORDER BY o_orderpriority
    """
    shell.push({"orders": str(tpch["orders"])})
    options = f"--tables orders lineitem={tpch['lineitem']} --name plan --rows rows"
    drawn, table = run(shell, f"%%substrait {options}\n{query};\n")
    want = duck.sql(query).to_arrow_table()
    assert_same_rows(kept(shell, "rows"), want)
    shown = output(table["text/html"]).tables[0]
    assert shown[0] == ["o_orderpriority", "n", "revenue"] and len(shown) == want.num_rows + 1
    assert [row[1] for row in shown[1:]] == [str(number) for number in want.column("n").to_pylist()]
    assert output(drawn["text/html"]).tables[0][1:3] == [
        ["o_orderpriority", "string", "may be"],
        ["n", "i64", "never"],
    ]


@CLASSIC
@pytest.mark.parametrize("kind", ["arrow", "batches", "pandas", "spark", "path", "other name", "dots"])
def test_tables_are_variables_and_files(shell: Any, kind: str, tmp_path: Path) -> None:
    file = tmp_path / "the orders.parquet"
    pq.write_table(ORDERS, file)
    name, given = "orders", "orders"
    match kind:
        case "batches":
            shell.push({"orders": pa.RecordBatchReader.from_batches(ORDERS.schema, ORDERS.to_batches())})
        case "pandas":
            shell.push({"orders": pd.DataFrame({"id": [1, 2, 3], "price": [1.5, 2.5, None]}, index=["a", "b", "c"])})
        case "spark":
            shell.push({"orders": frame_of_arrow(kept(shell, "spark"), ORDERS)})
        case "path":
            shell.user_ns.pop("orders")
            given = f"'orders={file}'"
        case "other name":
            shell.push({"mine": shell.user_ns.pop("orders")})
            given = "orders=mine"
        case "dots":
            name, given = "shop.orders", "shop.orders=orders"
    run(shell, f"%%substrait --tables {given}\n{QUERY.replace('orders', name)}")
    [row] = kept(shell, "_rows").to_pylist()
    assert (row["n"], float(row["total"])) == (3, 4.0)


@CLASSIC
def test_how_many_rows_there_are(shell: Any) -> None:
    query = "SELECT explode(sequence(1, 1200)) AS x"
    for options, rows, said in (
        ("", 1000, "the first 1,000 rows; --limit all computes all"),
        ("--limit 1200", 1200, "1,200 rows, "),
        ("--limit 7", 7, "the first 7 rows; "),
        ("--limit all", 1200, "1,200 rows, "),
        ("--limit 0", 0, "the first 0 rows; "),
    ):
        *_, table = run(shell, f"%%substrait {options}\n{query}")
        assert kept(shell, "_rows").num_rows == rows
        assert said in output(table["text/html"]).text


@CLASSIC
def test_what_else_a_cell_may_ask_for(shell: Any) -> None:
    assert len(run(shell, f"%%substrait -t orders --no-run --name made\n{QUERY}")) == 1
    assert "_rows" not in shell.user_ns
    run(shell, f"%%substrait -t orders --no-run --target datafusion --name other\n{QUERY}")
    assert kept(shell, "other") == ps.for_target(kept(shell, "made"), "datafusion")
    page, _ = run(shell, f"%%substrait -t orders --view\n{QUERY}")
    assert "<iframe " in page["text/html"]
    profile, _ = run(shell, f"%%substrait -t orders --profile\n{QUERY}")
    assert "Profile · " in output(profile["text/html"]).text
    assert kept(shell, "_rows").to_pylist() == [{"n": 3, "total": Decimal("4.00")}]


def test_plans_are_cells_and_lines(shell: Any, tmp_path: Path) -> None:
    schema = {"names": ["id"], "struct": {"types": [{"i64": {}}], "nullability": "NULLABILITY_REQUIRED"}}
    read = {"baseSchema": schema, "namedTable": {"names": ["orders"]}}
    plan = ps.load(
        {"version": {"minorNumber": 108}, "relations": [{"root": {"names": ["id"], "input": {"read": read}}}]}
    )
    plan.save(tmp_path / "plan.json")
    shell.push({"mine": plan, "file": str(tmp_path / "plan.json")})
    for cell in (
        f"%%substrait -t orders\n{plan.to_json()}",
        f"%%substrait -t orders\n{plan.to_text()}",
        "%substrait mine --run -t orders",
        f"%substrait {tmp_path / 'plan.json'} --run -t orders",
        "%substrait file --run -t orders",
    ):
        shell.user_ns.pop("_rows", None)
        assert len(run(shell, cell)) == 2
        assert kept(shell, "_rows").to_pylist() == [{"id": 1}, {"id": 2}, {"id": 3}]
        assert kept(shell, "_plan") == plan
    assert len(run(shell, "%substrait mine")) == 1


@pytest.mark.skipif("TEST_REMOTE" in os.environ, reason="plans are made in classic sessions only")
def test_a_table_that_is_no_variable_gets_no_advice(shell: Any) -> None:
    with capture_output() as captured:
        shell.run_cell("%%substrait\nSELECT * FROM nowhere", store_history=False)
    assert "nowhere" in captured.stdout + captured.stderr
    assert "--tables" not in captured.stdout + captured.stderr


@pytest.mark.parametrize(
    ("cell", "kind", "said"),
    [
        ("%%substrait\nSELECT * FROM orders", "InvalidPlanError", "There is a variable of that name: --tables orders"),
        ("%%substrait\nSELEC 1", "InvalidPlanError", "(line 1, column 1)"),
        ("%%substrait -t nothing\nSELECT 1", "TableError", "there is no variable 'nothing'"),
        ("%%substrait -t orders=shell\nSELECT 1", "TableError", "a InteractiveShell, which is not a table"),
        ("%%substrait -t orders orders\nSELECT 1", "TableError", "the table orders is given twice"),
        ("%%substrait --target oracle\nSELECT 1", "UnsupportedPlanError", "oracle"),
        ("%%substrait\nSELECT 1 / x FROM VALUES (0) AS t(x)", "ExecutionError", "zero"),
        ('%%substrait\n{"relations": 3}', "PlanFormatError", "relations"),
        ("%substrait nowhere.json", "PlanFormatError", "there is no file 'nowhere.json'"),
        ("%substrait", "UsageError", "%substrait needs a plan"),
        ("%%substrait --limit few\nSELECT 1", "UsageError", "'few' is not a number of rows"),
        ("%%substrait --name 1x\nSELECT 1", "UsageError", "'1x' is not a name of a variable"),
        ("%%substrait plan\nSELECT 1", "UsageError", "plan: the plan is in the cell"),
        ("%%substrait\n  ;\n", "UsageError", "there is no query"),
    ],
)
def test_an_error_is_short(shell: Any, cell: str, kind: str, said: str) -> None:
    if os.environ.get("TEST_REMOTE") and "SELEC" in cell and kind not in ("TableError", "UsageError"):
        pytest.skip("plans are made in classic sessions only")
    shell.push({"shell": shell})
    with capture_output() as captured:
        result = shell.run_cell(cell, store_history=False)
    assert type(result.error_in_exec).__name__ == kind
    text = captured.stdout + captured.stderr
    assert said in text and "Traceback" not in text and len(text.splitlines()) <= 4


def test_help_lists_the_arguments(shell: Any) -> None:
    text = shell.find_line_magic("substrait").__doc__
    assert all(option in text for option in ("--tables", "--limit", "--no-run", "--profile", "--view", "%substrait"))
