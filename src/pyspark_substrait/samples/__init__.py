"""Sample data to try things with: the tables of a small shop, plans over them, and an expression.

    >>> from pyspark_substrait import load, run_query, samples
    >>> load(samples.plan())
    <Plan 0.108.0: 6 relations, result (product_name, product_id, sales)>
    >>> run_query(samples.plan(), tables=samples.tables())                  # doctest: +SKIP

The plans ask how much was sold of each product that is not a computer.
"""

from __future__ import annotations

import os
from pathlib import Path

from pyspark_substrait.errors import SubstraitError

__all__ = ["FILES", "expression", "plan", "plan_2023", "tables", "write"]

FILES = {
    "orders.parquet": "9 orders: product_id, quantity, order_date, price",
    "products.parquet": "6 products: product_id, categories, details, product_name",
    "plan.json": "a plan: the sales of each product that is not a computer",
    "plan.2023.json": "the same question, in a plan that was written in 2023",
    "expression.json": "an extended expression over orders: their totals, and whether they are large",
}
"""The files, and the content of each."""

_HERE = Path(__file__).parent


def tables() -> dict[str, Path]:
    """Return the Parquet files of the tables ``orders`` and ``products``, by name."""
    return {name: _HERE / f"{name}.parquet" for name in ("orders", "products")}


def plan() -> Path:
    """Return the file of a plan of the current release, over both tables."""
    return _HERE / "plan.json"


def plan_2023() -> Path:
    """Return the file of a plan that was written in 2023, over both tables: the specification's tutorial has it."""
    return _HERE / "plan.2023.json"


def expression() -> Path:
    """Return the file of an extended expression over the table ``orders``."""
    return _HERE / "expression.json"


def write(folder: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Copy the sample files to a folder, which is made if it is missing, and return their paths there.

    Raises:
        SubstraitError: the folder has another file of one of these names, or can't be written.
    """
    targets = {name: Path(folder, name) for name in FILES}
    contents = {name: (_HERE / name).read_bytes() for name in FILES}
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name, target in targets.items():
            if target.exists() and target.read_bytes() != contents[name]:
                raise SubstraitError(f"{target} is there already, and is not the sample", hint="Name another folder")
        for name, target in targets.items():
            target.write_bytes(contents[name])
    except OSError as error:
        raise SubstraitError(f"the samples cannot be written to {folder}: {error.strerror or error}") from error
    return tuple(targets.values())
