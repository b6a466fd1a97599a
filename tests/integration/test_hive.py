"""Plans that read and write the tables of a Hive metastore, which Spark keeps in an embedded Derby database."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime, timezone
from decimal import Decimal as D
from itertools import count
from typing import Any

import pytest

from pyspark_substrait.errors import ExecutionError, TableError, UnsupportedPlanError
from pyspark_substrait.model.relations import (
    CreateMode,
    Ddl,
    DdlObject,
    DdlOp,
    NamedObjectWrite,
    OutputMode,
    Relation,
    Write,
    WriteOp,
)
from pyspark_substrait.model.types import (
    Date,
    Decimal,
    FixedChar,
    List,
    NamedStruct,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    VarChar,
)
from tests.integration.session import Session, session
from tests.spark import plans
from tests.spark.plans import INT, INT_, LONG_, TEXT_, call, col, number, text

pytestmark = pytest.mark.sweep(sample=0)

NAMES = count(1)
FORMATS = ["PARQUET", "ORC", "TEXTFILE"]
CHAR5 = FixedChar(nullable=True, length=5)


@pytest.fixture(scope="module")
def hive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("hive")
    settings = {
        "spark.sql.catalogImplementation": "hive",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={folder}/metastore;create=true",
    }
    with session("hive", folder, settings) as found:
        yield found


@pytest.fixture
def name(hive: Session) -> Iterator[str]:
    found = f"t{next(NAMES)}"
    yield found
    hive.sql(f"DROP TABLE IF EXISTS {found}")


def read(name: str | tuple[str, ...], **columns: Any) -> Any:
    return plans.stored(name, columns)


def write(name: str, op: WriteOp, input: Relation, schema: NamedStruct, **more: Any) -> Write:
    target = NamedObjectWrite(names=("default", name))
    return Write(write_type=target, table_schema=schema, op=op, input=input, **more)


@pytest.mark.parametrize("form", FORMATS)
def test_a_table_by_name(hive: Session, name: str, form: str) -> None:
    hive.sql(
        f"CREATE TABLE {name} (id INT, title STRING, price DECIMAL(9, 2), day DATE, at TIMESTAMP, parts ARRAY<INT>) "
        f"STORED AS {form}"
    )
    hive.sql(
        f"INSERT INTO {name} VALUES (1, 'a', 12.34, DATE'2020-02-29', TIMESTAMP'2020-02-29 23:30:00.123456', "
        "array(1, NULL)), (2, NULL, NULL, NULL, NULL, NULL)"
    )
    numbers = List(nullable=True, type=INT_)
    moment = PrecisionTimestampTZ(nullable=True, precision=6)
    price = Decimal(nullable=True, precision=9, scale=2)
    table = read(name, parts=numbers, at=moment, day=Date(nullable=True), price=price, title=TEXT_, id=INT)
    at = datetime(2020, 2, 29, 23, 30, 0, 123456, timezone.utc)
    hive.has_a_plan_of(f"SELECT * FROM {name} WHERE id > 0")
    first = ([1, None], at, date(2020, 2, 29), D("12.34"), "a", 1)
    assert hive.rows(table) == plans.ordered([first, (None, None, None, None, None, 2)])
    assert hive.rows(plans.where(table, call("equal", col(table, 4), text("a")))) == [first]
    # a TIMESTAMP of Hive has the session's time zone in Spark
    with pytest.raises(TableError, match="at is timestamp"):
        hive.rows(read(name, at=PrecisionTimestamp(nullable=True, precision=6)))
    with pytest.raises(TableError, match="has no column other"):
        hive.rows(read(name, other=INT_))


def partitions_read(executed: str) -> int:
    """How many partitions a scan read, by what Spark says."""
    pruned = re.search(r"Pruned Partitions: \[(.*?)\]", executed)
    if pruned is not None:
        return pruned[1].count("(")
    counted = re.search(r"^numPartitions=(\d+)$", executed, re.MULTILINE)
    assert counted is not None, executed
    return int(counted[1])


@pytest.mark.parametrize("form", FORMATS)
def test_filters_on_partition_columns_prune(hive: Session, name: str, form: str) -> None:
    hive.sql(f"CREATE TABLE {name} (id INT, Title STRING) PARTITIONED BY (year INT, Region STRING) STORED AS {form}")
    for year, region, rows in (
        (2024, "eu", "(1, 'a'), (2, 'b')"),
        (2024, "us", "(3, 'c')"),
        (2025, "eu", "(4, NULL)"),
        (2026, "x y/z", "(5, 'e')"),
    ):
        hive.sql(f"INSERT INTO {name} PARTITION (year = {year}, region = '{region}') VALUES {rows}")
    table = read(("default", name), year=INT_, id=INT_, region=TEXT_, title=TEXT_)
    is_2024 = plans.where(table, call("equal", col(table, 0), number(2024)))
    assert hive.rows(is_2024) == [(2024, 1, "eu", "a"), (2024, 2, "eu", "b"), (2024, 3, "us", "c")]
    assert partitions_read(hive.executed(is_2024)) == 2
    special = plans.where(table, call("equal", col(table, 2), text("x y/z")))
    assert hive.rows(special) == [(2026, 5, "x y/z", "e")]
    assert partitions_read(hive.executed(special)) == 1
    later = call("gt", col(table, 0), number(2024))
    both = plans.where(table, plans.both_true(later, call("equal", col(table, 2), text("eu"))))
    assert hive.rows(both) == [(2025, 4, "eu", None)]
    assert partitions_read(hive.executed(both)) == 1


@pytest.mark.parametrize("form", FORMATS)
def test_texts_of_limited_length(hive: Session, name: str, form: str) -> None:
    hive.sql(f"CREATE TABLE {name} (id INT, c CHAR(5), v VARCHAR(5)) STORED AS {form}")
    hive.sql(f"INSERT INTO {name} VALUES (1, 'ab', 'ab '), (2, 'abcde', 'b'), (3, NULL, NULL)")
    exact = read(name, id=INT, c=CHAR5, v=VarChar(nullable=True, length=5))
    assert hive.rows(exact) == [(1, "ab   ", "ab "), (2, "abcde", "b"), (3, None, None)]
    padded = plans.lit(FixedChar(length=5), "ab   ")
    assert hive.rows(plans.where(exact, call("equal", col(exact, 1), padded))) == [(1, "ab   ", "ab ")]
    plain = read(name, id=INT, c=TEXT_, v=TEXT_)
    assert hive.rows(plain) == [(1, "ab   ", "ab "), (2, "abcde", "b"), (3, None, None)]
    with pytest.raises(ExecutionError, match=r"v has a value that is not of type varchar<2>"):
        hive.rows(read(name, v=VarChar(nullable=True, length=2)))


def test_a_char_column_read_as_text_is_text(hive: Session, name: str) -> None:
    """In SQL, a CHAR equals a text that is shorter; two values of the type string are equal or not."""
    hive.sql(f"CREATE TABLE {name} (id INT, c CHAR(5)) STORED AS PARQUET")
    hive.sql(f"INSERT INTO {name} VALUES (1, 'ab'), (2, 'abcde')")
    table = read(name, id=INT, c=TEXT_)
    assert hive.rows(plans.where(table, call("equal", col(table, 1), text("ab")))) == []
    assert hive.rows(plans.where(table, call("equal", col(table, 1), text("ab   ")))) == [(1, "ab   ")]


def test_views(hive: Session, name: str) -> None:
    hive.sql(f"CREATE TABLE {name} (id INT, v VARCHAR(5)) PARTITIONED BY (day DATE) STORED AS ORC")
    for day, rows in (("2026-01-01", "(1, 'a')"), ("2026-01-02", "(2, 'b'), (3, NULL)")):
        hive.sql(f"INSERT INTO {name} PARTITION (day = DATE'{day}') VALUES {rows}")
    hive.sql(f"CREATE VIEW view_{name} (number, word, day) AS SELECT id * 10 AS ten, v, day FROM {name}")
    view = read(f"view_{name}", word=VarChar(nullable=True, length=5), number=INT_, day=Date(nullable=True))
    later = plans.lit(Date(), (date(2026, 1, 2) - date(1970, 1, 1)).days)
    second = plans.where(view, call("equal", col(view, 2), later))
    assert hive.rows(second) == [("b", 20, date(2026, 1, 2)), (None, 30, date(2026, 1, 2))]
    assert partitions_read(hive.executed(second)) == 1
    hive.sql(f"DROP VIEW view_{name}")


RECORD = plans.schema((INT_, TEXT_), ("id", "title"))


def records(*rows: tuple[Any, ...]) -> Any:
    return plans.values((INT_, TEXT_), rows)


@pytest.mark.parametrize("form", FORMATS)
def test_insert(hive: Session, name: str, form: str) -> None:
    hive.sql(f"CREATE TABLE {name} (title VARCHAR(5), id INT, more BIGINT) STORED AS {form}")
    assert hive.rows(write(name, WriteOp.INSERT, records((1, "a"), (2, None)), RECORD)) == []
    returned = write(name, WriteOp.INSERT, records((3, "c")), RECORD, output=OutputMode.MODIFIED_RECORDS)
    assert hive.rows(returned) == [(3, "c")]
    assert hive.sql(f"SELECT id, title, more FROM {name}") == [(1, "a", None), (2, None, None), (3, "c", None)]
    with pytest.raises(ExecutionError, match="takes 5 characters"):
        hive.rows(write(name, WriteOp.INSERT, records((4, "ok"), (5, "too long")), RECORD))
    assert len(hive.sql(f"SELECT * FROM {name}")) == 3


@pytest.mark.parametrize("form", FORMATS)
def test_insert_into_partitions(hive: Session, name: str, form: str) -> None:
    hive.sql(f"CREATE TABLE {name} (id INT) PARTITIONED BY (title STRING) STORED AS {form}")
    by_hive = form == "TEXTFILE"
    content = [(1, "a"), (2, "b")] if by_hive else [(1, "a"), (2, "b"), (3, None)]
    insert = write(name, WriteOp.INSERT, records(*content), RECORD)
    if by_hive:
        hive.set("hive.exec.dynamic.partition.mode", "strict")
        with pytest.raises((ExecutionError, UnsupportedPlanError), match=r"hive\.exec\.dynamic\.partition\.mode"):
            hive.rows(insert)
        hive.set("hive.exec.dynamic.partition.mode", "nonstrict")
    assert hive.rows(insert) == []
    assert hive.sql(f"SELECT id, title FROM {name}") == content
    assert len(hive.sql(f"SHOW PARTITIONS {name}")) == len(content)
    # Hive has one folder for null, the empty text and its name
    refused: dict[str | None, str] = {"": "empty text", "__HIVE_DEFAULT_PARTITION__": "would become null"}
    if by_hive:
        # Spark takes the name of the folder for the text then
        refused[None] = "null there would become"
    for value, message in refused.items():
        with pytest.raises(ExecutionError, match=message):
            hive.rows(write(name, WriteOp.INSERT, records((4, "d"), (5, value)), RECORD))
    assert hive.sql(f"SELECT id, title FROM {name}") == content


def test_only_records_are_added_to_tables_of_hive(hive: Session, name: str) -> None:
    hive.sql(f"CREATE TABLE {name} (id INT, title STRING) STORED AS PARQUET")
    hive.sql(f"INSERT INTO {name} VALUES (1, 'a'), (2, 'b')")
    table = read(("default", name), id=INT_, title=TEXT_)
    some = plans.where(table, call("equal", col(table, 0), number(1)))
    with pytest.raises(UnsupportedPlanError, match=r"(?i)delete"):
        hive.rows(write(name, WriteOp.DELETE, some, RECORD))
    assert hive.rows(table) == [(1, "a"), (2, "b")]
    hive.sql(f"CREATE VIEW view_{name} AS SELECT * FROM {name}")
    with pytest.raises(UnsupportedPlanError, match="is a view"):
        hive.rows(write(f"view_{name}", WriteOp.INSERT, records((3, "c")), RECORD))
    hive.sql(f"DROP VIEW view_{name}")


@pytest.mark.parametrize("form", FORMATS)
def test_columns_of_tables_of_hive(hive: Session, name: str, form: str) -> None:
    """They can be added; all else would take another table, of another form."""
    hive.sql(f"CREATE TABLE {name} (id INT, title STRING) STORED AS {form}")
    hive.sql(f"INSERT INTO {name} VALUES (1, 'a')")
    made = hive.sql(f"SHOW CREATE TABLE {name}")

    def alter(schema: NamedStruct) -> None:
        target = NamedObjectWrite(names=("default", name))
        hive.plan(plans.plan(Ddl(write_type=target, object=DdlObject.TABLE, op=DdlOp.ALTER, table_schema=schema)))

    with pytest.raises(UnsupportedPlanError, match="a table of the format hive"):
        alter(plans.schema((INT_,), ("id",)))
    assert hive.sql(f"SHOW CREATE TABLE {name}") == made
    alter(plans.schema((INT_, TEXT_, LONG_), ("id", "title", "more")))
    assert hive.sql(f"SELECT * FROM {name}") == [(1, "a", None)]


def test_tables_of_sparks_own_formats(hive: Session, name: str) -> None:
    """A table that a plan makes is in the metastore, in Spark's form, and can be changed."""
    made = write(name, WriteOp.CTAS, records((1, "a"), (2, "b"), (3, None)), RECORD)
    hive.rows(made)
    table = read(("default", name), id=INT_, title=TEXT_)
    assert hive.rows(table) == [(1, "a"), (2, "b"), (3, None)]
    some = plans.where(table, call("equal", col(table, 0), number(1)))
    hive.rows(write(name, WriteOp.DELETE, some, RECORD))
    assert hive.sql(f"SELECT id, title FROM {name}") == [(2, "b"), (3, None)]
    schema = plans.schema((INT_, TEXT_, LONG_), ("id", "title", "more"))
    target = NamedObjectWrite(names=("default", name))
    hive.plan(plans.plan(Ddl(write_type=target, object=DdlObject.TABLE, op=DdlOp.ALTER, table_schema=schema)))
    assert hive.sql(f"SELECT id, title, more FROM {name}") == [(2, "b", None), (3, None, None)]
    other = plans.schema((TEXT_,), ("only",))
    replaced = write(
        name, WriteOp.CTAS, plans.values((TEXT_,), [("z",)]), other, create_mode=CreateMode.REPLACE_IF_EXISTS
    )
    hive.rows(replaced)
    assert hive.sql(f"SELECT * FROM {name}") == [("z",)]
    with pytest.raises(TableError, match="already"):
        hive.rows(made)
    hive.plan(plans.plan(Ddl(write_type=target, object=DdlObject.TABLE, op=DdlOp.DROP, table_schema=None)))
    with pytest.raises(TableError, match="there is no table"):
        hive.rows(table)


def test_partitions_of_sparks_own_formats(hive: Session, name: str) -> None:
    hive.sql(f"CREATE TABLE {name} (id INT, title STRING) USING parquet PARTITIONED BY (title)")
    hive.rows(write(name, WriteOp.INSERT, records((1, "a"), (2, "b"), (3, None)), RECORD))
    assert hive.sql(f"SELECT id, title FROM {name}") == [(1, "a"), (2, "b"), (3, None)]
    assert len(hive.sql(f"SHOW PARTITIONS {name}")) == 3
    table = read(("default", name), id=INT_, title=TEXT_)
    one = plans.where(table, call("equal", col(table, 1), text("b")))
    assert hive.rows(one) == [(2, "b")]
    assert partitions_read(hive.executed(one)) == 1
    hive.rows(write(name, WriteOp.DELETE, one, RECORD))
    assert hive.sql(f"SELECT id, title FROM {name}") == [(1, "a"), (3, None)]
