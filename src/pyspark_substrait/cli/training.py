"""``python -m pyspark_substrait.cli.training FILE [BASE]``: a run of Spark, whose Java makes a class-data archive.

It runs samples of what plans do: files, joins, aggregates, windows, sorts, rows of the plan itself, Arrow results.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import pyspark_substrait
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.spark.archive_recording import recording
from pyspark_substrait.spark.results import as_table

__all__ = ["train"]


def train(target: Path, base: Path | None = None) -> None:
    """Run some plans in a session of this process; its Java makes the archive at the end.

    Args:
        target, base: as for :func:`~pyspark_substrait.spark.archive_recording.recording`.

    Raises:
        SubstraitError: Spark did not start, or Java made no archive.
    """
    with recording(target, base), tempfile.TemporaryDirectory(prefix="pyspark-substrait-") as folder:
        _run(Path(folder))


_QUERIES = (
    "SELECT product, sum(price) AS total FROM orders WHERE price > 10 GROUP BY product ORDER BY product",
    "SELECT name, sum(price) AS total FROM orders JOIN products USING (product) GROUP BY name ORDER BY name LIMIT 5",
    "SELECT word, price FROM orders JOIN (VALUES (1, 'one'), (2, 'two')) AS t(number, word) ON product = number "
    "ORDER BY price DESC LIMIT 3",
    "SELECT id, price * 2 AS double, upper(cast(product AS STRING)) AS text FROM orders LIMIT 10",
    "SELECT product, rank() OVER (PARTITION BY product ORDER BY price) AS place FROM orders",
    "SELECT count(*) AS many, avg(price) AS mean, max(day) AS last FROM orders WHERE day > DATE'2024-01-01'",
)


def _run(folder: Path) -> None:
    numbers = range(1000)
    orders = {
        "id": pa.array(numbers, pa.int64()),
        "product": pa.array([number % 7 for number in numbers], pa.int32()),
        "price": pa.array([number / 4 for number in numbers], pa.float64()),
        "day": pa.array([19_000 + number for number in numbers], pa.int32()).cast(pa.date32()),
    }
    products = {"product": pa.array(range(7), pa.int32()), "name": [f"product {number}" for number in range(7)]}
    paths = {}
    for name, columns in (("orders", orders), ("products", products)):
        paths[name] = str(folder / f"{name}.parquet")
        pq.write_table(pa.table(columns), paths[name])
    for text in _QUERIES:
        plan = pyspark_substrait.from_sql(text, tables=paths)
        rows = pyspark_substrait.run_query(plan.to_bytes(), tables=paths, progress=False)
        as_table(rows, types=True)


if __name__ == "__main__":
    try:
        train(*map(Path, sys.argv[1:]))
    except SubstraitError as error:
        sys.exit(f"error: {error}")
