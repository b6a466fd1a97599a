"""Findings stand at the line of what they were found in."""

from __future__ import annotations

import pytest

import pyspark_substrait as ps
from pyspark_substrait.codes import Code, Level
from pyspark_substrait.documents import as_document
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.findings import Finding
from pyspark_substrait.model.plan import Plan
from pyspark_substrait.model.relations import Filter
from pyspark_substrait.model.types import I32
from pyspark_substrait.text.explain import Line, LineKind, explain, page
from pyspark_substrait.text.explain.lines import with_findings
from tests.explain.faulty_plans import FAULTY, ORDERS, call, column, filtered, number, plan, projected, root
from tests.explain.plans import broken, lit, ref, table

INPUT = "relations[0].root.input"


def lines_of(name: str) -> tuple[Line, ...]:
    report = ps.validate(FAULTY[name]())
    return page(report.document, places=report.places, findings=report.findings)


def errors(line: Line) -> list[Code]:
    return [finding.code for finding in line.findings if finding.level is Level.ERROR]


def test_each_finding_is_at_one_line_and_none_is_lost() -> None:
    for make in FAULTY.values():
        report = ps.validate(make())
        shown = page(report.document, places=report.places, findings=report.findings)
        at_lines = [finding for line in shown for finding in line.findings]
        assert sorted(map(str, at_lines)) == sorted(map(str, report.findings))


def test_a_finding_stands_at_the_innermost_line() -> None:
    lines = lines_of("expressions")
    assert [(line.text.partition("[")[0], errors(line)) for line in lines if errors(line)] == [
        ("Project", [Code.EXPRESSION_OUTPUT_TYPE, Code.EXPRESSION_REFERENCE, Code.LINK_MISSING_ANCHOR]),
        ("Filter", [Code.TYPE_MISMATCH]),
    ]


def test_what_is_in_a_subquery_stands_there() -> None:
    lines = lines_of("subqueries")
    numbers = [number for number, line in enumerate(lines) if errors(line)]
    assert len(numbers) == 1
    assert lines[numbers[0]].text.startswith("Filter[order_id > outer.$5")
    above = lines[numbers[0] - 1]
    assert (above.text, above.kind) == ("subquery #1:", LineKind.SUBQUERY)
    assert above.path is not None
    assert lines[numbers[0]].path == f"{above.path}.subquery.set_predicate.tuples.filter"


def test_lines_have_the_paths_of_the_message() -> None:
    kept = filtered(ORDERS, call(1, {"bool": {"nullability": "NULLABILITY_REQUIRED"}}, column(1), number(10)))
    report = ps.validate(plan(root(projected(kept, 3, column(0)), "id")))
    lines = page(report.document, places=report.places)
    assert [(line.kind, line.depth, line.path) for line in lines[:5]] == [
        (LineKind.HEADER, 0, ""),
        (LineKind.ROOT, 0, "relations[0].root"),
        (LineKind.RELATION, 1, f"{INPUT}.project"),
        (LineKind.RELATION, 2, f"{INPUT}.project.input.filter"),
        (LineKind.RELATION, 3, f"{INPUT}.project.input.filter.input.read"),
    ]
    text = ps.explain(report, proto_paths=True)
    assert f"  @ {INPUT}.project.input.filter\n" in text


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("", 0),
        ("version", 0),
        ("extensions[3]", 0),
        ("relations[1]", 0),
        ("relations[0].root.names", 1),
        ("relations[0].root", 1),
        (f"{INPUT}.filter", 2),
        (f"{INPUT}.filter.condition.literal", 2),
        (f"{INPUT}.filters", 1),
        (f"{INPUT}.filter.inputs[0]", 2),
        (f"{INPUT}.filter.input.read.filter", 3),
    ],
)
def test_a_path_belongs_to_the_line_with_its_longest_beginning(path: str, line: int) -> None:
    places = ["", "relations[0].root", f"{INPUT}.filter", f"{INPUT}.filter.input.read"]
    lines = [
        Line(depth=depth, text="x", path=place, kind=LineKind.RELATION if depth else LineKind.HEADER)
        for depth, place in enumerate(places)
    ]
    finding = Finding.of(Code.TYPE_MISMATCH, path, "x")
    shown = with_findings(lines, [finding])
    assert [number for number, each in enumerate(shown) if each.findings] == [line]


