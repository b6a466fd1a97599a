"""Calls of functions: resolved against the extensions, with exactly the type that the extension derives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.extensions.definitions import Kind
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.extensions.resolution import Resolved
from pyspark_substrait.extensions.signatures import Argument as GivenArgument
from pyspark_substrait.extensions.signatures import EnumArg, ValueArg, given
from pyspark_substrait.model.expressions import (
    AggregateFunction,
    AggregationInvocation,
    Argument,
    Cast,
    EnumArgument,
    FailureBehavior,
    Function,
    FunctionOption,
    ScalarFunction,
    SortField,
    TypeArgument,
)
from pyspark_substrait.model.types import Func, Type, concrete, same_type

__all__ = ["Options", "ResolvedCall", "aggregate", "resolved", "scalar"]

#: option values by option name: one value, or several in the order of preference
Options: TypeAlias = Mapping[str, "str | tuple[str, ...]"]


@dataclass(frozen=True, slots=True)
class ResolvedCall:
    """The parts of a call of any kind, once its function is known."""

    function: Function
    arguments: tuple[Argument, ...]
    options: tuple[FunctionOption, ...]
    type: Type


def resolved(
    registry: Registry, urn: str, name: str, arguments: Sequence[Argument], options: Options, kind: Kind
) -> ResolvedCall:
    """Find the implementation that takes exactly these arguments.

    Args:
        registry: the extensions.
        urn: the extension of the function.
        name: the function, by its simple name or its signature.
        arguments: values, enumeration words and types, as the extension declares them. Parts of a list, map or struct
            may be cast to nullable, so that two arguments have one type; nothing else is cast.
        options: option values.
        kind: how it is called.

    Raises:
        InvalidPlanError: there is no such function, none that takes these arguments, or no such option.
    """
    found = registry.resolve(urn, name, tuple(map(given, arguments)), kind=kind, strict=":" in name)
    if found.definition is None or found.output_type is None:
        raise InvalidPlanError(f"the extension `{urn}` is not known", hint="Add its file to the registry")
    taken = [_fitted(argument, wanted) for argument, wanted in zip(arguments, found.arguments, strict=True)]
    fitted = [argument for argument in taken if argument is not None]
    if found.definition.urn != urn or len(fitted) < len(taken):
        raise InvalidPlanError(
            f"no implementation of `{name}` in `{urn}` takes exactly ({_types(arguments)})", hint="Cast the arguments"
        )
    stated = [(option, (value,) if isinstance(value, str) else tuple(value)) for option, value in options.items()]
    checked = found.definition.check_options(stated) if stated else ()
    return ResolvedCall(
        function=function_of(found),
        arguments=tuple(fitted),
        options=tuple(FunctionOption(option, tuple(values)) for option, values in checked),
        type=found.possible_type or found.output_type,
    )


def scalar(
    registry: Registry, urn: str, name: str, arguments: Sequence[Argument], options: Options | None = None
) -> ScalarFunction:
    """A call of a scalar function. Arguments and errors are those of :func:`resolved`."""
    call = resolved(registry, urn, name, arguments, options or {}, "scalar")
    return ScalarFunction(
        function=call.function,
        arguments=call.arguments,
        options=call.options,
        output_type=call.type,
        derived_type=call.type,
    )


def aggregate(
    registry: Registry,
    urn: str,
    name: str,
    arguments: Sequence[Argument],
    options: Options | None = None,
    *,
    distinct: bool = False,
    sorts: tuple[SortField, ...] = (),
) -> AggregateFunction:
    """A call of an aggregate function, over all records. Arguments and errors are those of :func:`resolved`."""
    call = resolved(registry, urn, name, arguments, options or {}, "aggregate")
    return AggregateFunction(
        function=call.function,
        arguments=call.arguments,
        options=call.options,
        output_type=call.type,
        derived_type=call.type,
        invocation=AggregationInvocation.DISTINCT if distinct else AggregationInvocation.ALL,
        sorts=sorts,
    )


def function_of(found: Resolved) -> Function:
    """The function that was found, with its full signature."""
    assert found.definition is not None
    name, _, signature = found.definition.key.partition(":")
    return Function(found.definition.urn, name, signature)


def _fitted(argument: Argument, wanted: GivenArgument) -> Argument | None:
    """An argument as the implementation takes it; None if that needs a change other than nullability inside it."""
    match argument, wanted:
        case _, EnumArg(value=value):
            return EnumArgument(value)
        case ((EnumArgument() | TypeArgument()), _):
            return argument
        case _, ValueArg(type=type) if concrete(argument.type) == concrete(type) or isinstance(type, Func):
            return argument
        case _, ValueArg(type=type) if same_type(argument.type, type) and argument.type.nullable == type.nullable:
            return Cast(type=type, input=argument, failure_behavior=FailureBehavior.THROW_EXCEPTION)
        case _:
            return None


def _types(arguments: Sequence[Argument]) -> str:
    return ", ".join(
        argument.value if isinstance(argument, EnumArgument) else str(argument.type) for argument in arguments
    )
