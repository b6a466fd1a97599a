"""Structs, lists and maps made of expressions. Spec: expressions/specialized_record_expressions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark_substrait.model.computed_once import computed_once
from pyspark_substrait.model.types import List, Map, Struct, Type, TypeVariation, with_nullability

if TYPE_CHECKING:
    from pyspark_substrait.model.expressions import Expression

__all__ = ["NestedList", "NestedMap", "NestedStruct"]


@dataclass(frozen=True, kw_only=True)
class NestedStruct:
    """A struct made of expressions."""

    fields: tuple[Expression, ...]
    nullable: bool = False
    variation: TypeVariation | None = None

    @computed_once
    def type(self) -> Type:
        types = tuple(field.type for field in self.fields)
        return Struct(types=types, nullable=self.nullable, variation=self.variation)


@dataclass(frozen=True, kw_only=True)
class NestedList:
    """A list of at least one expression; all have one type."""

    values: tuple[Expression, ...]
    nullable: bool = False
    variation: TypeVariation | None = None

    @computed_once
    def type(self) -> Type:
        return List(type=_common_type(self.values), nullable=self.nullable, variation=self.variation)


@dataclass(frozen=True, kw_only=True)
class NestedMap:
    """A map of at least one pair of key and value expressions."""

    key_values: tuple[tuple[Expression, Expression], ...]
    nullable: bool = False
    variation: TypeVariation | None = None

    @computed_once
    def type(self) -> Type:
        keys = tuple(key for key, _ in self.key_values)
        values = tuple(value for _, value in self.key_values)
        return Map(key=_common_type(keys), value=_common_type(values), nullable=self.nullable, variation=self.variation)


def _common_type(items: tuple[Expression, ...]) -> Type:
    """The type of the first, nullable when any is."""
    return with_nullability(items[0].type, any(item.type.nullable for item in items))
