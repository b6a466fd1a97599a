"""Rows as an aligned table for a terminal, as wide as there is room."""

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
#: what may be broken into lines; numbers and times are not
_FOLDED: frozenset[Kind] = frozenset({"text", "binary", "nested"})
_STYLES: dict[Kind, str] = {"null": "dim italic", "number": "cyan", "boolean": "magenta", "time": "green"}


@dataclass(frozen=True)
class Shown:
    """A table, and what of the rows isn't in it.

    Attributes:
        table: the table.
        left_out: the names of columns for which there was no room.
        cut: how many cells are cut.
    """

    table: Table
    left_out: tuple[str, ...]
    cut: int


def as_table(rows: pa.Table, *, types: bool = False, width: int | None = None, whole: bool = False) -> Shown:
    """Rows as a table: numbers right, those with a fraction with their points in one line.

    Columns that don't fit are left out, from the right; long texts are folded in their column, and cut after five
    lines or 500 characters.

    Args:
        rows: few enough to look at.
        types: write the Arrow type of each column under its name.
        width: how many characters there are in a line; None for as many as it takes.
        whole: leave nothing out and cut nothing; lines are then as long as it takes.
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
        # numbers are filled up themselves: rich would take the places away that put their points in one line
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
    """A text in which letters from right to left change the order of nothing around it."""
    if text.isascii() or not any(unicodedata.bidirectional(character) in ("R", "AL", "AN") for character in text):
        return text
    return f"\u2068{text}\u2069"  # "first strong isolate" and its end


def _aligned(column: Sequence[Cell]) -> list[Cell]:
    """The cells of a column; numbers have as many places right of the point as the one with the most."""
    places = [_places(cell) for cell in column]
    most = max(places, default=0)
    return [
        Cell(cell.text + " " * (most - own), cell.kind, cell.cut) if own < most and cell.kind == "number" else cell
        for cell, own in zip(column, places, strict=True)
    ]


def _places(cell: Cell) -> int:
    """The point and what is right of it; all of a number without one is left of it."""
    if cell.kind != "number":
        return 0
    point = cell.text.find(".")
    return 0 if point < 0 else len(cell.text) - point


def _cut_to(cell: Cell, most: int) -> Cell:
    return cell if len(cell.text) <= most else Cell(f"{cell.text[: most - 1]}…", cell.kind, cut=True)


def _length(texts: Iterable[str]) -> int:
    """How much room the longest text takes; a column has one character at least."""
    from rich.cells import cell_len

    return max(map(cell_len, texts), default=1) or 1


def _widths(
    header: Sequence[Cell], under: Sequence[str], columns: Sequence[Sequence[Cell]], width: int | None
) -> list[int]:
    """The widths of the columns for which there is room: at least one."""
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
    # all get some of what is left; at last the texts that are longer than most
    for most in (_WIDEST, width):
        while left and (narrow := [i for i, own in enumerate(taken) if own < min(natural[i], most)]):
            for i in narrow[:left]:
                taken[i] += 1
            left -= len(narrow[:left])
    return taken
