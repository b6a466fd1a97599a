"""The option `--functions`: a user's own functions on the command line."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from pyspark_substrait.cli import main

WORDS = Path(__file__).resolve().parents[1] / "examples" / "functions"
BOTH = ("--functions", WORDS / "words.yaml", "--functions", WORDS / "words.py")


def call(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_commands_know_the_functions() -> None:
    done = call("sql", WORDS / "plan.json", *BOTH)
    assert done.exit_code == 0, done.output
    assert "upper(" in done.stdout
    assert call("validate", WORDS / "plan.json", *BOTH, "--level", "error", "--target", "spark").exit_code == 0
    for command in ("explain", "lint", "lineage"):
        assert "Traceback" not in call(command, WORDS / "plan.json", *BOTH).output
    assert call("sql", WORDS / "plan.json").exit_code == 1


@pytest.mark.since("4.1", "functions of one's own over Arrow arrays")
@pytest.mark.sweep
def test_a_plan_runs_with_them(tmp_path: Path) -> None:
    pq.write_table(pa.table({"word": ["Fête", "fete"], "weight": [2.0, 8.0]}), tmp_path / "words.parquet")
    table = f"words={tmp_path / 'words.parquet'}"
    done = call("run", WORDS / "plan.json", *BOTH, "--table", table, "--format", "json")
    assert done.exit_code == 0, done.output
    assert "FETE!" in done.stdout


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("x = 1", "has no attribute 'with_functions'"),
        ("def with_functions(registry): return 3", "must return a registry"),
        ("1 / 0", "fails: ZeroDivisionError: division by zero"),
        ("def with_functions(registry): return registry.with_function('extension:a:b', 'f', sql='1')", "is not known"),
    ],
)
def test_a_program_that_is_none_is_refused(tmp_path: Path, program: str, message: str) -> None:
    file = tmp_path / "wrong.py"
    file.write_text(program)
    done = call("sql", WORDS / "plan.json", "--functions", file)
    assert done.exit_code in (1, 2)
    assert message in done.stderr
    assert "Traceback" not in done.output
