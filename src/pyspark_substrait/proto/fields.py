"""Messages as plain Python: the fields by their names in the specification, with nothing lost."""

from __future__ import annotations

from typing import Any

from google.protobuf.message import Message

from pyspark_substrait.proto.depth import is_repeated

__all__ = ["message_fields"]


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
