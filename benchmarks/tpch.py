"""The TPC-H queries, their plans and their data."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["CACHE", "PLANS", "QUERIES", "TABLES", "files", "plan_file", "require_plans", "sql", "views"]

ROOT = Path(__file__).resolve().parent.parent
PLANS = ROOT.parent / "shared" / "plans" / "tpch"
CACHE = Path.home() / ".cache" / "pyspark-substrait"
TABLES = ("customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier")
QUERIES = [f"q{number:02}" for number in range(1, 23)]


def require_plans() -> None:
    """End with a message where the plans are missing."""
    if not PLANS.is_dir():
        raise click.ClickException(
            "the TPC-H plans are missing: there is no ../shared/plans/tpch beside the repository"
        )


def plan_file(producer: str, query: str) -> Path:
    """The plan of a query by ``datafusion`` (bytes) or ``isthmus`` (JSON; it has no q15)."""
    return PLANS / producer / f"{query}.{'pb' if producer == 'datafusion' else 'json'}"


def sql(query: str) -> str:
    """The text of a query."""
    return (PLANS / "sql" / f"{query}.sql").read_text().strip().rstrip(";")


def files(scale: str) -> dict[str, Path]:
    """The Parquet file of each table at a scale factor; made once, under the cache directory."""
    folder = CACHE / f"tpch-{scale}"
    if not folder.is_dir():
        generator = Path(sys.executable).with_name("tpchgen-cli")
        unfinished = folder.with_name(f"{folder.name}.new")
        unfinished.mkdir(parents=True, exist_ok=True)
        subprocess.run([generator, "parquet", "-s", scale, "--output-dir", unfinished], check=True)
        unfinished.rename(folder)
    return {name: folder / f"{name}.parquet" for name in TABLES}


def views(spark: SparkSession, scale: str) -> None:
    """The tables as views of the session, for both sides of a comparison."""
    for name, path in files(scale).items():
        spark.read.parquet(str(path)).createOrReplaceTempView(name)
