"""Calls of DataFusion that are a null, or one of their arguments, whatever the values are."""

from __future__ import annotations

from typing import Any, Final

from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.plan import ExtensionKind
from pyspark_substrait.model.types import with_nullability
from pyspark_substrait.proto.read import expressions
from pyspark_substrait.proto.read.context import Reading, Scope
from pyspark_substrait.proto.read.habits import datafusion as habits
from pyspark_substrait.proto.read.types import data_type

__all__ = ["is_null", "is_null_type", "simplified"]

#: functions that are null if the first argument is
_OF_FIRST: Final = frozenset({"array_filter", "array_transform", "array_any_match", "array_first", "flatten"})
#: functions that are null if an argument is
_OF_ANY: Final = frozenset({"range", "generate_series", "date_bin", "logb"})


def simplified(message: Any, name: str, scope: Scope, path: Path) -> Expression | None:
    """Return the null, or the argument, that a call is; None for any other call."""
    reading = scope.reading
    if name == "coalesce" and len(message.arguments) == 1:
        reading.used.add((ExtensionKind.FUNCTION, message.function_reference))
        reading.plain = False
        return expressions.expression(message.arguments[0].value, scope, (((path, "arguments"), 0), "value"))
    given = message.arguments[:1] if name in _OF_FIRST else message.arguments if name in _OF_ANY else ()
    if not is_null_type(message.output_type, reading) and not any(is_null(one.value, reading) for one in given):
        return None
    reading.used.add((ExtensionKind.FUNCTION, message.function_reference))
    reading.plain = False
    type = data_type(message.output_type, reading, (path, "output_type"))
    habits.NULL.note(reading, path, f"`{name}` of a null without a type", f"a null of the type {type}")
    return Literal(type=with_nullability(type, True), value=None)


def is_null(message: Any, reading: Reading) -> bool:
    """Whether an expression is a null without a type."""
    if message.WhichOneof("rex_type") != "literal" or message.literal.WhichOneof("literal_type") != "null":
        return False
    return is_null_type(message.literal.null, reading)


def is_null_type(message: Any, reading: Reading) -> bool:
    """Whether a type is the one that DataFusion has for nulls without a type."""
    if message.WhichOneof("kind") != "user_defined":
        return False
    declared = reading.types.get(message.user_defined.type_reference)
    return declared is not None and declared.name == "null" and not declared.urn
