"""Read files with a schema (Parquet and ORC) with Spark's own readers.

Files whose wanted columns have the same types are read together; Spark reads null for a column that a file lacks. So a
table whose files changed over time becomes a few tables, each with exactly one schema.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice
from typing import TYPE_CHECKING

import pyarrow as pa

from pyspark_substrait.binding.data_files import files_below
from pyspark_substrait.errors import NewerSparkError, SubstraitError, TableError
from pyspark_substrait.model.types import FixedChar, NamedStruct, PrecisionTimestamp, String, Type, VarChar, concrete
from pyspark_substrait.spark.access import Access
from pyspark_substrait.spark.arrow import METADATA
from pyspark_substrait.spark.arrow_transfer import frame_of_arrow
from pyspark_substrait.spark.compatibility import metadata_column
from pyspark_substrait.spark.reading.file_slices import FileSlice, is_here, named, uri_of_path
from pyspark_substrait.spark.reading.footers import Footer, Format, file_status, footer, without_nulls
from pyspark_substrait.spark.reading.guarded_scans import guarded_scan
from pyspark_substrait.spark.reading.partitions import NULL, check_value, needed, partition_of
from pyspark_substrait.spark.session import spark_errors
from pyspark_substrait.spark.session_cache import cache_value, session_cache
from pyspark_substrait.spark.tables import Table, file_reader, is_illegal_type, stored_columns
from pyspark_substrait.sql.compiler.literals import string_literal
from pyspark_substrait.sql.compiler.names import quoted
from pyspark_substrait.sql.compiler.types import spark_type
from pyspark_substrait.sql.spark_version import SparkVersion

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructField, StructType

__all__ = ["Records", "scans"]


@dataclass(frozen=True, slots=True)
class Records:
    """Records of a file: from ``first`` to before ``end``, or all of them."""

    path: str
    first: int = 0
    end: int | None = None


@dataclass(frozen=True, slots=True)
class _Kind:
    """The properties that files which are read together have in common.

    Args:
        types: the types of the wanted columns in the files; None if the files' schema isn't known.
        base: the folder above the partition folders; empty if no value comes from the path.
        values: the names of the partition columns in the path, from the outermost.
        taken: the wanted columns whose values come from the path.
        sliced: whether only some of the records are read.
        turn: the number of earlier reads of the same file, which go to separate tables.
    """

    types: tuple[tuple[str, str] | None, ...] | None
    base: str
    values: tuple[str, ...]
    taken: tuple[str, ...]
    sliced: bool
    turn: int


def scans(
    format: Format,
    records: Iterable[Records],
    schema: NamedStruct,
    access: Access,
    spark: SparkSession,
    *,
    case_sensitive: bool,
) -> list[tuple[str, Table]]:
    """Return tables whose union is the records, each with its name for errors.

    Args:
        format: the format of the files.
        records: the records to read; repeated ones are read repeatedly.
        schema: the columns that the plan wants.
        access: the files that the plan may name.
        spark: the session.
        case_sensitive: whether names that differ in case are different.

    Raises:
        TableError: a file can't be read, or a value in a path doesn't fit the plan's type.
        UnsupportedPlanError: a value would come from a part of the path that Spark ignores.
    """
    scan = _Scan(format, schema, access, spark, str if case_sensitive else str.lower)
    kinds: dict[_Kind, list[Records]] = {}
    turns: Counter[Records] = Counter()
    for each in records:
        kinds.setdefault(scan.kind(each, turns[each]), []).append(each)
        turns[each] += 1
    return [(named(FileSlice(each.path) for each in group), scan.table(kind, group)) for kind, group in kinds.items()]


class _Scan:
    """Reads files of one format with one schema."""

    def __init__(
        self,
        format: Format,
        schema: NamedStruct,
        access: Access,
        spark: SparkSession,
        fold: Callable[[str], str],
    ) -> None:
        self._format: Format = format
        self._access = access
        self._spark = spark
        self._fold = fold
        self._wanted: dict[str, Type] = dict(zip(schema.top_level_names(), schema.struct.types, strict=True))
        self._footers: dict[str, Footer] = {}

    def footer(self, path: str) -> Footer:
        if path not in self._footers:
            self._footers[path] = footer(path, self._format) if is_here(path) else Footer()
        return self._footers[path]

    def kind(self, records: Records, turn: int) -> _Kind:
        """Return the properties that a file shares with the files that it is read with."""
        found = self.footer(records.path)
        partition = partition_of(records.path)
        sliced = records.end is not None
        turn = 0 if sliced else turn
        if found.schema is None:
            return _Kind(None, partition.base if partition.values else "", tuple(partition.values), (), sliced, turn)
        types = self._types(found)
        missing = [name for name, type in zip(self._wanted, types, strict=True) if type is None]
        taken = tuple(needed(missing, partition, self._fold, records.path))
        return _Kind(
            types, partition.base if taken else "", tuple(partition.values) if taken else (), taken, sliced, turn
        )

    def _types(self, found: Footer) -> tuple[tuple[str, str] | None, ...]:
        assert found.schema is not None
        fields = {self._fold(field.name): field for field in found.schema}
        picked = (fields.get(self._fold(name)) for name in self._wanted)
        return tuple(
            None if field is None else (_described(field), found.spark_types.get(field.name, "")) for field in picked
        )

    def table(self, kind: _Kind, group: Sequence[Records]) -> Table:
        """Return the table of the files of one kind."""
        paths = list(dict.fromkeys(each.path for each in group))
        arrow = self.footer(paths[0]).schema
        try:
            stored = self._stored(kind, paths)
        except spark_errors() as error:
            raise self._unreadable(paths, error) from error
        data = [field for field in stored if self._fold(field.name) in map(self._fold, self._wanted)]
        taken = kind.taken if kind.types is not None else self._taken(data, paths)
        self._check_values(taken, paths)
        try:
            frame = self._frame(replace(kind, taken=taken), group, paths, data or stored.fields[:1])
            frame = self._with_values(frame, [field.name for field in data], taken)
            frame.schema  # noqa: B018 - Connect reads nothing before the schema is requested
        except spark_errors() as error:
            raise self._unreadable(paths, error) from error
        return Table(frame, self._without_nulls(taken, paths), arrow)

    def _stored(self, kind: _Kind, paths: Sequence[str]) -> StructType:
        """Return the files' schema in Spark: that of any file of the kind; merged if the types aren't known."""
        reader = file_reader(self._spark, self._format).option("recursiveFileLookup", True)
        if kind.types is None:
            return reader.option("mergeSchema", True).load([FileSlice(path).spark_path for path in paths]).schema
        known: dict[tuple[str, int, int], StructType] = session_cache(self._spark, "schemas")
        status = file_status(paths[0])
        key = (paths[0], status.st_mtime_ns, status.st_size)
        schema = known.get(key)
        if schema is None:
            try:
                schema = reader.load(FileSlice(paths[0]).spark_path).schema
            except spark_errors() as error:
                arrow = self.footer(paths[0]).schema
                if arrow is None or not is_illegal_type(error):
                    raise
                schema = stored_columns(arrow, self._spark)
            cache_value(known, key, schema, _MOST_SCHEMAS)
        return schema

    def _taken(self, data: Sequence[StructField], paths: Sequence[str]) -> tuple[str, ...]:
        """Return the columns whose values come from the paths, for files that only Spark can read."""
        there = {self._fold(field.name) for field in data}
        missing = [name for name in self._wanted if self._fold(name) not in there]
        return tuple(needed(missing, partition_of(paths[0]), self._fold, paths[0]))

    def _check_values(self, taken: Sequence[str], paths: Sequence[str]) -> None:
        for path in paths if taken else ():
            values = partition_of(path).values
            for name in taken:
                check_value(name, values[name], self._type(name), path)

    def _type(self, name: str) -> Type:
        return next(type for wanted, type in self._wanted.items() if self._fold(wanted) == self._fold(name))

    def _frame(
        self, kind: _Kind, group: Sequence[Records], paths: Sequence[str], data: Sequence[StructField]
    ) -> DataFrame:
        """Return a DataFrame of the columns of the files, and of those in their paths as text."""
        from pyspark.sql.types import StringType, StructField, StructType

        folded = {self._fold(field.name) for field in data}
        # Spark would prefer the value in the path for a column that is in the file as well
        mixed = bool(kind.taken) and any(self._fold(name) in folded for name in kind.values)
        by_spark = bool(kind.taken) and not mixed
        reader = file_reader(self._spark, self._format)
        if by_spark:
            reader = reader.option("basePath", FileSlice(kind.base).spark_path)
            data = [*data, *(StructField(name, StringType()) for name in kind.values)]
        else:
            reader = reader.option("recursiveFileLookup", True)
        roots, filter = covering(paths, kind.base if by_spark else None)
        frame = reader.schema(StructType(list(data))).load([FileSlice(root).spark_path for root in roots])
        frame = guarded_scan(frame, self._access, self._spark)
        if filter is not None:
            frame = frame.where(filter)
        if not (kind.sliced or mixed):
            return frame
        return joined(frame, group, kind.taken if mixed else (), self._spark)

    def _with_values(self, frame: DataFrame, data: Sequence[str], taken: Sequence[str]) -> DataFrame:
        values = [f"CAST({quoted(name)} AS {_stored_type(self._type(name))}) AS {quoted(name)}" for name in taken]
        return frame.selectExpr(*map(quoted, data), *values) if data or values else frame

    def _without_nulls(self, taken: Sequence[str], paths: Sequence[str]) -> frozenset[str]:
        known = without_nulls([self.footer(path) for path in paths])
        values = [partition_of(path).values for path in paths] if taken else []
        return known.union(name for name in taken if all(each[name] != NULL for each in values))

    def _unreadable(self, paths: Sequence[str], error: Exception) -> SubstraitError:
        kind = {"parquet": "Parquet", "orc": "ORC"}[self._format]
        if self._format == "orc" and "timestamp with local time zone" in str(error):
            return NewerSparkError(
                f"{named(map(FileSlice, paths))} has a column of the type timestamp with local time zone, which Spark "
                "reads from ORC files since 4.2",
                feature="ORC files with timestamps with a time zone",
                since=SparkVersion(4, 2),
                hint="Write the file as Parquet",
            )
        lines = str(error).strip().split("\n")
        # the Java exception is in the line after the one with the place of the call
        reason = lines[1].removeprefix(": ") if len(lines) > 1 and lines[1].startswith(": ") else lines[0]
        hint = None
        if "CANNOT_MERGE" in str(error):
            hint = "A column may have different types in files that this machine sees, not in others"
        return TableError(f"{named(map(FileSlice, paths))} cannot be read as {kind}: {reason}", hint=hint)


def _described(field: pa.Field) -> str:
    return f"{field.type}{(field.metadata or {}).get(METADATA.encode(), '')}"


#: The cache of schemas; reading the schema of a file takes a Spark job.
_MOST_SCHEMAS = 256


def _stored_type(type: Type) -> str:
    """Return the Spark type that a value in a path is cast to, before its conversion to the plan's type."""
    match concrete(type):
        case String() | VarChar() | FixedChar():
            return "STRING"
        case PrecisionTimestamp():
            return "TIMESTAMP_NTZ"
        case plain:
            return spark_type(plain)


