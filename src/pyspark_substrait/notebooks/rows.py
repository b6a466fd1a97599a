"""The output for rows: a table of the first ones."""

from __future__ import annotations

from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING

from pyspark_substrait.notebooks.markup import markup
from pyspark_substrait.spark.results import as_table, cells
from pyspark_substrait.text.explain.literals import counted
from pyspark_substrait.text.notebook_output import NotebookOutput

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Rows", "rows_html", "rows_text"]

_MOST_ROWS = 50
_MOST_COLUMNS = 60
_WIDTH = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows(NotebookOutput):
    """Rows as the output of a cell.

    Args:
        table: the rows.
        cut: whether there are more rows than the limit.
        name: the variable that holds them; empty for none.
    """

    table: pa.Table
    cut: bool = False
    name: str = ""

    @classmethod
    def limited(cls, rows: pa.Table, limit: int | None, name: str = "") -> Rows:
        """Return rows of which one more than the limit was computed, without that one."""
        if limit is None or rows.num_rows <= limit:
            return cls(table=rows, name=name)
        return cls(table=rows.slice(0, limit), cut=True, name=name)

    @property
    def caption(self) -> str:
        """The number of rows, the number that is shown, and the variable that holds them."""
        count = counted(self.table.num_rows, "row")
        parts = [f"the first {count}; --limit all computes all" if self.cut else count]
        parts.extend([f"{_MOST_ROWS} shown"] if self.table.num_rows > _MOST_ROWS else [])
        parts.extend([f"in {self.name}"] if self.name else [])
        return ", ".join(parts)


def rows_html(rows: pa.Table, caption: str = "") -> str:
    """Return the HTML of rows: a table of the first ones, with the cells written as on a terminal.

    Args:
        rows: the rows.
        caption: the text below the table.
    """
    header, body = cells(rows.select(range(min(rows.num_columns, _MOST_COLUMNS))), limit=_MOST_ROWS)
    return markup("rows", header=header, rows=body, caption=caption, more=max(rows.num_columns - _MOST_COLUMNS, 0))


def rows_text(rows: pa.Table, caption: str = "") -> str:
    """Return the same as text."""
    from rich.console import Console

    shown, text = as_table(rows.slice(0, _MOST_ROWS), width=_WIDTH), StringIO()
    Console(file=text, width=_WIDTH, color_system=None, force_terminal=False, force_jupyter=False).print(shown.table)
    left_out = f"; without the columns {', '.join(shown.left_out)}" if shown.left_out else ""
    return f"{text.getvalue().rstrip()}\n{caption}{left_out}"
