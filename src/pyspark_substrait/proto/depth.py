"""Plans nested too deep for the protobuf runtime.

The protobuf runtime refuses to read messages nested more than 100 deep, about 33 function calls. It keeps and writes
them at any depth, so only reading needs another way: a message that is refused is split at its top-level fields, and
each of these is read by itself, without recursion. Code that walks a deep message recursively runs with a larger stack
(:mod:`pyspark_substrait.model.deep_stack`).
"""

from __future__ import annotations

from functools import cache
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message

from pyspark_substrait.errors import PlanFormatError

__all__ = [
    "DEEP",
    "MAX_NESTING",
    "is_deep",
    "is_repeated",
    "parse_message",
    "split_fields",
    "too_deep",
]

MAX_NESTING = 30_000
"""The maximum nesting of messages: 10,000 calls in calls, as each takes three messages."""

DEEP = 62
"""The number of nested messages from which on a plan counts as deep."""

_LENGTH_DELIMITED = 2
_FIXED_SIZES = {1: 8, 5: 4}

_Field = tuple[int, int, int, int]
_Fields = dict[int, tuple[str, bool]]


@cache
def is_repeated(field: Any) -> bool:
    """Whether a field is repeated; the API for this changed in protobuf 6.31."""
    try:
        return bool(field.is_repeated)
    except AttributeError:
        return bool(field.label == FieldDescriptor.LABEL_REPEATED)


def too_deep() -> PlanFormatError:
    """The error for a plan beyond :data:`MAX_NESTING`."""
    return PlanFormatError(
        f"the plan is nested more than {MAX_NESTING:,} messages deep",
        hint="Split it, or move parts of it into detached expressions or references",
    )


def parse_message(message_class: type[Message], data: bytes) -> Message:
    """Read a serialised message, however deep it is nested.

    Raises:
        DecodeError: the bytes are not a message of this class.
        PlanFormatError: it is nested more than :data:`MAX_NESTING` deep.
    """
    try:
        return message_class.FromString(data)
    except DecodeError:
        pass
    root = message_class()
    todo: list[tuple[Message, bytes, int]] = [(root, data, 1)]
    while todo:
        message, content, depth = todo.pop()
        if depth > MAX_NESTING:
            raise too_deep()
        _parse_level(message, content, depth, todo)
    return root


def _parse_level(message: Any, content: bytes, depth: int, todo: list[tuple[Message, bytes, int]]) -> None:
    """Read the fields of one message; those too deep for the runtime are left on ``todo``."""
    children = _message_fields(message.DESCRIPTOR)
    plain: list[bytes] = []
    for number, start, value, end in split_fields(content):
        child = children.get(number) if value >= 0 else None
        if child is None:
            plain.append(content[start:end])
            continue
        name, repeated = child
        inner = content[value:end]
        if repeated:
            part = getattr(message, name).add()
        else:
            part = getattr(message, name)
            part.SetInParent()
        try:
            type(part).FromString(inner)
        except DecodeError:
            todo.append((part, inner, depth + 1))
        else:
            part.MergeFromString(inner)
    message.MergeFromString(b"".join(plain))


def split_fields(content: bytes) -> list[_Field]:
    """The fields of a serialised message: number, start, start of a length-delimited value (or -1), end.

    Raises:
        DecodeError: the bytes are cut off, or no message at all.
    """
    fields: list[_Field] = []
    position, size = 0, len(content)
    while position < size:
        start = position
        tag, position = _varint(content, position)
        number, wire_type = tag >> 3, tag & 7
        value = -1
        if wire_type == 0:
            _, position = _varint(content, position)
        elif wire_type == _LENGTH_DELIMITED:
            length, value = _varint(content, position)
            position = value + length
        elif wire_type in _FIXED_SIZES:
            position += _FIXED_SIZES[wire_type]
        else:
            raise DecodeError(f"wire type {wire_type}")
        if position > size or number == 0:
            raise DecodeError("cut off")
        fields.append((number, start, value, position))
    return fields


def _varint(content: bytes, position: int) -> tuple[int, int]:
    result = shift = 0
    try:
        if content[position] < 0x80:  # nearly always
            return content[position], position + 1
        while True:
            byte = content[position]
            position += 1
            result |= (byte & 0x7F) << shift
            if byte < 0x80:
                return result, position
            shift += 7
            if shift > 63:
                raise DecodeError("a number of more than 64 bits")
    except IndexError:
        raise DecodeError("cut off") from None


@cache
def _message_fields(descriptor: Any) -> _Fields:
    return {
        field.number: (field.name, is_repeated(field))
        for field in descriptor.fields
        if field.type == FieldDescriptor.TYPE_MESSAGE
    }


def is_deep(message: Message) -> bool:
    """Whether a message is nested so deep that recursion into it, even the runtime's own, may need a larger stack."""
    stack: list[tuple[Any, int]] = [(message, 1)]
    while stack:
        part, depth = stack.pop()
        if depth > DEEP:
            return True
        children = _message_fields(part.DESCRIPTOR)
        if not children:
            continue
        for field, value in part.ListFields():
            child = children.get(field.number)
            if child is not None:
                if child[1]:
                    stack.extend([(each, depth + 1) for each in value])
                else:
                    stack.append((value, depth + 1))
    return False
