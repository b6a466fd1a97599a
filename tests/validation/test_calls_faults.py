"""Calls that contradict their definition. Spec: expressions/scalar_functions, aggregate_functions, window_functions."""

from __future__ import annotations

from typing import Any

import pytest

from pyspark_substrait import load, validate
from pyspark_substrait.codes import Code, Level
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model import expressions as e
from pyspark_substrait.model import types as t
from tests.samples.expressions import AMOUNT, EXPRESSIONS, ID, NAME, add, equal, sum_of_amounts, table
from tests.samples.literals import i32
from tests.validation.checked import EXPRESSION, around, around_relation, findings

CALL = f"{EXPRESSION}.scalar_function"


def added() -> Any:
    return around(add(ID, i32(1)))


def call(message: Any) -> Any:
    return message.relations[0].root.input.project.expressions[0].scalar_function


def test_nothing_is_found_in_a_right_call() -> None:
    assert findings(added()) == []


def test_an_undeclared_function() -> None:
    message = added()
    call(message).function_reference = 77
    assert findings(message) == [(3001, Level.ERROR, f"{CALL}.function_reference")]


def test_a_name_that_the_extension_does_not_have_says_what_is_near() -> None:
    message = added()
    message.extensions[0].extension_function.name = "ad:i32_i32"
    found = [item for item in validate(message) if item.path == CALL]
    assert [(item.code, item.level) for item in found] == [(Code.LINK_UNRESOLVED_NAME, Level.ERROR)]
    assert "`add`" in found[0].fix


def test_arguments_that_no_overload_takes_list_the_overloads() -> None:
    message = around(add(ID, i32(1)))
    del call(message).arguments[1]
    found = [item for item in validate(message) if item.path == CALL]
    assert [item.code for item in found] == [Code.EXPRESSION_NO_OVERLOAD]
    assert "add(x: i32, y: i32) -> i32" in found[0].fix


def test_a_wrong_call_does_not_hide_what_is_wrong_in_its_arguments_or_around_it() -> None:
    message = around(equal(add(ID, i32(1)), i32(2)))
    outer = call(message)
    inner = outer.arguments[0].value.scalar_function
    inner.arguments[0].value.selection.direct_reference.struct_field.field = 99
    inner.options[0].name = "no_such"
    outer.options.add(name="nor_this", preference=["x"])
    inside = f"{CALL}.arguments[0].value.scalar_function"
    assert set(findings(message)) == {
        (6106, Level.ERROR, f"{inside}.arguments[0].value.selection.direct_reference.struct_field.field"),
        (6101, Level.ERROR, inside),
        (6101, Level.ERROR, CALL),
    }


def test_every_wrong_option_is_found() -> None:
    message = added()
    call(message).options[0].preference[0] = "EXPLODE"
    call(message).options.add(name="rounding", preference=["UP"])
    call(message).options.add(name="overflow", preference=["ERROR"])
    call(message).options.add(name="overflow", preference=["ERROR"])
    texts = [item.what for item in validate(message) if item.code is Code.EXPRESSION_OPTION]
    assert texts == [
        "the option `overflow` of `add:i32_i32` cannot be `EXPLODE`",
        "`add:i32_i32` has no option `rounding`",
        "the option `overflow` of `add:i32_i32` is given twice",
    ]


def test_an_output_type_of_another_kind_is_an_error_without_followers() -> None:
    message = around(add(add(ID, i32(1)), i32(2)))
    inner = call(message).arguments[0].value.scalar_function
    inner.output_type.string.nullability = 2
    path = f"{CALL}.arguments[0].value.scalar_function.output_type"
    assert findings(message) == [(6102, Level.ERROR, path)]


def test_another_nullability_is_a_warning_and_refused_strictly() -> None:
    message = added()
    call(message).output_type.i32.nullability = 1
    assert findings(message) == [(6102, Level.WARNING, f"{CALL}.output_type")]
    load(message)
    with pytest.raises(InvalidPlanError, match="output_type"):
        load(message, strict=True)


def test_a_missing_output_type_is_a_warning() -> None:
    message = added()
    call(message).ClearField("output_type")
    assert findings(message) == [(1002, Level.WARNING, f"{CALL}.output_type")]


def test_a_missing_argument() -> None:
    message = added()
    call(message).arguments[1].Clear()
    assert findings(message) == [(1002, Level.ERROR, f"{CALL}.arguments[1]")]


def test_a_constant_argument_that_varies() -> None:
    separator = e.AggregateFunction(
        function=e.Function("extension:io.substrait:functions_string", "string_agg", "str_str"),
        arguments=(NAME, NAME),
        output_type=t.String(nullable=True),
        derived_type=t.String(nullable=True),
    )
    message = around_relation(_measured(separator))
    place = "relations[0].root.input.aggregate.measures[0].measure.arguments[1]"
    assert findings(message) == [(6103, Level.ERROR, place)]


def _measured(function: e.AggregateFunction) -> Any:
    from pyspark_substrait.model.relations import Aggregate, Measure

    return Aggregate(input=table(), measures=(Measure(measure=function),))


def test_a_phase_of_a_function_that_has_none() -> None:
    mode = e.AggregateFunction(
        function=e.Function("extension:io.substrait:functions_arithmetic", "mode", "i64"),
        arguments=(AMOUNT,),
        output_type=t.I64(nullable=True),
        derived_type=t.I64(nullable=True),
    )
    message = around_relation(_measured(mode))
    assert findings(message) == []
    message.relations[0].root.input.aggregate.measures[0].measure.phase = 1
    assert findings(message) == [(6105, Level.ERROR, "relations[0].root.input.aggregate.measures[0].measure")]


def test_unknown_numbers_of_phase_invocation_and_direction_are_all_found() -> None:
    message = around_relation(_measured(sum_of_amounts()))
    measure = message.relations[0].root.input.aggregate.measures[0].measure
    measure.phase, measure.invocation = 42, 43
    measure.sorts.add().expr.CopyFrom(measure.arguments[0].value)
    place = "relations[0].root.input.aggregate.measures[0].measure"
    assert {item for item in findings(message) if item[1] is Level.ERROR} == {
        (1101, Level.ERROR, f"{place}.phase"),
        (1101, Level.ERROR, f"{place}.invocation"),
        (1002, Level.ERROR, f"{place}.sorts[0]"),
    }


def test_a_range_bound_needs_one_sort_field() -> None:
    message = around(EXPRESSIONS["window function"])
    window = message.relations[0].root.input.project.expressions[0].window_function
    window.bounds_type = 2
    window.lower_bound.preceding.offset_expr.literal.i64 = 1
    window.upper_bound.following.offset_expr.literal.i64 = -1
    del window.sorts[:]
    place = f"{EXPRESSION}.window_function"
    errors = [item for item in findings(message) if item[1] is Level.ERROR]
    assert errors == [
        (6104, Level.ERROR, f"{place}.sorts"),
        (6104, Level.ERROR, f"{place}.upper_bound.following.offset_expr"),
    ]


def test_calls_of_a_broken_relation_are_still_checked_by_name_and_number() -> None:
    message = around(add(ID, i32(1)))
    message.relations[0].root.input.project.input.Clear()
    message.extensions[0].extension_function.name = "nothing_like_it:i32_i32"
    codes = {item.code for item in validate(message) if item.level is Level.ERROR}
    assert codes >= {Code.RELATION_MISSING, Code.LINK_UNRESOLVED_NAME}
