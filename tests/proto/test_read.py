"""What reading assumes and says so, what it refuses and where, and what expressions can refer to."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from google.protobuf import json_format
from substrait import extended_expression_pb2, plan_pb2

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.extensions import Registry
from pyspark_substrait.model import expressions as e
from pyspark_substrait.model import relations as r
from pyspark_substrait.model.plan import Plan, RelRoot
from pyspark_substrait.proto import read, write

REGISTRY = Registry.default()
Json = dict[str, Any]
REQUIRED: Json = {"nullability": "NULLABILITY_REQUIRED"}
NULLABLE: Json = {"nullability": "NULLABILITY_NULLABLE"}
I32, I64, STRING, BOOL = ({kind: REQUIRED} for kind in ("i32", "i64", "string", "bool"))
ONE: Json = {"literal": {"i32": 1}}
TRUE: Json = {"literal": {"boolean": True}}
ARITHMETIC = "extension:io.substrait:functions_arithmetic"
COMPARISON = "extension:io.substrait:functions_comparison"


def table(*types: Json, **fields: Any) -> Json:
    schema = {"names": [f"c{position}" for position in range(len(types))], "struct": {"types": list(types), **REQUIRED}}
    return {"read": {"baseSchema": schema, "namedTable": {"names": ["t"]}, **fields}}


def root(relation: Json, *names: str) -> Json:
    return {"root": {"input": relation, "names": list(names)}}


def column(position: int, **where: Any) -> Json:
    return {"selection": {"directReference": {"structField": {"field": position}}, **(where or {"rootReference": {}})}}


def call(anchor: int, *arguments: Json, **fields: Any) -> Json:
    return {"functionReference": anchor, "arguments": [{"value": argument} for argument in arguments], **fields}


def functions(*names: str, urn: str = ARITHMETIC) -> Json:
    return {
        "extensionUrns": [{"extensionUrnAnchor": 1, "urn": urn}],
        "extensions": [
            {"extensionFunction": {"extensionUrnReference": 1, "functionAnchor": anchor, "name": name}}
            for anchor, name in enumerate(names, start=1)
        ],
    }


def message(*relations: Json, **fields: Any) -> Any:
    fields = {"version": {"minorNumber": 108}, **fields}
    return json_format.ParseDict({"relations": list(relations), **fields}, plan_pb2.Plan())


def load(*relations: Json, strict: bool = False, **fields: Any) -> Plan:
    return read.plan(message(*relations, **fields), REGISTRY, strict=strict)


def fault(*relations: Json, strict: bool = False, **fields: Any) -> InvalidPlanError:
    with pytest.raises(InvalidPlanError) as error:
        load(*relations, strict=strict, **fields)
    return error.value


def project(*expressions: Json, input: Json | None = None, **common: Any) -> Json:
    return {"project": {"common": common, "input": input or table(I32, STRING), "expressions": list(expressions)}}


def first(plan: Plan) -> e.Expression:
    """The first expression of a plan made of one projection."""
    tree = plan.relations[0]
    assert isinstance(tree, r.Project)
    return tree.expressions[0]


def rules(plan: Plan) -> list[str]:
    return [note.rule for note in plan.notes]


# what is missing or wrong, and where ----------------------------------------------------------------------------------

PROJECT = "relations[0].rel.project"


@pytest.mark.parametrize(
    ("relation", "path", "text"),
    [
        ({}, "relations[0].rel", "a relation is missing"),
        ({"filter": {"condition": TRUE}}, "relations[0].rel.filter.input", "a relation is missing"),
        ({"filter": {"input": table(I32)}}, "relations[0].rel.filter.condition", "an expression is missing"),
        ({"read": {"namedTable": {"names": ["t"]}}}, "relations[0].rel.read", "base_schema is missing"),
        ({"read": {"baseSchema": {}}}, "relations[0].rel.read", "what is read"),
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
        (project({"selection": {"rootReference": {}}}), f"{PROJECT}.expressions[0].selection", "refers to nothing"),
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
        ({"precisionTime": {"precision": 0, "value": "86400"}}, "86400 is no time of day"),
        ({"precisionTimestamp": {"precision": 13, "value": "0"}}, "precision is 13"),
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


# what is assumed ------------------------------------------------------------------------------------------------------


def test_unspecified_nullability_is_nullable() -> None:
    plan = load({"rel": table({"i32": {}}, {"string": {}})})
    assert str(plan.relations[0].schema) == "struct<i32?, string?>"  # type: ignore[union-attr]
    assert rules(plan) == ["unspecified-nullability"]
    assert plan.notes[0].path == "relations[0].rel.read.base_schema.struct.types[0].i32"


def test_undeclared_variations_are_the_preferred_one() -> None:
    """DataFusion marks strings with variations that it doesn't declare."""
    marked = {"string": {"typeVariationReference": 2, **REQUIRED}}
    plan = load({"rel": table(marked, marked)})
    assert str(plan.relations[0].schema) == "struct<string, string>"  # type: ignore[union-attr]
    assert rules(plan) == ["undeclared-variation"]


