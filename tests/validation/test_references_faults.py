"""References and masks that lead nowhere: where, and what is known all the same. Spec: expressions/field_references."""

from __future__ import annotations

import pytest

from pyspark_substrait import validate
from pyspark_substrait.codes import Level
from pyspark_substrait.model.plan import Plan
from pyspark_substrait.model.relations import Project, Read
from tests.proto.messages import I32, I64, PROJECT, REQUIRED, STRING, Json, message, project, table

STRUCT: Json = {"struct": {"types": [I32, STRING], **REQUIRED}}
LIST: Json = {"list": {"type": STRUCT, **REQUIRED}}
MAP: Json = {"map": {"key": STRING, "value": I64, **REQUIRED}}
PLACE = f"{PROJECT}.expressions[0].selection"


def wide() -> Json:
    relation = table(I32, STRUCT, LIST, MAP)
    relation["read"]["baseSchema"]["names"] = ["a", "b", "b1", "b2", "c", "c1", "c2", "d"]
    return relation


def seen(reference: Json) -> tuple[list[tuple[int, str]], str]:
    """The errors, with their paths inside the reference, and the type of it."""
    relation = project({"selection": {"rootReference": {}, **reference}}, input=wide())
    report = validate(message({"rel": relation}))
    plan = report.document
    assert isinstance(plan, Plan) and isinstance(plan.relations[0], Project)
    errors = [(int(item.code), item.path.removeprefix(PLACE)) for item in report if item.level is Level.ERROR]
    return errors, str(plan.relations[0].expressions[0].type)


def direct(segment: Json) -> Json:
    return {"directReference": segment}


def field(number: int, child: Json | None = None) -> Json:
    return {"structField": {"field": number, **({} if child is None else {"child": child})}}


@pytest.mark.parametrize(
    ("segment", "code", "place", "type"),
    [
        (field(4), 6106, "struct_field.field", "unbound?"),
        (field(-1), 6106, "struct_field.field", "unbound?"),
        (field(1, field(2)), 6106, "struct_field.child.struct_field.field", "unbound?"),
        (field(0, field(0)), 4005, "struct_field.child.struct_field", "unbound?"),
        (field(1, {"listElement": {"offset": 0}}), 4005, "struct_field.child.list_element", "unbound?"),
        (
            field(2, {"listElement": {"offset": 0, "child": field(7)}}),
            6106,
            "struct_field.child.list_element.child.struct_field.field",
            "unbound?",
        ),
        (field(3, {"mapKey": {"mapKey": {"i32": 1}}}), 4005, "struct_field.child.map_key", "i64?"),
        (field(9, field(1, field(2))), 6106, "struct_field.field", "unbound?"),
    ],
)
def test_a_path_that_leads_nowhere(segment: Json, code: int, place: str, type: str) -> None:
    assert seen(direct(segment)) == ([(code, f".direct_reference.{place}")], type)


def mask(*items: Json) -> Json:
    return {"maskedReference": {"select": {"structItems": list(items)}, "maintainSingularStruct": True}}


def test_all_that_does_not_fit_of_a_mask_is_found() -> None:
    items: list[Json] = [
        {"field": 0},
        {"field": 8},
        {"field": 0, "child": {"struct": {"structItems": [{"field": 0}]}}},
        {"field": 1, "child": {"struct": {"structItems": [{"field": 1}, {"field": 5}]}}},
        {"field": 2, "child": {"map": {"key": {"mapKey": "x"}}}},
        {"field": 3, "child": {"list": {"selection": [{"item": {"field": 0}}]}}},
    ]
    place = ".masked_reference.select.struct_items"
    assert seen(mask(*items)) == (
        [
            (6106, f"{place}[1].field"),
            (4005, f"{place}[2].child.struct"),
            (6106, f"{place}[3].child.struct.struct_items[1].field"),
            (4005, f"{place}[4].child.map"),
            (4005, f"{place}[5].child.list"),
        ],
        "struct<i32, unbound?, unbound?, struct<string, unbound?>, unbound?, unbound?>",
    )


def test_the_projection_of_a_read_keeps_the_columns_that_fit() -> None:
    read = wide()
    read["read"]["projection"] = {"select": {"structItems": [{"field": 3}, {"field": 6}, {"field": 0}]}}
    report = validate(message({"rel": read}))
    errors = [(int(item.code), item.path) for item in report if item.level is Level.ERROR]
    assert errors == [(6106, "relations[0].rel.read.projection.select.struct_items[1].field")]
    plan = report.document
    assert isinstance(plan, Plan) and isinstance(plan.relations[0], Read)
    assert str(plan.relations[0].schema) == "struct<map<string, i64>, unbound?, i32>"
    assert plan.relations[0].names == ("d", "", "a")


@pytest.mark.parametrize(
    ("outer", "code", "place"),
    [
        ({"stepsOut": 0}, 2, ".outer_reference.steps_out"),
        ({"stepsOut": 1}, 6001, ".outer_reference"),
        ({"relReference": 7}, 6001, ".outer_reference"),
        ({}, 1002, ".outer_reference"),
    ],
)
def test_an_outer_reference_that_leads_nowhere(outer: Json, code: int, place: str) -> None:
    relation = project({"selection": {"outerReference": outer, **direct(field(0))}}, input=wide())
    report = validate(message({"rel": relation}))
    errors = [(int(item.code), item.path.removeprefix(PLACE)) for item in report if item.level is Level.ERROR]
    assert errors == [(code, place)]
