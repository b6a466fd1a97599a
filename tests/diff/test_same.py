"""The same plan in other clothes is the same plan."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format

import pyspark_substrait as ps
from pyspark_substrait.analysis.diff import Kind
from pyspark_substrait.documents import ExtendedExpression, Plan, as_document
from pyspark_substrait.model import expressions as e
from pyspark_substrait.model import relations as r
from pyspark_substrait.model import types as t
from pyspark_substrait.model.literals import AnyMessage, Literal
from pyspark_substrait.model.plan import RelRoot, VariableEvaluationMode
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.types import OpenStruct
from pyspark_substrait.model.walk import with_inputs
from tests.diff.plans import (
    CUSTOMERS,
    I64,
    ORDERS,
    STRING,
    at,
    both,
    call,
    edited,
    emitted,
    number,
    orders,
    plus,
    rooted,
    text,
    times,
)
from tests.samples import EXTENDED_EXPRESSIONS, PLANS

SAMPLES: dict[str, Plan | ExtendedExpression] = {
    **{f"plan: {name}": as_document(plan, deep=False) for name, plan in PLANS.items()},
    **{f"extended: {name}": as_document(each, deep=False) for name, each in EXTENDED_EXPRESSIONS.items()},
}


def assert_same(a: Any, b: Any, *, remarks: tuple[Kind, ...] = ()) -> None:
    found = ps.diff(a, b)
    assert [change.what for change in found] == []
    assert found.same
    assert not found
    assert {change.kind for change in found.remarks} == set(remarks)


@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_is_the_same_as_itself(name: str) -> None:
    assert_same(SAMPLES[name], SAMPLES[name])


def shared_plans() -> list[Path]:
    folder = Path(__file__).resolve().parents[3] / "shared" / "plans"
    return sorted(path for path in folder.rglob("*") if path.suffix in (".json", ".pb") and path.name != "queries.json")


@pytest.mark.parametrize("path", shared_plans(), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_shared_plan_is_the_same_as_itself(path: Path) -> None:
    assert_same(path, path)
    assert_same(path, ps.load(path).to_json())


def test_an_old_release_is_the_same_as_the_new_one(shared: Path) -> None:
    folder = shared / "plans" / "tutorial"
    assert_same(folder / "final_plan.2023.json", folder / "final_plan.0.101.json")


def test_queries_differ(shared: Path) -> None:
    plans = sorted((shared / "plans" / "tpch" / "datafusion").glob("*.pb"))
    for one, other in pairwise(plans):
        found = ps.diff(one, other)
        assert found
        assert str(found)
        assert json.loads(found.to_json())["same"] is False


def test_two_queries_of_two_makers_differ_in_their_tables(shared: Path) -> None:
    folder = shared / "plans" / "tpch"
    found = ps.diff(folder / "datafusion" / "q06.pb", folder / "isthmus" / "q06.json")
    assert "the table lineitem became LINEITEM" in [change.what for change in found]


# --- the message ------------------------------------------------------------------------------------------------------


def renumbered(plan: Plan, seed: int = 1) -> dict[str, Any]:
    """The plan as JSON, with other anchors, and its declarations in another order."""
    message: dict[str, Any] = json_format.MessageToDict(plan.to_message())
    numbers = random.Random(seed)
    urns = {item["extensionUrnAnchor"]: numbers.randrange(100, 10_000) for item in message.get("extensionUrns", ())}
    functions: dict[int, int] = {}
    for item in message.get("extensionUrns", ()):
        item["extensionUrnAnchor"] = urns[item["extensionUrnAnchor"]]
    for item in message.get("extensions", ()):
        (declaration,) = item.values()
        declaration["extensionUrnReference"] = urns[declaration["extensionUrnReference"]]
        if "functionAnchor" in declaration or "extensionFunction" in item:
            old = declaration.get("functionAnchor", 0)
            functions[old] = declaration["functionAnchor"] = numbers.randrange(100, 10_000)
    numbers.shuffle(message.get("extensionUrns", []))
    numbers.shuffle(message.get("extensions", []))

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            for key in ("functionReference", "comparisonFunctionReference"):
                if key in node:
                    node[key] = functions[node[key]]
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)

    walk(message.get("relations"))
    return message


def test_anchors_and_the_order_of_declarations_do_not_count() -> None:
    plan = orders()
    other = renumbered(plan)
    assert other["extensions"] != json_format.MessageToDict(plan.to_message())["extensions"]
    assert_same(plan, other)


def test_json_and_binary_are_the_same() -> None:
    assert_same(orders().to_json(), orders().to_bytes())


def test_unused_declarations_do_not_count() -> None:
    message = json_format.MessageToDict(orders().to_message())
    message["extensionUrns"].append({"extensionUrnAnchor": 77, "urn": "extension:io.substrait:functions_string"})
    message["extensions"].append(
        {"extensionFunction": {"extensionUrnReference": 77, "functionAnchor": 99, "name": "lower:str"}}
    )
    assert_same(orders(), message)


def test_the_default_of_the_execution_need_not_be_said() -> None:
    silent = replace(orders(), execution_behavior=VariableEvaluationMode.UNSPECIFIED)
    assert_same(orders(), silent)


def test_who_made_it_does_not_count() -> None:
    plan = orders()
    assert_same(plan, replace(plan, version=replace(plan.version, producer="somebody else"), expected_type_urls=("x",)))


# --- relations --------------------------------------------------------------------------------------------------------


def hinted(node: Any) -> Any:
    common = r.RelCommon(
        emit=node.common.emit,
        hint=r.Hint(alias="x", stats=r.Stats(row_count=5.0)),
        advanced_extension=r.AdvancedExtension(optimization=(AnyMessage("example.com/Fast", b"1"),)),
        rel_anchor=11,
    )
    return replace(node, common=common)


@pytest.mark.parametrize("kind", [r.Read, r.Filter, r.Join, r.Project, r.Aggregate, r.Sort, r.Fetch])
def test_hints_anchors_and_optimizations_do_not_count(kind: type) -> None:
    assert_same(orders(), edited(orders(), kind, hinted))


def detached(node: Any) -> Any:
    return r.DetachedRel(relation=node)


@pytest.mark.parametrize("kind", [r.Read, r.Filter, r.Project, r.Aggregate])
def test_a_detached_relation_is_the_same_in_place(kind: type) -> None:
    assert_same(orders(), edited(orders(), kind, detached))


def test_a_detached_expression_is_the_same_in_place() -> None:
    def change(node: Any) -> Any:
        return replace(node, condition=e.DetachedExpression(expression=node.condition))

    assert_same(orders(), edited(orders(), r.Filter, change))


def reference(ordinal: int, subtree: Relation) -> r.Reference:
    return r.Reference(subtree_ordinal=ordinal, subtree=subtree)


def test_a_shared_tree_is_the_same_written_out() -> None:
    filtered = r.Filter(input=ORDERS, condition=call("gt", at(2), number(1)))
    twice = r.Set(members=(filtered, filtered), op=r.SetOp.UNION_ALL)
    shared = r.Set(members=(reference(0, filtered), reference(0, filtered)), op=r.SetOp.UNION_ALL)
    names = ("id", "customer", "price", "status")
    with_references = Plan(relations=(filtered, RelRoot(input=shared, names=names)))
    assert_same(rooted(twice, *names), with_references, remarks=(Kind.SHARING,))


def nodes(relation: Relation) -> Iterator[Relation]:
    yield relation
    for item in relation.inputs:
        yield from nodes(item)


def turned(node: Relation) -> Relation:
    """The relation with its columns the other way around, and turned back above it."""
    old = node.common.emit or tuple(range(len(node.schema.types)))
    back = tuple(range(len(old)))[::-1]
    return emitted(r.Project(input=emitted(node, *old[::-1]), expressions=()), *back)


def expanded(node: Relation) -> Relation:
    """A projection above that computes each column anew, and drops its input."""
    width = len(node.schema.types)
    columns = tuple(at(position, type) for position, type in enumerate(node.schema.types))
    return emitted(r.Project(input=node, expressions=columns), *range(width, 2 * width))


def identical(node: Relation) -> Relation:
    """An emit that says what holds without one."""
    if node.common.emit is not None:
        return node
    return emitted(node, *range(len(node.schema.types)))


@pytest.mark.parametrize("change", [turned, expanded, identical])
@pytest.mark.parametrize("name", [name for name, sample in SAMPLES.items() if isinstance(sample, Plan)])
def test_columns_are_what_they_are_wherever_they_stand(name: str, change: Callable[[Relation], Relation]) -> None:
    """Each relation of each sample in turn is rewritten so that the plan is the same by the meaning of emit."""
    plan = SAMPLES[name]
    assert isinstance(plan, Plan)
    for place, tree in enumerate(plan.relations):
        if not isinstance(tree, RelRoot):
            continue
        for target in nodes(tree.input):
            fixed = r.Reference | r.DetachedRel | r.Write | r.Ddl | r.Update
            if isinstance(target, fixed) or isinstance(target.schema, OpenStruct):
                continue

            def walk(node: Relation, target: Relation = target) -> Relation:
                return change(node) if node is target else with_inputs(node, walk)

            other = replace(tree, input=walk(tree.input))
            trees = tuple(other if at == place else item for at, item in enumerate(plan.relations))
            assert_same(plan, replace(plan, relations=trees))


def test_references_by_other_positions() -> None:
    """A join whose left input drops and turns columns; all that is above refers to them by other positions."""
    joined = r.Join(left=ORDERS, right=CUSTOMERS, type=r.JoinType.INNER, expression=call("equal", at(1), at(4)))
    plain = r.Filter(input=joined, condition=call("gt", at(2), at(4)))
    dropped = r.Join(
        left=emitted(ORDERS, 2, 1),
        right=emitted(CUSTOMERS, 1, 0),
        type=r.JoinType.INNER,
        expression=call("equal", at(1), at(3)),
    )
    moved = r.Filter(input=dropped, condition=call("gt", at(0), at(3)))
    assert_same(rooted(emitted(plain, 2, 5), "price", "name"), rooted(emitted(moved, 0, 2), "price", "name"))


def test_a_mask_is_the_same_as_an_emit() -> None:
    from pyspark_substrait.model.masks import MaskExpression, StructItem, StructSelect

    mask = MaskExpression(select=StructSelect((StructItem(2), StructItem(0))))
    masked = replace(ORDERS, projection=mask)
    assert_same(rooted(masked, "price", "id"), rooted(emitted(ORDERS, 2, 0), "price", "id"))


def test_what_emit_drops_is_not_computed() -> None:
    more = r.Project(input=ORDERS, expressions=(plus(at(0), at(1)), times(at(0), at(1))))
    less = r.Project(input=ORDERS, expressions=(times(at(0), at(1)),))
    assert_same(rooted(emitted(more, 0, 5), "id", "product"), rooted(emitted(less, 0, 4), "id", "product"))


def fetched(count: Literal | None, offset: Literal | None = None) -> Plan:
    return rooted(r.Fetch(input=CUSTOMERS, count_expr=count, offset_expr=offset), "key", "name")


def test_the_type_of_a_count_does_not_count() -> None:
    assert_same(fetched(number(3)), fetched(Literal(type=t.I32(), value=3)))
    assert_same(fetched(number(3)), fetched(number(3), number(0)))
    assert_same(fetched(number(3)), fetched(number(3), Literal(type=t.I64(nullable=True), value=None)))


def test_names_of_a_tree_without_root() -> None:
    assert_same(Plan(relations=(CUSTOMERS,)), rooted(CUSTOMERS, "key", "name"))
    (change,) = ps.diff(Plan(relations=(CUSTOMERS,)), rooted(CUSTOMERS, "key", "title"))
    assert change.kind is Kind.NAMES


# --- the order of operands --------------------------------------------------------------------------------------------


def filtered(condition: e.Expression) -> Plan:
    return rooted(r.Filter(input=ORDERS, condition=condition), "id", "customer", "price", "status")


A, B, C = call("gt", at(0), number(1)), call("lt", at(1), number(2)), call("equal", at(3, STRING), text("F"))

TURNED: dict[str, tuple[e.Expression, e.Expression]] = {
    "and": (both(A, B), both(B, A)),
    "and in and": (both(A, both(B, C)), both(both(A, B), C)),
    "or": (call("or", A, B, file="boolean", kinds="bool"), call("or", B, A, file="boolean", kinds="bool")),
    "equal": (call("equal", at(0), at(1)), call("equal", at(1), at(0))),
    "greater and less": (call("gt", at(0), at(1)), call("lt", at(1), at(0))),
    "at least and at most": (call("gte", at(0), at(1)), call("lte", at(1), at(0))),
    "a sum": (call("gt", plus(at(0), at(1)), at(2)), call("gt", plus(at(1), at(0)), at(2))),
    "a list": (
        e.SingularOrList(value=at(0), options=(number(1), number(2))),
        e.SingularOrList(value=at(0), options=(number(2), number(1))),
    ),
}


@pytest.mark.parametrize("name", TURNED)
def test_operands_that_may_change_places_are_only_remarked_on(name: str) -> None:
    before, after = TURNED[name]
    assert_same(filtered(before), filtered(after), remarks=() if name == "and in and" else (Kind.ORDER,))


def minus(left: e.Expression, right: e.Expression) -> e.ScalarFunction:
    return call("subtract", left, right, file="arithmetic", kinds="i64_i64")


def test_operands_that_may_not_change_places_are_a_difference() -> None:
    assert ps.diff(filtered(call("gt", at(0), at(1))), filtered(call("gt", at(1), at(0))))
    assert ps.diff(
        filtered(call("gt", minus(at(0), at(1)), number(1))), filtered(call("gt", minus(at(1), at(0)), number(1)))
    )


def test_the_inputs_of_an_inner_join_may_change_places() -> None:
    one = r.Join(left=ORDERS, right=CUSTOMERS, type=r.JoinType.INNER, expression=call("equal", at(1), at(4)))
    other = r.Join(left=CUSTOMERS, right=ORDERS, type=r.JoinType.INNER, expression=call("equal", at(0), at(3)))
    plans = rooted(emitted(one, 0, 5), "id", "name"), rooted(emitted(other, 2, 1), "id", "name")
    assert_same(*plans, remarks=(Kind.ORDER,))
    left = replace(other, type=r.JoinType.LEFT)
    assert ps.diff(plans[0], rooted(emitted(left, 2, 1), "id", "name"))


def test_a_function_that_compares_keys_takes_them_in_order() -> None:
    def joined(left: Relation, right: Relation, of_left: int, of_right: int) -> r.MergeJoin:
        less = e.Function("extension:io.substrait:functions_comparison", "lt", "any_any")
        key = r.ComparisonJoinKey(left=at(of_left), right=at(of_right), comparison=less)
        return r.MergeJoin(left=left, right=right, type=r.JoinType.INNER, keys=(key,))

    one, other = joined(ORDERS, CUSTOMERS, 1, 0), joined(CUSTOMERS, ORDERS, 0, 1)
    plans = rooted(emitted(one, 0, 5), "id", "name"), rooted(emitted(other, 2, 1), "id", "name")
    [difference] = ps.diff(*plans)
    assert "`lt(customer, key)`" in str(difference)
    assert "`lt(key, customer)`" in str(difference)


def test_0_is_not_negative_0_and_nan_is_nan() -> None:
    def constant(value: float) -> Plan:
        literal = Literal(type=t.FP64(), value=value)
        return rooted(emitted(r.Project(input=CUSTOMERS, expressions=(literal,)), 2), "x")

    assert ps.diff(constant(0.0), constant(-0.0))
    assert_same(constant(float("nan")), constant(float("nan")))


def test_a_deep_plan_can_be_compared() -> None:
    def deep(value: int) -> Plan:
        relation: Relation = CUSTOMERS
        for at_most in range(600):
            relation = r.Fetch(input=relation, count_expr=number(at_most if at_most != 300 else value))
        return rooted(relation, "key", "name")

    assert_same(deep(1), deep(1))
    assert [change.what for change in ps.diff(deep(1), deep(2))] == [
        "the count `1` of the Fetch over customers became `2`"
    ]


def test_trees_that_double_at_each_level_are_compared_once() -> None:
    def doubled(value: int) -> Plan:
        trees: list[Relation] = [r.Filter(input=CUSTOMERS, condition=call("gt", at(0, I64), number(value)))]
        for level in range(50):
            below = reference(level, trees[-1])
            trees.append(r.Set(members=(below, below), op=r.SetOp.UNION_ALL))
        return Plan(relations=(*trees[:-1], RelRoot(input=trees[-1], names=("key", "name"))))

    with ps.limited(ps.Limits(repeated=2**60)):
        found = ps.diff(doubled(1), doubled(2))
    assert [change.what for change in found] == [
        "the condition `key > 1` of the Filter over customers became `key > 2`"
    ]
    assert len(str(found)) < 10_000


def test_a_broken_plan_is_refused() -> None:
    message = json_format.MessageToDict(orders().to_message())
    message["extensions"] = []
    with pytest.raises(ps.InvalidPlanError):
        ps.diff(orders(), message)
    with pytest.raises(ps.PlanFormatError):
        ps.diff(b"\xff\xff\xff", orders())
