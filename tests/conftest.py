"""Fixtures that many tests share: one Spark session, TPC-H data, DuckDB over the same data, the shared material."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import duckdb
    from pyspark.sql import SparkSession

pytest_plugins = ["tests.selection", "tests.versions"]

# no test depends on a class-data archive of this machine, and none makes one by the way
os.environ["PYSPARK_SUBSTRAIT_ARCHIVE"] = "0"
os.environ["PYSPARK_SUBSTRAIT_KEEP"] = "0"

ROOT = Path(__file__).resolve().parent.parent
if not (ROOT / "src" / "pyspark_substrait" / "specification" / "messages.binpb").is_file():
    subprocess.run([sys.executable, ROOT / "hatch_build.py"], check=True)  # this tree was never installed

#: of a sweep, and of other runs
TPCH_SCALES = ("0.1", "0.01")
#: pyarrow with Substrait (not every wheel has it), and a package that pins another release of the grammar than ours
PEERS = ("pyarrow==22.0.0", "substrait[extensions,sql]==0.37.1")
TPCH_TABLES = ("customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier")
#: the Spark Connect server of the versions of pyspark that come without it; Maven has none for some patch releases
CONNECT_JARS: Mapping[str, str] = {"3.5": "org.apache.spark:spark-connect_2.12:3.5.7"}
#: for small queries, of which each is run once: nothing is compiled for them, in Spark or thoroughly in Java
QUICK_SETTINGS: Mapping[str, str | int] = {
    "spark.driver.memory": "2g",
    "spark.sql.lightweightPlanChangeValidation": "false",
    "spark.sql.shuffle.partitions": 1,
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.driver.extraJavaOptions": "-Xss16m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=200m",
}

SESSION = pytest.StashKey["SparkSession"]()


@pytest.fixture(scope="session")
def spark(request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    """The one Spark session of a process of a test run.

    In a sweep it has the settings of an embedded session, so that Spark makes code for every query; else those under
    which small queries take the least time. It is a Spark Connect session where the variable ``TEST_REMOTE`` names a
    server (``local[2]`` starts one, whose jar Maven fetches where pyspark comes without).
    """
    import pyspark

    from pyspark_substrait.spark.session_start import embedded_session

    remote = os.environ.get("TEST_REMOTE")
    sweep = request.config.getoption("--sweep")
    settings: dict[str, str | int] = {"spark.sql.shuffle.partitions": 2} if sweep else dict(QUICK_SETTINGS)
    jar = CONNECT_JARS.get(pyspark.__version__.rpartition(".")[0])
    if jar is not None and remote is not None and remote.startswith("local"):
        settings["spark.jars.packages"] = jar
    session = embedded_session(None if remote else "local[2]" if sweep else "local[1]", remote, **settings)
    request.config.stash[SESSION] = session
    yield session
    del request.config.stash[SESSION]
    session.stop()


@pytest.fixture(scope="module", autouse=True)
def _session_as_it_was(request: pytest.FixtureRequest) -> Iterator[None]:
    """Drop the temporary views that the tests of a file left in the session; nothing else of it is another one now."""
    yield
    session = request.config.stash.get(SESSION, None)
    if session is not None:
        active: Any = type(session).getActiveSession()
        is_other = active not in (session, None)
        if hasattr(session, "_jsparkSession"):
            # before 4.0, pyspark has several objects of one session
            is_other = is_other and active._jsparkSession != session._jsparkSession
            from pyspark.sql.session import _monkey_patch_RDD

            _monkey_patch_RDD(session)  # newSession has made its session the one of rdd.toDF
        if is_other:
            session.createDataFrame([], "a INT")  # makes it the active one
            pytest.fail("another session was made the active one")
        assert session.catalog.currentCatalog() == "spark_catalog"
        assert session.catalog.currentDatabase() == "default"
        for row in session.sql("SHOW VIEWS").collect():
            if row.isTemporary and not row.namespace:
                session.catalog.dropTempView(row.viewName)  # a name without quotes
        left = [row.tableName for row in session.sql("SHOW TABLES").collect()]
        for name in left:
            session.sql(f"DROP TABLE IF EXISTS `{name}`")
        assert not left, "tables were left"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of plans and specification material beside the repository; tests that need it skip without it."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("no ../shared beside the repository")
    return folder


@pytest.fixture(scope="session")
def tpch(request: pytest.FixtureRequest) -> dict[str, Path]:
    """The eight TPC-H tables as Parquet files, by name. Generated once per machine, then kept."""
    return _tpch_tables(TPCH_SCALES[0 if request.config.getoption("--sweep") else 1])


@pytest.fixture(scope="session")
def larger_tpch() -> dict[str, Path]:
    """The same, always at the scale of a sweep: enough records for every query to have results."""
    return _tpch_tables(TPCH_SCALES[0])


def _tpch_tables(scale: str) -> dict[str, Path]:
    folder = _cache() / f"tpch-{scale}"
    if not folder.is_dir():
        _generate_tpch(folder, scale)
    return {name: folder / f"{name}.parquet" for name in TPCH_TABLES}


@pytest.fixture(scope="session")
def peers() -> Path:
    """The Python of an environment with other makers of Substrait in it. Installed once per machine, then kept."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    folder = _cache() / "-".join(
        ["peers", version, *(re.sub(r"\[.*\]", "", name).replace("==", "-") for name in PEERS)]
    )
    if not folder.is_dir():
        _install_peers(folder)
    return folder / ("Scripts" if os.name == "nt" else "bin") / "python"


@pytest.fixture(scope="session")
def duck(tpch: dict[str, Path]) -> Iterator[duckdb.DuckDBPyConnection]:
    """A DuckDB connection in which every TPC-H table is a view of the same Parquet file that Spark reads."""
    import duckdb

    with duckdb.connect() as connection:
        for name, path in tpch.items():
            quoted = str(path).replace("'", "''")
            connection.execute(f"CREATE VIEW {name} AS FROM read_parquet('{quoted}')")
        yield connection


def _cache() -> Path:
    folder = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(folder, "pyspark-substrait")


def _install_peers(folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as unfinished:
        target = Path(unfinished, "environment")
        python = target / ("Scripts" if os.name == "nt" else "bin") / "python"
        commands: list[list[str | Path]] = [
            [sys.executable, "-m", "venv", target],
            [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1", *PEERS],
            [python, "-c", "import pyarrow.substrait, substrait.sql.sql_to_substrait"],
        ]
        for command in commands:
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                reason = (done.stderr or done.stdout).strip().splitlines()[-1:]
                pytest.skip(f"there is no environment with {' and '.join(PEERS)}: {reason}")
        try:
            target.rename(folder)
        except OSError:
            if not folder.is_dir():
                raise


def _generate_tpch(folder: Path, scale: str) -> None:
    search = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    generator = shutil.which("tpchgen-cli", path=search)
    if generator is None:
        pytest.skip("tpchgen-cli is not installed (it is in the extra `test`)")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as unfinished:
        target = Path(unfinished, "tables")
        subprocess.run(
            [generator, "parquet", "-s", scale, "--output-dir", target], check=True, stdout=subprocess.DEVNULL
        )
        try:
            target.rename(folder)  # in one step, so that a folder with this name is always whole
        except OSError:
            if not folder.is_dir():  # else another run was faster
                raise
