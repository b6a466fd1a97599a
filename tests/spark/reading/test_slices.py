"""Slices of files: whatever the cuts, every record is read exactly once."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.relations import FileOrFiles
from pyspark_substrait.spark.reading.file_slices import FileSlice
from pyspark_substrait.spark.reading.footers import row_groups
from pyspark_substrait.spark.reading.parquet import chosen
from tests.spark.plans import LONG, TEXT_, answers, rows
from tests.spark.reading.file_reads import FORMATS, ORC, item, read, write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = {"id": LONG, "word": TEXT_}
TABLE = pa.table({"id": range(100), "word": [None if n % 7 == 0 else f"w{n % 5}" for n in range(100)]})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files with ten row groups: with dictionaries and without, packed, and one of a single group."""
    folder = tmp_path_factory.mktemp("slices")
    write(folder / "dictionary.parquet", TABLE, row_group_size=10)
    write(folder / "plain.parquet", TABLE, row_group_size=10, use_dictionary=False, compression="none")
    write(folder / "uneven.parquet", TABLE.slice(3, 90), row_group_size=13, compression="gzip")
    write(folder / "one.parquet", TABLE)
    write(folder / "empty.parquet", TABLE.slice(0, 0))
    write(folder / "one.orc", TABLE)
    return folder


def groups(path: Path) -> list[tuple[float, int, int]]:
    """The row groups by the specification of the format: where they start is where the first column chunk does."""
    metadata = pq.read_metadata(path)
    found, first = [], 0
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        column = group.column(0)
        start = column.dictionary_page_offset if column.has_dictionary_page else column.data_page_offset
        size = sum(group.column(n).total_compressed_size for n in range(group.num_columns))
        found.append((math.floor((start + start + size) / 2), first, first + group.num_rows))
        first += group.num_rows
    return found


def slices(path: Path, cuts: list[int], format: Any) -> list[FileOrFiles]:
    """The file, cut at these bytes. The last slice has no length: it goes to the end."""
    edges = [0, *sorted(set(cuts) - {0})]
    items = [item(path, format, start=one, length=two - one) for one, two in pairwise(edges)]
    return [*items, item(path, format, start=edges[-1])]


def test_row_groups_are_where_the_format_says(folder: Path) -> None:
    for name in ("dictionary", "plain", "uneven", "one"):
        path = folder / f"{name}.parquet"
        assert [(group.midpoint, group.first, group.end) for group in row_groups(str(path))] == groups(path)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(["dictionary", "plain", "uneven", "one", "empty"]), st.lists(st.integers(0, 9000), max_size=12))
def test_every_cut_divides_the_records(folder: Path, name: str, cuts: list[int]) -> None:
    path = folder / f"{name}.parquet"
    taken: list[int] = []
    for one in slices(path, cuts, None):
        for records in chosen(FileSlice(str(path), one.start, one.length or None), row_groups(str(path))):
            assert records.end is not None
            taken += range(records.first, records.end)
    assert sorted(taken) == list(range(pq.read_metadata(path).num_rows))


@pytest.mark.parametrize("name", ["dictionary.parquet", "plain.parquet", "uneven.parquet", "one.parquet", "one.orc"])
def test_slices_are_read_exactly_once(spark: SparkSession, folder: Path, name: str) -> None:
    """By Spark, each slice by itself and all together."""
    path, format = folder / name, FORMATS[name.rpartition(".")[2]]
    size = path.stat().st_size
    every = TABLE.slice(3, 90) if name.startswith("uneven") else TABLE
    cuts = [1, 4, size // 3, size // 3 + 1, size // 2, size - 5, size, size + 1000]
    parts = slices(path, cuts, format)
    nodes = [read(COLUMNS, part) for part in parts] + [read(COLUMNS, *parts), read(COLUMNS, *parts, *parts)]
    *single, together, twice = answers(spark, nodes, allowed_paths=[folder])
    wanted = sorted(zip(*every.to_pydict().values(), strict=True))
    assert sorted(row for answer in single for row in answer) == wanted
    assert sorted(together) == wanted
    assert sorted(twice) == sorted(wanted + wanted)


def test_the_midpoint_decides(spark: SparkSession, folder: Path) -> None:
    path = folder / "dictionary.parquet"
    found = groups(path)
    nodes, wanted = [], []
    for number in (0, 4, 9):
        middle, first, end = found[number]
        for start, length, inside in (
            (middle, 1, True),
            (middle + 1, 1, False),
            (middle - 1, 1, False),
            (1, middle, True),
        ):
            nodes.append(read({"id": LONG}, item(path, start=int(start), length=int(length))))
            before = range(0 if start == 1 else first, end)
            wanted.append([(n,) for n in before] if inside else [])
    # an ORC file is one piece
    size = (folder / "one.orc").stat().st_size
    for start, length, inside in ((size // 2, 1, True), (size // 2 + 1, size, False), (1, size // 2 - 1, False)):
        nodes.append(read({"id": LONG}, item(folder / "one.orc", ORC, start=start, length=length)))
        wanted.append([(n,) for n in range(100)] if inside else [])
    for node, answer, expected in zip(nodes, answers(spark, nodes, allowed_paths=[folder]), wanted, strict=True):
        assert sorted(answer) == expected, node.read_type


def test_slices_of_several_files(spark: SparkSession, folder: Path) -> None:
    """Slices that overlap give what they share once each."""
    one, other = folder / "plain.parquet", folder / "uneven.parquet"
    (middle, _, _), (later, _, _) = groups(one)[2], groups(other)[1]
    items = [
        item(one, start=1, length=int(middle)),
        item(one, start=1, length=int(middle) + 1),
        item(other, start=int(later)),
        item(other),
    ]
    wanted = [*range(30), *range(30), *range(16, 93), *range(3, 93)]
    found = rows(spark, read({"id": LONG}, *items), allowed_paths=[folder])
    assert sorted(n for (n,) in found) == sorted(wanted)


def test_slices_of_other_file_systems(spark: SparkSession, folder: Path) -> None:
    from pyspark_substrait.spark.reading import footers

    with pytest.raises(UnsupportedPlanError, match="cannot be read here, and without it the slice is not known"):
        footers.row_groups("nosuch://host/file.parquet")
