"""The command line: arguments, exit codes and where output goes. What the library does is tested with the library."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

import pyspark_substrait
from pyspark_substrait import samples
from pyspark_substrait.cli import main
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model.notes import Note

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parent.parent
TUTORIAL = samples.plan_2023()


class FakePlan:
    """Stands for a loaded plan."""

    def __init__(self, *upgrades: Note) -> None:
        self.upgrades = upgrades

    def to_json(self) -> str:
        return '{"current": true}'

    def to_bytes(self) -> bytes:
        return b"\x32\x00"

    def save(self, path: Path, *, format: str) -> None:
        path.write_bytes(self.to_json().encode() + b"\n" if format == "json" else self.to_bytes())


NOTE = Note(rule="uri-to-urn", path="extensionUris[0]", before="a URI", after="a URN")


@pytest.fixture
def plan_file(tmp_path: Path) -> Path:
    file = tmp_path / "plan.json"
    file.write_text('\n {"old": true}')
    return file


def use_plan(monkeypatch: pytest.MonkeyPatch, plan: FakePlan) -> None:
    monkeypatch.setattr(pyspark_substrait, "load", lambda source, **_: plan, raising=False)


def call(*arguments: str | Path, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)


def test_every_command_has_help() -> None:
    overview = call("--help")
    assert overview.exit_code == 0
    for command in ("run", "evaluate", "sql", "explain", "convert", "upgrade"):
        assert f"  {command} " in overview.output
        assert call(command, "--help").exit_code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["frobnicate"],
        ["explain"],
        ["explain", "absent.json"],
        ["run", "PLAN", "--table", "orders"],
        ["run", "PLAN", "--table", "=x.parquet"],
        ["run", "PLAN", "--table", "orders=absent.parquet"],
        ["run", "PLAN", "--table", "orders=PLAN"],
        ["run", "PLAN", "--table", "orders=.", "--table", "orders=."],
        ["run", "PLAN", "--limit", "-1"],
        ["run", "PLAN", "--format", "xml"],
        ["run", "PLAN", "--format", "csv", "--types"],
        ["run", "PLAN", "--output", "rows.csv", "--width", "80"],
        ["run", "PLAN", "--output", "rows.csv", "--format", "table"],
        ["run", "PLAN", "--width", "3"],
        ["run", "PLAN", "--output", "rows.txt"],
        ["run", "PLAN", "--master", "local", "--remote", "sc://x"],
        ["evaluate", "PLAN"],
        ["evaluate", "PLAN", "--data", "absent.parquet"],
        ["evaluate", "PLAN", "--data", ".", "--format", "json", "--all"],
        ["convert", "PLAN", "x.json", "--to", "xml"],
        ["upgrade", "PLAN", "--check", "--output", "x.json"],
    ],
)
def test_wrong_usage_is_2(arguments: list[str], plan_file: Path) -> None:
    result = call(*(argument.replace("PLAN", str(plan_file)) for argument in arguments))
    assert result.exit_code == 2, result.output
    assert "Usage:" in result.output


@pytest.mark.parametrize("command", ["sql"])
def test_a_bad_plan_is_1_with_one_line(command: str, plan_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: Any, *, strict: bool = False) -> FakePlan:
        raise InvalidPlanError("there is no relation", path="relations", hint="Add one")

    monkeypatch.setattr(pyspark_substrait, "load", refuse, raising=False)
    result = call(command, plan_file)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr == "error: relations: there is no relation. Add one\n"


@pytest.mark.parametrize(("command", "verb"), [("sql", "to_sql"), ("explain", "explain")])
def test_text_goes_to_standard_output(
    command: str, verb: str, plan_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_plan(monkeypatch, FakePlan())
    monkeypatch.setattr(pyspark_substrait, verb, lambda plan, **options: "the text", raising=False)
    assert call(command, plan_file).stdout == "the text\n"
    assert call(command, "-", stdin=b"{}").stdout == "the text\n"


@pytest.mark.parametrize(
    ("target", "options", "content"),
    [
        ("out.json", [], b'{"current": true}\n'),
        ("out.pb", [], b"\x32\x00"),
        ("out.bin", [], b"\x32\x00"),
        ("out.pb", ["--to", "json"], b'{"current": true}\n'),
        ("out.json", ["--to", "pb"], b"\x32\x00"),
    ],
)
def test_convert(
    target: str, options: list[str], content: bytes, plan_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_plan(monkeypatch, FakePlan(NOTE))
    result = call("convert", plan_file, plan_file.parent / target, *options)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "1 old form upgraded" in result.stderr
    assert (plan_file.parent / target).read_bytes() == content


def test_convert_to_standard_output(plan_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_plan(monkeypatch, FakePlan())
    assert call("convert", plan_file, "-").stdout_bytes == b"\x32\x00"


def test_upgrade_check_writes_nothing(plan_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = plan_file.read_bytes()
    use_plan(monkeypatch, FakePlan(NOTE))
    result = call("upgrade", plan_file, "--check")
    assert result.exit_code == 1
    assert str(NOTE) in result.stderr
    assert plan_file.read_bytes() == before
    use_plan(monkeypatch, FakePlan())
    assert call("upgrade", plan_file, "--check").exit_code == 0


def test_upgrade_keeps_the_form(plan_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_plan(monkeypatch, FakePlan(NOTE))
    assert call("upgrade", plan_file).exit_code == 0
    assert plan_file.read_bytes() == b'{"current": true}\n'
    binary = plan_file.with_name("plan.pb")
    binary.write_bytes(b"\x0a\x00")
    assert call("upgrade", binary, "-o", plan_file).exit_code == 0
    assert (binary.read_bytes(), plan_file.read_bytes()) == (b"\x0a\x00", b"\x32\x00")
    assert call("upgrade", "-", stdin=b' {"old": true}').stdout == '{"current": true}\n'


def test_upgrade_leaves_a_current_plan_alone(plan_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = plan_file.read_bytes()
    use_plan(monkeypatch, FakePlan())
    result = call("upgrade", plan_file)
    assert (result.exit_code, plan_file.read_bytes()) == (0, before)
    assert "nothing to upgrade" in result.stderr


@pytest.mark.parametrize(
    "arguments", [["--help"], ["explain", str(TUTORIAL)], ["sql", str(TUTORIAL)], ["upgrade", "--check", str(TUTORIAL)]]
)
def test_without_spark_nothing_imports_it(arguments: list[str]) -> None:
    code = (
        "import sys; from pyspark_substrait.cli import main\n"
        f"try: main({arguments!r})\n"
        "except SystemExit as end: assert end.code in (0, 1), end.code\n"
        "assert 'pyspark' not in sys.modules"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def tables() -> list[str]:
    """The sample tables as arguments of ``run``."""
    return [word for name, path in samples.tables().items() for word in ("--table", f"{name}={path}")]


# Worked out by hand from the rows in tests/sample_files.py: quantity × price, summed, without product 2 (a computer),
# 6 (never ordered) and 7 (ordered, but no product).
SALES = {
    (1, "Trail Bicycle", Decimal("1487.50")),
    (3, "Oak Desk", Decimal("1665.90")),
    (4, "Reading Lamp", Decimal("199.50")),
    (5, None, Decimal("25.50")),
}


def test_functions_lists_them() -> None:
    result = call("functions", "functions_boolean")
    assert result.exit_code == 0
    rows = [line.split() for line in result.stdout.splitlines()]
    assert ["functions_boolean", "and_not", "scalar", "1", "1", "0"] in rows
    assert {row[0] for row in rows[1:]} == {"functions_boolean"}


def test_functions_shows_one() -> None:
    result = call("functions", "lt")
    assert result.exit_code == 0
    assert "lt(x: any1, y: any1) -> boolean" in result.stdout
    assert "lt:any_any in Spark SQL" in result.stdout and "  x < y" in result.stdout


def test_functions_shows_those_of_an_extension_file() -> None:
    file = ROOT / "examples" / "functions" / "words.yaml"
    result = call("functions", "shout", "--extension", file)
    assert result.exit_code == 0
    assert "marks: ONE | THREE" in result.stdout
    assert "Refused" in result.stdout and "no Spark form" in result.stdout


def test_functions_of_an_unknown_name() -> None:
    result = call("functions", "frobnicate")
    assert result.exit_code == 2
    assert "there is no function or extension 'frobnicate'" in result.stderr


def test_run_prints_the_rows(spark: SparkSession, tables: list[str]) -> None:
    result = call("run", TUTORIAL, *tables, "--types")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["product_name", "product_id", "sales"]
    assert lines[1].replace(" not null", "").split() == ["string", "int64", "decimal128(38,", "2)"]
    assert {tuple(line.split()[-2:]) for line in lines[3:]} == {(str(key), str(sales)) for key, _, sales in SALES}
    assert "4 rows" in result.stderr


def test_run_says_when_there_is_more(spark: SparkSession, tables: list[str]) -> None:
    result = call("run", TUTORIAL, *tables, "--limit", "2")
    assert len(result.stdout.splitlines()) == 2 + 2  # a heading, a rule, two rows
    assert "2 rows shown of more" in result.stderr


#: what a format holds, as (product_id, product_name, sales); read by what isn't ours
READERS: dict[str, Callable[[bytes], Iterable[tuple[Any, ...]]]] = {
    "parquet": lambda content: _keyed(pq.read_table(pa.BufferReader(content)).to_pylist()),
    "arrow": lambda content: _keyed(_arrow(content).to_pylist()),
    "json": lambda content: _keyed(json.loads(line) for line in content.decode().splitlines()),
    "csv": lambda content: _keyed(csv.DictReader(io.StringIO(content.decode()))),
    "markdown": lambda content: (
        (cells[2], cells[1], cells[3])
        for line in content.decode().splitlines()[2:]
        if (cells := [cell.strip() for cell in line.split("|")])
    ),
}
SUFFIX = {"markdown": "md"}


def _keyed(rows: Iterable[dict[str, Any]]) -> Iterable[tuple[Any, ...]]:
    return ((row["product_id"], row["product_name"], row["sales"]) for row in rows)


def _arrow(content: bytes) -> pa.Table:
    """A stream, or a file, which begins with a word of its own."""
    return (pa.ipc.open_file if content.startswith(b"ARROW1") else pa.ipc.open_stream)(content).read_all()


@pytest.mark.parametrize("form", READERS)
@pytest.mark.parametrize("into", ["file", "output"])
def test_run_writes(spark: SparkSession, tables: list[str], tmp_path: Path, form: str, into: str) -> None:
    """The same rows to a file and to standard output, which has nothing but them, and all of them."""
    file = tmp_path / f"rows.{SUFFIX.get(form, form)}"
    result = call("run", TUTORIAL, *tables, *(["--output", file] if into == "file" else ["--format", form]))
    assert result.exit_code == 0, result.output
    assert result.stderr == (f"4 rows written to {file}\n" if into == "file" else "")
    assert (result.stdout_bytes == b"") == (into == "file")
    rows = READERS[form](file.read_bytes() if into == "file" else result.stdout_bytes)
    empty = {"csv": "", "markdown": "*null*"}.get(form)
    found = {(int(key), None if name == empty else name, Decimal(sales)) for key, name, sales in rows}
    assert found == {(key, *rest) for key, *rest in SALES}


def test_run_refuses_binary_on_a_terminal(plan_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyspark_substrait.cli.rows.to_terminal", lambda: True)
    result = call("run", plan_file, "--format", "arrow")
    assert result.exit_code == 2 and "arrow cannot be shown on a terminal" in result.stderr


def test_run_says_what_is_left_out(spark: SparkSession, tables: list[str]) -> None:
    result = call("run", TUTORIAL, *tables, "--width", "20")
    assert result.stdout.splitlines()[0].split() == ["product_name"]
    assert "2 more columns: product_id, sales; --all or --width N shows more\n4 rows\n" in result.stderr
    assert "sales" in call("run", TUTORIAL, *tables, "--width", "20", "--all").stdout


def test_ctrl_c_is_130_with_one_line(plan_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> FakePlan:
        raise KeyboardInterrupt("stopped: the Spark job was cancelled")

    monkeypatch.setattr(pyspark_substrait, "load", interrupted)
    result = call("run", plan_file)
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "stopped: the Spark job was cancelled\n")
