"""Files: what Spark reads, the plan reads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.relations import LocalFiles, Read
from tests.spark.producer.round_trips import assert_round_trip

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.sweep

VALUES = """
    SELECT * FROM VALUES
        (1, 'x', 'a', 1.50, TIMESTAMP '2020-02-29 12:00:00', array(1, NULL)),
        (2, NULL, 'a', NULL, TIMESTAMP '1969-12-31 23:59:59.999999', NULL),
        (NULL, '', 'b', -0.25, NULL, array()),
        (4, 'ä', NULL, 99.99, NULL, array(4)) AS t (i, s, p, d, ts, l)
"""


@pytest.fixture(scope="module")
def folder(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of several kinds and layouts."""
    base = tmp_path_factory.mktemp("some files %20")
    frame = spark.sql(VALUES)
    frame.coalesce(1).write.parquet(str(base / "plain"))
    frame.write.partitionBy("p").parquet(str(base / "parts"))
    frame.write.partitionBy("p").orc(str(base / "orc"))
    frame.selectExpr("i AS `odd name`", "s AS `B`").coalesce(1).write.parquet(str(base / "plain" / "inside"))
    frame.select("i", "s").write.csv(str(base / "csv"))
    frame.select("i", "s").write.json(str(base / "json"))
    return base


READS: dict[str, Callable[[Any, str], DataFrame]] = {
    "a folder": lambda read, base: read.parquet(f"{base}/parts/p=a"),
    "a folder with folders, which Spark leaves out": lambda read, base: read.parquet(f"{base}/plain"),
    "all folders": lambda read, base: read.option("recursiveFileLookup", True).parquet(f"{base}/parts"),
    "folders with values": lambda read, base: read.parquet(f"{base}/parts"),
    "folders with values, of ORC": lambda read, base: read.orc(f"{base}/orc"),
    "some of them": lambda read, base: read.parquet(f"{base}/parts/p=*"),
    "some of them with their values": lambda read, base: read.option("basePath", f"{base}/parts").parquet(
        f"{base}/parts/p=a", f"{base}/parts/p=b"
    ),
    "files by a pattern": lambda read, base: read.parquet(f"{base}/parts/p=a/*.parquet"),
    "files by names": lambda read, base: read.option("pathGlobFilter", "*.parquet").parquet(f"{base}/parts"),
    "files by times": lambda read, base: read.option("modifiedAfter", "2000-01-01T00:00:00").parquet(f"{base}/parts"),
    "no files, by times": lambda read, base: (
        read.schema("i INT").option("modifiedBefore", "2000-01-01T00:00:00").parquet(f"{base}/parts")
    ),
    "a merged schema": lambda read, base: (
        read.option("mergeSchema", True).option("recursiveFileLookup", True).parquet(f"{base}/plain")
    ),
    "a schema of its own": lambda read, base: read.schema("s STRING, i BIGINT, none DATE").parquet(f"{base}/plain"),
    "twice the same": lambda read, base: read.parquet(f"{base}/plain", f"{base}/plain"),
    "the generic reader": lambda read, base: read.format("parquet").load(f"{base}/parts"),
    "an option that is off": lambda read, base: read.option("ignoreCorruptFiles", False).parquet(f"{base}/parts"),
}


_WIDER = pytest.mark.since("4.0", "Spark itself reads no INT of a Parquet file as BIGINT")


@pytest.mark.parametrize(
    "read",
    [
        pytest.param(read, id=name, marks=[_WIDER] if name == "a schema of its own" else [])
        for name, read in READS.items()
    ],
)
@pytest.mark.parametrize("version", [1, 2])
def test_files(spark: SparkSession, folder: Path, read: Callable[[Any, str], DataFrame], version: int) -> None:
    before: Any = spark.conf.get("spark.sql.sources.useV1SourceList")
    if version == 2:
        spark.conf.set("spark.sql.sources.useV1SourceList", "")
    try:
        assert_round_trip(spark, read(spark.read, str(folder)))
    finally:
        spark.conf.set("spark.sql.sources.useV1SourceList", before)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT p, count(*) AS n, sum(d) FROM parquet.`{}/parts` GROUP BY p",
        "SELECT i, l, ts FROM parquet.`{}/parts` WHERE p = 'a' OR i IS NULL",
        "SELECT a.i, b.s FROM orc.`{0}/orc` a JOIN parquet.`{0}/plain` b ON a.i = b.i",
    ],
)
def test_files_in_sql(spark: SparkSession, folder: Path, query: str) -> None:
    assert_round_trip(spark, query.format(folder))


def _items(plan: ps.model.plan.Plan, spark: SparkSession) -> list[tuple[str, str]]:
    root: Any = plan.relations[-1]
    read = root.input
    assert isinstance(read, Read)
    assert isinstance(read.read_type, LocalFiles)
    return [(item.path_type, item.path) for item in read.read_type.items]


