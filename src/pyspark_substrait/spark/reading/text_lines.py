"""The lines of text files and the records they make: headers left out, slices kept apart, line breaks in quotes kept.

Spark reads lines wherever they are in a file, many at a time, and doesn't number them. Where the place of a line in its
file counts, the lines of a file are put in order by where Spark's part of the file begins and the row's number in it,
and a window over that order counts lines, bytes and quotes. Spark can do that with files larger than the memory, but
with one task for each file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from pyspark_substrait.spark.access import Access
from pyspark_substrait.spark.reading.guarded_scans import guarded_scan
from pyspark_substrait.spark.reading.pieces import Piece
from pyspark_substrait.spark.reading.text_fields import Syntax
from pyspark_substrait.spark.session import spark_errors

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Lines"]

#: how the names of the files end that Spark decompresses
_COMPRESSED = (".gz", ".bz2", ".deflate", ".zst", ".lz4", ".snappy")

_LARGEST = (1 << 63) - 1
#: so many files are read one by one where that saves putting lines in order
_MOST_SINGLE_FILES = 16
_IN_ORDER = "PARTITION BY file ORDER BY block, id"


@dataclass(frozen=True, slots=True)
class Lines:
    """How the lines of some files become records.

    Args:
        spark: the session.
        access: the files that the plan may name.
        syntax: what quotes are.
        header: how many lines at the beginning of each file are no records.
        limit: the most bytes that a line may have; 0 for any number.
    """

    spark: SparkSession
    access: Access
    syntax: Syntax
    header: int
    limit: int

    def records(self, pieces: Sequence[Piece]) -> DataFrame:
        """The records, unordered: ``file`` is a record's file, ``text`` its text without the line break at its end.

        A record is a line, or several with the line breaks in quotes between them.
        """
        joined = self._are_joined([piece.spark_path for piece in pieces])
        slices: dict[str, list[Piece]] = {}
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
        """Whether a line somewhere ends inside quotes, as its quotes tell; where they mislead, a record is an error."""
        if not self.syntax.quote:
            return False
        odd = self._read(list(dict.fromkeys(paths))).where(f"{self.syntax.quotes('value')} % 2 = 1")
        try:
            return bool(odd.limit(1).collect())
        except spark_errors():
            # the file isn't there, or is damaged: Spark says so again where the records are read
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
        # of one file, the part that Spark reads first begins with the first line: there is no longer part
        rows = self._read([path]).selectExpr("*", "_metadata.file_path AS file", "monotonically_increasing_id() AS id")
        return rows.where("id > 0").selectExpr("file", f"{self._within_limit('value')} AS text")

    def _in_order(self, read: DataFrame) -> DataFrame:
        """The lines with their places: ``behind`` is how many bytes there are to the end of one, line feeds included.

        ``total`` is that of the last line. A byte order mark, which Spark leaves out, isn't counted in them.
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
        """Records of lines: one begins with each line that has an even number of quotes before it."""
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

    def _of_slices(self, path: str, slices: Sequence[Piece], joined: bool) -> DataFrame:
        """The records of a file whose middle is in a slice, as often as there are such slices."""
        lines = self._in_order(self._read([path]))
        records = self._joined(lines) if joined else lines
        if path.endswith(_COMPRESSED):
            middle = "size DIV 2"
        else:
            # a file that doesn't end with a line feed is one byte shorter than its lines, a byte order mark has three
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


def _behind(piece: Piece) -> int:
    return _LARGEST if piece.length is None else min(piece.start + piece.length, _LARGEST)


def _ended(text: str) -> str:
    """A line without the carriage return before its line feed."""
    return rf"if(endswith({text}, '\r'), left({text}, char_length({text}) - 1), {text})"


def _apart(paths: Sequence[str]) -> list[list[str]]:
    """The paths, so that none is twice in a list."""
    rounds: list[dict[str, None]] = []
    for path in paths:
        free = next((known for known in rounds if path not in known), None)
        if free is None:
            rounds.append(free := {})
        free[path] = None
    return [list(known) for known in rounds]
