"""Literals in other forms, for engines that don't take those of every type."""

from __future__ import annotations

from dataclasses import replace

from pyspark_substrait.engines.calls import cast
from pyspark_substrait.model.expressions import Expression, Function, NestedList, NestedStruct, ScalarFunction
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import I32, List, String, Struct, VarChar

__all__ = ["padded", "with_string_literals"]


def with_string_literals(node: Literal) -> Expression:
    """Return a literal in which those of varchar are casts of strings; any other as it is."""
    match node:
        case Literal(value=None):
            return node
        case Literal(type=VarChar(nullable=nullable) as type):
            return cast(replace(node, type=String(nullable=nullable)), type)
        case Literal(type=Struct() | List(), value=tuple(parts)) if parts:
            made = tuple(with_string_literals(part) for part in parts if isinstance(part, Literal))
            if made == parts:
                return node
            nullable = node.type.nullable
            if isinstance(node.type, Struct):
                return NestedStruct(fields=made, nullable=nullable)
            return NestedList(values=made, nullable=nullable)
        case _:
            return node


def padded(text: Expression, length: int) -> Expression:
    """Return a text with so many blanks behind it that it has a length."""
    type = String(nullable=text.type.nullable)
    return ScalarFunction(
        function=Function("extension:io.substrait:functions_string", "rpad", "str_i32_str"),
        arguments=(text, Literal(type=I32(), value=length), Literal(type=String(), value=" ")),
        output_type=type,
        derived_type=type,
    )
