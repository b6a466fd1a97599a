"""The messages of windows, expand and exchange."""

from __future__ import annotations

from typing import Any

from pyspark_substrait.codes import Code
from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.model.expressions import BrokenExpression, Expression
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.relations import Relation, SwitchingField, WindowRelFunction
from pyspark_substrait.proto.read import expressions, functions
from pyspark_substrait.proto.read.context import Scope, invalid
from pyspark_substrait.proto.read.fields import Fields
from pyspark_substrait.proto.read.type_checks import agreed

__all__ = ["exchange", "expand_field", "window_functions"]


def window_functions(fields: Fields, scope: Scope) -> tuple[WindowRelFunction, ...]:
    """Read the functions of a window relation, whose records are in the order of its sort fields."""
    sorts, place = fields["sorts"], (fields.path, "window_functions")
    return tuple(
        functions.window_rel_function(function, sorts, scope, (place, index))
        for index, function in enumerate(fields.message.window_functions)
    )


def expand_field(message: Any, scope: Scope, path: Path) -> SwitchingField | Expression:
    """Read a field of an expand relation; a broken expression if it is invalid and findings are collected."""
    fault = ""
    with scope.reading.going_on():
        try:
            return _expand_field(message, scope, path)
        except SubstraitError as error:
            fault = error.message
            raise
    return BrokenExpression(kind="", fault=fault)


def _expand_field(message: Any, scope: Scope, path: Path) -> SwitchingField | Expression:
    kind = message.WhichOneof("field_type")
    match kind:
        case "switching_field":
            place: Path = ((path, kind), "duplicates")
            duplicates = expressions.expressions(message.switching_field.duplicates, scope, place)
            if not duplicates:
                raise invalid("the switching field has no expression", place, code=Code.PROTO_MISSING_FIELD)
            places: list[Path] = [(place, index) for index in range(len(duplicates))]
            return SwitchingField(agreed(duplicates, scope.reading, places, exactly=True))
        case "consistent_field":
            return expressions.expression(message.consistent_field, scope, (path, kind))
        case _:
            raise invalid("a field is missing", path, code=Code.PROTO_MISSING_FIELD)


def exchange(fields: Fields) -> Relation:
    """Finish an exchange; where its kind isn't known, its columns are."""
    if fields["exchange_kind"] is None:
        fault, input = "unknown distribution of records", fields["input"]
        return fields.broken(fault, record=input.schema, record_names=input.names)
    return fields.node()
