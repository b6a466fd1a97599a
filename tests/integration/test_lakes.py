"""Plans that write, define and read real Delta and Iceberg tables. `make test-integration` fetches what they need."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from pyspark_substrait.errors import ExecutionError, InvalidPlanError, SubstraitError, TableError, UnsupportedPlanError
from pyspark_substrait.model.relations import (
    CreateMode,
    Ddl,
    DdlObject,
    DdlOp,
    IcebergTable,
    NamedObjectWrite,
    NamedTable,
    OutputMode,
    Read,
    Relation,
    TransformExpression,
    Update,
    Write,
    WriteOp,
)
from pyspark_substrait.model.types import I32, NamedStruct, Type
from tests.integration.session import Session, session
from tests.spark import plans
from tests.spark.plans import LONG, LONG_, TEXT_, call, col, long, text

pytestmark = pytest.mark.sweep(sample=0)

NUMBERS = count(1)
SCHEMA = plans.schema((LONG, TEXT_), ("id", "name"))


@dataclass(frozen=True)
class Place:
    """A name in a catalog, under which nothing stands yet."""

    lake: Session
    kind: str
    names: tuple[str, ...]

    @property
    def sql(self) -> str:
        return ".".join(self.names)

    def made(
        self, columns: str = "id BIGINT NOT NULL, name STRING", values: str = "(1, 'a'), (2, 'b'), (3, NULL)"
    ) -> None:
        """Make the table there, by SQL."""
        self.lake.sql(f"CREATE TABLE {self.sql} ({columns}) USING {self.kind}")
        if values:
            self.lake.sql(f"INSERT INTO {self.sql} VALUES {values}")

    def content(self, columns: str = "*") -> list[tuple[Any, ...]]:
        return self.lake.sql(f"SELECT {columns} FROM {self.sql}")

    def columns(self) -> list[tuple[Any, ...]]:
        """Names and types, in order."""
        rows = plans.tuples(self.lake.table(f"DESCRIBE TABLE {self.sql}"))
        end = next((place for place, row in enumerate(rows) if not row[0] or row[0].startswith("#")), len(rows))
        return [row[:2] for row in rows[:end]]

    def commits(self) -> list[str]:
        """What was done to the table, in order."""
        if self.kind == "delta":
            history = self.lake.table(f"DESCRIBE HISTORY {self.sql}")
            found = plans.tuples(history.select(["version", "operation"]))
        else:
            found = self.lake.sql(f"SELECT committed_at, operation FROM {self.sql}.snapshots")
        return [row[1] for row in sorted(found)]

    def read(self, schema: NamedStruct = SCHEMA, **more: Any) -> Read:
        return Read(base_schema=schema, read_type=NamedTable(names=self.names), **more)

    def write(self, op: WriteOp, input: Relation, schema: NamedStruct = SCHEMA, **more: Any) -> Write:
        target = NamedObjectWrite(names=self.names)
        return Write(write_type=target, table_schema=schema, op=op, input=input, **more)

    def ddl(self, op: DdlOp, schema: NamedStruct | None, **more: Any) -> None:
        target = NamedObjectWrite(names=self.names)
        node = Ddl(write_type=target, object=DdlObject.TABLE, op=op, table_schema=schema, **more)
        self.lake.plan(plans.plan(node))


def delta_settings(folder: Path) -> dict[str, Any]:
    """Spark's own catalog has Delta tables."""
    return {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.sources.default": "delta",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        # what a Delta table needs to have columns renamed, dropped, widened, and with defaults
        "spark.databricks.delta.properties.defaults.columnMapping.mode": "name",
        "spark.databricks.delta.properties.defaults.enableTypeWidening": "true",
        "spark.databricks.delta.properties.defaults.feature.allowColumnDefaults": "supported",
        "spark.databricks.delta.snapshotPartitions": 2,
    }


def iceberg_settings(folder: Path) -> dict[str, Any]:
    """The catalog ``ice`` has Iceberg tables."""
    return {
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.ice.type": "hadoop",
        "spark.sql.catalog.ice.warehouse": str(folder / "warehouse"),
    }


