"""Reading goes on behind a fault in a relation. Spec: relations/logical_relations, relations/physical_relations."""

from __future__ import annotations

import pytest

from pyspark_substrait import validate
from pyspark_substrait.codes import Level
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model.plan import Plan, RelRoot
from tests.proto.messages import BOOL, I32, I64, NULLABLE, ONE, STRING, TRUE, Json, column, load, message, root, table

REL = "relations[0].rel"
BAD = column(99)
"""A fault of its own, to see whether what is behind another fault was read."""


def plan_of(relation: Json) -> Json:
    return relation if "root" in relation else {"rel": relation}


def errors(*relations: Json, **fields: object) -> list[tuple[int, str]]:
    report = validate(message(*map(plan_of, relations), **fields))
    return [(int(found.code), found.path) for found in report if found.level is Level.ERROR]


def warnings(*relations: Json) -> list[tuple[int, str]]:
    report = validate(message(*map(plan_of, relations)))
    return [(int(found.code), found.path) for found in report if found.level is Level.WARNING]


def schema(relation: Json) -> str:
    document = validate(message(plan_of(relation))).document
    assert isinstance(document, Plan)
    (top,) = document.relations
    assert not isinstance(top, RelRoot)
    return str(top.schema)


CASES: list[tuple[Json, list[tuple[int, str]], str]] = [
    ({"filter": {"input": table(I32, STRING)}}, [(1002, f"{REL}.filter")], "struct<i32, string>"),
    ({"filter": {"condition": TRUE}}, [(5002, f"{REL}.filter.input")], "struct<>"),
    ({"read": {"namedTable": {"names": ["t"]}}}, [(1002, f"{REL}.read")], "struct<>"),
    (
        {"read": {"baseSchema": table(I32)["read"]["baseSchema"], "filter": BAD}},
        [(1002, f"{REL}.read"), (6106, f"{REL}.read.filter.selection.direct_reference.struct_field.field")],
        "struct<i32>",
    ),
    (
        table(I32, STRING, common={"emit": {"outputMapping": [1, 5, 0, 7]}}),
        [(4004, f"{REL}.read.common.emit.output_mapping[{index}]") for index in (1, 3)],
        "struct<string, unbound, i32, unbound>",
    ),
    (
        {"join": {"left": table(I32), "right": table(I64), "expression": BAD}},
        [
            (6106, f"{REL}.join.expression.selection.direct_reference.struct_field.field"),
            (1102, f"{REL}.join.type"),
        ],
        "struct<>",
    ),
    (
        {"join": {"left": table(I32), "right": table(I64), "type": "JOIN_TYPE_LEFT"}},
        [(1002, f"{REL}.join")],
        "struct<i32, i64?>",
    ),
    (
        {
            "hashJoin": {
                "left": table(I32),
                "right": table(I64),
                "type": "JOIN_TYPE_INNER",
                "keys": [{"left": column(0)["selection"]}, {"left": BAD["selection"], "right": column(0)["selection"]}],
            }
        },
        [
            (1002, f"{REL}.hash_join.keys[0]"),
            (6106, f"{REL}.hash_join.keys[1].left.direct_reference.struct_field.field"),
            (1102, f"{REL}.hash_join.keys[1].comparison.simple"),
        ],
        "struct<i32, i64>",
    ),
    (
        {"set": {"inputs": [table(I32, STRING), table(I32, I64), table(I32)], "op": "SET_OP_UNION_ALL"}},
        [(4005, f"{REL}.set.inputs[1]"), (4005, f"{REL}.set.inputs[2]")],
        "struct<i32, string>",
    ),
    ({"set": {"inputs": [table(I32)], "op": "SET_OP_UNION_ALL"}}, [(5002, f"{REL}.set")], "struct<i32>"),
    (
        {"set": {"inputs": [table(I32), table(I64)]}},
        [(4005, f"{REL}.set.inputs[1]"), (1102, f"{REL}.set.op")],
        "struct<>",
    ),
    (
        {
            "aggregate": {
                "input": table(I32, STRING),
                "groupingExpressions": [column(1), column(0)],
                "groupings": [{"expressionReferences": [0, 4]}],
                "measures": [{}],
            }
        },
        [
            (5100, f"{REL}.aggregate.grouping_expressions[1]"),
            (5100, f"{REL}.aggregate.groupings[0]"),
            (1002, f"{REL}.aggregate.measures[0]"),
        ],
        "struct<string, i32?, unbound>",
    ),
    ({"aggregate": {"input": table(I32)}}, [(5003, f"{REL}.aggregate")], "struct<>"),
    (
        {"exchange": {"input": table(I32)}},
        [(1002, f"{REL}.exchange")],
        "struct<i32>",
    ),
    (
        {"expand": {"input": table(I32), "fields": [{}, {"consistentField": column(0)}]}},
        [(1002, f"{REL}.expand.fields[0]")],
        "struct<unbound, i32, i32>",
    ),
    ({"detachedRelOrdinal": 3}, [(3101, f"{REL}.detached_rel_ordinal")], "struct<>"),
    (
        {
            "update": {
                "namedTable": {"names": ["t"]},
                "tableSchema": table(I32, BOOL)["read"]["baseSchema"],
                "transformations": [
                    {"transformation": ONE, "columnTarget": 5},
                    {"transformation": ONE, "columnTarget": 1},
                ],
            }
        },
        [
            (6106, f"{REL}.update.transformations[0].column_target"),
            (4005, f"{REL}.update.transformations[1].transformation"),
        ],
        "struct<i64>",
    ),
    (
        {"write": {"input": table(I32), "tableSchema": table(I32)["read"]["baseSchema"]}},
        [(1002, f"{REL}.write"), (1102, f"{REL}.write.op")],
        "struct<>",
    ),
]


