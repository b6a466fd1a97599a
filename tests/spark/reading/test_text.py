"""Delimited text: every option, against Python's csv module, DuckDB and values worked out by hand."""

from __future__ import annotations

import bz2
import csv
import datetime
import gzip
import io
import random
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal as D
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pytest

from pyspark_substrait.errors import ExecutionError, InvalidPlanError, SubstraitError, TableError, UnsupportedPlanError
from pyspark_substrait.model.relations import FileOrFiles
from pyspark_substrait.model.types import (
    Boolean,
    Date,
    Decimal,
    FixedChar,
    List,
    PrecisionTime,
    PrecisionTimestamp,
    Type,
    VarChar,
    with_nullability,
)
from pyspark_substrait.spark.compatibility import session_version
from tests.agreement import assert_same_rows
from tests.spark.plans import BOOL_, INT, INT_, LONG, REAL, TEXT, TEXT_, call, col, rows, run, text
from tests.spark.reading.file_reads import read
from tests.spark.reading.text_files import RFC, text_item

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.sweep(sample=0.15)

NAMES = "abcdefgh"


def columns(*types: Type) -> dict[str, Type]:
    return dict(zip(NAMES, types, strict=False))


def found(
    spark: SparkSession, items: FileOrFiles | Sequence[FileOrFiles], width: int | dict[str, Type], **more: Any
) -> list[tuple[Any, ...]]:
    """The records of the items, in an order of their own; a width is that of strings that may be null."""
    items = [items] if isinstance(items, FileOrFiles) else items
    wanted = width if isinstance(width, dict) else columns(*[TEXT_] * width)
    node = read(wanted, *items, **more)
    return sorted(rows(spark, node, allowed_paths=[Path(item.path).parent for item in items]), key=repr)


def failure(spark: SparkSession, *arguments: Any) -> str:
    with pytest.raises(ExecutionError) as caught:
        found(spark, *arguments)
    return str(caught.value)


# fields --------------------------------------------------------------------------------------------------------------


def test_delimiters(spark: SparkSession, tmp_path: Path) -> None:
    delimiters = [",", "\t", "||", "\x01", "→", ".*", "[", "\\", "^", " ", "a", "$1", "😀", "\\E", "{x}"]
    content = {mark: [["1", "2!3", ""], ["", "é\"'", "b%b"], ["", "", ""]] for mark in delimiters}
    items, expected = [], []
    for number, (mark, table) in enumerate(content.items()):
        lines = [mark.join([str(number), *row]) for row in table]
        items.append(text_item(tmp_path / f"{number}.csv", "\n".join(lines), field_delimiter=mark))
        expected += [tuple(line.split(mark)) for line in lines]
    assert found(spark, items, 4) == sorted(expected, key=repr)


def dialects() -> Iterator[tuple[dict[str, Any], dict[str, str], str]]:
    """How csv.writer writes, the same as options of a plan, and characters for values."""
    alphabet = "ab \"'\\,;|\t\n\r→é😀0N"
    for quote, end, delimiter in (('"', "\n", ","), ('"', "\r\n", "→"), ("'", "\n", "|")):
        how = {"quotechar": quote, "delimiter": delimiter, "lineterminator": end}
        options = {"quote": quote, "field_delimiter": delimiter}
        # what has a carriage return isn't in quotes by all releases
        yield {**how, "quoting": csv.QUOTE_MINIMAL}, {**options, "escape": quote}, alphabet.replace("\r", "")
        yield {**how, "quoting": csv.QUOTE_ALL}, {**options, "escape": quote}, alphabet
        backslash = {**how, "doublequote": False, "escapechar": "\\", "quoting": csv.QUOTE_ALL}
        yield backslash, {**options, "escape": "\\"}, alphabet
        unquoted = {**backslash, "quoting": csv.QUOTE_NONE, "quotechar": None}
        yield unquoted, {**options, "escape": "\\", "quote": ""}, alphabet.replace("\n", "").replace("\r", "")


