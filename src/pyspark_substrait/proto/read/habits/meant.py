"""The call that a producer means by one that it writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from pyspark_substrait.model.expressions import (
    Argument,
    Cast,
    EnumArgument,
    Expression,
    FailureBehavior,
    TypeArgument,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.types import Type, concrete, with_nullability
from pyspark_substrait.proto.read.context import Reading

__all__ = ["CallRule", "Meant", "cast", "values"]


class Meant(NamedTuple):
    """A call in the form that the specification has for it.

    Args:
        arguments: the arguments that the function takes.
        urn: the extension that it is looked for in, by its simple name; None for the one that the plan names.
        name: its simple name, if it is looked for in another extension and has another one there.
    """

    arguments: list[Argument]
    urn: str | None = None
    name: str | None = None


#: takes the arguments of a call, its stated type, the message and the path; returns None for a call as it is written
CallRule: TypeAlias = Callable[[Sequence[Argument], "Type | None", Reading, Path], "Meant | None"]


def values(arguments: Sequence[Argument]) -> list[Expression] | None:
    """The arguments of a call that has values only; None for another one."""
    found = [argument for argument in arguments if not isinstance(argument, EnumArgument | TypeArgument)]
    return found if len(found) == len(arguments) else None


def cast(value: Expression, type: Type) -> Expression:
    """Return a value as one of another type, which is nullable if the value is."""
    type = with_nullability(type, value.type.nullable)
    if concrete(value.type) == type:
        return value
    if isinstance(value, Literal) and value.value is None:
        return replace(value, type=type)
    return Cast(type=type, input=value, failure_behavior=FailureBehavior.THROW_EXCEPTION)
