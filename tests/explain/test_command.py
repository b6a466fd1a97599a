"""The command ``explain``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import pyspark_substrait as ps
from pyspark_substrait.cli import main
from tests.explain.faulty_plans import FAULTY


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(FAULTY["mistakes"]()), encoding="utf-8")
    return path


def call(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["explain", *map(str, arguments)])


def test_a_broken_plan_is_shown_with_its_faults(file: Path) -> None:
    result = call(file)
    assert result.exit_code == 0
    assert result.stdout == ps.explain(file) + "\n"
    assert result.stdout.count("! error") == 2


@pytest.mark.parametrize(
    ("option", "options"),
    [
        (["--no-types"], {"types": False}),
        (["--proto-paths"], {"proto_paths": True}),
        (["--width", "40"], {"width": 40}),
        (["--no-findings"], {"findings": False}),
    ],
)
def test_options_are_those_of_the_verb(option: list[str], options: dict[str, int], file: Path) -> None:
    shown = call(file, *option).stdout
    assert shown == ps.explain(file, **options) + "\n"  # type: ignore[arg-type]
    assert shown != call(file).stdout


def test_what_is_no_plan_is_1_and_says_why(tmp_path: Path) -> None:
    path = tmp_path / "plan.pb"
    path.write_bytes(b"\xff\xff")
    result = call(path)
    assert result.exit_code == 1
    assert result.stdout.startswith(f"Not a plan: {path}\n! error 1001: ")
