"""Matching of a call's arguments with one implementation, as they are or after widening casts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.extensions import definitions
from pyspark_substrait.extensions.coercion import common_decimal, common_type, narrowed, widening_cost
from pyspark_substrait.extensions.definitions import FunctionDefinition
from pyspark_substrait.extensions.derivation import (
    Binding,
    Scope,
    bind_argument,
    evaluate_type,
    plain,
)
from pyspark_substrait.extensions.signatures import Argument, EnumArg, TypeArg, ValueArg
from pyspark_substrait.extensions.type_syntax import (
    AnyPattern,
    FuncPattern,
    Node,
    Program,
    TypePattern,
    UserPattern,
    Variable,
    parse,
)
from pyspark_substrait.model.types import (
    Decimal,
    Func,
    List,
    Map,
    Struct,
    Type,
    TypeBase,
    with_nullability,
)

__all__ = ["Match", "Phase", "match_exactly", "match_widened"]

Phase: TypeAlias = Literal[
    "INITIAL_TO_INTERMEDIATE", "INTERMEDIATE_TO_INTERMEDIATE", "INITIAL_TO_RESULT", "INTERMEDIATE_TO_RESULT"
]


@dataclass(frozen=True, slots=True)
class Match:
    """An implementation, the arguments it takes (widened, words in the file's spelling), and the bound parameters."""

    definition: FunctionDefinition
    arguments: tuple[Argument, ...]
    bindings: tuple[tuple[str, Binding], ...]
    cost: int
    scope: Scope
    phase: Phase

    def output_type(self) -> Type:
        """The type of the call, its parameters and nullability included.

        With MIRROR, it is nullable if one argument is (in later phases that is the intermediate value), or if the
        result is a type parameter bound to a nullable type.
        """
        returns = self.definition.program
        if self.phase in ("INITIAL_TO_INTERMEDIATE", "INTERMEDIATE_TO_INTERMEDIATE"):
            returns = parse(self.definition.intermediate or "")
        bindings = dict(self.bindings)
        result = evaluate_type(returns, bindings, self.scope)
        if self.definition.nullability != "MIRROR":
            return result
        final = returns.result if isinstance(returns, Program) else returns
        bound = bindings.get(final.name) if isinstance(final, Variable) else None
        nullable = isinstance(bound, TypeBase) and bound.nullable
        given = (argument.type.nullable for argument in self.arguments if isinstance(argument, ValueArg))
        return with_nullability(result, nullable or any(given))


def _literals(definition: FunctionDefinition, arguments: tuple[Argument, ...]) -> dict[str, str | int | None]:
    return {
        declared.name.lower(): argument.literal
        for declared, argument in zip(definition.arguments, arguments, strict=False)
        if isinstance(argument, ValueArg)
    }


def match_exactly(
    definition: FunctionDefinition,
    arguments: tuple[Argument, ...],
    scope: Scope,
    phase: Phase = "INITIAL_TO_RESULT",
    solution: Mapping[str, Binding] | None = None,
) -> Match | None:
    """Bind the arguments by the specification's rules only.

    With a ``solution``, the parameters have its values from the start, and an outermost type may be the required form
    of its value.
    """
    if phase.startswith("INTERMEDIATE"):
        return _match_intermediate(definition, arguments, scope, phase)
    if phase == "INITIAL_TO_INTERMEDIATE" and definition.intermediate is None:
        return None
    if not definition.takes(len(arguments)):
        return None
    bindings: dict[str, Binding] = dict(solution or {})
    scope = scope if solution is None else replace(scope, solved=True)
    taken: list[Argument] = []
    for position, argument in enumerate(arguments):
        declared = definition.argument(position)
        # each repetition of an inconsistent variadic argument has its own type parameters
        own = position >= len(definition.arguments) and definition.variadic and not definition.variadic.consistent
        found = _take(declared, argument, {} if own else bindings, scope, definition.nullability == "DISCRETE")
        if found is None:
            return None
        taken.append(found)
    for declared, argument in zip(definition.arguments, taken, strict=False):
        if isinstance(argument, TypeArg):
            bindings.setdefault(declared.name.lower(), argument.type)
    if "integer_parameter" in definition.returns.lower():
        scope = replace(scope, literals=_literals(definition, tuple(taken)))
    return Match(definition, tuple(taken), tuple(bindings.items()), 0, scope, phase)


def _take(
    declared: definitions.Argument, argument: Argument, bindings: dict[str, Binding], scope: Scope, discrete: bool
) -> Argument | None:
    match declared, argument:
        case definitions.EnumArgument(options=options), EnumArg(value=value):
            return next((EnumArg(option) for option in options if option.lower() == value.lower()), None)
        case definitions.TypeArgument(), TypeArg(type=type):
            given = plain(type)
            return argument if bind_argument(declared.pattern, given, bindings, scope, discrete=False) else None
        case definitions.ValueArgument(), ValueArg(type=type):
            given = plain(type)
            if not bind_argument(declared.pattern, given, bindings, scope, discrete=discrete):
                return None
            return argument if given is type else argument._replace(type=given)
        case _:
            return None


def _match_intermediate(
    definition: FunctionDefinition, arguments: tuple[Argument, ...], scope: Scope, phase: Phase
) -> Match | None:
    """Bind the one argument of a later phase to the intermediate type."""
    if definition.intermediate is None or len(arguments) != 1:
        return None
    (argument,) = arguments
    bindings: dict[str, Binding] = {}
    if not isinstance(argument, ValueArg):
        return None
    given = plain(argument.type)
    if not bind_argument(parse(definition.intermediate), given, bindings, scope, discrete=False):
        return None
    return Match(definition, (argument._replace(type=given),), tuple(bindings.items()), 0, scope, phase)


def _match_nullable_fields(
    definition: FunctionDefinition, arguments: tuple[Argument, ...], scope: Scope, phase: Phase
) -> Match | None:
    """Bind as :func:`_match_intermediate`, a struct that was stored in a way that made its fields nullable."""
    match arguments:
        case (ValueArg(type=type) as argument,) if isinstance(given := plain(type), Struct):
            required = replace(given, types=tuple(with_nullability(field, False) for field in given.types))
            found = _match_intermediate(definition, (argument._replace(type=required),), scope, phase)
            return None if found is None else replace(found, arguments=(argument._replace(type=given),), cost=1)
        case _:
            return None


def match_widened(
    definition: FunctionDefinition, arguments: tuple[Argument, ...], scope: Scope, phase: Phase = "INITIAL_TO_RESULT"
) -> Match | None:
    """Bind the arguments after lossless casts; the match states the types they must be cast to.

    Find the types first (each value adapted to the kind its pattern asks for, then one common type for every
    parameter), and bind those exactly. Functions are never cast.
    """
    if phase.startswith("INTERMEDIATE"):
        return _match_nullable_fields(definition, arguments, scope, phase)
    if not definition.takes(len(arguments)):
        return None
    needs = _Needs()
    for position, argument in enumerate(arguments):
        declared = definition.argument(position)
        if isinstance(declared, definitions.EnumArgument) or isinstance(argument, EnumArg):
            continue
        given = with_nullability(plain(argument.type), False)
        pattern = declared.pattern
        literal = argument.literal if isinstance(argument, ValueArg) else None
        if not needs.add(pattern, _adapt(pattern, given, literal)):
            return None
    solution = needs.solution()
    return None if solution is None else _match_targets(definition, arguments, solution, scope, phase)


def _match_targets(
    definition: FunctionDefinition,
    arguments: tuple[Argument, ...],
    solution: dict[str, Binding],
    scope: Scope,
    phase: Phase,
) -> Match | None:
    targets: list[Argument] = []
    total = 0
    for position, argument in enumerate(arguments):
        declared = definition.argument(position)
        if not isinstance(declared, definitions.ValueArgument) or not isinstance(argument, ValueArg):
            targets.append(argument)
            continue
        given = plain(argument.type)
        pattern = declared.pattern
        try:
            wanted = given if isinstance(pattern, AnyPattern) else evaluate_type(pattern, solution, scope)
        except InvalidPlanError:
            return None
        discrete = definition.nullability == "DISCRETE"
        declared_nullable = wanted.nullable if not isinstance(pattern, Variable) else pattern.nullable
        target = with_nullability(wanted, declared_nullable if discrete else given.nullable)
        cost = 0 if isinstance(given, Func) else widening_cost(given, target)
        if cost is None and isinstance(argument.literal, int):
            cost = narrowed(argument.literal, given, target)
        if cost is None:
            return None
        total += cost
        targets.append(argument if isinstance(given, Func) or cost == 0 else argument._replace(type=target))
    found = match_exactly(definition, tuple(targets), scope, phase, solution)
    return None if found is None else replace(found, cost=total)


def _adapt(pattern: Node, type: Type, literal: str | int | None = None) -> Type:
    """Bring a type to the kind the pattern asks for, at every depth; a type that can't be converted is returned
    unchanged.
    """
    match pattern, type:
        case TypePattern(keyword="list", parameters=(element,)), List(type=child):
            return replace(type, type=_adapt(element, child))
        case TypePattern(keyword="map", parameters=(key_pattern, value_pattern)), Map(key=key, value=value):
            return replace(type, key=_adapt(key_pattern, key), value=_adapt(value_pattern, value))
        case TypePattern(keyword="struct", parameters=patterns), Struct(types=types) if len(patterns) == len(types):
            return replace(type, types=tuple(map(_adapt, patterns, types)))
        case TypePattern(parameters=()), _:
            wanted = evaluate_type(replace(pattern, nullable=type.nullable), {}, Scope(""))
            narrow = isinstance(literal, int) and narrowed(literal, type, wanted) is not None
            return wanted if narrow or widening_cost(type, wanted) is not None else type
        case _:
            return type


@dataclass(slots=True)
class _Needs:
    """The types and numbers that the parameters of a call's patterns must hold, collected argument by argument."""

    types: dict[str, list[Type]] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    decimals: dict[tuple[str, str], Decimal] = field(default_factory=dict)

    def add(self, pattern: Node, type: Type) -> bool:
        """Add one type; return False if its kind isn't the pattern's."""
        match pattern, type:
            case Variable(name=name, nullable=nullable), _:
                self.types.setdefault(name, []).append(with_nullability(type, False) if nullable else type)
                return True
            case ((AnyPattern() | UserPattern()), _):
                return True
            case FuncPattern(parameters=patterns, result=result), Func(parameter_types=types, return_type=returned):
                return self._add_all((*patterns, result), (*types, returned))
            case TypePattern(keyword="list", parameters=patterns), List(type=element):
                return self._add_all(patterns, (element,))
            case TypePattern(keyword="map", parameters=patterns), Map(key=key, value=value):
                return self._add_all(patterns, (key, value))
            case TypePattern(keyword="struct", parameters=patterns), Struct(types=types):
                return self._add_all(patterns, types)
            case TypePattern(parameters=(Variable(name=precision), Variable(name=scale))), Decimal():
                before = self.decimals.get((precision, scale))
                self.decimals[precision, scale] = type if before is None else common_decimal(before, type)
                return pattern.keyword == type.keyword
            case TypePattern(parameters=patterns), _:
                for parameter, number in zip(patterns, type.parameters(), strict=False):
                    if isinstance(parameter, Variable) and isinstance(number, int):
                        self.numbers[parameter.name] = max(number, self.numbers.get(parameter.name, number))
                return pattern.keyword == type.keyword
            case _:
                return False

    def _add_all(self, patterns: tuple[Node, ...], types: tuple[Type, ...]) -> bool:
        return len(patterns) == len(types) and all(map(self.add, patterns, types))

    def solution(self) -> dict[str, Binding] | None:
        """The narrowest values that hold everything, or None."""
        found: dict[str, Binding] = dict(self.numbers)
        for (precision, scale), decimal in self.decimals.items():
            found[precision], found[scale] = decimal.precision, decimal.scale
        for name, types in self.types.items():
            common = common_type(types)
            if common is None:
                return None
            found[name] = common
        return found
