"""Calls of functions: which implementation a call means, its arguments and its type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from pyspark_substrait.codes import Code, Level
from pyspark_substrait.errors import InvalidPlanError, SubstraitError
from pyspark_substrait.extensions.definitions import Kind
from pyspark_substrait.extensions.matching import Phase
from pyspark_substrait.extensions.producers import Producer
from pyspark_substrait.extensions.registry import OFFICIAL, OWN
from pyspark_substrait.extensions.resolution import Resolved
from pyspark_substrait.extensions.signatures import EnumArg, TypeArg, ValueArg
from pyspark_substrait.extensions.signatures import given as as_given
from pyspark_substrait.model.expressions import (
    AggregateFunction,
    AggregationInvocation,
    AggregationPhase,
    Argument,
    BrokenExpression,
    EnumArgument,
    Expression,
    Function,
    FunctionOption,
    ScalarFunction,
    SortDirection,
    SortField,
    TypeArgument,
    WindowFunction,
)
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.plan import ExtensionDeclaration, ExtensionKind
from pyspark_substrait.model.relations import WindowRelFunction
from pyspark_substrait.model.types import Boolean, Decimal, Type, Unbound, concrete, same_type
from pyspark_substrait.model.unbound import LEAVES, is_unbound
from pyspark_substrait.proto import messages
from pyspark_substrait.proto.enums import AGGREGATION_PHASE, INVOCATION, SORT_DIRECTION
from pyspark_substrait.proto.read import bare_names, dialect_calls, expressions, frames, quirks
from pyspark_substrait.proto.read.arrow import Option
from pyspark_substrait.proto.read.call_checks import (
    check_constants,
    check_loosely,
    check_named_options,
    checked_options,
)
from pyspark_substrait.proto.read.context import Reading, Scope, invalid, located
from pyspark_substrait.proto.read.habits import datafusion_coercion, datafusion_structs, datafusion_values
from pyspark_substrait.proto.read.habits.decimals import in_stated_digits
from pyspark_substrait.proto.read.habits.unambiguous import UNTYPED, is_untyped_null, typed_nulls
from pyspark_substrait.proto.read.output_types import output_type
from pyspark_substrait.proto.read.path_remap import moved_arguments
from pyspark_substrait.proto.read.type_checks import as_type
from pyspark_substrait.proto.read.types import data_type

__all__ = [
    "aggregate_function",
    "argument_of",
    "comparison",
    "declaration_of",
    "invocation_of",
    "scalar_function",
    "sort_field",
    "sort_fields",
    "window_function",
    "window_rel_function",
]


def scalar_function(message: messages.Expression.ScalarFunction, scope: Scope, path: Path) -> Expression:
    """Read a call of a scalar function; inside a cast, if its stated type is of another kind than the derived one."""
    if scope.reading.made_by is Producer.DATAFUSION and scope.reading.meaning is None:
        made = datafusion_structs.constructed(message, scope, path)
        if made is not None:
            return made
    if (meaning := scope.reading.meaning) is not None:
        return dialect_calls.scalar(message, meaning, scope, path)
    call = _call(message, "scalar", "INITIAL_TO_RESULT", scope, path)
    node = ScalarFunction(
        function=call.function,
        arguments=call.arguments,
        options=call.options,
        output_type=call.output_type,
        derived_type=call.derived_type,
    )
    return _converted(node, call.cast, scope.reading, path)


def aggregate_function(message: messages.AggregateFunction, scope: Scope, path: Path) -> AggregateFunction:
    """A call of an aggregate function."""
    if (meaning := scope.reading.meaning) is not None:
        found = dialect_calls.aggregate(message, meaning, scope, path)
        if found is not None:
            return found
    phase = _phase(message, scope.reading, path)
    call = _call(message, "aggregate", _PHASES[phase], scope, path, castable=False)
    node = AggregateFunction(
        function=call.function,
        arguments=call.arguments,
        options=call.options,
        output_type=call.output_type,
        derived_type=call.derived_type,
        phase=phase,
        sorts=sort_fields(message.sorts, scope, (path, "sorts")),
        invocation=invocation_of(message, scope.reading, path),
    )
    if node.invocation is AggregationInvocation.DISTINCT:
        datafusion_values.float_comparison("distinct", node.arguments, scope.reading, path)
    if scope.reading.findings is not None or scope.reading.placed:
        scope.reading.places.add(node, path)
    return node


def window_function(message: messages.Expression.WindowFunction, scope: Scope, path: Path) -> Expression:
    """A call of a window function, or of an aggregate function over a window; inside a cast as a scalar one."""
    if (meaning := scope.reading.meaning) is not None:
        return dialect_calls.window(message, meaning, scope, path)
    phase = _phase(message, scope.reading, path)
    call = _call(message, "window", _PHASES[phase], scope, path)
    sorts = sort_fields(message.sorts, scope, (path, "sorts"))
    bounds_type, lower, upper = frames.frame(message, sorts, scope, path)
    partitions = expressions.expressions(message.partitions, scope, (path, "partitions"))
    datafusion_values.float_keys([key.type for key in partitions], scope.reading, path)
    node = WindowFunction(
        function=call.function,
        arguments=call.arguments,
        options=call.options,
        output_type=call.output_type,
        derived_type=call.derived_type,
        phase=phase,
        sorts=sorts,
        invocation=invocation_of(message, scope.reading, path),
        partitions=partitions,
        bounds_type=bounds_type,
        lower_bound=lower,
        upper_bound=upper,
    )
    return _converted(node, call.cast, scope.reading, path)


def window_rel_function(message: Any, sorts: tuple[SortField, ...], scope: Scope, path: Path) -> WindowRelFunction:
    """A window function of a window relation, whose records are in the order of ``sorts``."""
    phase = _phase(message, scope.reading, path)
    call = _call(message, "window", _PHASES[phase], scope, path, castable=False)
    bounds_type, lower, upper = frames.frame(message, sorts, scope, path)
    node = WindowRelFunction(
        function=call.function,
        arguments=call.arguments,
        options=call.options,
        output_type=call.output_type,
        derived_type=call.derived_type,
        phase=phase,
        invocation=invocation_of(message, scope.reading, path),
        bounds_type=bounds_type,
        lower_bound=lower,
        upper_bound=upper,
    )
    if scope.reading.findings is not None or scope.reading.placed:
        scope.reading.places.add(node, path)
    return node


def sort_fields(messages: Any, scope: Scope, path: Path) -> tuple[SortField, ...]:
    """Read the sort fields, in order."""
    return tuple([sort_field(message, scope, (path, index)) for index, message in enumerate(messages)])


def sort_field(message: messages.SortField, scope: Scope, path: Path) -> SortField:
    """Read a sort field."""
    reading, expr = scope.reading, expressions.expression(message.expr, scope, (path, "expr"))
    kind: SortDirection | Function = SortDirection.CLUSTERED
    with reading.going_on(code=Code.EXPRESSION_SORT):
        match message.WhichOneof("sort_kind"):
            case "comparison_function_reference":
                place = (path, "comparison_function_reference")
                kind = comparison(message.comparison_function_reference, expr.type, expr.type, reading, place)
            case None if reading.findings is not None:
                raise invalid("sort_kind is missing", path, "Set direction", Code.PROTO_MISSING_FIELD)
            case _:
                kind = SORT_DIRECTION.member(message.direction, path, "direction")
    datafusion_values.float_keys((expr.type,), reading, path)
    if kind in (SortDirection.ASC_NULLS_LAST, SortDirection.DESC_NULLS_FIRST):
        datafusion_values.nested_keys((expr.type,), reading, path)
    node = SortField(expr=expr, sort_kind=kind)
    if reading.findings is not None or reading.placed:
        reading.places.add(node, path)
    return node


def comparison(anchor: int, left: Type, right: Type, reading: Reading, path: Path) -> Function:
    """The function that compares two values, where a message names it without calling it."""
    declared, found = _comparison(anchor, left, right, reading, path)
    return _as_declared(declared) if found is None or found.definition is None else found.definition.function


def condition(
    anchor: int, left: Type, right: Type, reading: Reading, path: Path
) -> tuple[Function, tuple[Type, Type] | None]:
    """Return the function that tells whether two values match, and the types to cast them to, or None for their own.

    Raises:
        InvalidPlanError: the function doesn't accept the two values, or doesn't return a boolean.
    """
    declared, found = _comparison(anchor, left, right, reading, path)
    if found is None:
        return _as_declared(declared), None
    assert found.definition is not None
    assert found.output_type is not None, "it is known where the definition is"
    if not isinstance(concrete(found.output_type), Boolean):
        raise invalid(
            f"`{declared.name}` gives {found.output_type}",
            path,
            "It must be a function to a boolean",
            Code.TYPE_MISMATCH,
        )
    types = tuple(type for type in found.argument_types if type is not None)
    if len(types) != 2 or found.sources != (0, 1):
        raise invalid(f"`{declared.name}` is not a function of two values", path, code=Code.EXPRESSION_NO_OVERLOAD)
    own = same_type(types[0], left) and same_type(types[1], right)
    return found.definition.function, None if own else (types[0], types[1])


def _comparison(
    anchor: int, left: Type, right: Type, reading: Reading, path: Path
) -> tuple[ExtensionDeclaration, Resolved | None]:
    """Return the declaration of a function and its resolution for two values; None for the latter if it isn't known."""
    reading.plain = False
    declared = declaration_of(anchor, reading, path)
    if is_unbound(left) or is_unbound(right):
        return declared, None
    values = (ValueArg(left), ValueArg(right))
    with located(path):
        urn = declared.urn or bare_names.extension(declared.name, values, "scalar", reading, path)
        found = reading.registry.resolve(urn, declared.name, values, kind="scalar", strict=reading.strict)
    _note(found, reading, path)
    return declared, None if found.definition is None else found


