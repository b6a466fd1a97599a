"""The Go program of examples/serve/go, where Go and its modules are there."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

import pyspark_substrait
from pyspark_substrait.builder import read

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.sweep(sample=0)

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "serve" / "go"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, which Go builds once."""
    go = shutil.which("go") or shutil.which("/usr/local/go/bin/go")
    if go is None:
        pytest.skip("there is no Go")
    target = tmp_path_factory.mktemp("go") / "client"
    if subprocess.run([go, "mod", "download"], cwd=FOLDER, capture_output=True, timeout=600).returncode:
        pytest.skip("Go has not the modules of the program")
    subprocess.run([go, "build", "-o", str(target), "."], cwd=FOLDER, check=True, timeout=900)
    return target


def test_a_plan_and_a_text(
    program: Path, spark: SparkSession, tpch: dict[str, Path], duck: duckdb.DuckDBPyConnection, tmp_path: Path
) -> None:
    nation = read("nation", {"n_nationkey": "i64?", "n_name": "string?"})
    plan = tmp_path / "plan.pb"
    plan.write_bytes(nation.filter(lambda n: n.n_nationkey < 5).to_plan().to_bytes())
    text = "SELECT n_name, n_nationkey FROM nation WHERE n_nationkey >= 5"
    with pyspark_substrait.serve(spark, tables={"nation": str(tpch["nation"])}, allow_sql=True) as server:
        arguments = [str(program), server.uri.removeprefix("grpc://"), str(server.token), str(plan), text]
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=300, check=False)
        arguments[2] = "wrong"
        refused = subprocess.run(arguments, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    expected = [
        *duck.sql("SELECT n_nationkey, n_name FROM nation WHERE n_nationkey < 5").fetchall(),
        *duck.sql(text).fetchall(),
    ]
    assert sorted(done.stdout.splitlines()) == sorted("\t".join(map(str, row)) for row in expected)
    assert refused.returncode == 1 and "is not one of this server" in refused.stderr


def test_the_page_shows_the_program() -> None:
    page = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")
    shown = page.partition("```go\n")[2].partition("```\n")[0].splitlines()
    program = [line.removeprefix("\t") for line in (FOLDER / "main.go").read_text(encoding="utf-8").splitlines()]
    start = program.index(shown[0])
    assert program[start : start + len(shown)] == shown
