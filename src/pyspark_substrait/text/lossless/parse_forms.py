"""Expressions that look like calls but aren't: ``cast(…)``, ``if(…)``, ``exists(#1)``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pyspark_substrait.text.lossless.declared import Fault
from pyspark_substrait.text.lossless.meaning import enum_value, first_item, integer, is_word, without_names
from pyspark_substrait.text.lossless.neutral import Call, Cast, Equated, Number, RelationValue, Tuple, TypeValue, Value
from pyspark_substrait.text.lossless.shapes import PREDICATES, prefix_of
from pyspark_substrait.text.lossless.type_forms import REQUIRED

if TYPE_CHECKING:
    from pyspark_substrait.text.lossless.parse_values import Values

__all__ = ["FORMS_IN", "column_of"]

_Message = dict[str, Any]


def _cast(values: Values, call: Call) -> _Message:
    cast = call.items[0] if len(call.items) == 1 else None
    if not isinstance(cast, Cast):
        raise Fault("a cast is written cast($0 as i64?)")
    message = {"type": cast.type.message, "input": values.expression(cast.input)}
    return {"cast": message | values.parts(call.pairs, ("failure_behavior",), "cast")}


def _if(values: Values, call: Call) -> _Message:
    if len(call.items) % 2:
        raise Fault("if takes conditions and values in turn, and else: with a name")
    parts = [values.expression(each) for each in call.items]
    ifs = [{"if": parts[at], "then": parts[at + 1]} for at in range(0, len(parts), 2)]
    return {"if_then": {"ifs": ifs, **values.parts(call.pairs, ("else",), "if")}}


def _switch(values: Values, call: Call) -> _Message:
    ifs = []
    for each in call.items[1:]:
        if not isinstance(each, Equated):
            raise Fault("the cases of a switch are written 1:i32 = $0")
        ifs.append({"if": values.literal(each.left), "then": values.expression(each.right)})
    match = values.expression(first_item(call))
    return {"switch_expression": {"match": match, "ifs": ifs, **values.parts(call.pairs, ("else",), "switch")}}


def _in(values: Values, call: Call) -> _Message:
    without_names(call)
    options = [values.expression(each) for each in call.items[1:]]
    return {"singular_or_list": {"value": values.expression(first_item(call)), "options": options}}


def _multi_in(values: Values, call: Call) -> _Message:
    without_names(call)
    value, *options = [values.row(each) for each in call.items] or [[]]
    return {"multi_or_list": {"value": value, "options": [{"fields": each} for each in options]}}


def _nested(values: Values, call: Call) -> _Message:
    without_names(call)
    message: _Message
    match call.function.text:
        case "nested_struct":
            message = {"struct": {"fields": [values.expression(each) for each in call.items]}}
        case "nested_list":
            message = {"list": {"values": [values.expression(each) for each in call.items]}}
        case _:
            message = {"map": {"key_values": values.entries(call, values.expression)}}
    return {"nested": {**message, "nullable": True} if call.nullable else message}


def _subquery(values: Values, call: Call) -> _Message:
    without_names(call)
    *before, block = call.items or [""]
    if not isinstance(block, RelationValue):
        raise Fault(f"{call.function.text} ends with the number of a block below the line: #1")
    relation = block.message
    match call.function.text:
        case "scalar" if not before:
            return {"subquery": {"scalar": {"input": relation}}}
        case "in_query":
            needles = [values.expression(each) for each in before]
            return {"subquery": {"in_predicate": {"needles": needles, "haystack": relation}}}
        case operation if operation in PREDICATES and not before:
            predicate = {"predicate_op": enum_value(call.function, prefix_of("predicate_op")), "tuples": relation}
            return {"subquery": {"set_predicate": predicate}}
        case "compare" if len(before) == 3:
            left, comparison, reduction = before
            return {
                "subquery": {
                    "set_comparison": {
                        "reduction_op": enum_value(reduction, prefix_of("reduction_op")),
                        "comparison_op": enum_value(comparison, prefix_of("comparison_op")),
                        "left": values.expression(left),
                        "right": relation,
                    }
                }
            }
    raise Fault("a subquery is scalar(#1), exists(#1), unique(#1), in_query($0, #1) or compare($0, lt, any, #1)")


def _parameter(values: Values, call: Call) -> _Message:
    match call.items:
        case [Number(text), TypeValue(message)] if not call.pairs:
            return {"dynamic_parameter": {"type": message, "parameter_reference": integer(text)}}
    raise Fault("a dynamic parameter is written parameter(1, i64?)")


def _lambda(values: Values, call: Call) -> _Message:
    without_names(call)
    types: list[_Message] = []
    for each in call.items[:-1]:
        if not isinstance(each, TypeValue):
            raise Fault("a lambda is written lambda(i64, string?, body): types, then what it gives")
        types.append(each.message)
    if not call.items:
        raise Fault("a lambda needs a body: lambda(i64, argument(0).$0)")
    return {"lambda": {"parameters": {"types": types, **REQUIRED}, "body": values.expression(call.items[-1])}}


def _invoke(values: Values, call: Call) -> _Message:
    without_names(call)
    function = values.expression(first_item(call))
    arguments = {"fields": [values.expression(each) for each in call.items[1:]]}
    if "lambda" in function:
        return {"lambda_invocation": {"lambda": function["lambda"], "arguments": arguments}}
    if "named_lambda_reference" in function:
        return {"lambda_invocation": {"named_lambda": function["named_lambda_reference"], "arguments": arguments}}
    raise Fault("only a lambda can be invoked: invoke(named_lambda(1), $0)")


def _named_lambda(values: Values, call: Call) -> _Message:
    return {"named_lambda_reference": {"lambda_reference": _only_number(call)}}


def _detached(values: Values, call: Call) -> _Message:
    return {"detached_expression_ordinal": _only_number(call)}


def _only_number(call: Call) -> int:
    match call.items:
        case [Number(text)] if not call.pairs:
            return integer(text)
    raise Fault(f"{call.function.text} takes a number: {call.function.text}(1)")


def _window(values: Values, call: Call) -> _Message:
    return {"window_function": values.window_call(call)}


def column_of(values: Values, container: Value, reference: _Message) -> _Message:
    """A reference with its root: ``outer(1)``, ``relation(7)``, ``argument(0)`` or a parenthesized expression."""
    match container:
        case Tuple(items=[item]):
            return {**reference, "expression": values.expression(item)}
        case Call() if is_word(container.function, "outer"):
            return {**reference, "outer_reference": {"steps_out": _only_number(container)}}
        case Call() if is_word(container.function, "relation"):
            return {**reference, "outer_reference": {"rel_reference": _only_number(container)}}
        case Call() if is_word(container.function, "argument"):
            steps = _only_number(container)
            return {**reference, "lambda_parameter_reference": {"steps_out": steps} if steps else {}}
    raise Fault("a column is one of outer(1), relation(7), argument(0) or (expression): outer(1).$0")


FORMS_IN: Mapping[str, Callable[[Values, Call], _Message]] = {
    "cast": _cast,
    "if": _if,
    "switch": _switch,
    "in": _in,
    "multi_in": _multi_in,
    "nested_struct": _nested,
    "nested_list": _nested,
    "nested_map": _nested,
    "scalar": _subquery,
    **dict.fromkeys(PREDICATES, _subquery),
    "in_query": _subquery,
    "compare": _subquery,
    "parameter": _parameter,
    "lambda": _lambda,
    "invoke": _invoke,
    "named_lambda": _named_lambda,
    "detached": _detached,
    "over": _window,
}
"""The functions that read the forms, by the forms' names."""