_PHASES: dict[AggregationPhase, Phase] = {
    AggregationPhase.INITIAL_TO_INTERMEDIATE: "INITIAL_TO_INTERMEDIATE",
    AggregationPhase.INTERMEDIATE_TO_INTERMEDIATE: "INTERMEDIATE_TO_INTERMEDIATE",
    AggregationPhase.INITIAL_TO_RESULT: "INITIAL_TO_RESULT",
    AggregationPhase.INTERMEDIATE_TO_RESULT: "INTERMEDIATE_TO_RESULT",
}

# shared by all calls --------------------------------------------------------------------------------------------------


class _Call(NamedTuple):
    function: Function
    arguments: tuple[Argument, ...]
    options: tuple[FunctionOption, ...]
    output_type: Type
    derived_type: Type
    cast: Type | None = None


def _call(message: Any, kind: Kind, phase: Phase, scope: Scope, path: Path, *, castable: bool = True) -> _Call:
    reading = scope.reading
    anchor: int = message.function_reference
    declared = reading.functions.get(anchor)
    if declared is None:
        reading.fault(_undeclared(anchor, (path, "function_reference")))
    else:
        reading.used.add((ExtensionKind.FUNCTION, anchor))
    place: Path = (path, "arguments")
    arguments: list[Argument] = []
    known = reading.places.entries
    marks = [len(known)]  # how many nodes were read before each argument
    for index, argument in enumerate(message.arguments):
        arguments.append(argument_of(argument, scope, (place, index)))
        marks.append(len(known))
    options = [(option.name, tuple(option.preference)) for option in message.options] if message.options else []
    stated: Type | None = None
    if message.HasField("output_type"):
        try:
            stated = data_type(message.output_type, reading, (path, "output_type"))
        except SubstraitError as error:
            reading.fault(error, Code.TYPE_UNKNOWN)
    if declared is None:
        return _not_understood(_UNDECLARED, arguments, options, stated)
    if reading.made_by is Producer.DATAFUSION:
        declared, arguments = datafusion_coercion.understood(declared, arguments, reading, path)
    name, urn = declared.name, declared.urn

    def resolve(given: Sequence[Argument]) -> Resolved | None:
        seen = tuple([as_given(argument) for argument in given])
        where = urn or bare_names.extension(name, seen, kind, reading, path)
        return reading.registry.resolve(where, name, seen, kind=kind, phase=phase, strict=reading.strict)

    if not LEAVES.issuperset([getattr(argument, "type", None).__class__ for argument in arguments]):
        untyped = False
        for argument in arguments:
            if argument is UNTYPED:
                untyped = True
            elif not isinstance(argument, EnumArgument) and is_unbound(argument.type):
                reading.plain = False
                check_loosely(declared, len(arguments), options, reading, path)
                return _not_understood(declared, arguments, options, stated)
        try:
            arguments = typed_nulls(arguments, resolve, reading, place) if untyped else arguments
        except SubstraitError as error:
            reading.fault(error)
            return _not_understood(declared, arguments, options, stated)
    meant = None if reading.made_by is None else quirks.meant(name, arguments, stated, reading, path)
    if meant is not None:
        arguments, urn = meant.arguments, meant.urn or urn
        name = (meant.name or name.partition(":")[0]) if meant.urn else name
    found: Resolved | None = None
    try:
        if reading.made_by is Producer.DATAFUSION:
            arguments = datafusion_coercion.nulls_that_fit(arguments, resolve, stated)
        found = resolve(arguments)
        digits = reading.made_by is not None and found is not None and isinstance(stated, Decimal)
        wider = in_stated_digits(found, arguments, stated, reading, path) if digits and found is not None else None
        if wider is not None:
            arguments, found = wider, resolve(wider)
    except SubstraitError as error:
        reading.caught(error, path, Code.EXPRESSION_NO_OVERLOAD)
    if found is None:
        overloads = reading.registry.overloads(declared.urn, declared.name.partition(":")[0])
        check_named_options(overloads, options, reading, path)
        return _not_understood(declared, arguments, options, stated)
    if found.definition is None or found.output_type is None:
        if stated is None:
            reading.fault(
                invalid(
                    f"`{declared.name}` belongs to the unknown extension `{declared.urn}` and has no output_type",
                    path,
                    "State its output_type, or load the extension's YAML file",
                    Code.PROTO_MISSING_FIELD,
                )
            )
        _note(found, reading, path)
        return _not_understood(declared, arguments, options, stated)
    if found.notes:
        _note(found, reading, path)
    definition = found.definition
    if definition.deprecated is not None or not definition.urn.startswith((OFFICIAL, OWN)):
        reading.plain = False
    taken = tuple(arguments) if found.as_given else _taken(arguments, found)
    changed = found.notes and not found.as_given and reading.placed and meant is None and wider is None
    if changed and not moved_arguments(arguments, taken, found.sources, marks, reading.places, reading.moves):
        reading.plain = False
    if definition.takes_constants:
        check_constants(found, arguments, reading, place)
    if options:
        options = checked_options(
            quirks.options(options, found.definition, reading, path), found.definition, reading, path
        )
    possible = found.possible_type
    assert possible is not None, "it is known where the definition is"
    if stated is None and reading.findings is not None:
        what = f"the output_type is missing; `{found.definition.key}` gives {possible}"
        place, fix = (path, "output_type"), f"Set it to {possible}"
        reading.find(Code.PROTO_MISSING_FIELD, place, what, level=Level.WARNING, fix=fix)
    result: tuple[Type, Type | None] = possible if stated is None else found.output_type, None
    if stated is not None and stated == possible:
        result = possible, None
    elif stated is not None and stated is not found.output_type and stated != found.output_type:
        result = Unbound(nullable=True), None
        with reading.going_on(code=Code.EXPRESSION_OUTPUT_TYPE):
            key = found.definition.key
            result = output_type(stated, found.output_type, key, reading, path, castable=castable)
    return _Call(
        found.definition.function,
        taken,
        tuple([FunctionOption(name, preference) for name, preference in options]),
        result[0],
        found.output_type,
        result[1],
    )


