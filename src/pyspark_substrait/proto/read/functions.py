"""Calls of functions: which implementation a call means, its arguments and its type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from substrait import algebra_pb2

from pyspark_substrait.extensions.definitions import Kind, ValueArgument
from pyspark_substrait.extensions.matching import Phase
from pyspark_substrait.extensions.resolution import Resolved
from pyspark_substrait.extensions.signatures import EnumArg, TypeArg, ValueArg
from pyspark_substrait.extensions.signatures import given as as_given
from pyspark_substrait.model.expressions import (
    AggregateFunction,
    AggregationInvocation,
    AggregationPhase,
    Argument,
    Cast,
    EnumArgument,
    Expression,
    FailureBehavior,
    FieldReference,
    Function,
    FunctionOption,
    LambdaParameterReference,
    OuterReference,
    RootReference,
    ScalarFunction,
    SortDirection,
    SortField,
    TypeArgument,
    WindowFunction,
)
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.plan import ExtensionDeclaration, ExtensionKind
from pyspark_substrait.model.relations import WindowRelFunction
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    Boolean,
    List,
    Map,
    Struct,
    Type,
    Unbound,
    concrete,
    same_kind,
    same_type,
    with_nullability,
)
from pyspark_substrait.model.walk import expression_children, subquery_relation
from pyspark_substrait.proto.enums import AGGREGATION_PHASE, INVOCATION, SORT_DIRECTION
from pyspark_substrait.proto.read import expressions, frames, quirks
from pyspark_substrait.proto.read.agreement import is_unbound
from pyspark_substrait.proto.read.context import Reading, Scope, invalid, located
from pyspark_substrait.proto.read.types import data_type

__all__ = [
    "aggregate_function",
    "comparison",
    "scalar_function",
    "sort_fields",
    "window_function",
    "window_rel_function",
]


def scalar_function(message: algebra_pb2.Expression.ScalarFunction, scope: Scope, path: Path) -> Expression:
    """A call of a scalar function; inside a cast, if it is stated to give another kind of value than it does."""
    call = _call(message, "scalar", AggregationPhase.INITIAL_TO_RESULT, scope, path)
    node = ScalarFunction(
        function=call.function,
        arguments=call.arguments,
        options=call.options,
        output_type=call.output_type,
        derived_type=call.derived_type,
    )
    return node if call.cast is None else _cast(node, call.cast)


def aggregate_function(message: algebra_pb2.AggregateFunction, scope: Scope, path: Path) -> AggregateFunction:
    """A call of an aggregate function."""
    phase = _phase(message, scope.reading, path)
    call = _call(message, "aggregate", phase, scope, path)
    return AggregateFunction(
        function=call.function,
        arguments=call.arguments,
        options=call.options,
        output_type=call.cast or call.output_type,
        derived_type=call.derived_type,
        phase=phase,
        sorts=sort_fields(message.sorts, scope, (path, "sorts")),
        invocation=_invocation(message, path),
    )


def window_function(message: algebra_pb2.Expression.WindowFunction, scope: Scope, path: Path) -> Expression:
    """A call of a window function, or of an aggregate function over a window; inside a cast as a scalar one."""
    phase = _phase(message, scope.reading, path)
    call = _call(message, "window", phase, scope, path)
    sorts = sort_fields(message.sorts, scope, (path, "sorts"))
    bounds_type, lower, upper = frames.frame(message, sorts, scope, path)
    node = WindowFunction(
        function=call.function,
        arguments=call.arguments,
        options=call.options,
        output_type=call.output_type,
        derived_type=call.derived_type,
        phase=phase,
        sorts=sorts,
        invocation=_invocation(message, path),
        partitions=expressions.expressions(message.partitions, scope, (path, "partitions")),
        bounds_type=bounds_type,
        lower_bound=lower,
        upper_bound=upper,
    )
    return node if call.cast is None else _cast(node, call.cast)


def window_rel_function(message: Any, sorts: tuple[SortField, ...], scope: Scope, path: Path) -> WindowRelFunction:
    """A window function of a window relation, whose records are in the order of ``sorts``."""
    phase = _phase(message, scope.reading, path)
    call = _call(message, "window", phase, scope, path)
    bounds_type, lower, upper = frames.frame(message, sorts, scope, path)
    return WindowRelFunction(
        function=call.function,
        arguments=call.arguments,
        options=call.options,
        output_type=call.cast or call.output_type,
        derived_type=call.derived_type,
        phase=phase,
        invocation=_invocation(message, path),
        bounds_type=bounds_type,
        lower_bound=lower,
        upper_bound=upper,
    )


def sort_fields(messages: Any, scope: Scope, path: Path) -> tuple[SortField, ...]:
    """What to sort by, in order."""
    return tuple([_sort_field(message, scope, (path, index)) for index, message in enumerate(messages)])


def _sort_field(message: algebra_pb2.SortField, scope: Scope, path: Path) -> SortField:
    expr = expressions.expression(message.expr, scope, (path, "expr"))
    kind: SortDirection | Function
    match message.WhichOneof("sort_kind"):
        case "comparison_function_reference":
            place = (path, "comparison_function_reference")
            kind = comparison(message.comparison_function_reference, expr.type, expr.type, scope.reading, place)
        case _:
            kind = SORT_DIRECTION.member(message.direction, path, "direction")
    return SortField(expr=expr, sort_kind=kind)


def comparison(anchor: int, left: Type, right: Type, reading: Reading, path: Path) -> Function:
    """The function that compares two values, where a message names it without calling it."""
    declared, found = _comparison(anchor, left, right, reading, path)
    return _as_declared(declared) if found is None else _function(found)


def condition(
    anchor: int, left: Type, right: Type, reading: Reading, path: Path
) -> tuple[Function, tuple[Type, Type] | None]:
    """The function that says whether two values match, and the types that it takes them as, None for their own.

    Raises:
        InvalidPlanError: the function doesn't take the two, or gives something else than a boolean.
    """
    declared, found = _comparison(anchor, left, right, reading, path)
    if found is None:
        return _as_declared(declared), None
    assert found.output_type is not None, "it is known where the definition is"
    if not isinstance(concrete(found.output_type), Boolean):
        raise invalid(f"`{declared.name}` gives {found.output_type}", path, "It must be a function to a boolean")
    types = tuple(type for type in found.argument_types if type is not None)
    if len(types) != 2 or found.sources != (0, 1):
        raise invalid(f"`{declared.name}` isn't a function of two values", path)
    own = same_type(types[0], left) and same_type(types[1], right)
    return _function(found), None if own else (types[0], types[1])


def _comparison(
    anchor: int, left: Type, right: Type, reading: Reading, path: Path
) -> tuple[ExtensionDeclaration, Resolved | None]:
    """What a function is declared as, and what it means for two values; None where that isn't known."""
    declared = _declared(anchor, reading, path)
    if is_unbound(left) or is_unbound(right):
        return declared, None
    with located(path):
        found = reading.registry.resolve(
            declared.urn or None, declared.name, (ValueArg(left), ValueArg(right)), kind="scalar", strict=reading.strict
        )
    _note(found, reading, path)
    return declared, None if found.definition is None else found


