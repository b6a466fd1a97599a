"""The command `upgrade` with plans of earlier releases."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import pyspark_substrait
from pyspark_substrait.cli import main

MIGRATIONS = sorted((Path(__file__).parent / "proto" / "migrations").glob("*.before.json"))


def call(*arguments: str | Path, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    file = tmp_path / "old.json"
    file.write_bytes(MIGRATIONS[0].with_name("fetch-count.before.json").read_bytes())
    return file


def test_each_rewrite_is_told_with_its_reason(old: Path) -> None:
    before = old.read_bytes()
    result = call("upgrade", old, "--check")
    assert result.exit_code == 1
    assert "fetch-count at" in result.stderr
    assert "Since 0.98" in result.stderr
    assert "to upgrade" in result.stderr
    assert old.read_bytes() == before


@pytest.mark.parametrize("path", MIGRATIONS, ids=lambda path: path.name)
def test_findings_as_json(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "new.json"
    result = call("upgrade", path, "-o", target, "--format", "json")
    if result.exit_code:  # the rewritten form is shown, and the plan has another fault
        pytest.skip(result.stderr)
    report = json.loads(result.stdout)
    rewrites = pyspark_substrait.load(path).upgrades
    assert len(report["findings"]) == len(rewrites) > 0
    assert all(item["why"] and item["level"] in ("info", "warning") for item in report["findings"])
    # what was written has nothing to upgrade
    again = call("upgrade", target, "--check", "--format", "json")
    assert (again.exit_code, json.loads(again.stdout)["findings"]) == (0, [])


def test_check_as_json(old: Path) -> None:
    result = call("upgrade", old, "--check", "--format", "json")
    assert result.exit_code == 1
    assert {item["class"] for item in json.loads(result.stdout)["findings"]} >= {"UPGRADED"}


def test_wrong_usage(old: Path) -> None:
    assert call("upgrade", "-", "--format", "json", stdin=old.read_bytes()).exit_code == 2
    assert call("upgrade", old, "--check", "-o", "x").exit_code == 2


def test_a_second_time_there_is_nothing_to_do(old: Path) -> None:
    assert call("upgrade", old).exit_code == 0
    after = old.read_bytes()
    result = call("upgrade", old)
    assert (result.exit_code, old.read_bytes()) == (0, after)
    assert "nothing to upgrade" in result.stderr
