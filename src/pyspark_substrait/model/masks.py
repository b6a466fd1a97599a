"""Masks: expressions that keep part of a struct. Spec: expressions/field_references, "Masked Complex Expression"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, Union

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model.types import (
    FixedChar,
    List,
    Map,
    NamedStruct,
    OpenStruct,
    String,
    Struct,
    Type,
    Unbound,
    UserDefined,
    VarChar,
    concrete,
    name_count,
    with_nullability,
)

__all__ = [
    "ListItem",
    "ListSelect",
    "ListSlice",
    "MapKeyExpression",
    "MapKeySelect",
    "MapSelect",
    "MaskExpression",
    "Select",
    "StructItem",
    "StructSelect",
    "masked_schema",
    "masked_type",
]


@dataclass(frozen=True, slots=True)
class StructItem:
    """One field of a struct that is kept, whole or thinned out by ``child``."""

    field: int
    child: Select | None = None


@dataclass(frozen=True, slots=True)
class StructSelect:
    """The fields of a struct that are kept."""

    struct_items: tuple[StructItem, ...]


@dataclass(frozen=True, slots=True)
class ListItem:
    """One element of a list, by position. ``ListSelectItem.ListElement`` in protobuf."""

    field: int


@dataclass(frozen=True, slots=True)
class ListSlice:
    """The elements of a list from ``start`` to ``end``."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ListSelect:
    """The elements of a list that are kept, each whole or thinned out by ``child``."""

    selection: tuple[ListItem | ListSlice, ...]
    child: Select | None = None


@dataclass(frozen=True, slots=True)
class MapKeySelect:
    """The value under one key. ``MapSelect.MapKey`` in protobuf."""

    map_key: str


@dataclass(frozen=True, slots=True)
class MapKeyExpression:
    """The values under the keys that match a wildcard expression."""

    map_key_expression: str


@dataclass(frozen=True, slots=True)
class MapSelect:
    """The values of a map that are kept, each whole or thinned out by ``child``."""

    select: MapKeySelect | MapKeyExpression
    child: Select | None = None


Select: TypeAlias = Union[StructSelect, ListSelect, MapSelect]


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskExpression:
    """What is kept of a record.

    ``maintain_singular_struct``: a nested struct of which one field is kept stays a struct (otherwise it is replaced
    by that field), and likewise a list of which one element is kept.
    """

    select: StructSelect
    maintain_singular_struct: bool = False


def masked_type(type: Struct, mask: MaskExpression) -> Struct:
    """What a record looks like under a mask. The record itself stays a struct, whatever is kept of it.

    Raises:
        InvalidPlanError: the mask doesn't fit the struct.
    """
    if isinstance(type, OpenStruct):
        return type
    types = tuple(_item(type, item, mask.maintain_singular_struct) for item in mask.select.struct_items)
    return Struct(types=types, nullable=type.nullable)


def _item(type: Struct, item: StructItem, maintain: bool) -> Type:
    if not 0 <= item.field < len(type.types):
        raise InvalidPlanError(f"the mask keeps field {item.field}, but the struct has {len(type.types)} fields")
    child = type.types[item.field]
    return child if item.child is None else _select(child, item.child, maintain)


def _structure(type: Type) -> Type:
    """What a type is made of: an alias stands for its type, a user-defined type for its structure."""
    here = concrete(type)
    if isinstance(here, UserDefined) and here.structure is not None:
        return with_nullability(concrete(here.structure), here.nullable)
    return here


def _select(type: Type, select: Select, maintain: bool) -> Type:
    here = _structure(type)
    match select, here:
        case _, Unbound():
            return Unbound(nullable=True)
        case StructSelect(struct_items=items), Struct():
            types = tuple(_item(here, item, maintain) for item in items)
            if len(types) == 1 and not maintain:
                return with_nullability(types[0], types[0].nullable or here.nullable)
            return Struct(types=types, nullable=here.nullable)
        case ListSelect(selection=selection, child=child), List(type=element):
            # an element that isn't there is null; a slice just ends where the list does
            picked = any(isinstance(item, ListItem) for item in selection)
            element = with_nullability(element, element.nullable or picked)
            kept = element if child is None else _select(element, child, maintain)
            if len(selection) == 1 and picked and not maintain:
                return with_nullability(kept, True)
            return List(type=kept, nullable=here.nullable)
        case MapSelect(select=chosen, child=child), Map(key=key, value=value):
            _check_key(chosen, concrete(key))
            kept = value if child is None else _select(value, child, maintain)
            if isinstance(chosen, MapKeySelect) and not maintain:
                return with_nullability(kept, True)
            return Map(key=key, value=kept, nullable=here.nullable)
        case _:
            raise InvalidPlanError(f"the mask doesn't fit {type}")


def _check_key(select: MapKeySelect | MapKeyExpression, key: Type) -> None:
    match select, key:
        case MapKeySelect(map_key=text), FixedChar(length=length) if len(text) != length:
            raise InvalidPlanError(
                f"no key of the map is {text!r}: each is a {key}", hint=f"Fill it up with blanks to {length} characters"
            )
        case _, String() | VarChar() | FixedChar() | Unbound():
            pass
        case _:
            raise InvalidPlanError(f"the mask selects a map's key by its text, but the keys are {key}")


def masked_schema(schema: NamedStruct, mask: MaskExpression) -> NamedStruct:
    """A schema under a mask, with the names of what is kept."""
    starts, position = [], 0
    for type in schema.struct.types:
        starts.append(position)
        position += 1 + name_count(type)
    names: list[str] = []
    for item in mask.select.struct_items:
        if not 0 <= item.field < len(starts):
            raise InvalidPlanError(f"the mask keeps field {item.field}, but the struct has {len(starts)} fields")
        type, start = schema.struct.types[item.field], starts[item.field]
        below = schema.names[start + 1 : start + 1 + name_count(type)]
        names.append(schema.names[start])
        names.extend(below if item.child is None else _names(type, below, item.child, mask.maintain_singular_struct))
    return NamedStruct(names=tuple(names), struct=masked_type(schema.struct, mask))


def _names(type: Type, names: tuple[str, ...], select: Select, maintain: bool) -> list[str]:
    """The names left of those nested inside ``type``."""
    here = concrete(type)
    match select, here:
        case StructSelect(struct_items=items), Struct():
            starts, position = [], 0
            for child in here.types:
                starts.append(position)
                position += 1 + name_count(child)
            left: list[str] = []
            for item in items:
                child, start = here.types[item.field], starts[item.field]
                below = names[start + 1 : start + 1 + name_count(child)]
                if len(items) > 1 or maintain:
                    left.append(names[start])
                left.extend(below if item.child is None else _names(child, below, item.child, maintain))
            return left
        case ListSelect(child=child_select), List(type=element):
            return list(names) if child_select is None else _names(element, names, child_select, maintain)
        case MapSelect(select=chosen, child=child_select), Map(key=key, value=value):
            keys, values = names[: name_count(key)], names[name_count(key) :]
            kept = list(values) if child_select is None else _names(value, values, child_select, maintain)
            return kept if isinstance(chosen, MapKeySelect) and not maintain else [*keys, *kept]
        case _:
            raise InvalidPlanError(f"the mask doesn't fit {type}")
