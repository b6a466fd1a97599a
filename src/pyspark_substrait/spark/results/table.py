"""Format rows as an aligned table for a terminal of a given width."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from pyspark_substrait.spark.results.cells import MOST_CHARACTERS, Cell, Kind, cells, harmless

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

__all__ = ["Shown", "as_table"]

_GAP = 2
_WIDEST = 60
_NARROWEST = 16
_MOST_LINES = 5
#: kinds of values that may be folded into several lines
_FOLDED: frozenset[Kind] = frozenset({"text", "binary", "nested"})
_STYLES: dict[Kind, str] = {"null": "dim italic", "number": "cyan", "boolean": "magenta", "time": "green"}


@dataclass(frozen=True)
class Shown:
    """A table, and the parts of the rows that it leaves out.

    Attributes:
        table: the table.
        left_out: the names of columns for which there was no room.
        cut: how many cells are cut.
    """

    table: Table
    left_out: tuple[str, ...]
    cut: int


def as_table(rows: pa.Table, *, types: bool = False, width: int | None = None, whole: bool = False) -> Shown:
    """Format rows as a table: numbers right-aligned, with their decimal points below each other.

    Columns that don't fit are left out, from the right; long texts are folded in their column, and cut after five
    lines or 500 characters.

    Args:
        rows: few enough to look at.
        types: write the Arrow type of each column under its name.
        width: the characters of a line; None for no limit.
        whole: leave nothing out and cut nothing; lines may be longer than ``width`` then.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    header, body = cells(rows, most_characters=None if whole else MOST_CHARACTERS)
    columns = [_aligned([row[position] for row in body]) for position in range(len(header))]
    under = [_type_text(field) if types else "" for field in rows.schema]
    widths = _widths(header, under, columns, None if whole else width)
    if width is not None and not whole:
        columns = [
            [_cut_to(cell, _MOST_LINES * own) for cell in column] for column, own in zip(columns, widths, strict=False)
        ]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, collapse_padding=True)
    for name, type, column_width in zip(header, under, widths, strict=False):
        # numbers are padded here: rich would strip the padding that aligns their decimal points
        title = Text(_isolated(name.text), style="bold", justify="right" if name.kind == "number" else "left")
        if type:
            title.append(f"\n{type}", style="dim not bold")
        table.add_column(title, overflow="fold", width=column_width)
    for position in range(len(body)):
        table.add_row(
            *(
                _text(column[position], own if name.kind == "number" else 0)
                for name, column, own in zip(header, columns, widths, strict=False)
            )
        )
    left_out = tuple(name.text for name in header[len(widths) :])
    return Shown(table, left_out, sum(cell.cut for column in columns[: len(widths)] for cell in column))


def _type_text(field: pa.Field) -> str:
    return harmless(f"{field.type}{'' if field.nullable else ' not null'}")


def _text(cell: Cell, filled: int) -> Text:
    from rich.text import Text

    return Text(_isolated(cell.text).rjust(filled), style=_STYLES.get(cell.kind, ""))


def _isolated(text: str) -> str:
    """Isolate a text, so that right-to-left letters don't reorder the text around it."""
    if text.isascii() or not any(unicodedata.bidirectional(character) in ("R", "AL", "AN") for character in text):
        return text
    return f"\u2068{text}\u2069"  # "first strong isolate" and its end


def _aligned(column: Sequence[Cell]) -> list[Cell]:
    """Pad the numbers of a column on the right, so that their decimal points align."""
    places = [_places(cell) for cell in column]
    most = max(places, default=0)
    return [
        Cell(cell.text + " " * (most - own), cell.kind, cell.cut) if own < most and cell.kind == "number" else cell
        for cell, own in zip(column, places, strict=True)
    ]


def _places(cell: Cell) -> int:
    """The number of characters from the decimal point to the end; 0 without a point."""
    if cell.kind != "number":
        return 0
    point = cell.text.find(".")
    return 0 if point < 0 else len(cell.text) - point


def _cut_to(cell: Cell, most: int) -> Cell:
    return cell if len(cell.text) <= most else Cell(f"{cell.text[: most - 1]}…", cell.kind, cut=True)


def _length(texts: Iterable[str]) -> int:
    """The display width of the longest text; at least one character."""
    from rich.cells import cell_len

    return max(map(cell_len, texts), default=1) or 1


def _widths(
    header: Sequence[Cell], under: Sequence[str], columns: Sequence[Sequence[Cell]], width: int | None
) -> list[int]:
    """The widths of the columns that fit: at least one."""
    contents = [_length(cell.text for cell in column) for column in columns]
    natural = [
        max(_length([name.text, type]), content) for name, type, content in zip(header, under, contents, strict=True)
    ]
    if width is None:
        return natural
    taken: list[int] = []
    for name, own, content in zip(header, natural, contents, strict=True):
        folded = min(own, _NARROWEST)
        least = min(folded if name.kind in _FOLDED else max(folded, content), width)
        if taken and sum(taken) + least + _GAP * len(taken) > width:
            break
        taken.append(least)
    left = width - sum(taken) - _GAP * (len(taken) - 1)
    # the remaining width goes to all columns evenly, and at last to those wider than the usual maximum
    for most in (_WIDEST, width):
        while left and (narrow := [i for i, own in enumerate(taken) if own < min(natural[i], most)]):
            for i in narrow[:left]:
                taken[i] += 1
            left -= len(narrow[:left])
    return taken
