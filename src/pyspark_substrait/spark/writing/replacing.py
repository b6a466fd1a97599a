"""Replace a table of Spark's own catalog by one with other columns, safely in case of a crash.

The catalog has no single step for that. So the new table is created beside the old one, under a name ``substrait_…``
that is derived from the table's, and the progress is recorded in the catalog itself, in properties of the two tables:

1. The new table is created, with the record of its purpose (``REPLACES``), then filled and synced to disk.
2. The old table is marked with the name of the new one (``REPLACED_BY``).
3. The record of the new table is marked as complete.
4. The old table is dropped. This commits: after a crash before it, the steps are undone; after it, they are finished.
5. The new table is renamed, and the record removed.

Each step is one transaction of the catalog. The next command that names the table (:func:`recover`) finds the new table
by its name, and the remaining steps by the record; it never drops an old table, because another process may have
written to it. During the steps, and during recovery, a lock beside the table keeps out other processes of this
package.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from pyspark_substrait.errors import ExecutionError, SubstraitError, TableError
from pyspark_substrait.spark.session import is_connect, spark_errors
from pyspark_substrait.spark.tables import local_path
from pyspark_substrait.spark.writing import folders
from pyspark_substrait.spark.writing.catalog import (
    CatalogEntry,
    assignments,
    carry_out,
    catalog_entry,
    dotted,
    in_session_catalog,
)
from pyspark_substrait.spark.writing.file_tables import check_replaceable
from pyspark_substrait.spark.writing.unexpected_files import entries_below
from pyspark_substrait.sql.compiler.literals import string_literal
from pyspark_substrait.sql.compiler.names import quoted_path

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["REPLACED_BY", "REPLACES", "Replacement", "exclusive", "recover", "replacing"]

REPLACES: Final = "pyspark_substrait.replaces"
"""The property of a new table that holds its record."""
REPLACED_BY: Final = "pyspark_substrait.replaced_by"
"""The property of an old table that names the new one."""

_VERSION: Final = 1
_CATALOG: Final = "spark_catalog"
#: how often recovery is tried, because another process may recover the table at the same time
_ATTEMPTS: Final = 3
#: how long Spark may take to end the last statement of a process that was killed
_LAST_STATEMENT_SECONDS: Final = 2.0


@dataclass(frozen=True, kw_only=True)
class _Record:
    """The purpose of a new table, as recorded in its property.

    Args:
        database, table: its final name.
        replaces: whether it replaces an old table of that name.
        complete: whether all its records are written.
        locked: whether a lock is held during the replacement.
        folder, old_folder: the identities of the folders of the new and the old table, which don't depend on their
            paths; None if they aren't on this machine.
    """

    database: str
    table: str
    replaces: bool
    locked: bool
    complete: bool = False
    folder: str | None = None
    old_folder: str | None = None

    def text(self) -> str:
        return json.dumps({"version": _VERSION, **vars(self)}, sort_keys=True)


def _record(found: CatalogEntry, place: _Place) -> _Record | None:
    """Return the record of a table, if it is one of this package for that place; else None."""
    text = _properties(found).get(REPLACES)
    try:
        read = json.loads(text or "null")
        if not isinstance(read, dict) or read.pop("version") != _VERSION:
            return None
        record = _Record(**read)
        same = (record.database.lower(), record.table.lower()) == (place.database.lower(), place.table.lower())
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    return record if same else None


def _properties(found: CatalogEntry | None) -> Mapping[str, str]:
    return {} if found is None or found.details is None else found.details.get("table_properties") or {}


@dataclass(frozen=True)
class _Place:
    """The name of a table in Spark's own catalog, and the folder of its database.

    Args:
        database: the database.
        table: the table.
        folder: the folder of the database on this machine; None where it is somewhere else.
    """

    database: str
    table: str
    folder: Path | None

    @property
    def names(self) -> tuple[str, str, str]:
        return (_CATALOG, self.database, self.table)

    @property
    def stem(self) -> str:
        """The prefix of the names of tables that are created beside this one."""
        name = f"{self.database.lower()}\x00{self.table.lower()}"
        return f"substrait_{sha256(name.encode(errors='surrogatepass')).hexdigest()[:24]}"

    @property
    def own_folder(self) -> Path | None:
        """The folder in which the catalog stores a table of this name; None if it isn't on this machine."""
        return None if self.folder is None else self.folder / self.table.lower()

    @property
    def lock_is_there(self) -> bool:
        """Whether a process holds a lock, or was killed while holding it."""
        return self.folder is not None and any(
            os.path.lexists(self.folder / f".{name}.lock") for name in (self.stem, self.table.lower())
        )

    def is_beside(self, name: str) -> bool:
        """Whether a name is that of a table created beside this one."""
        return re.fullmatch(rf"{self.stem}[0-9a-f]{{8}}", name) is not None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the tables beside this one against other processes of this package, on this machine only."""
        if self.folder is None:
            yield
            return
        with folders.locked(self.folder / self.stem):
            yield


def _place(spark: SparkSession, names: Sequence[str], *, make: bool = False) -> _Place | None:
    """Return the place of a table; None if it isn't in Spark's own catalog, or its database doesn't exist.

    With ``make``, create the folder of a database that had no table yet.
    """
    if not names or not all(names) or len(names) > 3 or not in_session_catalog(spark, names):
        return None
    database = names[-2] if len(names) > 1 else spark.catalog.currentDatabase()
    try:
        rows = spark.sql(f"DESCRIBE DATABASE {quoted_path((_CATALOG, database))}").collect()
    except spark_errors():
        return None
    location = next((row[1] for row in rows if row[0] == "Location"), "")
    folder = local_path(location) if location else None
    if make and folder is not None and folder.is_absolute() and not is_connect(spark):
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
    return _Place(database, names[-1], folder if folder is not None and os.path.isdir(folder) else None)


# replace --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Replacement:
    """A new table that is created beside the old one.

    Args:
        beside: its full name until it is in place.
        properties: the properties that it must be created with.
    """

    spark: SparkSession
    names: tuple[str, ...]
    beside: tuple[str, ...]
    place: _Place
    record: _Record
    old: CatalogEntry | None
    change: folders.Change | None

    @property
    def properties(self) -> Mapping[str, str]:
        return {REPLACES: self.record.text()}

    def put_in_place(self) -> None:
        """Drop the old table, and rename the new one, which is complete.

        Raises:
            TableError: another process has created a table of that name meanwhile.
            UnsupportedPlanError: the catalog refuses it, or would remove files that aren't the table's.
        """
        new = catalog_entry(self.spark, self.beside)
        assert new is not None
        folder, old_folder = _local_folder(new), None
        if folder is not None:
            folders.to_disk(folder)
            folders.sync(folder.parent)
        if self.old is not None:
            old_folder = _local_folder(self.old)
            self._check_room(self.old)
            _set(self.spark, self.old.path, REPLACED_BY, self.beside[-1], self.names)
        record = replace(self.record, complete=True, folder=_mark(folder), old_folder=_mark(old_folder))
        _set(self.spark, quoted_path(self.beside), REPLACES, record.text(), self.names)
        if self.old is not None:
            carry_out(self.spark, f"DROP TABLE {self.old.path}", self.names, "drop")
        _give_name(self.spark, self.place, self.beside[-1])

    def _check_room(self, old: CatalogEntry) -> None:
        """Check that the old table is unchanged, and that the folder for the new one is free."""
        if self.change is not None:
            self.change.check_unchanged()
        folder, room = _local_folder(old), self.place.own_folder
        if room is not None and os.path.exists(room) and (old.external or folder is None or not room.samefile(folder)):
            raise TableError(
                f"the files of the new {dotted(self.names)} belong in {room}, which exists already",
                hint="Nothing was changed. Move it to another place",
            )


@contextmanager
def replacing(spark: SparkSession, names: Sequence[str], old: CatalogEntry | None) -> Iterator[Replacement]:
    """Prepare a table beside an existing one, or beside an unused name; remove it if the body fails.

    Args:
        spark: the session.
        names: the name in the plan.
        old: the existing table, if any.

    Raises:
        ExecutionError: another process is changing the table.
        TableError: its database doesn't exist.
    """
    full = names if old is None else (_CATALOG, *_in_catalog(old))
    place = _place(spark, full, make=True)
    if place is None:
        raise TableError(f"there is no database for {dotted(names)}", hint="Create the database first; a plan cannot")
    locked = place.folder is not None
    record = _Record(database=place.database, table=place.table, replaces=old is not None, locked=locked)
    with place.locked(), exclusive(old, names) as change:
        beside = (_CATALOG, place.database, f"{place.stem}{uuid4().hex[:8]}")
        try:
            yield Replacement(spark, tuple(names), beside, place, record, old, change)
        except BaseException:
            with suppress(SubstraitError, OSError, *spark_errors()):
                if old is None or _table(spark, place) is not None:
                    _undo(spark, place, beside[-1])  # nothing was dropped
                _recover_all(spark, place)
            raise


@contextmanager
def exclusive(found: CatalogEntry | None, names: Sequence[str]) -> Iterator[folders.Change | None]:
    """Lock a table that is to be dropped, if the catalog removes its folder, and the folder is on this machine.

    Raises:
        ExecutionError: another process is changing it.
        UnsupportedPlanError: the folder contains more than the table.
    """
    folder = None if found is None or found.external else _local_folder(found)
    if folder is None:
        yield None
        return
    with folders.changing(folder) as change:
        check_replaceable(dotted(names), folder)
        yield change


def _in_catalog(found: CatalogEntry) -> tuple[str, ...]:
    assert found.details is not None
    return (*found.details["namespace"], found.details["table_name"])


def _local_folder(found: CatalogEntry) -> Path | None:
    """Return the folder of a table on this machine; None if it is elsewhere, or doesn't exist."""
    location = (found.details or {}).get("location")
    folder = local_path(str(location)) if location else None
    return folder if folder is not None and os.path.isdir(folder) else None


