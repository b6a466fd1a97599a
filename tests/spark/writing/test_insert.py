"""Records inserted into tables: which columns they go to, what is refused, and what is there afterwards."""

from __future__ import annotations

import uuid
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal as D
from pathlib import Path
from typing import Any

import duckdb
import pytest
from pyspark.sql import SparkSession

import pyspark_substrait as ps
from pyspark_substrait.errors import ExecutionError, InvalidPlanError, TableError, UnsupportedPlanError
from pyspark_substrait.model.literals import DayTime
from pyspark_substrait.model.relations import CreateMode, JoinType, Relation, WriteOp
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I64,
    UUID,
    Binary,
    Boolean,
    Date,
    Decimal,
    FixedBinary,
    FixedChar,
    IntervalDay,
    IntervalYear,
    List,
    Map,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    Struct,
    Type,
    VarChar,
    with_nullability,
)
from tests.spark.plans import (
    INT,
    INT_,
    LONG,
    TEXT,
    TEXT_,
    aggregate,
    call,
    col,
    group,
    join,
    lit,
    number,
    ordered,
    plan,
    project,
    rows,
    run,
    schema,
    truth,
    values,
    where,
)
from tests.spark.plans import stored as read
from tests.spark.writing.records import MODIFIED, PEOPLE, folder, insert, stored, table, write

ANN, BEN = (1, "Ann", 30), (2, None, None)


def people(*records: tuple[Any, ...]) -> Relation:
    return values([INT, TEXT_, INT_], records)


def test_the_records_of_the_input_are_added(spark: SparkSession) -> None:
    with table(spark) as name:
        done = run(spark, insert(name, people(ANN, BEN)))
        assert (done.num_rows, done.num_columns) == (0, 0)
        run(spark, insert(name, people(ANN)))
        assert stored(spark, name) == ordered([ANN, ANN, BEN])
        # others find the same in the files
        files = [str(file) for file in folder(spark, name).glob("*.parquet")]
        assert ordered(duckdb.read_parquet(files).fetchall()) == ordered([ANN, ANN, BEN])
        assert [entry.name for entry in folder(spark, name).parent.glob(f".{name}.*")] == []


def test_a_data_frame_of_a_write_is_eager_and_empty(spark: SparkSession) -> None:
    with table(spark) as name:
        frame = ps.from_substrait(plan(insert(name, people(ANN))), spark)
        assert stored(spark, name) == [ANN]
        assert frame.columns == []
        assert frame.collect() == []
        assert stored(spark, name) == [ANN]


def test_columns_are_found_by_name_and_others_get_their_default(spark: SparkSession) -> None:
    ddl = "a INT NOT NULL, `B b` STRING DEFAULT 'x;y', c DOUBLE, d DATE DEFAULT DATE'2020-02-02'"
    with table(spark, ddl) as name:
        run(spark, insert(name, values([TEXT, INT], [("z", 1)]), {"b B": TEXT, "A": INT}))
        run(spark, insert(name, values([INT], [(2,)]), {"a": INT}))
        assert stored(spark, name) == [(1, "z", None, date(2020, 2, 2)), (2, "x;y", None, date(2020, 2, 2))]


def test_a_table_without_such_columns_refuses(spark: SparkSession) -> None:
    one = values([INT], [(1,)])
    mismatched: list[tuple[dict[str, Type], str]] = [
        ({"id": INT, "nam": TEXT}, "has no column nam"),
        ({"id": INT, "ID": INT}, "has the column ID twice"),
        ({"id": LONG, "name": TEXT}, "is int, which does not hold i64"),
        ({"id": TEXT, "name": TEXT}, "is int, which does not hold string"),
    ]
    if spark.version >= "4.2":  # older tables of files forget what is required
        mismatched.append(({"name": TEXT, "age": INT}, "id is required and has no default"))
    with table(spark) as name:
        for named, error in mismatched:
            with pytest.raises(TableError, match=error):
                run(spark, insert(name, values(list(named.values()), []), named))
        for input, error in (
            (one, "the input has 1 columns, table_schema 3"),
            (values([LONG, TEXT, INT], []), "column 0 of the input is i64, but id of table_schema is i32"),
        ):
            with pytest.raises(InvalidPlanError, match=error):
                run(spark, insert(name, input))
        assert stored(spark, name) == []


