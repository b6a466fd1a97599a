"""Binding types to patterns, and evaluating patterns and return programs.

Spec: expressions/scalar_functions, "Nullability Handling", "Parameterized Types", "Return Type Expressions".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from typing_extensions import assert_never

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.extensions.type_syntax import (
    AnyPattern,
    Binary,
    Call,
    Conditional,
    FuncPattern,
    Node,
    Not,
    Number,
    Program,
    TypePattern,
    UserPattern,
    Variable,
)
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    UUID,
    Boolean,
    Date,
    Decimal,
    FixedBinary,
    FixedChar,
    Func,
    IntervalCompound,
    IntervalDay,
    IntervalYear,
    List,
    Map,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Struct,
    Type,
    TypeBase,
    TypeParameter,
    TypeVariation,
    UserDefined,
    VarChar,
    concrete,
    with_nullability,
)
from pyspark_substrait.model.types import (
    Binary as BinaryType,
)

__all__ = ["Binding", "Scope", "bind", "bind_argument", "evaluate", "evaluate_type", "fits", "plain", "same_type"]

#: the value of a pattern's parameter
Binding: TypeAlias = Type | int | str | bool

_SIMPLE: Final[dict[str, Type]] = {
    cls.keyword: cls() for cls in (Boolean, I8, I16, I32, I64, FP32, FP64, String, BinaryType, Date, IntervalYear, UUID)
}
_WITH_LENGTH: Final[dict[str, type[FixedChar] | type[VarChar] | type[FixedBinary]]] = {
    cls.keyword: cls for cls in (FixedChar, VarChar, FixedBinary)
}
_WITH_PRECISION: Final[
    dict[
        str,
        type[IntervalDay]
        | type[IntervalCompound]
        | type[PrecisionTime]
        | type[PrecisionTimestamp]
        | type[PrecisionTimestampTZ],
    ]
] = {
    cls.keyword: cls for cls in (IntervalDay, IntervalCompound, PrecisionTime, PrecisionTimestamp, PrecisionTimestampTZ)
}


def _opaque(urn: str, name: str) -> Type | None:
    return None


def _inherits(variation: TypeVariation) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Scope:
    """The context of a type expression, besides its parameters.

    Args:
        urn: the extension that contains it; ``u!name`` is a type of that extension.
        dependencies: its aliases for other extensions.
        structure: looks up the structure of a user-defined type.
        separate: whether functions on the parent type reject a variation.
        literals: the literal values of the call's arguments by lower-case argument name, None where there is none.
        solved: all type parameters were bound beforehand; an outermost type may be the required form of its parameter.
    """

    urn: str
    dependencies: tuple[tuple[str, str], ...] = ()
    structure: Callable[[str, str], Type | None] = _opaque
    separate: Callable[[TypeVariation], bool] = _inherits
    literals: Mapping[str, str | int | None] = field(default_factory=dict)
    solved: bool = False

    def owner(self, pattern: UserPattern) -> str:
        """The URN of the extension that declares the type a pattern names."""
        if pattern.alias is None:
            return self.urn
        for alias, urn in self.dependencies:
            if alias.lower() == pattern.alias:
                return urn
        raise InvalidPlanError(
            f"`{pattern.alias}.u!{pattern.name}` uses the alias `{pattern.alias}`, which `{self.urn}` does not declare",
            hint="Declare it under `dependencies`",
        )


# binding -------------------------------------------------------------------------------------------------------------


def bind_argument(pattern: Node, type: Type, bindings: dict[str, Binding], scope: Scope, *, discrete: bool) -> bool:
    """Whether an argument of ``type`` fits the pattern, given the parameters bound so far; binds further ones.

    Outermost nullability is ignored, unless ``discrete``, where it must be the declared one. ``type`` is
    :func:`plain`.
    """
    if discrete and type.nullable != _mark(pattern):
        return False
    return bind(pattern, with_nullability(type, False), bindings, scope, outermost=True)


def _mark(pattern: Node) -> bool:
    return isinstance(pattern, Variable | AnyPattern | TypePattern | FuncPattern | UserPattern) and pattern.nullable


def bind(pattern: Node, type: Type, bindings: dict[str, Binding], scope: Scope, *, outermost: bool = False) -> bool:
    """Whether a type fits the pattern; if not, the bindings must be discarded."""
    match pattern:
        case AnyPattern(nullable=nullable):
            return outermost or not nullable or type.nullable
        case Variable(name=name, nullable=nullable):
            if nullable and not outermost:
                if not type.nullable:
                    return False
                type = with_nullability(type, False)
            bound = bindings.setdefault(name, type)
            if bound is type:
                return True
            if not isinstance(bound, TypeBase):
                return False
            if outermost and scope.solved:
                type = with_nullability(type, bound.nullable)
            if bound == type:
                return True
            if not same_type(bound, type, scope):
                return False
            bindings[name] = _without_variation(bound, scope)
            return True
        case TypePattern() | FuncPattern() | UserPattern():
            if not outermost and pattern.nullable != type.nullable:
                return False
            if type.variation is not None and scope.separate(type.variation):
                return False
            return _bind_parameters(pattern, type, bindings, scope)
        case Number() | Call() | Binary() | Not() | Conditional() | Program():
            return False
        case _:
            assert_never(pattern)


def _bind_parameters(
    pattern: TypePattern | FuncPattern | UserPattern, type: Type, bindings: dict[str, Binding], scope: Scope
) -> bool:
    match pattern, type:
        case TypePattern(keyword=keyword, parameters=parameters), _ if keyword == type.keyword:
            match type:
                case Struct(types=types):
                    children: tuple[Type, ...] = types
                case List(type=child):
                    children = (child,)
                case Map(key=key, value=value):
                    children = (key, value)
                case _:
                    values = type.parameters()
                    return all(
                        _bind_value(parameter, value, bindings)
                        for parameter, value in zip(parameters, values, strict=True)
                    )
            return len(parameters) == len(children) and all(
                bind(parameter, child, bindings, scope) for parameter, child in zip(parameters, children, strict=True)
            )
        case FuncPattern(parameters=parameters, result=result), Func(parameter_types=types, return_type=returned):
            if len(parameters) != len(types):
                return False
            if not all(
                bind(parameter, type, bindings, scope) for parameter, type in zip(parameters, types, strict=True)
            ):
                return False
            # a function that never returns null also fits where one may
            if not isinstance(result, Variable) and _mark(result):
                returned = with_nullability(returned, True)
            return bind(result, returned, bindings, scope)
        case UserPattern(name=name, parameters=parameters), UserDefined(type_parameters=given):
            if (type.urn, type.name) != (scope.owner(pattern), name) or len(parameters) > len(given):
                return False
            # a pattern without parameters matches any instance of the type
            return not parameters or (
                len(parameters) == len(given)
                and all(
                    _bind_type_parameter(parameter, value, bindings, scope)
                    for parameter, value in zip(parameters, given, strict=True)
                )
            )
        case _:
            return False


def _bind_value(pattern: Node, value: object, bindings: dict[str, Binding]) -> bool:
    match pattern:
        case Number(value=number):
            return value == number
        case Variable(name=name):
            assert isinstance(value, int | str)
            bound = bindings.setdefault(name, value)
            return not isinstance(bound, TypeBase) and bound == value
        case _:
            return False


def _bind_type_parameter(pattern: Node, given: TypeParameter, bindings: dict[str, Binding], scope: Scope) -> bool:
    if isinstance(given.value, TypeBase):
        return bind(pattern, given.value, bindings, scope)
    return given.value is not None and _bind_value(pattern, given.value, bindings)


def fits(pattern: Node, type: Type, scope: Scope) -> bool:
    """Whether a type fits a pattern by itself, its outermost nullability ignored."""
    return bind(pattern, with_nullability(plain(type), False), {}, scope, outermost=True)


# comparing types -----------------------------------------------------------------------------------------------------


def plain(type: Type) -> Type:
    """The type with all aliases resolved, at every depth."""
    type = concrete(type)
    match type:
        case Struct(types=types):
            children = tuple(plain(child) for child in types)
            return type if children == types else replace(type, types=children)
        case List(type=child):
            inner = plain(child)
            return type if inner is child else replace(type, type=inner)
        case Map(key=key, value=value):
            pair = plain(key), plain(value)
            return type if pair == (key, value) else replace(type, key=pair[0], value=pair[1])
        case Func(parameter_types=types, return_type=returned):
            return replace(type, parameter_types=tuple(plain(child) for child in types), return_type=plain(returned))
        case _:
            return type


def same_type(left: Type, right: Type, scope: Scope) -> bool:
    """Whether two types are the same, ignoring variations that functions don't distinguish."""
    return left == right or _without_variation(left, scope) == _without_variation(right, scope)


