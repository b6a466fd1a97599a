"""What is wrong in a relation is one error: the place, what it is and what to do, before Spark runs anything."""

from __future__ import annotations

from typing import Any

import pytest

from pyspark_substrait.errors import InvalidPlanError
from tests.proto.messages import I32, NULLABLE, ONE, REQUIRED, STRING, TRUE, Json, call, column, table
from tests.spark.faults import BRANCH, NULL, PAIR, QUERY, RANGE, TEXT, refused, sort


def read(*cells: list[Json], types: Any = (I32, STRING)) -> Json:
    """A virtual table."""
    made = table(*types)["read"]
    made.pop("namedTable")
    return {"read": {**made, "virtualTable": {"expressions": [{"fields": row} for row in cells]}}}


BOTH: Json = {"left": table(I32), "right": table(STRING)}
SUM: Json = {"measure": {"functionReference": 4, "arguments": [{"value": column(0)}], "phase": 3}}
NULL_INSIDE: Json = {"literal": {"struct": {"fields": [{"null": {"i32": NULLABLE}}, {"string": "x"}]}}}
OPTIONAL = {"names": ["a"], "struct": {"types": [{"i32": NULLABLE}], **REQUIRED}}

#: a relation: where the fault is (behind the relation), and what the error says
RELATIONS: dict[str, tuple[Json, str, str]] = {
    "a filter by a number": (
        {"filter": {"input": QUERY, "condition": ONE}},
        "filter.condition",
        "the condition is i32",
    ),
    "a read filter by a number": (table(I32, filter=ONE), "read.filter", "the condition is i32"),
    "a best-effort filter by a number": (
        table(I32, bestEffortFilter=ONE),
        "read.best_effort_filter",
        "the condition is i32",
    ),
    "a join by a number": (
        {"join": {**BOTH, "type": "JOIN_TYPE_INNER", "expression": ONE}},
        "join.expression",
        "the condition is i32",
    ),
    "a filter behind a join by a number": (
        {"join": {**BOTH, "type": "JOIN_TYPE_INNER", "expression": TRUE, "postJoinFilter": ONE}},
        "join.post_join_filter",
        "the condition is i32",
    ),
    "a nested loop join by a number": (
        {"nestedLoopJoin": {**BOTH, "type": "JOIN_TYPE_INNER", "expression": ONE}},
        "nested_loop_join.expression",
        "the condition is i32",
    ),
    "a filter of a measure by a number": (
        {"aggregate": {"input": QUERY, "measures": [{**SUM, "filter": ONE}]}},
        "aggregate.measures[0].filter",
        "the condition is i32",
    ),
    "a measure over texts": (
        {"aggregate": {"input": table(STRING), "measures": [SUM]}},
        "aggregate.measures[0].measure",
        "sum",
    ),
    "a separator from a column": (
        {
            "aggregate": {
                "input": table(STRING, STRING),
                "measures": [{"measure": call(3, column(0), column(1), phase=3)}],
            }
        },
        "aggregate.measures[0].measure.arguments[1]",
        "takes only a constant here",
    ),
    "a scalar function as a measure": (
        {"aggregate": {"input": QUERY, "measures": [{"measure": {"functionReference": 1, "phase": 3}}]}},
        "aggregate.measures[0].measure",
        "add",
    ),
    "a grouping set of nothing": (
        {"aggregate": {"input": QUERY, "groupings": [{"expressionReferences": [2]}], "measures": [SUM]}},
        "aggregate.groupings[0]",
        "refers to expression 2",
    ),
    "a fetch of a text": ({"fetch": {"input": QUERY, "countExpr": TEXT}}, "fetch.count_expr", "integer"),
    "a negative fetch": (
        {"fetch": {"input": QUERY, "offsetExpr": {"literal": {"i64": "-1"}}}},
        "fetch.offset_expr",
        "negative",
    ),
    "a fetch by a column": (
        {"fetch": {"input": QUERY, "countExpr": column(0)}},
        "fetch.count_expr.selection",
        "there is no input record",
    ),
    "an emit of nothing": (
        {"filter": {"common": {"emit": {"outputMapping": [1]}}, "input": QUERY, "condition": TRUE}},
        "filter.common.emit.output_mapping",
        "emit names column 1, but there are 1 columns",
    ),
    "a row of another width": (
        read([ONE]),
        "read.virtual_table.expressions[0]",
        "the row has 1 values for 2 columns",
    ),
    "a cell of another type": (
        read([ONE, TEXT], [TEXT, TEXT]),
        "read.virtual_table.expressions[1].fields[0]",
        "the value is string, its column i32",
    ),
    "a null in a required column": (
        read([NULL, TEXT]),
        "read.virtual_table.expressions[0].fields[0]",
        "the value is null, but the type of its column, i32, has no null there",
    ),
    "a null in a required field": (
        read([NULL_INSIDE], types=(PAIR,)) | {},
        "read.virtual_table.expressions[0].fields[0]",
        "the value is null, but the type of its column, struct<i32, string>, has no null there",
    ),
    "a value that may be null in a required column": (
        read([{"ifThen": {"ifs": [BRANCH]}}, TEXT]),
        "read.virtual_table.expressions[0].fields[0]",
        "the value is i32?, which may be null",
    ),
    "a reference in a virtual table": (
        read([column(0), TEXT]),
        "read.virtual_table.expressions[0].fields[0].selection",
        "there is no input record",
    ),
    "a projection of nothing": (
        table(I32, projection={"select": {"structItems": [{"field": 4}]}}),
        "read.projection",
        "field 4",
    ),
    "sets of two widths": (
        {"set": {"inputs": [QUERY, table(I32, I32)], "op": "SET_OP_UNION_ALL"}},
        "set.inputs[1]",
        "input 1 has 2 columns, the primary input 1",
    ),
    "a set of one": ({"set": {"inputs": [QUERY], "op": "SET_OP_UNION_ALL"}}, "set", "at least two inputs"),
    "a sort in no direction": (
        {"sort": {"input": QUERY, "sorts": [{"expr": column(0)}]}},
        "sort.sorts[0].direction",
        "direction is unspecified",
    ),
    "keys of a join in the other side": (
        {
            "hashJoin": {
                **BOTH,
                "type": "JOIN_TYPE_INNER",
                "keys": [
                    {
                        "left": column(1)["selection"],
                        "right": column(0)["selection"],
                        "comparison": {"simple": "SIMPLE_COMPARISON_TYPE_EQ"},
                    }
                ],
            }
        },
        "hash_join.keys[0].left.direct_reference",
        "there is no field 1",
    ),
    "keys of a join of two types": (
        {
            "hashJoin": {
                **BOTH,
                "type": "JOIN_TYPE_INNER",
                "keys": [
                    {
                        "left": column(0)["selection"],
                        "right": column(0)["selection"],
                        "comparison": {"simple": "SIMPLE_COMPARISON_TYPE_EQ"},
                    }
                ],
            }
        },
        "hash_join.keys[0]",
        "i32 is compared with string",
    ),
    "an expansion of two types": (
        {"expand": {"input": QUERY, "fields": [{"switchingField": {"duplicates": [ONE, TEXT]}}]}},
        "expand.fields[0].switching_field.duplicates[1]",
        "this is string, where the others are i32",
    ),
    "a column set to another type": (
        {
            "update": {
                "namedTable": {"names": ["t"]},
                "tableSchema": OPTIONAL,
                "condition": TRUE,
                "transformations": [{"transformation": TEXT, "columnTarget": 0}],
            }
        },
        "update.transformations[0].transformation",
        "the value is string, its column i32?",
    ),
    "a window over a text by numbers": (
        {
            "window": {
                "input": table(STRING),
                "windowFunctions": [
                    {
                        "functionReference": 5,
                        "phase": 3,
                        "boundsType": RANGE,
                        "upperBound": {"following": {"offsetExpr": ONE}},
                    }
                ],
                "sorts": [sort(column(0))],
            }
        },
        "window.window_functions[0].upper_bound.following.offset_expr",
        "cannot be added to the string",
    ),
    "an update by a number": (
        {"update": {"namedTable": {"names": ["t"]}, "tableSchema": OPTIONAL, "condition": ONE}},
        "update.condition",
        "the condition is i32",
    ),
}


@pytest.mark.parametrize("name", RELATIONS)
def test_faults_of_relations(name: str) -> None:
    relation, path, text = RELATIONS[name]
    if name == "a null in a required field":
        relation["read"]["baseSchema"]["names"] = ["c", "x", "y"]
    error = refused(relation)
    assert isinstance(error, InvalidPlanError)
    assert error.path == f"relations[0].rel.{path}"
    assert text in error.message


def test_names_and_bindings() -> None:
    assert refused(QUERY, "a", "b").path == "relations[0].root.names"
    twice = [{"parameterAnchor": 3, "value": {"i32": value}} for value in (1, 2)]
    error = refused(QUERY, "a", parameterBindings=twice)
    assert (error.path, error.message) == ("parameter_bindings[1]", "the parameter 3 is bound twice")
