"""What a report says of its findings, and in which order."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import pyspark_substrait as ps
from pyspark_substrait.analysis.report.report import Report, report
from pyspark_substrait.codes import Code, Level
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model.findings import Finding, Places
from tests.report.plans import HOSTILE, field, plan


def made(*findings: Finding) -> Report:
    return report(findings, places=Places())


def found(path: str, level: Level = Level.ERROR, what: str = "wrong") -> Finding:
    return Finding.of(Code.TYPE_MISMATCH, path, what, level=level)


def test_findings_are_told_in_the_order_of_the_plan() -> None:
    in_order = [
        "",
        "version",
        "extension_urns[2]",
        "extension_urns[10]",
        "relations[0].root",
        "relations[0].root.names",
        "relations[0].root.input.join",
        "relations[0].root.input.join.expression",
        "relations[0].root.input.join.left.read",
        "relations[0].root.input.join.left.read.filter",
        "relations[0].root.input.join.right.set",
        "relations[0].root.input.join.right.set.inputs[2].read",
        "relations[0].root.input.join.right.set.inputs[11].read",
        "relations[1].rel.project.expressions[1]",
        "relations[1].rel.project.expressions[3].literal",
        "relations[1].rel.project.input",
        "relations[10]",
    ]
    for seed in range(20):
        shuffled = random.Random(seed).sample(in_order, len(in_order))
        assert [item.path for item in made(*map(found, shuffled))] == in_order


def test_any_path_has_its_place() -> None:
    strange = [
        "[" + "9" * 5_000 + "]",
        "a[\u0663]",
        "a..b[[1]]]",
        "\ud800",
        "a" + ".b[0]" * 3_000,
        "a" + ".b[0]" * 2_000,
    ]
    assert len(made(*map(found, strange))) == len(strange)
    deep = [found("a" + ".b[0]" * depth) for depth in (3_000, 1, 2_000)]
    assert [len(item.path) for item in made(*deep)] == [6, 10_001, 15_001]


def test_at_one_place_the_gravest_stands_first_and_each_finding_once() -> None:
    both = made(found("a", Level.INFO), found("a", Level.WARNING), found("a"), found("a"))
    assert [item.level for item in both] == [Level.ERROR, Level.WARNING, Level.INFO]
    assert len(both) == 3


def test_levels() -> None:
    all_three = made(found("a", Level.INFO), found("b", Level.WARNING), found("c"))
    assert [len(part) for part in (all_three.errors, all_three.warnings, all_three.infos)] == [1, 1, 1]
    assert not all_three.ok
    assert made(found("a", Level.WARNING)).ok
    assert [item.level for item in all_three.at_least(Level.WARNING).listed] == [Level.WARNING, Level.ERROR]
    assert [item.level for item in all_three.at_least(Level.ERROR)] == [Level.ERROR]
    assert len(all_three.at_least(Level.ERROR)) == 1
    assert len(all_three.at_least(Level.ERROR).findings) == 3, "what isn't listed is still there"


def test_a_report_without_findings_is_true_and_says_so() -> None:
    fine = ps.validate(plan())
    assert fine and fine.ok and len(fine) == 0
    assert fine.to_text() == "plan (plan, Substrait 0.108.0, by by hand)\nnothing found"
    fine.raise_for_errors()


def test_the_first_error_is_raised() -> None:
    with pytest.raises(InvalidPlanError) as raised:
        ps.validate(plan(field(9))).raise_for_errors()
    assert raised.value.code is Code.EXPRESSION_REFERENCE
    assert raised.value.path.startswith("relations[0].root.input.filter.condition")


def test_the_text_groups_by_level_and_class() -> None:
    text = made(
        found("a", Level.INFO, "late"),
        found("b", what="first"),
        found("c", what="second"),
        found("d", what="first"),
    ).to_text()
    assert text.index("error 4005") < text.index("first") < text.index("second") < text.index("info 4005")
    assert text.count("error 4005") == 1 and text.count("first") == 1
    assert "at b\n" in text and "at d\n" in text
    assert text.endswith("3 errors, no warnings, 1 info")


def test_many_places_of_one_thing_are_cut_short_in_the_text_only() -> None:
    many = made(*(found(f"relations[{number}]") for number in range(50)))
    assert "and at 45 more" in many.to_text()
    assert many.to_json().count('"path"') == 50


def test_what_is_not_listed_is_counted() -> None:
    text = made(found("a", Level.INFO, "late"), found("b")).at_least(Level.ERROR).to_text()
    assert "late" not in text
    assert text.endswith("1 error, no warnings, 1 info")


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_does_anything_to_a_terminal(name: str) -> None:
    text = ps.validate(plan(field(9), names=(name, name + "2"), table=name, producer=name), name=name).to_text()
    assert all(char.isprintable() or char == "\n" for char in text)


def test_the_name_is_the_path_unless_one_is_given(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    assert ps.validate(file).name == ps.validate(str(file)).name == str(file)
    assert ps.validate(file, name="other").name == "other"
    assert ps.validate(file).file == ps.validate(str(file)).file == file
    assert ps.validate(plan()).name == ps.validate("{}").name == ps.validate(b"").name == "plan"


def test_what_cant_be_read_has_a_report() -> None:
    unread = ps.validate(b"\xff\xff")
    assert [item.code for item in unread] == [Code.PROTO_PARSE_FAILED]
    assert unread.document is None
    assert "could not be read" in unread.to_text()
