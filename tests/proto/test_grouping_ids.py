"""Aggregates with several grouping sets in plans that DataFusion wrote, as it counts their columns."""

from __future__ import annotations

import json
from typing import Any

import pytest

import pyspark_substrait as ps
from pyspark_substrait.documents import Plan
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model import plan as model
from pyspark_substrait.model.expressions import SwitchExpression
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Aggregate, Project
from pyspark_substrait.model.types import I8, I16, I32, I64, String

STRUCT = {"types": [{"i64": {"nullability": 1}}, {"string": {"nullability": 2}}], "nullability": 2}


def column(position: int) -> dict[str, Any]:
    return {"selection": {"directReference": {"structField": {"field": position}}, "rootReference": {}}}


def measure(position: int) -> dict[str, Any]:
    arguments = [{"value": column(position)}]
    return {"measure": {"functionReference": 1, "invocation": 1, "arguments": arguments}}


def rollup(
    columns: list[int], *, producer: str = "datafusion", minor: int = 85, common: dict[str, Any] | None = None
) -> bytes:
    """ROLLUP (c1, c0) as DataFusion writes it: each set has its own copies of the keys, in both fields."""
    keys, sets = [1, 0, 1], [[0, 1], [2], []]
    aggregate = {
        "common": common or {},
        "input": {"read": {"baseSchema": {"names": ["c0", "c1"], "struct": STRUCT}, "namedTable": {"names": ["t"]}}},
        "groupings": [
            {"groupingExpressions": [column(keys[place]) for place in places], "expressionReferences": places}
            for places in sets
        ],
        "groupingExpressions": [column(key) for key in keys],
        "measures": [measure(0), measure(0)],
    }
    project: dict[str, Any] = {
        "common": {"emit": {"outputMapping": [100 + place for place in range(len(columns))]}},
        "input": {"aggregate": aggregate},
        "expressions": [column(position) for position in columns],
    }
    width = 6 if common or producer != "datafusion" else 5 if minor >= 58 else 4
    project["common"]["emit"]["outputMapping"] = [width + place for place in range(len(columns))]
    names = [f"n{position}" for position in columns]
    plan = {
        "extensions": [
            {"extensionFunction": {"functionAnchor": 1, "name": "count", "extensionUrnReference": 4294967295}}
        ],
        "relations": [{"root": {"input": {"project": project}, "names": names}}],
        "version": {"minorNumber": minor, "producer": producer},
    }
    return json.dumps(plan).encode()


def aggregate_of(plan: Plan) -> tuple[Project | None, Aggregate]:
    tree = plan.relations[0]
    assert isinstance(tree, model.RelRoot)
    assert isinstance(tree.input, Project)
    node = tree.input.input
    bits = node if isinstance(node, Project) else None
    node = bits.input if bits is not None else node
    assert isinstance(node, Aggregate)
    return bits, node


def loaded(source: bytes, *, strict: bool = False) -> Plan:
    plan = ps.load(source, strict=strict)
    assert isinstance(plan, Plan)
    return plan


def test_keys_are_there_once_and_followed_by_a_bit_for_each_that_is_not_in_the_set() -> None:
    plan = loaded(rollup([0, 1, 2, 3, 4]))
    bits, node = aggregate_of(plan)
    assert [grouping.expression_references for grouping in node.groupings] == [(0, 1), (0,), ()]
    assert bits is not None
    assert bits.schema.types == (String(nullable=True), I64(nullable=True), I8(), I64(), I64())
    (number,) = bits.expressions
    assert isinstance(number, SwitchExpression)
    assert [clause.then for clause in number.ifs] == [Literal(type=I8(), value=0), Literal(type=I8(), value=1)]
    assert number.else_ == Literal(type=I8(), value=3)
    assert "datafusion-grouping-id" in [note.rule for note in plan.notes]


def test_the_producer_may_be_spelled_in_any_way() -> None:
    source = rollup([0, 1, 2, 3, 4])
    other = source.replace(b'"datafusion"', b'"DataFusion "')
    assert other != source
    assert loaded(other).relations == loaded(source).relations


def test_what_is_written_of_such_a_plan_means_the_same() -> None:
    plan = loaded(rollup([0, 1, 2, 3, 4]))
    again = loaded(plan.to_bytes())
    assert again.relations == plan.relations
    assert again.notes == tuple(note for note in again.notes if note.rule != "datafusion-grouping-id")
    assert ps.load(plan.to_text()).relations == plan.relations


def test_before_release_58_there_was_no_number() -> None:
    plan = loaded(rollup([0, 1, 2, 3], minor=55))
    bits, node = aggregate_of(plan)
    assert bits is None
    assert node.common.emit == (0, 1, 2, 3)
    assert node.schema.types == (String(nullable=True), I64(nullable=True), I64(), I64())


@pytest.mark.parametrize(
    "source",
    [rollup([0, 1, 2, 3, 4, 5], producer="other"), rollup([0, 1], common={"emit": {"outputMapping": list(range(6))}})],
)
def test_others_mean_what_the_specification_says(source: bytes) -> None:
    bits, node = aggregate_of(loaded(source))
    assert bits is None
    assert [grouping.expression_references for grouping in node.groupings] == [(0, 1), (2,), ()]
    types = (String(nullable=True), I64(nullable=True), String(nullable=True), I64(), I64(), I32())
    assert node.direct_schema.types == types


def test_strict_reading_refuses_the_habit() -> None:
    plan = json.loads(rollup([0]))
    del plan["relations"][0]["root"]["input"]["project"]["input"]["aggregate"]["measures"]
    with pytest.raises(InvalidPlanError, match="3 grouping sets, whose columns DataFusion counts in its own way"):
        loaded(json.dumps(plan).encode(), strict=True)


def test_a_number_has_as_many_bits_as_there_are_keys() -> None:
    """DataFusion has an unsigned number of 8 bits up to 8 keys; a signed one of 8 bits has too few for these."""
    plan = json.loads(rollup([0]))
    node = plan["relations"][0]["root"]["input"]["project"]["input"]["aggregate"]
    keys = [{"literal": {"i32": value}} for value in range(8)]
    node["groupingExpressions"] = keys
    node["groupings"] = [{"expressionReferences": list(range(8))}, {}]
    plan["relations"][0]["root"]["input"]["project"]["common"]["emit"]["outputMapping"] = [11]
    bits, _ = aggregate_of(loaded(json.dumps(plan).encode()))
    assert bits is not None
    assert bits.schema.types[8] == I16()
    (number,) = bits.expressions
    assert isinstance(number, SwitchExpression)
    assert number.else_ == Literal(type=I16(), value=255)


def test_two_forms_of_a_grouping_set_that_differ_are_refused() -> None:
    plan = json.loads(rollup([0]))
    groupings = plan["relations"][0]["root"]["input"]["project"]["input"]["aggregate"]["groupings"]
    groupings[1]["expressionReferences"] = [1]
    with pytest.raises(InvalidPlanError, match=r"groupings\[1\]: expression_references and the older grouping_expr"):
        loaded(json.dumps(plan).encode())
