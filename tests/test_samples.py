"""The sample files: what is in them, and that they are copied without harm."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import pyspark_substrait as substrait
from pyspark_substrait import samples
from pyspark_substrait.cli import main
from tests import sample_files


def test_the_tables_are_those_that_are_worked_out_by_hand() -> None:
    assert {name: pq.read_table(path) for name, path in samples.tables().items()} == sample_files.TABLES


def test_the_plans_are_of_now_and_of_then() -> None:
    assert substrait.load(samples.plan()) == substrait.load(sample_files.plan().to_bytes())
    assert substrait.load(samples.plan()).upgrades == ()
    assert list(substrait.validate(samples.plan(), "spark")) == []
    assert json.loads(samples.plan_2023().read_text(encoding="utf-8"))["version"]["minorNumber"] == 20


def test_the_expression_is_the_one_that_is_described() -> None:
    made = substrait.load_expressions(sample_files.expression().to_bytes())
    assert substrait.load_expressions(samples.expression()) == made
    assert list(substrait.validate(samples.expression(), "spark")) == []


@pytest.mark.sweep
def test_they_run() -> None:
    rows = substrait.run_query(samples.plan(), tables=samples.tables()).to_pylist()
    # by hand: 349.90 + 4 × 329.00; 2 × 499.00 + 489.50; 10 × 19.95; 6 × 4.25
    want = [("Oak Desk", "1665.90"), ("Trail Bicycle", "1487.50"), ("Reading Lamp", "199.50"), (None, "25.50")]
    assert [(row["product_name"], row["sales"]) for row in rows] == [(name, Decimal(text)) for name, text in want]
    totals = substrait.evaluate_arrow(samples.expression(), samples.tables()["orders"]).to_pydict()
    texts = ["998.00", "489.50", "3897.00", "349.90", "1316.00", "199.50", None, "25.50", "12.00"]
    assert totals["total"] == [text and Decimal(text) for text in texts]
    assert totals["large"] == [False, False, False, False, True, True, False, True, False]


def test_the_command_writes_them(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "shop"
    told = CliRunner().invoke(main, ["samples", str(folder)])
    assert told.exit_code == 0, told.output
    assert {path.name for path in folder.iterdir()} == {*samples.FILES}
    assert [line.split()[0] for line in told.output.splitlines()] == [str(folder / name) for name in samples.FILES]
    assert samples.write(folder) == tuple(folder / name for name in samples.FILES)  # they are the samples already


def test_files_of_yours_stay_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "products.parquet").write_bytes(b"mine")
    told = CliRunner().invoke(main, ["samples", str(tmp_path)])
    assert told.exit_code == 1
    assert "products.parquet is there already" in told.output
    assert [path.name for path in tmp_path.iterdir()] == ["products.parquet"]


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(substrait.SubstraitError, match="cannot be written to"):
        samples.write(tmp_path / "file" / "shop")
