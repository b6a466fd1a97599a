"""Masks as text: ``{a, b.{c}}`` keeps a, and the field c of b."""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import assert_never

from pyspark_substrait.model.masks import (
    ListItem,
    ListSelect,
    MapKeyExpression,
    MapKeySelect,
    MapSelect,
    MaskExpression,
    Select,
    StructSelect,
)
from pyspark_substrait.text.explain.columns import escaped, quoted
from pyspark_substrait.text.explain.literals import string_text

__all__ = ["mask_text"]


def mask_text(mask: MaskExpression, names: Sequence[str | None] = ()) -> str:
    """Return a mask as text; ``names`` are those of the outermost struct's fields, as far as they are known."""
    return _select(mask.select, names) + ("[keep singular structs]" if mask.maintain_singular_struct else "")


def _select(select: Select, names: Sequence[str | None] = ()) -> str:
    match select:
        case StructSelect(struct_items=items):
            texts = []
            for item in items:
                name = names[item.field] if 0 <= item.field < len(names) else None
                label = f"${item.field}" if name is None else quoted(name)
                texts.append(label if item.child is None else f"{label}.{_select(item.child)}")
            return f"{{{', '.join(texts)}}}"
        case ListSelect(selection=selection, child=child):
            parts = (
                str(part.field) if isinstance(part, ListItem) else f"{part.start}:{part.end}" for part in selection
            )
            return f"[{', '.join(parts)}]" + ("" if child is None else f".{_select(child)}")
        case MapSelect(select=chosen, child=child):
            match chosen:
                case MapKeySelect(map_key=key):
                    text = f"[{string_text(key)}]"
                case MapKeyExpression(map_key_expression=pattern):
                    text = f"[keys like '{escaped(pattern)}']"
                case _:
                    assert_never(chosen)
            return text + ("" if child is None else f".{_select(child)}")
        case _:
            assert_never(select)
