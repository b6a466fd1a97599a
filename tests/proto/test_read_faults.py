"""What reading refuses, and where it says the fault is."""

from __future__ import annotations

import pytest

from tests.proto.messages import (
    I32,
    I64,
    NULLABLE,
    ONE,
    PROJECT,
    REQUIRED,
    STRING,
    TRUE,
    Json,
    call,
    column,
    fault,
    project,
    root,
    table,
)


@pytest.mark.parametrize(
    ("relation", "path", "text"),
    [
        ({}, "relations[0].rel", "a relation is missing"),
        ({"filter": {"condition": TRUE}}, "relations[0].rel.filter.input", "a relation is missing"),
        ({"filter": {"input": table(I32)}}, "relations[0].rel.filter.condition", "an expression is missing"),
        ({"read": {"namedTable": {"names": ["t"]}}}, "relations[0].rel.read", "base_schema is missing"),
        ({"read": {"baseSchema": {}}}, "relations[0].rel.read", "does not state its source"),
        (table({}), "relations[0].rel.read.base_schema.struct.types[0]", "a type is missing"),
        (
            {"read": {"baseSchema": {"names": ["a"], "struct": {"types": [I32, I32]}}, "namedTable": {}}},
            "relations[0].rel.read.base_schema.names",
            "there are 1 names for 2 fields",
        ),
        (project({}), f"{PROJECT}.expressions[0]", "an expression is missing"),
        (project({"cast": {"input": ONE}}), f"{PROJECT}.expressions[0].cast.type", "a type is missing"),
        (project({"cast": {"type": I32}}), f"{PROJECT}.expressions[0].cast.input", "an expression is missing"),
        (project({"literal": {}}), f"{PROJECT}.expressions[0].literal", "a literal is missing"),
        (project({"ifThen": {}}), f"{PROJECT}.expressions[0].if_then.ifs", "there is no clause"),
        (project({"subquery": {}}), f"{PROJECT}.expressions[0].subquery", "a subquery is missing"),
        (
            project({"subquery": {"scalar": {"input": table(I32, I32)}}}),
            f"{PROJECT}.expressions[0].subquery.scalar",
            "a scalar subquery has one column, this one has 2",
        ),
        (
            project({"subquery": {"setPredicate": {"tuples": table(I32)}}}),
            f"{PROJECT}.expressions[0].subquery.set_predicate.predicate_op",
            "predicate_op is unspecified",
        ),
        (
            project(column(2)),
            f"{PROJECT}.expressions[0].selection.direct_reference",
            "there is no field 2; the struct has 2",
        ),
        (project({"selection": {"rootReference": {}}}), f"{PROJECT}.expressions[0].selection", "reference is empty"),
        (
            project({"scalarFunction": call(7, ONE)}),
            f"{PROJECT}.expressions[0].scalar_function.function_reference",
            "the function 7 is not declared",
        ),
        (
            project({"nested": {"list": {}}}),
            f"{PROJECT}.expressions[0].nested.list.values",
            "a list without elements has no type",
        ),
        (project(input={"read": {}}), f"{PROJECT}.input.read", "base_schema is missing"),
        (
            project(emit={"outputMapping": [2]}),
            f"{PROJECT}.common.emit.output_mapping",
            "emit names column 2, but there are 2 columns",
        ),
        (
            {"join": {"left": table(I32), "right": table(I32), "expression": TRUE}},
            "relations[0].rel.join.type",
            "type is unspecified",
        ),
        (
            {"set": {"inputs": [table(I32), table(I64)], "op": "SET_OP_UNION_ALL"}},
            "relations[0].rel.set.inputs[1]",
            "column 0 is i64, in the primary input i32",
        ),
        ({"set": {"inputs": [table(I32), table(I32)]}}, "relations[0].rel.set.op", "op is unspecified"),
        (
            {"sort": {"input": table(I32), "sorts": [{"expr": ONE}]}},
            "relations[0].rel.sort.sorts[0].direction",
            "unspec",
        ),
        ({"aggregate": {"input": table(I32)}}, "relations[0].rel.aggregate", "the aggregate has no column"),
        (
            {"aggregate": {"input": table(I32), "groupingExpressions": [column(0)], "groupings": [{}]}},
            "relations[0].rel.aggregate.grouping_expressions[0]",
            "in no grouping set",
        ),
        (
            {"aggregate": {"input": table(I32), "groupings": [{"expressionReferences": [1]}]}},
            "relations[0].rel.aggregate.groupings[0]",
            "refers to expression 1",
        ),
        (
            {"hashJoin": {"left": table(I32), "right": table(I32), "type": "JOIN_TYPE_INNER"}},
            "relations[0].rel.hash_join.keys",
            "no keys",
        ),
        ({"exchange": {"input": table(I32)}}, "relations[0].rel.exchange", "how records are distributed"),
        ({"expand": {"input": table(I32), "fields": [{}]}}, "relations[0].rel.expand.fields[0]", "a field is missing"),
        ({"reference": {"subtreeOrdinal": 3}}, "relations[0].rel.reference", "there are 1 relation trees, no number 3"),
        ({"reference": {"subtreeOrdinal": 0}}, "relations[0]", "a relation tree refers to itself"),
        ({"detachedRelOrdinal": 0}, "relations[0].rel.detached_rel_ordinal", "0 detached relations"),
        (project(common=None) | project(relAnchor=0), f"{PROJECT}.common", "rel_anchor is 0"),
        (
            {"ddl": {"namedObject": {"names": ["t"]}, "object": "DDL_OBJECT_TABLE"}},
            "relations[0].rel.ddl.op",
            "op is unspecified",
        ),
        (
            {"ddl": {"op": "DDL_OP_DROP", "object": "DDL_OBJECT_TABLE"}},
            "relations[0].rel.ddl",
            "the table or view is missing",
        ),
    ],
)
def test_faults(relation: Json, path: str, text: str) -> None:
    error = fault({"rel": relation})
    assert error.path == path
    assert text in error.message