_PHASES: dict[AggregationPhase, Phase] = {
    AggregationPhase.INITIAL_TO_INTERMEDIATE: "INITIAL_TO_INTERMEDIATE",
    AggregationPhase.INTERMEDIATE_TO_INTERMEDIATE: "INTERMEDIATE_TO_INTERMEDIATE",
    AggregationPhase.INITIAL_TO_RESULT: "INITIAL_TO_RESULT",
    AggregationPhase.INTERMEDIATE_TO_RESULT: "INTERMEDIATE_TO_RESULT",
}

# what the calls have in common ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Call:
    function: Function
    arguments: tuple[Argument, ...]
    options: tuple[FunctionOption, ...]
    output_type: Type
    derived_type: Type
    cast: Type | None = None


def _call(message: Any, kind: Kind, phase: AggregationPhase, scope: Scope, path: Path) -> _Call:
    reading = scope.reading
    declared = _declared(message.function_reference, reading, (path, "function_reference"))
    place: Path = (path, "arguments")
    arguments = [_argument(argument, scope, (place, index)) for index, argument in enumerate(message.arguments)]
    options = [(option.name, tuple(option.preference)) for option in message.options]
    stated = data_type(message.output_type, reading, (path, "output_type")) if message.HasField("output_type") else None
    arguments = quirks.arguments(declared.name, arguments, stated, reading, path)
    found: Resolved | None = None
    if not any(not isinstance(argument, EnumArgument) and is_unbound(argument.type) for argument in arguments):
        seen = tuple([as_given(argument) for argument in arguments])
        with located(path):
            found = reading.registry.resolve(
                declared.urn or None, declared.name, seen, kind=kind, phase=_PHASES[phase], strict=reading.strict
            )
    if found is None or found.definition is None or found.output_type is None:
        if stated is None and found is not None:
            raise invalid(
                f"`{declared.name}` belongs to the unknown extension `{declared.urn}` and has no output_type",
                path,
                "State its output_type, or load the extension's YAML file",
            )
        if found is not None:
            _note(found, reading, path)
        type: Type = stated if stated is not None else Unbound(nullable=True)
        kept = tuple([FunctionOption(name, preference) for name, preference in options])
        return _Call(_as_declared(declared), tuple(arguments), kept, type, type)
    _note(found, reading, path)
    _check_constants(found, arguments, place)
    options = quirks.options(options, found.definition, reading, path)
    if options:
        with located(path):
            options = list(found.definition.check_options(options))
    output_type, cast = _output_type(stated, found.output_type, found.definition.key, reading, path)
    return _Call(
        _function(found),
        _taken(arguments, found),
        tuple([FunctionOption(name, preference) for name, preference in options]),
        output_type,
        found.output_type,
        cast,
    )