def _mark(folder: Path | None) -> str | None:
    """Return the identity of a folder: its inode number, and the time of its newest file.

    Inode numbers are reused after a folder is removed, but then the files are newer.
    """
    return None if folder is None else f"{folder.stat().st_ino} {_newest(folder)}"


def _newest(folder: Path) -> int:
    """Return the latest change time (ctime) of the files in a folder, in nanoseconds, which programs can't set."""
    return max(
        (os.lstat(folder / found.path).st_ctime_ns for found in entries_below(folder) if found.kind != "folder"),
        default=0,
    )


def _set(spark: SparkSession, path: str, key: str, value: str, names: Sequence[str]) -> None:
    carry_out(spark, f"ALTER TABLE {path} SET TBLPROPERTIES ({assignments({key: value})})", names, "replace the table")


def _unset(spark: SparkSession, place: _Place, key: str) -> None:
    text = f"ALTER TABLE {quoted_path(place.names)} UNSET TBLPROPERTIES IF EXISTS ({string_literal(key)})"
    carry_out(spark, text, place.names, "alter the table")


def _give_name(spark: SparkSession, place: _Place, beside: str) -> None:
    room = place.own_folder
    if room is not None and os.path.lexists(room):
        # Spark would move the files of the table into it
        try:
            room.rmdir()
        except OSError as error:
            raise TableError(
                f"the files of {dotted(place.names[1:])} belong in {room}, which exists already",
                hint=f"Move it to another place. Until then, the new table is {beside}",
            ) from error
    # the new name has no catalog: a table stays in its own
    name = quoted_path(place.names[1:])
    path = quoted_path((_CATALOG, place.database, beside))
    carry_out(spark, f"ALTER TABLE {path} RENAME TO {name}", place.names, "make the table")
    _unset(spark, place, REPLACES)


