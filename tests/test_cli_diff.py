"""The command that compares plans: arguments, exit codes, where output goes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pyspark_substrait.cli import main
from tests.diff.goldens import PAGES, PAIRS


@pytest.fixture
def plans(tmp_path: Path) -> tuple[Path, Path]:
    """Two plans that differ, one as JSON and one binary."""
    before, after = PAIRS["two-conditions"]()
    before.save(tmp_path / "before.json")
    after.save(tmp_path / "after.pb")
    return tmp_path / "before.json", tmp_path / "after.pb"


def call(*arguments: str | Path, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(main, ["diff", *map(str, arguments)], input=stdin)


def test_plans_that_differ(plans: tuple[Path, Path]) -> None:
    result = call(*plans)
    assert result.exit_code == 1
    assert result.stdout == (PAGES / "two-conditions.txt").read_text(encoding="utf-8")


def test_plans_that_mean_the_same(plans: tuple[Path, Path]) -> None:
    result = call(plans[0], plans[0])
    assert result.exit_code == 0
    assert result.stdout == "The plans mean the same.\n"


def test_json(plans: tuple[Path, Path]) -> None:
    result = call(*plans, "--json")
    assert result.exit_code == 1
    content = json.loads(result.stdout)
    assert content["same"] is False
    assert content["changes"][0] == {
        "kind": "condition",
        "what": "the condition `price > 10` of the Filter over orders became `price >= 10`",
        "before": "price > 10",
        "after": "price >= 10",
        "path_a": "relations[0].root.input.fetch.input.sort.input.aggregate.input.project.input.join.left.filter"
        ".condition.scalar_function.arguments[0].value",
        "path_b": "relations[0].root.input.fetch.input.sort.input.aggregate.input.project.input.join.left.filter"
        ".condition.scalar_function.arguments[1].value",
    }
    same = call(plans[0], plans[0], "--json")
    assert same.exit_code == 0
    assert json.loads(same.stdout) == {"same": True, "changes": [], "remarks": []}


def test_standard_input(plans: tuple[Path, Path]) -> None:
    assert call("-", plans[0], stdin=plans[0].read_bytes()).exit_code == 0
    assert call(plans[0], "-", stdin=plans[1].read_bytes()).exit_code == 1
    twice = call("-", "-", stdin=plans[0].read_bytes())
    assert twice.exit_code == 2
    assert "standard input" in twice.stderr


def test_a_plan_that_can_not_be_read(plans: tuple[Path, Path], tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text("{ this is no plan", encoding="utf-8")
    result = call(plans[0], broken)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {broken}: the JSON text has a syntax error in line 1, column 3")
    assert result.stdout == ""


def test_a_plan_that_contradicts_itself(plans: tuple[Path, Path], tmp_path: Path) -> None:
    message = json.loads(plans[0].read_text(encoding="utf-8"))
    del message["extensions"]
    broken = tmp_path / "broken.json"
    broken.write_text(json.dumps(message), encoding="utf-8")
    result = call(plans[0], broken)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {broken}: relations[0]")


def test_usage(plans: tuple[Path, Path], tmp_path: Path) -> None:
    assert call(plans[0]).exit_code == 2
    assert call(plans[0], tmp_path / "missing.json").exit_code == 2
