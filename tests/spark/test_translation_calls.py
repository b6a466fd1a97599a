"""How often Spark is asked for a translation, and that what is asked at once is what single questions would say."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pyspark_substrait as ps
from pyspark_substrait.errors import ExecutionError, TableError, UnsupportedPlanError
from pyspark_substrait.model.relations import Cross, NamedTable, Read
from pyspark_substrait.model.types import NamedStruct, Struct, Type
from pyspark_substrait.spark.arrow_transfer import collected, frame_of_arrow
from pyspark_substrait.spark.compatibility import session_version
from pyspark_substrait.spark.session import is_connect
from tests.spark.plans import LONG, LONG_, TEXT, TEXT_, ordered, plan, rows, stored, table_names, tuples

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: so many translations ask in single calls before a session gets its own answers
FEW = 2


@contextmanager
def setting(spark: SparkSession, key: str, value: str) -> Iterator[None]:
    """A setting with another value."""
    before = spark.conf.get(key)
    spark.conf.set(key, value)
    try:
        yield
    finally:
        spark.conf.set(key, before)  # type: ignore[arg-type]


@contextmanager
def view(spark: SparkSession, name: str, columns: dict[str, list[Any]]) -> Iterator[None]:
    """A temporary view of some columns."""
    frame_of_arrow(spark, pa.table(columns)).createOrReplaceTempView(f"`{name}`")
    try:
        yield
    finally:
        spark.catalog.dropTempView(name)


@contextmanager
def asked(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, int]]]:
    """What this thread asks meanwhile: calls of py4j or requests to the server, and how long each answer was."""
    found: list[tuple[str, int]] = []
    ours = threading.get_ident()
    with monkeypatch.context() as patch:
        if is_connect(spark):
            client: Any = spark.client
            for name in ("config", "_analyze", "execute_command", "to_table"):
                before = getattr(client, name)

                def request(*given: Any, name: str = name, before: Any = before, **more: Any) -> Any:
                    found.append((name, 0))
                    return before(*given, **more)

                patch.setattr(client, name, request)
        else:
            from py4j.clientserver import ClientServerConnection

            send = ClientServerConnection.send_command

            def command(self: Any, text: str) -> Any:
                answer = send(self, text)
                if threading.get_ident() == ours and not text.startswith("m\nd\n"):  # which releases an object
                    found.append((text, len(answer)))
                return answer

            patch.setattr(ClientServerConnection, "send_command", command)
        yield found


def crossed(*tables: Read) -> Any:
    """The product of some tables."""
    node: Any = tables[0]
    for table in tables[1:]:
        node = Cross(left=node, right=table)
    return node


def test_a_translation_asks_a_few_times_however_many_tables(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"asked_{letter}" for letter in "abcdef"]
    for name in names:
        frame_of_arrow(spark, pa.table({"id": [1]})).createOrReplaceTempView(name)
    try:
        document = plan(crossed(*(stored(name, {"id": LONG_}) for name in names)), deep=False)
        for _ in range(FEW):
            ps.from_substrait(document, spark)
        ps.from_substrait(document, spark)
        with asked(spark, monkeypatch) as found:
            frame = ps.from_substrait(document, spark)
            assert len(frame.columns) == 6
        if is_connect(spark):
            # the settings, the tables, the statement
            assert [what for what, _ in found] == ["config", "_analyze", "_analyze"]
        else:
            # settings and tables, the statement; and then the columns of the result
            assert len([text for text, _ in found if "\nschema\n" not in text and "\njson\n" not in text]) == 2
    finally:
        for name in names:
            spark.catalog.dropTempView(name)


def test_a_given_table_becomes_a_view_by_a_command_once(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pq.write_table(pa.table({"id": [1, 2]}), tmp_path / "t.parquet")
    document = plan(stored("t", {"id": LONG_}), deep=False)
    before = table_names(spark)
    for _ in range(FEW + 1):
        ps.from_substrait(document, spark, tables={"t": tmp_path / "t.parquet"})
    with asked(spark, monkeypatch) as found:
        frame = ps.from_substrait(document, spark, tables={"t": tmp_path / "t.parquet"})
    if is_connect(spark):
        assert [what for what, _ in found] == ["config", "_analyze"]
    else:
        assert len(found) == 7
        assert not any("createOrReplaceTempView" in text for text, _ in found)
    assert table_names(spark) == before
    assert ordered(tuples(collected(frame))) == [(1,), (2,)]


def test_a_run_asks_a_few_times(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    with view(spark, "run_asks", {"id": [1]}):
        document = plan(stored("run_asks", {"id": LONG_}), deep=False)
        for _ in range(FEW + 1):
            ps.run_query(document, spark=spark)
        with asked(spark, monkeypatch) as found:
            ps.run_query(document, spark=spark)
    if is_connect(spark):
        assert [what for what, _ in found] == ["config", "_analyze", "_analyze", "to_table"]
    else:
        assert len(found) < 40


def test_a_wide_table_comes_over_in_parts(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    width = 3000
    spark.range(1).selectExpr(*(f"id AS a_long_name_of_column_{n}" for n in range(width))).createOrReplaceTempView(
        "wide_one"
    )
    try:
        document = plan(stored("wide_one", {f"a_long_name_of_column_{width - 1}": LONG}), deep=False)
        for _ in range(FEW + 1):
            ps.from_substrait(document, spark)
        with asked(spark, monkeypatch) as found:
            ps.from_substrait(document, spark)
        assert len(found) < 20
        assert all(length <= 8000 for _, length in found)
        assert rows(spark, stored("wide_one", {"a_long_name_of_column_7": LONG})) == [(0,)]
        with pytest.raises(TableError, match="wide_one has no column missing"):
            rows(spark, stored("wide_one", {"missing": LONG}))
    finally:
        spark.catalog.dropTempView("wide_one")


def test_a_table_that_changes_is_seen_at_once(spark: SparkSession) -> None:
    read, text = stored("changing", {"a": LONG_}), stored("changing", {"a": TEXT_})
    with view(spark, "changing", {"a": [1]}):
        for _ in range(FEW + 2):
            assert rows(spark, read) == [(1,)]
        frame_of_arrow(spark, pa.table({"b": [0], "A": [2]})).createOrReplaceTempView("changing")
        assert rows(spark, read) == [(2,)]
        frame_of_arrow(spark, pa.table({"a": ["x"]})).createOrReplaceTempView("changing")
        assert rows(spark, text) == [("x",)]
        with pytest.raises(TableError, match=r"changing\.a is string"):
            rows(spark, read)
    with pytest.raises(TableError, match="there is no table changing"):
        rows(spark, read)


def test_one_missing_table_of_several_is_named(spark: SparkSession) -> None:
    with view(spark, "present", {"a": [1]}):
        for _ in range(FEW + 2):
            with pytest.raises(TableError, match="there is no table absent"):
                rows(spark, crossed(stored("present", {"a": LONG_}), stored("absent", {"a": LONG_})))


def test_names_that_need_quotes(spark: SparkSession) -> None:
    for name in ("with space", "tick`s", "a.b", "Ünïcode", "t0", "select"):
        frame_of_arrow(spark, pa.table({"a": [1], "b c.d`e": [2]})).createOrReplaceTempView(
            "`" + name.replace("`", "``") + "`"
        )
        try:
            for _ in range(FEW + 1):
                one = stored((name,), {"b c.d`e": LONG_})
                assert rows(spark, crossed(one, stored((name.upper(),), {"a": LONG_}))) == [(2, 1)]
        finally:
            spark.catalog.dropTempView(name)


def test_case_counts_where_the_session_says_so(spark: SparkSession) -> None:
    with setting(spark, "spark.sql.caseSensitive", "true"):
        frame_of_arrow(spark, pa.table({"a": [1], "A": [2]})).createOrReplaceTempView("Cased")
        frame_of_arrow(spark, pa.table({"a": ["x"]})).createOrReplaceTempView("cased")
        try:
            for _ in range(FEW + 1):
                large, small = stored("Cased", {"A": LONG_}), stored("cased", {"a": TEXT_})
                assert rows(spark, crossed(large, small)) == [(2, "x")]
            with pytest.raises(TableError, match="there is no table CASED"):
                rows(spark, stored("CASED", {"a": LONG_}))
        finally:
            spark.catalog.dropTempView("Cased")
            spark.catalog.dropTempView("cased")


def test_a_temporary_view_stands_before_a_table_unless_the_session_says_otherwise(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE shadowed (a BIGINT) USING parquet")
    try:
        spark.sql("INSERT INTO shadowed VALUES (1)")
        for _ in range(FEW + 1):
            assert rows(spark, stored("shadowed", {"a": LONG_})) == [(1,)]
        with view(spark, "shadowed", {"a": ["view"]}):
            assert rows(spark, stored("shadowed", {"a": TEXT_})) == [("view",)]
            assert rows(spark, stored(("spark_catalog", "default", "shadowed"), {"a": LONG_})) == [(1,)]
            assert rows(spark, stored(("default", "shadowed"), {"a": LONG_})) == [(1,)]
            if session_version(spark) >= (4, 2):
                with setting(spark, "spark.sql.functionResolution.sessionOrder", "last"):
                    assert rows(spark, stored("shadowed", {"a": LONG_})) == [(1,)]
        assert rows(spark, stored("shadowed", {"a": LONG_})) == [(1,)]
    finally:
        spark.sql("DROP TABLE shadowed")


def test_a_view_of_a_text_follows_its_table(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql(f"CREATE TABLE followed (a BIGINT) USING parquet LOCATION '{tmp_path / 'followed'}'")
    spark.sql("CREATE TEMPORARY VIEW following AS SELECT * FROM followed")
    spark.range(7, 8).createOrReplaceGlobalTempView("everywhere")
    try:
        spark.sql("INSERT INTO followed VALUES (1)")
        read = crossed(stored("following", {"a": LONG_}), stored(("global_temp", "everywhere"), {"id": LONG}))
        for _ in range(FEW + 1):
            assert rows(spark, read) == [(1, 7)]
        spark.sql("INSERT OVERWRITE followed VALUES (2)")
        assert rows(spark, read) == [(2, 7)]
        spark.sql("DROP TABLE followed")
        with pytest.raises(TableError, match="there is no table following"):
            rows(spark, read)
    finally:
        spark.sql("DROP TABLE IF EXISTS followed")
        spark.catalog.dropTempView("following")
        spark.catalog.dropGlobalTempView("everywhere")


def test_what_is_asked_at_once_is_what_single_questions_say(spark: SparkSession) -> None:
    if is_connect(spark):
        pytest.skip("its server is asked for structs, which the other tests do")
    from pyspark_substrait.spark.table_facts import table_facts

    spark.sql("CREATE TABLE described (c CHAR(3) NOT NULL COMMENT 'x', m MAP<STRING, INT>) USING parquet")
    spark.sql("SELECT 1 AS a, array(named_struct('x', 1)) AS l, c, INTERVAL '1' DAY AS d FROM described").alias(
        "d"
    ).createOrReplaceTempView("described_view")
    try:
        tables = [("`described`", "described"), ("`described_view`", "described_view"), ("`no`", "no")]
        found = None
        for _ in range(FEW + 1):
            found = table_facts(spark, ["spark.sql.ansi.enabled", "no.such.setting"], tables)
        assert found is not None
        assert found.settings == [spark.conf.get("spark.sql.ansi.enabled"), None]
        assert found.schemas == [spark.table(path)._jdf.schema().json() for path, _ in tables[:2]] + [None]
    finally:
        spark.catalog.dropTempView("described_view")
        spark.sql("DROP TABLE described")


STRICT = stored("of_files", {"id": LONG, "word": TEXT})
REFUSED = "is null, but the plan says it never is"


@contextmanager
def view_of_files(spark: SparkSession, frame: DataFrame) -> Iterator[None]:
    frame.createOrReplaceTempView("of_files")
    try:
        for _ in range(FEW):
            ps.from_substrait(plan(STRICT, deep=False), spark)
        yield
    finally:
        spark.catalog.dropTempView("of_files")


def checked(spark: SparkSession) -> bool:
    """Whether the statement of :data:`STRICT` looks for nulls."""
    frame: Any = ps.from_substrait(plan(STRICT, deep=False), spark)
    return "assert_true" in frame._jdf.queryExecution().analyzed().toString()


@pytest.mark.since("4.2", "before, nulls are looked for although the files have none")
def test_files_of_a_view_prove_that_there_is_no_null(spark: SparkSession, tmp_path: Path) -> None:
    if is_connect(spark):
        pytest.skip("the server's files aren't this machine's")
    for number in (1, 2):
        pq.write_table(pa.table({"id": [number], "word": [f"ä{number}"]}), tmp_path / f"with space %2 {number}.parquet")
    with view_of_files(spark, spark.read.parquet(str(tmp_path))):
        assert not checked(spark)
        assert ordered(rows(spark, STRICT)) == [(1, "ä1"), (2, "ä2")]
    with view_of_files(spark, spark.read.parquet(str(tmp_path)).where("id < 2")):
        assert checked(spark)
        assert rows(spark, STRICT) == [(1, "ä1")]


def test_files_of_a_view_prove_nothing_where_there_are_nulls(spark: SparkSession, tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": [1], "word": ["a"]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"id": [2], "word": pa.array([None], pa.string())}), tmp_path / "2.parquet")
    with view_of_files(spark, spark.read.parquet(str(tmp_path))), pytest.raises(ExecutionError, match=REFUSED):
        rows(spark, STRICT)


def test_files_of_a_view_that_lack_a_column(spark: SparkSession, tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": [1], "word": ["a"]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"id": [2]}), tmp_path / "2.parquet")
    frame = spark.read.schema("id BIGINT, word STRING").parquet(str(tmp_path))
    with view_of_files(spark, frame), pytest.raises(ExecutionError, match=REFUSED):
        rows(spark, STRICT)


def test_parts_of_nested_values_that_only_a_view_has(spark: SparkSession, tmp_path: Path) -> None:
    pq.write_table(pa.table({"c": pa.array([{"a": 1}], pa.struct([("a", pa.int64())]))}), tmp_path / "1.parquet")
    schema = NamedStruct(names=("c", "a", "b"), struct=Struct(types=(Struct(types=(LONG, LONG)),)))
    read = Read(base_schema=schema, read_type=NamedTable(names=("of_files",)))
    spark.read.schema("c STRUCT<a: BIGINT, b: BIGINT>").parquet(str(tmp_path)).createOrReplaceTempView("of_files")
    try:
        for _ in range(FEW + 1):
            with pytest.raises(ExecutionError, match=REFUSED):
                rows(spark, read)
    finally:
        spark.catalog.dropTempView("of_files")


def test_files_of_a_view_are_looked_at_again(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "t.parquet"
    pq.write_table(pa.table({"id": [1], "word": ["a"]}), file)
    with view_of_files(spark, spark.read.parquet(str(file))):
        assert rows(spark, STRICT) == [(1, "a")]
        pq.write_table(pa.table({"id": [1, 2], "word": ["a", None]}), file)
        spark.catalog.refreshByPath(str(file))
        with pytest.raises(ExecutionError, match=REFUSED):
            rows(spark, STRICT)


def test_settings_are_those_of_now(spark: SparkSession) -> None:
    with view(spark, "set_now", {"a": [1]}):
        document = plan(stored("set_now", {"a": LONG_}), deep=False)
        for _ in range(FEW + 1):
            ps.from_substrait(document, spark)
        with setting(spark, "spark.sql.ansi.enabled", "false"):
            if is_connect(spark):  # which has no copies
                with pytest.raises(UnsupportedPlanError, match=r"needs spark\.sql\.ansi\.enabled=true"):
                    ps.from_substrait(document, spark)
                return
            copy = ps.from_substrait(document, spark).sparkSession
            assert copy is not spark and copy.conf.get("spark.sql.ansi.enabled") == "true"
        assert ps.from_substrait(document, spark).sparkSession is spark


def test_threads_translate_side_by_side(spark: SparkSession) -> None:
    before = table_names(spark)
    shared = spark.range(3)
    shape: dict[str, Type] = {"id": LONG}

    def translated(number: int) -> list[tuple[Any, ...]]:
        own = pa.table({"id": [number]}, schema=pa.schema([pa.field("id", pa.int64(), nullable=False)]))
        tables = {"shared": shared, "own": own}
        node = crossed(stored("shared", shape), stored("own", shape))
        return ordered(tuples(ps.run_query(plan(node), tables=tables, spark=spark)))

    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(translated, range(32)))
    assert found == [[(0, number), (1, number), (2, number)] for number in range(32)]
    assert table_names(spark) == before
