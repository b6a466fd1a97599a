"""What comes from a plan is only ever a name or a value; what can't be carried out is refused before Spark starts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql.types import StructType

import pyspark_substrait as ps
from pyspark_substrait import documents
from pyspark_substrait.errors import SubstraitError, TableError, UnsupportedPlanError
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.relations import (
    AdvancedExtension,
    ComparisonJoinKey,
    Cross,
    Fetch,
    Filter,
    HashJoin,
    JoinType,
    LocalFiles,
    MergeJoin,
    NamedObjectWrite,
    NamedTable,
    NestedLoopJoin,
    Project,
    Read,
    RelCommon,
    Set,
    SetOp,
    Sort,
    Write,
    WriteOp,
)
from pyspark_substrait.model.types import Map, NamedStruct, Struct, VarChar
from tests.spark.plans import (
    INT,
    LONG,
    TEXT,
    TEXT_,
    aggregate,
    call,
    col,
    group,
    join,
    lit,
    long,
    number,
    ordered,
    plan,
    project,
    rows,
    sort,
    stored,
    text,
    truth,
    tuples,
    values,
    where,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HOSTILE = [
    "a`b",
    "``",
    "`; DROP TABLE t; --",
    "x' OR '1'='1",
    'it\'s "quoted"',
    "\\' OR 1=1 --",
    "ends with \\",
    "semi;colon",
    "{t1}",
    "{",
    "}}{{",
    "{0} {t1!r} {{x}}",
    "%s %d $1 :name ?",
    "/* comment */ -- rest",
    "new\nline\ttab\rreturn",
    "dotted.name.of.parts",
    "select",
    " ",
    "é☃𝄞‮",
    "n" * 10_000,
    "c1",
    "f0",
]
# these can't be names in Spark, but they can be values
IMPOSSIBLE = ["nul\x00byte", "\x00t1\x00", "${env:HOME}", "${spark.app.name}", "a${"]


@pytest.fixture
def untouched(spark: SparkSession) -> Iterator[None]:
    """A view that nothing may touch."""
    spark.sql("SELECT 1 AS x").createOrReplaceTempView("t")
    yield
    assert [row.x for row in spark.table("t").collect()] == [1]
    spark.catalog.dropTempView("t")


def test_strings_are_values(spark: SparkSession, untouched: None) -> None:
    for several in (HOSTILE, IMPOSSIBLE):
        table = values([INT, TEXT], [(i, text(item)) for i, item in enumerate(several)])
        found = dict(rows(spark, table))
        assert [found[i] for i in range(len(several))] == several
    # in every place where a literal may stand, with frames in the statement and without
    items = HOSTILE + IMPOSSIBLE
    given = {"given": pa.table({"w": items})}
    for start in range(0, len(items), 9):
        part = items[start : start + 9]
        stored_ = stored("given", {"w": TEXT_})
        node = project(
            where(stored_, call("equal", col(stored_, 0), text(part[0]))),
            *(text(item) for item in part),
            *(lit(VarChar(length=len(item)), item) for item in part[:2]),
            lit(Map(key=TEXT, value=TEXT), {item: item for item in part}),
        )
        [row] = rows(spark, node, tables=given)
        assert list(row[:-1]) == part + part[:2]
        assert dict(row[-1]) == {item: item for item in part}


def test_names_of_results_are_names(spark: SparkSession, untouched: None) -> None:
    width = len(HOSTILE)
    table = values([INT] * width, [range(width)])
    found = ps.run_query(plan(table, HOSTILE), spark=spark)
    assert found.column_names == HOSTILE and tuples(found) == [tuple(range(width))]
    frame = ps.from_substrait(plan(table, HOSTILE), spark)
    assert frame.columns == HOSTILE and tuple(frame.collect()[0]) == tuple(range(width))
    # the same, nested, and with a frame in the statement
    struct = Struct(types=(INT,) * width)
    given = stored("given", {"k": LONG})
    node = project(given, lit(struct, range(width)))
    document = plan(node, ("s", *HOSTILE))
    options: dict[str, Any] = {"tables": {"given": pa.table({"k": [1]})}, "spark": spark}
    assert list(ps.run_query(document, **options).to_pylist()[0]["s"]) == HOSTILE
    kind = ps.from_substrait(document, **options).schema["s"].dataType
    assert isinstance(kind, StructType) and kind.names == HOSTILE
    assert ps.to_sql(plan(table, HOSTILE)).count("SELECT") >= 1


def test_names_that_spark_cannot_have_are_refused(spark: SparkSession, untouched: None) -> None:
    table = values([INT], [(1,)])
    for name in IMPOSSIBLE:
        assert ps.run_query(plan(table, (name,)), spark=spark).column_names == [name]
        with pytest.raises(UnsupportedPlanError, match="cannot have the name"):
            ps.from_substrait(plan(table, (name,)), spark)
        with pytest.raises(SubstraitError):
            rows(spark, stored(name, {"x": INT}))
        with pytest.raises(UnsupportedPlanError, match="cannot have the name"):
            ps.to_sql(plan(stored(name, {"x": INT})))


@pytest.mark.sweep
def test_names_of_tables_and_columns_are_names(spark: SparkSession, untouched: None) -> None:
    usual = [name for name in HOSTILE if name not in ("``", " ")]
    columns = dict.fromkeys(usual, LONG)
    data = pa.table({name: [i] for i, name in enumerate(usual)})
    for name in usual:
        node = stored((name, "t"), columns, common=RelCommon(emit=(3, 0)))
        assert rows(spark, node, tables={(name, "t"): data}) == [(3, 0)]
        with pytest.raises(TableError, match="there is no table"):
            rows(spark, stored((name,), columns))
        with pytest.raises(TableError, match="there is no table"):
            rows(spark, stored((name, name, name, name), columns))
    # as names that are missing, they appear in the message alone
    with pytest.raises(TableError, match="has no column"):
        rows(spark, stored("given", {"`; DROP TABLE t; --": LONG}), tables={"given": pa.table({"k": [1]})})
    # and in the check for nulls
    from pyspark_substrait.errors import ExecutionError

    for name in usual:
        nulls = pa.table({name: pa.array([None], pa.int64())})
        with pytest.raises(ExecutionError, match="is null, but the plan says it never is"):
            rows(spark, stored("given", {name: LONG}), tables={"given": nulls})


FORMATS = ("parquet", "PARQUET", "csv", "json", "text", "orc", "binaryFile", "avro", "jdbc", "delta")


@pytest.mark.sweep
def test_the_name_of_a_table_is_no_path(spark: SparkSession, tmp_path: Path) -> None:
    """Spark's SQL takes a name like parquet.`/etc/passwd` for a file."""
    file = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": pa.array([1], pa.int32())}), file)
    assert spark.sql(f"SELECT x FROM parquet.`{file}`").collect()[0].x == 1
    for format in FORMATS:
        for names in ((format, str(file)), (format, file.as_uri()), ("spark_catalog", format, str(file))):
            with pytest.raises(TableError):
                rows(spark, stored(names, {"x": INT}))
            with pytest.raises(TableError):
                rows(spark, stored(names, {"x": INT}), allowed_paths=[tmp_path])
    written = tmp_path / "made"
    for names in (("parquet", str(file)), ("parquet", str(written))):
        write = Write(
            write_type=NamedObjectWrite(names=names),
            table_schema=NamedStruct(names=("x",), struct=Struct(types=(INT,))),
            op=WriteOp.INSERT,
            input=values([INT], [(2,)]),
        )
        with pytest.raises(SubstraitError):
            ps.run_query(plan(write), spark=spark)
    assert not written.exists() and pq.read_table(file).num_rows == 1


