"""Types as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pyspark_substrait.text.lossless.symbols import Symbols
from pyspark_substrait.text.lossless.type_forms import COMMON, REQUIRED, type_forms
from pyspark_substrait.text.lossless.words import name, quoted

__all__ = ["MISFITS", "Odd", "is_nullable", "schema_text", "type_text"]

_Message = Mapping[str, Any]

_NULLABILITY = {"NULLABILITY_REQUIRED": "", "NULLABILITY_NULLABLE": "?"}


class Odd(Exception):
    """Raised for a message that doesn't fit its short form; it is written field by field."""


MISFITS = (Odd, KeyError, ValueError)
"""The exceptions raised when a short form is made from an incomplete message."""


def only(message: _Message, *keys: str) -> None:
    """Check that a message has no other fields.

    Raises:
        Odd: it has others.
    """
    for key in message:
        if key not in keys:
            raise Odd


def is_nullable(parts: _Message) -> bool:
    """Whether the parts of a type state that it is nullable.

    Raises:
        Odd: they don't state its nullability.
    """
    mark = _NULLABILITY.get(parts.get("nullability", ""))
    if mark is None:
        raise Odd
    return bool(mark)


def type_text(message: _Message, symbols: Symbols, names: Iterator[str] | None = None) -> str:
    """A type in the specification's syntax.

    Args:
        message: a ``Type``.
        symbols: the names of types and variations.
        names: the names of all struct fields in it, in order, if they have names.

    Raises:
        Odd: the type isn't complete.
    """
    if len(message) != 1:
        raise Odd
    ((kind, parts),) = message.items()
    if not isinstance(parts, Mapping):
        raise Odd
    if kind == "unbound":
        only(parts)
        return "unbound"
    mark = "?" if is_nullable(parts) else ""
    if variation := parts.get("type_variation_reference"):
        mark += f"[{symbols.name('variations', variation)}]"
    fields = set(parts) - COMMON
    form = type_forms().get(kind)
    if form is not None and fields.issubset(form.numbers):
        if form.bare and not fields:
            return f"{form.name}{mark}"
        return f"{form.name}{mark}<{', '.join([str(parts.get(number, 0)) for number in form.numbers])}>"
    match kind:
        case "struct" if fields <= {"types"}:
            return f"struct{mark}<{_fields_text(parts.get('types', ()), symbols, names)}>"
        case "list" if fields == {"type"}:
            return f"list{mark}<{type_text(parts['type'], symbols, names)}>"
        case "map" if fields == {"key", "value"}:
            key = type_text(parts["key"], symbols, names)
            return f"map{mark}<{key}, {type_text(parts['value'], symbols, names)}>"
        case "func" if fields <= {"parameter_types", "return_type"} and "return_type" in fields:
            taken = ", ".join(type_text(each, symbols) for each in parts.get("parameter_types", ()))
            return f"func{mark}<({taken}) -> {type_text(parts['return_type'], symbols)}>"
        case "user_defined" if fields <= {"type_reference", "type_parameters"}:
            given = parts.get("type_parameters", ())
            inner = f"<{', '.join(_parameter_text(each, symbols) for each in given)}>" if given else ""
            return f"u!{symbols.name('types', parts.get('type_reference', 0))}{mark}{inner}"
        case "alias" if fields <= {"type_alias_reference"}:
            return f"alias!{parts.get('type_alias_reference', 0)}{mark}"
    raise Odd


def _fields_text(types: Sequence[_Message], symbols: Symbols, names: Iterator[str] | None) -> str:
    if names is None:
        return ", ".join(type_text(each, symbols) for each in types)
    found = []
    for each in types:
        label = next(names, None)
        if label is None:
            raise Odd
        found.append(f"{name(label)}: {type_text(each, symbols, names)}")
    return ", ".join(found)


def _parameter_text(message: _Message, symbols: Symbols) -> str:
    if len(message) != 1:
        raise Odd
    ((kind, value),) = message.items()
    match kind:
        case "null":
            return "null"
        case "data_type":
            return type_text(value, symbols)
        case "boolean":
            return "true" if value else "false"
        case "integer":
            return str(value)
        case "enum":
            return name(value)
        case "string":
            return quoted(value)
    raise Odd


def schema_text(message: _Message, symbols: Symbols) -> str:
    """The columns of a ``NamedStruct``: names and types, with commas between them.

    Raises:
        Odd: the names don't fit the types, or the struct isn't an ordinary one.
    """
    only(message, "names", "struct")
    struct = message.get("struct", {})
    only(struct, "types", "nullability")
    if struct.get("nullability") != REQUIRED["nullability"]:
        raise Odd
    names = iter(message.get("names", ()))
    text = _fields_text(struct.get("types", ()), symbols, names)
    if next(names, None) is not None:
        raise Odd
    return text
