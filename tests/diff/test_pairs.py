"""Which relation of one plan belongs to which of the other: each has its place, and an edit marks what was edited."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.message import Message

import pyspark_substrait as ps
from pyspark_substrait.analysis.diff import Difference, Mark, Pair
from pyspark_substrait.api.loading import message_of
from pyspark_substrait.documents import ExtendedExpression, Plan
from pyspark_substrait.model import expressions as e
from pyspark_substrait.model import relations as r
from pyspark_substrait.model.plan import ExpressionReference, RelRoot
from tests.diff.plans import (
    ASCENDING,
    CUSTOMERS,
    I64,
    ORDERS,
    STRING,
    at,
    call,
    emitted,
    number,
    orders,
    read,
    rooted,
)
from tests.diff.test_changes import CASES
from tests.diff.test_relations import PAIRS
from tests.diff.test_same import SAMPLES, shared_plans

#: what stands in pairs, too, without being a relation
_BESIDE = re.compile(r"relations\[\d+\]\.root|base_schema|referred_expr\[\d+\]")


def relation_paths(message: Message, path: str = "") -> Iterator[str]:
    """The path of every relation in a message, as the message has it."""
    if message.DESCRIPTOR.full_name == "substrait.Rel":
        path = f"{path}.{message.WhichOneof('rel_type')}"
        yield path
        inner: Any = getattr(message, path.rpartition(".")[2])
        if not isinstance(inner, Message):  # the number of a detached relation
            return
        message = inner
    for field, value in message.ListFields():
        here = f"{path}.{field.name}".removeprefix(".")
        if isinstance(value, Message):
            yield from relation_paths(value, here)
        elif field.message_type is not None and not field.message_type.GetOptions().map_entry:
            for index, item in enumerate(value):
                if isinstance(item, Message):
                    yield from relation_paths(item, f"{here}[{index}]")


def of_relations(paths: Iterator[str]) -> Counter[str]:
    """Paths of pairs, without those of roots, base schemas and expressions."""
    return Counter(path for path in paths if path and not _BESIDE.fullmatch(path))


def assert_complete(found: Difference, a: Any, b: Any) -> None:
    """Every relation of both is in one pair."""
    for plan, paths in (
        (a, (pair.path_a for pair in found.pairs)),
        (b, (pair.path_b for pair in found.pairs)),
    ):
        assert of_relations(paths) == Counter(relation_paths(message_of(plan).message))
    told = {change for pair in found.pairs for change in pair.changes}
    assert {change for change in found if change.path_a and change.kind.value != "plan"} <= told


@pytest.mark.parametrize("name", SAMPLES)
def test_all_of_a_sample_is_the_same_as_itself(name: str) -> None:
    assert_same_as_itself(SAMPLES[name])


@pytest.mark.parametrize("path", shared_plans(), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_all_of_a_shared_plan_is_the_same_as_itself(path: Path) -> None:
    assert_same_as_itself(path)


def assert_same_as_itself(plan: Any) -> None:
    found = ps.diff(plan, plan)
    assert_complete(found, plan, plan)
    assert all(pair.path_a == pair.path_b for pair in found.pairs)
    assert {pair.mark for pair in found.pairs} <= {Mark.SAME}


def test_plans_that_have_little_in_common_are_paired_all_the_same(shared: Path) -> None:
    folder = shared / "plans" / "tpch"
    plans = [*sorted((folder / "isthmus").glob("*.json")), *sorted((folder / "datafusion").glob("*.pb"))]
    for one, other in [*pairwise(plans), *zip(plans[:22], plans[22:], strict=False)]:
        assert_complete(ps.diff(one, other), one, other)


# --- an edit marks what was edited ------------------------------------------------------------------------------------


def marked(found: Difference) -> list[Pair]:
    return [pair for pair in found.pairs if pair.mark is not Mark.SAME]


def _innermost(path: str, pairs: tuple[Pair, ...], side: str) -> str:
    """The longest path of a pair that a path begins with."""
    places = [getattr(pair, f"path_{side}") for pair in pairs]
    return max((place for place in places if place and f"{path}.".startswith(f"{place}.")), key=len, default="")


#: edits that are none of a relation that both plans have: what stands in which plan only, what else is marked
LONE = {
    "a relation more": (Mark.ADDED, 1),
    "a relation less": (Mark.REMOVED, 1),
    "a relation less at the top": (Mark.REMOVED, 1),
    "a join more": (Mark.ADDED, 2),  # with the read beside it
    "another result": (Mark.ADDED, 2),  # the root, and the read that it names
    "how often variables are evaluated": (Mark.CHANGED, 0),
}


@pytest.mark.parametrize("name", CASES)
def test_an_edit_marks_one_relation(name: str) -> None:
    case, before = CASES[name], orders()
    found = ps.diff(before, case.change(before))
    assert_complete(found, before, case.change(before))
    pairs = marked(found)
    mark, count = LONE.get(name, (Mark.CHANGED, 1))
    assert [pair.mark for pair in pairs] == [mark] * count
    if name in LONE:
        assert all(bool(pair.path_a) is (mark is Mark.REMOVED) for pair in pairs)
    elif not pairs[0].path_a.endswith(".root"):
        assert pairs[0].path_a == _innermost(case.path_a, found.pairs, "a")
        assert pairs[0].path_b == _innermost(case.path_b, found.pairs, "b")


@pytest.mark.parametrize("name", PAIRS)
def test_two_relations_are_paired(name: str) -> None:
    before, after, _ = PAIRS[name]
    plans = [rooted(node, *(f"c{at}" for at in range(len(node.schema.types)))) for node in (before, after)]
    found = ps.diff(*plans)
    assert_complete(found, *plans)
    assert {pair.mark for pair in marked(found)} <= ({Mark.ADDED} if name == "an input more" else {Mark.CHANGED})


# --- what isn't compared as a relation --------------------------------------------------------------------------------


def filtered(input: r.Relation, limit: int = 1) -> r.Filter:
    return r.Filter(input=input, condition=call("gt", at(0), number(limit)))


def exists(query: r.Relation) -> e.SetPredicate:
    return e.SetPredicate(predicate_op=e.PredicateOp.EXISTS, tuples=query)


def kinds(found: Difference) -> list[tuple[str, str, Mark]]:
    """What stands in each pair that isn't the same in both."""
    return [
        (pair.path_a.rpartition(".")[2], pair.path_b.rpartition(".")[2], pair.mark)
        for pair in found.pairs
        if pair.mark is not Mark.SAME or not (pair.path_a and pair.path_b)
    ]


