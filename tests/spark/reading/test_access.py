"""The files that a plan may name: what an address means, and files that change places after they were checked."""

from __future__ import annotations

import os
import posixpath
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.fs
import pytest

import pyspark_substrait as ps
from pyspark_substrait import write_targets
from pyspark_substrait.errors import SubstraitError, TableError, UnsupportedPlanError
from pyspark_substrait.model.relations import (
    ArrowReadOptions,
    DdlOp,
    DelimiterSeparatedTextReadOptions,
    FileFormat,
    IcebergTable,
    RelationBase,
)
from pyspark_substrait.spark import run, run_limits
from pyspark_substrait.spark.access import Access
from pyspark_substrait.spark.addresses import Address, parsed_address
from pyspark_substrait.spark.arrow_transfer import collected
from pyspark_substrait.spark.reading.arrow_files import arrow_table
from pyspark_substrait.spark.reading.iceberg_files import snapshot_files
from pyspark_substrait.spark.reading.listing import listed
from pyspark_substrait.spark.session import is_connect
from tests.spark.plans import LONG, LONG_, plan, schema, tuples
from tests.spark.reading.file_reads import ORC, PARQUET, item, read, write
from tests.spark.writing.ddl import carry_out
from tests.spark.writing.test_write_targets import define, pairs
from tests.spark.writing.test_write_targets import write as write_to

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ARROW = ArrowReadOptions()
NONE: Any = None  # a session that isn't used

# addresses ------------------------------------------------------------------------------------------------------------

