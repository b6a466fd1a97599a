"""The names of the fields of structs nested in a schema."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark_substrait.model.types import List, Map, Struct, Type, concrete

__all__ = ["named_structs"]


def named_structs(type: Type, names: Iterator[str]) -> Iterator[tuple[Struct, tuple[str, ...]]]:
    """Yield each struct in a type, itself included, with the names of its fields.

    Args:
        type: the type.
        names: the names of all fields in it, depth first, as schemas have them; missing ones are empty.
    """
    match concrete(type):
        case Struct(types=fields) as struct:
            own = []
            for part in fields:
                own.append(next(names, ""))
                yield from named_structs(part, names)
            yield struct, tuple(own)
        case List(type=element):
            yield from named_structs(element, names)
        case Map(key=key, value=value):
            yield from named_structs(key, names)
            yield from named_structs(value, names)
        case _:
            pass
