"""The command `bind`."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

import pyspark_substrait as ps
from pyspark_substrait.builder import read
from pyspark_substrait.cli import main


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    plan = read("ORDERS", {"ID": "i64", "NAME": "string?"}).select("NAME", "ID").to_plan()
    plan.save(tmp_path / "plan.json")
    pq.write_table(pa.table({"name": ["a"], "id": pa.array([1], pa.int32())}), tmp_path / "orders.parquet")
    return tmp_path


def call(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["bind", *map(str, arguments)])


def test_a_plan_is_fitted_and_the_changes_are_listed(folder: Path) -> None:
    done = call(folder / "plan.json", "--table", f"orders={folder / 'orders.parquet'}", "-o", folder / "bound.pb")
    assert done.exit_code == 0, done.output
    assert "the table ORDERS → the table orders" in done.stderr
    assert "ID as i64 → cast from i32?" in done.stderr
    expected = ps.bind(folder / "plan.json", {"orders": folder / "orders.parquet"})
    assert ps.load(folder / "bound.pb").relations == expected.relations


def test_it_goes_to_standard_output_in_its_form(folder: Path) -> None:
    table = f"facts={folder / 'orders.parquet'}"
    done = call(folder / "plan.json", "--table", table, "--rename", "ORDERS=facts", "--target", "datafusion")
    assert done.exit_code == 0, done.output
    assert '"facts"' in done.stdout and done.stdout.startswith("{")


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--rename", "ORDERS"], 2, "TABLE=NAME"),
        (["--rename", "A=b", "--rename", "A=c"], 2, "renamed twice"),
        (["--rename", "ORDERS=others"], 1, "there is no table others"),
        (["--target", "nothing"], 1, "there is no target `nothing`"),
    ],
)
def test_what_is_wrong_is_said(folder: Path, options: list[str], code: int, message: str) -> None:
    done = call(folder / "plan.json", "--table", f"orders={folder / 'orders.parquet'}", *options)
    assert done.exit_code == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr
