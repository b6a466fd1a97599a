"""A Java program with the Flight SQL JDBC driver, where Maven can bring that."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

import pyspark_substrait
from pyspark_substrait.spark.session import is_connect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.sweep

RELEASE = "18.3.0"
PROGRAM = Path(__file__).with_name("Jdbc.java")


@pytest.fixture(scope="module")
def driver() -> Path:
    """The driver, which Maven downloads once."""
    if shutil.which("mvn") is None or shutil.which("java") is None:
        pytest.skip("Maven brings the driver, and Java runs it")
    artifact = f"org.apache.arrow:flight-sql-jdbc-driver:{RELEASE}"
    command = ["mvn", "-q", "dependency:get", f"-Dartifact={artifact}", "-Dtransitive=false"]
    if subprocess.run(command, capture_output=True, timeout=600).returncode:
        pytest.skip("Maven has no driver")
    home = Path.home() / ".m2" / "repository" / "org" / "apache" / "arrow" / "flight-sql-jdbc-driver" / RELEASE
    return home / f"flight-sql-jdbc-driver-{RELEASE}.jar"


def test_queries_changes_and_metadata(
    driver: Path, spark: SparkSession, tpch: dict[str, Path], duck: duckdb.DuckDBPyConnection
) -> None:
    tables = {"nation": str(tpch["nation"])}
    catalog = [] if is_connect(spark) else ["spark_catalog"]
    counts = ("0", "0") if is_connect(spark) else ("2", "1")  # 0 stands for unknown
    with pyspark_substrait.serve(
        spark, tables=tables, allow_sql=True, allow_writes=True, passwords={"ana": "secret"}
    ) as server:
        java = ["java", "--add-opens=java.base/java.nio=ALL-UNNAMED", "-cp", str(driver), str(PROGRAM)]
        arguments = [str(server.port), "ana", "secret", *catalog]
        done = subprocess.run([*java, *arguments], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    nations = duck.sql("SELECT n_nationkey, n_name FROM nation ORDER BY 1").fetchall()
    some = [
        row
        for key in (3, 10)
        for row in duck.execute(
            "SELECT n_name FROM nation WHERE n_nationkey > ? AND n_name LIKE '%I%' ORDER BY 1 LIMIT 2", [key]
        ).fetchall()
    ]
    assert done.stdout.splitlines() == [
        *(f"{key} {name}" for key, name in nations),
        *("0", *counts, "42", "0"),
        "session VARCHAR",
        *(name for (name,) in some),
        "true",
        *catalog,
    ]
