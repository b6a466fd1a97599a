"""Change tables of plain files: a new version is written beside the folder and swapped in (see ``folders``)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit
from uuid import uuid4

from pyspark_substrait.errors import ExecutionError, UnsupportedPlanError
from pyspark_substrait.spark.session import is_connect, spark_errors
from pyspark_substrait.spark.tables import local_path
from pyspark_substrait.spark.writing import folders
from pyspark_substrait.spark.writing.catalog import dotted
from pyspark_substrait.spark.writing.stored_tables import StoredTable
from pyspark_substrait.spark.writing.unexpected_files import entries_below, first_unexpected, is_record_file
from pyspark_substrait.spark.writing.write_context import WriteContext
from pyspark_substrait.sql.compiler.names import quoted

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["change", "check", "check_partitions", "check_replaceable", "in_named_folders", "is_local"]

#: The value in the name of the folder of the records whose value is null.
_NULL_FOLDER: Final = "__HIVE_DEFAULT_PARTITION__"
#: Formats that store values exactly.
_EXACT: Final = frozenset({"parquet", "orc"})
#: Types whose values are exact in the name of a folder.
_PARTITION_TYPES: Final = ("tinyint", "smallint", "int", "bigint", "string", "date", "boolean", "decimal")


def check(table: StoredTable, *, keep: bool) -> None:
    """Check that the table can be changed.

    Args:
        table: a table of files.
        keep: whether records are only added.

    Raises:
        UnsupportedPlanError: it can't be changed; the message states why.
    """
    if table.bucketed:
        raise UnsupportedPlanError(
            f"{table.name} has buckets, which Spark keeps only in tables that it fills itself",
            hint="Use a table without buckets",
        )
    if not keep and table.provider not in _EXACT:
        raise UnsupportedPlanError(
            f"{table.name} is a table of {table.provider} files, which do not give back exactly what they hold, "
            "so that records can be added, but not changed or removed",
            hint="Use a Parquet, ORC, Delta or Iceberg table",
        )
    check_partitions(table)
    folder = _folder(table)
    if not keep:
        check_replaceable(table.name, folder)


def check_partitions(table: StoredTable) -> None:
    """Check that the names of the folders of a partitioned table say its values exactly.

    Raises:
        UnsupportedPlanError: they don't.
    """
    for field in table.stored.fields:
        kind = field.dataType.simpleString().split("(")[0]
        if field.name in table.partitions and kind not in _PARTITION_TYPES:
            raise UnsupportedPlanError(f"{table.name} is partitioned by {field.name}, a {kind}, which is not exact")


def check_replaceable(name: str, folder: Path, *, partly: bool = False) -> None:
    """Check that nothing but the records of a table would be lost if its folder were replaced or removed.

    Args:
        name: the table, for messages.
        folder: its folder, which needn't be there.
        partly: whether some of its files are removed already, perhaps without their checksum files.

    Raises:
        UnsupportedPlanError: the folder contains something else.
    """
    other = first_unexpected(entries_below(folder), is_record_file, partly=partly) if folder.is_dir() else None
    if other is not None:
        raise UnsupportedPlanError(
            f"the folder {folder} of {name} has something that is not a file of the table: {dotted([str(other)])}",
            hint="Nothing was changed. Move it to another place, or remove it",
        )


def is_local(table: StoredTable) -> bool:
    """Whether the table is in a local folder, as opposed to an object store or a cluster's file system."""
    found = local_path(table.location)
    return found is not None and found.is_absolute()


def _folder(table: StoredTable) -> Path:
    found = local_path(table.location)
    if found is None or not found.is_absolute():
        raise UnsupportedPlanError(
            f"the files of {table.name} are in {urlsplit(table.location).scheme or 'a place'} that is not a folder of "
            "this machine, so that they cannot be replaced in one step",
            hint="Use a Delta or Iceberg table, which can",
        )
    return found


def change(table: StoredTable, session: WriteContext, contents: Callable[[], DataFrame], *, keep: bool) -> None:
    """Write a new version of the table.

    Args:
        table: a table of files that :func:`check` accepts.
        session: the session.
        contents: returns the records, with the table's columns; called while the table is locked.
        keep: whether the existing records are kept.

    Raises:
        ExecutionError: the records can't be computed, or somebody else changes the table at the same time.
    """
    folder = _folder(table)
    if not folder.exists() and folder.parent.is_dir():
        # nothing has been written to the table yet
        folder.mkdir()
    if not folder.is_dir():
        raise _unseen(table)
    with folders.changing(folder) as version:
        _refresh(table, session)
        _check_files(table, session, folder)
        if not keep:
            check_replaceable(table.name, folder)
        rows = contents()
        _write(rows, table, session, version.written)
        if keep:
            version.keep()
        version.add()
        if table.partitions:
            _add_partitions(table, session, folder, version.version)
        version.take_effect()
        _refresh(table, session)