def test_nullable_records_are_required() -> None:
    schema = {"names": ["a"], "struct": {"types": [I32], **NULLABLE}}
    relation = {"rel": {"read": {"baseSchema": schema, "namedTable": {"names": ["t"]}}}}
    assert rules(load(relation)) == ["nullable-record"]
    assert "the struct of a record is nullable" in fault(relation, strict=True).message


def test_unspecified_phase_is_the_whole_aggregation() -> None:
    measure = {"measure": call(1, column(0), outputType={"i64": NULLABLE})}
    plan = load({"rel": {"aggregate": {"input": table(I32), "measures": [measure, measure]}}}, **functions("sum:i32"))
    assert rules(plan) == ["unspecified-phase"]
    aggregate = plan.relations[0]
    assert isinstance(aggregate, r.Aggregate)
    assert aggregate.measures[0].measure.phase is e.AggregationPhase.INITIAL_TO_RESULT


def test_missing_output_types_are_derived() -> None:
    plan = load({"rel": project({"scalarFunction": call(1, ONE, ONE)})}, **functions("add:i32_i32"))
    assert str(first(plan).type) == "i32"
    assert plan.notes == ()


def decimal(precision: int, scale: int) -> Json:
    return {"decimal": {"precision": precision, "scale": scale, **REQUIRED}}


def test_stated_output_types_of_the_same_kind_count() -> None:
    """decimal<15, 2> plus decimal<15, 2> is decimal<16, 2> (functions_arithmetic_decimal)."""
    urn = "extension:io.substrait:functions_arithmetic_decimal"
    input = table(decimal(15, 2), decimal(15, 2))
    added = {"scalarFunction": call(1, column(0), column(1), outputType=decimal(38, 2))}
    plan = load({"rel": project(added, input=input)}, **functions("add:dec_dec", urn=urn))
    node = first(plan)
    assert isinstance(node, e.ScalarFunction)
    assert (str(node.output_type), str(node.derived_type)) == ("decimal<38, 2>", "decimal<16, 2>")
    assert rules(plan) == ["output-type"]
    assert plan.notes[0].path == f"{PROJECT}.expressions[0].scalar_function.output_type"
    error = fault({"rel": project(added, input=input)}, strict=True, **functions("add:dec_dec", urn=urn))
    assert "gives decimal<16, 2>, but its output_type is decimal<38, 2>" in error.message


def test_output_types_are_nullable_where_either_is() -> None:
    input = table({"i32": NULLABLE})
    added = {"scalarFunction": call(1, column(0), column(0), outputType=I32)}
    plan = load({"rel": project(added, input=input)}, **functions("add:i32_i32"))
    assert str(first(plan).type) == "i32?"


def test_stated_integers_of_another_width_are_cast() -> None:
    """sum:i32 gives i64; Isthmus states i32. A scalar call gets a cast, a measure only the type."""
    measure = {"measure": call(1, column(0), outputType={"i32": NULLABLE}, phase="AGGREGATION_PHASE_INITIAL_TO_RESULT")}
    plan = load({"rel": {"aggregate": {"input": table(I32), "measures": [measure]}}}, **functions("sum:i32"))
    assert str(plan.relations[0].schema) == "struct<i32?>"  # type: ignore[union-attr]
    scalar = {"scalarFunction": call(1, ONE, ONE, outputType=I64)}
    node = first(load({"rel": project(scalar)}, **functions("add:i32_i32")))
    assert isinstance(node, e.Cast)
    assert (str(node.type), str(node.input.type)) == ("i64", "i32")
    assert node.failure_behavior is e.FailureBehavior.THROW_EXCEPTION


def test_output_types_of_another_kind_are_refused() -> None:
    scalar = {"scalarFunction": call(1, ONE, ONE, outputType=STRING)}
    error = fault({"rel": project(scalar)}, **functions("add:i32_i32"))
    assert error.path == f"{PROJECT}.expressions[0].scalar_function.output_type"
    assert "gives i32 for these arguments, but its output_type is string" in error.message


def test_arguments_are_cast_to_what_the_function_takes() -> None:
    scalar = {"scalarFunction": call(1, ONE, {"literal": {"i64": "1"}})}
    plan = load({"rel": project(scalar)}, **functions("add:i64_i64"))
    node = first(plan)
    assert isinstance(node, e.ScalarFunction)
    assert [str(argument.type) for argument in node.arguments] == ["i64", "i64"]  # type: ignore[union-attr]
    assert isinstance(node.arguments[0], e.Cast)
    assert rules(plan)[0] == "function"
    assert isinstance(fault({"rel": project(scalar)}, strict=True, **functions("add:i64_i64")), InvalidPlanError)