#: addresses below hdfs://n/data or s3://bucket/data, and the one form that the reader gets: Hadoop's, and pyarrow's
ACCEPTED = {
    "hdfs://n/data": ("hdfs://n/data", "hdfs://n/data"),
    "hdfs://n/data/": ("hdfs://n/data", "hdfs://n/data"),
    "HDFS://N:8020/data/x": ("hdfs://n/data/x", "hdfs://n/data/x"),
    "hdfs://n:/data/x": ("hdfs://n/data/x", "hdfs://n/data/x"),
    "hdfs://n//data///x": ("hdfs://n/data/x", "hdfs://n/data/x"),
    "hdfs://n/./data/%2E/x": ("hdfs://n/data/x", "hdfs://n/data/x"),
    "hdfs://n/d%61ta/x": ("hdfs://n/data/x", "hdfs://n/data/x"),
    "hdfs://n/data/a%20b": ("hdfs://n/data/a b", "hdfs://n/data/a%20b"),
    "hdfs://n/data/a b": ("hdfs://n/data/a b", "hdfs://n/data/a%20b"),
    "hdfs://n/data/a%2520b": ("hdfs://n/data/a%20b", "hdfs://n/data/a%2520b"),
    "hdfs://n/data/t=1%253A2": ("hdfs://n/data/t=1%3A2", "hdfs://n/data/t=1%253A2"),
    "hdfs://n/data/%3Fa%23b": ("hdfs://n/data/?a#b", "hdfs://n/data/%3Fa%23b"),
    "hdfs://n/data/é": ("hdfs://n/data/é", "hdfs://n/data/%C3%A9"),
    "hdfs://n/data/%C3%A9": ("hdfs://n/data/é", "hdfs://n/data/%C3%A9"),
    "hdfs://n/data/...": ("hdfs://n/data/...", "hdfs://n/data/..."),
    "s3://bucket/data/x.arrow": ("s3://bucket/data/x.arrow", "s3://bucket/data/x.arrow"),
}
REFUSED = [
    # the two of which it was known
    "s3://bucket/data/x.arrow?endpoint_override=evil:80&scheme=http",
    "hdfs://n/data/%2e%2e/etc",
    # back by dots, however they are written
    *("hdfs://n/data/../etc", "hdfs://n/data/.%2E/etc", "hdfs://n/data/%252e%252e/etc", "hdfs://n/data/%25252e./etc"),
    *("hdfs://n/data/..%2fetc", "hdfs://n/data/x%2f..%2f..%2fetc", "hdfs://n/data/x%252f..%252f..%252fetc"),
    *("hdfs://n/data\\..\\etc", "hdfs://n/data/..\\etc", "hdfs://n/data/%5c..%5cetc", "hdfs://n/data/x%255c..%255cy"),
    *("hdfs://n/data/%c0%ae%c0%ae/etc", "hdfs://n/data/%" + "25" * 50_000 + "2e./etc", "hdfs://n/data/..", "hdfs:/.."),
    # names that only begin alike
    *("hdfs://n/database/x", "hdfs://n/dat", "hdfs://n/", "hdfs://n", "hdfs://n/Data/x", "hdfs://n/%2fdata2/x"),
    # other hosts, ports, users and schemes
    *("hdfs://m/data/x", "hdfs://n.evil/data", "hdfs://n:9000/data/x", "hdfs://u@n/data/x", "hdfs://n@m/data/x"),
    *("hdfs://n:80200000/data", "hdfs://m\\@n/data", "hdfs://m%40n/data", "hdfs://n%2fdata/x", "hdfs://n:8020@m/data"),
    *("webhdfs://n/data/x", "s3a://bucket/data/x", "s3://BUCKET/data/x", "s3://k:s@bucket/data/x", "hdfs:///data/x"),
    *("hdfs://ｎ/data/x", "hdfs://\u0578/data/x", "hdfs://n\u3002/data/x", "hdfs://n /data/x", "hdfs:// n/data/x"),
    # forms that mean no place, or another one inside
    *("hdfs:data/x", "hdfs:/data/x", "hdfs:n/data", "jar:hdfs://n/data/x!/y", "har://hdfs-n/data/x", "view-fs:x"),
    *("hdfs://n/data/x?y", "hdfs://n/data/x?", "hdfs://n/data/x#y", "hdfs://n/data/x#", "hdfs://n?/data/x"),
    *("hdfs://n/data/%", "hdfs://n/data/%zz", "hdfs://n/data/%ff", "hdfs://n/data/%00", "hdfs://n/data/\x00"),
    *("hdfs://n/data/\n", "\nhdfs://n/data/x", " hdfs://n/data/x", "hd\tfs://n/data/x", "hdfs://n/data/\x85", ""),
    *("hdfs://n/data/\u2028x", "hdfs://n/data/%0d%0a", "hdfs://n/data/\ud800", "//n/data/x", "hdfs//n/data/x"),
    # of this machine, but for the form
    *("file://n/data/x", "file://n%2f/data", "file:data/x", "file:", "file://", "file:///data/x?y", "file:///data/x#y"),
    *("file:///data/%", "file:///data/a%2fb", "file:///data/%00", "file://user@localhost/data/x"),
]


def test_addresses_have_one_meaning() -> None:
    access = Access(["hdfs://n/data", "s3://bucket/data/"])
    for text, forms in ACCEPTED.items():
        found = access.place(text)
        assert isinstance(found, Address) and (str(found), found.uri) == forms, text
        assert parsed_address(found.uri) == found, text
        # what pyarrow makes of the URI is what Hadoop makes of the text
        _, path = pyarrow.fs.FileSystem.from_uri("file:///" + found.uri.split("/", 3)[3])
        assert path == "/" + str(found).split("/", 3)[3], text
    for text in REFUSED:
        for attempt in (access.place, access.writable):
            with pytest.raises(UnsupportedPlanError):
                attempt(text)
                raise TableError(f"{text!r} may be read")


