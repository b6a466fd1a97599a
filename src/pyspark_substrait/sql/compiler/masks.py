"""Masks as Spark SQL: values of which only some parts are kept.

The specification leaves parts of masks open (expressions/field_references, "Masked Complex Expression"). They are
interpreted as follows:

- Selected parts are in the order of the mask.
- A negative position counts from the end of the list. A missing element is null, as everywhere in references.
- A slice goes from ``start`` up to, but not including, ``end``: the specification's ``..5`` keeps five elements.
  Positions outside of the list are ignored.
- A key selects the entry with exactly this text as its key. The meaning of key expressions isn't specified; one of
  letters, digits and underscores can only mean itself, and ``*`` alone everything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from typing_extensions import assert_never

from pyspark_substrait.errors import UnsupportedPlanError, at
from pyspark_substrait.model.masks import (
    ListItem,
    ListSelect,
    ListSlice,
    MapKeyExpression,
    MapKeySelect,
    MapSelect,
    MaskExpression,
    Select,
    StructSelect,
)
from pyspark_substrait.sql.compiler.literals import string_literal
from pyspark_substrait.sql.compiler.names import NameSource
from pyspark_substrait.sql.compiler.types import field_name
from pyspark_substrait.sql.fragment import Atom, Name

__all__ = ["element", "field", "masked_record", "masked_struct", "part"]

_CERTAIN = re.compile(r"\w+")


def element(text: str, offset: int) -> Atom:
    """Return the element of a list at a position from 0, negative from the end; null if there is none."""
    if not -_LARGEST <= offset < _LARGEST:
        return Atom(f"try_element_at({text}, CAST(NULL AS INT))")
    # Spark counts from 1; negative positions count from the end in both
    return Atom(f"try_element_at({text}, {offset + 1 if offset >= 0 else offset})")


#: no list in Spark has as many elements
_LARGEST = 2**31 - 1


def masked_record(columns: Sequence[Atom], mask: MaskExpression, names: NameSource) -> Atom:
    """The text of a record, given as its columns, under a mask."""
    return _named(_kept(lambda field: columns[field], mask.select, mask.maintain_singular_struct, names))


def masked_struct(text: Atom, mask: MaskExpression, names: NameSource) -> Atom:
    """Return the text of a struct, which is repeated, under a mask.

    Like a record, the struct stays one whatever is kept of it.

    Raises:
        UnsupportedPlanError: the result of the mask isn't certain.
    """
    made = _kept(lambda position: field(text, position), mask.select, mask.maintain_singular_struct, names)
    return Atom(f"(CASE WHEN {text} IS NOT NULL THEN {_named(made)} END)")


def field(text: Atom, position: int) -> Atom:
    """The field of a struct at a position."""
    made = f"{text}.{field_name(position)}"
    return Name(made) if isinstance(text, Name) else Atom(made)


def part(text: Atom, select: Select, maintain: bool, names: NameSource) -> Atom:
    """The text of a value inside a record of which only a part is kept.

    Args:
        text: the value, which is repeated.
        select: the part to keep. It fits the type of the value.
        maintain: whether a struct of one field, and a list or map of one element, stays one.
        names: gives out the names of lambda variables.
    """
    match select:
        case StructSelect():
            made = _kept(lambda position: field(text, position), select, maintain, names)
            if len(made) == 1 and not maintain:
                return made[0]
            return Atom(f"(CASE WHEN {text} IS NOT NULL THEN {_named(made)} END)")
        case ListSelect():
            return _list(text, select, maintain, names)
        case MapSelect():
            return _map(text, select, maintain, names)
        case _:
            assert_never(select)


def _kept(column: Callable[[int], Atom], select: StructSelect, maintain: bool, names: NameSource) -> list[Atom]:
    parts = []
    for position, item in enumerate(select.struct_items):
        text = column(item.field)
        if item.child is not None:
            with at("struct_items", position, "child", _KINDS[item.child.__class__]):
                text = part(text, item.child, maintain, names)
        parts.append(text)
    return parts


def _named(parts: Sequence[str]) -> Atom:
    listed = ", ".join(f"'{field_name(position)}', {text}" for position, text in enumerate(parts))
    return Atom(f"named_struct({listed})")


_KINDS: dict[type, str] = {StructSelect: "struct", ListSelect: "list", MapSelect: "map"}


def _list(text: Atom, select: ListSelect, maintain: bool, names: NameSource) -> Atom:
    match select.selection:
        case (ListItem(field=offset),) if not maintain:
            return _child(element(text, offset), select, maintain, names)
        case (ListSlice(start=start, end=end),):
            kept = _slice(text, start, end)
        case selection:
            runs: list[str] = []
            items: list[str] = []
            for chosen in selection:
                match chosen:
                    case ListItem(field=offset):
                        items.append(element(text, offset))
                    case ListSlice(start=start, end=end):
                        runs += [f"array({', '.join(items)})"] if items else []
                        items = []
                        runs.append(_slice(text, start, end))
                    case _:
                        assert_never(chosen)
            runs += [f"array({', '.join(items)})"] if items else []
            joined = f"concat({', '.join(runs)})" if len(runs) != 1 else runs[0]
            if not runs:
                joined = _slice(text, 0, 0)
            kept = Atom(f"(CASE WHEN {text} IS NOT NULL THEN {joined} END)")
    if select.child is None:
        return kept
    variable = names.fresh("l")
    return Atom(f"transform({kept}, {variable} -> {_child(variable, select, maintain, names)})")


def _slice(text: str, start: int, end: int) -> Atom:
    """Return the elements from one position up to another; each may be negative, or outside of the list."""
    if start >= 0 and end >= 0:
        first, length = (start + 1, max(end - start, 0)) if start < _LARGEST else (1, 0)
        return Atom(f"slice({text}, {first}, {length})")
    size = f"array_size({text})"
    lower, upper = (
        f"greatest({size} - {-bound}L, 0L)" if bound < 0 else f"least(CAST({size} AS BIGINT), {bound}L)"
        for bound in (start, end)
    )
    return Atom(f"slice({text}, CAST({lower} + 1L AS INT), CAST(greatest({upper} - {lower}, 0L) AS INT))")


def _map(text: Atom, select: MapSelect, maintain: bool, names: NameSource) -> Atom:
    match select.select:
        case MapKeySelect(map_key=key) if not maintain:
            return _child(Atom(f"try_element_at({text}, {string_literal(key)})"), select, maintain, names)
        case MapKeySelect(map_key=key):
            kept = _entries(text, key, names)
        case MapKeyExpression(map_key_expression="*"):
            kept = text
        case MapKeyExpression(map_key_expression=pattern) if _CERTAIN.fullmatch(pattern):
            kept = _entries(text, pattern, names)
        case MapKeyExpression(map_key_expression=pattern):
            raise UnsupportedPlanError(
                f"the specification does not say which keys the expression {pattern!r} matches",
                path="expression.map_key_expression",
                hint="One of letters, digits and underscores means itself, and * everything",
            )
        case _:
            assert_never(select.select)
    if select.child is None:
        return kept
    key_, value = names.fresh("l"), names.fresh("l")
    return Atom(f"transform_values({kept}, ({key_}, {value}) -> {_child(value, select, maintain, names)})")


def _entries(text: str, key: str, names: NameSource) -> Atom:
    key_, value = names.fresh("l"), names.fresh("l")
    return Atom(f"map_filter({text}, ({key_}, {value}) -> {key_} = {string_literal(key)})")


def _child(text: Atom, select: ListSelect | MapSelect, maintain: bool, names: NameSource) -> Atom:
    if select.child is None:
        return text
    with at("child", _KINDS[select.child.__class__]):
        return part(text, select.child, maintain, names)
