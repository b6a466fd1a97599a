"""Expressions and literals in each other."""

from __future__ import annotations

from typing import Any

from tests.nesting.parts import (
    ANCHORS,
    REQUIRED,
    Maker,
    Step,
    nested,
    put_call,
    put_call_of_field,
    put_comparison,
    put_field,
    put_null_test,
    put_number,
)

__all__ = ["NESTED_EXPRESSIONS"]


def _cast(expression: Any) -> Any:
    expression.cast.type.string.nullability = REQUIRED
    expression.cast.failure_behavior = 2
    inner = expression.cast.input.cast
    inner.type.i64.nullability = REQUIRED
    inner.failure_behavior = 2
    return inner.input


def _if_then(where: str) -> Step:
    def step(expression: Any) -> Any:
        node = expression.if_then
        clause = node.ifs.add()
        otherwise = getattr(node, "else")
        if where == "if":
            put_number(clause.then)
            put_number(otherwise)
            return put_call(getattr(clause, "if"), "is_null:any", "bool").add().value
        put_comparison(getattr(clause, "if"))
        put_number(otherwise if where == "then" else clause.then)
        return clause.then if where == "then" else otherwise

    return step


def _switch(where: str) -> Step:
    def step(expression: Any) -> Any:
        node = expression.switch_expression
        case, otherwise = node.ifs.add(), getattr(node, "else")
        getattr(case, "if").i64 = 1
        places = {"match": node.match, "then": case.then, "else": otherwise}
        for place, part in places.items():
            if place != where:
                put_number(part)
        return places[where]

    return step


def _or_list(where: str) -> Step:
    def step(expression: Any) -> Any:
        node = expression.if_then
        clause = node.ifs.add()
        put_number(clause.then)
        put_number(getattr(node, "else"))
        among = getattr(clause, "if").singular_or_list
        put_field(among.value if where == "option" else among.options.add())
        return among.options.add() if where == "option" else among.value

    return step


def _multi_or_list(expression: Any) -> Any:
    node = expression.if_then
    clause = node.ifs.add()
    put_number(clause.then)
    put_number(getattr(node, "else"))
    among = getattr(clause, "if").multi_or_list
    put_number(among.options.add().fields.add())
    return among.value.add()


def _nested_list(expression: Any) -> Any:
    return expression.nested.list.values.add()


def _nested_struct(expression: Any) -> Any:
    return expression.nested.struct.fields.add()


def _nested_map(expression: Any) -> Any:
    pair = expression.nested.map.key_values.add()
    put_number(pair.key)
    return pair.value


def _nested_key(expression: Any) -> Any:
    pair = expression.nested.map.key_values.add()
    put_number(pair.value)
    return pair.key


def _field_of_struct(expression: Any) -> Any:
    """The field of a struct made on the spot."""
    expression.selection.direct_reference.struct_field.SetInParent()
    return expression.selection.expression.nested.struct.fields.add()


def _invocation(where: str) -> Step:
    def step(expression: Any) -> Any:
        invocation = expression.lambda_invocation
        parameters = getattr(invocation, "lambda").parameters
        parameters.nullability = REQUIRED
        parameters.types.add().i64.nullability = REQUIRED
        body, argument = getattr(invocation, "lambda").body, invocation.arguments.fields.add()
        put_number(body if where == "argument" else argument)
        return body if where == "body" else argument

    return step


def _transform(expression: Any) -> Any:
    """The transformed values of a list, in each of which the next list is transformed."""
    arguments = put_call(expression, "coalesce:any")
    put_number(arguments.add().value)
    pair = arguments.add().value.selection
    pair.direct_reference.list_element.SetInParent()
    call = pair.expression.scalar_function
    call.function_reference = ANCHORS["transform:list_func"]
    call.output_type.list.type.i64.nullability = REQUIRED
    call.output_type.list.nullability = REQUIRED
    put_number(call.arguments.add().value.nested.list.values.add())
    body = getattr(call.arguments.add().value, "lambda")
    body.parameters.nullability = REQUIRED
    body.parameters.types.add().i64.nullability = REQUIRED
    return body.body


_EXPRESSIONS: dict[str, Step] = {
    "calls": lambda expression: put_call_of_field(expression, "add:i64_i64"),
    "coalesce": lambda expression: put_call_of_field(expression, "coalesce:any"),
    "casts": _cast,
    "if": _if_then("if"),
    "then": _if_then("then"),
    "else": _if_then("else"),
    "switch match": _switch("match"),
    "switch then": _switch("then"),
    "switch else": _switch("else"),
    "or-list value": _or_list("value"),
    "or-list option": _or_list("option"),
    "multi or-list": _multi_or_list,
    "nested lists": _nested_list,
    "nested structs": _nested_struct,
    "nested maps": _nested_map,
    "nested maps as keys": _nested_key,
    "fields of structs": _field_of_struct,
    "lambda bodies": _invocation("body"),
    "lambda arguments": _invocation("argument"),
    "lambdas of calls": _transform,
}


# literals -------------------------------------------------------------------------------------------------------------


def _literal_pair(literal: Any) -> Any:
    pair = literal.map.key_values.add()
    pair.key.i64 = 1
    return pair.value


_LITERALS: dict[str, Step] = {
    "list literals": lambda literal: literal.list.values.add(),
    "struct literals": lambda literal: literal.struct.fields.add(),
    "map literals": _literal_pair,
}


def _begin_literal(plan: Any, _: int) -> Any:
    return put_null_test(plan).literal


def _end_literal(literal: Any) -> None:
    literal.i64 = 1


NESTED_EXPRESSIONS: dict[str, Maker] = {
    **{
        f"{what} in each other": nested(lambda plan, _: put_null_test(plan), step, put_number)
        for what, step in _EXPRESSIONS.items()
    },
    **{f"{what} in each other": nested(_begin_literal, step, _end_literal) for what, step in _LITERALS.items()},
}