def test_allowed_paths_are_understood_likewise() -> None:
    for allowed in ("HDFS://N:8020/d%61ta//", "hdfs://n/./data", "hdfs://n/data"):
        assert str(Access([allowed]).place("hdfs://n/data/x")) == "hdfs://n/data/x"
    # what isn't understood allows nothing, and the error says so
    for allowed in ("", "hdfs:data", "hdfs://n/data/..", "hdfs://n/data#x", "hdfs://n/%2e%2e/", "file://host/"):
        with pytest.raises(UnsupportedPlanError, match="is not among the allowed paths; the address"):
            Access([allowed]).place("hdfs://n/data/x")
        with pytest.raises(UnsupportedPlanError, match="is not among the allowed paths; the address"):
            Access([allowed]).place(str(Path.cwd() / "x"))
    assert str(Access(["abfss://box@account.dfs.core/d"]).place("abfss://box@Account.dfs.core/d/x")).endswith("/d/x")
    for other in ("abfss://other@account.dfs.core/d/x", "abfss://account.dfs.core/d/x"):
        with pytest.raises(UnsupportedPlanError):
            Access(["abfss://box@account.dfs.core/d"]).place(other)


def test_queries_are_allowed_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    access = Access(["s3://bucket/data?region=eu&scheme=https"])
    for other in (
        "",
        "?",
        "?region=eu",
        "?scheme=https&region=eu",
        "?region=eu&scheme=https&x",
        "?REGION=eu&scheme=https",
    ):
        with pytest.raises(UnsupportedPlanError):
            access.place(f"s3://bucket/data/x{other}")
    text = "s3://bucket/data/a%20b?region=eu&scheme=https"
    [piece] = listed(item(text, ARROW, "uri_file"), access, NONE)
    opened: list[str] = []

    def from_uri(uri: str) -> Any:
        opened.append(uri)
        raise pa.ArrowInvalid("seen")

    monkeypatch.setattr(pyarrow.fs, "FileSystem", type("FileSystem", (), {"from_uri": staticmethod(from_uri)}))
    session: Any = SimpleNamespace(conf={"spark.sql.caseSensitive": "false"})
    with pytest.raises(UnsupportedPlanError, match="seen"):
        arrow_table([piece], schema((LONG,), ("x",)), access, session)
    assert opened == [text]
    # no other reader has a meaning for it
    for format, kind in ((PARQUET, "uri_file"), (ORC, "uri_path"), (ARROW, "uri_folder")):
        with pytest.raises(UnsupportedPlanError, match="has a query"):
            listed(item(text, format, kind), access, NONE)
    with pytest.raises(UnsupportedPlanError, match="has a query"):
        access.writable(text)
    with pytest.raises(UnsupportedPlanError, match="has a query"):
        snapshot_files(IcebergTable(metadata_uri=text), access)


def test_patterns_of_other_file_systems() -> None:
    access = Access(["s3a://b/data", "s3a://b/[x]"])
    for text, form in {
        "s3a://b/data/part-?.parquet": "s3a://b/data/part-?.parquet",
        "s3a://b//data/y=[12]/*/%C3%A9": "s3a://b/data/y=[12]/*/é",
        "s3a://b/data/*/*": "s3a://b/data/*/*",
    }.items():
        assert str(access.place(text, glob=True)) == form
    for text in (
        *("s3a://b/*/x", "s3a://b/dat?/x", "s3a://b/[d]ata/x", "s3a://b/[x]/y", "s3a://*/data/x", "s3a://?/data/x"),
        *("s3a://b/data/*/../../x", "s3a://b/data/*/%2e%2e/x", "s3a://b/data/{a,../x}", "s3a://b/data/\\../x"),
        *("s3a://b/data/%2a", "s3a://b/data/%5bx%5d", "s3a://b/data/*#x", "s3a://b/data/%7Ba,b%7D"),
    ):
        with pytest.raises(UnsupportedPlanError):
            access.place(text, glob=True)
            raise TableError(f"{text!r} may be read")


