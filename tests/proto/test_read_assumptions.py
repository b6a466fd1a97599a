"""What reading assumes where a plan is looser than the specification, and that it says so."""

from __future__ import annotations

from typing import Any

import pytest

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model import expressions as e
from pyspark_substrait.model import relations as r
from pyspark_substrait.model.plan import RelRoot
from pyspark_substrait.proto import messages, read, write
from tests.proto.messages import (
    ARITHMETIC,
    BOOL,
    COMPARISON,
    I32,
    I64,
    NULLABLE,
    ONE,
    PROJECT,
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
    project,
    root,
    rules,
    table,
)


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
    input: Json = {"extensionLeaf": {}}
    node = first(load({"rel": project(scalar, input=input)}, **functions("equal:any_any", urn=COMPARISON)))
    assert isinstance(node, e.ScalarFunction)
    assert node.function == e.Function(COMPARISON, "equal", "any_any")
    assert str(node.type) == "boolean"


def test_names_without_signature_or_extension() -> None:
    scalar = {"scalarFunction": call(1, ONE, ONE)}
    declared: Json = {
        "extensions": [{"extensionFunction": {"extensionUrnReference": 9, "functionAnchor": 1, "name": "add"}}]
    }
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
    # "Consumers must use offset_expr when it is set and ignore offset."
    plan = load({"rel": window(lowerBound=both, boundsType=1)}, **declared)
    assert rules(plan) == ["offset-ignored"]
    assert first(plan).lower_bound.offset.value == 3  # type: ignore[union-attr]
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


def test_casts_of_what_may_be_null_may_be_null() -> None:
    absent = {"literal": {"null": {"i32": NULLABLE}}}
    for input, behavior, noted in ((absent, 2, True), (ONE, 1, True), (ONE, 2, False)):
        plan = load({"rel": project({"cast": {"type": I64, "input": input, "failureBehavior": behavior}})})
        assert str(first(plan).type) == ("i64?" if noted else "i64")
        assert rules(plan) == (["nullable-cast"] if noted else [])


@pytest.mark.parametrize("given", [{}, {"type": "COMPUTATION_TYPE_UNSPECIFIED"}])
def test_saved_computations_without_a_type_stay_without(given: Json) -> None:
    hint = {"savedComputations": [{"computationId": 1, **given}], "loadedComputations": [given]}
    read_ = table({"i32": REQUIRED})
    read_["read"]["common"] = {"hint": hint}
    found = load({"rel": read_}).relations[0].common.hint  # type: ignore[union-attr]
    assert found is not None
    kinds = [item.type for item in (*found.saved_computations, *found.loaded_computations)]
    assert kinds == [r.ComputationType.UNSPECIFIED, r.ComputationType.UNSPECIFIED]


def test_a_saved_computation_of_an_unknown_type_is_shown_without_one() -> None:
    plan = messages.Plan()
    relation = plan.relations.add().rel
    relation.read.named_table.names.append("t")
    relation.read.common.hint.saved_computations.add(computation_id=1).type = 77
    document = read.checked(plan, REGISTRY).document
    hint = document.relations[0].common.hint  # type: ignore[union-attr]
    assert hint is not None
    assert hint.saved_computations == (r.SavedComputation(computation_id=1),)
