"""Rows on their way to people and files."""

from __future__ import annotations

import datetime
import io
import json
import os
import re
import threading
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from rich.cells import cell_len
from rich.console import Console

import pyspark_substrait
from pyspark_substrait.errors import ExecutionError, SubstraitError, TableError
from pyspark_substrait.spark.results import SUFFIXES, FileFormat, Shown, as_table, cells, write, write_file

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = pa.table(
    {
        "number": pa.array([1, None], pa.int64()),
        "price": pa.array([Decimal("0.000000000010"), Decimal("12345678901234567890.000000000000")]),
        "day": [datetime.date(2024, 2, 29), None],
        "ratio": [float("nan"), 0.5],
        "raw": [b"\x00\xff", None],
        "tags": [["a", None], []],
        "maker": [{"name": "[red]", "year": 1}, None],
        "counts": pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64())),
    }
)


def test_json_loses_nothing(tmp_path: Path) -> None:
    write_file(ROWS, tmp_path / "rows.json", "json")
    first, second = (json.loads(line) for line in (tmp_path / "rows.json").read_text().splitlines())
    assert first == {
        "number": 1,
        "price": "0.000000000010",
        "day": "2024-02-29",
        "ratio": "nan",
        "raw": "AP8=",
        "tags": ["a", None],
        "maker": {"name": "[red]", "year": 1},
        "counts": [["a", 1]],
    }
    assert second["price"] == "12345678901234567890.000000000000"
    assert second["number"] is None and second["tags"] == []


def test_times_that_python_does_not_have(tmp_path: Path) -> None:
    """Nanoseconds and years beyond 9999; written by hand in the forms of the standard library."""
    rows = pa.table(
        {
            "moment": pa.array([1_600_000_000_123_456_789], pa.timestamp("ns")),
            "instant": pa.array([1], pa.timestamp("ns", "UTC")),
            "late": pa.array([253_402_300_800], pa.timestamp("s")),
            "day": pa.array([-800_000], pa.date32()),
            "time": pa.array([1], pa.time64("ns")),
            "span": pa.array([-1], pa.duration("ns")),
            "long": pa.array([86_401_500], pa.duration("ms")),
            "months": pa.array([(14, 2, 1)], pa.month_day_nano_interval()),
            "nested": pa.array([[{"x": 1}, None]], pa.list_(pa.struct([("x", pa.time64("ns"))]))),
            "map": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.timestamp("ns"))),
        }
    )
    write_file(rows, tmp_path / "rows.json", "json")
    assert json.loads((tmp_path / "rows.json").read_text()) == {
        "moment": "2020-09-13T12:26:40.123456789",
        "instant": "1970-01-01T00:00:00.000000001+00:00",
        "late": "10000-01-01T00:00:00",
        "day": "-0221-09-04",
        "time": "00:00:00.000000001",
        "span": "-1 day, 23:59:59.999999999",
        "long": "1 day, 0:00:01.500",
        "months": "14 months, 2 days, 0:00:00.000000001",
        "nested": [{"x": "00:00:00.000000001"}, None],
        "map": [["a", "1970-01-01T00:00:00.000000001"]],
    }
    forms: tuple[FileFormat, ...] = ("parquet", "csv")
    for form in forms:
        with pytest.raises(TableError, match="cannot hold"):
            write_file(rows.select(["months"]), tmp_path / "rows", form)


#: reads a file back, by the suffix of the file
READERS: dict[str, Callable[[Path], pa.Table]] = {
    "parquet": pq.read_table,
    "arrow": lambda path: pa.ipc.open_file(path).read_all(),
    "feather": lambda path: pa.dataset.dataset(path, format="ipc").to_table(),
}