def _undo(spark: SparkSession, place: _Place, beside: str) -> None:
    path = quoted_path((_CATALOG, place.database, beside))
    carry_out(spark, f"DROP TABLE IF EXISTS {path}", place.names, "drop")


# recover --------------------------------------------------------------------------------------------------------------


def recover(spark: SparkSession, names: Sequence[str]) -> bool:
    """Finish or undo an interrupted replacement of a table, if there is one.

    Args:
        spark: the session.
        names: the name of the table.

    Returns:
        whether there was anything to finish or undo.

    Raises:
        ExecutionError: another process is changing the table.
        TableError: a table was created under the name meanwhile, while a complete one waits for it.
        UnsupportedPlanError: the catalog refuses a step.
    """
    place = None
    # an invalid name is reported where it is used
    with suppress(SubstraitError):
        place = _place(spark, names)
        if place is None or not _is_left(spark, place):
            return False
    if place is None:
        return False
    with place.locked():
        for _ in range(_ATTEMPTS - 1):
            with suppress(SubstraitError):
                return _recover_all(spark, place)
        return _recover_all(spark, place)


def _is_left(spark: SparkSession, place: _Place) -> bool:
    """Whether there are traces of an interrupted replacement, or of one in progress."""
    if place.lock_is_there or _stray_folders(place, ()) or _tables(spark, place):
        return True
    properties = _properties(_table(spark, place))
    return REPLACES in properties or REPLACED_BY in properties