def test_what_the_csv_module_writes(spark: SparkSession, tmp_path: Path) -> None:
    chance = random.Random(5)
    items, expected = [], []
    for number, (how, options, alphabet) in enumerate(dialects()):
        table = [
            (str(number), *("".join(chance.choices(alphabet, k=chance.choice((0, 1, 2, 7)))) for _ in range(3)))
            for _ in range(12)
        ]
        stream = io.StringIO(newline="")
        csv.writer(stream, **how).writerows(table)
        items.append(text_item(tmp_path / f"{number}.csv", stream.getvalue(), **options))
        expected += table
    assert found(spark, items, 4) == sorted(expected, key=repr)


def test_quotes_of_several_characters(spark: SparkSession, tmp_path: Path) -> None:
    items = [
        text_item(tmp_path / "1", "''1,\nb'',''''''''\n''2'',c\n", quote="''", escape="''"),
        text_item(tmp_path / "2", "<>3||<<>||<>\\<>\n<>\n", field_delimiter="||", quote="<>", escape="\\"),
        text_item(tmp_path / "3", "%4,b%,c\n", quote="%"),
    ]
    assert found(spark, items, 2) == [("1,\nb", "''"), ("2", "c"), ("3||<", "<>\n"), ("4,b", "c")]


def test_what_stands_for_null(spark: SparkSession, tmp_path: Path) -> None:
    content = '1,,""\n2,NA,"NA"\n3, NA,NAN\n4,na,"N""A"\n'
    path = tmp_path / "a.csv"
    as_it_is = [("1", "", ""), ("2", "NA", "NA"), ("3", " NA", "NAN"), ("4", "na", 'N"A')]
    assert found(spark, text_item(path, content, **RFC), 3) == as_it_is
    empty = [("1", None, None), *as_it_is[1:]]
    assert found(spark, text_item(path, value_treated_as_null="", **RFC), 3) == empty
    not_available = [as_it_is[0], ("2", None, None), *as_it_is[2:]]
    assert found(spark, text_item(path, value_treated_as_null="NA", **RFC), 3) == not_available
    quote_inside = [*as_it_is[:3], ("4", "na", None)]
    assert found(spark, text_item(path, value_treated_as_null='N"A', **RFC), 3) == quote_inside
    options = "header=false, all_varchar=true, quote='\"', escape='\"', nullstr='NA', strict_mode=false"
    assert sorted(duckdb.execute(f"FROM read_csv('{path}', {options})").fetchall()) == sorted(not_available)


def test_null_is_what_is_written(spark: SparkSession, tmp_path: Path) -> None:
    """As in PostgreSQL's COPY, an escape in front of the null value makes it a value."""
    item = text_item(
        tmp_path / "a", "1\t\\N\n2\t\\\\N\n3\tN\n", field_delimiter="\t", escape="\\", value_treated_as_null="\\N"
    )
    assert found(spark, item, 2) == [("1", None), ("2", "\\N"), ("3", "N")]


