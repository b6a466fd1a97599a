"""What objects show of themselves: HTML that is harmless whatever a plan says, and a text beside it."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import pyspark_substrait as ps
from pyspark_substrait import samples
from pyspark_substrait.analysis.profile import Basis, Figure, Profile, RelationProfile
from pyspark_substrait.documents import as_document
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.model.plan import Plan
from pyspark_substrait.notebooks.errors import error_lines
from pyspark_substrait.notebooks.rows import Rows
from tests.notebooks.outputs import Output, output
from tests.report.plans import HOSTILE, field, plan
from tests.samples import EXTENDED_EXPRESSIONS, PLANS

ROOT = Path(__file__).resolve().parents[2]
TUTORIAL = samples.plan_2023()
SVG = "{http://www.w3.org/2000/svg}"


def shown(thing: Any) -> Output:
    return output(thing._repr_mimebundle_()["text/html"])


def profile(document: Any) -> Profile:
    """A profile as if the filter of the plan had let 3 of 12 rows through."""
    report = ps.validate(document)
    paths = ["relations[0].root.input.filter"]
    relations = (
        RelationProfile(
            path=paths[0],
            name="Filter",
            rows_in=(Figure(12, Basis.CALCULATED),),
            rows_out=Figure(3, Basis.MEASURED),
            seconds=Figure(0.25, Basis.ESTIMATED),
            time_share=Figure(0.8, Basis.ESTIMATED),
        ),
        RelationProfile(
            path=f"{paths[0]}.input.read",
            name="Read",
            rows_out=Figure(12, Basis.CALCULATED),
            note="<b>no time</b>",
        ),
    )
    rows = pa.table({"id": [1, 2, 3], "status": ["a", None, "b"]})
    assert isinstance(report.document, Plan)
    return Profile(document=report.document, relations=relations, seconds=1.5, rows=rows, places=report.places)


def test_a_plan_says_what_it_is_and_what_its_result_is() -> None:
    found = shown(ps.load(TUTORIAL))
    assert "Plan · Substrait 0.108.0, written as 0.20.0 · by validator-test · 5 relations" in found.text
    assert found.tables == [
        [
            ["name", "type", "null"],
            ["product_name", "string", "may be"],
            ["product_id", "i64", "never"],
            ["sales", "decimal<38, 2>", "may be"],
        ]
    ]
    nodes = [node for node in found.drawing.iter(f"{SVG}g") if "node" in node.get("class", "").split()]
    assert len(nodes) == 6  # two reads, a filter, a join, an aggregate, the root


@pytest.mark.parametrize(
    ("document", "line"),
    [
        (plan(), "<Plan 0.108.0: 2 relations, result (id, status)>"),
        (TUTORIAL, "<Plan 0.108.0: 5 relations, result (product_name, product_id, sales)>"),
        (plan(names=("a", "a")), "<Plan 0.108.0: 2 relations, result (a$0, a$1)>"),
    ],
)
def test_a_plan_is_one_line_in_a_shell(document: Any, line: str) -> None:
    assert repr(ps.load(document)) == line


@pytest.mark.parametrize("name", [*PLANS, *EXTENDED_EXPRESSIONS])
def test_every_kind_of_document_shows(name: str) -> None:
    document = as_document((PLANS | EXTENDED_EXPRESSIONS)[name], deep=False)
    shown(document)
    assert "\n" not in repr(document)
    shown(ps.validate(document, "spark"))


def _hostile(name: str) -> dict[str, Any]:
    return plan(names=(name, "status"), table=name, producer=name)


@pytest.mark.parametrize(
    "showing",
    [
        lambda name: ps.load(_hostile(name)),
        lambda name: ps.validate(_hostile(name) | {"relations": [_hostile(name)["relations"][0], {}]}, name=name),
        lambda name: ps.diff(_hostile(name), plan()),
        lambda name: profile(_hostile(name)),
        lambda name: Rows(table=pa.table({name: [name, None], "s": [[name], []]}), name="x"),
    ],
    ids=["plan", "report", "difference", "profile", "rows"],
)
def test_nothing_of_a_plan_becomes_markup(showing: Callable[[str], Any]) -> None:
    for name in HOSTILE:
        thing = showing(name)
        kinds = thing._repr_mimebundle_()
        assert kinds.keys() == {"text/html", "text/plain"}
        found = output(kinds["text/html"])
        assert all(char.isprintable() or char == "\n" for char in found.text)
        if "img" in found.tags:
            tags = {part.tag.removeprefix(SVG) for part in found.drawing.iter()}
            assert tags.isdisjoint({"script", "foreignObject", "a", "image", "use"})
        if not isinstance(thing, Profile) and name.isascii() and name.isprintable() and 10 < len(name) < 100:
            assert name in found.text.replace('\\"', '"')


def test_a_report_groups_what_it_found() -> None:
    twice = plan({"scalarFunction": {"functionReference": 7, "arguments": [{"value": field(9)}, {"value": field(8)}]}})
    found = shown(ps.validate(twice, name="mine"))
    report = ps.validate(twice)
    assert found.text.lstrip().startswith("mine · plan, Substrait 0.108.0")
    badges = [attributes["class"] for attributes in found.attributes("span") if "level" in attributes.get("class", "")]
    assert f"{len(report.errors)} error" in found.text and badges[0] == "ps-level ps-error"
    for finding in report:
        assert found.text.count(finding.path) >= 1 and finding.what in found.text
    assert "nothing found" in shown(ps.validate(plan())).text


def test_a_difference_lists_changes_and_draws_the_trees() -> None:
    one, other = plan(), plan({"literal": {"boolean": False}})
    difference = ps.diff(one, other)
    found = shown(difference)
    assert len(difference) == 1 and "1 change" in found.text and difference[0].what in found.text
    lines = [line for line in found.text.splitlines() if "Filter" in line and "← 1" in line]
    assert len(lines) == 1
    assert "The plans mean the same" in shown(ps.diff(one, one)).text
    assert ps.diff(one, one)._repr_mimebundle_()["text/plain"] == "The plans mean the same."


def test_a_profile_shows_rows_and_time() -> None:
    found = shown(profile(plan()))
    [table] = found.tables
    assert [row[:5] for row in table[1:]] == [
        ["Filter TRUE", "3", "× 0.25", "~250 ms", "80%"],
        ["Read orders", "=12", "", "", ""],
    ]
    edges = [edge for edge in found.drawing.iter(f"{SVG}text") if edge.get("class") == "rows"]
    assert sorted("".join(edge.itertext()) for edge in edges) == ["12", "3"]
    assert repr(profile(plan())) == "<Profile: 3 rows in 1.5 s, 2 relations>"


def test_a_view_is_a_frame_that_reaches_nothing() -> None:
    view = ps.view(plan(), name='<b>"mine"</b>')
    found = Output()
    html = view._repr_html_()
    assert html is not None
    found.feed(html)
    assert found.tags == {"div", "style", "iframe"}
    [frame] = found.attributes("iframe")
    assert frame["srcdoc"] == view.to_html() and frame["sandbox"] == "allow-scripts allow-downloads"
    assert '<b>"mine"</b>' in frame["title"] and '<b>"mine"</b>: run the cell' in found.text
    assert view._repr_mimebundle_()["text/plain"].startswith("<View of ")


def test_rows_are_those_of_the_table() -> None:
    table = pa.table(
        {
            "n": pa.array([1, None], pa.int32()),
            "d": [Decimal("1.50"), Decimal("-20.25")],
            "t": [datetime.date(2024, 2, 29), None],
            "s": ["<b>", "two"],
            "l": [[1, None], []],
        }
    )
    found = shown(Rows(table=table))
    assert found.tables == [
        [
            ["n", "d", "t", "s", "l"],
            ["1", "1.50", "2024-02-29", "<b>", "[1, null]"],
            ["null", "-20.25", "null", "two", "[]"],
        ]
    ]
    many = shown(Rows.limited(pa.table({"x": range(101)}), 100, "result"))
    assert [row for [row] in many.tables[0][1:]] == [str(number) for number in range(50)]
    assert "the first 100 rows; --limit all computes all, 50 shown, in result" in many.text
    assert "101 rows" in shown(Rows.limited(pa.table({"x": range(101)}), 101)).text
    assert "0 rows" in shown(Rows(table=pa.table({}))).text
    wide = shown(Rows(table=pa.table({f"c{number}": [number] for number in range(70)})))
    assert len(wide.tables[0][0]) == 60 and "10 more columns" in wide.text


def _chain(count: int) -> dict[str, Any]:
    """A plan of many filters, one over the other."""
    made = plan()
    root = made["relations"][0]["root"]
    for _ in range(count):
        root["input"] = {
            "filter": {"common": {"direct": {}}, "input": root["input"], "condition": {"literal": {"boolean": True}}}
        }
    return made


def test_large_plans_are_cut_and_deep_ones_show() -> None:
    found = shown(ps.load(_chain(498)))
    assert "the 79 relations nearest to the result, of 500" in found.text
    nodes = [node for node in found.drawing.iter(f"{SVG}g") if "node" in node.get("class", "").split()]
    assert len(nodes) == 80
    deep = ps.load(_chain(2_000))
    assert repr(deep).startswith("<Plan 0.108.0: 2,002 relations")
    bundle = deep._repr_mimebundle_()
    output(bundle["text/html"])
    assert bundle["text/plain"].endswith("more lines")


def test_only_what_is_wanted_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    document = ps.load(plan())
    assert document._repr_mimebundle_(include={"text/plain"}).keys() == {"text/plain"}
    assert document._repr_mimebundle_(exclude={"text/plain"}).keys() == {"text/html"}
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    alone = document._repr_mimebundle_()
    assert alone.keys() == {"text/plain"} and document._repr_html_() is None
    first, *_, last = alone["text/plain"].splitlines()
    assert first.startswith("Plan (0.108.0") and last.startswith("(no drawing: ") and "pygraphviz" in last


def test_an_error_is_some_lines() -> None:
    error = SubstraitError("what\x1b[2J is wrong\nin two lines", path="relations[0]", hint="Do that")
    lines = [line.replace("\x1b[31m", "").replace("\x1b[1m", "").replace("\x1b[0m", "") for line in error_lines(error)]
    assert lines == ["SubstraitError: what\\x1b[2J is wrong", "  in two lines", "  at relations[0]", "  Do that"]
