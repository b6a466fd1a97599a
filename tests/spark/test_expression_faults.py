"""What is wrong in an expression is one error: the place, what it is and what to do, before Spark runs anything."""

from __future__ import annotations

import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError
from tests.proto.messages import I32, NULLABLE, ONE, STRING, TRUE, Json, column, project, table
from tests.spark.faults import (
    BRANCH,
    LONG,
    NULL,
    QUERY,
    RANGE,
    RECORD,
    TEXT,
    declared,
    element,
    field,
    key,
    lambda_,
    mask,
    parameter,
    preceding,
    refused,
    scalar,
    segments,
    sort,
    window,
)

#: an expression over RECORD: where the fault is (behind the expression), and what the error says
EXPRESSIONS: dict[str, tuple[Json, str, str]] = {
    # choices
    "an if on a number": ({"ifThen": {"ifs": [{"if": ONE, "then": ONE}]}}, "if_then.ifs[0].if", "the condition is i32"),
    "branches of two types": (
        {"ifThen": {"ifs": [BRANCH], "else": TEXT}},
        "if_then.else",
        "this is string, where the others are i32",
    ),
    "no branch": ({"ifThen": {"else": ONE}}, "if_then.ifs", "there is no clause"),
    "a switch over another type": (
        {"switchExpression": {"match": column(0), "ifs": [{"if": {"string": "x"}, "then": ONE}]}},
        "switch_expression.ifs[0].if",
        "this is string, where the others are i32",
    ),
    "a switch with results of two types": (
        {
            "switchExpression": {
                "match": column(0),
                "ifs": [{"if": {"i32": 1}, "then": ONE}, {"if": {"i32": 2}, "then": TEXT}],
            }
        },
        "switch_expression.ifs[1].then",
        "this is string, where the others are i32",
    ),
    "a switch without cases": (
        {"switchExpression": {"match": ONE, "else": ONE}},
        "switch_expression.ifs",
        "there is no clause",
    ),
    "options of another type": (
        {"singularOrList": {"value": column(0), "options": [ONE, TEXT]}},
        "singular_or_list.options[1]",
        "this is string, where the others are i32",
    ),
    "options of another width": (
        {"multiOrList": {"value": [ONE, TEXT], "options": [{"fields": [ONE]}]}},
        "multi_or_list.options[0]",
        "the option has 1 fields, the value 2",
    ),
    "options whose fields are of another type": (
        {"multiOrList": {"value": [ONE, TEXT], "options": [{"fields": [ONE, ONE]}]}},
        "multi_or_list.options[0].fields[1]",
        "this is i32, where the others are string",
    ),
    # casts and constructors
    "a cast to no type": ({"cast": {"input": ONE}}, "cast.type", "a type is missing"),
    "a cast to an unbound type": (
        {"cast": {"type": {"unbound": {}}, "input": ONE, "failureBehavior": 2}},
        "cast.type",
        "unbound",
    ),
    "a list of two types": (
        {"nested": {"list": {"values": [ONE, TEXT]}}},
        "nested.list.values[1]",
        "this is string, where the others are i32",
    ),
    "a list of nothing": ({"nested": {"list": {}}}, "nested.list.values", "a list without elements has no type"),
    "a map of nothing": ({"nested": {"map": {}}}, "nested.map.key_values", "a map without entries has no type"),
    "a map with keys of two types": (
        {"nested": {"map": {"keyValues": [{"key": ONE, "value": ONE}, {"key": TEXT, "value": ONE}]}}},
        "nested.map.key_values[1].key",
        "this is string, where the others are i32",
    ),
    "a map with values of two types": (
        {"nested": {"map": {"keyValues": [{"key": ONE, "value": ONE}, {"key": ONE, "value": TEXT}]}}},
        "nested.map.key_values[1].value",
        "this is string, where the others are i32",
    ),
    "a map with a null key": (
        {"nested": {"map": {"keyValues": [{"key": NULL, "value": ONE}]}}},
        "nested.map.key_values[0].key",
        "the key of a map is null",
    ),
    "nothing nested": ({"nested": {}}, "nested", "the nested expression is empty"),
    # references
    "a column that isn't there": (column(6), "selection.direct_reference", "there is no field 6; the struct has 6"),
    "a negative field": (column(-1), "selection.direct_reference", "there is no field -1"),
    "a field of a number": (segments(field(0), field(0)), "selection.direct_reference", "i32"),
    "an element of a struct": (segments(field(2), element(0)), "selection.direct_reference", "struct"),
    "a field of a list": (segments(field(3), field(0)), "selection.direct_reference", "list"),
    "a key of a list": (segments(field(3), key({"i32": 1})), "selection.direct_reference", "list"),
    "a key of another type": (segments(field(4), key({"i32": 1})), "selection.direct_reference", "i32"),
    "no segment": ({"selection": {"rootReference": {}}}, "selection", "reference is empty"),
    "an outer query where there is none": (
        segments(field(0), outerReference={"stepsOut": 1}),
        "selection.outer_reference",
        "there are 0 subqueries around this",
    ),
    "an outer reference by 0": (
        segments(field(0), outerReference={"stepsOut": 0}),
        "selection.outer_reference.steps_out",
        "steps_out is 0",
    ),
    "a relation that isn't around": (
        segments(field(0), outerReference={"relReference": 7}),
        "selection.outer_reference",
        "no relation around this has the rel_anchor 7",
    ),
    "a lambda that isn't around": (
        parameter(0),
        "selection.lambda_parameter_reference",
        "there are 0 lambdas around this",
    ),
    "a mask on a field that isn't there": (mask({"field": 9}), "selection.masked_reference", "field 9"),
    "a mask on fields of a number": (
        mask({"field": 0, "child": {"struct": {"structItems": [{"field": 0}]}}}),
        "selection.masked_reference",
        "i32",
    ),
    # functions
    "a function nobody declared": (scalar(77, ONE), "scalar_function.function_reference", "77 is not declared"),
    "too few arguments": (scalar(1, ONE), "scalar_function", "add"),
    "too many arguments": (scalar(6, TEXT, TEXT), "scalar_function", "upper"),
    "arguments of the wrong type": (scalar(1, ONE, TEXT), "scalar_function", "add"),
    "an argument that says nothing": (
        {"scalarFunction": {"functionReference": 6, "arguments": [{}]}},
        "scalar_function.arguments[0]",
        "an argument is missing",
    ),
    "a word the function doesn't have": (
        {"scalarFunction": {"functionReference": 7, "arguments": [{"enum": "FORTNIGHT"}, {"value": column(5)}]}},
        "scalar_function",
        "extract",
    ),
    "an option the function doesn't have": (
        scalar(1, ONE, ONE, options=[{"name": "flavour", "preference": ["SWEET"]}]),
        "scalar_function",
        "has no option `flavour`",
    ),
    "a value the option doesn't have": (
        scalar(1, ONE, ONE, options=[{"name": "overflow", "preference": ["SWEET"]}]),
        "scalar_function",
        "SWEET",
    ),
    "another type than it gives": (
        scalar(1, ONE, ONE, outputType=STRING),
        "scalar_function.output_type",
        "gives i32 for these arguments, but its output_type is string",
    ),
    "an aggregate as a scalar": (scalar(4, ONE), "scalar_function", "sum"),
    # lambdas
    "a lambda with too few arguments": (
        {"lambdaInvocation": {"lambda": lambda_(I32, body=parameter(0)), "arguments": {"fields": []}}},
        "lambda_invocation.arguments.fields",
        "there are 0 arguments for 1 parameters",
    ),
    "a lambda with an argument of another type": (
        {"lambdaInvocation": {"lambda": lambda_(I32, body=parameter(0)), "arguments": {"fields": [TEXT]}}},
        "lambda_invocation.arguments.fields[0]",
        "the argument is string, the parameter i32",
    ),
    "a null for a required parameter": (
        {"lambdaInvocation": {"lambda": lambda_(I32, body=parameter(0)), "arguments": {"fields": [NULL]}}},
        "lambda_invocation.arguments.fields[0]",
        "the argument is i32?, the parameter i32",
    ),
    "a parameter that isn't there": (
        {"lambdaInvocation": {"lambda": lambda_(I32, body=parameter(1)), "arguments": {"fields": [ONE]}}},
        "lambda_invocation.lambda.body.selection.direct_reference",
        "there is no field 1",
    ),
    "a lambda around the only one": (
        {"lambdaInvocation": {"lambda": lambda_(I32, body=parameter(0, 1)), "arguments": {"fields": [ONE]}}},
        "lambda_invocation.lambda.body.selection.lambda_parameter_reference",
        "there are 1 lambdas around this",
    ),
    "no lambda": ({"lambdaInvocation": {"arguments": {}}}, "lambda_invocation", "the lambda to invoke is missing"),
    "a lambda that isn't defined": (
        {"namedLambdaReference": {"lambdaReference": 5}},
        "named_lambda_reference",
        "the lambda 5 is not defined",
    ),
    # windows
    "bounds of no type": (
        window(lowerBound={"currentRow": {}}),
        "window_function.bounds_type",
        "bounds_type is unspecified",
    ),
    "a bound without an offset": (
        window(boundsType="BOUNDS_TYPE_ROWS", lowerBound={"preceding": {}}),
        "window_function.lower_bound.preceding",
        "the bound has no offset",
    ),
    "a range without an order": (
        window(**preceding(ONE, RANGE)),
        "window_function.sorts",
        "needs one sort field, and there are 0",
    ),
    "a range with two orders": (
        window(**preceding(ONE, RANGE), sorts=[sort(column(0)), sort(column(1))]),
        "window_function.sorts",
        "needs one sort field, and there are 2",
    ),
    "a range over a clustered order": (
        window(**preceding(ONE, RANGE), sorts=[sort(column(0), "SORT_DIRECTION_CLUSTERED")]),
        "window_function.sorts[0]",
        "needs an ascending or descending order",
    ),
    "a range over texts": (
        window(**preceding(ONE, RANGE), sorts=[sort(column(1))]),
        "window_function.lower_bound.preceding.offset_expr",
        "cannot be added to the string",
    ),
    "a range of days over numbers": (
        window(
            **preceding({"literal": {"intervalDayToSecond": {"days": 1, "precision": 0}}}, RANGE),
            sorts=[sort(column(0))],
        ),
        "window_function.lower_bound.preceding.offset_expr",
        "cannot be added to the i32",
    ),
    "a negative offset": (
        window(**preceding({"literal": {"i64": "-1"}})),
        "window_function.lower_bound.preceding.offset_expr",
        "the offset of a bound is negative",
    ),
    "a null offset": (
        window(**preceding({"literal": {"null": {"i64": NULLABLE}}})),
        "window_function.lower_bound.preceding.offset_expr",
        "the offset of a bound is null",
    ),
    "rows counted by a text": (
        window(**preceding(TEXT)),
        "window_function.lower_bound.preceding.offset_expr",
        "ROWS are counted by an i64",
    ),
    "a window in a bound": (
        window(**preceding(window(anchor=5))),
        "window_function.lower_bound.preceding.offset_expr",
        "has a window function in it",
    ),
    # subqueries
    "a scalar subquery of two columns": (
        {"subquery": {"scalar": {"input": table(I32, I32)}}},
        "subquery.scalar",
        "a scalar subquery has one column, this one has 2",
    ),
    "needles of another width": (
        {"subquery": {"inPredicate": {"needles": [ONE, ONE], "haystack": QUERY}}},
        "subquery.in_predicate",
        "2 needles for 1 columns",
    ),
    "a needle of another type": (
        {"subquery": {"inPredicate": {"needles": [TEXT], "haystack": QUERY}}},
        "subquery.in_predicate.needles[0]",
        "this is string, where the others are i32",
    ),
    "a comparison with another type": (
        {"subquery": {"setComparison": {"reductionOp": 1, "comparisonOp": 1, "left": TEXT, "right": QUERY}}},
        "subquery.set_comparison.left",
        "this is string, where the others are i32",
    ),
    "a comparison with two columns": (
        {"subquery": {"setComparison": {"reductionOp": 1, "comparisonOp": 1, "left": ONE, "right": table(I32, I32)}}},
        "subquery.set_comparison.right",
        "2",
    ),
    "a comparison by nothing": (
        {"subquery": {"setComparison": {"reductionOp": 1, "left": ONE, "right": QUERY}}},
        "subquery.set_comparison.comparison_op",
        "comparison_op is unspecified",
    ),
    # literals and parameters
    "a literal out of range": ({"literal": {"i8": 200}}, "literal.i8", "200 is out of range"),
    "a decimal with too many digits": (
        {"literal": {"decimal": {"value": "ZAAAAAAAAAAAAAAAAAAAAA==", "precision": 2, "scale": 0}}},
        "literal.decimal.value",
        "100 has more than 2 digits",
    ),
    "a detached expression that isn't there": (
        {"detachedExpressionOrdinal": 3},
        "detached_expression_ordinal",
        "no number 3",
    ),
    "a nullable variable": (
        {"executionContextVariable": {"currentDate": NULLABLE}},
        "execution_context_variable.current_date",
        "never null",
    ),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_faults_of_expressions(name: str) -> None:
    expression, path, text = EXPRESSIONS[name]
    error = refused(project(expression, input=RECORD))
    assert isinstance(error, InvalidPlanError)
    assert error.path == f"relations[0].rel.project.expressions[0].{path}"
    assert text in error.message


def test_embedded_functions_stand_nowhere() -> None:
    """No release has a field that holds an ``EmbeddedFunction``."""
    embedded = {"arguments": [], "outputType": I32, "pythonPickleFunction": {"function": "", "prerequisite": []}}
    for spelling in ("embeddedFunction", "embedded_function"):
        error = refused(project({spelling: embedded}))
        assert isinstance(error, UnsupportedPlanError)
        assert error.path == "relations[0].rel.project.expressions[0].embedded_function"
        assert "no release has a place for it" in error.message
        assert "never run" in (error.hint or "")


#: what is looser than the specification has a meaning all the same: the rule of the note
LOOSE: dict[str, tuple[Json, str]] = {
    "a narrower branch": ({"ifThen": {"ifs": [BRANCH], "else": LONG}}, "different-types"),
    "a narrower case": (
        {"switchExpression": {"match": LONG, "ifs": [{"if": {"i32": 1}, "then": ONE}]}},
        "different-types",
    ),
    "a wider case": (
        {"switchExpression": {"match": column(0), "ifs": [{"if": {"i64": "1"}, "then": ONE}]}},
        "different-types",
    ),
    "a wider option": ({"singularOrList": {"value": column(0), "options": [LONG]}}, "different-types"),
    "a null of another type": (
        {"ifThen": {"ifs": [{"if": TRUE, "then": TEXT}], "else": NULL}},
        "different-types",
    ),
    "a wider needle": ({"subquery": {"inPredicate": {"needles": [LONG], "haystack": QUERY}}}, "different-types"),
    "an offset of 0": (window(**preceding({"literal": {"i64": "0"}})), "zero-offset"),
    "rows counted by an i32": (window(**preceding(ONE)), "rows-offset"),
}


@pytest.mark.parametrize("name", LOOSE)
def test_loose_expressions(name: str) -> None:
    expression, rule = LOOSE[name]
    content = declared(relations=[{"rel": project(expression, input=RECORD)}])
    plan = ps.load(content)
    (note,) = [note for note in plan.notes if note.rule == rule]
    assert note.path.startswith("relations[0].rel.project.expressions[0].")
    ps.to_sql(plan)
    with pytest.raises(InvalidPlanError) as error:
        ps.load(content, strict=True)
    assert error.value.path.startswith("relations[0].rel.project.expressions[0]")
