"""Tables of the caller and of the catalog: how they are given, named, and matched to the plan's schema."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterator
from decimal import Decimal as Number
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql.types import StructType

import pyspark_substrait as ps
from pyspark_substrait.errors import ExecutionError, SubstraitError, TableError
from pyspark_substrait.model.relations import NamedTable, Read, Reference
from pyspark_substrait.model.types import (
    FP32,
    I8,
    I16,
    Date,
    Decimal,
    FixedChar,
    List,
    Map,
    NamedStruct,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    Struct,
    Type,
    VarChar,
)
from pyspark_substrait.spark import tables
from pyspark_substrait.spark.arrow_transfer import frame_of_arrow
from tests.spark.plans import (
    INT,
    INT_,
    LONG,
    LONG_,
    REAL,
    REAL_,
    TEXT,
    TEXT_,
    call,
    col,
    join,
    long,
    ordered,
    plan,
    rows,
    run,
    schema,
    stored,
    tuples,
    where,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DATA = pa.table({"id": [1, 2], "word": ["a", None]})
WANTED = [(1, "a"), (2, None)]


@pytest.fixture
def view(spark: SparkSession) -> Iterator[str]:
    frame_of_arrow(spark, DATA).createOrReplaceTempView("a_view")
    yield "a_view"
    spark.catalog.dropTempView("a_view")


def test_every_way_to_give_a_table(spark: SparkSession, tmp_path: Path, view: str) -> None:
    file, folder = tmp_path / "file.parquet", tmp_path / "folder"
    pq.write_table(DATA, file)
    folder.mkdir()
    pq.write_table(DATA.slice(0, 1), folder / "1.parquet")
    pq.write_table(DATA.slice(1), folder / "2.parquet")
    node = stored("t", {"id": LONG, "word": TEXT_})
    for given in (DATA, frame_of_arrow(spark, DATA), file, str(file), folder, file.as_uri()):
        assert ordered(rows(spark, node, tables={"t": given})) == ordered(WANTED)
    assert ordered(rows(spark, stored(view, {"id": LONG_, "word": TEXT_}))) == ordered(WANTED)
    with pytest.raises(TableError, match="given as a list"):
        rows(spark, node, tables={"t": [1]})


def test_names(spark: SparkSession) -> None:
    columns = {"id": LONG, "word": TEXT_}
    other = pa.table({"id": [7], "word": ["z"]})
    dotted = stored(("db", "t"), columns)
    for name in ("db.t", ("db", "t"), "DB.T"):
        assert ordered(rows(spark, dotted, tables={name: DATA, "t": other})) == ordered(WANTED)
    assert rows(spark, stored("t", columns), tables={"db.t": DATA, "t": other}) == [(7, "z")]
    # a part may hold a dot
    assert rows(spark, stored(("a.b",), columns), tables={("a.b",): other, "a.b": DATA}) == [(7, "z")]
    with pytest.raises(TableError, match=r"there is no table db\.t") as caught:
        rows(spark, dotted, tables={"t": other})
    assert "Tables given: t" in str(caught.value)
    assert caught.value.path == "relations[0].root.input.read.named_table"
    with pytest.raises(TableError, match="given twice"):
        rows(spark, dotted, tables={"db.t": DATA, ("DB", "t"): DATA})


def test_columns_are_found_by_name(spark: SparkSession) -> None:
    table = pa.table({"Extra": [0, 0], "WORD": ["a", None], "Id": [1, 2], "more": [0, 0]})
    node = stored("t", {"id": LONG, "word": TEXT_})
    assert ordered(rows(spark, node, tables={"t": table})) == ordered(WANTED)
    with pytest.raises(TableError, match=r"t has no column price\. Its columns: Extra, WORD, Id, more"):
        rows(spark, stored("t", {"id": LONG, "price": LONG}), tables={"t": table})
    twice = spark.sql("SELECT 1L AS id, 2L AS ID, 'a' AS word")
    with pytest.raises(TableError, match="t has 2 columns named id"):
        rows(spark, node, tables={"t": twice})


def test_case_matters_where_the_session_says_so(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        table = pa.table({"id": [1], "ID": [2]})
        assert rows(spark, stored("t", {"ID": LONG, "id": LONG}), tables={"t": table, "T": DATA}) == [(2, 1)]
        with pytest.raises(TableError, match="no column Id"):
            rows(spark, stored("t", {"Id": LONG}), tables={"t": table})
    finally:
        spark.conf.unset("spark.sql.caseSensitive")


def test_types_that_hold_the_values_are_widened(spark: SparkSession) -> None:
    found: dict[str, tuple[pa.Array, Type, Any]] = {
        "i8": (pa.array([1], pa.int8()), LONG, 1),
        "i16": (pa.array([1], pa.int16()), INT, 1),
        "i32": (pa.array([1], pa.int32()), Decimal(precision=12, scale=2), Number("1.00")),
        "fp32": (pa.array([0.5], pa.float32()), REAL, 0.5),
        "dec": (pa.array([Number("1.5")], pa.decimal128(5, 1)), Decimal(precision=10, scale=3), Number("1.500")),
        "str": (pa.array(["ab"]), FixedChar(length=3), "ab "),
        "str2": (pa.array(["ab"]), VarChar(length=2), "ab"),
        "date": (pa.array([datetime.date(2024, 2, 29)]), Date(), datetime.date(2024, 2, 29)),
        "ts": (
            pa.array([datetime.datetime(2024, 2, 29, 12)], pa.timestamp("us")),
            PrecisionTimestamp(precision=6),
            datetime.datetime(2024, 2, 29, 12),
        ),
        "tstz": (
            pa.array([datetime.datetime(2024, 2, 29, 12, tzinfo=datetime.timezone.utc)], pa.timestamp("us", "UTC")),
            PrecisionTimestampTZ(precision=6),
            datetime.datetime(2024, 2, 29, 12, tzinfo=datetime.timezone.utc),
        ),
    }
    table = pa.table({name: array for name, (array, _, _) in found.items()})
    node = stored("t", {name: type for name, (_, type, _) in found.items()})
    assert rows(spark, node, tables={"t": table}) == [tuple(value for _, _, value in found.values())]


def test_naive_timestamps_of_every_source(spark: SparkSession, tmp_path: Path) -> None:
    noon = datetime.datetime(2024, 2, 29, 12)
    table = pa.table({"at": pa.array([noon], pa.timestamp("us"))})
    pq.write_table(table, tmp_path / "t.parquet")
    frame = spark.sql("SELECT TIMESTAMP_NTZ'2024-02-29 12:00:00' AS at")
    node = stored("t", {"at": PrecisionTimestamp(precision=6)})
    for given in (table, tmp_path / "t.parquet", frame):
        assert rows(spark, node, tables={"t": given}) == [(noon,)]


def test_types_that_lose_values_are_refused(spark: SparkSession) -> None:
    cases: list[tuple[pa.Array, Type]] = [
        (pa.array([1], pa.int16()), TEXT),
        (pa.array([1], pa.int64()), REAL),
        (pa.array(["1"]), INT),
        (pa.array([0.5]), LONG),
        (pa.array([0.5]), FP32()),
        (pa.array([Number("1.5")], pa.decimal128(5, 1)), LONG),
        (pa.array([Number("1.5")], pa.decimal128(5, 1)), Decimal(precision=10, scale=0)),
        (pa.array([[1]]), INT),
        (pa.array([1]), List(type=LONG)),
        (pa.array([{"a": 1}]), Map(key=TEXT, value=LONG)),
    ]
    for array, type in cases:
        with pytest.raises(TableError, match=r"t\.c is .*, which cannot be read as"):
            rows(spark, stored_nested(type, ("c",)), tables={"t": pa.table({"c": array})})


def test_narrower_types_take_the_values_that_fit(spark: SparkSession) -> None:
    cases: list[tuple[Any, Any, pa.DataType, Type]] = [
        (127, 128, pa.int64(), I8()),
        (2**31 - 1, -(2**31) - 1, pa.int64(), INT),
        (999, 1000, pa.int32(), Decimal(precision=5, scale=2)),
        (Number("9.9"), Number("10.0"), pa.decimal128(5, 1), Decimal(precision=3, scale=2)),
        (Number(2**31 - 1), Number(2**31), pa.decimal128(20, 0), INT),
        ("ab", "abc", pa.string(), VarChar(length=2)),
        ("ab", "abc", pa.string(), FixedChar(length=2)),
    ]
    for fits, too_large, found, type in cases:
        node = stored("t", {"c": type})
        assert rows(spark, node, tables={"t": pa.table({"c": pa.array([fits], found)})}) == [(fits,)]
        with pytest.raises(ExecutionError):
            rows(spark, node, tables={"t": pa.table({"c": pa.array([fits, too_large], found)})})


def stored_nested(type: Type, names: tuple[str, ...]) -> Read:
    return Read(base_schema=NamedStruct(names=names, struct=Struct(types=(type,))), read_type=NamedTable(names=("t",)))


def test_nulls_where_the_plan_says_there_are_none(spark: SparkSession, tmp_path: Path) -> None:
    table = pa.table({"id": pa.array([1, None]), "n": pa.array([1, 2])})
    pq.write_table(table, tmp_path / "t.parquet")
    for given in (table, frame_of_arrow(spark, table), tmp_path / "t.parquet"):
        node = stored("t", {"id": LONG, "n": LONG})
        with pytest.raises(ExecutionError, match=r"t\.id(, t\.n)? is null, but the plan says it never is"):
            rows(spark, node, tables={"t": given})
        # columns that nobody looks at are not looked at
        counted = where(stored("t", {"n": LONG}), call("gt", col(stored("t", {"n": LONG}), 0), long(0)))
        assert len(rows(spark, counted, tables={"t": given})) == 2
        assert ordered(rows(spark, stored("t", {"id": LONG_, "n": LONG}), tables={"t": given})) == [(1, 1), (None, 2)]


def test_footers_say_where_no_null_is(spark: SparkSession, tmp_path: Path) -> None:
    from pyspark_substrait.spark.tables import file_table

    pq.write_table(pa.table({"a": [1], "b": pa.array([None], pa.int64())}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"a": [1], "b": [2]}), tmp_path / "2.parquet")
    assert file_table("t", [str(tmp_path)], spark).without_nulls == {"a"}
    assert file_table("t", [str(tmp_path / "2.parquet")], spark).without_nulls == {"a", "b"}
    # without statistics nothing is known
    pq.write_table(pa.table({"a": [1], "b": [2]}), tmp_path / "3.parquet", write_statistics=False)
    assert file_table("t", [str(tmp_path)], spark).without_nulls == frozenset()
    assert len(rows(spark, stored("t", {"a": LONG}), tables={"t": tmp_path})) == 3


PLACE = pa.struct([("Y", pa.int32()), ("x", pa.int16()), ("more", pa.string())])
NESTED = pa.table(
    {"id": [1, 2], "place": [{"Y": 2, "x": 1, "more": ""}, None], "list": [[{"Y": 4, "x": 3, "more": ""}], []]},
    schema=pa.schema([("id", pa.int64()), ("place", PLACE), ("list", pa.list_(PLACE))]),
)


def test_nested_fields_are_found_by_name(spark: SparkSession) -> None:
    place = Struct(types=(LONG_, INT_), nullable=True)
    wanted = schema((List(type=place), place), ("list", "x", "y", "place", "x", "y"))
    node = Read(base_schema=wanted, read_type=NamedTable(names=("t",)))
    document = plan(node, ("list", "x", "y", "place", "a", "b"))
    found = ps.run_query(document, tables={"t": NESTED}, spark=spark)
    assert found.to_pylist() == [
        {"list": [{"x": 3, "y": 4}], "place": {"a": 1, "b": 2}},
        {"list": [], "place": None},
    ]
    frame = ps.from_substrait(document, spark, tables={"t": NESTED})
    assert frame.columns == ["list", "place"]
    kind = frame.schema["place"].dataType
    assert isinstance(kind, StructType) and kind.names == ["a", "b"]
    with pytest.raises(TableError, match="place of t has no column z"):
        other = schema((Struct(types=(LONG,), nullable=True),), ("place", "z"))
        rows(spark, Read(base_schema=other, read_type=NamedTable(names=("t",))), tables={"t": NESTED})


def test_nulls_inside_nested_values(spark: SparkSession, tmp_path: Path) -> None:
    kind = pa.struct([("x", pa.int32())])
    table = pa.table(
        {
            "s": pa.array([{"x": 1}, {"x": None}], kind),
            "l": pa.array([[1, 2], [None]], pa.list_(pa.int32())),
            "m": pa.array([[("a", 1)], [("b", None)]], pa.map_(pa.string(), pa.int32())),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet")
    loose: dict[str, tuple[Type, tuple[str, ...]]] = {
        "s": (Struct(types=(INT_,)), ("s", "x")),
        "l": (List(type=INT_), ("l",)),
        "m": (Map(key=TEXT, value=INT_), ("m",)),
    }
    strict: dict[str, tuple[Type, tuple[str, ...]]] = {
        "s": (Struct(types=(INT,)), ("s", "x")),
        "l": (List(type=INT), ("l",)),
        "m": (Map(key=TEXT, value=INT), ("m",)),
    }
    for given in (table, tmp_path / "t.parquet"):
        for type, names in loose.values():
            assert len(rows(spark, stored_nested(type, names), tables={"t": given})) == 2
        for name, (type, names) in strict.items():
            with pytest.raises(ExecutionError, match=rf"t\.{name}\..* is null, but the plan says it never is"):
                rows(spark, stored_nested(type, names), tables={"t": given})


def test_a_part_of_nested_values_that_one_file_lacks(spark: SparkSession, tmp_path: Path) -> None:
    whole = pa.array([{"a": 1, "b": 2}], pa.struct([("a", pa.int64()), ("b", pa.int64())]))
    pq.write_table(pa.table({"c": whole}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"c": pa.array([{"a": 3}], pa.struct([("a", pa.int64())]))}), tmp_path / "2.parquet")
    loose, strict = Struct(types=(LONG, LONG_)), Struct(types=(LONG, LONG))
    found = rows(spark, stored_nested(loose, ("c", "a", "b")), tables={"t": tmp_path})
    assert ordered(found) == ordered([({"n1": 1, "n2": 2},), ({"n1": 3, "n2": None},)])
    with pytest.raises(ExecutionError, match=r"t\.c\.b is null, but the plan says it never is"):
        rows(spark, stored_nested(strict, ("c", "a", "b")), tables={"t": tmp_path})


def test_a_column_in_files_and_in_the_names_of_their_folders(spark: SparkSession, tmp_path: Path) -> None:
    for folder in ("a=1", "a=__HIVE_DEFAULT_PARTITION__"):
        (tmp_path / folder).mkdir()
        pq.write_table(pa.table({"a": pa.array([7], pa.int32())}), tmp_path / folder / "1.parquet")
    loose, strict = stored("t", {"a": INT_}), stored("t", {"a": INT})
    by_hand = [tuple(row) for row in spark.read.parquet(str(tmp_path)).collect()]
    assert ordered(rows(spark, loose, tables={"t": tmp_path})) == ordered(by_hand) == ordered([(1,), (None,)])
    with pytest.raises(ExecutionError, match=r"t\.a is null, but the plan says it never is"):
        rows(spark, strict, tables={"t": tmp_path})
    spark.read.parquet(str(tmp_path)).createOrReplaceTempView("by_folder")
    try:
        for _ in range(3):
            with pytest.raises(ExecutionError, match=r"by_folder\.a is null, but the plan says it never is"):
                rows(spark, stored("by_folder", {"a": INT}))
    finally:
        spark.catalog.dropTempView("by_folder")


def test_maps_of_the_caller_come_back(spark: SparkSession) -> None:
    table = pa.table({"m": pa.array([[("a", 1)], None, []], pa.map_(pa.string(), pa.int32()))})
    node = stored_nested(Map(key=TEXT, value=INT, nullable=True), ("m",))
    assert ordered(rows(spark, node, tables={"t": table})) == ordered([(None,), ([("a", 1)],), ([],)])


def test_result_names_may_repeat(spark: SparkSession) -> None:
    node = stored("t", {"id": LONG, "word": TEXT_})
    found = ps.run_query(plan(node, ("n", "n")), tables={"t": DATA}, spark=spark)
    assert found.column_names == ["n", "n"]
    assert [field.nullable for field in found.schema] == [False, True]
    assert ordered(tuples(found)) == ordered(WANTED)
    assert ps.from_substrait(plan(node, ("n", "n")), spark, tables={"t": DATA}).columns == ["n", "n"]
    with pytest.raises(SubstraitError, match="the root has 1 names"):
        ps.run_query(plan(node, ("n",)), tables={"t": DATA}, spark=spark)


def test_one_table_read_twice(spark: SparkSession) -> None:
    one, other = stored("t", {"id": LONG}), stored("T", {"word": TEXT_, "id": LONG})
    from pyspark_substrait.model.relations import JoinType
    from tests.spark.plans import both

    node = join(one, other, call("equal", col(both(one, other), 0), col(both(one, other), 2)), JoinType.INNER)
    assert ordered(rows(spark, node, tables={"t": DATA})) == ordered([(1, "a", 1), (2, None, 2)])


def test_names_like_those_of_the_statement(spark: SparkSession) -> None:
    """Tables and columns that are called as the statement calls its own."""
    table = pa.table({"c2": [1, 2], "c1": ["a", "b"], "f0": [0, 0]})
    node = stored("r1", {"c1": TEXT_, "c2": LONG, "f0": LONG})
    shared = where(node, call("gt", col(node, 1), long(1)))
    again = Reference(subtree_ordinal=1, subtree=shared)
    wanted = [("a", 1, 0, "b", 2, 0), ("b", 2, 0, "b", 2, 0)]
    for name in ("r1", "r4", "r8", "t1", "s1", "c1", "v"):
        named = stored(name, {"c1": TEXT_, "c2": LONG, "f0": LONG})
        document = plan(join_all(named, again), (), shared)
        frame_of_arrow(spark, table).createOrReplaceTempView(name)
        frame_of_arrow(spark, table).createOrReplaceTempView("r1")
        try:
            assert ordered(tuples(ps.run_query(document, spark=spark))) == ordered(wanted), name
        finally:
            spark.catalog.dropTempView(name)
            spark.catalog.dropTempView("r1")
        given = {name: table, "r1": table}
        assert ordered(tuples(ps.run_query(document, spark=spark, tables=given))) == ordered(wanted), name


def join_all(left: Any, right: Any) -> Any:
    from pyspark_substrait.model.relations import Cross

    return Cross(left=left, right=right)


def test_schemas_of_results(spark: SparkSession) -> None:
    node = stored("t", {"a": I16(), "b": REAL_})
    found = run(spark, node, tables={"t": pa.table({"a": pa.array([1], pa.int16()), "b": [0.5]})})
    assert [str(field.type) for field in found.schema] == ["int16", "double"]
    assert [field.nullable for field in found.schema] == [False, True]


@pytest.mark.parametrize("is_remote", [False, True])
@pytest.mark.parametrize(
    "log", ["_delta_log/00000000000000000000.json", ".hoodie/hoodie.properties", "metadata/v1.metadata.json"]
)
def test_a_folder_with_a_log_is_no_table_of_files(
    log: str, is_remote: bool, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files that an update replaced are still in the folder."""
    if is_remote:
        if "TEST_REMOTE" in os.environ:
            pytest.skip("a Connect session can't look at files")
        monkeypatch.setattr(tables, "local_path", lambda path: None)
    folder = tmp_path / "given"
    (folder / log).parent.mkdir(parents=True)
    (folder / log).write_text("{}")
    pq.write_table(DATA, folder / "part.parquet")
    name = {"_": "Delta", ".": "Hudi", "m": "Iceberg"}[log[0]]
    with pytest.raises(
        TableError, match=rf"given for a\.b, belongs to a table of {name}, .*has no source of that format"
    ):
        tables.given_table("a.b", folder.as_uri(), spark)
    part = folder / "day=1"
    part.mkdir()
    pq.write_table(DATA, part / "part.parquet")
    with pytest.raises(TableError, match=rf"belongs to a table of {name}, .*Give .*/given, and filter"):
        tables.given_table("a.b", part.as_uri().replace("%3D", "="), spark)
    file = tables.given_table("a.b", part / "part.parquet", spark)
    assert file.frame.count() == DATA.num_rows


@pytest.mark.skipif("TEST_REMOTE" in os.environ, reason="a data source in Python is registered in a classic session")
def test_a_folder_with_a_log_is_read_by_the_source_of_its_format(spark: SparkSession, tmp_path: Path) -> None:
    datasource = pytest.importorskip("pyspark.sql.datasource")

    class Hudi(datasource.DataSource):  # type: ignore[misc, name-defined, unused-ignore]
        """Puts out the path."""

        @classmethod
        def name(cls) -> str:
            return "hudi"

        def schema(self) -> str:
            return "a STRING"

        def reader(self, schema: Any) -> Any:
            path = self.options["path"]

            class Reader(datasource.DataSourceReader):  # type: ignore[misc, name-defined, unused-ignore]
                def read(self, partition: Any) -> Iterator[tuple[str]]:
                    yield (path,)

            return Reader()

    session = spark.newSession()
    session.dataSource.register(Hudi)
    (tmp_path / ".hoodie").mkdir()
    pq.write_table(DATA, tmp_path / "part.parquet")
    assert tables.given_table("t", tmp_path, session).frame.collect() == [(str(tmp_path),)]
