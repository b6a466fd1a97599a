"""Write plans with the numbers of type variations by which DataFusion tells types of Arrow apart.

It writes and reads these numbers without declaring them. Without its number, a column of a table is another type.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from google.protobuf.message import Message

from pyspark_substrait.model.variations import Variation
from pyspark_substrait.proto.depth import is_repeated

__all__ = ["with_variations"]

#: the precision from which on a time has 64 bits
_LONG_TIME = 6


def with_variations(message: Message, tables: Mapping[str, Mapping[str, Variation]]) -> Message:
    """Return a plan, changed in place, with the variations of the columns of tables, and of times.

    Args:
        message: the plan.
        tables: the variations of each column of the tables that it reads, by their dotted names.
    """
    for part in _messages(message):
        match part.DESCRIPTOR.full_name:
            case "substrait.ReadRel" if part.WhichOneof("read_type") == "named_table":
                _set_columns(part.base_schema, tables.get(".".join(part.named_table.names), {}))
            case "substrait.Type.PrecisionTime":
                part.type_variation_reference = int(part.precision >= _LONG_TIME)
            case "substrait.Expression.Literal" if part.WhichOneof("literal_type") == "precision_time":
                part.type_variation_reference = int(part.precision_time.precision >= _LONG_TIME)
            case _:
                pass
    return message


def _set_columns(named: Any, columns: Mapping[str, Variation]) -> None:
    position = 0
    for type in named.struct.types:
        found = columns.get(named.names[position])
        if found is not None:
            _set(type, found)
        position += 1 + _names_in(type)


def _parts(type: Any) -> list[Any]:
    """The types in a type."""
    match type.WhichOneof("kind"):
        case "struct":
            return [*type.struct.types]
        case "list":
            return [type.list.type]
        case "map":
            return [type.map.key, type.map.value]
        case _:
            return []


def _names_in(type: Any) -> int:
    """The number of names of the fields of structs in a type."""
    own = len(type.struct.types) if type.WhichOneof("kind") == "struct" else 0
    return own + sum(map(_names_in, _parts(type)))


def _set(type: Any, variation: Variation) -> None:
    if variation.number:
        getattr(type, type.WhichOneof("kind")).type_variation_reference = variation.number
    for part, known in zip(_parts(type), variation.parts, strict=False):
        _set(part, known)


def _messages(message: Any) -> Iterator[Any]:
    """Yield a message and all messages inside it."""
    todo = [message]
    while todo:
        part = todo.pop()
        yield part
        for field, value in part.ListFields():
            if field.message_type is not None:
                todo.extend(value if is_repeated(field) else (value,))
