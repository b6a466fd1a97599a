"""Helpers that make expressions and relations for the conversion of plans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pyspark_substrait.model.expressions import (
    Argument,
    Expression,
    FieldReference,
    Function,
    NestedStruct,
    RootReference,
    ScalarFunction,
    StructField,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Read, Relation, VirtualTable
from pyspark_substrait.model.types import I32, Boolean, List, Map, NamedStruct, Struct, Type, concrete, name_count

__all__ = [
    "BOOLEAN",
    "COMPARISON",
    "boolean_call",
    "called",
    "coalesced",
    "compared",
    "equal",
    "field",
    "is_known",
    "is_nested",
    "is_null",
    "number_table",
]

BOOLEAN: Final = "extension:io.substrait:functions_boolean"
COMPARISON: Final = "extension:io.substrait:functions_comparison"


def field(input: Relation, position: int) -> FieldReference:
    """Return a reference to a column of a relation."""
    return FieldReference(root=RootReference(), reference=(StructField(position),), type=input.schema.types[position])


def boolean_call(function: Function, arguments: Sequence[Argument], nullable: bool) -> ScalarFunction:
    """Return a call with a boolean result."""
    type = Boolean(nullable=nullable)
    return ScalarFunction(function=function, arguments=tuple(arguments), output_type=type, derived_type=type)


def called(function: Function, type: Type, *arguments: Argument) -> ScalarFunction:
    """Return a call with a result of a type."""
    return ScalarFunction(function=function, arguments=arguments, output_type=type, derived_type=type)


def coalesced(type: Type, value: Expression, default: Expression) -> ScalarFunction:
    """Return a value, or another one where it is null."""
    return called(Function(COMPARISON, "coalesce", "any"), type, value, default)


def compared(name: str, left: Expression, right: Expression) -> ScalarFunction:
    """Return a comparison of two values, which is null if one of them is, but for ``is_not_distinct_from``."""
    nullable = name != "is_not_distinct_from" and (left.type.nullable or right.type.nullable)
    return boolean_call(Function(COMPARISON, name, "any_any"), (left, right), nullable)


def equal(left: Expression, right: Expression) -> ScalarFunction:
    """Return the equality of two values, which is null if one of them is."""
    return compared("equal", left, right)


def is_known(value: Expression) -> ScalarFunction:
    """Return the condition that a value is not null."""
    return boolean_call(Function(COMPARISON, "is_not_null", "any"), (value,), nullable=False)


def is_null(value: Expression) -> ScalarFunction:
    """Return the condition that a value is null."""
    return boolean_call(Function(COMPARISON, "is_null", "any"), (value,), nullable=False)


def is_nested(type: Type) -> bool:
    """Whether values of a type have parts: engines differ in where they put nulls in them."""
    return isinstance(concrete(type), Struct | List | Map)


def number_table(values: Sequence[int]) -> Relation:
    """Return a table with one i32 column."""
    schema = Struct(types=(I32(),))
    rows = tuple(NestedStruct(fields=(Literal(type=I32(), value=value),)) for value in values)
    names = ("number",) * sum(1 + name_count(type) for type in schema.types)
    return Read(base_schema=NamedStruct(names=names, struct=schema), read_type=VirtualTable(expressions=rows))