def test_paths_of_this_machine_in_every_form(tmp_path: Path) -> None:
    folder = tmp_path.resolve() / "a b%20?#é"
    folder.mkdir()
    (folder / "x").touch()
    uri = folder.as_uri()
    for allowed in (folder, str(folder), uri, uri.replace("file:///", "FILE:/"), f"{uri}/./"):
        access = Access([allowed])
        for text in (f"{folder}/x", f"/{folder}//x", f"{uri}/x", uri.replace("//", "//LocalHost", 1) + "/%78"):
            assert access.place(text) == [folder / "x"], (allowed, text)
        for text in (f"{uri}/%2e%2e/y", f"{uri}/../y", f"{folder}/../y", f"file:{tmp_path}/%252e%252e", str(tmp_path)):
            with pytest.raises(UnsupportedPlanError, match="is not among the allowed paths"):
                access.place(text)
    # a question mark is a mark of a pattern there, and a name without a scheme has no escapes
    (tmp_path / "y1").touch()
    assert Access([tmp_path]).place(f"file://{tmp_path}/y?", glob=True) == [tmp_path.resolve() / "y1"]
    assert Access([tmp_path]).place(f"{tmp_path}/%79") == [tmp_path.resolve() / "%79"]
    for text in (f"{tmp_path}/a\x00b", f"{tmp_path}/\ud800", f"{tmp_path}/{'n' * 100_000}"):
        with pytest.raises(SubstraitError):
            listed(item(text), Access([tmp_path]), NONE)


PIECES = [
    "data",
    "x",
    "",
    ".",
    "..",
    "%2e",
    "%2e%2e",
    "%252e%252e",
    "%25%32%65.",
    "..%2f",
    "%2f..",
    "%5c",
    "\\",
    "..\\",
]
PIECES += [
    "..;",
    "a%20b",
    "?",
    "?x=y",
    "#",
    "#..",
    "%23..",
    "%3f..",
    "\t",
    "\n..",
    " ",
    " ..",
    "@",
    ":",
    "%c0%ae.",
    "！",
]


def test_no_mixture_leads_out() -> None:
    """However a reader takes what it is given, once or several times decoded, it is below the allowed folder."""
    access = Access(["hdfs://n/data"])
    chosen = random.Random(6)
    good = 0
    for _ in range(20_000):
        start = chosen.choice(["hdfs://n/data/", "hdfs://n/", "HDFS://n:8020//data/", "hdfs://n/data"])
        text = start + chosen.choice(["/", ""]).join(chosen.choices(PIECES, k=chosen.randint(1, 5)))
        try:
            found = access.place(text, escapes=chosen.random() < 0.8)
        except UnsupportedPlanError:
            continue
        good += 1
        assert isinstance(found, Address)
        for form in (str(found), found.uri):
            assert form.startswith("hdfs://n/data"), text
            for _ in range(6):
                path = posixpath.normpath(form.removeprefix("hdfs://n").replace("\\", "/"))
                assert path == "/data" or path.startswith("/data/"), (text, form)
                form = unquote(form)
    assert good > 500


# files that change places ---------------------------------------------------------------------------------------------


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """``allowed/t`` and ``secret`` with files of the same names, a record each: 1 may be seen, and 99 may not."""
    for folder, number in (("allowed/t", 1), ("secret", 99)):
        for name in ("1.parquet", "1.orc"):
            write(tmp_path / folder / name, {"id": [number]})
        with pa.ipc.new_file(tmp_path / folder / "1.arrow", pa.schema([("id", pa.int64())])) as writer:
            writer.write_table(pa.table({"id": [number]}))
        (tmp_path / folder / "1.csv").write_text(f"{number}\n")
    return tmp_path


def swap(place: Path) -> None:
    """Put a link in the place of the allowed folder."""
    (place / "allowed" / "t").rename(place / "allowed" / "old")
    (place / "allowed" / "t").symlink_to(place / "secret")


def swap_back(place: Path) -> None:
    (place / "allowed" / "t").unlink()
    (place / "allowed" / "old").rename(place / "allowed" / "t")


FORMATS: dict[str, FileFormat] = {
    "parquet": PARQUET,
    "orc": ORC,
    "csv": DelimiterSeparatedTextReadOptions(field_delimiter=","),
    "arrow": ARROW,
}


