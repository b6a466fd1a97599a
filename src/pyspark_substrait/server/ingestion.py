"""Bulk ingestion: the records that a client streams are kept in a file until all have come; then a plan writes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.parquet

from pyspark_substrait.api.bind import bind
from pyspark_substrait.api.run import streamed
from pyspark_substrait.binding.schemas import of_arrow
from pyspark_substrait.builder import read, relation
from pyspark_substrait.builder.schemas import field_names
from pyspark_substrait.documents import Plan
from pyspark_substrait.errors import TableError
from pyspark_substrait.model.plan import RelRoot
from pyspark_substrait.model.types import NamedStruct
from pyspark_substrait.server.refusals import InvalidArgument, TooLarge, Unauthorized, Unimplemented
from pyspark_substrait.server.statements import Engine
from pyspark_substrait.server.temporary_folders import temporary_folder
from pyspark_substrait.spark.arrow_input import plain_schema, plain_table
from pyspark_substrait.spark.catalog_listing import current
from pyspark_substrait.spark.session import is_connect
from pyspark_substrait.spark.table_schemas import SessionTables

if TYPE_CHECKING:
    from pyspark_substrait.spark.tables import TableSource

__all__ = ["Ingestion", "received"]

#: the bytes that are gathered before they are written
_GATHERED: Final = 8 * 1024 * 1024
#: the name of the records in plans
_RECORDS: Final = "the records of the client"
_TYPES: Final = pa.types


class _IfMissing(IntEnum):
    """How to handle that there is no such table."""

    CREATE = 1
    FAIL = 2


class _IfExists(IntEnum):
    """How to handle that there is such a table."""

    FAIL = 1
    APPEND = 2
    REPLACE = 3


@dataclass(frozen=True, kw_only=True)
class Ingestion:
    """The table that a client wants its records put into.

    Args:
        catalog: its catalog; None for the current one.
        schema: its schema; None for the current one.
        table: its name.
        if_missing: how to handle that there is no such table.
        if_exists: how to handle that there is one.
    """

    catalog: str | None
    schema: str | None
    table: str
    if_missing: _IfMissing
    if_exists: _IfExists

    @staticmethod
    def of(command: Any, engine: Engine) -> Ingestion:
        """Return that of a ``CommandStatementIngest``.

        Raises:
            Exception: one of ``refusals``.
        """
        if not engine.allow_writes:
            raise Unauthorized("this server takes no records (--allow-writes, allow_writes=True)")
        if command.temporary:
            raise Unimplemented("this server has no temporary tables: all clients share one session")
        if command.options:
            raise Unimplemented(f"ingestion has no option {ascii(command.options[0].key)[:100]} here")
        if not command.table:
            raise InvalidArgument("the records have no table to go to")
        options = command.table_definition_options
        try:
            missing, exists = _IfMissing(options.if_not_exist), _IfExists(options.if_exists)
        except ValueError:
            raise InvalidArgument(
                "it is not said how to handle that the table exists, and that it does not (table_definition_options)"
            ) from None
        return Ingestion(
            catalog=command.catalog or None,
            schema=command.schema or None,
            table=command.table,
            if_missing=missing,
            if_exists=exists,
        )

    def write(self, engine: Engine, records: Received) -> int:
        """Write records, and return their number.

        Raises:
            SubstraitError: they don't fit the table, or Spark fails.
        """
        spark = engine.spark
        catalog, schema = current(spark)
        names = (self.catalog or catalog, self.schema or schema, self.table)
        plan = self._plan(names, SessionTables(spark).table(names), of_arrow(records.schema))
        is_here = not is_connect(spark) and str(spark.sparkContext.master).startswith("local")
        source: TableSource = records.file if is_here else pa.parquet.read_table(records.file)
        for _ in streamed(plan, spark, tables={_RECORDS: source}).batches():
            pass
        return records.count

    def _plan(
        self, names: tuple[str, ...], found: tuple[tuple[str, ...], NamedStruct] | None, records: NamedStruct
    ) -> Plan:
        """Return the plan that writes records.

        Args:
            names: the full name of the table.
            found: the table, if it exists: its name and its columns.
            records: the columns of the records.
        """
        path = ".".join(names)
        if found is None:
            if self.if_missing is _IfMissing.FAIL:
                raise TableError(f"there is no table {path}", hint="Ask for it to be created")
            return read(_RECORDS, records).create_table_as(names).to_plan()
        if self.if_exists is _IfExists.FAIL:
            raise TableError(f"there is a table {path} already", hint="Ask to append the records, or to replace it")
        if self.if_exists is _IfExists.REPLACE:
            return read(_RECORDS, records).create_table_as(names, mode="replace if exists").to_plan()
        wanted = _columns_of(path, found[1], records)
        [tree] = bind(read(_RECORDS, wanted).to_plan(), {_RECORDS: records}).relations
        assert isinstance(tree, RelRoot)
        return relation(tree.input, tree.names).insert_into(names).to_plan()


def _columns_of(path: str, table: NamedStruct, records: NamedStruct) -> NamedStruct:
    """Return those columns of a table that the records have.

    Raises:
        TableError: the records have others, too.
    """
    given = {name.lower() for name in records.top_level_names()}
    more = given - {name.lower() for name in table.top_level_names()}
    if more:
        raise TableError(
            f"the table {path} has no column {', '.join(sorted(more))}, which the records have",
            hint=f"Its columns: {', '.join(table.top_level_names())}",
        )
    kept = [
        (type, name, inner)
        for type, (name, inner) in zip(table.struct.types, field_names(table.struct, table.names), strict=True)
        if name.lower() in given
    ]
    return NamedStruct(
        names=tuple(each for _, name, inner in kept for each in (name, *inner)),
        struct=replace(table.struct, types=tuple(type for type, _, _ in kept)),
    )


@dataclass(frozen=True)
class Received:
    """Records that have come.

    Args:
        file: the Parquet file in which they are.
        schema: their schema there.
        count: their number.
    """

    file: Path
    schema: pa.Schema
    count: int


@contextmanager
def received(reader: Any, most_bytes: int | None) -> Iterator[Received]:
    """Keep the records that a client sends in a file during the body.

    Args:
        reader: the stream of records.
        most_bytes: the most bytes that they may have in memory; None for no limit.

    Raises:
        TooLarge: they have more.
        InvalidArgument: there are no columns, or a value is finer than Spark's microseconds, or has too many digits.
        Unimplemented: a column has a type that can't be kept as it is.
    """
    schema: pa.Schema = reader.schema
    if not len(schema):
        raise InvalidArgument("the records have no columns")
    most, times = Counter(name.lower() for name in schema.names).most_common(1)[0]
    if times > 1:
        raise InvalidArgument(f"the records have {times} columns named {most}")
    for field in schema:
        if not _is_kept(field.type, inner=False):
            raise Unimplemented(f"the column {field.name} is of type {field.type}, which cannot be ingested as it is")
    coarse = pa.schema([field.with_type(_micros(field.type)) for field in schema])
    stored = plain_schema(coarse)
    with temporary_folder("pyspark-substrait-ingest-") as folder:
        file, count = folder / "records.parquet", 0
        with pa.parquet.ParquetWriter(file, stored) as writer:
            for table in _gathered(reader, schema, most_bytes):
                try:
                    plain = plain_table(table.cast(coarse))
                except pa.ArrowInvalid as error:
                    reason = str(error).split("\n", 1)[0]
                    raise InvalidArgument(f"a value cannot be kept as it is by Spark: {reason}") from None
                writer.write_table(pa.Table.from_arrays(plain.columns, schema=stored))
                count += table.num_rows
        yield Received(file, stored, count)


def _gathered(reader: Any, schema: pa.Schema, most_bytes: int | None) -> Iterator[pa.Table]:
    """The records in tables of some megabytes."""
    found: list[pa.RecordBatch] = []
    size = total = 0
    for chunk in reader:
        if chunk.data is None or not chunk.data.num_rows:
            continue
        found.append(chunk.data)
        size += chunk.data.nbytes
        total += chunk.data.nbytes
        if most_bytes is not None and total > most_bytes:
            raise TooLarge(
                f"the records have more than {most_bytes:,} bytes, the most that this server takes at once "
                f"(--ingestion-bytes, ingestion_bytes={most_bytes}); send them in parts"
            )
        if size >= _GATHERED:
            yield pa.Table.from_batches(found, schema)
            found, size = [], 0
    if found:
        yield pa.Table.from_batches(found, schema)


def _micros(type: pa.DataType) -> pa.DataType:
    return pa.timestamp("us", type.tz) if _TYPES.is_timestamp(type) else type


def _is_kept(type: pa.DataType, *, inner: bool) -> bool:
    """Whether Spark has a type that holds all values of one of Arrow, but for nanoseconds and more than 38 digits."""
    if _TYPES.is_timestamp(type):
        return not inner or type.unit != "ns"
    if _TYPES.is_dictionary(type):
        return _is_kept(type.value_type, inner=True)
    if _TYPES.is_list(type) or _TYPES.is_large_list(type) or _TYPES.is_fixed_size_list(type):
        return _is_kept(type.value_type, inner=True)
    if _TYPES.is_map(type):
        return _is_kept(type.key_type, inner=True) and _is_kept(type.item_type, inner=True)
    if _TYPES.is_struct(type):
        return type.num_fields > 0 and all(_is_kept(field.type, inner=True) for field in type)
    return any(
        check(type)
        for check in (
            _TYPES.is_boolean,
            _TYPES.is_integer,
            _TYPES.is_floating,
            _TYPES.is_decimal,
            _TYPES.is_date,
            _TYPES.is_string,
            _TYPES.is_large_string,
            _TYPES.is_string_view,
            _TYPES.is_binary,
            _TYPES.is_large_binary,
            _TYPES.is_binary_view,
            _TYPES.is_fixed_size_binary,
        )
    )