def _without_variation(type: Type, scope: Scope) -> Type:
    """Drop, at every depth, variations that inherit their parent's functions."""
    if type.variation is not None and not scope.separate(type.variation):
        type = replace(type, variation=None)
    match type:
        case Struct(types=types):
            return replace(type, types=tuple(_without_variation(child, scope) for child in types))
        case List(type=child):
            return replace(type, type=_without_variation(child, scope))
        case Map(key=key, value=value):
            return replace(type, key=_without_variation(key, scope), value=_without_variation(value, scope))
        case UserDefined():
            return replace(type, structure=None)
        case _:
            return type


# evaluating ----------------------------------------------------------------------------------------------------------


def evaluate_type(node: Node, bindings: Mapping[str, Binding], scope: Scope) -> Type:
    """Evaluate a type expression or a program whose result is a type.

    Raises:
        InvalidPlanError: a parameter has no value, an operation is not defined, or the result is no valid type.
    """
    value = evaluate(node, bindings, scope)
    if not isinstance(value, TypeBase):
        raise InvalidPlanError(f"a type expression gives `{value}`, which is not a type")
    return value


def evaluate(node: Node, bindings: Mapping[str, Binding], scope: Scope) -> Binding:
    """Evaluate any expression of the language: to a type, a 64-bit integer, or a boolean."""
    match node:
        case Number(value=value):
            return value
        case Variable(name=name, nullable=nullable):
            if name not in bindings:
                raise InvalidPlanError(f"a type expression uses `{name}`, which no argument determines")
            bound = bindings[name]
            if isinstance(bound, TypeBase) and nullable:
                return with_nullability(bound, True)
            return bound
        case AnyPattern():
            raise InvalidPlanError("a type expression gives `any`, which names no type", hint="Use any1 to any9")
        case TypePattern():
            return _built_in(node, bindings, scope)
        case FuncPattern(parameters=parameters, result=result, nullable=nullable):
            return Func(
                parameter_types=tuple(evaluate_type(parameter, bindings, scope) for parameter in parameters),
                return_type=evaluate_type(result, bindings, scope),
                nullable=nullable,
            )
        case UserPattern(name=name, parameters=parameters, nullable=nullable):
            urn = scope.owner(node)
            return UserDefined(
                urn=urn,
                name=name,
                type_parameters=tuple(_type_parameter(evaluate(child, bindings, scope)) for child in parameters),
                structure=scope.structure(urn, name),
                nullable=nullable,
            )
        case Call(function=function, arguments=arguments):
            return _call(function, arguments, bindings, scope)
        case Binary(operator=operator, left=left, right=right):
            return _operate(operator, left, right, bindings, scope)
        case Not(operand=operand):
            return not _boolean(operand, bindings, scope)
        case Conditional(condition=condition, then=then, otherwise=otherwise):
            return evaluate(then if _boolean(condition, bindings, scope) else otherwise, bindings, scope)
        case Program(assignments=assignments, result=result):
            variables = dict(bindings)
            for name, expression in assignments:
                variables[name] = evaluate(expression, variables, scope)
            return evaluate(result, variables, scope)
        case _:
            assert_never(node)


