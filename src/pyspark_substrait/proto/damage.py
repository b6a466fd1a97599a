"""The place at which a binary plan is cut off or damaged."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from google.protobuf import message_factory
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message

from pyspark_substrait.model.paths import Path, render
from pyspark_substrait.proto.depth import is_repeated

__all__ = ["Damage", "damage"]

_DEEPEST: Final = 1000
"""The number of nested messages that are searched; each costs a look at all that is in it."""

_LENGTH_DELIMITED: Final = 2
_FIXED_SIZES: Final = {1: 8, 5: 4}
_LONGEST_VARINT: Final = 10
_FIXED64: Final = (FieldDescriptor.TYPE_DOUBLE, FieldDescriptor.TYPE_FIXED64, FieldDescriptor.TYPE_SFIXED64)
_FIXED32: Final = (FieldDescriptor.TYPE_FLOAT, FieldDescriptor.TYPE_FIXED32, FieldDescriptor.TYPE_SFIXED32)
_DELIMITED: Final = (FieldDescriptor.TYPE_MESSAGE, FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES)


class Damage(NamedTuple):
    """The first fault in the bytes of a message.

    Args:
        position: the offset of the field that doesn't fit, or of the one that is incomplete.
        path: the field or message that it is in.
        cut: whether the bytes end too early; otherwise they contradict the format.
        fields: the number of sound fields before it, those in sound fields not counted.
    """

    position: int
    path: str
    cut: bool
    fields: int


class _Message(NamedTuple):
    """The bytes of one message: from ``start`` to ``end``; ``open``: it should be longer than the bytes there are."""

    descriptor: Any
    start: int
    end: int
    open: bool
    path: Path = None


class _Fault(NamedTuple):
    position: int
    path: Path
    cut: bool


def damage(content: bytes, message_class: type[Message]) -> Damage | None:
    """Return the first fault in the bytes of a message; None if none is found.

    The search descends only into messages that the runtime refuses to read.
    """
    message, sound = _Message(message_class.DESCRIPTOR, 0, len(content), open=True), 0
    for _ in range(_DEEPEST):
        found, fields = _first_fault(content, message)
        sound += fields
        if isinstance(found, _Message):
            message = found
            continue
        return None if found is None else Damage(found.position, render(found.path), found.cut, sound)
    return None


def _first_fault(content: bytes, message: _Message) -> tuple[_Fault | _Message | None, int]:
    """Return the first fault among the fields of a message, or the message in it to search; and the fields before."""
    counts: dict[int, int] = {}
    position, end, sound = message.start, message.end, 0
    while position < end:
        start = position
        tag, position = _varint(content, position, end)
        if position < 0:
            return _Fault(start, message.path, message.open and position == _ENDED), sound
        number, wire_type = tag >> 3, tag & 7
        field = message.descriptor.fields_by_number.get(number)
        if field is None or not _fits(field, wire_type):
            return _Fault(start, message.path, False), sound
        counts[number] = counts.get(number, -1) + 1
        path: Path = (message.path, field.name)
        if is_repeated(field):
            path = (path, counts[number])
        value, position = _value(content, position, end, wire_type)
        if position < 0:
            return _Fault(start, path, message.open and position == _ENDED), sound
        if position > end and not (message.open and field.type == FieldDescriptor.TYPE_MESSAGE):
            return _Fault(start, path, message.open), sound
        if wire_type == _LENGTH_DELIMITED and not _readable(field, content[value:position], position > end):
            if field.type == FieldDescriptor.TYPE_MESSAGE:
                return _Message(field.message_type, value, min(position, end), position > end, path), sound + 1
            return _Fault(value, path, False), sound
        sound += 1
    # the fields are sound: only a message that should be longer is at fault
    cut = message.open and message.path is not None
    return (_Fault(end, message.path, True) if cut else None), sound


def _value(content: bytes, position: int, end: int, wire_type: int) -> tuple[int, int]:
    """Return where the value of a field begins and ends; an end below zero if its number is at fault."""
    if wire_type in _FIXED_SIZES:
        return position, position + _FIXED_SIZES[wire_type]
    number, after = _varint(content, position, end)
    if wire_type == _LENGTH_DELIMITED and after >= 0:
        return after, after + number
    return position, after


def _readable(field: Any, value: bytes, incomplete: bool) -> bool:
    """Whether the runtime reads the value of a message or a string."""
    if field.type == FieldDescriptor.TYPE_STRING:
        try:
            value.decode()
        except UnicodeDecodeError:
            return False
    elif field.type == FieldDescriptor.TYPE_MESSAGE:
        if incomplete:
            return False
        try:
            message_factory.GetMessageClass(field.message_type).FromString(value)
        except DecodeError:
            return False
    return True


def _fits(field: Any, wire_type: int) -> bool:
    """Whether a field may be written in a wire type."""
    if wire_type == _LENGTH_DELIMITED:
        return field.type in _DELIMITED or is_repeated(field)
    if wire_type in _FIXED_SIZES:
        return field.type in (_FIXED64 if wire_type == 1 else _FIXED32)
    return wire_type == 0 and field.type not in (*_DELIMITED, *_FIXED64, *_FIXED32)


_ENDED: Final = -1
_TOO_LONG: Final = -2


def _varint(content: bytes, position: int, end: int) -> tuple[int, int]:
    """Return a number and the position after it; instead of the position, why there is none."""
    result = 0
    for count in range(_LONGEST_VARINT):
        if position + count >= end:
            return 0, _ENDED
        byte = content[position + count]
        result |= (byte & 0x7F) << (7 * count)
        if byte < 0x80:
            return result, position + count + 1
    return 0, _TOO_LONG
