"""The rows of a command: a table for people, or a format for programs, on standard output or in a file."""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from pyspark_substrait.cli.files import counted, printing_warnings
from pyspark_substrait.cli.options import Session, with_options
from pyspark_substrait.cli.output import print_text, to_terminal, write_bytes, write_text

if TYPE_CHECKING:
    import pyarrow as pa

    from pyspark_substrait.documents import ExtendedExpression, Plan
    from pyspark_substrait.spark.results import FileFormat

__all__ = ["Form", "Rows", "with_rows"]

Form = Literal["table", "json", "csv", "markdown", "arrow", "parquet"]

_DEFAULT_LIMIT = 50
_NAMES_SAID = 8

with_rows = with_options(
    click.option(
        "--limit",
        metavar="N",
        type=click.IntRange(min=0),
        help="The maximum number of rows; by default 50 for a table.",
    ),
    click.option(
        "--format",
        "form",
        type=click.Choice(["table", "json", "csv", "markdown", "arrow", "parquet"]),
        help="The format of the rows; by default that of the suffix of --output, or else a table. JSON is one object "
        "per line; on standard output, Arrow is a stream.",
    ),
    click.option(
        "-o",
        "--output",
        metavar="FILE",
        type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
        help="Write all rows to this file, completely or not at all.",
    ),
    click.option("--types", is_flag=True, help="For a table: also show the Arrow type of each column."),
    click.option(
        "--width",
        metavar="N",
        type=click.IntRange(min=20),
        help="The maximum width of a table; by default that of the terminal, or without one, unlimited.",
    ),
    click.option("--all", "whole", is_flag=True, help="For a table: show all columns, and long texts in full."),
)
"""``limit``, ``form``, ``output``, ``types``, ``width`` and ``whole``: the fields of :class:`Rows`."""


@dataclass(frozen=True, kw_only=True)
class Rows:
    """The number of rows, the output and its format, from the options."""

    limit: int | None
    form: Form | None
    output: Path | None
    types: bool
    width: int | None
    whole: bool

    def __post_init__(self) -> None:
        if self._file_format is None:
            if self._file is not None:
                raise click.UsageError("a table cannot be written to a file; --format markdown can")
            return
        if self.types or self.whole or self.width is not None:
            raise click.UsageError("--types, --width and --all need the format table")
        if self._file is None and self._file_format in ("arrow", "parquet") and to_terminal():
            raise click.UsageError(
                f"{self._file_format} cannot be shown on a terminal; add --output FILE, or redirect the output"
            )

    @property
    def _file(self) -> Path | None:
        """The output file; None for standard output."""
        return None if self.output is None or str(self.output) == "-" else self.output

    @property
    def _file_format(self) -> FileFormat | None:
        """The format for programs; None for a table."""
        if self.form is not None:
            return None if self.form == "table" else self.form
        return None if self._file is None else _by_suffix(self._file)

    def show(
        self,
        session: Session,
        query: Callable[[Any, int | None, bool], pa.Table | pa.RecordBatchReader],
        done: Sequence[str] = (),
        reads: Sequence[str] = (),
        loaded: Plan | ExtendedExpression | None = None,
    ) -> None:
        """Print or write the rows of a query, which gets a session, the number of rows, and whether a reader will do.

        Args:
            session: where the query runs.
            query: computes the rows.
            done: the changes that it makes, which are reported afterwards.
            reads, loaded: the files that it may read, and its plan, which say whether it takes only seconds.
        """
        form = self._file_format
        spark = session.start(reads, loaded)
        shown = _DEFAULT_LIMIT if self.limit is None else self.limit
        with printing_warnings():
            # one more row than is printed shows whether there are more
            rows = query(spark, shown + 1 if form is None else self.limit, self._file is not None)
        names = rows.schema.names
        for line in done:
            print_text(f"done: {line}", err=bool(names) or form is not None)
        if done and not names:
            return
        from pyspark_substrait.spark import results

        if self._file is not None and form is not None:
            with printing_warnings(), rows.to_reader() if hasattr(rows, "to_reader") else rows as reader:
                count = results.write_file(reader, self._file, form)
            print_text(f"{counted(count, 'row')} written to {self._file}", err=True)
            return
        if form is None:
            self._print(rows, shown)
            return
        content = io.BytesIO()  # so that nothing is written if the format can't hold the rows
        results.write(rows, content, form)
        if form in results.BINARY:
            write_bytes(content.getvalue(), form)
        elif to_terminal():
            write_text(content.getvalue().decode(), nl=False)
        else:
            sys.stdout.buffer.write(content.getvalue())

    def _print(self, rows: pa.Table, shown: int) -> None:
        """Print the first rows as a table, and a note on what isn't in it."""
        from rich.console import Console

        from pyspark_substrait.spark.results import as_table

        width = self.width
        if width is None and to_terminal():
            width = shutil.get_terminal_size().columns
        found = as_table(rows.slice(0, shown), types=self.types, width=width, whole=self.whole)
        if rows.num_columns:
            Console(width=_ENDLESS).print(found.table, crop=False)
        for line in _notes(rows, shown, found.left_out, found.cut):
            print_text(line, err=True)


#: The width of a console that wraps nothing, as the table has its widths already.
_ENDLESS = 1_000_000


def _notes(rows: pa.Table, shown: int, left_out: Sequence[str], cut: int) -> list[str]:
    """Return the notes below a table."""
    notes = []
    if left_out:
        names = ", ".join(left_out[:_NAMES_SAID]) + (", …" if len(left_out) > _NAMES_SAID else "")
        notes.append(f"… {counted(len(left_out), 'more column')}: {names}; --all or --width N shows more")
    if cut:
        notes.append(f"… {counted(cut, 'long text')} cut; --all shows all of it")
    of_none = "" if rows.num_columns else " of no columns"
    if rows.num_rows > shown:
        notes.append(
            f"… {counted(shown, 'row')} shown of more{of_none}; --limit N shows more, --output FILE writes all"
        )
    else:
        notes.append(f"{counted(rows.num_rows, 'row')}{of_none}")
    return notes


def _by_suffix(output: Path) -> FileFormat:
    from pyspark_substrait.spark.results.writing import SUFFIXES

    form = SUFFIXES.get(output.suffix.lower())
    if form is None:
        raise click.UsageError(f"the suffix of {output} is unknown; add --format parquet, arrow, csv, json or markdown")
    return form