def _refresh(table: StoredTable, session: WriteContext) -> None:
    session.spark.sql(f"REFRESH TABLE {table.path}").collect()
    # cached data of the table depends on its folder, and only this always invalidates it
    session.spark.catalog.refreshByPath(table.location)
    session.look_up_anew()


def _check_files(table: StoredTable, session: WriteContext, folder: Path) -> None:
    """Check that Spark reads exactly the files that are in the folder on this machine."""
    # with an additional option, the session doesn't use cached data of the table
    stored = session.spark.read.option("cached", "no").table(table.path)
    read = {Path(unquote(urlsplit(uri).path)) for uri in stored.inputFiles()}
    there = folders.data_files(folder.resolve())
    if {path.resolve() for path in read} != there:
        raise UnsupportedPlanError(
            f"Spark reads {len(read)} files of {table.name}, but there are {len(there)} in {folder}",
            hint="Where it has partitions, bring them into the catalog (MSCK REPAIR TABLE); their folders must be "
            "inside of the table's, and Spark must run where the files are",
        )
    if is_connect(session.spark):
        _check_probe(table, session, folder)


def _check_probe(table: StoredTable, session: WriteContext, folder: Path) -> None:
    """Check that the folder on this machine is also the server's."""
    word = uuid4().hex
    probe = folder.resolve().parent / f".{folder.name}.{word}.written"
    failures: tuple[type[Exception], ...] = (*spark_errors(), OSError)
    try:
        probe.mkdir()
        (probe / "probe").write_text(word)
        found = session.spark.read.text(f"file://{probe}/probe").collect()
    except failures as error:
        raise _unseen(table) from error
    if [row[0] for row in found] != [word]:
        raise _unseen(table)


def _unseen(table: StoredTable) -> UnsupportedPlanError:
    return UnsupportedPlanError(
        f"Spark runs on a machine that does not see this machine's folder {table.location} of {table.name}",
        hint="Run the plan on the machine that has the table, or use a Delta or Iceberg table",
    )


def _write(rows: DataFrame, table: StoredTable, session: WriteContext, target: Path) -> None:
    """Write records into a new folder.

    Raises:
        ExecutionError: not all of them are in the folder on this machine.
    """
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    place = f"file://{target}"
    here = str(session.spark.conf.get("spark.master", "")).startswith("local")
    count = Observation()
    if not here:
        rows = rows.observe(count, F.count(F.lit(1)).alias("count"))
    writer = in_named_folders(rows, table).write.format(table.provider).options(**table.options)
    (writer.partitionBy(*table.partitions) if table.partitions else writer).save(place)
    if here and target.is_dir():
        return
    written = session.spark.read.format(table.provider).options(**table.options).schema(rows.schema).load(place)
    there = {Path(unquote(urlsplit(uri).path)) for uri in written.inputFiles()}
    if there != folders.data_files(target) or written.count() != count.get["count"]:
        raise ExecutionError(
            f"what was written for {table.name} is not all in {target}",
            hint="Nothing was changed. Spark's executors must have the table's file system, or use Delta or Iceberg",
        )


def in_named_folders(rows: DataFrame, table: StoredTable) -> DataFrame:
    """Return the records with a check of partition values that the name of a folder can't represent."""
    from pyspark.sql import functions as F

    for field in table.stored.fields:
        if field.name in table.partitions and field.dataType.typeName() == "string":
            value, there = rows[quoted(field.name)], f"{table.name} is partitioned by {field.name}, and"

            def error(text: str) -> Column:
                return F.raise_error(F.lit(text)).cast("string")

            checked = F.when(value == "", error(f"{there} an empty text there would become null"))
            checked = checked.when(value == _NULL_FOLDER, error(f"{there} {_NULL_FOLDER} there would become null"))
            if not table.null_partitions:
                checked = checked.when(value.isNull(), error(f"{there} a null there would become {_NULL_FOLDER}"))
            rows = rows.withColumn(field.name, checked.otherwise(value))
    return rows


def _add_partitions(table: StoredTable, session: WriteContext, folder: Path, version: Path) -> None:
    """Register the partitions of the new version in the catalog; they are empty until the version takes effect."""
    new = [part for part in folders.parts(version) if not (folder / part).is_dir()]
    for part in new:
        (folder / part).mkdir(parents=True)
    if new and table.catalog_partitions:
        session.spark.sql(f"ALTER TABLE {table.path} RECOVER PARTITIONS").collect()
    for part in folders.parts(folder):
        (version / part).mkdir(parents=True, exist_ok=True)
