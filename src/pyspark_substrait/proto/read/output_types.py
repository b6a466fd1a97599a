"""Compare the type that a call states with the one that its definition derives."""

from __future__ import annotations

from pyspark_substrait.codes import Code
from pyspark_substrait.model.notes import Note
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    List,
    Map,
    Struct,
    Type,
    concrete,
    same_kind,
    same_type,
    with_nullability,
)
from pyspark_substrait.model.unbound import is_unbound
from pyspark_substrait.proto.read import quirks
from pyspark_substrait.proto.read.context import Reading, invalid

__all__ = ["output_type"]


def output_type(
    stated: Type | None, derived: Type, key: str, reading: Reading, path: Path, *, castable: bool
) -> tuple[Type, Type | None]:
    """Return the type of a call, and the type to cast it to, if that is of another kind.

    The stated type is used, but made nullable if the derived one is.

    Args:
        stated, derived: the two types.
        key: the function.
        reading: the message.
        path: of the call.
        castable: whether the call can be put into a cast; if not, its type is the stated one whatever its kind.

    Raises:
        InvalidPlanError: the types can't be converted into each other; or they differ at all, when reading is strict.
    """
    if stated is None or stated == derived:
        return derived, None
    if is_unbound(derived) or concrete(stated) == derived:
        return stated, None
    path = (path, "output_type")
    if is_unbound(stated):
        reading.note("unbound-type", path, f"`{key}` with the output_type {stated}", str(derived))
        reading.plain = False
        return derived, None
    if reading.tables is not None and same_type(stated, derived):
        return with_nullability(stated, stated.nullable or derived.nullable), None
    wider = quirks.wider_number(stated, derived, key, reading, path)
    if wider is not None:
        return wider, None
    kind = _alike(stated, derived)
    rule = "output-type"
    if not kind and not _alike(stated, derived, families=True):
        rule = quirks.returned_kind(stated, derived, key, reading) or ""
    if not rule:
        if quirks.derived_instead(stated, derived, key, reading, path):
            return derived, None
        raise invalid(
            f"`{key}` gives {derived} for these arguments, but its output_type is {stated}",
            path,
            "Correct it, or leave it out",
            Code.EXPRESSION_OUTPUT_TYPE,
        )
    result = with_nullability(stated, stated.nullable or derived.nullable)
    before = f"`{key}` gives {derived}, but its output_type is {stated}"
    reading.loose(rule, path, before, f"computed as {derived}, of type {result}")
    if not kind and castable:
        return derived, result
    if result != derived and reading.placed:
        before = f"`{key}` gives {derived}, but its output_type is {result}"
        after = f"computed as {derived}, of type {result}"
        reading.again.append((path, lambda place: Note(rule="output-type", path=place, before=before, after=after)))
    return result, None


_FAMILIES = ((I8, I16, I32, I64), (FP32, FP64))


def _alike(left: Type, right: Type, families: bool = False) -> bool:
    """Whether two types are of the same kind, and so are the elements of lists, maps and structs.

    With ``families``, all integers are alike, and all floats.
    """
    left, right = concrete(left), concrete(right)
    match left, right:
        case List(type=one), List(type=other):
            return _alike(one, other, families)
        case Map(key=one_key, value=one_value), Map(key=other_key, value=other_value):
            return _alike(one_key, other_key, families) and _alike(one_value, other_value, families)
        case Struct(types=ones), Struct(types=others):
            return len(ones) == len(others) and all(map(_alike, ones, others, [families] * len(ones)))
        case _:
            return same_kind(left, right) or (
                families and any(isinstance(left, family) and isinstance(right, family) for family in _FAMILIES)
            )
