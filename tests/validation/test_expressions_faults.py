"""Expressions that contradict the specification: each fault is found, and hides no other."""

from __future__ import annotations

from typing import Any

import pytest

from pyspark_substrait import validate
from pyspark_substrait.codes import Level
from pyspark_substrait.model import expressions as e
from pyspark_substrait.model.types import Struct
from tests.samples.expressions import EXPRESSIONS, FLAG, ID, NAME
from tests.validation.checked import EXPRESSION, around, findings


def sample(name: str) -> tuple[Any, Any]:
    """The message around a sample, and the message of the expression in it."""
    message = around(EXPRESSIONS[name])
    return message, message.relations[0].root.input.project.expressions[0]


def first(kind: type) -> tuple[Any, Any]:
    """As :func:`sample`, for the first sample of a class."""
    name = next(name for name, node in EXPRESSIONS.items() if isinstance(node, kind))
    return sample(name)


def errors(message: Any) -> list[tuple[int, str]]:
    return [(code, path.removeprefix(EXPRESSION)) for code, level, path in findings(message) if level is Level.ERROR]


def test_conditions_are_booleans_and_branches_agree() -> None:
    message = around(e.IfThen(ifs=(e.IfClause(FLAG, ID), e.IfClause(FLAG, ID)), else_=ID))
    clauses = message.relations[0].root.input.project.expressions[0].if_then.ifs
    getattr(clauses[0], "if").selection.direct_reference.struct_field.field = 2
    clauses[1].then.selection.direct_reference.struct_field.field = 2
    assert errors(message) == [(4005, ".if_then.ifs[0].if"), (4005, ".if_then.ifs[1].then")]


def test_a_choice_without_clauses_still_reads_its_else() -> None:
    message = around(e.IfThen(ifs=(e.IfClause(FLAG, ID),), else_=ID))
    choice = message.relations[0].root.input.project.expressions[0].if_then
    del choice.ifs[:]
    getattr(choice, "else").selection.direct_reference.struct_field.field = 99
    assert errors(message) == [
        (6106, ".if_then.else.selection.direct_reference.struct_field.field"),
        (1002, ".if_then.ifs"),
    ]


def test_a_switch_with_a_wrong_literal_still_reads_its_branches() -> None:
    message, expression = first(e.SwitchExpression)
    clause = expression.switch_expression.ifs[0]
    getattr(clause, "if").Clear()
    clause.then.Clear()
    found = errors(message)
    assert (1002, ".switch_expression.ifs[0].then") in found
    assert any(path.startswith(".switch_expression.ifs[0].if") for _, path in found)


def test_options_of_a_list_are_of_one_type() -> None:
    message = around(e.SingularOrList(value=ID, options=(ID, ID)))
    options = message.relations[0].root.input.project.expressions[0].singular_or_list.options
    options[1].selection.direct_reference.struct_field.field = 2
    assert errors(message) == [(4005, ".singular_or_list.options[1]")]


def test_options_of_several_columns_have_that_many() -> None:
    message = around(e.MultiOrList(value=(ID, NAME), options=((ID, NAME), (ID, NAME))))
    options = message.relations[0].root.input.project.expressions[0].multi_or_list.options
    del options[0].fields[1]
    options[1].fields[1].selection.direct_reference.struct_field.field = 99
    assert errors(message) == [
        (4005, ".multi_or_list.options[0]"),
        (6106, ".multi_or_list.options[1].fields[1].selection.direct_reference.struct_field.field"),
    ]


def test_a_cast_without_type_still_reads_its_input() -> None:
    message = around(e.Cast(type=ID.type, input=ID, failure_behavior=e.FailureBehavior.THROW_EXCEPTION))
    cast = message.relations[0].root.input.project.expressions[0].cast
    cast.ClearField("type")
    cast.failure_behavior = 9
    cast.input.selection.direct_reference.struct_field.field = 99
    codes = {path for _, path in errors(message)}
    assert {
        ".cast.type",
        ".cast.failure_behavior",
        ".cast.input.selection.direct_reference.struct_field.field",
    } <= codes


def test_a_scalar_subquery_has_one_column() -> None:
    message, expression = first(e.ScalarSubquery)
    expression.subquery.scalar.input.read.base_schema.names.append("two")
    expression.subquery.scalar.input.read.base_schema.struct.types.add().i32.nullability = 2
    assert errors(message) == [(6004, ".subquery.scalar")]


def test_needles_are_as_many_as_columns_of_the_haystack() -> None:
    message, expression = first(e.InPredicate)
    needles = expression.subquery.in_predicate.needles
    needles.append(needles[0])
    assert errors(message) == [(4005, ".subquery.in_predicate")]


@pytest.mark.parametrize("kind", [e.SetPredicate, e.SetComparison])
def test_an_unspecified_predicate_does_not_hide_its_relation(kind: type) -> None:
    message, expression = first(kind)
    if kind is e.SetPredicate:
        query = expression.subquery.set_predicate
        query.predicate_op = 0
        query.tuples.Clear()
        expected = {(1102, ".subquery.set_predicate.predicate_op"), (5002, ".subquery.set_predicate.tuples")}
    else:
        query = expression.subquery.set_comparison
        query.comparison_op, query.reduction_op = 0, 77
        query.right.Clear()
        expected = {
            (1102, ".subquery.set_comparison.comparison_op"),
            (1101, ".subquery.set_comparison.reduction_op"),
            (5002, ".subquery.set_comparison.right"),
        }
    assert set(errors(message)) == expected


def test_a_lambda_gets_as_many_arguments_as_it_has_parameters() -> None:
    message, expression = first(e.LambdaInvocation)
    arguments = expression.lambda_invocation.arguments.fields
    arguments.append(arguments[0])
    assert errors(message) == [(6107, ".lambda_invocation.arguments.fields")]


def test_a_lambda_that_is_not_defined() -> None:
    message = around(e.LambdaInvocation(lambda_=e.Lambda(parameters=_INTS, body=ID), arguments=(ID,)))
    invocation = message.relations[0].root.input.project.expressions[0].lambda_invocation
    invocation.named_lambda.lambda_reference = 55
    invocation.arguments.fields[0].selection.direct_reference.struct_field.field = 99
    assert {code for code, _ in errors(message)} == {3001, 6106}


_INTS = Struct(types=(ID.type,))


def test_an_expression_that_is_not_there() -> None:
    message = around(ID)
    message.relations[0].root.input.project.expressions[0].Clear()
    assert errors(message) == [(1002, "")]


def test_a_map_with_a_null_key_is_read_to_the_end() -> None:
    message, expression = first(e.NestedMap)
    pairs = expression.nested.map.key_values
    pairs[0].key.literal.null.string.nullability = 1
    pairs[0].value.Clear()
    found = errors(message)
    assert (4008, ".nested.map.key_values[0].key") in found
    assert (1002, ".nested.map.key_values[0].value") in found


def test_samples_have_no_errors() -> None:
    for name in EXPRESSIONS:
        message, _ = sample(name)
        assert validate(message).ok, (name, str(validate(message)))
