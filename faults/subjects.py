"""The tables and folders that are written, and their writes: what each does to the rows is known without Spark."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import pyarrow as pa
import pyarrow.dataset

from faults.states import Row, State, state
from pyspark_substrait import write_targets
from pyspark_substrait.errors import TableError
from pyspark_substrait.model.relations import CreateMode, DdlOp, RelationBase, WriteOp
from tests.server.clients import RawClient, command, field
from tests.spark.plans import LONG, call, col, long, rows, run, stored, values, where
from tests.spark.writing.ddl import table as definition
from tests.spark.writing.records import delete, insert, update, write
from tests.spark.writing.test_write_targets import define
from tests.spark.writing.test_write_targets import write as write_target

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from pyspark_substrait.server.serving import Server

__all__ = ["LEFT", "Place", "Subject", "Write", "subjects"]

#: the columns of most tables, and those of a table that replaces one
FORM: Final = ("id", "v", "p")
OTHER: Final = ("p", "w")
_ROWS = 24
_MOST = 60
#: properties of tables, and parts of the names of files, that only a write in progress has
LEFT: Final = ("pyspark_substrait.", "substrait_", ".lock", ".version", ".written", "_temporary")


@dataclass(frozen=True)
class Place:
    """Where everything is: the session, the folders of the tables and of the files, and a server over the session."""

    spark: SparkSession
    warehouse: Path
    files: Path
    server: Server | None = None


@dataclass(frozen=True)
class Write:
    """One write.

    Args:
        kind: which of the kinds that are counted.
        run: writes.
        after: the state of the table after it, given the one before.
        fits: whether it is a write of its kind in a state.
        always: whether it can be made in every state of the table.
    """

    kind: str
    run: Callable[[], object]
    after: Callable[[State | None], State | None]
    fits: Callable[[State | None], bool] = lambda _: True
    always: bool = True


class Subject(ABC):
    """Something that is written. ``name``: of the table, or of the folder."""

    def __init__(self, name: str, place: Place) -> None:
        self.name = name
        self.place = place

    @abstractmethod
    def prepare(self) -> None:
        """Make what has to be there before the first write."""

    @abstractmethod
    def writes(self, number: int) -> Sequence[Write]:
        """Return a write of each kind, with rows that have a number."""

    @abstractmethod
    def state(self, expected: Sequence[State | None]) -> State | None:
        """Return the rows as a plan reads them; as files, they are the same.

        Raises:
            AssertionError: the files hold other rows.
        """

    @property
    @abstractmethod
    def folder(self) -> Path:
        """Where its files are."""


def records(columns: Sequence[str], number: int, first: int = 0, count: int = _ROWS) -> list[Row]:
    """Return rows of a number."""
    return [
        tuple({"id": id, "v": number, "p": id % 3, "w": number}[name] for name in columns)
        for id in range(first, first + count)
    ]


def _input(columns: Sequence[str], found: Sequence[Row]) -> RelationBase:
    return values([LONG] * len(columns), found)


def _named(columns: Sequence[str]) -> dict[str, Any]:
    return dict.fromkeys(columns, LONG)


def _on_disk(folder: Path, columns: Sequence[str], format: str) -> list[Row]:
    """Return the rows of the files in a folder, read without Spark."""
    found = pa.dataset.dataset(str(folder), format=format, partitioning="hive").to_table()
    if not found.num_rows:
        return []
    return list(zip(*(found[name].to_pylist() for name in columns), strict=True))


class Table(Subject):
    """A table of the session's catalog. ``format``: of its files."""

    format = "parquet"

    @property
    def folder(self) -> Path:
        return self.place.warehouse / self.name

    def prepare(self) -> None:
        if not self.place.spark.catalog.tableExists(self.name):
            self.create(FORM, 0, CreateMode.UNSPECIFIED)

    def refresh(self) -> None:
        """Make the session forget the files of the table, where another session writes it."""

    def run(self, relation: RelationBase) -> None:
        run(self.place.spark, relation, progress=False)

    def create(self, columns: Sequence[str], number: int, mode: CreateMode) -> None:
        """Create the table of rows."""
        made = _input(columns, records(columns, number))
        self.run(write(WriteOp.CTAS, self.name, made, _named(columns), create_mode=mode))

    def state(self, expected: Sequence[State | None]) -> State | None:
        spark = self.place.spark
        self.refresh()
        forms = [(*spark.table(self.name).columns,)] if spark.catalog.tableExists(self.name) else []
        forms = forms or [*dict.fromkeys(found.columns for found in expected if found is not None)]
        missing: TableError | None = None
        for columns in forms:
            try:
                rows(spark, stored(self.name, _named(columns)), progress=False)
            except TableError as error:
                missing = error
                continue
            # the read may have completed a replacement, by a table that has the columns in another order
            columns = (*spark.table(self.name).columns,)
            found = rows(spark, stored(self.name, _named(columns)), progress=False)
            # Spark's own reader sees the same, and so does one that isn't Spark's
            assert sorted(map(tuple, spark.table(self.name).collect())) == sorted(found), "Spark reads other rows"
            assert sorted(_on_disk(self.folder, columns, self.format)) == sorted(found), "the files hold other rows"
            return state(columns, found)
        if None not in expected and missing is not None:
            raise missing
        assert not self.folder.exists(), "there is a folder, and no table"
        return None


