"""Protobuf's wire format as a tree, without the messages' definitions: what mutants are made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Field", "fields", "nested_fields", "parsed", "serialized", "varint"]

_VARINT, _EIGHT_BYTES, _DELIMITED, _FOUR_BYTES = 0, 1, 2, 5
_WIDTHS = {_EIGHT_BYTES: 8, _FOUR_BYTES: 4}
_DEEPEST = 40


@dataclass
class Field:
    """One field of a message. ``value`` is a number, bytes, or the fields of the message that the bytes may be."""

    number: int
    wire_type: int
    value: int | bytes | list[Field]


def varint(value: int) -> bytes:
    """Return an unsigned number as a varint."""
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*made, value))


def _read_varint(content: bytes, place: int) -> tuple[int, int] | None:
    value = 0
    for shift in range(0, 70, 7):
        if place >= len(content):
            return None
        byte = content[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place
    return None


def parsed(content: bytes, depth: int = 0) -> list[Field] | None:
    """Return the fields of a message; None if the bytes are none. Bytes that may be a message are taken for one."""
    found: list[Field] = []
    place = 0
    while place < len(content):
        tag = _read_varint(content, place)
        if tag is None or not 0 < tag[0] >> 3 < 1 << 29:
            return None
        number, wire_type, place = tag[0] >> 3, tag[0] & 7, tag[1]
        if wire_type in _WIDTHS:
            end = place + _WIDTHS[wire_type]
            if end > len(content):
                return None
            found.append(Field(number, wire_type, content[place:end]))
            place = end
            continue
        value = _read_varint(content, place)
        if wire_type not in (_VARINT, _DELIMITED) or value is None:
            return None
        place = value[1]
        if wire_type == _VARINT:
            found.append(Field(number, wire_type, value[0]))
            continue
        part = content[place : place + value[0]]
        if len(part) < value[0]:
            return None
        place += value[0]
        inside = parsed(part, depth + 1) if part and depth < _DEEPEST else None
        found.append(Field(number, wire_type, part if inside is None else inside))
    return found


def serialized(message: list[Field]) -> bytes:
    """Return the bytes of a message, with right lengths."""
    made = bytearray()
    for field in message:
        made += varint(field.number << 3 | field.wire_type)
        if isinstance(field.value, int):
            made += varint(field.value & (1 << 64) - 1)
        elif field.wire_type == _DELIMITED:
            part = field.value if isinstance(field.value, bytes) else serialized(field.value)
            made += varint(len(part)) + part
        elif isinstance(field.value, bytes):
            made += field.value
    return bytes(made)


def nested_fields(message: list[Field]) -> Iterator[tuple[list[Field], int]]:
    """Yield each message in a message, itself included, with the position of each of its fields."""
    for position, field in enumerate(message):
        yield message, position
        if isinstance(field.value, list):
            yield from nested_fields(field.value)


def fields(message: list[Field]) -> Iterator[Field]:
    """Yield all fields of a message, nested ones included."""
    for owner, position in nested_fields(message):
        yield owner[position]
