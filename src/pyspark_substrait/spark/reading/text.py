"""Read files of delimited text.

Spark's own CSV reader isn't used: it silently skips lines of only blanks or tabs, reads empty values as null, accepts
unclosed quotes, and supports escapes only inside quotes. Instead, Spark's text reader reads the lines, and Spark
expressions split them (``text_lines``, ``text_fields``).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark_substrait.errors import TableError, UnsupportedPlanError, at
from pyspark_substrait.model.relations import DelimiterSeparatedTextReadOptions
from pyspark_substrait.model.types import FixedChar, NamedStruct, String, Type, VarChar, concrete
from pyspark_substrait.spark.access import Access
from pyspark_substrait.spark.compatibility import session_version
from pyspark_substrait.spark.reading.file_slices import FileSlice, named
from pyspark_substrait.spark.reading.text_fields import Syntax, syntax
from pyspark_substrait.spark.reading.text_lines import Lines
from pyspark_substrait.spark.session import session_with, spark_errors
from pyspark_substrait.spark.tables import Table
from pyspark_substrait.sql.compiler.casts import cast
from pyspark_substrait.sql.compiler.names import quoted
from pyspark_substrait.sql.compiler.types import SETTINGS, TIME_SETTINGS, has_time
from pyspark_substrait.sql.fragment import atom
from pyspark_substrait.sql.functions.builtins_since import has_builtin
from pyspark_substrait.sql.spark_version import SparkVersion

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["text_table"]

_SHOWN = 80
#: the largest valid block size in a file in Hadoop's own format of LZ4 and Snappy
_LARGEST_BLOCK = 1 << 26


def text_table(
    pieces: Sequence[FileSlice],
    options: DelimiterSeparatedTextReadOptions,
    schema: NamedStruct,
    access: Access,
    spark: SparkSession,
) -> Table:
    """Read the records in files of delimited text; the fields of a line are the columns of the schema, in order.

    Values are text. If the column has another type, they are converted like in a ``Cast``.

    Raises:
        InvalidPlanError: the options contradict themselves.
        TableError: there is no such file.
        UnsupportedPlanError: Spark can't decompress a file, or there is no cast to a type.
    """
    with at("text"):
        marks = syntax(options)
    for piece in pieces:
        _check_readable(piece.path, access)
    types = schema.struct.types
    own = session_with(spark, {**SETTINGS, **(TIME_SETTINGS if any(map(has_time, types)) else {})})
    lines = Lines(own, access, marks, options.header_lines_to_skip, options.max_line_size)
    try:
        records = lines.records(pieces)
        frame = _typed(_columns(records, marks, options.value_treated_as_null, len(types)), schema)
        frame.schema  # noqa: B018 - Connect lists the files only now
    except spark_errors() as error:
        reason = str(error).strip().split("\n", 1)[0]
        raise TableError(f"{named(pieces)} cannot be read: {reason}") from error
    without_nulls = frozenset(schema.top_level_names()) if options.value_treated_as_null is None else frozenset()
    return Table(frame, without_nulls)


def _columns(records: DataFrame, marks: Syntax, marker: str | None, width: int) -> DataFrame:
    """Return the values of the records as text, in columns ``c0``, ``c1``, …"""
    if width != 1:
        # an empty line has no fields; in a single column, it is an empty value
        records = records.where("text <> ''")
    split = records.selectExpr("file", "text", f"{marks.split('text')} AS parts")
    checked = split.selectExpr(f"{_checked(marks, width, session_version(records.sparkSession))} AS parts")
    values = []
    for position in range(width):
        part = f"parts[{position}]"
        value = marks.value(part)
        if marker is not None:
            value = f"if({marks.is_null(part, marker)}, NULL, {value})"
        values.append(f"{value} AS c{position}")
    return checked.selectExpr(*values)


def _checked(marks: Syntax, width: int, version: SparkVersion) -> str:
    """Return the expression for the fields of a line, with an error if their number isn't that of the schema."""
    shown = f"concat('the file ', file, %s, ': ', left(text, {_SHOWN}))"
    garbled = (
        "raise_error(concat('the file ', file, "
        "' is not UTF-8 text; the name of a compressed file needs a suffix like .gz'))"
    )
    broken = shown % "' has a line whose quotes, escapes or line break are wrong'"
    uneven = shown % f"concat(' has a line of ', array_size(parts), ' fields, and not {width}')"
    stored = "CAST(text AS BINARY)"
    # decode puts another character in the place of wrong bytes before 4.0, which has is_valid_utf8
    is_text = f"encode(decode({stored}, 'UTF-8'), 'UTF-8') = {stored}"
    if has_builtin("is_valid_utf8", version):
        is_text = "is_valid_utf8(text)"
    return (
        f"CASE WHEN NOT {is_text} THEN CAST({garbled} AS ARRAY<STRING>)"
        f" WHEN NOT {marks.is_whole('parts', 'text')} THEN CAST(raise_error({broken}) AS ARRAY<STRING>)"
        f" WHEN array_size(parts) <> {width} THEN CAST(raise_error({uneven}) AS ARRAY<STRING>) ELSE parts END"
    )


def _typed(values: DataFrame, schema: NamedStruct) -> DataFrame:
    columns = []
    for position, (name, type) in enumerate(zip(schema.top_level_names(), schema.struct.types, strict=True)):
        columns.append(f"{_converted(f'c{position}', name, type)} AS {quoted(name)}")
    return values.selectExpr(*columns)


def _converted(text: str, name: str, type: Type) -> str:
    """Convert a text to a type. The length of text is checked as for every table."""
    if isinstance(concrete(type), String | VarChar | FixedChar):
        return text
    try:
        return cast(atom(text), String(), type)
    except UnsupportedPlanError as error:
        raise UnsupportedPlanError(
            f"the column {name} is {type}, which text is not cast to", hint="Read it as a string"
        ) from error


def _check_readable(path: str, access: Access) -> None:
    if path.endswith((".lz4", ".snappy")) and not _is_of_hadoop(path, access):
        raise UnsupportedPlanError(
            f"{path} cannot be decompressed: Spark reads LZ4 and Snappy only in the form that Hadoop writes",
            hint="Compress text with gzip, bzip2 or Zstandard",
        )


def _is_of_hadoop(path: str, access: Access) -> bool:
    """Whether a file begins with two valid block lengths: for others, Spark would allocate gigabytes and crash."""
    if not path.startswith("/"):
        return False
    try:
        with access.opened(path) as descriptor:
            begin = os.read(descriptor, 8)
    except OSError:
        return False
    lengths = int.from_bytes(begin[:4], "big"), int.from_bytes(begin[4:], "big")
    return max(lengths) <= _LARGEST_BLOCK
