"""The names of types in the text, and the types whose parameters are numbers: from their classes and messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from typing import NamedTuple, get_args

from pyspark_substrait.model.types import Type
from pyspark_substrait.proto.fields import message_types

__all__ = ["COMMON", "REQUIRED", "TYPE_NAMES", "TypeForm", "type_forms"]

COMMON = frozenset({"nullability", "type_variation_reference"})
"""The fields of all types."""
REQUIRED: Mapping[str, str] = {"nullability": "NULLABILITY_REQUIRED"}
"""Those of a required type without a variation."""

_CLASSES = {node.__name__: node for node in get_args(Type)}
TYPE_NAMES = frozenset({"bool", *(node.keyword for node in _CLASSES.values())} - {"u!", "alias"})
"""The words that are types; ``bool`` is read, and not written."""


class TypeForm(NamedTuple):
    """How a type is written whose parameters, if any, are numbers.

    Args:
        key: the field of ``Type`` that holds it.
        name: its name in the text.
        numbers: the fields that are its parameters, in the order of the text.
        bare: whether it may be written without them.
    """

    key: str
    name: str
    numbers: tuple[str, ...]
    bare: bool


@cache
def type_forms() -> Mapping[str, TypeForm]:
    """Return the types whose parameters are numbers, by their fields and by their names."""
    found = {}
    for key, type in message_types()["Type"].items():
        parts, node = message_types()[type.message], _CLASSES.get(type.message.removeprefix("Type."))
        own = [name for name in parts if name not in COMMON]
        if node is not None and "nullability" in parts and not any(parts[name].message for name in own):
            numbers = tuple(field.name for field in fields(node) if field.name in own)
            bare = not numbers or key == "interval_day"
            found[key] = found[node.keyword] = TypeForm(key, node.keyword, numbers, bare)
    return found