class Rows(Table):
    """A table whose rows are inserted, updated, deleted and replaced."""

    def __init__(self, name: str, place: Place, format: Literal["parquet", "orc"], partitions: bool) -> None:
        super().__init__(name, place)
        self.format = format
        self._partitions = partitions

    def prepare(self) -> None:
        if not self.place.spark.catalog.tableExists(self.name):
            columns = ", ".join(f"{name} BIGINT NOT NULL" for name in FORM)
            rest = "PARTITIONED BY (p)" if self._partitions else ""
            self.place.spark.sql(f"CREATE TABLE {self.name} ({columns}) USING {self.format} {rest}")
            self.create(FORM, 0, CreateMode.REPLACE_IF_EXISTS)

    def writes(self, number: int) -> Sequence[Write]:
        source, more = stored(self.name, _named(FORM)), records(FORM, number, 100, 8)
        older = call("lt", col(source, 0), long(12))
        changed = update(self.name, older, [(1, call("add", col(source, 1), long(1)))], _named(FORM))
        added = insert(self.name, _input(FORM, more), _named(FORM))
        gone = delete(self.name, where(source, call("gte", col(source, 0), long(100))), _named(FORM))

        def updated(found: State | None) -> State:
            assert found is not None
            return state(FORM, [(id, v + (id < 12), p) for id, v, p in found.rows])

        def deleted(found: State | None) -> State:
            assert found is not None
            return state(FORM, [row for row in found.rows if row[0] < 100])

        kind = "partitioned table" if self._partitions else "table"
        return [
            Write(f"INSERT, {kind}", lambda: self.run(added), lambda old: _with(old, more), _few),
            Write(f"UPDATE, {kind}", lambda: self.run(changed), updated),
            Write(
                f"DELETE, {kind}",
                lambda: self.run(gone),
                deleted,
                lambda old: old is not None and any(row[0] >= 100 for row in old.rows),
            ),
            Write(
                f"CTAS REPLACE, same columns, {kind}",
                lambda: self.create(FORM, number, CreateMode.REPLACE_IF_EXISTS),
                lambda _: state(FORM, records(FORM, number)),
            ),
        ]


def _few(found: State | None) -> bool:
    return found is None or len(found.rows) < _MOST


def _with(old: State | None, more: Sequence[Row]) -> State:
    return state(FORM, [*(() if old is None else old.rows), *more])


class Created(Table):
    """A table that is created of records, and dropped."""

    def prepare(self) -> None:
        pass  # it may be there or not

    def writes(self, number: int) -> Sequence[Write]:
        new = records(FORM, number)
        gone = definition(DdlOp.DROP, self.name)
        return [
            Write(
                "CTAS, new table",
                lambda: self.create(FORM, number, CreateMode.UNSPECIFIED),
                lambda _: state(FORM, new),
                lambda old: old is None,
                always=False,
            ),
            Write(
                "CTAS that appends",
                lambda: self.create(FORM, number, CreateMode.APPEND_IF_EXISTS),
                lambda old: _with(old, new),
                lambda old: old is not None and _few(old),
            ),
            Write("DROP", lambda: self.run(gone), lambda _: None, lambda old: old is not None, always=False),
        ]


class Forms(Table):
    """A table that alternates between two forms. A form has other columns, or the same in another order."""

    kind: str
    other: tuple[str, ...] = OTHER

    def writes(self, number: int) -> Sequence[Write]:
        return [
            Write(
                self.kind,
                lambda form=form: self.change(form, number),  # type: ignore[misc]
                lambda old, form=form: self.changed(old, form, number),  # type: ignore[misc]
                lambda old, form=form: old is not None and old.columns != form,  # type: ignore[misc]
            )
            for form in (FORM, self.other)
        ]

    @abstractmethod
    def change(self, form: tuple[str, ...], number: int) -> None:
        """Bring the table into a form."""

    @abstractmethod
    def changed(self, old: State | None, form: tuple[str, ...], number: int) -> State:
        """Return the state after :meth:`change`."""


class Replaced(Forms):
    """A table that a CTAS replaces by one with other columns."""

    kind = "CTAS REPLACE, other columns"

    def change(self, form: tuple[str, ...], number: int) -> None:
        self.create(form, number, CreateMode.REPLACE_IF_EXISTS)

    def changed(self, old: State | None, form: tuple[str, ...], number: int) -> State:
        return state(form, records(form, number))


