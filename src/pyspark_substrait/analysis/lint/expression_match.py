"""Matching and describing expressions: which function is called, whether it may fail, how a message names it."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark_substrait.analysis.lint.rule import Context
from pyspark_substrait.model.expressions import (
    AggregateFunction,
    Cast,
    DetachedExpression,
    EnumArgument,
    Expression,
    FieldReference,
    Function,
    IfThen,
    LambdaParameterReference,
    OuterReference,
    RootReference,
    ScalarFunction,
    StructField,
    TypeArgument,
    WindowFunction,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations.base import Names
from pyspark_substrait.model.types import FP32, FP64, Boolean, List, Map, Struct, Type, UserDefined, concrete
from pyspark_substrait.model.walk import expression_children, subquery_relation

__all__ = [
    "BOOLEAN",
    "COMPARISON",
    "arguments",
    "called",
    "column",
    "conjuncts",
    "deterministic",
    "harmless",
    "has_floats",
    "is_constant",
    "logical",
    "plain",
    "position",
    "worded",
]

BOOLEAN = "extension:io.substrait:functions_boolean"
COMPARISON = "extension:io.substrait:functions_comparison"
_TOTAL = {
    BOOLEAN: {"and", "or", "not", "xor", "and_not"},
    COMPARISON: {
        "equal",
        "not_equal",
        "lt",
        "gt",
        "lte",
        "gte",
        "between",
        "is_null",
        "is_not_null",
        "is_true",
        "is_false",
        "is_not_true",
        "is_not_false",
        "is_distinct_from",
        "is_not_distinct_from",
        "is_nan",
        "coalesce",
        "nullif",
    },
}
_LONGEST = 40
_DEEPEST = 3
_ARITY = {
    **dict.fromkeys(("equal", "not_equal", "lt", "gt", "lte", "gte", "is_distinct_from", "is_not_distinct_from"), 2),
    **dict.fromkeys(("not", "is_null", "is_not_null", "is_true", "is_false", "is_not_true", "is_not_false"), 1),
}


def called(expression: object, urn: str, *names: str) -> bool:
    """Whether this is a scalar call of one of these functions of an extension, with the type that is derived for it."""
    return (
        isinstance(expression, ScalarFunction)
        and expression.function.urn == urn
        and expression.function.name in names
        and expression.output_type == expression.derived_type
        and len(expression.arguments) == _ARITY.get(expression.function.name, len(expression.arguments) or 1)
    )


def arguments(call: ScalarFunction | AggregateFunction | WindowFunction) -> tuple[Expression, ...]:
    """The arguments that are expressions, without enumerations and types."""
    return tuple(item for item in call.arguments if not isinstance(item, EnumArgument | TypeArgument))


def plain(expression: Expression) -> Expression:
    """Return the expression itself where the plan stores it outside of its place."""
    while isinstance(expression, DetachedExpression):
        expression = expression.expression
    return expression


def is_constant(expression: Expression, value: object) -> bool:
    """Whether this is the literal true, false or null."""
    return isinstance(expression, Literal) and expression.value is value


def conjuncts(condition: Expression) -> Iterator[Expression]:
    """Return the operands of a conjunction, nested ones included; any other condition by itself."""
    if called(condition, BOOLEAN, "and"):
        for item in arguments(condition):  # type: ignore[arg-type]
            yield from conjuncts(item)
    else:
        yield condition


def logical(name: str, operands: tuple[Expression, ...]) -> Expression:
    """Return the ``and`` or ``or`` of some conditions; the condition itself if there is only one."""
    if len(operands) == 1:
        return operands[0]
    type = Boolean(nullable=any(operand.type.nullable for operand in operands))
    function = Function(BOOLEAN, name, "bool")
    return ScalarFunction(function=function, arguments=operands, output_type=type, derived_type=type)


def position(expression: Expression) -> int | None:
    """Return the column that a plain field reference means; None for every other expression."""
    match expression:
        case FieldReference(root=RootReference(), reference=(StructField(field=field),)):
            return field
        case _:
            return None


def deterministic(expression: Expression, context: Context) -> bool:
    """Whether it always gives the same value for a record, and holds no subquery and no window function."""
    if isinstance(expression, WindowFunction) or subquery_relation(expression) is not None:
        return False
    if isinstance(expression, ScalarFunction):
        function = expression.function
        definition = context.registry.function(function.urn, function.key)
        if definition is None or not definition.deterministic:
            return False
    return all(deterministic(item, context) for item in expression_children(expression))


def harmless(expression: Expression) -> bool:
    """Whether evaluating it can't fail, so that it may be left out."""
    match expression:
        case Literal():
            return True
        case FieldReference(root=RootReference() | OuterReference() | LambdaParameterReference()):
            return True
        case ScalarFunction(function=function):
            return function.name in _TOTAL.get(function.urn, ()) and all(map(harmless, arguments(expression)))
        case IfThen():
            return all(map(harmless, expression_children(expression)))
        case _:
            return False


def has_floats(type: Type) -> bool:
    """Whether values of a type may hold a NaN, which not all engines hold to be equal to itself."""
    match concrete(type):
        case FP32() | FP64() | UserDefined():
            return True
        case Struct(types=types):
            return any(map(has_floats, types))
        case List(type=element):
            return has_floats(element)
        case Map(key=key, value=value):
            return has_floats(key) or has_floats(value)
        case _:
            return False


def column(number: int, names: Names) -> str:
    """Return the name of a column in messages."""
    name = names[number] if number < len(names) else None
    return name if name else f"column {number}"


def worded(expression: object, names: Names) -> str:
    """Return a short text for an expression."""
    text = _worded(expression, names)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _worded(expression: object, names: Names, depth: int = 0) -> str:
    if depth > _DEEPEST:
        return "…"
    match expression:
        case Literal(value=None):
            return "null"
        case Literal(value=bool(value)):
            return str(value).lower()
        case Literal(value=str(text)):
            return repr(text)
        case Literal(type=type, value=value):
            return str(value) if isinstance(value, int | float) and not isinstance(type, Struct) else f"a {type}"
        case FieldReference(root=RootReference(), reference=(StructField(field=field), *rest)):
            return column(field, names) + ("…" if rest else "")
        case ScalarFunction() | AggregateFunction() | WindowFunction():
            shown = ", ".join(
                item.value if isinstance(item, EnumArgument) else _worded(item, names, depth + 1)
                for item in expression.arguments
            )
            return f"{expression.function.name}({shown})"
        case Cast(input=input, type=type):
            return f"cast({_worded(input, names, depth + 1)} as {type})"
        case DetachedExpression(expression=inner):
            return _worded(inner, names, depth + 1)
        case _:
            return "…"
