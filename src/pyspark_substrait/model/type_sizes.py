"""The sizes of types, which :mod:`~pyspark_substrait.model.limits` bounds."""

from __future__ import annotations

from pyspark_substrait.model.types import AliasedType, Func, List, Map, OpenStruct, Struct, Type, TypeBase, UserDefined

__all__ = ["TypeSizes"]


class TypeSizes:
    """Counts of the types nested in types, with shared parts expanded but visited once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Type, int]] = {}  # by identity; the type is kept, so that its number stays its own

    def of(self, type: Type) -> int:
        """Return the number of types in a type, itself included."""
        if not isinstance(type, _COMPOSED):
            return 1
        if isinstance(type, Struct) and _COMPOSED_CLASSES.isdisjoint([part.__class__ for part in type.types]):
            return 1 + len(type.types)
        known = self._known
        pending: list[Type] = [type]
        while pending:
            current = pending[-1]
            if id(current) in known:
                pending.pop()
                continue
            parts = _parts(current)
            unknown = [part for part in parts if isinstance(part, _COMPOSED) and id(part) not in known]
            if unknown:
                pending.extend(unknown)
                continue
            pending.pop()
            size = 1 + sum([known[id(part)][1] if isinstance(part, _COMPOSED) else 1 for part in parts])
            known[id(current)] = (current, size)
        return known[id(type)][1]


_COMPOSED = (Struct, List, Map, Func, AliasedType, UserDefined)
_COMPOSED_CLASSES = frozenset({*_COMPOSED, OpenStruct})


def _parts(type: Type) -> tuple[Type, ...]:
    match type:
        case Struct(types=types):
            return types
        case List(type=element):
            return (element,)
        case Map(key=key, value=value):
            return (key, value)
        case Func(parameter_types=types, return_type=result):
            return (*types, result)
        case AliasedType(type=inner):
            return (inner,)
        case UserDefined(type_parameters=parameters):
            return tuple([parameter.value for parameter in parameters if isinstance(parameter.value, TypeBase)])
        case _:
            return ()
