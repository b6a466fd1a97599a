"""Nodes into their messages, field by field.

Most fields of a node have the name and the form of a field of its message; how such a field is written follows from the
descriptor of the message. The others are declared (:mod:`~pyspark_substrait.proto.write.forms`). The writers of a class
are generated on first use, as source code.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import cache
from keyword import iskeyword
from typing import Any, TypeAlias

from pyspark_substrait.model.function_source import FunctionSource
from pyspark_substrait.proto.depth import is_repeated
from pyspark_substrait.proto.enums import numbers_of
from pyspark_substrait.proto.field_names import message_field
from pyspark_substrait.proto.write.context import Parts

__all__ = ["Writer", "declare", "fields"]

#: writes a value into a message: its own, or that of the node
Writer: TypeAlias = Callable[[Any, Any, Parts], None]

_values: dict[str, Writer] = {}
_own: dict[str, Writer | None] = {}


def declare(*, values: Mapping[str, Writer], own: Mapping[str, Writer | None]) -> None:
    """Register how values and fields are written where it doesn't follow from the message.

    Args:
        values: writers, by the names of messages; other messages are those of nodes.
        own: writers into the message of the node, by the names of fields; None for fields that aren't written.
    """
    _values.update(values)
    _own.update(own)


def fields(node: Any, into: Any, parts: Parts) -> None:
    """Write the fields of a node into its message."""
    _writer(node.__class__, into.DESCRIPTOR)(node, into, parts)


@cache
def _writer(kind: Any, descriptor: Any) -> Writer:
    """Generate the function that writes the fields of a class."""
    source = FunctionSource()
    source.lines.append("    message.SetInParent()")
    for item in dataclasses.fields(kind):
        text = _field(item.name, descriptor, source)
        source.lines += [f"    value = node.{item.name}", f"    if value is not None: {text}"] if text else []
    made: Writer = source.function("node, message, parts", "None")
    return made


def _field(name: str, descriptor: Any, source: FunctionSource) -> str:
    """Return the statement that writes a field; an empty one if it isn't written."""
    if name in _own:
        own = _own[name]
        return f"{source.name(own)}(value, message, parts)" if own else ""
    field = message_field(descriptor, name)
    if field is None:
        return f"{source.name(_one_of(descriptor.oneofs_by_name[name]))}(value, message, parts)"
    into = f"getattr(message, {field.name!r})" if iskeyword(field.name) else f"message.{field.name}"
    if field.message_type is not None:
        write = source.name(_values.get(field.message_type.full_name, fields))
        many = f"{source.name(_all)}(value, {write}, {into}, parts)"
        return many if is_repeated(field) else f"{write}(value, {into}, parts)"
    if field.enum_type is not None:
        return f"{into} = {source.name(numbers_of(field).numbers)}[value]"
    return f"{into}.extend(value)" if is_repeated(field) else f"{into} = value"


def _all(values: Any, write: Writer, into: Any, parts: Parts) -> None:
    for value in values:
        write(value, into.add(), parts)


def _one_of(oneof: Any) -> Writer:
    """Return the writer of a value into one of several fields: that whose message has the name of the value's class."""
    known = {}
    for field in oneof.fields:
        kind = field.message_type
        name, write = ("str", None) if kind is None else (kind.name, _values.get(kind.full_name, fields))
        known["AnyMessage" if name == "Any" else name] = field.name, write

    def into_one(value: Any, message: Any, parts: Parts) -> None:
        name, write = known[value.__class__.__name__]
        if write is None:
            setattr(message, name, value)
        else:
            write(value, getattr(message, name), parts)

    return into_one
