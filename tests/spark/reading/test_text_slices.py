"""Slices of delimited text: a line, or the lines of a value in quotes, is in the slice that has its middle byte."""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from pyspark_substrait.model.relations import FileOrFiles
from tests.spark.plans import TEXT, rows
from tests.spark.reading.file_reads import read
from tests.spark.reading.text_files import RFC, text_item

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MARK = b"\xef\xbb\xbf"
#: files of which every record begins with its number
FILES = [
    b"0,a\n1,b\n2,c\n",
    b"0,a\r\n1,\r\n2,ccccccccccccccccccccccccccccccc\r\n3,d",
    "0,é\n1,😀😀\n2,→".encode(),
    MARK + b"0,a\n1,b\n",
    MARK + b"0,a\n1,b",
    b'0,"a\n\n\n"\n1,"\r\n"\r\n2,b\n\n\n3,"""\n"""',
    MARK + b'0,"\n"\n1,"x\n,y"\n',
    b"\n\n0,a\n\n\r\n1,b\n",
    b"0,a",
]


def spans(content: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Where each record begins and ends in a file: at line feeds that aren't in quotes."""
    begin, quoted = len(MARK) if content.startswith(MARK) else 0, False
    for position in range(begin, len(content)):
        byte = content[position : position + 1]
        quoted ^= byte == b'"'
        if (byte == b"\n" and not quoted) or position == len(content) - 1:
            yield begin, position + 1, content[begin : position + 1]
            begin = position + 1


def numbers(content: bytes, first: int, length: int | None) -> list[str]:
    """The numbers of the records whose middle is in a slice."""
    end = len(content) if length is None else first + length
    chosen = [text for begin, behind, text in spans(content) if first <= (begin + behind) // 2 < end]
    return [text.decode().split(",")[0] for text in chosen if text.strip()]


def found(spark: SparkSession, items: Sequence[FileOrFiles], folder: Path) -> list[str]:
    node = read({"number": TEXT, "rest": TEXT}, *items)
    return sorted(row[0] for row in rows(spark, node, allowed_paths=[folder]))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("texts")
    for number, content in enumerate(FILES):
        (folder / str(number)).write_bytes(content)
    return folder


@pytest.mark.sweep
@settings(max_examples=2, deadline=None, phases=[Phase.generate])
@given(st.integers(0, 10**6).map(random.Random))
def test_a_slice_has_the_records_whose_middle_it_has(spark: SparkSession, folder: Path, chance: random.Random) -> None:
    items, expected = [], []
    for number, content in enumerate(FILES):
        for _ in range(8):
            first, length = chance.randrange(len(content)), chance.choice((None, 1, chance.randrange(1, 12)))
            if (first, length) == (0, None):
                continue
            items.append(text_item(folder / str(number), start=first, length=length or 0, **RFC))
            expected += numbers(content, first, length)
    assert found(spark, items, folder) == sorted(expected)


@pytest.mark.sweep
@settings(max_examples=2, deadline=None, phases=[Phase.generate])
@given(st.integers(0, 10**6).map(random.Random))
def test_any_cuts_read_every_record_once(spark: SparkSession, folder: Path, chance: random.Random) -> None:
    items, expected = [], []
    for number, content in enumerate(FILES):
        cuts = sorted({0, *chance.sample(range(1, len(content)), min(3, len(content) - 1))})
        for first, end in zip(cuts, [*cuts[1:], 0], strict=True):
            items.append(text_item(folder / str(number), start=first, length=max(end - first, 0), **RFC))
        expected += numbers(content, 0, None)
    assert found(spark, items, folder) == sorted(expected)


def test_every_byte_is_in_one_slice(spark: SparkSession, folder: Path) -> None:
    """Slices of one byte: each record is in exactly one of them."""
    for number in (1, 5):
        items = [text_item(folder / str(number), start=first, length=1, **RFC) for first in range(len(FILES[number]))]
        assert found(spark, items, folder) == sorted(numbers(FILES[number], 0, None))


def test_header_lines_are_those_of_the_file(spark: SparkSession, tmp_path: Path) -> None:
    content = b"a long header, of two\nlines\n" + b"".join(b"%d,x\n" % n for n in range(9))
    path = tmp_path / "a"
    path.write_bytes(content)
    for first, length, expected in ((0, 28, []), (0, 31, ["0"]), (28, 2, []), (35, 9, ["2", "3"]), (60, 0, ["8"])):
        item = text_item(path, start=first, length=length, header_lines_to_skip=2)
        assert found(spark, [item], tmp_path) == expected, (first, length)


def test_a_compressed_file_is_not_cut(spark: SparkSession, tmp_path: Path) -> None:
    """Its records are in the slice that has the middle of the compressed bytes."""
    path = tmp_path / "a.gz"
    packed = gzip.compress(b"h,h\n0,a\n1,b\n")
    path.write_bytes(packed)
    middle = len(packed) // 2
    for first, length, expected in (
        (0, middle, []),
        (0, middle + 1, ["0", "1"]),
        (middle, 1, ["0", "1"]),
        (middle + 1, 0, []),
    ):
        item = text_item(path, start=first, length=length, header_lines_to_skip=1)
        assert found(spark, [item], tmp_path) == expected, (first, length)


def test_slices_beside_whole_files_and_the_same_slice_twice(spark: SparkSession, folder: Path) -> None:
    path = folder / "0"
    items = [
        text_item(path),
        text_item(path, start=4, length=4),
        text_item(path, start=4, length=4),
        text_item(path, start=0, length=8),
        text_item(path, start=100, length=8),
    ]
    assert found(spark, items, folder) == sorted(["0", "1", "2", "1", "1", "0", "1"])