_UNDECLARED = ExtensionDeclaration("", ExtensionKind.FUNCTION, "undeclared")


def _not_understood(
    declared: ExtensionDeclaration, arguments: list[Argument], options: list[Option], stated: Type | None
) -> _Call:
    """Return a call as the plan states it, because its definition or the types of its arguments aren't known."""
    type: Type = stated if stated is not None else Unbound(nullable=True)
    kept = tuple([FunctionOption(name, preference) for name, preference in options])
    return _Call(_as_declared(declared), tuple(arguments), kept, type, type)


def declaration_of(anchor: int, reading: Reading, path: Path) -> ExtensionDeclaration:
    declared = reading.functions.get(anchor)
    if declared is None:
        raise _undeclared(anchor, path)
    reading.used.add((ExtensionKind.FUNCTION, anchor))
    return declared


def _undeclared(anchor: int, path: Path) -> InvalidPlanError:
    hint = "Add an extension_function with this function_anchor"
    return invalid(f"the function {anchor} is not declared", path, hint, Code.LINK_MISSING_ANCHOR)


def _as_declared(declared: ExtensionDeclaration) -> Function:
    name, _, signature = declared.name.partition(":")
    return Function(declared.urn, name, signature)


def _note(found: Resolved, reading: Reading, path: Path) -> None:
    key = ("function", found.notes)
    if key in reading.remarked:
        return
    reading.remarked.add(key)
    for text in found.notes:
        if ("function", text) in reading.remarked:
            continue
        for verb in ("read as", "found in", "cast from"):
            before, separator, after = text.partition(f" {verb} ")
            if separator:
                reading.note_once("function", path, before, f"{verb} {after}", key=text)
                break
        else:
            reading.note_once("function", path, text, "accepted", key=text)


