"""The structs nested in types: the names of their fields in a schema, and which of them are of one type."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace

from pyspark_substrait.model.types import List, Map, NamedStruct, Struct, Type, concrete

__all__ = ["TypeNumbers", "named_structs", "schema_structs"]


class TypeNumbers:
    """A number for each type, which types share that differ in nothing but nullability and variation."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._numbered: dict[int, tuple[Type, int]] = {}

    def number(self, type: Type) -> int:
        """Return the number of a type."""
        known = self._numbered.get(id(type))
        if known is not None:
            return known[1]
        key: Hashable
        match concrete(type):
            case Struct(types=types) as struct:
                key = (struct.__class__, *map(self.number, types))
            case List(type=element):
                key = (List, self.number(element))
            case Map(key=of_keys, value=of_values):
                key = (Map, self.number(of_keys), self.number(of_values))
            case other:
                key = replace(other, nullable=True, variation=None)
        found = self._numbers.setdefault(key, len(self._numbers))
        self._numbered[id(type)] = type, found  # with the type, so that its id is not that of another one later
        return found


def named_structs(type: Type, names: Iterator[str]) -> list[tuple[Struct, tuple[str, ...]]]:
    """Return each struct in a type, itself included and after those inside it, with the names of its fields.

    Args:
        type: the type.
        names: the names of all fields in it, depth first, as schemas have them; missing ones are empty.
    """
    found: list[tuple[Struct, tuple[str, ...]]] = []

    def collect(type: Type) -> None:
        match concrete(type):
            case Struct(types=fields) as struct:
                own = []
                for part in fields:
                    own.append(next(names, ""))
                    collect(part)
                found.append((struct, tuple(own)))
            case List(type=element):
                collect(element)
            case Map(key=key, value=value):
                collect(key)
                collect(value)
            case _:
                pass

    collect(type)
    return found


def schema_structs(schema: NamedStruct) -> Iterator[tuple[Struct, tuple[str, ...]]]:
    """Yield the structs in the columns of a schema, with the names of their fields."""
    names = iter(schema.names)
    for type in schema.struct.types:
        next(names, "")
        yield from named_structs(type, names)
