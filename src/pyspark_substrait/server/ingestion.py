"""Bulk ingestion: the records that a client streams, kept in a file until all have come, then written as one."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet

from pyspark_substrait.server.refusals import InvalidArgument, Unauthorized, Unimplemented
from pyspark_substrait.server.statements import Engine
from pyspark_substrait.spark.arrow_input import plain_table
from pyspark_substrait.spark.ingesting import IfExists, IfMissing, ingest

__all__ = ["Ingestion", "received"]

#: the bytes that are gathered before they are written
_GATHERED: Final = 8 * 1024 * 1024
_TYPES: Final = pa.types


@dataclass(frozen=True, kw_only=True)
class Ingestion:
    """What a client wants its records put into.

    Args:
        place: the catalog and the schema, None for the current ones, and the name of the table.
        if_missing: what to do where there is no such table.
        if_exists: what to do where there is one.
    """

    place: tuple[str | None, str | None, str]
    if_missing: IfMissing
    if_exists: IfExists

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
            missing, exists = IfMissing(options.if_not_exist), IfExists(options.if_exists)
        except ValueError:
            raise InvalidArgument(
                "it is not said what to do where the table exists, and where it does not (table_definition_options)"
            ) from None
        catalog, schema = (getattr(command, name) or None for name in ("catalog", "schema"))
        return Ingestion(place=(catalog, schema, command.table), if_missing=missing, if_exists=exists)

    def write(self, engine: Engine, records: Received) -> int:
        """Write records, and return their number.

        Raises:
            SubstraitError: they don't fit the table, or Spark fails.
        """
        ingest(engine.spark, self.place, records.file, records.names, self.if_missing, self.if_exists)
        return records.count


@dataclass(frozen=True)
class Received:
    """Records that have come: the file in which they are, the names of their columns, and their number."""

    file: Path
    names: tuple[str, ...]
    count: int


@contextmanager
def received(reader: Any) -> Iterator[Received]:
    """Keep the records that a client sends in a file during the body.

    Raises:
        InvalidArgument: there are no columns, or a value is finer than Spark's microseconds, or has too many digits.
        Unimplemented: a column has a type that can't be kept as it is.
    """
    schema: pa.Schema = reader.schema
    if not len(schema):
        raise InvalidArgument("the records have no columns")
    for field in schema:
        if not _is_kept(field.type, inner=False):
            raise Unimplemented(f"the column {field.name} is of type {field.type}, which cannot be ingested as it is")
    coarse = pa.schema([field.with_type(_micros(field.type)) for field in schema])
    empty = plain_table(coarse.empty_table()).schema
    stored = pa.schema([pa.field(f"c{position}", field.type) for position, field in enumerate(empty)])
    with tempfile.TemporaryDirectory(prefix="pyspark-substrait-ingest-") as folder:
        file, count = Path(folder) / "records.parquet", 0
        with pa.parquet.ParquetWriter(file, stored) as writer:
            for table in _gathered(reader, schema):
                try:
                    plain = plain_table(table.cast(coarse))
                except pa.ArrowInvalid as error:
                    reason = str(error).split("\n", 1)[0]
                    raise InvalidArgument(f"a value cannot be kept as it is by Spark: {reason}") from None
                writer.write_table(pa.Table.from_arrays(plain.columns, schema=stored))
                count += table.num_rows
        yield Received(file, tuple(schema.names), count)


def _gathered(reader: Any, schema: pa.Schema) -> Iterator[pa.Table]:
    """The records in tables of some megabytes."""
    found: list[pa.RecordBatch] = []
    size = 0
    for chunk in reader:
        if chunk.data is None or not chunk.data.num_rows:
            continue
        found.append(chunk.data)
        size += chunk.data.nbytes
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