def _check_constants(found: Resolved, arguments: list[Argument], path: Path) -> None:
    """Refuse an argument that is different for each record where the function asks for a constant."""
    assert found.definition is not None
    sources = found.sources if found.notes else range(len(arguments))
    for position, source in enumerate(sources):
        declared = found.definition.argument(position) if found.definition.arguments else None
        if source is None or not isinstance(declared, ValueArgument) or not declared.constant:
            continue
        argument = arguments[source]
        if not isinstance(argument, EnumArgument | TypeArgument) and _varies(argument):
            raise invalid(
                f"`{found.definition.key}` takes only a constant here", (path, source), "Write the value in the plan"
            )


def _varies(expression: Expression) -> bool:
    """Whether an expression refers to data."""
    if subquery_relation(expression) is not None:
        return True
    if isinstance(expression, FieldReference) and isinstance(
        expression.root, RootReference | OuterReference | LambdaParameterReference
    ):
        return True
    return any(map(_varies, expression_children(expression)))


def _declared(anchor: int, reading: Reading, path: Path) -> ExtensionDeclaration:
    declared = reading.functions.get(anchor)
    if declared is None:
        raise invalid(
            f"the function {anchor} is not declared", path, "Add an extension_function with this function_anchor"
        )
    reading.used.add((ExtensionKind.FUNCTION, anchor))
    return declared


def _as_declared(declared: ExtensionDeclaration) -> Function:
    name, _, signature = declared.name.partition(":")
    return Function(declared.urn, name, signature)


def _function(found: Resolved) -> Function:
    assert found.definition is not None
    name, _, signature = found.definition.key.partition(":")
    return Function(found.definition.urn, name, signature)


def _note(found: Resolved, reading: Reading, path: Path) -> None:
    for text in found.notes:
        for verb in ("read as", "found in", "cast from"):
            before, separator, after = text.partition(f" {verb} ")
            if separator:
                reading.note_once("function", path, before, f"{verb} {after}", key=text)
                break
        else:
            reading.note_once("function", path, text, "accepted", key=text)


