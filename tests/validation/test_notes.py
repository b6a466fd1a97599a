"""Every rewrite and every assumption is a finding of its own class, with a reason and an advice."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import pyspark_substrait
from pyspark_substrait.analysis.validation.notes import ASSUMPTIONS, UPGRADES, assumed, upgraded
from pyspark_substrait.codes import Level
from pyspark_substrait.model.notes import Note
from pyspark_substrait.proto.read.habits.table import HABITS

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src" / "pyspark_substrait" / "proto"
MIGRATIONS = sorted((ROOT / "tests" / "proto" / "migrations").glob("*.before.json"))


def rules(*parts: str) -> Iterator[str]:
    """The names of the rules that the sources of a part have notes of: first arguments, and ``rule=``."""
    files = [file for part in parts for file in (SOURCES / part).rglob("*.py")] if parts else []
    for file in files or [SOURCES / "json_read.py"]:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            named = [word.value for word in node.keywords if word.arg == "rule"]
            if called in ("note", "note_once", "loose") and node.args:
                named.append(node.args[0])
            yield from (item.value for item in named if isinstance(item, ast.Constant) and isinstance(item.value, str))


def test_every_rule_has_a_row() -> None:
    assert {*rules("upgrade"), *rules()} == {*UPGRADES}
    assert {*rules("read"), *(habit.rule for habit in HABITS)} - {"function"} == {*ASSUMPTIONS}


def test_strictness_decides_the_level() -> None:
    """What strict reading refuses is a warning."""
    refused = {habit.rule for habit in HABITS if habit.strict}
    for file in (SOURCES / "read").rglob("*.py"):
        refused |= set(re.findall(r'\.loose\(\s*"([a-z-]+)"', file.read_text(encoding="utf-8")))
    assert len(refused) > 10
    assert {rule for rule in refused if ASSUMPTIONS[rule].level is not Level.WARNING} == set()


@pytest.mark.parametrize("name", [*UPGRADES, *ASSUMPTIONS])
def test_rows_say_something(name: str) -> None:
    row = UPGRADES.get(name) or ASSUMPTIONS[name]
    assert row.level is not Level.ERROR
    assert row.why[0].isupper() or name in row.why or row.why.split()[0].rstrip(",").islower()
    assert row.fix[0].isupper()
    assert not row.why.endswith(".") and not row.fix.endswith(".")


@pytest.mark.parametrize("path", MIGRATIONS, ids=lambda path: path.name)
def test_each_rewrite_is_found(path: Path) -> None:
    rule = path.name.partition(".")[0]
    row = UPGRADES[rule]
    found = pyspark_substrait.validate(path)
    assert any(item.why == row.why and item.code == row.code and item.level is row.level for item in found)


FUNCTIONS = {
    "`add` read as `add:i32_i32`": 3010,
    "`add` found in `extension:io.substrait:functions_arithmetic`, as the plan names no extension that has it": 3007,
    "argument 0 of `add:i64_i64` cast from i32 to i64": 4005,
    "`f:i32` is not known, since its extension `extension:org.example:f` is not": 6003,
    "`equal:i64_i64` read as `equal:any_any`": 6100,
}


@pytest.mark.parametrize("text", FUNCTIONS)
def test_notes_on_calls(text: str) -> None:
    for verb in ("read as", "found in", "cast from"):
        before, separator, after = text.partition(f" {verb} ")
        if separator:
            note = Note(rule="function", path="x", before=before, after=f"{verb} {after}")
            break
    else:
        note = Note(rule="function", path="x", before=text, after="accepted")
    [finding] = assumed([note])
    assert (finding.code, finding.level) == (FUNCTIONS[text], Level.WARNING)


def test_the_rewrite_is_told() -> None:
    [finding] = upgraded([Note(rule="fetch-count", path="a.b", before="count 3", after="count_expr, the literal 3")])
    assert (finding.path, finding.what) == ("a.b", "count 3; now: count_expr, the literal 3")
    assert "0.98" in finding.why