def joined(frame: DataFrame, group: Sequence[Records], taken: Sequence[str], spark: SparkSession) -> DataFrame:
    """Return the records of a group, repeated as often as they are in it, with values from their paths."""
    from pyspark.sql import functions as F

    metadata = metadata_column(frame)
    index = metadata.getField("row_index")
    if len(group) == 1 and not taken and group[0].end is not None:
        return frame.where((index >= group[0].first) & (index < group[0].end))
    values = [partition_of(each.path).values for each in group]
    known = {
        "path": pa.array([uri_of_path(each.path) for each in group]),
        "first": pa.array([each.first for each in group], pa.int64()),
        "end": pa.array([each.end for each in group], pa.int64()),
    }
    for position, name in enumerate(taken):
        texts = [None if each[name] == NULL else each[name] for each in values]
        known[f"value{position}"] = pa.array(texts, pa.string())
    ranges = frame_of_arrow(spark, pa.table(known))
    # as columns: Spark 4.0 takes no metadata in the condition of a join
    names = frame.columns
    file_path, row_index = (_other_than(names, name) for name in ("file_path", "row_index"))
    placed = frame.select("*", metadata.getField("file_path").alias(file_path), index.alias(row_index))
    here = placed[file_path] == ranges["path"]
    if any(each.end is not None for each in group):
        here &= (placed[row_index] >= ranges["first"]) & (placed[row_index] < ranges["end"])
    columns = [placed[quoted(name)] for name in names]
    columns += [ranges[f"value{position}"].alias(name) for position, name in enumerate(taken)]
    return placed.join(F.broadcast(ranges), here).select(*columns)


def _other_than(names: Sequence[str], wanted: str) -> str:
    taken = {name.lower() for name in names}
    return next(name for number in count() if (name := f"{wanted}{number or ''}") not in taken)


def covering(paths: Sequence[str], base: str | None) -> tuple[list[str], str | None]:
    """Return the paths that Spark lists for these files, and a filter if that finds other files, too.

    Spark lists up to 32 paths on the driver, and runs a task for each path if there are more. A folder with its
    contents is one path.

    Args:
        paths: the files.
        base: the folder above the partition folders, if values in paths are used.
    """
    if len(paths) <= _MOST_PATHS or not all(map(is_here, paths)):
        return list(paths), None
    folder = base or os.path.commonpath([os.path.dirname(path) for path in paths])
    try:
        around = set(islice(files_below(folder), 2 * len(paths) + 1))
    except OSError:
        return list(paths), None
    if not around.issuperset(paths) or len(around) > 2 * len(paths):
        return list(paths), None
    if base is not None and any(partition_of(path).base != base for path in around):
        return list(paths), None
    if len(around) == len(paths):
        return [folder], None
    return [folder], f"_metadata.file_path IN ({', '.join(string_literal(uri_of_path(path)) for path in paths)})"


_MOST_PATHS = 32
