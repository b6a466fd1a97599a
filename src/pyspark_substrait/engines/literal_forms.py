"""Literals in other forms, for engines that don't take those of every type."""

from __future__ import annotations

from dataclasses import replace

from pyspark_substrait.engines.calls import cast
from pyspark_substrait.model.expressions import Expression, NestedList, NestedStruct
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.types import List, String, Struct, VarChar

__all__ = ["with_string_literals"]


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
