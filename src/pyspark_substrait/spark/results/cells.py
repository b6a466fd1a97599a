"""Format values for display, escaped so that a terminal or a page shows them as plain text."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa

from pyspark_substrait.spark.results.values import Pairs, Record, plain, values

__all__ = ["MOST_CHARACTERS", "Cell", "Kind", "cells", "harmless"]

Kind = Literal["null", "number", "boolean", "text", "time", "binary", "nested"]

MOST_CHARACTERS = 500
"""The default for the most characters of a cell."""

_LINE_BREAKS = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
#: joiners, which some scripts and many emoji need
_JOINERS = "\u200c\u200d"


@dataclass(frozen=True, slots=True)
class Cell:
    """One value, or the name of a column.

    Attributes:
        text: the text to show, with control characters and direction marks escaped.
        kind: the kind of the value; for a name, the kind of the column's values.
        cut: whether the text is cut; it ends with ``…`` then.
    """

    text: str
    kind: Kind
    cut: bool = False


def cells(
    rows: pa.Table, limit: int | None = None, *, most_characters: int | None = MOST_CHARACTERS
) -> tuple[tuple[Cell, ...], tuple[tuple[Cell, ...], ...]]:
    """The names of the columns, and the values row by row.

    Args:
        rows: the rows.
        limit: the most rows; all when None.
        most_characters: the length to which longer texts are cut; None for no limit.
    """
    kinds = [_kind(field.type) for field in rows.schema]
    header = tuple(
        _cell(harmless(name), kind, most_characters) for name, kind in zip(rows.column_names, kinds, strict=True)
    )
    chosen = rows if limit is None else rows.slice(0, limit)
    columns = [
        [_value_cell(value, kind, most_characters) for value in values(column)]
        for column, kind in zip(chosen.columns, kinds, strict=True)
    ]
    return header, tuple(zip(*columns, strict=True)) if columns else ((),) * chosen.num_rows


def _kind(type: pa.DataType) -> Kind:
    if pa.types.is_integer(type) or pa.types.is_floating(type) or pa.types.is_decimal(type):
        return "number"
    if pa.types.is_boolean(type):
        return "boolean"
    if pa.types.is_nested(type):
        return "nested"
    if pa.types.is_binary(type) or pa.types.is_fixed_size_binary(type) or pa.types.is_large_binary(type):
        return "binary"
    return "time" if pa.types.is_temporal(type) else "text"


def _value_cell(value: Any, kind: Kind, most: int | None) -> Cell:
    if value is None:
        return Cell("null", "null")
    return _cell(harmless(value) if isinstance(value, str) else _text(value), kind, most)


def _cell(text: str, kind: Kind, most: int | None) -> Cell:
    if most is None or len(text) <= most:
        return Cell(text, kind)
    return Cell(f"{text[: max(most - 1, 0)]}…", kind, cut=True)


def _text(value: Any) -> str:
    """Format a value that isn't a text; texts inside it are quoted."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            return harmless(json.dumps(value, ensure_ascii=False))
        case bytes():
            return value.hex()
        case Record():
            return f"{{{', '.join(f'{harmless(name)}: {_text(item)}' for name, item in value.fields)}}}"
        case Pairs():
            return f"{{{', '.join(f'{_text(key)} → {_text(item)}' for key, item in value.pairs)}}}"
        case list():
            return f"[{', '.join(map(_text, value))}]"
        case _:
            return str(plain(value))


def harmless(text: str) -> str:
    """Escape invisible characters, and those that change how others are displayed."""
    if text.isprintable():
        return text
    return "".join(character if _seen(character) else _escape(character) for character in text)


def _seen(character: str) -> bool:
    return character.isprintable() or character in _JOINERS or unicodedata.category(character) == "Zs"


def _escape(character: str) -> str:
    return _LINE_BREAKS.get(character) or character.encode("unicode_escape", "surrogatepass").decode("ascii")