def test_types(spark: SparkSession, tmp_path: Path) -> None:
    """Values are text; a schema with other types has them cast."""
    types: list[Type] = [
        INT,
        LONG,
        REAL,
        Boolean(),
        Decimal(precision=5, scale=2),
        Date(),
        PrecisionTimestamp(precision=6),
        FixedChar(length=3),
    ]
    content = "1,-2,1e3,true,1.5,2024-02-29,2024-02-29 12:00:00.5,ab\n"
    table = run(spark, read(columns(*types), text_item(tmp_path / "a", content)), allowed_paths=[tmp_path])
    moment = datetime.datetime(2024, 2, 29, 12, 0, 0, 500000)
    values = (1, -2, 1000.0, True, D("1.50"), datetime.date(2024, 2, 29), moment, "ab ")
    assert [tuple(row.values()) for row in table.to_pylist()] == [values]
    assert not any(field.nullable for field in table.schema)
    assert table.schema.types[:4] == [pa.int32(), pa.int64(), pa.float64(), pa.bool_()]
    nullable = columns(INT_, with_nullability(PrecisionTime(precision=0), True))
    item = text_item(tmp_path / "b", ",10:20:30\n7,\n", value_treated_as_null="")
    assert found(spark, item, nullable) == [(7, None), (None, datetime.time(10, 20, 30))]
    assert "CAST_INVALID_INPUT" in failure(spark, text_item(tmp_path / "c", "x,1\n"), columns(INT, TEXT))
    for short in (VarChar(length=2), FixedChar(length=2)):
        error = failure(spark, text_item(tmp_path / "d", "xyz\n"), columns(short))
        assert f"has a value that is not of type {short}" in error
    with pytest.raises(UnsupportedPlanError, match=r"the column a is .*, which text is not cast to"):
        found(spark, text_item(tmp_path / "c"), columns(List(type=TEXT), TEXT))


def test_nullability(spark: SparkSession, tmp_path: Path) -> None:
    item = text_item(tmp_path / "a", "1,x\n,y\n")
    table = run(spark, read(columns(TEXT, TEXT_), item), allowed_paths=[tmp_path])
    assert [field.nullable for field in table.schema] == [False, True]
    with_null = text_item(tmp_path / "a", value_treated_as_null="")
    assert "is null, but the plan says it never is" in failure(spark, with_null, columns(TEXT, TEXT_))


def test_filters_and_projections(spark: SparkSession, tmp_path: Path) -> None:
    item = text_item(tmp_path / "a", "1,x,true\n2,y,false\n3,y,true\n")
    node = read(columns(INT, TEXT, BOOL_), item)
    wanted = call("equal", col(node, 1), text("y"))
    assert found(spark, item, columns(INT, TEXT, BOOL_), filter=wanted) == [
        (2, "y", False),
        (3, "y", True),
    ]


# lines ---------------------------------------------------------------------------------------------------------------


def test_ends_of_lines(spark: SparkSession, tmp_path: Path) -> None:
    items = [
        text_item(tmp_path / "1", b"\xef\xbb\xbf1,a\r\n1,b\n\n\r\n1, \r\n1,c"),
        text_item(tmp_path / "2", b'2,"a\r\nb"\r\n2,"\n"\n2,"c\rd"\n\n\n', **RFC),
        text_item(tmp_path / "3", b"\t\n3\t\n", field_delimiter="\t"),
        text_item(tmp_path / "4", b""),
        text_item(tmp_path / "5", b"\n\n"),
    ]
    assert found(spark, items, 2) == sorted(
        [
            ("1", "a"),
            ("1", "b"),
            ("1", " "),
            ("1", "c"),
            ("2", "a\r\nb"),
            ("2", "\n"),
            ("2", "c\rd"),
            ("", ""),
            ("3", ""),
        ],
        key=repr,
    )


def test_an_empty_line_is_a_value_where_there_is_one_column(spark: SparkSession, tmp_path: Path) -> None:
    assert found(spark, text_item(tmp_path / "a", "a\n\n \r\n\r\nb"), 1) == [(" ",), ("",), ("",), ("a",), ("b",)]


def test_header_lines(spark: SparkSession, tmp_path: Path) -> None:
    lines = [f"{number},x" for number in range(5)]
    (tmp_path / "a").write_text("\n".join(lines))
    (tmp_path / "b").write_text('"h\n' + "\n".join(lines) + '\n9,"\n"\n')
    with gzip.open(tmp_path / "c.gz", "wt") as file:
        file.write("\n".join(lines))
    for count in (0, 1, 4, 2**64 - 1):
        expected = sorted([(line[0], "x") for line in lines[count:]] * 3)
        items = [text_item(tmp_path / name, header_lines_to_skip=count) for name in ("a", "a", "c.gz")]
        assert found(spark, items, 2) == expected, count
    quoted = text_item(tmp_path / "b", header_lines_to_skip=2, **RFC)
    assert found(spark, quoted, 2) == [*((line[0], "x") for line in lines[1:]), ("9", "\n")]


