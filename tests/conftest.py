"""Fixtures that many tests share: one Spark session, TPC-H data, DuckDB over the same data, the shared material."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import duckdb
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parent.parent
TPCH_SCALE = "0.1"
TPCH_TABLES = ("customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier")


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The one Spark session of a test run, with the settings of an embedded one.

    It is a Spark Connect session where the variable ``TEST_REMOTE`` names a server (``local[2]`` starts one).
    """
    from pyspark_substrait.spark.session import embedded_session

    remote = os.environ.get("TEST_REMOTE")
    session = embedded_session(None if remote else "local[2]", remote, **{"spark.sql.shuffle.partitions": 2})
    yield session
    session.stop()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of plans and specification material beside the repository; tests that need it skip without it."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("no ../shared beside the repository")
    return folder


@pytest.fixture(scope="session")
def tpch() -> dict[str, Path]:
    """The eight TPC-H tables at scale 0.1 as Parquet files, by name. Generated once per machine, then kept."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = Path(cache, "pyspark-substrait", f"tpch-{TPCH_SCALE}")
    if not folder.is_dir():
        _generate_tpch(folder)
    return {name: folder / f"{name}.parquet" for name in TPCH_TABLES}


@pytest.fixture(scope="session")
def duck(tpch: dict[str, Path]) -> Iterator[duckdb.DuckDBPyConnection]:
    """A DuckDB connection in which every TPC-H table is a view of the same Parquet file that Spark reads."""
    import duckdb

    with duckdb.connect() as connection:
        for name, path in tpch.items():
            quoted = str(path).replace("'", "''")
            connection.execute(f"CREATE VIEW {name} AS FROM read_parquet('{quoted}')")
        yield connection


def _generate_tpch(folder: Path) -> None:
    search = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    generator = shutil.which("tpchgen-cli", path=search)
    if generator is None:
        pytest.skip("tpchgen-cli is not installed (it is in the extra `test`)")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as unfinished:
        target = Path(unfinished, "tables")
        subprocess.run(
            [generator, "parquet", "-s", TPCH_SCALE, "--output-dir", target], check=True, stdout=subprocess.DEVNULL
        )
        try:
            target.rename(folder)  # in one step, so that a folder with this name is always whole
        except OSError:
            if not folder.is_dir():  # else another run was faster
                raise
