"""Two plans in the numbers of their graphs: which cards belong together, and which are marked."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import pyspark_substrait as ps
from pyspark_substrait import view
from pyspark_substrait.analysis.diff import Mark
from pyspark_substrait.documents import Plan
from pyspark_substrait.model import relations as r
from pyspark_substrait.render.comparison import Comparison, comparison
from pyspark_substrait.text.explain.graph import Graph, graph
from pyspark_substrait.text.explain.lines import LineKind
from tests.diff.plans import at, both, call, edited, emitted, measure, number, orders, plus
from tests.diff.test_same import SAMPLES


def drawn(plan: Any) -> Graph:
    report = ps.validate(plan)
    return graph(report.document, places=report.places, findings=report.listed)


def compared(a: Any, b: Any) -> tuple[Graph, Graph, Comparison]:
    left, right = drawn(a), drawn(b)
    return left, right, comparison(left, right, ps.diff(a, b))


def titles(graph: Graph, numbers: Any) -> list[str]:
    """The cards with these numbers: title, and what a Read reads."""
    return [" ".join((graph.nodes[at].title, *graph.nodes[at].properties[:1])) for at in numbers]


def assert_whole(a: Graph, b: Graph, found: Comparison) -> None:
    """Every card that has a place is marked, and its partner has it as its own."""
    for graph_, marks in ((a, found.marks_a), (b, found.marks_b)):
        assert set(marks) == {node.number for node in graph_.nodes if node.kind is not LineKind.DEFINITION}
    for item in found.partners:
        assert (item.a is None) <= (item.mark in (Mark.ADDED, Mark.SAME))
        assert (item.b is None) <= (item.mark in (Mark.REMOVED, Mark.SAME))
    assert json.loads(json.dumps(found.data()))


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_beside_itself(name: str) -> None:
    left, right, found = compared(SAMPLES[name], SAMPLES[name])
    assert_whole(left, right, found)
    assert found.heading == "The plans mean the same"
    assert {(item.a, item.mark) for item in found.partners} == {(item.b, Mark.SAME) for item in found.partners}


def test_queries_beside_each_other(shared: Path) -> None:
    plans = sorted((shared / "plans" / "tpch" / "isthmus").glob("*.json"))
    for one, other in [
        *pairwise(plans),
        *((plan, plan.parents[1] / "datafusion" / f"{plan.stem}.pb") for plan in plans),
    ]:
        left, right, found = compared(one, other)
        assert_whole(left, right, found)
        assert [item.change for _, item in found.differences] == list(ps.diff(one, other))


def changed() -> Plan:
    """The plan of orders, with another condition, one filter more, one column more, and no limit."""
    plan = edited(orders(), r.Fetch, lambda node: node.input)
    plan = edited(plan, r.Aggregate, lambda node: replace(node, measures=(measure("min", 2), node.measures[1])))
    plan = edited(
        plan, r.Filter, lambda node: replace(node, condition=both(call("gt", at(2), number(11)), _second(node)))
    )
    plan = edited(plan, r.Read, lambda node: r.Filter(input=node, condition=call("lt", at(0), number(9))))
    return edited(
        plan,
        r.Project,
        lambda node: emitted(replace(node, expressions=(*node.expressions, plus(at(0), at(1)))), 5, 2, 6, 7),
    )


def _second(node: r.Filter) -> Any:
    return node.condition.arguments[1]  # type: ignore[union-attr]


def test_what_was_changed_is_marked_in_both_plans() -> None:
    left, right, found = compared(orders(), changed())
    assert_whole(left, right, found)
    by_mark = {
        mark: (
            titles(left, [node for node, known in found.marks_a.items() if known == mark]),
            titles(right, [node for node, known in found.marks_b.items() if known == mark]),
        )
        for mark in ("added", "removed", "changed", "moved")
    }
    assert by_mark == {
        "added": ([], ["Filter id < 9"]),
        "removed": (["Fetch count 3"], []),
        "changed": (
            ["Aggregate by name", "Project", "Filter price > 10 AND status = 'F'"],
            ["Aggregate by name", "Project", "Filter price > 11 AND status = 'F'"],
        ),
        "moved": ([], []),
    }
    columns = {left.nodes[item.a].title: item.columns for item in found.partners if item.a is not None and item.columns}
    assert columns == {"Aggregate": ((1, 1),), "Project": ((None, 3),)}
    assert [(item.change.what, titles(left, item.a), titles(right, item.b)) for item in found.changes] == [
        (
            "the Fetch `count 3` above the Sort over orders, customers was removed",
            ["Fetch count 3"],
            ["Sort $1 DESC NULLS LAST, name ASC NULLS LAST"],
        ),
        (
            "the measure `sum($2)` of the Aggregate over orders, customers became `min($2)`",
            ["Aggregate by name"],
            ["Aggregate by name"],
        ),
        ("the column `id + customer` was added to the Project over orders, customers", ["Project"], ["Project"]),
        (
            "the condition `price > 10` of the Filter over orders became `price > 11`",
            ["Filter price > 10 AND status = 'F'"],
            ["Filter price > 11 AND status = 'F'"],
        ),
        ("a Filter `id < 9` was added above the read of orders", ["Read orders"], ["Filter id < 9"]),
    ]
    assert found.heading == "5 changes"
    assert found.counts == (("added", 1), ("removed", 1), ("changed", 3), ("same", 5))


def test_the_pieces_of_a_sentence() -> None:
    _, _, found = compared(orders(), changed())
    assert found.changes[1].sentence == (
        ("the measure ", False),
        ("sum($2)", True),
        (" of the Aggregate over orders, customers became ", False),
        ("min($2)", True),
    )


def test_plans_that_cannot_be_compared_stand_beside_each_other_all_the_same() -> None:
    broken = '{"relations": [{"root": {"input": {"filter": {}}, "names": []}}]}'
    for plans, wrong in (
        ((orders(), broken), ["second plan: relations[0].root.input.filter.input: a relation is missing"]),
        ((broken, orders()), ["first plan: relations[0].root.input.filter.input: a relation is missing"]),
        ((b"\xff\xff", broken), ["first plan: ", "; second plan: relations[0].root.input.filter.input: "]),
        ((ps.validate(b"\xff", name="bad"), orders()), ["bad: it is not a plan"]),
    ):
        shown = view(*plans)
        assert shown.comparison is not None
        assert all(text in shown.comparison.obstacle for text in wrong)
        assert shown.comparison.heading == "The plans cannot be compared"
        assert "cannot be compared" in shown.to_html()


def test_two_plans_of_one_name_are_told_apart() -> None:
    assert [sheet.name for sheet in view(orders(), changed()).sheets] == ["first plan", "second plan"]
    assert view(orders()).comparison is None