def reads(place: Path) -> Iterator[tuple[str, RelationBase]]:
    for kind, format in FORMATS.items():
        yield kind, read({"id": LONG}, item(place / "allowed" / "t" / f"1.{kind}", format))
    yield "folder", read({"id": LONG_}, item(f"{place}/allowed/t/*.parquet", PARQUET, "uri_path_glob"))


def rows_of(collect: Callable[[], Any]) -> list[Any]:
    """The rows, or none where a file was found to be another one."""
    from pyspark.errors import IllegalArgumentException

    try:
        return list(collect())
    except (UnsupportedPlanError, IllegalArgumentException) as error:
        assert "is not among the allowed paths" in str(error)
        return []


def test_a_dataframe_does_not_follow_what_became_a_link(spark: SparkSession, place: Path) -> None:
    if is_connect(spark):
        pytest.skip("a DataFrame of Spark Connect is planned by the server; the docs say so")
    frames = {
        kind: ps.from_substrait(plan(node, ("id",)), spark, allowed_paths=[place / "allowed"])
        for kind, node in reads(place)
    }
    swap(place)
    for kind, frame in frames.items():
        # what pyarrow read was read before
        assert rows_of(frame.collect) == ([(1,)] if kind == "arrow" else []), kind
    swap_back(place)
    # Spark keeps the failure of a plan with it, and plans anew what is made anew
    assert [frame.where("id < 100").collect() for frame in frames.values()] == [[(1,)]] * len(frames)