def test_headers_of_many_files(spark: SparkSession, tmp_path: Path) -> None:
    items = [text_item(tmp_path / str(n), f"a,b\n{n},1\n{n},2\n", header_lines_to_skip=1) for n in range(20)]
    expected = sorted((str(n), m) for n in range(20) for m in "12")
    assert sorted(found(spark, items, 2)) == expected


@contextmanager
def small_parts(spark: SparkSession) -> Iterator[None]:
    """Spark reads files in parts of a few bytes."""
    settings = {"spark.sql.files.maxPartitionBytes": "64", "spark.sql.files.openCostInBytes": "1"}
    before = {name: spark.conf.get(name) for name in settings}
    try:
        for name, value in settings.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, old in before.items():
            spark.conf.set(name, str(old))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_files_that_spark_reads_in_parts(spark: SparkSession, tmp_path: Path, end: str) -> None:
    table = [(str(number), "é" * (number % 9)) for number in range(60)]
    plain = end.join(",".join(row) for row in table)
    quoted = end.join(f'{number},"{word}{end}"' for number, word in table)
    with small_parts(spark):
        for header in (0, 1, 3):
            item = text_item(tmp_path / "a", plain, header_lines_to_skip=header)
            assert found(spark, item, 2) == sorted(table[header:], key=repr), header
            item = text_item(tmp_path / "b", quoted, header_lines_to_skip=2 * header, **RFC)
            assert found(spark, item, 2) == sorted([(n, word + end) for n, word in table[header:]], key=repr), header


def test_compression(spark: SparkSession, tmp_path: Path) -> None:
    content = b"h,h\n" + b"1,a\n" * 3
    zstd = pa.BufferOutputStream()
    with pa.CompressedOutputStream(zstd, "zstd") as stream:
        stream.write(content)
    packed = {
        "gz": gzip.compress(content[:8]) + gzip.compress(content[8:]),
        "bz2": bz2.compress(content),
        "deflate": zlib.compress(content),
        "zst": zstd.getvalue().to_pybytes(),
    }
    if session_version(spark) < (4, 1):
        del packed["zst"]  # Hadoop's library is built without it
    items = [text_item(tmp_path / f"a.{end}", data, header_lines_to_skip=1) for end, data in packed.items()]
    assert found(spark, items, 2) == [("1", "a")] * 3 * len(packed)
    for codec in ("lz4", "snappy"):
        spark.sql("SELECT '1,a' AS value").write.option("compression", codec).text(str(tmp_path / codec))
        (written,) = (tmp_path / codec).glob(f"*.{codec}")
        assert found(spark, text_item(written), 2) == [("1", "a")]
    frame = pa.BufferOutputStream()
    with pa.CompressedOutputStream(frame, "lz4") as stream:
        stream.write(content)
    with pytest.raises(UnsupportedPlanError, match=r"a\.lz4 cannot be decompressed"):
        found(spark, text_item(tmp_path / "a.lz4", frame.getvalue().to_pybytes()), 2)
    assert "is not UTF-8 text" in failure(spark, text_item(tmp_path / "a", packed["gz"]), 2)


