"""Calls of functions in the meaning of a dialect of SQL, whatever types they are stated to have."""

from __future__ import annotations

from typing import Any

from pyspark_substrait.model.expressions import (
    AggregateFunction,
    AggregationInvocation,
    EnumArgument,
    Expression,
    TypeArgument,
)
from pyspark_substrait.model.paths import Path
from pyspark_substrait.proto.read import expressions, frames, functions
from pyspark_substrait.proto.read.context import Scope, located
from pyspark_substrait.proto.read.meaning import Meaning

__all__ = ["aggregate", "scalar", "window"]


def scalar(message: Any, meaning: Meaning, scope: Scope, path: Path) -> Expression:
    """Read a call of a scalar function."""
    name, place = _name(message, scope, path), (path, "arguments")
    with located(path):
        made = meaning.special(name, message, lambda value: expressions.expression(value, scope, place), scope)
    if made is not None:
        return made
    arguments = _arguments(message, scope, place)
    with located(path):
        return meaning.scalar(name, arguments)


def aggregate(message: Any, meaning: Meaning, scope: Scope, path: Path) -> AggregateFunction | None:
    """Read a call of an aggregate function; None to read it as that of the producer."""
    name, arguments = _name(message, scope, path), _arguments(message, scope, (path, "arguments"))
    distinct = functions.invocation_of(message, scope.reading, path) is AggregationInvocation.DISTINCT
    with located(path):
        return meaning.aggregate(name, arguments, distinct=distinct, is_sorted=bool(message.sorts))


def window(message: Any, meaning: Meaning, scope: Scope, path: Path) -> Expression:
    """Read a call over a window."""
    name, arguments = _name(message, scope, path), _arguments(message, scope, (path, "arguments"))
    sorts = functions.sort_fields(message.sorts, scope, (path, "sorts"))
    frame = frames.frame(message, sorts, scope, path)
    partitions = expressions.expressions(message.partitions, scope, (path, "partitions"))
    with located(path):
        return meaning.window(name, arguments, sorts=sorts, partitions=partitions, frame=frame)


def _name(message: Any, scope: Scope, path: Path) -> str:
    return functions.declaration_of(message.function_reference, scope.reading, (path, "function_reference")).name


def _arguments(message: Any, scope: Scope, path: Path) -> list[Expression]:
    found = [functions.argument_of(argument, scope, (path, index)) for index, argument in enumerate(message.arguments)]
    values = [one for one in found if not isinstance(one, EnumArgument | TypeArgument)]
    assert len(values) == len(found), "planners of SQL write values only"
    return values