def test_a_query_does_not_give_rows_of_what_became_a_link(
    spark: SparkSession, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder is exchanged when all is ready to run, or while the job runs."""
    prepared = run._Run._prepared
    options: dict[str, Any] = {"spark": spark, "allowed_paths": [place / "allowed"]}
    for kind, node in reads(place):
        document = plan(node, ("id",))

        def asked(document: Any = document) -> list[tuple[Any, ...]]:
            return tuples(ps.run_query(document, **options))

        def meanwhile(*arguments: Any) -> Any:
            found = prepared(*arguments)
            swap(place)
            return found

        with monkeypatch.context() as patched:
            patched.setattr(run._Run, "_prepared", meanwhile)
            assert rows_of(asked) == [], kind
        swap_back(place)

        def later(*arguments: Any) -> Any:
            frame, made = prepared(*arguments)

            def collect(frame: DataFrame) -> pa.Table:
                swap(place)
                return collected(frame)

            patched.setattr(run_limits, "collected", collect)
            return frame, made

        with monkeypatch.context() as patched:
            patched.setattr(run._Run, "_prepared", later)
            assert rows_of(asked) == [], kind
        swap_back(place)
        assert asked() == [(1,)], kind


def test_files_that_are_read_here_are_opened_without_links(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    access = Access([place / "allowed"])
    path = str(place / "allowed" / "t" / "1.csv")
    with access.opened(path) as descriptor:
        assert os.read(descriptor, 10) == b"1\n"
    check = Access.check

    def meanwhile(self: Access, path: Path) -> Path:
        found = check(self, path)
        swap(place)
        return found

    with monkeypatch.context() as patched:
        patched.setattr(Access, "check", meanwhile)
        with pytest.raises(OSError), access.opened(path):
            raise AssertionError("the link was followed")
    with pytest.raises(UnsupportedPlanError, match="is not among the allowed paths"), access.opened(path):
        raise AssertionError("the link was followed")
    with pytest.raises(UnsupportedPlanError, match="is not among the allowed paths"):
        access.remember([path])
    swap_back(place)
    access.remember([path])
    swap(place)
    with pytest.raises(UnsupportedPlanError, match="is not among the allowed paths"):
        access.check_again()
    # a pipe doesn't make the reader wait
    os.mkfifo(place / "allowed" / "pipe")
    with pytest.raises(UnsupportedPlanError, match="is not a file"), access.opened(str(place / "allowed" / "pipe")):
        raise AssertionError("a pipe was opened")


def test_plans_without_files_check_nothing(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []
    for name in ("check", "place", "_check_all"):
        monkeypatch.setattr(Access, name, lambda *arguments, name=name: calls.append((name, arguments[1:])))
    assert ps.run_query(plan(pairs((1, "a"))), spark=spark, allowed_paths=["/tmp"]).num_rows == 1
    assert all(name == "_check_all" and not any(paths) for name, paths in calls)


def test_nothing_is_written_through_what_became_a_link(
    spark: SparkSession, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    detail = write_targets.files(str(place / "allowed" / "t" / "out"))
    writable = Access.writable
    calls: list[str] = []

    def meanwhile(self: Access, path: str) -> Any:
        found = writable(self, path)
        calls.append(path)
        if len(calls) == most:
            swap(place)
        return found

    def content(folder: Path) -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}

    node = write_to(detail, pairs((1, "a")))
    (place / "secret" / "out").mkdir()
    write(place / "secret" / "out" / "1.parquet", {"id": [99]})
    before = content(place / "secret"), sorted(os.listdir(place / "secret"))
    for most in (1, 2, 3):  # the whole plan is checked, then the relation, then it is carried out
        calls.clear()
        with monkeypatch.context() as patched:
            patched.setattr(Access, "writable", meanwhile)
            with pytest.raises(SubstraitError):
                carry_out(spark, node, allowed_paths=[place / "allowed"])
        assert len(calls) >= most
        assert (content(place / "secret"), sorted(os.listdir(place / "secret"))) == before
        swap_back(place)
    carry_out(spark, node, allowed_paths=[place / "allowed"])
    calls.clear()
    most = 1
    with monkeypatch.context() as patched:
        patched.setattr(Access, "writable", meanwhile)
        with pytest.raises(UnsupportedPlanError):
            carry_out(spark, define(detail, DdlOp.DROP), allowed_paths=[place / "allowed"])
    assert (content(place / "secret"), sorted(os.listdir(place / "secret"))) == before


def test_an_iceberg_table_that_became_a_link(spark: SparkSession, tmp_path: Path) -> None:
    pytest.importorskip("pyiceberg")
    from pyiceberg.schema import Schema
    from pyiceberg.types import LongType, NestedField

    from tests.spark.reading.iceberg_tables import catalog

    tables = catalog(tmp_path / "allowed")
    table = tables.create_table("db.t", Schema(NestedField(1, "id", LongType(), required=True)))
    columns = pa.schema([pa.field("id", pa.int64(), nullable=False)])
    table.append(pa.table({"id": [1]}, schema=columns))
    folder = Path(table.location().removeprefix("file://"))
    [data] = folder.rglob("data/*.parquet")
    node = read({"id": LONG})
    node = type(node)(base_schema=node.base_schema, read_type=IcebergTable(metadata_uri=table.metadata_location))
    document = plan(node, ("id",))
    frame = ps.from_substrait(document, spark, allowed_paths=[folder])
    write(tmp_path / "secret" / data.name, pa.table({"id": [99]}, schema=columns))
    data.parent.rename(folder / "old")
    data.parent.symlink_to(tmp_path / "secret")
    if not is_connect(spark):
        assert rows_of(frame.collect) == []
    assert rows_of(lambda: tuples(ps.run_query(document, spark=spark, allowed_paths=[folder]))) == []
    data.parent.unlink()
    (folder / "old").rename(data.parent)
    assert tuples(ps.run_query(document, spark=spark, allowed_paths=[folder])) == [(1,)]
    # every character of a location is itself: this isn't the folder "data"
    access = Access([folder])
    assert access.place(f"file://{folder}/d%61ta/x", escapes=False) == [folder.resolve() / "d%61ta" / "x"]
    with pytest.raises(UnsupportedPlanError):
        access.place(f"file://{folder}/../x", escapes=False)