class Altered(Forms):
    """A table that an ALTER rewrites."""

    kind = "ALTER that rewrites"
    other = ("p", "id", "v")

    def change(self, form: tuple[str, ...], number: int) -> None:
        self.run(definition(DdlOp.ALTER, self.name, _named(form)))

    def changed(self, old: State | None, form: tuple[str, ...], number: int) -> State:
        assert old is not None
        places = [old.columns.index(name) for name in form]
        return state(form, [[row[place] for place in places] for row in old.rows])


class Defined(Forms):
    """A table that is defined anew, without rows."""

    kind = "CREATE OR REPLACE"

    def change(self, form: tuple[str, ...], number: int) -> None:
        self.run(definition(DdlOp.CREATE_OR_REPLACE, self.name, _named(form)))

    def changed(self, old: State | None, form: tuple[str, ...], number: int) -> State:
        return state(form, [])


class Files(Subject):
    """A folder of files, or of a folder for each value of a column."""

    def __init__(self, name: str, place: Place, template: str = "") -> None:
        super().__init__(name, place)
        self._template = template

    @property
    def folder(self) -> Path:
        return self.place.files / self.name

    def prepare(self) -> None:
        pass  # it may be there or not

    def writes(self, number: int) -> Sequence[Write]:
        detail = write_targets.files(f"{self.folder}{self._template}")
        new, more = records(FORM, number), records(FORM, number, 100, 8)
        kind = "folders of values" if self._template else "files"

        def carry_out(relation: RelationBase) -> None:
            run(self.place.spark, relation, progress=False, allowed_paths=[self.place.files])

        def put(found: Sequence[Row], mode: CreateMode) -> None:
            carry_out(write_target(detail, _input(FORM, found), mode=mode, names=FORM))

        writes = [
            Write(
                f"CTAS REPLACE, {kind}",
                lambda: put(new, CreateMode.REPLACE_IF_EXISTS),
                lambda _: state(FORM, new),
            ),
            Write(
                f"INSERT, {kind}", lambda: put(more, CreateMode.APPEND_IF_EXISTS), lambda old: _with(old, more), _few
            ),
        ]
        if not self._template:
            gone = define(detail, DdlOp.DROP_IF_EXIST)
            writes.append(Write(f"DROP, {kind}", lambda: carry_out(gone), lambda _: None, lambda old: old is not None))
        return writes

    def state(self, expected: Sequence[State | None]) -> State | None:
        if not self.folder.is_dir():
            return None
        assert any(self.folder.rglob("*.parquet")), "there is a folder without files"
        return state(FORM, _on_disk(self.folder, FORM, "parquet"))


class Ingested(Table):
    """A table whose rows a client of a server sends."""

    def refresh(self) -> None:
        if self.place.spark.catalog.tableExists(self.name):
            self.place.spark.catalog.refreshTable(self.name)  # the server has a session of its own

    def writes(self, number: int) -> Sequence[Write]:
        new, more, others = records(FORM, number), records(FORM, number, 100, 8), records(OTHER, number)

        def put(columns: Sequence[str], found: Sequence[Row], if_exists: int) -> None:
            assert self.place.server is not None
            message = command(
                "CommandStatementIngest", field(1, field(1, 1) + field(2, if_exists)), field(2, self.name)
            )
            types = pa.schema([pa.field(name, pa.int64(), nullable=False) for name in columns])
            record = pa.record_batch([pa.array(cells, pa.int64()) for cells in zip(*found, strict=True)], types)
            with RawClient(self.place.server.uri, self.place.server.token, seconds=600) as client:
                client.put(message, record)

        def usual(old: State | None) -> bool:
            return old is not None and old.columns == FORM

        return [
            Write(
                "ingestion that appends",
                lambda: put(FORM, more, 2),
                lambda old: _with(old, more),
                lambda old: usual(old) and _few(old),
                always=False,
            ),
            Write(
                "ingestion that replaces",
                lambda: put(FORM, new, 3),
                lambda _: state(FORM, new),
                usual,
            ),
            Write(
                "ingestion, other columns",
                lambda: put(OTHER, others, 3),
                lambda _: state(OTHER, others),
                usual,
            ),
            Write(
                "ingestion, other columns",
                lambda: put(FORM, new, 3),
                lambda _: state(FORM, new),
                lambda old: not usual(old),
            ),
        ]


def subjects(place: Place, copies: int = 1) -> Iterator[Subject]:
    """Yield everything that is written, for a session: some of each."""
    for number in range(copies):
        end = str(number or "")
        yield Rows(f"plain{end}", place, "parquet", partitions=False)
        yield Rows(f"parts{end}", place, "orc", partitions=True)
        yield Created(f"created{end}", place)
        yield Replaced(f"replaced{end}", place)
        yield Altered(f"altered{end}", place)
        yield Defined(f"defined{end}", place)
        yield Files(f"files{end}", place)
        yield Files(f"folders{end}", place, "/{p}")
        if place.server is not None:
            yield Ingested(f"ingested{end}", place)


def names_below(folder: Path) -> set[str]:
    """Return the names of the entries of a folder, hidden ones included."""
    return set(os.listdir(folder)) if folder.is_dir() else set()
