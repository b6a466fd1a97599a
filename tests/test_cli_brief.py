"""Which runs of the command line are taken to be over in seconds."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyspark_substrait import load
from pyspark_substrait.builder import Frame, read
from pyspark_substrait.cli.run import read_paths
from pyspark_substrait.cli.startup_estimate import is_brief
from pyspark_substrait.documents import Plan


@pytest.fixture
def table(tmp_path: Path) -> Path:
    file = tmp_path / "table.parquet"
    file.write_bytes(b"some bytes")
    return file


def _loaded(frame: Frame) -> Plan:
    loaded = load(frame.to_plan().to_bytes())
    assert isinstance(loaded, Plan)
    return loaded


def _orders() -> Frame:
    return read("orders", {"id": "i64", "product": "i64"})


def _products() -> Frame:
    return read("products", {"number": "i64", "name": "string"})


def test_little_data(table: Path) -> None:
    assert is_brief([str(table)], _loaded(_orders().filter(lambda order: order.id > 3)))
    assert is_brief([str(table.parent)])


def test_much_data(table: Path) -> None:
    with table.open("r+b") as file:
        file.truncate(17 * 1024 * 1024)
    assert not is_brief([str(table)])
    assert not is_brief([str(table.parent)])


def test_many_files(table: Path) -> None:
    for number in range(300):
        table.with_name(f"{number}.parquet").touch()
    assert not is_brief([str(table.parent)])


def test_data_that_are_not_known(table: Path) -> None:
    assert not is_brief([])
    assert not is_brief([str(table), str(table.with_name("*.parquet"))])


def test_joins(table: Path) -> None:
    by_key = _orders().join(_products(), on=lambda order, product: order.product == product.number)
    by_order = _orders().join(_products(), on=lambda order, product: order.product < product.number)
    assert is_brief([str(table)], _loaded(by_key))
    assert not is_brief([str(table)], _loaded(by_order))
    assert not is_brief([str(table)], _loaded(_orders().cross_join(_products())))


def test_a_join_below_a_root_and_a_filter(table: Path) -> None:
    pairs = _orders().cross_join(_products()).filter(lambda row: row.id > 3).sort("id")
    assert not is_brief([str(table)], _loaded(pairs))


def test_tables_that_a_plan_does_not_read_do_not_count(tmp_path: Path) -> None:
    paths = {name: str(tmp_path / name) for name in ("Orders", "products", "lines")}
    joined = _orders().join(_products(), on=lambda order, product: order.product == product.number)
    assert read_paths(_loaded(_orders()), paths, None) == [paths["Orders"]]
    assert read_paths(_loaded(joined), paths, None) == [paths["Orders"], paths["products"]]