def test_unknown_functions_keep_what_is_stated() -> None:
    urn = "extension:org.example:mine"
    plan = load({"rel": project({"scalarFunction": call(1, ONE, outputType=STRING)})}, **functions("f:i32", urn=urn))
    node = first(plan)
    assert isinstance(node, e.ScalarFunction)
    assert node.function == e.Function(urn, "f", "i32")
    assert node.output_type == node.derived_type
    error = fault({"rel": project({"scalarFunction": call(1, ONE)})}, **functions("f:i32", urn=urn))
    assert "unknown extension" in error.message


def test_functions_over_extension_relations() -> None:
    """Nobody knows the types of their columns: the declared signature and type stand."""
    scalar = {"scalarFunction": call(1, column(5), ONE, outputType=BOOL)}
    input = {"extensionLeaf": {}}
    node = first(load({"rel": project(scalar, input=input)}, **functions("equal:any_any", urn=COMPARISON)))
    assert isinstance(node, e.ScalarFunction)
    assert node.function == e.Function(COMPARISON, "equal", "any_any")
    assert str(node.type) == "boolean"


def test_names_without_signature_or_extension() -> None:
    scalar = {"scalarFunction": call(1, ONE, ONE)}
    declared = {"extensions": [{"extensionFunction": {"extensionUrnReference": 9, "functionAnchor": 1, "name": "add"}}]}
    plan = load({"rel": project(scalar)}, **declared)
    node = first(plan)
    assert isinstance(node, e.ScalarFunction)
    assert node.function == e.Function(ARITHMETIC, "add", "i32_i32")
    assert set(rules(plan)) == {"function"}


def test_window_bounds() -> None:
    def window(**fields: Any) -> Json:
        return project({"windowFunction": call(1, column(0), phase="AGGREGATION_PHASE_INITIAL_TO_RESULT", **fields)})

    declared = functions("sum:i32")
    node = first(load({"rel": window(lowerBound={"preceding": {"offset": "2"}}, boundsType=1)}, **declared))
    assert isinstance(node, e.WindowFunction)
    assert isinstance(node.lower_bound, e.Preceding)
    assert node.lower_bound.offset.value == 2  # type: ignore[union-attr]
    assert isinstance(node.upper_bound, e.Unbounded)
    error = fault({"rel": window(lowerBound={"preceding": {}}, boundsType=1)}, **declared)
    assert error.path.endswith("lower_bound.preceding")
    assert "no offset" in error.message
    both = {"preceding": {"offset": "2", "offsetExpr": {"literal": {"i64": "3"}}}}
    assert "offset is 2" in fault({"rel": window(lowerBound=both, boundsType=1)}, **declared).message
    error = fault({"rel": window(lowerBound={"currentRow": {}})}, **declared)
    assert error.path.endswith("window_function.bounds_type")


def test_duckdb_projections_put_out_their_expressions_only() -> None:
    version = {"minorNumber": 53, "producer": "DuckDB"}
    relation = root(project(column(1), ONE), "name", "one")
    plan = load(relation, version=version)
    tree = plan.relations[0]
    assert isinstance(tree, RelRoot)
    assert str(tree.input.schema) == "struct<string, i32>"
    assert rules(plan) == ["duckdb-project"]
    assert read.plan(write.plan(plan), REGISTRY).notes == ()
    assert "there are 2 names for 4 fields" in fault(relation).message


@pytest.mark.parametrize(
    ("type", "emit", "kept"),
    [
        ("JOIN_TYPE_LEFT_SEMI", [1, 0, 2, 3], "struct<string, i32>"),
        ("JOIN_TYPE_LEFT_ANTI", [0, 1, 2, 3], "struct<i32, string>"),
        ("JOIN_TYPE_RIGHT_SEMI", [3, 2, 0, 1], "struct<bool, i64>"),
        ("JOIN_TYPE_RIGHT_ANTI", [3], "struct<bool>"),
    ],
)
def test_semi_joins_before_0_72(type: str, emit: list[int], kept: str) -> None:
    join = {
        "common": {"emit": {"outputMapping": emit}},
        "left": table(I32, STRING),
        "right": table(I64, BOOL),
        "expression": TRUE,
        "type": type,
    }
    plan = load({"rel": {"join": join}}, version={"minorNumber": 71})
    assert str(plan.relations[0].schema) == kept.replace("bool", "boolean")  # type: ignore[union-attr]
    assert rules(plan) == ["semi-join-emit"]
    assert "emit names column" in fault({"rel": {"join": join}}, version={"minorNumber": 72}).message
    # left out, a column before others would move them, and what refers to them would mean something else
    join["common"] = {"emit": {"outputMapping": [3, 0] if "LEFT" in type else [0, 3]}}
    assert "before columns that are" in fault({"rel": {"join": join}}, version={"minorNumber": 71}).message


# what expressions can refer to ----------------------------------------------------------------------------------------


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
        source = json_format.ParseDict(content, extended_expression_pb2.ExtendedExpression())
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