def test_names_of_nested_fields_are_names(spark: SparkSession, untouched: None) -> None:
    struct = Struct(types=(LONG,) * len(HOSTILE), nullable=True)
    schema = NamedStruct(names=("s", *HOSTILE), struct=Struct(types=(struct,)))
    node = Read(base_schema=schema, read_type=NamedTable(names=("given",)))
    data = pa.table({"s": [{name: i for i, name in enumerate(reversed(HOSTILE))}]})
    [(found,)] = rows(spark, node, tables={"given": data})
    assert list(found.values()) == list(reversed(range(len(HOSTILE))))


ENHANCED = AdvancedExtension(enhancement=AnyMessage("type.example/Magic", b""))
OPTIMIZED = AdvancedExtension(optimization=(AnyMessage("type.example/Fast", b""),))
TABLE = values([INT], [(1,)])
SIDES: dict[str, Any] = {"left": TABLE, "right": TABLE, "type": JoinType.INNER}
KEYS = (ComparisonJoinKey(left=col(TABLE, 0), right=col(TABLE, 0)),)


def with_extension(extension: AdvancedExtension) -> dict[str, Any]:
    more: dict[str, Any] = {"advanced_extension": extension}
    return {
        "read": values([INT], [(1,)], **more),
        "filter": Filter(input=TABLE, condition=truth(True), **more),
        "project": Project(input=TABLE, expressions=(number(1),), **more),
        "sort": Sort(input=TABLE, sorts=(sort(col(TABLE, 0)),), **more),
        "fetch": Fetch(input=TABLE, count_expr=number(1), **more),
        "aggregate": group(TABLE, [], [aggregate("count")], **more),
        "join": join(TABLE, TABLE, truth(True), JoinType.INNER, **more),
        "hash_join": HashJoin(**SIDES, keys=KEYS, **more),
        "merge_join": MergeJoin(**SIDES, keys=KEYS, **more),
        "nested_loop_join": NestedLoopJoin(**SIDES, **more),
        "cross": Cross(left=TABLE, right=TABLE, **more),
        "set": Set(op=SetOp.UNION_ALL, members=(TABLE, TABLE), **more),
    }


