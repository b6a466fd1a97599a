"""Interpretation of the parts of a line, and their descriptions in error messages."""

from __future__ import annotations

import re

from pyspark_substrait.text.lossless.declared import Fault
from pyspark_substrait.text.lossless.neutral import (
    Call,
    Cast,
    Equated,
    Name,
    Number,
    Ordered,
    RelationValue,
    Tuple,
    TypeValue,
    Value,
)

__all__ = ["enum_value", "first_item", "integer", "is_word", "value_text", "without_names"]

_INTEGER = re.compile(r"-?[0-9]+")


def is_word(name: Name, *words: str) -> bool:
    """Whether a name is one of these words, without backticks."""
    return not name.quoted and name.text in words


def first_item(call: Call) -> Value:
    """Return the first item of a call, or raise a ``Fault`` if there is none."""
    if not call.items:
        raise Fault(f"{call.function.text} needs something between its parentheses")
    return call.items[0]


def without_names(call: Call) -> None:
    """Check that a call has positional items only: no names, options or type."""
    if call.pairs or call.options is not None or call.output is not None:
        raise Fault(f"{call.function.text}(…) takes no named items, no options and no type")


def integer(text: str) -> int:
    """A whole number."""
    if not _INTEGER.fullmatch(text) or len(text) > 40:
        raise Fault(f"{text[:40]} is not a whole number in range")
    return int(text)


def enum_value(value: Value, prefix: str) -> str | int:
    """The value of an enumeration, with the prefix that the text leaves out."""
    match value:
        case Name():
            return value.text if value.text.startswith(prefix) else prefix + value.text.upper()
        case Number():
            return integer(value.text)
    raise Fault(f"{value_text(value)} is not a value of an enumeration")


def value_text(value: Value) -> str:
    """Return the description of a value for an error message."""
    match value:
        case Name():
            return value.text
        case TypeValue():
            return "a type"
        case Call():
            return f"{value.function.text}(…)"
        case list():
            return "a list"
        case Tuple():
            return "a row"
        case Ordered():
            return "a sort key"
        case Equated():
            return "a pair with ="
        case Cast():
            return "an `as` outside of cast(…)"
        case RelationValue():
            return "the number of a block"
    return "this"
