"""Messages to JSON text, by the protobuf JSON mapping and without recursion."""

from __future__ import annotations

import base64
import json
import math
import struct
from collections.abc import Collection
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.proto import generates, messages, write_targets
from pyspark_substrait.proto.depth import is_repeated

__all__ = ["message_to_json"]

# Beyond this the text would grow with the square of the depth.
_MAX_INDENT = 200
_LONG = (FieldDescriptor.TYPE_INT64, FieldDescriptor.TYPE_UINT64)


class _Open:
    """A message that is partly written: its remaining fields, or the remaining elements of a list."""

    __slots__ = ("close", "first", "items")

    def __init__(self, items: Any, close: str) -> None:
        self.items = items
        self.close = close
        self.first = True


def message_to_json(message: Message, apart: Collection[int] = ()) -> str:
    """The message as JSON text, indented by two spaces (up to 200 levels), names in camelCase.

    Args:
        message: what to write.
        apart: messages within it, by identity, that are written as ``"…"``.

    Raises:
        UnsupportedPlanError: it holds a message of a type that JSON can't name.
    """
    out: list[str] = []
    stack: list[_Open] = []
    _open_message(message, out, stack)
    while stack:
        level = stack[-1]
        item = next(level.items, None)
        if item is None:
            stack.pop()
            if not level.first:
                out.append("\n" + _indent(stack))
            out.append(level.close)
            continue
        out.append(("\n" if level.first else ",\n") + _indent(stack))
        level.first = False
        name, field, value, repeated = item
        if name is not None:
            out.append(f'"{name}": ')
        if repeated:
            out.append("[")
            stack.append(_Open(iter([(None, field, each, False) for each in value]), "]"))
        elif field.message_type is not None and id(value) in apart:
            out.append('"…"')
        elif field.message_type is not None:
            _open_message(value, out, stack)
        else:
            out.append(_scalar(field, value))
    return "".join(out)


def _indent(stack: list[_Open]) -> str:
    return "  " * min(len(stack), _MAX_INDENT)


def _open_message(message: Any, out: list[str], stack: list[_Open]) -> None:
    if message.DESCRIPTOR.full_name == messages.ANY:
        text = _any(message)
        out.append(text.replace("\n", "\n" + _indent(stack)))
        return
    out.append("{")
    fields = [(field.json_name, field, value, is_repeated(field)) for field, value in message.ListFields()]
    stack.append(_Open(iter(fields), "}"))


def _any(message: Any) -> str:
    from google.protobuf import json_format

    if not message.type_url:
        return "{}"
    standard = message.type_url.rpartition("/")[2].startswith("substrait.")
    own = write_targets.pool_of(message.type_url) or generates.pool_of(message.type_url)
    pool = messages.current().pool if standard else own
    try:
        return str(json_format.MessageToJson(message, indent=2, descriptor_pool=pool))
    except (TypeError, ValueError, DecodeError, json_format.SerializeToJsonError) as error:
        reason = "its bytes are not one" if isinstance(error, DecodeError) else "its type is not known"
        raise UnsupportedPlanError(
            f"the message of type {message.type_url!r} cannot be written as JSON, because {reason}",
            hint="Save the plan in the binary form",
        ) from error


def _scalar(field: Any, value: Any) -> str:
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(value)
        return f'"{known.name}"' if known is not None else str(value)
    if field.type in _LONG:
        return f'"{value}"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return f'"{base64.b64encode(value).decode()}"'
    if isinstance(value, float):
        if math.isnan(value):
            return '"NaN"'
        if math.isinf(value):
            return '"Infinity"' if value > 0 else '"-Infinity"'
        return _shortest(value) if field.type == FieldDescriptor.TYPE_FLOAT else repr(value)
    return json.dumps(value, ensure_ascii=False)


def _shortest(value: float) -> str:
    """The shortest decimal that reads back as the same 32-bit number."""
    for digits in range(6, 10):
        text = f"{value:.{digits}g}"
        try:
            if struct.unpack("f", struct.pack("f", float(text)))[0] == value:
                return repr(float(text))
        except OverflowError:
            continue
    return repr(value)