def test_a_projection_that_only_picks_columns_stands_alone_without_a_change() -> None:
    picks = emitted(r.Project(input=CUSTOMERS, expressions=()), 0, 1)
    found = ps.diff(rooted(filtered(CUSTOMERS), "k", "n"), rooted(filtered(picks), "k", "n"))
    assert found.same
    assert kinds(found) == [("", "project", Mark.SAME)]


def test_such_a_projection_keeps_its_counterpart_across_a_filter_that_came_between() -> None:
    picks = emitted(r.Project(input=CUSTOMERS, expressions=()), 0, 1)
    above = emitted(r.Project(input=filtered(CUSTOMERS), expressions=()), 0, 1)
    assert kinds(ps.diff(rooted(picks, "k", "n"), rooted(above, "k", "n"))) == [("", "filter", Mark.ADDED)]


def test_a_filter_that_went_below_a_sort_moved() -> None:
    def sorted_(input: r.Relation) -> r.Sort:
        return r.Sort(input=input, sorts=(e.SortField(expr=at(0), sort_kind=ASCENDING),))

    above = r.Fetch(input=filtered(sorted_(r.Fetch(input=CUSTOMERS, count_expr=number(9)))), count_expr=number(2))
    below = r.Fetch(input=sorted_(r.Fetch(input=filtered(CUSTOMERS), count_expr=number(9))), count_expr=number(2))
    found = ps.diff(rooted(above, "k", "n"), rooted(below, "k", "n"))
    assert kinds(found) == [("filter", "filter", Mark.MOVED)]
    assert len(found) == len(marked(found)[0].changes) == 2
    assert_complete(found, rooted(above, "k", "n"), rooted(below, "k", "n"))


def test_a_filter_that_went_below_a_join_moved_and_one_of_another_table_did_not() -> None:
    def joined(left: r.Relation, right: r.Relation) -> r.Join:
        return r.Join(left=left, right=right, type=r.JoinType.INNER, expression=call("equal", at(1), at(4)))

    below = rooted(joined(filtered(ORDERS), CUSTOMERS), *"abcdef")
    above = rooted(filtered(joined(ORDERS, CUSTOMERS)), *"abcdef")
    other = rooted(joined(ORDERS, filtered(read("customers", ("id", I64), ("name", STRING)))), *"abcdef")
    assert ("filter", "filter", Mark.MOVED) in kinds(ps.diff(below, above))
    assert ("filter", "filter", Mark.MOVED) in kinds(ps.diff(above, below))
    assert Mark.MOVED not in {mark for *_, mark in kinds(ps.diff(below, other))}
    for plans in ((below, above), (above, below), (below, other)):
        assert_complete(ps.diff(*plans), *plans)


#: Positions of the columns that differ, in the first plan and in the second, of edits that change any.
COLUMNS = {
    "an option": (2, 2),
    "a computed column": (2, 2),
    "the column that is computed with": (2, 2),
    "a computed column more": (None, 3),
    "a measure": (1, 1),
    "what is merged before": (1, 1),
    "the filter of a measure": (1, 1),
    "a grouping key": (0, 0),
    "the type of a column": (0, 0),
    "the nullability of a column": (0, 0),
    "the name of a column": (0, 0),
    "the name of a column that is used": (2, 2),
    "a name": (1, 1),
    "columns under each other's names": (2, 2),
    "a column less": (2, None),
}


@pytest.mark.parametrize("name", CASES)
def test_columns_that_differ(name: str) -> None:
    found = ps.diff(orders(), CASES[name].change(orders()))
    assert [columns for pair in found.pairs for columns in pair.columns] == [
        COLUMNS[key] for key in COLUMNS if key == name
    ]