def _argument(message: algebra_pb2.FunctionArgument, scope: Scope, path: Path) -> Argument:
    match message.WhichOneof("arg_type"):
        case "value":
            return expressions.expression(message.value, scope, (path, "value"))
        case "enum":
            return EnumArgument(message.enum)
        case "type":
            return TypeArgument(data_type(message.type, scope.reading, (path, "type")))
        case _:
            raise invalid("an argument is missing", path)


def _taken(arguments: list[Argument], found: Resolved) -> tuple[Argument, ...]:
    """The arguments as the function takes them: in its order, its spelling, and cast to its types."""
    if not found.notes:
        pairs = zip(arguments, found.arguments, strict=True)
        return tuple([EnumArgument(wanted.value) if isinstance(wanted, EnumArg) else given for given, wanted in pairs])
    taken: list[Argument] = []
    for source, wanted in zip(found.sources, found.arguments, strict=True):
        given = None if source is None else arguments[source]
        match wanted:
            case EnumArg(value=value):
                taken.append(EnumArgument(value))
            case TypeArg(type=type):
                taken.append(TypeArgument(type))
            case ValueArg(type=type):
                assert given is not None and not isinstance(given, EnumArgument | TypeArgument)
                taken.append(_cast(given, type))
    return tuple(taken)


def _cast(value: Expression, type: Type) -> Expression:
    if with_nullability(concrete(value.type), type.nullable) == concrete(type):
        return value
    return Cast(type=type, input=value, failure_behavior=FailureBehavior.THROW_EXCEPTION)


def _output_type(
    stated: Type | None, derived: Type, key: str, reading: Reading, path: Path
) -> tuple[Type, Type | None]:
    """The type of a call, and the type to cast it to, if that is of another kind.

    The stated type counts, but it is nullable also where the extension says it is.

    Raises:
        InvalidPlanError: values of one can't be those of the other; or the two differ at all, when reading is strict.
    """
    if stated is None or stated == derived:
        return derived, None
    if is_unbound(derived) or is_unbound(stated) or concrete(stated) == derived:
        return stated, None
    path = (path, "output_type")
    kind = _alike(stated, derived)
    convertible = kind or _alike(stated, derived, families=True) or quirks.returned_date(stated, derived, reading)
    if not convertible:
        if quirks.derived_instead(stated, derived, key, reading, path):
            return derived, None
        raise invalid(
            f"`{key}` gives {derived} for these arguments, but its output_type is {stated}",
            path,
            "Correct it, or leave it out",
        )
    result = with_nullability(stated, stated.nullable or derived.nullable)
    before = f"`{key}` gives {derived}, but its output_type is {stated}"
    reading.loose("output-type", path, before, f"computed as {derived}, of type {result}")
    return (result, None) if kind else (derived, result)


_FAMILIES = ((I8, I16, I32, I64), (FP32, FP64))


def _alike(left: Type, right: Type, families: bool = False) -> bool:
    """Whether two types are of the same kind, and so are the elements of lists, maps and structs.

    With ``families``, all integers are alike, and all floats.
    """
    left, right = concrete(left), concrete(right)
    match left, right:
        case List(type=one), List(type=other):
            return _alike(one, other, families)
        case Map(key=one_key, value=one_value), Map(key=other_key, value=other_value):
            return _alike(one_key, other_key, families) and _alike(one_value, other_value, families)
        case Struct(types=ones), Struct(types=others):
            return len(ones) == len(others) and all(map(_alike, ones, others, [families] * len(ones)))
        case _:
            return same_kind(left, right) or (
                families and any(isinstance(left, family) and isinstance(right, family) for family in _FAMILIES)
            )


def _phase(message: Any, reading: Reading, path: Path) -> AggregationPhase:
    if message.phase == 0:
        # By the letter this is INTERMEDIATE_TO_RESULT, which needs an intermediate argument. Producers leave it unset
        # and mean a complete aggregation.
        reading.note_once("unspecified-phase", path, "the phase is unspecified", "INITIAL_TO_RESULT")
    return AGGREGATION_PHASE.member(message.phase, path, "phase")


def _invocation(message: Any, path: Path) -> AggregationInvocation:
    return INVOCATION.member(message.invocation, path, "invocation")