def test_enhancements_are_refused_and_optimizations_ignored(spark: SparkSession) -> None:
    for name, node in with_extension(ENHANCED).items():
        with pytest.raises(UnsupportedPlanError, match="/Magic") as caught:
            rows(spark, node)
        assert caught.value.path == f"relations[0].root.input.{name}.advanced_extension.enhancement"
    for node in with_extension(OPTIMIZED).values():
        assert rows(spark, node)
    common = where(TABLE, truth(True), common=RelCommon(advanced_extension=ENHANCED))
    with pytest.raises(UnsupportedPlanError) as caught:
        rows(spark, project(common, number(1)))
    assert caught.value.path == "relations[0].root.input.project.input.filter.common.advanced_extension.enhancement"
    with pytest.raises(UnsupportedPlanError) as caught:
        ps.run_query(plan(TABLE, advanced_extensions=ENHANCED), spark=spark)
    assert caught.value.path == "advanced_extensions.enhancement"
    schema = NamedStruct(names=("x",), struct=Struct(types=(INT,)))
    named = Read(base_schema=schema, read_type=NamedTable(names=("t",), advanced_extension=ENHANCED))
    files = Read(base_schema=schema, read_type=LocalFiles(items=(), advanced_extension=ENHANCED))
    for read, name in ((named, "named_table"), (files, "local_files")):
        with pytest.raises(UnsupportedPlanError) as caught:
            rows(spark, read)
        assert caught.value.path == f"relations[0].root.input.read.{name}.advanced_extension.enhancement"


def test_plans_without_one_result_are_refused(spark: SparkSession) -> None:
    two = plan(TABLE)
    with pytest.raises(UnsupportedPlanError, match="2 roots"):
        ps.run_query(documents.Plan(relations=two.relations * 2), spark=spark)
    with pytest.raises(SubstraitError, match="no root and 2 relations"):
        ps.run_query(documents.Plan(relations=(TABLE, TABLE)), spark=spark)
    assert tuples(ps.run_query(documents.Plan(relations=(TABLE,)), spark=spark)) == [(1,)]


@pytest.mark.parametrize("kind", ["filters", "projects", "sorted", "aggregates"])
def test_300_relations_in_a_chain(spark: SparkSession, kind: str) -> None:
    node: Any = values([LONG], [(1,), (2,)])
    for step in range(300):
        one = long(1)
        if kind == "filters" or (kind == "sorted" and step % 2):
            node = where(node, call("gt", call("add", col(node, 0), one), long(step % 2)))
        elif kind == "projects":
            node = project(node, call("add", col(node, 0), one))
        elif kind == "sorted":
            node = Sort(input=node, sorts=(sort(col(node, 0)),))
        elif step < 100:
            node = group(node, [col(node, 0)], [])
    wanted = [(301,), (302,)] if kind == "projects" else [(1,), (2,)]
    loaded = ps.load(plan(node).to_bytes())
    assert ordered(tuples(ps.run_query(loaded, spark=spark))) == wanted