def test_what_cannot_be_written_says_where(spark: SparkSession) -> None:
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW written_view AS SELECT 1 AS id, 'a' AS name, 2 AS age")
    with table(spark, rest="USING parquet CLUSTERED BY (id) INTO 2 BUCKETS") as buckets, table(spark) as name:
        for target, options, error, message in (
            ("nowhere", {}, TableError, "there is no table nowhere"),
            ("written_view", {}, UnsupportedPlanError, "is a session view"),
            (buckets, {}, UnsupportedPlanError, "has buckets"),
            (name, {"tables": {name: spark.table(name)}}, UnsupportedPlanError, "these tables are only read"),
        ):
            with pytest.raises(error, match=message) as caught:
                run(spark, insert(target, people(ANN)), **options)
            assert caught.value.path.startswith("relations[0].root.input.write")
        with pytest.raises(InvalidPlanError, match="only a CTAS has a create_mode"):
            run(spark, insert(name, people(ANN), create_mode=CreateMode.IGNORE_IF_EXISTS))
        # what is wrong inside of the input is found there, before anything is written
        with pytest.raises(TableError) as missing:
            run(spark, insert(name, read("missing_table", PEOPLE)))
        assert missing.value.path == "relations[0].root.input.write.input.read.named_table"
        # and what is wrong above it, too
        above = where(insert(name, people(ANN), output=MODIFIED), call("gt", col(people(), 0), number(1)))
        with pytest.raises(TableError) as missing:
            run(spark, join(above, read("missing_table", PEOPLE), truth(True), JoinType.INNER))
        assert missing.value.path == "relations[0].root.input.join.right.read.named_table"
        assert stored(spark, name) == []


@pytest.mark.parametrize("ddl", ["id INT NOT NULL, name STRING, age INT", "id INT, name STRING, age INT"])
def test_null_in_a_required_column_is_an_error_and_nothing_is_written(spark: SparkSession, ddl: str) -> None:
    with table(spark, ddl) as name:
        run(spark, insert(name, people(ANN)))
        input = values([INT_, TEXT_, INT_], [(5, "a", 1), (None, "b", 2)])
        with pytest.raises(ExecutionError, match="id is required, and a value is null"):
            run(spark, insert(name, input))
        assert stored(spark, name) == [ANN]
        assert [entry.name for entry in folder(spark, name).parent.glob(f".{name}.*")] == []


def test_an_input_that_fails_writes_nothing(spark: SparkSession) -> None:
    with table(spark) as name:
        run(spark, insert(name, people(ANN)))
        source = read(name, PEOPLE)
        failing = project(
            source,
            call("divide", number(1), call("subtract", col(source, 0), number(1))),
            col(source, 1),
            col(source, 2),
        )
        with pytest.raises(ExecutionError):
            run(spark, insert(name, failing))
        assert stored(spark, name) == [ANN]


def test_a_table_may_be_inserted_into_itself(spark: SparkSession) -> None:
    with table(spark) as name:
        run(spark, insert(name, people(ANN, BEN)))
        source = read(name, PEOPLE)
        more = project(source, call("add", col(source, 0), number(10)), col(source, 1), col(source, 2))
        run(spark, insert(name, more))
        assert stored(spark, name) == ordered([ANN, BEN, (11, *ANN[1:]), (12, *BEN[1:])])


def test_a_cached_table_is_read_anew(spark: SparkSession) -> None:
    with table(spark) as name:
        run(spark, insert(name, people(ANN)))
        spark.sql(f"CACHE TABLE {name}")
        run(spark, insert(name, people(BEN)))
        assert stored(spark, name) == ordered([ANN, BEN])


def test_settings_of_the_session_do_not_matter(spark: SparkSession) -> None:
    settings = {
        "spark.sql.sources.partitionOverwriteMode": "dynamic",
        "spark.sql.storeAssignmentPolicy": "LEGACY",
        "spark.sql.sources.default": "orc",
    }
    before = {key: spark.conf.get(key) for key in settings}
    try:
        for key, value in settings.items():
            spark.conf.set(key, value)
        with table(spark, rest="USING parquet PARTITIONED BY (age)") as name:
            run(spark, insert(name, people(ANN, BEN)))
            run(spark, insert(name, people((3, "Cy", 30))))
            assert stored(spark, name) == ordered([ANN, BEN, (3, "Cy", 30)])
            with pytest.raises(TableError):
                run(spark, insert(name, values([LONG, TEXT_, INT_], []), {"id": LONG, "name": TEXT_, "age": INT_}))
    finally:
        for key, old in before.items():
            spark.conf.set(key, str(old))


def test_partitions_stay_known_to_the_catalog(spark: SparkSession) -> None:
    with table(spark, "id INT, age INT, name STRING", "USING parquet PARTITIONED BY (age, name)") as name:
        run(spark, insert(name, people((1, "a/b = 'c'", 30), (2, None, 30), (3, "Ö", None))))
        run(spark, insert(name, people((4, "Ö", None), (5, "new", 7))))
        expected = [(1, 30, "a/b = 'c'"), (2, 30, None), (3, None, "Ö"), (4, None, "Ö"), (5, 7, "new")]
        assert stored(spark, name) == ordered(expected)
        assert spark.sql(f"SHOW PARTITIONS {name}").count() == 4
        assert [row.id for row in spark.sql(f"SELECT id FROM {name} WHERE age = 7").collect()] == [5]
        with pytest.raises(ExecutionError, match="an empty text there would become null"):
            run(spark, insert(name, people((6, "", 7))))
        assert stored(spark, name) == ordered(expected)