def _table(spark: SparkSession, place: _Place) -> CatalogEntry | None:
    """Return the table of the name; None if there is none, or if a session view hides it."""
    found = catalog_entry(spark, place.names)
    return found if found is not None and found.kind == "table" else None


def _tables(spark: SparkSession, place: _Place) -> list[str]:
    """Return the names of the tables created beside one."""
    database = quoted_path((_CATALOG, place.database))
    rows = spark.sql(f"SHOW TABLES IN {database} LIKE {string_literal(f'{place.stem}*')}").collect()
    return sorted(row["tableName"] for row in rows if not row["isTemporary"] and place.is_beside(row["tableName"]))


def _stray_folders(place: _Place, tables: Sequence[str]) -> list[Path]:
    """Return the folders of tables beside one that aren't in the catalog."""
    if place.folder is None:
        return []
    with os.scandir(place.folder) as found:
        return [
            Path(each.path)
            for each in found
            if place.is_beside(each.name) and each.name not in tables and each.is_dir(follow_symlinks=False)
        ]


def _recover_all(spark: SparkSession, place: _Place) -> bool:
    """Carry out the remaining steps, while the lock is held."""
    anything = False
    for name in _tables(spark, place):
        beside = catalog_entry(spark, (_CATALOG, place.database, name))
        record = None if beside is None else _record(beside, place)
        if beside is not None and record is not None:
            _recover(spark, place, beside, name, record)
            anything = True
    found = _table(spark, place)
    for key in (REPLACES, REPLACED_BY):
        if key in _properties(found):
            _unset(spark, place, key)
            anything = True
    for folder in _stray_folders(place, _tables(spark, place)):
        # if the table isn't in the catalog, these may be its only records
        if found is not None or not folders.data_files(folder):
            shutil.rmtree(folder)
            anything = True
    if place.own_folder is not None:
        with suppress(ExecutionError), folders.changing(place.own_folder):
            pass  # this removes locks and versions of its folder
    return anything


def _recover(spark: SparkSession, place: _Place, beside: CatalogEntry, name: str, record: _Record) -> None:
    old = _table(spark, place)
    if not record.locked or not _is_seen(place, name, record):
        # without a lock, a crash can't be distinguished from a change in progress
        raise ExecutionError(
            f"another process is changing {dotted(place.names[1:])}, or was stopped while changing it",
            hint=f"If it was stopped: rename {name} to {place.table}, which no longer exists"
            if record.complete and old is None
            else f"If it was stopped: drop {name}",
        )
    if not record.complete:
        _undo(spark, place, name)
    elif old is None:
        _free(place, name, record)
        _give_name(spark, place, name)
    elif not record.replaces:
        _undo(spark, place, name)
    elif _properties(old).get(REPLACED_BY) == name:
        # Spark may outlive the process that was killed, and still be dropping the old table for it
        time.sleep(_LAST_STATEMENT_SECONDS)
        if _table(spark, place) is not None:
            _undo(spark, place, name)
        else:
            _recover(spark, place, beside, name, record)
    else:
        raise TableError(
            f"{dotted(place.names[1:])} was created again after a crash, and {name} has the records meant for it",
            hint="Rename or drop one of the two",
        )


def _is_seen(place: _Place, name: str, record: _Record) -> bool:
    """Whether the files of a table beside are on this machine, so that the lock is, too."""
    if place.folder is None or place.own_folder is None:
        return False
    moved = record.folder is not None and os.path.isdir(place.own_folder) and _mark(place.own_folder) == record.folder
    return moved or (place.folder / name).is_dir()


def _free(place: _Place, name: str, record: _Record) -> None:
    """Free the folder for the new table, after a crash while the new folder was moved or the old one removed."""
    room = place.own_folder
    assert room is not None and place.folder is not None
    if not os.path.isdir(room) or room.is_symlink():
        return
    folder, number = place.folder / name, str(room.stat().st_ino)
    old_number, _, newest = (record.old_folder or "").partition(" ")
    if _mark(room) == record.folder and not folder.exists():
        os.rename(room, folder)
        folders.sync(place.folder)
    elif number == old_number and newest.isdigit() and _newest(room) <= int(newest):
        check_replaceable(dotted(place.names[1:]), room, partly=True)
        shutil.rmtree(room)
