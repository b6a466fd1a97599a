"""The contents of the sample files, small enough to check every answer by hand.

``python -m tests.sample_files`` writes those files anew that are made here: all but the plan of 2023.
"""

from __future__ import annotations

import runpy
from datetime import date
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pyspark_substrait import samples
from pyspark_substrait.builder import Frame, extended_expression
from pyspark_substrait.documents import ExtendedExpression, Plan

ROOT = Path(__file__).resolve().parent.parent

ORDERS = pa.table(
    {
        "product_id": [1, 1, 2, 3, 3, 4, 4, 5, 7],
        "quantity": [2, 1, 3, 1, 4, 10, 1, 6, 1],
        "order_date": [
            date(2023, 1, 5),
            date(2023, 2, 11),
            date(2023, 1, 20),
            date(2023, 1, 22),
            date(2023, 3, 2),
            date(2023, 2, 14),
            date(2023, 3, 30),
            date(2023, 3, 21),
            date(2023, 4, 1),
        ],
        "price": [
            Decimal(text) if text else None
            for text in ("499.00", "489.50", "1299.00", "349.90", "329.00", "19.95", None, "4.25", "12.00")
        ],
    },
    schema=pa.schema(
        [
            pa.field("product_id", pa.int64(), nullable=False),
            pa.field("quantity", pa.int32(), nullable=False),
            pa.field("order_date", pa.date32(), nullable=False),
            pa.field("price", pa.decimal128(10, 2)),
        ]
    ),
)

PRODUCTS = pa.table(
    {
        "product_id": [1, 2, 3, 4, 5, 6],
        "categories": [["Outdoor", "Sports"], ["Electronics", "Computers"], ["Furniture"], [], ["Garden"], ["Games"]],
        "details": [
            {"manufacturer": "Alpina", "year_created": 2021},
            {"manufacturer": "Analytical Engines", "year_created": 2022},
            {"manufacturer": "Nordholz", "year_created": 2019},
            None,
            {"manufacturer": None, "year_created": 2020},
            {"manufacturer": "Staunton", "year_created": 1849},
        ],
        "product_name": ["Trail Bicycle", "Notebook", "Oak Desk", "Reading Lamp", None, "Chess Set"],
    },
    schema=pa.schema(
        [
            pa.field("product_id", pa.int64(), nullable=False),
            pa.field("categories", pa.list_(pa.field("element", pa.string(), nullable=False)), nullable=False),
            pa.field(
                "details", pa.struct([pa.field("manufacturer", pa.string()), pa.field("year_created", pa.int32())])
            ),
            pa.field("product_name", pa.string()),
        ]
    ),
)

TABLES = {"orders": ORDERS, "products": PRODUCTS}
SCHEMA = {"quantity": "i32", "price": "decimal?<10, 2>"}


def plan() -> Plan:
    """The query that ``examples/building`` builds, sorted."""
    sales: Frame = runpy.run_path(str(ROOT / "examples" / "building" / "tutorial.py"))["sales"]()
    return sales.sort(lambda row: row.sales.desc()).to_plan()


def expression() -> ExtendedExpression:
    """The total of each order, and whether it is large."""
    return extended_expression(
        SCHEMA, {"total": lambda order: order.quantity * order.price, "large": lambda order: order.quantity > 3}
    )


def write() -> None:
    """Write the files."""
    for name, path in samples.tables().items():
        pq.write_table(TABLES[name], path, compression="zstd", write_statistics=True)
    plan().save(samples.plan())
    expression().save(samples.expression())


if __name__ == "__main__":
    write()
