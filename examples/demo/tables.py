"""The two tables of the tutorial "SQL to Substrait", small enough to check the answer by hand."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

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


def write_tables(folder: Path) -> dict[str, Path]:
    """Write both tables as Parquet files; returns their paths by table name."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = {"orders": folder / "orders.parquet", "products": folder / "products.parquet"}
    pq.write_table(ORDERS, paths["orders"])
    pq.write_table(PRODUCTS, paths["products"])
    return paths