def test_a_fault_that_a_finding_tells_is_told_once() -> None:
    lines = page(broken())
    number = next(number for number, line in enumerate(lines) if line.kind is LineKind.FAULT)
    assert lines[number].text.startswith("! ")
    owner = lines[number - 1]
    place = "relations[0].here"
    known = [
        Line(depth=owner.depth, text=owner.text, path=place, kind=owner.kind),
        Line(depth=owner.depth, text=lines[number].text, path=place, kind=LineKind.FAULT),
    ]
    error = Finding.of(Code.TYPE_MISMATCH, place, "x")
    warning = Finding.of(Code.TYPE_MISMATCH, place, "x", level=Level.WARNING)
    assert [line.kind for line in with_findings(known, [error])] == [owner.kind]
    assert [line.kind for line in with_findings(known, [warning])] == [owner.kind, LineKind.FAULT]


def test_a_class_of_warnings_is_told_once_and_every_error() -> None:
    kept = filtered(ORDERS, call(1, {"bool": {"nullability": "NULLABILITY_REQUIRED"}}, column(1), number(10)))
    report = ps.validate(plan(root(kept, "id", "price", "status")))

    def text(level: Level) -> list[str]:
        paths = [f"{INPUT}.filter", f"{INPUT}.filter.input.read", "relations[0].root"]
        found = [Finding.of(Code.ASSUMPTION, path, f"{path} is loose", level=level) for path in paths]
        assert report.document is not None
        lines = explain(report.document, places=report.places, findings=found).splitlines()
        return [line.strip() for line in lines if line.lstrip().startswith("!")]

    first = "! warning 0101: relations[0].root is loose"
    assert text(Level.WARNING) == [first, "! warning 0101: as above", "! warning 0101: as above"]
    assert len(set(text(Level.ERROR))) == 3


def test_a_report_and_its_source_give_the_same_page() -> None:
    for make in FAULTY.values():
        assert ps.explain(ps.validate(make())) == ps.explain(make())


def test_without_findings_faults_are_shown_all_the_same() -> None:
    text = ps.explain(FAULTY["missing"](), findings=False)
    assert "! error" not in text
    assert "! a relation is missing" in text


def test_what_was_loaded_before_keeps_how_it_came_here() -> None:
    document = ps.load(
        {
            "version": {"minorNumber": 40},
            "relations": [root(ORDERS, "a", "b", "c")],
            "extensionUris": [{"extensionUriAnchor": 1, "uri": "/functions_comparison.yaml"}],
        }
    )
    assert document.upgrades
    header = ps.explain(document).splitlines()
    assert header[0] == "Plan (0.108.0, written as 0.40.0)"
    assert any("old form" in line for line in header)


def test_a_plan_by_hand_that_has_no_message_is_shown() -> None:
    text = ps.explain(as_document(broken(), deep=False))
    assert text.startswith("Plan (0.108.0 by hand)")
    assert "Join[inner on" in text


@pytest.mark.parametrize("condition", [ref(I32(), 2**40), lit(I32(), 2**40), lit(I32(), "x"), ref(I32(), -1)])
def test_what_no_message_can_hold_is_shown(condition: Expression) -> None:
    kept = Filter(input=table("t", a=I32()), condition=condition)
    lines = ps.explain(as_document(Plan(relations=(kept,)), deep=False)).splitlines()
    assert [line for line in lines if line.startswith("! error")]
    assert [line for line in lines if line.startswith("Filter[")]


def test_what_an_engine_cannot_run_stands_beside_its_line() -> None:
    unbound = {"read": {**ORDERS["read"], "baseSchema": {"names": ["a"], "struct": {"types": [{"unbound": {}}]}}}}
    source = plan(root(unbound, "a"))
    lines = ps.explain(source, target="spark").splitlines()
    number = next(number for number, line in enumerate(lines) if line.lstrip().startswith("Read["))
    assert f"! error {Code.TARGET_TYPE:04d}" in "\n".join(lines[number + 1 :])
    assert f"{Code.TARGET_TYPE:04d}" not in ps.explain(source)