@pytest.mark.parametrize("suffix", READERS)
def test_binary_formats_give_the_same_table(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"rows.{suffix}"
    write_file(ROWS, file, SUFFIXES[file.suffix])
    assert READERS[suffix](file).drop_columns("ratio").equals(ROWS.drop_columns("ratio"))
    assert list(tmp_path.iterdir()) == [file]


def test_a_stream_is_arrows_stream() -> None:
    stream = io.BytesIO()
    write(ROWS, stream, "arrow")
    assert pa.ipc.open_stream(stream.getvalue()).read_all().drop_columns("ratio").equals(ROWS.drop_columns("ratio"))


def test_duckdb_reads_what_was_written(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    rows = pa.table({"n": [1, None], "text": ['a "b", c\nd', ""], "day": [datetime.date(2024, 2, 29), None]})
    for suffix, reader in {"parquet": "read_parquet", "csv": "read_csv", "json": "read_json"}.items():
        file = tmp_path / f"rows.{suffix}"
        write_file(rows, file, SUFFIXES[file.suffix])
        options = ", header = true, allow_quoted_nulls = false" if suffix == "csv" else ""
        with duckdb.connect() as connection:
            found = connection.execute(f"SELECT * FROM {reader}('{file}'{options})").fetchall()
        assert found == [(1, 'a "b", c\nd', datetime.date(2024, 2, 29)), (None, "", None)], suffix


def test_markdown_shows_texts_as_they_are() -> None:
    """Read by cutting at the bars that have no backslash, and taking the backslashes away."""
    texts = ["a|b", "\\|", "<script>", "*x* _y_ `z`", "[a](http://x)", "two\nlines", "null", None, "&amp;"]
    rows = pa.table({"te|xt": texts, "number": pa.array(range(9)), "ok": [True] * 9})
    stream = io.BytesIO()
    write(rows, stream, "markdown")
    lines = stream.getvalue().decode().splitlines()
    assert all(re.search(r"(?<!\\)(\\\\)*[<`\[&]", line) is None for line in lines)
    table = [
        [re.sub(r"\\(.)", r"\1", cell.strip()) for cell in re.split(r"(?<!\\)(?:\\\\)*\|", line)[1:-1]]
        for line in (line.replace("\\\\", "\\\\ ") for line in lines)
    ]
    assert table[0] == ["te|xt", "number", "ok"]
    assert table[1] == ["---", "---:", "---"]
    assert [row[0].replace("\\ ", "\\") for row in table[2:]] == [
        "*null*" if text is None else text.replace("\n", "\\n") for text in texts
    ]
    assert [row[1:] for row in table[2:]] == [[str(number), "true"] for number in range(9)]
    assert b"| *null* |" in stream.getvalue() and b"| null |" in stream.getvalue()


def test_a_format_that_cannot_hold_a_column_says_so(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("before")
    with pytest.raises(TableError, match="'raw' of type binary"):
        write_file(ROWS, tmp_path / "rows.csv", "csv")
    twice = pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    for rows, what in (
        (pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]), "columns"),
        (pa.table({"x": twice}), "fields of a struct"),
        (pa.table({"x": pa.ListArray.from_arrays([0, 1], twice)}), "fields of a struct"),
    ):
        with pytest.raises(TableError, match=f"two {what} with the name 'a'"):
            write_file(rows, tmp_path / "rows.json", "json")
    with pytest.raises(SubstraitError, match="cannot be written"):
        write_file(ROWS, tmp_path / "absent" / "rows.parquet", "parquet")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("rows.csv", "before")]


def test_a_file_is_replaced_in_its_place(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    file, link = tmp_path / "data" / "rows.json", tmp_path / "link.json"
    file.write_text("before")
    link.symlink_to(file)
    write_file(pa.table({"a": [1]}), link, "json")
    assert link.is_symlink() and file.read_text() == '{"a": 1}\n'
    os.mkfifo(tmp_path / "pipe")
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_text()))
    reader.start()
    write_file(pa.table({"a": [1]}), tmp_path / "pipe", "json")
    reader.join(10)
    assert read == ['{"a": 1}\n'] and (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (pa.scalar(None, pa.string()), "null", "null"),
        (pa.scalar("null"), "text", "null"),
        (pa.scalar(-7), "number", "-7"),
        (pa.scalar(Decimal("1.50")), "number", "1.50"),
        (pa.scalar(float("inf")), "number", "inf"),
        (pa.scalar(True), "boolean", "true"),
        (pa.scalar(datetime.date(2024, 2, 29)), "time", "2024-02-29"),
        (pa.scalar(b"\x00\xff"), "binary", "00ff"),
        (pa.scalar(["a", None, 'b"']), "nested", '["a", null, "b\\""]'),
        (pa.scalar({"a": 1, "b c": [True]}), "nested", "{a: 1, b c: [true]}"),
        (pa.scalar([("k", 1.5)], pa.map_(pa.string(), pa.float64())), "nested", '{"k" → 1.5}'),
        (pa.scalar("\x1b[31mred\x07\r\n\x9b\x7f"), "text", "\\x1b[31mred\\x07\\r\\n\\x9b\\x7f"),
        (pa.scalar(["\x1b]0;title\x07"]), "nested", '["\\u001b]0;title\\u0007"]'),
        (pa.scalar({"\x1b": 1}), "nested", "{\\x1b: 1}"),
        (pa.scalar("\u202egnp.exe\u2069\u200b"), "text", "\\u202egnp.exe\\u2069\\u200b"),
        (pa.scalar("a\u2028b\u00a0c"), "text", "a\\u2028b\u00a0c"),
        (pa.scalar("שלום 👩\u200d💻 日本"), "text", "שלום 👩\u200d💻 日本"),
    ],
)
def test_a_cell_is_harmless_text(value: pa.Scalar, kind: str, text: str) -> None:
    [name], [[cell]] = cells(pa.table({"\x1bname": pa.array([value.as_py()], value.type)}))
    assert (name.text, cell.kind, cell.text, cell.cut) == ("\\x1bname", kind, text, False)


