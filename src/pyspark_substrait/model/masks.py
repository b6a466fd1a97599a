"""Masks: expressions that keep part of a struct. Spec: expressions/field_references, "Masked Complex Expression"."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias, Union

from pyspark_substrait.codes import Code
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
    "Report",
    "Select",
    "StructItem",
    "StructSelect",
    "masked_schema",
    "masked_type",
]


@dataclass(frozen=True, slots=True)
class StructItem:
    """One field of a struct that is kept, whole or in part (``child``)."""

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
    """The elements of a list that are kept, each whole or in part (``child``)."""

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
    """The values of a map that are kept, each whole or in part (``child``)."""

    select: MapKeySelect | MapKeyExpression
    child: Select | None = None


Select: TypeAlias = Union[StructSelect, ListSelect, MapSelect]


@dataclass(frozen=True, slots=True, kw_only=True)
class MaskExpression:
    """The part of a record that is kept.

    ``maintain_singular_struct``: a nested struct of which one field is kept stays a struct (otherwise it is replaced
    by that field), and likewise a list of which one element is kept.
    """

    select: StructSelect
    maintain_singular_struct: bool = False


Report: TypeAlias = Callable[[InvalidPlanError], None]
"""Called with each fault, which has its path inside the mask, so that applying the mask continues."""


def masked_type(type: Struct, mask: MaskExpression, report: Report | None = None) -> Struct:
    """Return the type of a record under a mask. The record itself stays a struct, whatever is kept of it.

    Args:
        type: the record.
        mask: the part of it that is kept.
        report: called with each fault; parts that don't fit become unbound.

    Raises:
        InvalidPlanError: the mask doesn't fit the struct, and there is no ``report``.
    """
    if isinstance(type, OpenStruct):
        return type
    types = _Laying(mask.maintain_singular_struct, report).items(type, mask.select, "select")
    return Struct(types=types, nullable=type.nullable)


def _structure(type: Type) -> Type:
    """Return the underlying type: an alias resolved, a user-defined type replaced by its structure."""
    here = concrete(type)
    if isinstance(here, UserDefined) and here.structure is not None:
        return with_nullability(concrete(here.structure), here.nullable)
    return here


@dataclass(frozen=True, slots=True)
class _Laying:
    """Applies a mask to types; a path is that of the part being applied, inside the mask."""

    maintain: bool
    report: Report | None

    def items(self, type: Struct, select: StructSelect, path: str) -> tuple[Type, ...]:
        """Return the types of the kept parts of a struct."""
        types = type.types
        count = len(types)
        return tuple(
            [
                types[item.field]
                if item.child is None and 0 <= item.field < count
                else self._item(type, item, f"{path}.struct_items[{index}]")
                for index, item in enumerate(select.struct_items)
            ]
        )

    def _item(self, type: Struct, item: StructItem, path: str) -> Type:
        if not 0 <= item.field < len(type.types):
            fault = f"the mask keeps field {item.field}, but the struct has {len(type.types)} fields"
            return self._fault(InvalidPlanError(fault, code=Code.EXPRESSION_REFERENCE), f"{path}.field")
        child = type.types[item.field]
        return child if item.child is None else self._select(child, item.child, f"{path}.child")

    def _fault(self, error: InvalidPlanError, path: str) -> Type:
        if self.report is None:
            raise error
        error.prepend(path)
        self.report(error)
        return Unbound(nullable=True)

    def _select(self, type: Type, select: Select, path: str) -> Type:
        here = _structure(type)
        match select, here:
            case _, Unbound():
                return Unbound(nullable=True)
            case StructSelect(), Struct():
                types = self.items(here, select, f"{path}.struct")
                if len(types) == 1 and not self.maintain:
                    return with_nullability(types[0], types[0].nullable or here.nullable)
                return Struct(types=types, nullable=here.nullable)
            case ListSelect(selection=selection, child=child), List(type=element):
                # a missing element is null; a slice just ends where the list does
                picked = any(isinstance(item, ListItem) for item in selection)
                element = with_nullability(element, element.nullable or picked)
                kept = element if child is None else self._select(element, child, f"{path}.list.child")
                if len(selection) == 1 and picked and not self.maintain:
                    return with_nullability(kept, True)
                return List(type=kept, nullable=here.nullable)
            case MapSelect(select=chosen, child=child), Map(key=key, value=value):
                fault = _wrong_key(chosen, concrete(key))
                if fault is not None:
                    self._fault(fault, f"{path}.map")
                kept = value if child is None else self._select(value, child, f"{path}.map.child")
                if isinstance(chosen, MapKeySelect) and not self.maintain:
                    return with_nullability(kept, True)
                return Map(key=key, value=kept, nullable=here.nullable)
            case _:
                error = InvalidPlanError(f"the mask does not fit {type}", code=Code.TYPE_MISMATCH)
                return self._fault(error, f"{path}.{_KINDS[select.__class__]}")


_KINDS = {StructSelect: "struct", ListSelect: "list", MapSelect: "map"}


def _wrong_key(select: MapKeySelect | MapKeyExpression, key: Type) -> InvalidPlanError | None:
    match select, key:
        case MapKeySelect(map_key=text), FixedChar(length=length) if len(text) != length:
            return InvalidPlanError(
                f"no key of the map is {text!r}: each is a {key}",
                hint=f"Fill it up with blanks to {length} characters",
                code=Code.EXPRESSION_REFERENCE,
            )
        case _, String() | VarChar() | FixedChar() | Unbound():
            return None
        case _:
            fault = f"the mask selects a map's key by its text, but the keys are {key}"
            return InvalidPlanError(fault, code=Code.TYPE_MISMATCH)


def masked_schema(schema: NamedStruct, mask: MaskExpression, report: Report | None = None) -> NamedStruct:
    """Return a schema under a mask, with the names of the kept fields. As :func:`masked_type`."""
    struct = masked_type(schema.struct, mask, report)
    if isinstance(struct, OpenStruct):
        return NamedStruct(names=(), struct=struct)
    laying = _Naming(mask.maintain_singular_struct, report)
    names = laying.kept(schema.struct, schema.names, mask.select, named=True)
    return NamedStruct(names=tuple(names), struct=struct)


@dataclass(frozen=True, slots=True)
class _Naming:
    """Applies a mask to the names of fields; faults were reported before."""

    maintain: bool
    report: Report | None

    def kept(self, struct: Struct, names: tuple[str, ...], select: StructSelect, *, named: bool) -> Iterator[str]:
        """Yield the names inside the kept parts of a struct; ``named``: the names of its own fields, too."""
        starts = [0]
        for child in struct.types:
            starts.append(starts[-1] + 1 + name_count(child))
        for item in select.struct_items:
            if not 0 <= item.field < len(struct.types):
                if named:
                    yield ""
                continue
            start, stop = starts[item.field], starts[item.field + 1]
            if named:
                yield names[start] if start < len(names) else ""
            if stop > start + 1:
                below = names[start + 1 : stop]
                yield from below if item.child is None else self._inside(struct.types[item.field], below, item.child)

    def _inside(self, type: Type, names: tuple[str, ...], select: Select) -> list[str]:
        """Return the kept names of those nested inside ``type``."""
        here = concrete(type)
        match select, here:
            case StructSelect(struct_items=items), Struct():
                return list(self.kept(here, names, select, named=len(items) > 1 or self.maintain))
            case ListSelect(child=child), List(type=element):
                return list(names) if child is None else self._inside(element, names, child)
            case MapSelect(select=chosen, child=child), Map(key=key, value=value):
                keys, values = names[: name_count(key)], names[name_count(key) :]
                kept = list(values) if child is None else self._inside(value, values, child)
                return kept if isinstance(chosen, MapKeySelect) and not self.maintain else [*keys, *kept]
            case _:
                error = InvalidPlanError(f"the mask does not fit {type}", code=Code.TYPE_MISMATCH)
                if self.report is None:
                    raise error
                if isinstance(here, UserDefined):
                    self.report(error)
                return []
