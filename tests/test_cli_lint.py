"""The command `lint`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import pyspark_substrait
from pyspark_substrait.cli import main
from pyspark_substrait.documents import as_document
from tests.lint.cases import CASES, FINE, Case


def call(*arguments: str | Path, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)


@pytest.fixture
def poor(tmp_path: Path) -> Path:
    file = tmp_path / "poor.json"
    as_document(CASES["not not"].plan, deep=False).save(file)
    return file


@pytest.fixture
def fine(tmp_path: Path) -> Path:
    file = tmp_path / "fine.pb"
    as_document(Case(FINE["a filter"], ()).plan, deep=False).save(file)
    return file


def test_help() -> None:
    result = call("lint", "--help")
    assert result.exit_code == 0
    for word in ("--fix", "--select", "--ignore", "--format", "--rules", "Examples"):
        assert word in result.stdout


def test_what_is_found(poor: Path, fine: Path) -> None:
    result = call("lint", poor)
    assert result.exit_code == 1
    assert "9001" in result.stdout
    assert "g is negated twice" in result.stdout
    assert "lint --fix" in result.stdout
    assert call("lint", fine).exit_code == 0
    both = call("lint", poor, fine)
    assert (both.exit_code, "2 plans" in both.stdout) == (1, True)


def test_formats(poor: Path, tmp_path: Path) -> None:
    found = json.loads(call("lint", poor, "--format", "json").stdout)[0]
    assert [item["code"] for item in found["findings"]] == [9001]
    assert json.loads(call("lint", poor, "--format", "sarif").stdout)["version"] == "2.1.0"
    page = tmp_path / "page.html"
    assert call("lint", poor, "-o", page).exit_code == 1
    assert "negated twice" in page.read_text(encoding="utf-8")


def test_selection(poor: Path) -> None:
    assert call("lint", poor, "--select", "nested-logic, 9003").exit_code == 0
    assert call("lint", poor, "--select", "double-negation").exit_code == 1
    assert call("lint", poor, "--ignore", "9001").exit_code == 0
    wrong = call("lint", poor, "--ignore", "nonsense")
    assert wrong.exit_code == 2
    assert "'nonsense'" in wrong.stderr


def test_fix_in_place(poor: Path) -> None:
    result = call("lint", poor, "--fix")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "g is negated twice" in result.stderr
    assert "1 finding fixed" in result.stderr
    assert poor.read_bytes().startswith(b"{")  # JSON stays JSON
    assert call("lint", poor).exit_code == 0
    again = call("lint", poor, "--fix")
    assert (again.exit_code, "nothing to fix" in again.stderr) == (0, True)


def test_fix_elsewhere(poor: Path, tmp_path: Path) -> None:
    before, target = poor.read_bytes(), tmp_path / "better.json"
    assert call("lint", poor, "--fix", "-o", target).exit_code == 0
    assert poor.read_bytes() == before
    assert len(pyspark_substrait.lint(target)) == 0
    piped = call("lint", "-", "--fix", stdin=before)
    assert piped.exit_code == 0
    assert json.loads(piped.stdout) == json.loads(target.read_text(encoding="utf-8"))


def test_fix_says_what_is_left(tmp_path: Path) -> None:
    file = tmp_path / "left.pb"
    as_document(CASES["b = b"].plan, deep=False).save(file)
    before = file.read_bytes()
    result = call("lint", file, "--fix")
    assert result.exit_code == 1
    assert "left" in result.stderr
    assert file.read_bytes() == before


def test_wrong_usage(poor: Path, fine: Path, tmp_path: Path) -> None:
    assert call("lint").exit_code == 2
    assert call("lint", poor, fine, "--fix", "-o", tmp_path / "x").exit_code == 2
    assert call("lint", "-", "-", stdin=b"").exit_code == 2
    assert call("lint", poor, "--fix", "--format", "json", "-o", "-").exit_code == 2
    assert call("lint", tmp_path / "nowhere").exit_code == 2


def test_a_broken_plan(tmp_path: Path) -> None:
    file = tmp_path / "broken.json"
    file.write_text('{"relations": [{"root": {"input": {"filter": {}}}}]}')
    assert call("lint", file).exit_code == 1
    before = file.read_bytes()
    result = call("lint", file, "--fix")
    assert (result.exit_code, file.read_bytes()) == (1, before)
    assert "error:" in result.stderr


def test_rules() -> None:
    result = call("lint", "--rules")
    assert (result.exit_code, result.stdout.startswith("# Lint plans")) == (0, True)