def test_subqueries_are_paired_where_they_are_the_same_and_where_they_differ() -> None:
    def asking(*limits: int) -> Plan:
        queries = [exists(filtered(CUSTOMERS, limit)) for limit in limits]
        return rooted(r.Filter(input=ORDERS, condition=call("and", *queries, file="boolean", kinds="bool")), *"abcd")

    assert kinds(ps.diff(asking(1, 2), asking(1, 3))) == [("filter", "filter", Mark.CHANGED)]
    turned = ps.diff(asking(1, 2), asking(2, 1))
    assert turned.same
    assert kinds(turned) == []
    assert_complete(turned, asking(1, 2), asking(2, 1))
    inner = "relations[0].root.input.filter.condition.scalar_function.arguments[{}].value.subquery.set_predicate.tuples"
    crossed = {(pair.path_a, pair.path_b) for pair in turned.pairs if "arguments" in pair.path_a}
    assert {(inner.format(x), inner.format(1 - x)) for x in (0, 1)} == {
        tuple(path.removesuffix(".filter") for path in paths) for paths in crossed if paths[0].endswith(".filter")
    }
    more = ps.diff(asking(1, 2), asking(1, 2, 3))
    assert kinds(more) == [
        ("filter", "filter", Mark.CHANGED),
        ("", "filter", Mark.ADDED),
        ("", "read", Mark.ADDED),
    ]


def test_a_subtree_that_one_plan_shares_stands_in_several_pairs() -> None:
    shared_tree = filtered(CUSTOMERS)
    uses = tuple(r.Reference(subtree_ordinal=0, subtree=shared_tree) for _ in range(2))
    shares = Plan(
        relations=(
            shared_tree,
            RelRoot(input=r.Set(members=uses, op=r.SetOp.UNION_ALL), names=("k", "n")),
        )
    )
    copies = (
        filtered(CUSTOMERS),
        filtered(read("customers", *zip(("key", "name"), CUSTOMERS.schema.types, strict=True))),
    )
    writes_out = rooted(r.Set(members=copies, op=r.SetOp.UNION_ALL), "k", "n")
    found = ps.diff(shares, writes_out)
    assert found.same
    pairs = [(pair.path_a, pair.path_b.rpartition("set.")[2]) for pair in found.pairs if pair.path_a]
    tree = "relations[0].rel.filter"
    assert [there for here, there in pairs if here == tree] == ["inputs[0].filter", "inputs[1].filter"]
    assert [there for here, there in pairs if here.endswith(".reference")] == ["", ""]


def test_a_change_on_the_right_of_a_lateral_join_is_seen() -> None:
    def lateral(limit: int) -> Plan:
        outer = e.FieldReference(
            root=e.OuterReference(steps_out=None, rel_reference=7), reference=(e.StructField(0),), type=I64
        )
        kept = r.Filter(input=filtered(ORDERS, limit), condition=call("equal", at(1), outer))
        joined = r.LateralJoin(left=CUSTOMERS, right=kept, type=r.JoinType.INNER, common=r.RelCommon(rel_anchor=7))
        return rooted(joined, *"abcdef")

    found = ps.diff(lateral(1), lateral(2))
    assert [change.what for change in found] == ["the condition `id > 1` of the Filter over orders became `id > 2`"]
    assert kinds(found) == [("filter", "filter", Mark.CHANGED)]
    assert_complete(found, lateral(1), lateral(2))


def test_expressions_are_paired_by_what_they_say() -> None:
    schema = CUSTOMERS.base_schema

    def asked(*limits: int) -> ExtendedExpression:
        given = tuple(
            ExpressionReference(expr=call("gt", at(0), number(limit)), output_names=("over",)) for limit in limits
        )
        return ExtendedExpression(base_schema=schema, referred_expr=given)

    found = ps.diff(asked(1, 2, 3), asked(1, 3, 9))
    assert [(pair.path_a, pair.path_b, pair.mark) for pair in found.pairs] == [
        ("base_schema", "base_schema", Mark.SAME),
        ("referred_expr[0]", "referred_expr[0]", Mark.SAME),
        ("referred_expr[1]", "", Mark.REMOVED),
        ("referred_expr[2]", "referred_expr[1]", Mark.SAME),
        ("", "referred_expr[2]", Mark.ADDED),
    ]


def test_an_edited_copy_of_every_sample_keeps_its_pairs() -> None:
    """A fetch on top is the only thing added, whatever is below."""
    for plan in SAMPLES.values():
        root = plan.relations[0] if isinstance(plan, Plan) and plan.relations else None
        if not isinstance(plan, Plan) or not isinstance(root, RelRoot) or len(root.names) != len(root.input.names):
            continue
        more = replace(
            plan,
            relations=(
                replace(root, input=r.Fetch(input=root.input, count_expr=number(5))),
                *plan.relations[1:],
            ),
        )
        assert kinds(ps.diff(plan, more)) == [("", "fetch", Mark.ADDED)]