def test_what_an_item_says(spark: SparkSession, folder: Path) -> None:
    (item,) = _items(ps.to_substrait(spark.read.parquet(f"{folder}/parts")), spark)
    assert item[0] == "uri_folder"
    assert item[1].startswith("file:///")
    assert Path(unquote(urlsplit(item[1]).path)) == folder / "parts"
    ((kind, path),) = _items(ps.to_substrait(spark.read.parquet(f"{folder}/plain")), spark)
    assert kind == "uri_file"
    assert Path(unquote(urlsplit(path).path)).parent == folder / "plain"


def test_columns_of_files_may_be_null(spark: SparkSession, folder: Path) -> None:
    root: Any = ps.to_substrait(spark.read.schema("i INT NOT NULL").parquet(f"{folder}/plain")).relations[-1]
    assert all(type.nullable for type in root.input.schema.types)


def test_files_whose_dates_the_session_takes_for_others(spark: SparkSession, folder: Path) -> None:
    key = "spark.sql.parquet.datetimeRebaseModeInRead"
    path = f"{folder}/plain"
    spark.conf.set(key, "LEGACY")
    try:
        with pytest.raises(UnsupportedPlanError, match=f"{key}=LEGACY.*CORRECTED"):
            ps.to_substrait(spark.read.parquet(path))
        assert ps.to_substrait(spark.read.option("datetimeRebaseMode", "CORRECTED").parquet(path))
    finally:
        spark.conf.set(key, "CORRECTED")


REFUSED: dict[str, tuple[Callable[[Any, str], DataFrame], str]] = {
    "CSV": (lambda read, base: read.csv(f"{base}/csv"), "csv files has no Substrait form.*blank lines.*tables="),
    "JSON": (lambda read, base: read.json(f"{base}/json"), "json files has no Substrait form.*tables="),
    "text": (lambda read, base: read.text(f"{base}/json"), "text files has no Substrait form"),
    "bytes": (lambda read, base: read.format("binaryFile").load(f"{base}/json"), "binary files has no Substrait form"),
    "an option": (
        lambda read, base: read.option("datetimeRebaseMode", "LEGACY").parquet(f"{base}/plain"),
        "the option datetimerebasemode=LEGACY",
    ),
    "damaged files": (
        lambda read, base: read.option("ignoreCorruptFiles", True).parquet(f"{base}/plain"),
        "the option ignorecorruptfiles=true",
    ),
    "the names of files": (
        lambda read, base: read.parquet(f"{base}/plain").select("_metadata.file_name"),
        "_metadata",
    ),
    "a stream": (
        lambda read, base: read.parquet(f"{base}/plain").sparkSession.readStream.format("rate").load(),
        "stream",
    ),
    "a stream of files": (
        lambda read, base: (
            read.parquet(f"{base}/plain").sparkSession.readStream.schema("i INT").parquet(f"{base}/plain")
        ),
        "stream",
    ),
}


@pytest.mark.parametrize(("read", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(spark: SparkSession, folder: Path, read: Callable[[Any, str], DataFrame], message: str) -> None:
    with pytest.raises(UnsupportedPlanError, match=message):
        ps.to_substrait(read(spark.read, str(folder)))


def test_a_column_in_files_and_in_folders(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql("SELECT 1 AS a, 2 AS b").write.parquet(str(tmp_path / "t" / "a=5"))
    with pytest.raises(UnsupportedPlanError, match="the column a stands in the files and in the names"):
        ps.to_substrait(spark.read.parquet(str(tmp_path / "t")))


def test_a_column_of_times_in_folders(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql("SELECT 1 AS a").write.parquet(str(tmp_path / "t" / "b=2020-01-01 00%3A00%3A00"))
    with pytest.raises(UnsupportedPlanError, match="the column b is in the names of folders, as a time"):
        ps.to_substrait(spark.read.parquet(str(tmp_path / "t")))


def test_what_a_streaming_query_wrote(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(3).write.parquet(str(tmp_path / "in"))
    for kind in ("plain", "parts"):
        stream = spark.readStream.schema("id BIGINT").parquet(str(tmp_path / "in")).selectExpr("id", "id % 2 AS p")
        write = stream.writeStream.option("checkpointLocation", str(tmp_path / f"checks of {kind}"))
        write = write.partitionBy("p") if kind == "parts" else write
        query = write.format("parquet").trigger(availableNow=True).start(str(tmp_path / kind))
        assert query.awaitTermination(60)
    # a file that a query gave up
    [file, *_] = (tmp_path / "in").glob("*.parquet")
    (tmp_path / "plain" / "given up.parquet").write_bytes(file.read_bytes())
    frame = spark.read.parquet(str(tmp_path / "plain"))
    assert frame.count() == 3
    for kind, path in _items(assert_round_trip(spark, frame), spark):
        assert kind == "uri_file"
        assert "given" not in path
    with pytest.raises(UnsupportedPlanError, match="partitions that a streaming query wrote"):
        ps.to_substrait(spark.read.parquet(str(tmp_path / "parts")))
