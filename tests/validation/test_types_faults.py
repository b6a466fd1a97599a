"""Reading goes on behind a fault in a type. Spec: types/type_classes, types/named_structs."""

from __future__ import annotations

import pytest

from pyspark_substrait import validate
from pyspark_substrait.codes import Level
from tests.proto.messages import I32, NULLABLE, REQUIRED, Json, message, table

SCHEMA = "relations[0].rel.read.base_schema"


def errors(relation: Json) -> list[tuple[int, str]]:
    report = validate(message({"rel": relation}))
    return [(int(found.code), found.path) for found in report if found.level is Level.ERROR]


@pytest.mark.parametrize(
    ("type", "code", "place"),
    [
        ({}, 1002, ""),
        ({"i32": {"nullability": 7}}, 1101, ".i32"),
        ({"varchar": {"length": 0, **REQUIRED}}, 4002, ".varchar"),
        ({"fixedChar": {"length": -5, **REQUIRED}}, 4002, ".fixed_char"),
        ({"fixedBinary": {**REQUIRED}}, 4002, ".fixed_binary"),
        ({"decimal": {"precision": 39, "scale": 2, **REQUIRED}}, 4002, ".decimal"),
        ({"decimal": {"precision": 5, "scale": 6, **REQUIRED}}, 4002, ".decimal"),
        ({"decimal": {"precision": 0, "scale": -1, **REQUIRED}}, 4002, ".decimal"),
        ({"precisionTimestamp": {"precision": 13, **REQUIRED}}, 4002, ".precision_timestamp"),
        ({"intervalDay": {**REQUIRED}}, 1002, ".interval_day"),
        ({"list": {"type": {"varchar": {**REQUIRED}}, **REQUIRED}}, 4002, ".list.type.varchar"),
        ({"map": {"key": I32, **REQUIRED}}, 1002, ".map.value"),
        ({"userDefined": {"typeReference": 9, **NULLABLE}}, 3001, ".user_defined"),
        ({"alias": {"typeAliasReference": 9, **NULLABLE}}, 3001, ".alias"),
    ],
)
def test_each_fault_is_found_once(type: Json, code: int, place: str) -> None:
    assert errors(table(I32, type, I32)) == [(code, f"{SCHEMA}.struct.types[1]{place}")]


def test_all_types_of_a_schema_are_looked_at() -> None:
    types = [{"varchar": {**REQUIRED}}, I32, {"decimal": {"precision": 99, **REQUIRED}}, {}]
    assert errors(table(*types)) == [
        (4002, f"{SCHEMA}.struct.types[0].varchar"),
        (4002, f"{SCHEMA}.struct.types[2].decimal"),
        (1002, f"{SCHEMA}.struct.types[3]"),
    ]


@pytest.mark.parametrize("names", [["a"], ["a", "b", "c", "d"]])
def test_names_and_fields_that_do_not_match(names: list[str]) -> None:
    relation = table(I32, {"struct": {"types": [I32], **REQUIRED}})
    relation["read"]["baseSchema"]["names"] = names
    assert errors(relation) == [(4003, f"{SCHEMA}.names")]


def test_names_of_what_may_be_inside_an_unknown_type_are_not_counted() -> None:
    relation = table({"userDefined": {"typeReference": 9, **NULLABLE}}, I32)
    relation["read"]["baseSchema"]["names"] = ["a", "x", "y", "b"]
    assert errors(relation) == [(3001, f"{SCHEMA}.struct.types[0].user_defined")]


def test_what_refers_to_a_column_of_a_broken_type_is_no_further_fault() -> None:
    columns = table({"decimal": {"precision": 99, **REQUIRED}})
    condition = {"selection": {"rootReference": {}, "directReference": {"structField": {"field": 0}}}}
    assert errors({"filter": {"input": columns, "condition": condition}}) == [
        (4002, "relations[0].rel.filter.input.read.base_schema.struct.types[0].decimal")
    ]
