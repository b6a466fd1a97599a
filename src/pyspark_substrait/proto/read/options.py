"""Expressions that look a value up among options (``SingularOrList``, ``MultiOrList``)."""

from __future__ import annotations

from typing import Any

from pyspark_substrait.codes import Code
from pyspark_substrait.model.expressions import Expression, MultiOrList, SingularOrList
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.types import Type
from pyspark_substrait.proto.read import expressions
from pyspark_substrait.proto.read.context import Scope, invalid
from pyspark_substrait.proto.read.habits import datafusion_coercion, datafusion_values
from pyspark_substrait.proto.read.habits.unambiguous import is_untyped_null, null_of
from pyspark_substrait.proto.read.type_checks import agreed

__all__ = ["multi_or_list", "singular_or_list"]


def singular_or_list(message: Any, scope: Scope, path: Path) -> Expression:
    value = expressions.expression(message.value, scope, (path, "value"))
    options = _options(message.options, value.type, scope, (path, "options"))
    places: list[Path] = [(path, "value"), *(((path, "options"), index) for index in range(len(options)))]
    value, *coerced = datafusion_coercion.coerced_alternatives((value, *options), scope.reading, path, compared=True)
    value, *others = agreed((value, *coerced), scope.reading, places)
    datafusion_values.float_keys((value.type,), scope.reading, path)
    return SingularOrList(value=value, options=tuple(others))


def _options(messages: Any, type: Type, scope: Scope, path: Path) -> tuple[Expression, ...]:
    """The options of a list; a null without a type has that of the value."""
    return tuple(
        null_of(type, scope.reading, (path, index))
        if is_untyped_null(item)
        else expressions.expression(item, scope, (path, index))
        for index, item in enumerate(messages)
    )


def multi_or_list(message: Any, scope: Scope, path: Path) -> Expression:
    rows, places = [expressions.expressions(message.value, scope, (path, "value"))], [(path, "value")]
    for index, record in enumerate(message.options):
        place: Path = ((path, "options"), index)
        fields = expressions.expressions(record.fields, scope, (place, "fields"))
        if len(fields) != len(rows[0]):
            fault = f"the option has {len(fields)} fields, the value {len(rows[0])}"
            scope.reading.fault(invalid(fault, place, code=Code.TYPE_MISMATCH))
            continue
        rows.append(fields)
        places.append((place, "fields"))
    columns = [
        agreed(column, scope.reading, [(place, position) for place in places])
        for position, column in enumerate(zip(*rows, strict=True))
    ]
    value, *options = zip(*columns, strict=True) if columns else rows
    return MultiOrList(value=value, options=tuple(options))
