"""Reading goes on behind a literal that isn't one of its type, which keeps its type. Spec: types/type_classes."""

from __future__ import annotations

import base64

import pytest

from pyspark_substrait import validate
from pyspark_substrait.codes import Level
from pyspark_substrait.model.plan import Plan
from pyspark_substrait.model.relations import Project
from tests.proto.messages import I32, ONE, PROJECT, REQUIRED, Json, message, project

PLACE = f"{PROJECT}.expressions[0].literal"


def found(literal: Json, level: Level = Level.ERROR) -> list[tuple[int, str]]:
    report = validate(message({"rel": project({"literal": literal})}))
    return [(int(item.code), item.path.removeprefix(PLACE)) for item in report if item.level is level]


def type_of(literal: Json) -> str:
    plan = validate(message({"rel": project({"literal": literal})})).document
    assert isinstance(plan, Plan) and isinstance(plan.relations[0], Project)
    return str(plan.relations[0].expressions[0].type)


def data(content: bytes) -> str:
    return base64.b64encode(content).decode()


@pytest.mark.parametrize(
    ("literal", "expected", "type"),
    [
        ({"i8": 128}, [(6002, ".i8")], "i8"),
        ({"i16": -40_000, "nullable": True}, [(6002, ".i16")], "i16?"),
        ({"varChar": {"value": "abc", "length": 2}}, [(6002, ".var_char.value")], "varchar<2>"),
        ({"uuid": data(b"short")}, [(6002, ".uuid")], "uuid"),
        ({"decimal": {"value": data(b"1"), "precision": 3}}, [(6002, ".decimal.value")], "decimal<3, 0>"),
        (
            {"decimal": {"value": data((1000).to_bytes(16, "little")), "precision": 3}},
            [(6002, ".decimal.value")],
            "decimal<3, 0>",
        ),
        ({"decimal": {"value": data(bytes(16)), "precision": 40}}, [(4002, ".decimal")], "unbound?"),
        (
            {"intervalYearToMonth": {"years": 10_001, "months": -120_001}},
            [(6002, ".interval_year_to_month.months"), (6002, ".interval_year_to_month.years")],
            "interval_year",
        ),
        (
            {"intervalDayToSecond": {"days": -3_650_001, "precision": 6}},
            [(6002, ".interval_day_to_second.days")],
            "interval_day<6>",
        ),
        ({"precisionTime": {"precision": 0, "value": 86_400}}, [(6002, ".precision_time")], "precision_time<0>"),
        ({"precisionTimestamp": {"precision": 13}}, [(4002, ".precision_timestamp")], "unbound?"),
        ({"list": {}}, [(1002, ".list")], "list<unbound?>"),
        (
            {"list": {"values": [{"i8": 1}, {"i16": 1}, {"i8": 300}]}},
            [(4005, ".list.values[1]"), (6002, ".list.values[2].i8")],
            "list<i8>",
        ),
        (
            {"map": {"keyValues": [{"key": {"null": {"i8": {"nullability": 1}}}, "value": {"i8": 1}}]}},
            [(4008, ".map.key_values[0].key")],
            "map<i8?, i8>",
        ),
        (
            {"struct": {"fields": [{"i8": 300}, {}]}},
            [(6002, ".struct.fields[0].i8"), (1002, ".struct.fields[1]")],
            "struct<i8, unbound?>",
        ),
        ({}, [(1002, "")], "unbound?"),
    ],
)
def test_each_fault_is_found_once_and_the_type_is_kept(
    literal: Json, expected: list[tuple[int, str]], type: str
) -> None:
    assert sorted(found(literal)) == sorted(expected)
    assert type_of(literal) == type


@pytest.mark.parametrize(
    ("literal", "expected"),
    [
        ({"date": -354_285}, []),
        ({"date": -354_286}, [(6002, ".date")]),
        ({"date": 2_932_896}, []),
        ({"date": 2_932_897}, [(6002, ".date")]),
        ({"fixedChar": ""}, [(4002, ".fixed_char")]),
        ({"intervalYearToMonth": {"years": 5000, "months": 60_000}}, []),
        ({"intervalYearToMonth": {"years": 5000, "months": 60_001}}, [(6002, ".interval_year_to_month")]),
    ],
)
def test_a_value_out_of_the_range_that_every_engine_has(literal: Json, expected: list[tuple[int, str]]) -> None:
    """Spec: "A date within [1000-01-01..9999-12-31]"; implementations "may include more"."""
    assert found(literal, Level.WARNING) == expected
    assert found(literal) == []


def test_a_wrong_literal_does_not_hide_what_is_wrong_beside_it() -> None:
    throws = {"failureBehavior": "FAILURE_BEHAVIOR_THROW_EXCEPTION"}
    cast = {"cast": {"type": I32, "input": {"literal": {"i8": 999}}, **throws}}
    report = validate(message({"rel": project(cast, ONE, {})}))
    assert [(int(item.code), item.path) for item in report if item.level is Level.ERROR] == [
        (6002, f"{PROJECT}.expressions[0].cast.input.literal.i8"),
        (1002, f"{PROJECT}.expressions[2]"),
    ]


def test_a_user_defined_literal_of_an_undeclared_type() -> None:
    assert found({"userDefined": {"typeReference": 3, "struct": {"fields": [{"i8": 300}]}}}) == [
        (3001, ".user_defined"),
        (6002, ".user_defined.struct.fields[0].i8"),
    ]


def test_a_null_of_a_required_type_is_taken_and_remarked() -> None:
    assert found({"null": {"i32": REQUIRED}}, Level.WARNING) == [(4008, ".null")]
