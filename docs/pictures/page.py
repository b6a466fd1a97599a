"""Pictures of the page of a plan: as it opens, with a lineage, and with a profile."""

from __future__ import annotations

import datetime
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

import pyspark_substrait as substrait
from docs.pictures.browser import opened, take
from docs.pictures.picture import SCHEMES, Picture, Scheme
from pyspark_substrait.builder import avg, read, scalar, sum_

_ORDERS = {"product_id": "i64", "quantity": "i32", "order_date": "date", "price": "decimal?<10, 2>"}
_PRODUCTS = {"product_id": "i64", "categories": "list?<string?>", "product_name": "string?"}


def dear() -> substrait.Plan:
    """The products, by what was sold of them for more than their usual price."""
    orders, products = read("orders", _ORDERS), read("products", _PRODUCTS)
    usual = read("orders", _ORDERS)
    dear = orders.filter(
        lambda o: (
            o.price > scalar(usual.filter(lambda u: u.product_id == o.product_id).agg(usual=avg(lambda u: u.price)))
        )
    )
    sold = dear.join(products, "product_id").group_by("product_name").agg(sales=sum_(lambda o: o.quantity * o.price))
    return sold.to_plan()


def _make(scheme: Scheme, clicked: str, folder: Path, target: Path) -> None:
    page = folder / "page.html"
    substrait.view(dear(), name="dear.json").save(page)
    _take(page, scheme, target, clicked)


def _make_profile(scheme: Scheme, folder: Path, target: Path) -> None:
    page = folder / "profile.html"
    if not page.exists():
        substrait.view(substrait.profile(dear(), tables=_tables()), name="dear.json").save(page)
    _take(page, scheme, target, "")


def _tables() -> dict[str, pa.Table]:
    """Enough orders for a run to take some time: of a tenth of the products, most are sold at their usual price."""
    numbers = range(300_000)
    start = datetime.date(2026, 1, 1)
    orders = {
        "product_id": pa.array([number % 4_000 for number in numbers], pa.int64()),
        "quantity": pa.array([number % 7 + 1 for number in numbers], pa.int32()),
        "order_date": pa.array([start + datetime.timedelta(days=number % 300) for number in numbers]),
        "price": pa.array([number % 4_000 / 10 + (number % 9 == 0) for number in numbers], pa.float64()),
    }
    products = {
        "product_id": pa.array(range(400), pa.int64()),
        "categories": pa.array([["Tools"]] * 400),
        "product_name": pa.array([f"product {number % 90}" for number in range(400)]),
    }
    made = pa.table(orders).set_column(3, "price", pa.table(orders)["price"].cast(pa.decimal128(10, 2)))
    return {"orders": made, "products": pa.table(products)}


def _take(page: Path, scheme: Scheme, target: Path, clicked: str) -> None:
    with opened(page, scheme, width=1440, height=720) as browser:
        browser.execute_script("location.hash = arguments[0]", clicked)
        if ":" in clicked:  # a lineage is all on the drawing
            browser.execute_script("document.getElementById('panel-toggle').click()")
        browser.execute_script("document.querySelector('[data-action=fit]').click()")
        _wait(browser)
        take(browser, target)


def _wait(browser: Any) -> None:
    """Until what glides has arrived."""
    browser.execute_async_script("const done = arguments[0]; setTimeout(done, 600)")


PICTURES = tuple(
    picture
    for scheme in SCHEMES
    for picture in (
        Picture(f"page-{scheme}.png", partial(_make, scheme, "#n2")),
        Picture(f"lineage-{scheme}.png", partial(_make, scheme, "#n0:1")),
        Picture(f"profile-{scheme}.png", partial(_make_profile, scheme)),
    )
)