SETTINGS = {"delta": delta_settings, "iceberg": iceberg_settings}


@pytest.fixture(scope="module", params=list(SETTINGS))
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def lake(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp(kind)
    with session(kind, folder, SETTINGS[kind](folder)) as found:
        if kind == "iceberg":
            found.sql("CREATE NAMESPACE ice.n")
        yield found


@pytest.fixture
def place(kind: str, lake: Session) -> Iterator[Place]:
    name = f"t{next(NUMBERS)}"
    found = Place(lake, kind, ("ice", "n", name) if kind == "iceberg" else ("default", name))
    yield found
    lake.sql(f"DROP TABLE IF EXISTS {found.sql}")


def table(*rows: tuple[Any, ...]) -> Read:
    """Records to write."""
    return plans.values((LONG, TEXT_), rows)


RETURNED: dict[str, Any] = {"output": OutputMode.MODIFIED_RECORDS}
START = [(1, "a"), (2, "b"), (3, None)]


def test_insert(place: Place) -> None:
    place.made("name STRING, id BIGINT NOT NULL", "")
    assert place.lake.rows(place.write(WriteOp.INSERT, table((1, "a"), (2, None)))) == []
    assert place.lake.rows(place.write(WriteOp.INSERT, table((3, "c")), **RETURNED)) == [(3, "c")]
    assert place.content("id, name") == [(1, "a"), (2, None), (3, "c")]
    # no more commits than writes
    assert len(place.commits()) == (3 if place.kind == "delta" else 2)


def test_an_insert_leaves_columns_to_the_format(place: Place) -> None:
    place.made("id BIGINT NOT NULL, name STRING, more INT, late STRUCT<a: INT>", "")
    assert place.lake.rows(place.write(WriteOp.INSERT, table((1, "a"), (2, None)))) == []
    assert place.content() == [(1, "a", None, None), (2, None, None, None)]
    with pytest.raises((ExecutionError, TableError, UnsupportedPlanError), match=r"(?i)\bid\b"):
        place.lake.rows(
            place.write(WriteOp.INSERT, plans.values((TEXT_,), [("x",)]), plans.schema((TEXT_,), ("name",)))
        )
    assert len(place.content()) == 2


@pytest.mark.parametrize("kind", ["delta"], indirect=True)
def test_columns_that_delta_counts(place: Place) -> None:
    if place.lake.spark == "3.5":
        pytest.skip("Spark has SQL for such columns since 4.0")
    place.lake.sql(
        f"CREATE TABLE {place.sql} (n BIGINT GENERATED BY DEFAULT AS IDENTITY, id BIGINT, name STRING) USING delta"
    )
    for row in ((1, "a"), (2, "b")):
        assert place.lake.rows(place.write(WriteOp.INSERT, table(row))) == []
    numbers = [row[0] for row in place.content()]
    assert None not in numbers and len(set(numbers)) == 2
    assert place.content("id, name") == [(1, "a"), (2, "b")]


def test_a_read_by_name(place: Place) -> None:
    place.made("`Name` STRING, id BIGINT NOT NULL, more INT", "('a', 1, 1), ('b', 2, 2)")
    read = place.read()
    assert place.lake.rows(read) == [(1, "a"), (2, "b")]
    assert place.lake.rows(plans.where(read, call("gt", col(read, 0), long(1)))) == [(2, "b")]
    with pytest.raises(TableError, match="has no column other"):
        place.lake.rows(place.read(plans.schema((LONG,), ("other",))))


def test_plans_of_queries(place: Place) -> None:
    place.made()
    place.lake.has_a_plan_of(f"SELECT * FROM {place.sql}")
    place.lake.has_a_plan_of(f"SELECT name, count(*), max(id) FROM {place.sql} WHERE id > 1 GROUP BY name")
    place.lake.has_a_plan_of(f"SELECT a.id, b.name FROM {place.sql} a JOIN {place.sql} b ON a.id = b.id - 1")
    place.lake.sql(f"DELETE FROM {place.sql} WHERE id = 1")
    place.lake.has_a_plan_of(f"SELECT * FROM {place.sql}")
    if place.kind == "delta":
        place.lake.has_a_plan_of(f"SELECT name FROM {place.sql} WHERE id > 2", optimized=True)


def test_no_plan_reads_an_earlier_version(place: Place) -> None:
    """Its name doesn't say which, so the plan would read the current one."""
    place.made()
    place.lake.sql(f"DELETE FROM {place.sql} WHERE id = 1")
    if place.kind == "delta":
        earlier = ["VERSION AS OF 1"]
    else:
        [(first,), *_] = place.lake.sql(f"SELECT snapshot_id FROM {place.sql}.snapshots WHERE operation = 'append'")
        place.lake.sql(f"ALTER TABLE {place.sql} CREATE BRANCH side AS OF VERSION {first}")
        earlier = [f"VERSION AS OF {first}", "VERSION AS OF 'side'"]
        # here, the name says it
        place.lake.has_a_plan_of(f"SELECT * FROM {place.sql}.branch_side")
        place.lake.has_a_plan_of(f"SELECT * FROM {place.sql}.snapshot_id_{first}")
    for version in earlier:
        text = f"SELECT * FROM {place.sql} {version}"
        assert len(place.lake.sql(text)) == 3
        with pytest.raises(UnsupportedPlanError, match="a read of an earlier version of"):
            place.lake.produced(text)
        if place.kind == "delta":
            with pytest.raises(UnsupportedPlanError, match="a read of an earlier version of"):
                place.lake.produced(text, optimized=True)


@pytest.mark.parametrize(
    ("insert", "records"),
    [
        ("SELECT id + 2, upper(name) FROM {} WHERE id = 1", (3, "A")),
        ("BY NAME SELECT 'c' AS name, 3 AS id", (3, "c")),
        ("(Name, id) VALUES ('c', 3)", (3, "c")),
        ("(id) VALUES (3)", (3, None)),
    ],
    ids=["by position", "by name", "columns", "a column"],
)
def test_plans_of_inserts(place: Place, insert: str, records: tuple[int, str | None]) -> None:
    place.made("id BIGINT, name STRING", "(1, 'a')")
    text = f"INSERT INTO {place.sql} {insert.format(place.sql)}"
    if place.kind == "iceberg" and insert.startswith("(id)") and place.lake.spark < "4.1":
        with pytest.raises(InvalidPlanError, match="Cannot find data for the output column `name`"):
            place.lake.statement(text)
        return
    place.lake.plan(place.lake.statement(text))
    assert place.content() == [(1, "a"), records]


def test_no_plan_of_an_insert_leaves_columns_out(place: Place) -> None:
    place.made("id BIGINT, name STRING", "(1, 'a')")
    for insert in ("SELECT 1, 'a', 2", "BY NAME SELECT 1 AS id, 'a' AS name, 2 AS more"):
        with pytest.raises(
            (UnsupportedPlanError, InvalidPlanError), match=r"has no Substrait form|too many data columns"
        ):
            place.lake.statement(f"INSERT INTO {place.sql} {insert}")


@pytest.mark.parametrize("kind", ["delta"], indirect=True)
def test_no_plan_reads_changes_of_a_delta_table(place: Place) -> None:
    place.lake.sql(f"CREATE TABLE {place.sql} (id INT) USING delta TBLPROPERTIES (delta.enableChangeDataFeed = true)")
    place.lake.sql(f"INSERT INTO {place.sql} VALUES (1)")
    with pytest.raises(UnsupportedPlanError, match="of changes has no Substrait form"):
        place.lake.produced(f"SELECT id, _change_type FROM table_changes('{place.sql}', 0)")


def test_a_path_given_as_a_table(place: Place) -> None:
    """Deleted records are not read, though their file may be in the folder."""
    place.made()
    place.lake.sql(f"DELETE FROM {place.sql} WHERE id = 1")
    described = plans.tuples(place.lake.table(f"DESCRIBE TABLE EXTENDED {place.sql}"))
    folder = next(row[1] for row in described if row[0] == "Location")
    read = Read(base_schema=SCHEMA, read_type=NamedTable(names=("given",)))
    assert place.lake.rows(read, tables={"given": folder}) == [(2, "b"), (3, None)]


@pytest.mark.parametrize(
    ("mode", "wanted"),
    [
        (CreateMode.APPEND_IF_EXISTS, [(1, "a"), (2, "b"), (3, None), (9, "z")]),
        (CreateMode.REPLACE_IF_EXISTS, [(9, "z")]),
        (CreateMode.IGNORE_IF_EXISTS, START),
        (CreateMode.ERROR_IF_EXISTS, START),
    ],
)
def test_create_table_as(place: Place, mode: CreateMode, wanted: list[tuple[Any, ...]]) -> None:
    first = place.write(WriteOp.CTAS, table(*START), create_mode=mode, **RETURNED)
    assert place.lake.rows(first) == START
    again = place.write(WriteOp.CTAS, table((9, "z")), create_mode=mode)
    if mode is CreateMode.ERROR_IF_EXISTS:
        with pytest.raises(TableError, match="already"):
            place.lake.rows(again)
    else:
        assert place.lake.rows(again) == []
    assert place.content() == wanted


def test_delete(place: Place) -> None:
    place.made()
    read = place.read()
    gone = plans.where(read, call("gt", col(read, 0), long(2)))
    assert place.lake.rows(place.write(WriteOp.DELETE, gone, **RETURNED)) == [(3, None)]
    assert place.content() == [(1, "a"), (2, "b")]
    assert place.commits()[-1] in ("DELETE", "delete", "overwrite")
    # one statement can't remove each of the listed records once
    with pytest.raises(UnsupportedPlanError):
        place.lake.rows(place.write(WriteOp.DELETE, table((1, "a"))))
    assert place.content() == [(1, "a"), (2, "b")]


def test_update_by_a_write(place: Place) -> None:
    place.made()
    read = place.read()
    some = plans.where(read, call("lt", col(read, 0), long(3)))
    louder = plans.project(some, col(some, 0), call("concat", col(some, 1), text("!")))
    assert place.lake.rows(place.write(WriteOp.UPDATE, louder, **RETURNED)) == [(1, "a!"), (2, "b!")]
    assert place.content() == [(1, "a!"), (2, "b!"), (3, None)]
    assert place.commits()[-1] in ("UPDATE", "overwrite")


def test_update_relation(place: Place) -> None:
    place.made()
    columns = place.read()
    changed = Update(
        update_type=NamedTable(names=place.names),
        table_schema=SCHEMA,
        condition=call("gt", col(columns, 0), long(1)),
        transformations=(
            TransformExpression(transformation=call("concat", col(columns, 1), text("y")), column_target=1),
        ),
    )
    assert place.lake.rows(changed) == [(2,)]
    assert place.content() == [(1, "a"), (2, "by"), (3, None)]


def test_created_with_required_columns_and_defaults(place: Place) -> None:
    schema = plans.schema((LONG, TEXT_), ("id", "name"))
    defaults = {"table_defaults": (plans.lit(LONG, 7), plans.lit(TEXT_, "new"))}
    if place.kind == "iceberg":
        # Iceberg takes no defaults from Spark
        with pytest.raises(SubstraitError, match="default"):
            place.ddl(DdlOp.CREATE, schema, **defaults)
        defaults = {}
    place.ddl(DdlOp.CREATE, schema, **defaults)
    assert place.columns() == [("id", "bigint"), ("name", "string")]
    if place.kind == "delta":
        place.lake.sql(f"INSERT INTO {place.sql} (name) VALUES ('only')")
        place.lake.sql(f"INSERT INTO {place.sql} (id) VALUES (8)")
        place.lake.rows(
            place.write(WriteOp.INSERT, plans.values((TEXT_,), [("by plan",)]), plans.schema((TEXT_,), ("name",)))
        )
        assert place.content() == [(7, "by plan"), (7, "only"), (8, "new")]
    with pytest.raises((ExecutionError, AssertionError), match=r"(?i)null"):
        place.lake.sql(f"INSERT INTO {place.sql} VALUES (NULL, 'x')")
    with pytest.raises(TableError, match="already"):
        place.ddl(DdlOp.CREATE, schema)
    place.ddl(DdlOp.CREATE_OR_REPLACE, plans.schema((TEXT_,), ("other",)))
    assert place.columns() == [("other", "string")]
    place.ddl(DdlOp.DROP, None)
    with pytest.raises(TableError, match="no table"):
        place.ddl(DdlOp.DROP, None)
    place.ddl(DdlOp.DROP_IF_EXIST, None)


INT_ = I32(nullable=True)


@pytest.mark.parametrize(
    ("types", "names", "columns", "content"),
    [
        ((LONG, TEXT_, INT_, LONG_), ("id", "name", "n", "new"), "id, name, n, new", [(1, "a", 5, None)]),
        ((LONG, INT_), ("id", "n"), "id, n", [(1, 5)]),
        ((LONG, TEXT_, INT_), ("id", "title", "n"), "id, title, n", [(1, "a", 5)]),
        ((LONG, TEXT_, LONG_), ("id", "name", "n"), "id, name, n", [(1, "a", 5)]),
        ((LONG_, TEXT_, INT_), ("id", "name", "n"), "id, name, n", [(1, "a", 5)]),
        ((LONG, INT_, TEXT_), ("id", "n", "name"), "*", [(1, 5, "a")]),
    ],
    ids=["add", "drop", "rename", "widen", "optional", "move"],
)
def test_altered(
    place: Place, types: tuple[Type, ...], names: tuple[str, ...], columns: str, content: list[tuple[Any, ...]]
) -> None:
    place.made("id BIGINT NOT NULL, name STRING, n INT", "(1, 'a', 5)")
    if (place.kind, place.lake.spark, types) == ("delta", "3.5", (LONG, TEXT_, LONG_)):
        # Delta widens integers to BIGINT since Spark 4.0
        with pytest.raises(UnsupportedPlanError, match="from INT to BIGINT"):
            place.ddl(DdlOp.ALTER, plans.schema(types, names))
        assert place.content() == [(1, "a", 5)]
        return
    place.ddl(DdlOp.ALTER, plans.schema(types, names))
    found = dict(place.columns())
    spark: Callable[[Type], str] = lambda type: {"i64": "bigint", "i32": "int", "string": "string"}[type.keyword]  # noqa: E731
    assert found == {name: spark(type) for name, type in zip(names, types, strict=True)}
    assert place.content(columns) == content


@pytest.mark.parametrize("kind", ["iceberg"], indirect=True)
def test_an_iceberg_table_by_its_metadata_file(lake: Session) -> None:
    place = Place(lake, "iceberg", ("ice", "n", "by_file"))
    place.made(values="(1, 'a'), (2, 'b')")
    lake.sql(f"DELETE FROM {place.sql} WHERE id = 1")
    lake.sql(f"ALTER TABLE {place.sql} RENAME COLUMN name TO title")
    lake.sql(f"INSERT INTO {place.sql} VALUES (3, 'c')")
    files = lake.sql(f"SELECT timestamp, file FROM {place.sql}.metadata_log_entries")
    newest = str(max(files)[1])
    snapshots = [row[1] for row in sorted(lake.sql(f"SELECT committed_at, snapshot_id FROM {place.sql}.snapshots"))]
    assert len(snapshots) == 3
    allowed = [newest.removeprefix("file:").rsplit("/metadata/", 1)[0]]

    def read(snapshot: int | None, *names: str) -> list[tuple[Any, ...]]:
        table = IcebergTable(metadata_uri=newest, snapshot_id=None if snapshot is None else str(snapshot))
        return lake.rows(Read(base_schema=plans.schema((LONG, TEXT_), names), read_type=table), allowed_paths=allowed)

    assert read(None, "id", "title") == [(2, "b"), (3, "c")] == place.content()
    assert read(snapshots[1], "id", "name") == [(2, "b")]
    assert read(snapshots[0], "id", "name") == [(1, "a"), (2, "b")]
    lake.sql(f"DROP TABLE {place.sql}")
