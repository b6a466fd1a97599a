"""What expressions can refer to, and how the parts of a plan find each other."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from google.protobuf import json_format

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model import relations as r
from pyspark_substrait.model.plan import RelRoot
from pyspark_substrait.proto import messages, read, write
from tests.proto.messages import (
    ARITHMETIC,
    BOOL,
    I32,
    I64,
    ONE,
    REGISTRY,
    REQUIRED,
    STRING,
    TRUE,
    Json,
    call,
    column,
    fault,
    first,
    functions,
    load,
    message,
    project,
    root,
    table,
)


def exists(query: Json) -> Json:
    return {"subquery": {"setPredicate": {"predicateOp": "PREDICATE_OP_EXISTS", "tuples": query}}}


def outer(position: int, **how: int) -> Json:
    return column(position, outerReference=how)


def filter(input: Json, condition: Json, **common: Any) -> Json:
    return {"filter": {"input": input, "condition": condition, "common": common}}


def test_steps_out_count_subqueries() -> None:
    inner = filter(table(BOOL), {"cast": {"type": BOOL, "input": outer(0, stepsOut=2)}})
    relation = filter(table(I64), exists(filter(table(STRING), exists(inner))))
    plan = load({"rel": relation})
    text = str(plan.relations[0])
    assert "OuterReference(steps_out=2, rel_reference=None), reference=(StructField(field=0),), type=I64" in text
    too_far = filter(table(I64), exists(filter(table(BOOL), outer(0, stepsOut=2))))
    assert "there are 1 subqueries around this, not 2" in fault({"rel": too_far}).message
    assert "steps_out is 0" in fault({"rel": filter(table(BOOL), outer(0, stepsOut=0))}).message


def test_rel_references() -> None:
    relation = filter(table(BOOL, I64), exists(filter(table(STRING), outer(0, relReference=4))), relAnchor=4)
    assert "rel_reference=4" in str(load({"rel": relation}).relations[0])
    error = fault({"rel": filter(table(BOOL), exists(filter(table(STRING), outer(0, relReference=4))))})
    assert error.path.endswith("set_predicate.tuples.filter.condition.selection.outer_reference")
    assert "no relation around this has the rel_anchor 4" in error.message


def test_rel_anchors_are_unique() -> None:
    relation = filter(filter(table(BOOL), TRUE, relAnchor=4), TRUE, relAnchor=4)
    error = fault({"rel": relation})
    assert error.path == "relations[0].rel.filter.input.filter.common"
    assert "the rel_anchor 4 is that of relations[0].rel.filter too" in error.message


def test_lateral_joins() -> None:
    """The right input sees the left record, the condition both."""
    join = {
        "common": {"relAnchor": 2},
        "left": table(I64, BOOL),
        "right": filter(table(STRING), outer(1, relReference=2)),
        "expression": exists(filter(table(I32), {"cast": {"type": BOOL, "input": outer(2, relReference=2)}})),
        "type": "JOIN_TYPE_INNER",
    }
    text = str(load({"rel": {"lateralJoin": join}}).relations[0])
    assert "rel_reference=2), reference=(StructField(field=1),), type=Boolean" in text
    assert "rel_reference=2), reference=(StructField(field=2),), type=String" in text
    join["right"] = filter(table(STRING), outer(2, relReference=2))
    assert "there is no field 2; the struct has 2" in fault({"rel": {"lateralJoin": join}}).message
    join["right"] = filter(table(STRING), outer(0, stepsOut=1))
    assert "there are 0 subqueries" in fault({"rel": {"lateralJoin": join}}).message


def test_places_without_a_record() -> None:
    offset = {"fetch": {"input": table(I64), "offsetExpr": column(0)}}
    error = fault({"rel": offset})
    assert error.path == "relations[0].rel.fetch.offset_expr.selection"
    assert "no input record" in error.message
    row = {"fields": [column(0)]}
    schema = {"names": ["a"], "struct": {"types": [I32], **REQUIRED}}
    values = {"read": {"baseSchema": schema, "virtualTable": {"expressions": [row]}}}
    assert "no input record" in fault({"rel": values}).message
    values["read"]["virtualTable"] = {"expressions": [{"fields": [ONE, ONE]}]}
    assert "the row has 2 values for 1 columns" in fault({"rel": values}).message


def test_what_joins_see() -> None:
    join: Json = {
        "left": table(I64),
        "right": table(BOOL),
        "expression": column(1),
        "postJoinFilter": column(1),
        "type": "JOIN_TYPE_LEFT_SEMI",
    }
    error = fault({"rel": {"join": join}})
    assert error.path == "relations[0].rel.join.post_join_filter.selection.direct_reference"
    assert load({"rel": {"join": {**join, "type": "JOIN_TYPE_LEFT"}}}).relations
    keys = [{"left": column(0)["selection"], "right": column(0)["selection"], "comparison": {"simple": 1}}]
    hashed = {"left": table(I64), "right": table(I64, I64), "type": "JOIN_TYPE_INNER", "keys": keys}
    assert load({"rel": {"hashJoin": hashed}}).relations
    hashed["keys"] = [{**keys[0], "left": column(1)["selection"]}]
    error = fault({"rel": {"hashJoin": hashed}})
    assert error.path == "relations[0].rel.hash_join.keys[0].left.direct_reference"


def test_lambdas() -> None:
    def parameter(steps: int = 0) -> Json:
        return column(0, lambdaParameterReference={"stepsOut": steps})

    def function(body: Json) -> Json:
        return {"parameters": {"types": [I32], **REQUIRED}, "body": body}

    assert str(first(load({"rel": project({"lambda": function(parameter())})})).type) == "func<i32 -> i32>"
    error = fault({"rel": project({"lambda": function(parameter(1))})})
    assert error.path.endswith("lambda.body.selection.lambda_parameter_reference")
    assert "there are 1 lambdas around this" in error.message
    invoked = {"lambdaInvocation": {"lambda": function(parameter()), "arguments": {"fields": [ONE, ONE]}}}
    assert "there are 2 arguments for 1 parameters" in fault({"rel": project(invoked)}).message
    invoked["lambdaInvocation"]["arguments"] = {"fields": [{"literal": {"string": "x"}}]}
    assert "the argument is string, the parameter i32" in fault({"rel": project(invoked)}).message


def test_named_lambdas_see_nothing_outside() -> None:
    def named(anchor: int, body: Json) -> Json:
        return {"lambdaAnchor": anchor, "lambda": {"parameters": {"types": [I32], **REQUIRED}, "body": body}}

    def to(anchor: int) -> Json:
        return {"namedLambdaReference": {"lambdaReference": anchor}}

    error = fault({"rel": project(to(1))}, namedLambdas=[named(1, column(0))])
    assert error.path == "named_lambdas[0].lambda.body.selection"
    assert "no input record" in error.message
    assert "refers to itself" in fault(namedLambdas=[named(1, to(2)), named(2, to(1))]).message
    assert "the lambda 3 is not defined" in fault({"rel": project(to(3))}).message


# shared and detached parts --------------------------------------------------------------------------------------------


def reference(ordinal: int) -> Json:
    return {"reference": {"subtreeOrdinal": ordinal}}


def test_references_forward_and_back() -> None:
    plan = load(root(reference(1), "a"), {"rel": table(I32)}, root(reference(0), "b"))
    one, two, three = plan.relations
    assert isinstance(one, RelRoot) and isinstance(one.input, r.Reference)
    assert isinstance(three, RelRoot) and isinstance(three.input, r.Reference)
    assert one.input.subtree is two
    assert three.input.subtree is one.input
    assert "refers to itself" in fault({"rel": reference(1)}, {"rel": filter(reference(0), TRUE)}).message


def test_shared_relations_are_bound_where_they_are_used() -> None:
    """The example of field_references, "When to use rel_reference", with one relation at two depths."""
    shared = {"rel": filter(table(BOOL), outer(0, relReference=7))}
    deep = filter(table(I32), exists(reference(0)))
    condition = exists(
        {"set": {"inputs": [deep, filter(table(I32), exists(reference(0)))], "op": "SET_OP_MINUS_PRIMARY"}}
    )
    plan = load(shared, {"rel": filter(table(BOOL), condition, relAnchor=7)})
    assert "rel_reference=7" in str(plan.relations[0])
    assert "no relation around this has the rel_anchor 7" in fault(shared).message
    stepping = {"rel": filter(table(BOOL), outer(0, stepsOut=1))}
    error = fault(stepping, {"rel": filter(table(BOOL), exists(reference(0)))})
    assert error.path == "relations[0].rel.filter.condition.selection.outer_reference"
    assert error.hint is not None and "rel_reference" in error.hint


def test_detached_expressions_are_bound_in_the_scope_of_each_use() -> None:
    """One message, two records: the reference has the type of each."""
    detached = {"detachedExpressionOrdinal": 0}
    tree = {
        "rel": {
            "cross": {
                "left": project(detached, input=table(I32)),
                "right": project(detached, input=table(STRING)),
            }
        },
        "detachedExpressions": [column(0)],
    }
    plan = load(tree)
    assert str(plan.relations[0].schema) == "struct<i32, i32, string, string>"  # type: ignore[union-attr]
    again: Any = write.plan(plan)
    assert len(again.relations[0].detached_expressions) == 1
    assert read.plan(again, REGISTRY) == plan


def test_detached_parts_that_refer_to_themselves() -> None:
    cycle = {
        "rel": project({"detachedExpressionOrdinal": 0}),
        "detachedExpressions": [{"detachedExpressionOrdinal": 1}, {"detachedExpressionOrdinal": 0}],
    }
    assert "a detached expression refers to itself" in fault(cycle).message
    through_a_query = {
        "rel": project({"detachedExpressionOrdinal": 0}),
        "detachedExpressions": [exists({"detachedRelOrdinal": 0})],
        "detachedRels": [filter(table(I32), {"detachedExpressionOrdinal": 0})],
    }
    assert "refers to itself" in fault(through_a_query).message


def test_detached_parts_that_nothing_refers_to() -> None:
    plan = load({"rel": table(I32), "detachedExpressions": [ONE]})
    assert [(note.rule, note.path) for note in plan.notes] == [
        ("unused-detached", "relations[0].detached_expressions[0]")
    ]


# extended expressions and declarations --------------------------------------------------------------------------------


def test_extended_expressions_have_no_aliases_and_named_lambdas() -> None:
    base = {"names": ["a"], "struct": {"types": [I32], **REQUIRED}}

    def refused(expression: Json) -> InvalidPlanError:
        content = {"baseSchema": base, "referredExpr": [{"expression": expression, "outputNames": ["x"]}]}
        source = json_format.ParseDict(content, messages.ExtendedExpression())
        with pytest.raises(InvalidPlanError) as error:
            read.extended_expression(source, REGISTRY)
        return error.value

    error = refused({"cast": {"input": column(0), "type": {"alias": {"typeAliasReference": 1, **REQUIRED}}}})
    assert error.path == "referred_expr[0].expression.cast.type.alias"
    assert "no type aliases" in error.message
    assert "no named lambdas" in refused({"namedLambdaReference": {"lambdaReference": 1}}).message


def test_anchors_that_stand_for_two_things() -> None:
    declared = functions("add:i32_i32", "add:i64_i64")
    declared["extensions"][1]["extensionFunction"]["functionAnchor"] = 1
    assert fault(**declared).path == "extensions[1]"
    urns = functions("add:i32_i32")
    urns["extensionUrns"].append({"extensionUrnAnchor": 1, "urn": "extension:org.example:other"})
    assert fault(**urns).path == "extension_urns[1]"


def test_anchors_are_given_in_the_order_of_use() -> None:
    relation = {"rel": project({"scalarFunction": call(2, ONE, ONE)}, {"scalarFunction": call(1, ONE, ONE)})}
    source = message(relation, **functions("add:i32_i32", "subtract:i32_i32", "multiply:i32_i32"))
    again: Any = write.plan(read.plan(copy.deepcopy(source), REGISTRY))
    assert [item.extension_function.name for item in again.extensions] == [
        "subtract:i32_i32",
        "add:i32_i32",
        "multiply:i32_i32",
    ]
    assert [item.extension_function.function_anchor for item in again.extensions] == [1, 2, 3]
    assert [item.urn for item in again.extension_urns] == [ARITHMETIC]
