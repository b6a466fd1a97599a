"""Messages as plain Python: the fields by their names in the specification, with nothing lost; and their types."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from google.protobuf.message import Message

from pyspark_substrait.proto import messages
from pyspark_substrait.proto.depth import is_repeated

__all__ = ["FieldType", "enum_prefix", "message_fields", "message_types"]


def message_fields(message: Message) -> dict[str, Any]:
    """The fields of a message as a dictionary, which :func:`~pyspark_substrait.proto.wire.parse` reads back.

    Unlike protobuf's JSON, numbers are numbers, NaN keeps its bits, and bytes are bytes; so is the content of an
    ``Any``, whose type needn't be known.
    """
    root: dict[str, Any] = {}
    todo: list[tuple[Any, dict[str, Any]]] = [(message, root)]
    while todo:
        current, found = todo.pop()
        for field, value in current.ListFields():
            if field.message_type is not None:
                parts = list(value) if is_repeated(field) else [value]
                made: list[dict[str, Any]] = []
                for part in parts:
                    if part.DESCRIPTOR.full_name == "google.protobuf.Any":
                        made.append({"@type": part.type_url, "value": part.value})
                    else:
                        made.append({})
                        todo.append((part, made[-1]))
                found[field.name] = made if is_repeated(field) else made[0]
            elif is_repeated(field):
                found[field.name] = [_scalar(field, each) for each in value]
            else:
                found[field.name] = _scalar(field, value)
    return root


def _scalar(field: Any, value: Any) -> Any:
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(value)
        return int(value) if known is None else known.name
    return value


class FieldType(NamedTuple):
    """The type of a field of a message.

    Args:
        message: the name of its message, below ``substrait``; empty for other fields.
        prefix: the common prefix of the names of its values, if it is an enumeration; empty for other fields.
        repeated: whether it is a list.
    """

    message: str
    prefix: str
    repeated: bool


@cache
def message_types() -> Mapping[str, Mapping[str, FieldType]]:
    """The fields, in their order, of each message that a document may hold: of ``Plan``, ``Rel``, …"""
    found: dict[str, dict[str, FieldType]] = {}
    todo: list[Any] = [messages.Plan.DESCRIPTOR, messages.ExtendedExpression.DESCRIPTOR]
    while todo:
        descriptor = todo.pop()
        if (name := _name(descriptor)) not in found:
            types = found[name] = {}
            for field in descriptor.fields:
                message, enum = field.message_type, field.enum_type
                prefix = "" if enum is None else enum_prefix(enum)
                types[field.name] = FieldType("" if message is None else _name(message), prefix, is_repeated(field))
                if message is not None:
                    todo.append(message)
    return found


def _name(descriptor: Any) -> str:
    return str(descriptor.full_name).removeprefix("substrait.")


def enum_prefix(enum: Any) -> str:
    """Return the common prefix of the names of an enumeration's values, like ``JOIN_TYPE_``."""
    return str(enum.values_by_number[0].name).removesuffix("UNSPECIFIED")