def _type_parameter(value: Binding) -> TypeParameter:
    if isinstance(value, TypeBase):
        return TypeParameter("data_type", value)
    kind = "boolean" if isinstance(value, bool) else "integer" if isinstance(value, int) else "enum"
    return TypeParameter(kind, value)


def _built_in(pattern: TypePattern, bindings: Mapping[str, Binding], scope: Scope) -> Type:
    keyword, nullable, parameters = pattern.keyword, pattern.nullable, pattern.parameters
    if keyword in _SIMPLE:
        return with_nullability(_SIMPLE[keyword], nullable)
    if keyword == "struct":
        return Struct(types=tuple(evaluate_type(child, bindings, scope) for child in parameters), nullable=nullable)
    if keyword == "list":
        return List(type=evaluate_type(parameters[0], bindings, scope), nullable=nullable)
    if keyword == "map":
        key, value = (evaluate_type(child, bindings, scope) for child in parameters)
        return Map(key=key, value=value, nullable=nullable)
    numbers = [_integer(child, bindings, scope) for child in parameters]
    if keyword == "decimal":
        precision, scale = numbers
        if not (1 <= precision <= 38 and 0 <= scale <= precision):
            raise InvalidPlanError(
                f"a type expression gives decimal<{precision}, {scale}>, which does not exist",
                hint="The precision is 1 to 38 and the scale 0 to the precision",
            )
        return Decimal(precision=precision, scale=scale, nullable=nullable)
    if keyword in _WITH_LENGTH:
        if numbers[0] < 1:
            raise InvalidPlanError(f"a type expression gives {keyword}<{numbers[0]}>; a length is at least 1")
        return _WITH_LENGTH[keyword](length=numbers[0], nullable=nullable)
    if not 0 <= numbers[0] <= 12:
        raise InvalidPlanError(f"a type expression gives {keyword}<{numbers[0]}>; the precision is 0 to 12")
    return _WITH_PRECISION[keyword](precision=numbers[0], nullable=nullable)