@pytest.mark.parametrize("form", ["orc", "csv", "json"])
def test_other_formats_of_files(spark: SparkSession, form: str) -> None:
    with table(spark, "id INT, name STRING, age INT", f"USING {form}") as name:
        run(spark, insert(name, people(ANN)))
        run(spark, insert(name, people(BEN)))
        assert stored(spark, name) == ordered([ANN, BEN])


def test_options_of_the_table_are_kept(spark: SparkSession) -> None:
    with table(spark, rest="USING csv OPTIONS (delimiter '|', header 'true', compression 'gzip')") as name:
        run(spark, insert(name, people((1, "a|b", 2))))
        assert stored(spark, name) == [(1, "a|b", 2)]
        assert [file.suffix for file in folder(spark, name).glob("part-*")] == [".gz"]


def test_a_table_at_a_path_of_its_own(spark: SparkSession, tmp_path: Path) -> None:
    place = tmp_path / "some folder ü"
    spark.createDataFrame([ANN], "id INT, name STRING, age INT").write.parquet(str(place))
    (place / "_SUCCESS").touch()
    with table(spark, rest=f"USING parquet LOCATION '{place}'") as name:
        run(spark, insert(name, people(BEN)))
        assert ordered(duckdb.read_parquet(f"{place}/*.parquet").fetchall()) == ordered([ANN, BEN])
        assert [entry.name for entry in tmp_path.iterdir()] == [place.name]


def test_files_that_the_table_does_not_read_are_not_taken_in(spark: SparkSession) -> None:
    with table(spark, rest="USING parquet PARTITIONED BY (age)") as name:
        run(spark, insert(name, people(ANN)))
        place = folder(spark, name)
        spark.createDataFrame([(9, "stray")], "id INT, name STRING").coalesce(1).write.parquet(f"{place}/age=99")
        with pytest.raises(UnsupportedPlanError, match=r"Spark reads 1 files of .*, but there are 2"):
            run(spark, insert(name, people(BEN)))
        assert stored(spark, name) == [ANN]


_UTC = timezone.utc
#: type, its column in Spark, a value in a plan, what Spark reads
TYPES: list[tuple[Type, str, Any, Any]] = [
    (Boolean(), "BOOLEAN", True, True),
    (I8(), "TINYINT", -128, -128),
    (I16(), "SMALLINT", 32767, 32767),
    (I64(), "BIGINT", -(2**63), -(2**63)),
    (FP32(), "FLOAT", 0.5, 0.5),
    (FP64(), "DOUBLE", -0.0, -0.0),
    (Binary(), "BINARY", b"\x00\xff", b"\x00\xff"),
    (FixedBinary(length=2), "BINARY", b"ab", b"ab"),
    (Date(), "DATE", -1, date(1969, 12, 31)),
    (Decimal(precision=38, scale=3), "DECIMAL(38, 3)", D("12345678901234567890.125"), D("12345678901234567890.125")),
    (VarChar(length=3), "STRING", "ab", "ab"),
    (VarChar(length=3), "VARCHAR(3)", "abc", "abc"),
    (FixedChar(length=3), "CHAR(3)", "ab", "ab "),
    (FixedChar(length=3), "STRING", "ab", "ab "),
    (PrecisionTimestamp(precision=6), "TIMESTAMP_NTZ", 1_000_001, datetime(1970, 1, 1, 0, 0, 1, 1)),
    (PrecisionTimestamp(precision=9), "BIGINT", 1_000_000_001, 1_000_000_001),
    (PrecisionTimestampTZ(precision=3), "TIMESTAMP", 1500, datetime(1970, 1, 1, 0, 0, 1, 500_000, _UTC)),
    (IntervalDay(precision=6), "INTERVAL DAY TO SECOND", DayTime(days=1, seconds=2, subseconds=3), timedelta(1, 2, 3)),
    (List(type=INT_), "ARRAY<INT>", [1, None], [1, None]),
    (Map(key=TEXT, value=INT_), "MAP<STRING, INT>", {"a": 1}, [("a", 1)]),
]


