"""Handlers of extension relations and tables: the functions that a user registered for their type URLs.

The specification doesn't define these relations; a plan has only the inputs of one and a message, the detail. A handler
is trusted, like any program; the detail comes from the plan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from pyspark_substrait.errors import InvalidPlanError, SubstraitError
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.relations.extension import ExtensionSchema
from pyspark_substrait.model.repeats import repeats
from pyspark_substrait.model.types import NamedStruct, TypeBase, Unbound, name_count

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["RelationHandler", "RowsFunction", "SchemaFunction", "TableHandler", "extension_schema"]

#: A function from the detail and the schemas of the inputs to the schema of the output.
SchemaFunction: TypeAlias = Callable[..., Union[NamedStruct, "pa.Schema"]]

#: A function from the detail, the session and the rows of the inputs to the rows of the output.
RowsFunction: TypeAlias = Callable[..., Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationHandler:
    """The handler of a kind of extension relation."""

    schema: SchemaFunction
    rows: RowsFunction


@dataclass(frozen=True, slots=True, kw_only=True)
class TableHandler:
    """The handler of a kind of extension table."""

    rows: RowsFunction


def extension_schema(
    handler: RelationHandler, detail: AnyMessage, inputs: Sequence[NamedStruct], place: str
) -> ExtensionSchema:
    """Return the schema of an extension relation, from its handler.

    Args:
        handler: the handler registered for the detail's type URL.
        detail: the message.
        inputs: the schemas of the inputs.
        place: the relation's path in the plan.

    Raises:
        InvalidPlanError: the handler raises, or returns something other than a schema. This package's own errors are
            passed on.
    """
    try:
        returned = handler.schema(detail, *inputs)
    except SubstraitError:
        raise
    except Exception as error:
        raise InvalidPlanError(
            f"the schema of the relation {detail.type_url} cannot be derived: {type(error).__name__}: {error}"
        ) from error
    what = f"what the handler of {detail.type_url} returned as its schema"
    output = returned if isinstance(returned, NamedStruct) else _of_arrow(returned, what)
    _check(output, what)
    return ExtensionSchema(inputs=tuple(inputs), output=output, place=place)


def _of_arrow(schema: object, what: str) -> NamedStruct:
    from pyspark_substrait.extensions.arrow_schemas import named_struct  # imports pyarrow

    return named_struct(schema, what)


def _check(schema: NamedStruct, what: str) -> None:
    needed = sum(1 + name_count(type) for type in schema.struct.types)
    if len(schema.names) != needed:
        raise InvalidPlanError(
            f"{what} has {len(schema.names)} names, but its columns, nested fields included, need {needed}"
        )
    for name, type in zip(schema.top_level_names(), schema.struct.types, strict=True):
        if not isinstance(type, TypeBase) or isinstance(type, Unbound):
            raise InvalidPlanError(f"{what} has the column {name} of no type: {type!r}")
    names = schema.top_level_names()
    for number, _ in repeats(names):
        raise InvalidPlanError(f"{what} has two columns {names[number]}", hint="Columns are matched by their names")