def _integer(node: Node, bindings: Mapping[str, Binding], scope: Scope) -> int:
    value = evaluate(node, bindings, scope)
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidPlanError(f"a type expression needs an integer where it has `{value}`")
    return value


def _boolean(node: Node, bindings: Mapping[str, Binding], scope: Scope) -> bool:
    value = evaluate(node, bindings, scope)
    if not isinstance(value, bool):
        raise InvalidPlanError(f"a type expression needs true or false where it has `{value}`")
    return value


def _operate(operator: str, left: Node, right: Node, bindings: Mapping[str, Binding], scope: Scope) -> Binding:
    if operator == "and":
        return _boolean(left, bindings, scope) and _boolean(right, bindings, scope)
    if operator == "or":
        return _boolean(left, bindings, scope) or _boolean(right, bindings, scope)
    if operator in ("=", "!="):
        return (evaluate(left, bindings, scope) == evaluate(right, bindings, scope)) == (operator == "=")
    a, b = _integer(left, bindings, scope), _integer(right, bindings, scope)
    match operator:
        case "<":
            return a < b
        case ">":
            return a > b
        case "<=":
            return a <= b
        case ">=":
            return a >= b
        case "+":
            return _in_range(a + b)
        case "-":
            return _in_range(a - b)
        case "*":
            return _in_range(a * b)
        case "/":
            if b == 0:
                raise InvalidPlanError("a type expression divides by zero")
            quotient = abs(a) // abs(b)
            return _in_range(quotient if (a < 0) == (b < 0) else -quotient)
        case _:
            raise InvalidPlanError(f"a type expression uses the operator `{operator}`, which does not exist")


def _in_range(value: int) -> int:
    if not -(2**63) <= value < 2**63:
        raise InvalidPlanError("a type expression leaves the range of 64-bit integers")
    return value


_NAMED_OPERATORS: Final = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "equal": "=",
    "greater_than": ">",
    "less_than": "<",
    "and": "and",
    "or": "or",
}


def _call(function: str, arguments: tuple[Node, ...], bindings: Mapping[str, Binding], scope: Scope) -> Binding:
    if function in _NAMED_OPERATORS and len(arguments) == 2:
        return _operate(_NAMED_OPERATORS[function], arguments[0], arguments[1], bindings, scope)
    match function, arguments:
        case "min", (_, _, *_):
            return min(_integer(argument, bindings, scope) for argument in arguments)
        case "max", (_, _, *_):
            return max(_integer(argument, bindings, scope) for argument in arguments)
        case "abs", (argument,):
            return abs(_integer(argument, bindings, scope))
        case "not", (argument,):
            return not _boolean(argument, bindings, scope)
        case "covers", (type, pattern):
            return fits(pattern, evaluate_type(type, bindings, scope), scope)
        case "type_parameter", (Variable(name=name),):
            return evaluate_type(Variable(name), bindings, scope)
        case "integer_parameter", (Variable(name=name),):
            value = scope.literals.get(name)
            if isinstance(value, int):
                return value
            if name in scope.literals:
                raise InvalidPlanError(
                    f"the return type depends on the value of the argument `{name}`, which is not an integer literal",
                    hint="Give it as a literal",
                )
            return _integer(Variable(name), bindings, scope)
        case _:
            raise InvalidPlanError(
                f"a type expression calls `{function}` with {len(arguments)} arguments, which does not exist"
            )
