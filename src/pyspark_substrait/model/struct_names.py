"""The names of the fields of structs nested in a schema."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark_substrait.model.types import List, Map, Struct, Type, concrete

__all__ = ["named_structs"]


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