@pytest.mark.parametrize(("relation", "expected", "columns"), CASES, ids=lambda value: next(iter(value), "")[:12])
def test_each_fault_is_found_once_and_the_schema_is_kept(
    relation: Json, expected: list[tuple[int, str]], columns: str
) -> None:
    assert sorted(errors(relation)) == sorted(expected)
    assert schema(relation).replace("unbound?", "unbound") == columns


@pytest.mark.parametrize("relation", [case[0] for case in CASES], ids=lambda value: next(iter(value)))
def test_what_is_found_is_what_loading_refuses(relation: Json) -> None:
    with pytest.raises(InvalidPlanError):
        load({"rel": relation})


def test_a_fault_below_does_not_hide_those_above() -> None:
    broken = table(I32, {"varchar": {"length": -1, **NULLABLE}}, common={"emit": {"outputMapping": [0, 1, 2]}})
    plan = {"sort": {"input": {"filter": {"input": broken, "condition": ONE}}, "sorts": [{"expr": BAD}]}}
    inner = "relations[0].root.input.sort"
    assert sorted(errors(root(plan, "a", "b"))) == sorted(
        [
            (4002, f"{inner}.input.filter.input.read.base_schema.struct.types[1].varchar"),
            (4004, f"{inner}.input.filter.input.read.common.emit.output_mapping[2]"),
            (4005, f"{inner}.input.filter.condition"),
            (6106, f"{inner}.sorts[0].expr.selection.direct_reference.struct_field.field"),
            (1002, f"{inner}.sorts[0]"),
            (4003, "relations[0].root.names"),
        ]
    )


def test_an_anchor_of_two_relations() -> None:
    twice = [table(I32, common={"relAnchor": 3}), table(I64, common={"relAnchor": 3})]
    cross = {"cross": {"left": twice[0], "right": twice[1], "common": {"relAnchor": 0}}}
    assert errors(cross) == [(3005, f"{REL}.cross.common"), (3009, f"{REL}.cross.right.read.common")]
    assert schema(cross) == "struct<i32, i64>"


def test_a_reference_to_a_tree_that_is_not_there() -> None:
    assert errors({"reference": {"subtreeOrdinal": 4}}) == [(3101, f"{REL}.reference")]


def test_rows_of_a_virtual_table() -> None:
    rows = [[{"literal": {"i32": 1}}], [ONE, ONE], [ONE, {"literal": {"string": "a"}}], [{"literal": {"i8": 999}}] * 2]
    found = table(I32, STRING)
    del found["read"]["namedTable"]
    found["read"]["virtualTable"] = {"expressions": [{"fields": row} for row in rows]}
    cells = f"{REL}.read.virtual_table.expressions"
    assert errors(found) == [
        (4005, f"{cells}[0]"),
        (4005, f"{cells}[1].fields[1]"),
        (6002, f"{cells}[3].fields[0].literal.i8"),
        (4005, f"{cells}[3].fields[1]"),
        (6002, f"{cells}[3].fields[1].literal.i8"),
    ]
    assert schema(found) == "struct<i32, string>"


def test_a_null_of_a_required_type_in_a_column_of_that_type_is_one_fault() -> None:
    found = table(I32)
    del found["read"]["namedTable"]
    found["read"]["virtualTable"] = {"expressions": [{"fields": [{"literal": {"null": I32}}]}]}
    assert errors(found) == [(4008, f"{REL}.read.virtual_table.expressions[0].fields[0].literal.null")]
    assert warnings(found) == []


def test_files() -> None:
    read = table(I32)
    del read["read"]["namedTable"]
    read["read"]["localFiles"] = {
        "items": [
            {"uriFile": "file:///a/b", "parquet": {}},
            {"uriFile": "C:\\data", "parquet": {}},
            {"uriPathGlob": "/a/*/b?", "parquet": {}},
            {"uriPathGlob": "/a/%5Bb", "orc": {}},
            {"uriFolder": "/a", "start": 5, "arrow": {}},
            {"uriFile": "/a"},
            {"parquet": {}},
        ]
    }
    items = f"{REL}.read.local_files.items"
    assert errors(read) == [(1002, f"{items}[6]")]
    assert warnings(read) == [
        (4, f"{items}[1].uri_file"),
        (5, f"{items}[3].uri_path_glob"),
        (2, f"{items}[4]"),
        (1002, f"{items}[5]"),
    ]


def test_a_projection_without_expressions() -> None:
    """Spec: "At least one expression required"."""
    assert warnings({"project": {"input": table(I32)}}) == [(1002, f"{REL}.project")]
    load({"rel": {"project": {"input": table(I32)}}})
