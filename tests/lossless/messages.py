"""Random messages: any field of any message of the specification may be there, whether or not it makes sense."""

from __future__ import annotations

import random
import struct
from typing import Any

from google.protobuf.descriptor import FieldDescriptor

from pyspark_substrait.proto import messages
from pyspark_substrait.proto.depth import is_repeated

__all__ = ["DECLARED", "REFERENCES", "random_document"]

_TEXTS = (
    "",
    "a",
    "price",
    "ORDER",
    "true",
    "date",
    "Zürich 🏔",
    "a.b",
    "`",
    "'\"\\",
    "\x00\n\r\t\u2028",
    "by",
    "lower case",
)
REFERENCES = {
    "function_reference": "extension_function",
    "comparison_function_reference": "extension_function",
    "custom_function_reference": "extension_function",
    "type_reference": "extension_type",
    "type_variation_reference": "extension_type_variation",
}
DECLARED = {
    "extension_function": ("function_anchor", ("add:i32_i32", "count:", "if", "odd name", "null:x", "add:i32_i32")),
    "extension_type": ("type_anchor", ("point", "i64", "", "odd name")),
    "extension_type_variation": ("type_variation_anchor", ("dense", "dense", "list", "`")),
}
_AT_THE_TOP = ("extension_urns", "extensions")


def random_document(seed: int) -> Any:
    """A ``Plan`` or ``ExtendedExpression`` with random fields; only what refers to a declaration finds one."""
    source = random.Random(seed)
    document = source.choice((messages.Plan, messages.ExtendedExpression))()
    for number in (1, 2, 3):
        document.extension_urns.add(extension_urn_anchor=number, urn=f"extension:org.example:{number % 2}")
    for kind, (anchor, names) in DECLARED.items():
        for number, name in enumerate(names, start=1):
            parts = getattr(document.extensions.add(), kind)
            setattr(parts, anchor, number)
            parts.name = name
            parts.extension_urn_reference = source.choice((0, 1, 2))
    _fill(document, source, source.choice((4, 8, 14)))
    return document


def _fill(message: Any, source: random.Random, depth: int) -> None:
    oneofs = {oneof.name: source.choice(oneof.fields).name for oneof in message.DESCRIPTOR.oneofs}
    sparse = source.random()
    for field in message.DESCRIPTOR.fields:
        if field.name in _AT_THE_TOP:
            continue
        if field.containing_oneof is not None:
            if oneofs[field.containing_oneof.name] != field.name:
                continue
        elif field.name not in REFERENCES and source.random() < sparse * 0.7:
            continue
        if field.message_type is not None and depth <= 0:
            continue
        if is_repeated(field):
            values = getattr(message, field.name)
            for _ in range(source.choice((0, 1, 1, 2))):
                if field.message_type is None:
                    values.append(_scalar(field, source))
                else:
                    _message(values.add(), source, depth)
        elif field.message_type is None:
            setattr(message, field.name, _scalar(field, source))
        else:
            part = getattr(message, field.name)
            part.SetInParent()
            _message(part, source, depth)


def _message(message: Any, source: random.Random, depth: int) -> None:
    if message.DESCRIPTOR.full_name == "google.protobuf.Any":
        message.type_url = source.choice(_TEXTS)
        message.value = source.randbytes(source.choice((0, 3)))
    else:
        _fill(message, source, depth - 1)


def _scalar(field: Any, source: random.Random) -> Any:
    if field.name in REFERENCES:
        known = len(DECLARED[REFERENCES[field.name]][1])
        return source.randint(0 if field.name == "type_variation_reference" else 1, known)
    if field.enum_type is not None:
        return source.choice([*(value.number for value in field.enum_type.values), 77])
    match field.cpp_type:
        case FieldDescriptor.CPPTYPE_BOOL:
            return source.random() < 0.5
        case FieldDescriptor.CPPTYPE_STRING if field.type == FieldDescriptor.TYPE_BYTES:
            return source.randbytes(source.choice((0, 2, 16)))
        case FieldDescriptor.CPPTYPE_STRING:
            return source.choice(_TEXTS)
        case FieldDescriptor.CPPTYPE_DOUBLE:
            return source.choice((0.0, -0.0, 1.5, 1e300, float("nan"), float("inf"), -float("inf"), _odd_nan()))
        case FieldDescriptor.CPPTYPE_FLOAT:
            return source.choice((0.0, -0.0, 0.1, 1.5, 3.4e38, 1e-45, float("nan"), float("inf"), -float("inf")))
        case FieldDescriptor.CPPTYPE_INT32:
            return source.choice((0, 1, 5, -1, 2**31 - 1, -(2**31)))
        case FieldDescriptor.CPPTYPE_UINT32:
            return source.choice((0, 1, 5, 2**32 - 1))
        case FieldDescriptor.CPPTYPE_INT64:
            return source.choice((0, 1, 5, -1, 2**63 - 1, -(2**63)))
    return source.choice((0, 1, 5, 2**64 - 1))


def _odd_nan() -> float:
    (value,) = struct.unpack(">d", bytes.fromhex("fff8000000000123"))
    return float(value)
