"""The tutorial's query: built it is shorter than its SQL, and it has the tutorial's answer."""

from __future__ import annotations

import re
import runpy
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import pyspark_substrait as ps
from pyspark_substrait import samples
from pyspark_substrait.builder import Frame, fn, read, sum_

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "building.md"


def example(name: str) -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "examples" / name))


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_it_has_the_answer_of_the_tutorial(spark: SparkSession) -> None:
    tables = samples.tables()
    plan = example("building/tutorial.py")["sales"]().to_plan("product_name", "product_id", "sales")
    found = ps.run_query(plan, tables=tables, spark=spark)
    assert sorted(found.to_pylist(), key=lambda row: row["product_id"]) == [
        {"product_name": "Trail Bicycle", "product_id": 1, "sales": Decimal("1487.50")},
        {"product_name": "Oak Desk", "product_id": 3, "sales": Decimal("1665.90")},
        {"product_name": "Reading Lamp", "product_id": 4, "sales": Decimal("199.50")},
        {"product_name": None, "product_id": 5, "sales": Decimal("25.50")},
    ]
    theirs = ps.run_query(samples.plan_2023(), tables=tables, spark=spark)
    ours = sorted(zip(*(column.to_pylist() for column in found.columns), strict=True), key=repr)
    assert ours == sorted(zip(*(column.to_pylist() for column in theirs.columns), strict=True), key=repr)


def test_it_is_shorter_than_its_sql_on_the_page() -> None:
    (sql,), built = blocks("sql"), blocks("python")[0]
    assert len(built) < len(sql)
    assert len(built.splitlines()) < len(sql.splitlines())
    parts = example("building/tutorial.py")
    orders, products = read("orders", parts["ORDERS"]), read("products", parts["PRODUCTS"])
    made = eval(built, {"orders": orders, "products": products, "fn": fn, "sum_": sum_})
    assert isinstance(made, Frame)
    assert made.plan() == parts["sales"]().plan()


@pytest.mark.parametrize("number", [1, 2])
def test_what_the_page_shows_can_be_run(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(blocks("python")[number], {})