def test_longest_lines(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("a long header\n1,aé\r\n2,\n")
    item = text_item(path, header_lines_to_skip=1, max_line_size=5)
    assert found(spark, item, 2) == [("1", "aé"), ("2", "")]
    too_long = text_item(path, header_lines_to_skip=1, max_line_size=4)
    assert "has a line of more than 4 bytes" in failure(spark, too_long, 2)
    # each line of a value counts by itself
    lines = text_item(tmp_path / "b", '"12345\n12345",1\n', max_line_size=8, **RFC)
    assert found(spark, lines, 2) == [("12345\n12345", "1")]


# what isn't read -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("1,2\n3\n", {}, "has a line of 1 fields, and not 2: 3"),
        ("1,2,3\n", {}, "has a line of 3 fields, and not 2: 1,2,3"),
        ("1,2,\n", {}, "has a line of 3 fields"),
        ('1,"2\n3,4\n', RFC, "quotes, escapes or line break are wrong"),
        ('1,"2" \n', RFC, "quotes, escapes or line break are wrong"),
        ('1,2"\n', RFC, "quotes, escapes or line break are wrong"),
        ('1,2 "" 3\n', RFC, "quotes, escapes or line break are wrong"),
        ('1,"a""b"\n', {"quote": '"'}, "quotes, escapes or line break are wrong"),
        ('1,"a""b"\n', {"quote": '"', "escape": "\\"}, "quotes, escapes or line break are wrong"),
        ("1,2\\\n", {"escape": "\\"}, "quotes, escapes or line break are wrong"),
        ("1,2\r3,4\n", {}, "quotes, escapes or line break are wrong"),
        ("1,2\r3,4\n", RFC, "quotes, escapes or line break are wrong"),
        (b"1,\xff\n", {}, "is not UTF-8 text"),
        (b'1,"\xff"\n', RFC, "is not UTF-8 text"),
        ("1,2\n".encode("utf-16"), {}, "is not UTF-8 text"),
    ],
)
def test_wrong_lines(spark: SparkSession, tmp_path: Path, content: Any, options: dict[str, str], message: str) -> None:
    error = failure(spark, text_item(tmp_path / "wrong.csv", content, **options), 2)
    assert message in error
    assert "wrong.csv" in error


@pytest.mark.parametrize(
    ("options", "error", "path"),
    [
        ({"field_delimiter": ""}, InvalidPlanError, "field_delimiter"),
        ({"field_delimiter": "\n"}, UnsupportedPlanError, "field_delimiter"),
        ({"field_delimiter": ",\r"}, UnsupportedPlanError, "field_delimiter"),
        ({"quote": "\n"}, UnsupportedPlanError, "quote"),
        ({"quote": ","}, InvalidPlanError, "quote"),
        ({"field_delimiter": '","', "quote": '"'}, InvalidPlanError, "quote"),
        ({"escape": "ab"}, InvalidPlanError, "escape"),
        ({"escape": ","}, InvalidPlanError, "escape"),
        ({"quote": "''", "escape": "'"}, InvalidPlanError, "escape"),
    ],
)
def test_contradictions(
    spark: SparkSession, tmp_path: Path, options: dict[str, str], error: type[SubstraitError], path: str
) -> None:
    with pytest.raises(error) as caught:
        found(spark, text_item(tmp_path / "a", "1,2\n", **options), 2)
    assert caught.value.path.endswith(f"local_files.items[0].text.{path}")


@pytest.mark.parametrize("options", [{}, RFC])
def test_a_damaged_file(spark: SparkSession, tmp_path: Path, options: dict[str, str]) -> None:
    cut = text_item(tmp_path / "cut.gz", gzip.compress(b"1,2\n" * 1000)[:-20], **options)
    assert "failed on its data: " in failure(spark, cut, 2)


def test_no_file(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(TableError, match="there is no file"):
        found(spark, text_item(tmp_path / "a"), 2)


def test_duckdb_reads_the_same(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    content = 'id,name,note\n1,"Smith, John","said ""hi"""\n2,Ü,\n3,"two\nlines",x\n4,"",\'\n'
    item = text_item(path, content, header_lines_to_skip=1, **RFC)
    query = f"FROM read_csv('{path}', header=true, all_varchar=true, quote='\"', escape='\"', nullstr='—')"
    mine = run(spark, read(columns(TEXT, TEXT, TEXT), item), allowed_paths=[tmp_path])
    assert_same_rows(mine, duckdb.execute(query).to_arrow_table())