def test_cells_are_counted_and_cut() -> None:
    rows = pa.table({"text": ["x" * 501, "x" * 500, "y"]})
    body = cells(rows, 2)[1]
    assert [(len(cell.text), cell.text[-1], cell.cut) for (cell,) in body] == [(500, "…", True), (500, "x", False)]
    assert len(cells(rows, most_characters=None)[1][0][0].text) == 501
    assert cells(rows.slice(0, 0))[1] == ()
    assert cells(rows.select([])) == ((), ((), (), ()))


def shown(rows: pa.Table, **options: Any) -> tuple[list[str], Shown]:
    """The lines of a table, and what isn't in it."""
    console, found = Console(file=io.StringIO(), width=100_000), as_table(rows, **options)
    console.print(found.table, crop=False)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines(), found


def test_the_table_shows_values_as_they_are() -> None:
    lines, found = shown(ROWS, types=True)
    assert (found.left_out, found.cut) == ((), 0)
    assert lines[0].split() == ROWS.column_names
    assert lines[1].split()[:3] == ["int64", "decimal128(32,", "12)"]
    assert '{name: "[red]", year: 1}' in lines[3]
    assert lines[4].split().count("null") == 5
    assert len({len(line) for line in lines}) == 1


def test_numbers_stand_with_their_points_in_one_line() -> None:
    rows = pa.table(
        {
            "ratio": [0.5, 12.25, None, -100.0],
            "whole": [1, 22, None, -333],
            "price": [Decimal("1.50"), Decimal("-20.25"), None, Decimal("3.00")],
        }
    )
    lines, _ = shown(rows)
    assert lines[2:] == [
        "   0.5       1    1.50",
        "  12.25     22  -20.25",
        "   null   null    null",
        "-100.0    -333    3.00",
    ]
    assert lines[0] == "  ratio  whole   price"


def test_what_does_not_fit_is_left_out_and_said() -> None:
    rows = pa.table(
        {"first": ["word " * 8], "second": [123_456_789], "third": ["x" * 200], "number": [10**18], "a": [1]}
    )
    for width in (20, 40, 60, 80, 100):
        lines, found = shown(rows, width=width)
        assert max(map(len, lines)) <= width
        kept = len(rows.column_names) - len(found.left_out)
        assert found.left_out == tuple(rows.column_names[kept:])
        assert lines[0].split() == rows.column_names[:kept]
        # 16 characters are the least for a text, and between columns there are two
        assert kept == {20: 1, 40: 2, 60: 3, 80: 5, 100: 5}[width]
        assert found.cut == int(width >= 60)  # five lines of the third are fewer than 200 characters
    lines, found = shown(rows, width=20, whole=True)
    assert (found.left_out, found.cut) == ((), 0) and "x" * 200 in lines[2]


def test_the_table_of_nothing() -> None:
    rows = pa.table({"a": pa.array([], pa.int64()), "b": pa.array([], pa.string())})
    assert shown(rows, width=40)[0][0].split() == ["a", "b"]
    twice = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    assert [line.split() for line in shown(twice)[0]][::2] == [["a", "a"], ["1", "2"]]


def test_letters_from_right_to_left_are_isolated() -> None:
    lines, _ = shown(pa.table({"a": ["שלום", "abc", "日本"], "b": [1, 2, 3]}))
    assert "\u2068שלום\u2069" in lines[2]
    columns = [cell_len(line) for line in lines]
    assert len(set(columns)) == 1


NAMES: dict[str, Any] = {"names": ["name"], "struct": {"types": [{"string": {"nullability": "NULLABILITY_NULLABLE"}}]}}
READ: dict[str, Any] = {"read": {"baseSchema": NAMES, "namedTable": {"names": ["people"]}}}
PEOPLE = pa.table({"name": ["Ada", "Grace", None, "Edsger"]})


def plan(relation: dict[str, Any]) -> dict[str, Any]:
    return {"version": {"minorNumber": 108}, "relations": [{"root": {"input": relation, "names": ["name"]}}]}


def test_an_error_while_running_is_one_of_ours(spark: SparkSession, capfd: pytest.CaptureFixture[str]) -> None:
    field: dict[str, Any] = {"selection": {"directReference": {"structField": {}}, "rootReference": {}}}
    number = {"cast": {"type": {"i32": {"nullability": "NULLABILITY_NULLABLE"}}, "input": field}}
    emit = {"emit": {"outputMapping": [1]}}
    project = {"project": {"common": emit, "input": READ, "expressions": [number]}}
    with pytest.raises(ExecutionError, match="CAST_INVALID_INPUT") as caught:
        pyspark_substrait.run_query(plan(project), tables={"people": PEOPLE}, spark=spark)
    assert caught.value.__cause__ is not None
    assert capfd.readouterr() == ("", "")


def test_a_limit_is_the_most_rows(spark: SparkSession) -> None:
    tables = {"people": PEOPLE}
    assert pyspark_substrait.run_query(plan(READ), tables=tables, spark=spark, limit=3).num_rows == 3
    assert pyspark_substrait.run_query(plan(READ), tables=tables, spark=spark, limit=9).num_rows == 4