@pytest.mark.parametrize(
    ("literal", "text"),
    [
        ({"i8": 128}, "128 is out of range"),
        ({"i16": -32769}, "-32769 is out of range"),
        ({"uuid": "AAAA"}, "a uuid has 16 bytes, this one 3"),
        ({"decimal": {"value": "AAAA", "precision": 3, "scale": 0}}, "a decimal has 16 bytes, this one 3"),
        ({"decimal": {"value": "AAAAAAAAAAAAAAAAAAAAAA==", "precision": 39, "scale": 0}}, "there is no decimal<39, 0>"),
        ({"decimal": {"value": "AAAAAAAAAAAAAAAAAAAAAA==", "precision": 2, "scale": 3}}, "there is no decimal<2, 3>"),
        ({"decimal": {"value": "ZAAAAAAAAAAAAAAAAAAAAA==", "precision": 2, "scale": 0}}, "100 has more than 2 digits"),
        ({"varChar": {"value": "abc", "length": 2}}, "3 characters are too long for varchar<2>"),
        ({"precisionTime": {"precision": 0, "value": "86400"}}, "86400 is not a time of day"),
        ({"precisionTimestamp": {"precision": 13, "value": "0"}}, "precision is 13"),
        ({"intervalYearToMonth": {"years": -10_001, "months": 12}}, "-10001 years are too many"),
        ({"intervalYearToMonth": {"years": -10_000, "months": 200_000}}, "200000 months are too many"),
        ({"intervalDayToSecond": {"days": 3_650_001, "seconds": -86_400, "precision": 0}}, "3650001 days are too many"),
        (
            {"intervalCompound": {"intervalDayToSecond": {"days": -3_650_001, "precision": 0}}},
            "-3650001 days are too many",
        ),
        ({"list": {}}, "a list without elements has no type"),
        ({"list": {"values": [{"i32": 1}, {"i64": "1"}]}}, "the element is i64, those before are i32"),
        ({"map": {}}, "a map without entries has no type"),
        (
            {"map": {"keyValues": [{"key": {"null": {"i32": NULLABLE}}, "value": {"i32": 1}}]}},
            "the key of a map is null",
        ),
        ({"userDefined": {"typeReference": 1}}, "the type 1 is not declared"),
    ],
)
def test_literals_out_of_range(literal: Json, text: str) -> None:
    error = fault({"rel": project({"literal": literal})})
    assert error.path.startswith(f"{PROJECT}.expressions[0].literal.")
    assert text in error.message


@pytest.mark.parametrize(
    ("type", "text"),
    [
        ({"decimal": {"precision": 39, **REQUIRED}}, "precision is 39"),
        ({"decimal": {"precision": 3, "scale": 4, **REQUIRED}}, "scale is 4"),
        ({"varchar": REQUIRED}, "length is 0"),
        ({"precisionTime": {"precision": 13, **REQUIRED}}, "precision is 13"),
        ({"intervalDay": REQUIRED}, "the precision of an interval_day is not set"),
        ({"userDefined": {"typeReference": 4, **REQUIRED}}, "the type 4 is not declared"),
        ({"alias": {"typeAliasReference": 4, **REQUIRED}}, "the type alias 4 is not declared"),
        ({"list": REQUIRED}, "a type is missing"),
    ],
)
def test_types_out_of_range(type: Json, text: str) -> None:
    assert text in fault({"rel": table(type)}).message


def test_type_aliases() -> None:
    """The examples that are not OK in types/type_aliases."""

    def alias(anchor: int, type: Json) -> Json:
        return {"typeAliasAnchor": anchor, "type": type}

    def to(anchor: int) -> Json:
        return {"alias": {"typeAliasReference": anchor, **REQUIRED}}

    def struct(type: Json) -> Json:
        return {"struct": {"types": [type], **REQUIRED}}

    assert "that of another alias" in fault(typeAliases=[alias(1, I32), alias(4, to(1))]).message
    assert "the type alias 0 is not declared" in fault(typeAliases=[alias(5, struct(to(0)))]).message
    assert "refers to itself" in fault(typeAliases=[alias(6, struct(to(6)))]).message
    error = fault(typeAliases=[alias(7, struct(to(8))), alias(8, struct(to(7)))])
    assert "refers to itself" in error.message


def test_literals_of_aliases_are_user_defined() -> None:
    literal = {"userDefined": {"typeAliasReference": 1, "struct": {}}}
    error = fault({"rel": project({"literal": literal})}, typeAliases=[{"typeAliasAnchor": 1, "type": I32}])
    assert error.path == f"{PROJECT}.expressions[0].literal.user_defined"
    assert "stands for i32, which is not user-defined" in error.message


def test_names_of_the_root() -> None:
    error = fault(root(table(I32, STRING), "a"))
    assert error.path == "relations[0].root.names"
    assert "there are 1 names for 2 fields" in error.message
