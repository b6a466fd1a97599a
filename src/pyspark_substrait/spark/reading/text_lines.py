"""Read the lines of text files, and form records: without headers, only those of slices, with quoted line breaks.

Spark reads the parts of a file in parallel, and doesn't number lines. If the position of a line in a file matters, the
lines of a file are sorted by the start of Spark's part of the file and the row's number in it, and a window over that
order counts lines, bytes and quotes. This works for files larger than the memory, but with one task for each file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from pyspark_substrait.spark.access import Access
from pyspark_substrait.spark.reading.file_slices import FileSlice
from pyspark_substrait.spark.reading.guarded_scans import guarded_scan
from pyspark_substrait.spark.reading.text_fields import Syntax
from pyspark_substrait.spark.session import spark_errors

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Lines"]

#: the suffixes of files that Spark decompresses
_COMPRESSED = (".gz", ".bz2", ".deflate", ".zst", ".lz4", ".snappy")

_LARGEST = (1 << 63) - 1
#: up to this many files are read one by one if that saves sorting their lines
_MOST_SINGLE_FILES = 16
_IN_ORDER = "PARTITION BY file ORDER BY block, id"


@dataclass(frozen=True, slots=True)
class Lines:
    """Forms records from the lines of files.

    Args:
        spark: the session.
        access: the files that the plan may name.
        syntax: the syntax, for its quotes.
        header: the number of header lines at the beginning of each file.
        limit: the most bytes of a line; 0 for no limit.
    """

    spark: SparkSession
    access: Access
    syntax: Syntax
    header: int
    limit: int

    def records(self, pieces: Sequence[FileSlice]) -> DataFrame:
        """Return the records, unordered: ``file`` is a record's file, ``text`` its text without the final line break.

        A record is a line, or several lines joined by quoted line breaks.
        """
        joined = self._are_joined([piece.spark_path for piece in pieces])
        slices: dict[str, list[FileSlice]] = {}
        whole: list[str] = []
        for piece in pieces:
            if piece.is_whole:
                whole.append(piece.spark_path)
            else:
                slices.setdefault(piece.spark_path, []).append(piece)
        frames = [self._of_files(paths, joined) for paths in _apart(whole)]
        frames += [self._of_slices(path, of_file, joined) for path, of_file in slices.items()]
        return reduce(lambda one, other: one.unionAll(other), frames).selectExpr("file", f"{_ended('text')} AS text")

    def _are_joined(self, paths: Sequence[str]) -> bool:
        """Whether some line has an odd number of quotes, so that it may end inside quotes."""
        if not self.syntax.quote:
            return False
        odd = self._read(list(dict.fromkeys(paths))).where(f"{self.syntax.quotes('value')} % 2 = 1")
        try:
            return bool(odd.limit(1).collect())
        except spark_errors():
            # the file is missing or damaged: Spark reports it again when the records are read
            return False

    def _read(self, paths: Sequence[str]) -> DataFrame:
        return guarded_scan(self.spark.read.text(list(paths), lineSep="\n"), self.access, self.spark)

    def _of_files(self, paths: Sequence[str], joined: bool) -> DataFrame:
        if joined or self.header > 1 or (self.header and len(paths) > _MOST_SINGLE_FILES):
            lines = self._in_order(self._read(paths))
            return (self._joined(lines) if joined else lines).selectExpr("file", "text")
        if self.header:
            frames = [self._without_first(path) for path in paths]
            return reduce(lambda one, other: one.unionAll(other), frames)
        rows = self._read(paths).selectExpr("value", "_metadata.file_path AS file")
        return rows.selectExpr("file", f"{self._within_limit('value')} AS text")

    def _without_first(self, path: str) -> DataFrame:
        # of a single file, Spark reads the part with the first line first, because no other part is longer
        rows = self._read([path]).selectExpr("*", "_metadata.file_path AS file", "monotonically_increasing_id() AS id")
        return rows.where("id > 0").selectExpr("file", f"{self._within_limit('value')} AS text")

    def _in_order(self, read: DataFrame) -> DataFrame:
        """Return the lines with their positions: ``behind`` is the number of bytes up to and with its line feed.

        ``total`` is that of the last line. Both exclude a byte order mark, which Spark removes.
        """
        rows = read.selectExpr(
            "value AS text",
            "octet_length(value) + 1L AS bytes",
            "_metadata.file_path AS file",
            "_metadata.file_size AS size",
            "_metadata.file_block_start AS block",
            "monotonically_increasing_id() AS id",
        )
        counted = rows.selectExpr(
            *("file", "block", "id", "text", "bytes", "size"),
            f"count(1) OVER ({_IN_ORDER} ROWS UNBOUNDED PRECEDING) AS number",
            f"sum(bytes) OVER ({_IN_ORDER} ROWS UNBOUNDED PRECEDING) AS behind",
            "sum(bytes) OVER (PARTITION BY file) AS total",
        )
        kept = counted.where(f"number > {min(self.header, _LARGEST)}L")
        return kept.selectExpr(
            "file", "block", "id", f"{self._within_limit('text')} AS text", "bytes", "behind", "total", "size"
        )

    def _joined(self, lines: DataFrame) -> DataFrame:
        """Join lines to records: a record begins with each line that has an even number of quotes before it."""
        quotes = self.syntax.quotes("text")
        so_far = f"OVER ({_IN_ORDER} ROWS UNBOUNDED PRECEDING)"
        counted = lines.selectExpr("*", f"sum({quotes}) {so_far} - {quotes} AS quotes")
        numbered = counted.selectExpr(
            *("file", "bytes", "behind", "total", "size"),
            f"count_if(quotes % 2 = 0) {so_far} AS record",
            "named_struct('block', block, 'id', id, 'text', text) AS line",
        )
        grouped = numbered.groupBy("file", "total", "size", "record").agg(
            {"line": "collect_list", "bytes": "sum", "behind": "max"}
        )
        return grouped.selectExpr(
            *("file", "total", "size"),
            r"array_join(transform(array_sort(`collect_list(line)`), x -> x.text), '\n') AS text",
            "`sum(bytes)` AS bytes",
            "`max(behind)` AS behind",
        )

    def _of_slices(self, path: str, slices: Sequence[FileSlice], joined: bool) -> DataFrame:
        """Return the records of a file whose middle byte is in a slice, once for each such slice."""
        lines = self._in_order(self._read([path]))
        records = self._joined(lines) if joined else lines
        if path.endswith(_COMPRESSED):
            middle = "size DIV 2"
        else:
            # a file without a final line feed is one byte shorter than its lines; a byte order mark has three bytes
            last = "if(size - total IN (-1L, 2L), 1L, 0L)"
            length = f"(bytes - if(behind = total, {last}, 0L))"
            begin = "(behind - bytes + if(size - total IN (2L, 3L), 3L, 0L))"
            middle = f"{begin} + {length} DIV 2"
        places = records.selectExpr("file", "text", f"{middle} AS middle")
        bounds = ", ".join(
            f"named_struct('first', {min(piece.start, _LARGEST)}L, 'behind', {_behind(piece)}L)" for piece in slices
        )
        within = f"filter(array({bounds}), s -> middle >= s.first AND middle < s.behind)"
        return places.selectExpr("file", "text", f"explode({within})").selectExpr("file", "text")

    def _within_limit(self, line: str) -> str:
        if not self.limit:
            return line
        error = f"raise_error(concat('the file ', file, ' has a line of more than {self.limit} bytes'))"
        return f"if(octet_length({_ended(line)}) > {min(self.limit, _LARGEST)}L, CAST({error} AS STRING), {line})"


def _behind(piece: FileSlice) -> int:
    return _LARGEST if piece.length is None else min(piece.start + piece.length, _LARGEST)


def _ended(text: str) -> str:
    """Return the expression for a line without the carriage return at its end."""
    return rf"if(endswith({text}, '\r'), left({text}, char_length({text}) - 1), {text})"


def _apart(paths: Sequence[str]) -> list[list[str]]:
    """Split paths into lists without duplicates."""
    rounds: list[dict[str, None]] = []
    for path in paths:
        free = next((known for known in rounds if path not in known), None)
        if free is None:
            rounds.append(free := {})
        free[path] = None
    return [list(known) for known in rounds]