def argument_of(message: messages.FunctionArgument, scope: Scope, path: Path) -> Argument:
    match message.WhichOneof("arg_type"):
        case "value":
            value = message.value
            if value.HasField("literal") and is_untyped_null(value):
                return UNTYPED
            return expressions.expression(value, scope, (path, "value"))
        case "enum":
            return EnumArgument(message.enum)
        case "type":
            with scope.reading.going_on(code=Code.TYPE_UNKNOWN):
                return TypeArgument(data_type(message.type, scope.reading, (path, "type")))
            return TypeArgument(Unbound(nullable=True))
        case _:
            missing = invalid("an argument is missing", path, code=Code.PROTO_MISSING_FIELD)
            scope.reading.fault(missing)
            return BrokenExpression(kind="", fault=missing.message)


def _taken(arguments: list[Argument], found: Resolved) -> tuple[Argument, ...]:
    """Return the arguments as the function declares them: in its order, its spelling, and cast to its types."""
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
                taken.append(as_type(given, type))
    return tuple(taken)


def _converted(node: ScalarFunction | WindowFunction, type: Type | None, reading: Reading, path: Path) -> Expression:
    """Cast a call to its stated type, if that is of another kind than the derived one."""
    value = node if type is None else as_type(node, type)
    if value is not node and reading.placed and path is not None:
        reading.moves.write(path, "cast", "input", path[1])
        reading.places.add(node, ((path[0], "cast"), "input"))
    return value


def _phase(message: Any, reading: Reading, path: Path) -> AggregationPhase:
    if message.phase == 0:
        # Strictly, unspecified means INTERMEDIATE_TO_RESULT, which needs an intermediate argument. Producers leave the
        # phase unset and mean a complete aggregation.
        reading.note_once("unspecified-phase", path, "the phase is unspecified", "INITIAL_TO_RESULT")
    with reading.going_on():
        return AGGREGATION_PHASE.member(message.phase, path, "phase")
    return AggregationPhase.INITIAL_TO_RESULT


def invocation_of(message: Any, reading: Reading, path: Path) -> AggregationInvocation:
    with reading.going_on():
        return INVOCATION.member(message.invocation, path, "invocation")
    return AggregationInvocation.ALL
