"""Schemas and types in the forms that users give: type syntax, dicts, Arrow schemas; and the names of nested fields."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NoReturn, TypeAlias

from pyspark_substrait.errors import InvalidPlanError, at
from pyspark_substrait.extensions.arrow_schemas import named_struct
from pyspark_substrait.extensions.derivation import Scope, evaluate_type
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.extensions.type_syntax import Node, TypePattern, UserPattern, parse, walk
from pyspark_substrait.model.types import (
    List,
    Map,
    NamedStruct,
    Struct,
    Type,
    TypeBase,
    concrete,
    name_count,
)

__all__ = [
    "SchemaLike",
    "TypeLike",
    "element_names",
    "field_names",
    "near",
    "numbered",
    "schema_of",
    "type_of",
    "typed_names",
    "value_names",
]

#: A type, or its text in the specification's syntax: ``decimal?<38, 2>``.
TypeLike: TypeAlias = "Type | str"
#: Types by column name, a pyarrow.Schema, or a schema of the model; a nested dict is a required struct.
SchemaLike: TypeAlias = "Mapping[str, TypeLike | Mapping[str, Any]] | NamedStruct | Any"


def type_of(given: TypeLike, registry: Registry | None = None) -> Type:
    """Return the type for a text.

    The text is in the specification's type syntax; ``nstruct<name: string, …>`` is a struct whose fields have names. A
    user-defined type is ``u!name``; exactly one extension must declare the name.

    Raises:
        InvalidPlanError: the text isn't a type.
    """
    return typed_names(given, registry)[0]


def typed_names(given: Any, registry: Registry | None = None) -> tuple[Type, tuple[str, ...]]:
    """Return a type, and the names of the fields nested in it, depth first."""
    if isinstance(given, TypeBase):
        known: Any = given
        return known, numbered(known)
    if isinstance(given, Mapping):
        inside = schema_of(given, registry)
        return inside.struct, inside.names
    if not isinstance(given, str):
        raise InvalidPlanError(f"{given!r} is not a type", hint='Write it like "decimal?<38, 2>", or give a model type')
    node = parse(given)
    extensions = registry or Registry.default()
    found = evaluate_type(node, {}, _scope(node, extensions))
    names = tuple(_pattern_names(node))
    return found, names if len(names) == name_count(found) else numbered(found)


def schema_of(given: SchemaLike, registry: Registry | None = None) -> NamedStruct:
    """Return a schema, from any form that users may give.

    Raises:
        InvalidPlanError: it isn't a schema, or a type in it isn't valid.
    """
    if isinstance(given, NamedStruct):
        return given
    if not isinstance(given, Mapping):
        return named_struct(given, "the schema")
    types: list[Type] = []
    names: list[str] = []
    for name, item in given.items():
        with at(name):
            type, inner = typed_names(item, registry)
        types.append(type)
        names += [name, *inner]
    return NamedStruct(names=tuple(names), struct=Struct(types=tuple(types)))


def _scope(node: Node, registry: Registry) -> Scope:
    """Return the scope in which the user-defined types of a type text are declared."""
    user = next((part for part in walk(node) if isinstance(part, UserPattern)), None)
    if user is None:
        return Scope("")
    homes = [urn for urn in (*registry.urns(), *registry.own_urns()) if registry.type(urn, user.name) is not None]
    if len(homes) != 1:
        known = "no extension declares" if not homes else f"{' and '.join(homes)} declare"
        raise InvalidPlanError(f"{known} a type `{user.name}`", hint="Give it as a model.types.UserDefined")

    def structure(urn: str, name: str) -> Type | None:
        definition = registry.type(urn, name)
        return None if definition is None else definition.structure

    return Scope(homes[0], structure=structure)


def _pattern_names(node: Node) -> Iterator[str]:
    """Return the names of the fields in a type text, depth first; unnamed fields get numbered names."""
    if not isinstance(node, TypePattern):
        return
    if node.keyword == "struct":
        for position, part in enumerate(node.parameters):
            yield node.names[position] if node.names else f"field_{position}"
            yield from _pattern_names(part)
    else:
        for part in node.parameters:
            yield from _pattern_names(part)


# the names of nested fields ------------------------------------------------------------------------------------------


def numbered(type: Type) -> tuple[str, ...]:
    """Return numbered names for the fields nested in a type that has no names."""
    return tuple(f"field_{position}" for position in range(name_count(type)))


def field_names(type: Struct, inner: tuple[str, ...]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return for each field of a struct its name, and the names nested in it."""
    found, position = [], 0
    for child in type.types:
        end = position + 1 + name_count(child)
        found.append((inner[position], inner[position + 1 : end]))
        position = end
    return tuple(found)


def element_names(type: Type, inner: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names nested in the elements of a list."""
    return inner if isinstance(concrete(type), List) else ()


def value_names(type: Type, inner: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names nested in the values of a map."""
    here = concrete(type)
    return inner[name_count(here.key) :] if isinstance(here, Map) else ()


def near(name: str, known: Iterable[str], what: str) -> NoReturn:
    """Raise an error for a name that is unknown or ambiguous, with similar names as a hint."""
    names = list(known)
    if names.count(name) > 1:
        raise InvalidPlanError(
            f"there are {names.count(name)} {what}s `{name}`", hint="Take one by its position, or rename one before"
        )
    folded = {one.lower(): one for one in names}
    found = [folded[one] for one in difflib.get_close_matches(name.lower(), list(folded), n=3)]
    start = f"Did you mean {' or '.join(f'`{one}`' for one in found)}? " if found else ""
    listed = ", ".join(f"`{one}`" for one in names[:20]) + (", …" if len(names) > 20 else "")
    raise InvalidPlanError(f"there is no {what} `{name}`", hint=f"{start}There are: {listed or 'none'}")