def test_every_type_is_stored_as_its_carrier(spark: SparkSession) -> None:
    ddl = ", ".join(f"c{position} {type}" for position, (_, type, _, _) in enumerate(TYPES))
    named = {f"c{position}": with_nullability(type, True) for position, (type, _, _, _) in enumerate(TYPES)}
    record = [lit(type, value) for type, _, value, _ in TYPES]
    with table(spark, ddl) as name:
        input = project(values([INT], [(1,)]), *record)
        run(spark, insert(name, input, named))
        assert stored(spark, name) == [tuple(expected for _, _, _, expected in TYPES)]
        nulls = values(list(named.values()), [[None] * len(TYPES)])
        run(spark, insert(name, nulls, named))
        assert (None,) * len(TYPES) in stored(spark, name)
        # and a plan reads what it wrote
        back = rows(spark, read(name, named))
        assert next(row for row in back if row[0] is not None)[13] == "ab "


@pytest.mark.since("4.2", "TIME")
def test_types_that_spark_hands_over_in_other_ways(spark: SparkSession) -> None:
    named: dict[str, Type] = {"m": IntervalYear(), "t": PrecisionTime(precision=6), "u": UUID()}
    record = [
        lit(IntervalYear(), 14),
        lit(PrecisionTime(precision=6), 3_600_000_001),
        lit(UUID(), uuid.UUID(bytes=b"0123456789abcdef")),
    ]
    with table(spark, "m INTERVAL YEAR TO MONTH, t TIME(6), u BINARY") as name:
        run(spark, insert(name, project(values([INT], [(1,)]), *record), named))
        found = spark.sql(f"SELECT CAST(m AS STRING), CAST(t AS STRING), CAST(u AS STRING) FROM {name}").collect()
        assert [tuple(row) for row in found] == [
            ("INTERVAL '1-2' YEAR TO MONTH", "01:00:00.000001", "0123456789abcdef")
        ]


def test_nested_fields_are_found_by_name(spark: SparkSession) -> None:
    inner = Struct(types=(INT, TEXT_), nullable=True)
    types = (inner, List(type=inner, nullable=True), Map(key=TEXT, value=inner, nullable=True))
    named = schema(types, ("s", "y", "X", "l", "x", "y", "m", "Y", "x"))
    record = [lit(types[0], (1, "a")), lit(types[1], [(2, "b"), None]), lit(types[2], {"k": (3, None)})]
    fields = "STRUCT<x: STRING, y: INT NOT NULL>"
    with table(
        spark, f"s STRUCT<x: STRING, y: INT>, l ARRAY<STRUCT<x: INT, y: STRING>>, m MAP<STRING, {fields}>"
    ) as name:
        run(spark, insert(name, project(values([INT], [(1,)]), *record), named))
        found = spark.sql(f"SELECT to_json(struct(*)) AS j FROM {name}").collect()[0].j
        assert found == '{"s":{"x":"a","y":1},"l":[{"x":2,"y":"b"},null],"m":{"k":{"y":3}}}'
        missing = schema((Struct(types=(INT,), nullable=True),), ("s", "y"))
        with pytest.raises(TableError, match=r"s\.x has no value in the plan's schema"):
            run(spark, insert(name, values(missing.struct.types, []), missing))


def test_text_that_is_too_long_is_an_error(spark: SparkSession) -> None:
    with table(spark, "a VARCHAR(2), b CHAR(2)") as name:
        run(spark, insert(name, values([TEXT, TEXT], [("é", "é")]), {"a": TEXT, "b": TEXT}))
        assert stored(spark, name) == [("é", "é ")]
        for record in (("abc", "a"), ("a", "abc")):
            with pytest.raises(ExecutionError, match="takes 2 characters, and a value has more"):
                run(spark, insert(name, values([TEXT, TEXT], [record]), {"a": TEXT, "b": TEXT}))
        assert stored(spark, name) == [("é", "é ")]


def test_names_are_only_names(spark: SparkSession) -> None:
    odd = "a`b.c; DROP {x} 'ü"
    with table(spark, f"`{odd.replace('`', '``')}` INT") as name:
        run(spark, insert(name, values([INT], [(1,)]), {odd: INT}))
        assert stored(spark, name) == [(1,)]
        with pytest.raises(TableError, match="there is no table"):
            run(spark, insert(f"{name}; DROP TABLE {name}", values([INT], [(1,)]), {odd: INT}))
        for names, error, message in (
            (("parquet", "/tmp/some"), UnsupportedPlanError, "is not among the allowed paths"),
            (("delta", "/tmp/some"), UnsupportedPlanError, "is not among the allowed paths"),
            (("no_catalog", "no_database", "t"), TableError, "there is no table"),
        ):
            with pytest.raises(error, match=message):
                run(spark, write(WriteOp.INSERT, names, values([INT], [(1,)]), {odd: INT}))
        assert stored(spark, name) == [(1,)]


def test_the_number_of_new_records_can_be_counted_above(spark: SparkSession) -> None:
    with table(spark) as name:
        written = insert(name, people(ANN, BEN), output=MODIFIED)
        assert rows(spark, group(written, [], [aggregate("count")])) == [(2,)]
        assert stored(spark, name) == ordered([ANN, BEN])
