"""The sources of records: named tables, Python rows, files, Iceberg tables, extension tables."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from typing_extensions import Self

from pyspark_substrait.builder.columns import Column, held_by
from pyspark_substrait.builder.constants import literal
from pyspark_substrait.builder.records import Base, fields_named, fields_of
from pyspark_substrait.builder.schemas import SchemaLike, schema_of
from pyspark_substrait.builder.scoping import open_tokens
from pyspark_substrait.errors import InvalidPlanError, at
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.expressions import Expression, NestedStruct
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.masks import MaskExpression, StructItem, StructSelect
from pyspark_substrait.model.relations import (
    ArrowReadOptions,
    DelimiterSeparatedTextReadOptions,
    DwrfReadOptions,
    ExtensionTable,
    FileFormat,
    FileOrFiles,
    IcebergTable,
    LocalFiles,
    NamedTable,
    OrcReadOptions,
    ParquetReadOptions,
    PathType,
    Read,
    ReadType,
    Relation,
    VirtualTable,
)
from pyspark_substrait.model.types import Type

__all__ = ["Reading"]

_FORMATS: dict[str, FileFormat] = {
    "parquet": ParquetReadOptions(),
    "arrow": ArrowReadOptions(),
    "orc": OrcReadOptions(),
    "dwrf": DwrfReadOptions(),
}


class Reading(Base):
    """The methods that read. A frame that is a read may get a filter and a projection of its own."""

    @classmethod
    def read(cls, table: str | Sequence[str], schema: SchemaLike, *, registry: Registry | None = None) -> Self:
        """Read a named table.

        Args:
            table: its name; the parts, if the name has several.
            schema: the columns: a dict of types by name (model types, or text like ``decimal?<38, 2>``), a
                ``pyarrow.Schema``, or a ``NamedStruct``.
            registry: the extensions; by default those of the specification.

        Examples:
            >>> orders = read("orders", {"id": "i64", "item": "string?", "price": "decimal?<10, 2>"})
            >>> orders.select("id", "price")
            <Frame: id: i64, price: decimal?<10, 2>>
        """
        names = (table,) if isinstance(table, str) else tuple(table)
        return cls._read(NamedTable(names=names), schema, registry)

    @classmethod
    def values(
        cls,
        rows: Sequence[Sequence[Any] | Mapping[str, Any]],
        schema: SchemaLike,
        *,
        registry: Registry | None = None,
    ) -> Self:
        """Read records in the plan: tuples or dicts of Python values (or columns that refer to nothing).

        Examples:
            >>> values([(1, "a"), (2, None)], {"id": "i64", "name": "string?"})
            <Frame: id: i64, name: string?>
        """
        described = schema_of(schema, registry)
        names = described.top_level_names()
        records = []
        for index, row in enumerate(rows):
            if isinstance(row, Mapping):
                unknown = set(row) - set(names)
                if unknown:
                    raise InvalidPlanError(f"row {index} has a value for {unknown}, which is not a column")
                row = [row.get(name) for name in names]
            if len(row) != len(names):
                raise InvalidPlanError(f"row {index} has {len(row)} values for {len(names)} columns")
            cells = []
            for name, value, type in zip(names, row, described.struct.types, strict=True):
                with at(index, name):
                    cells.append(_cell(value, type))
            records.append(NestedStruct(fields=tuple(cells)))
        return cls._read(VirtualTable(expressions=tuple(records)), described, registry)

    @classmethod
    def read_files(
        cls,
        paths: str | Sequence[str | FileOrFiles],
        schema: SchemaLike,
        format: str | FileFormat = "parquet",
        *,
        kind: PathType = "uri_file",
        registry: Registry | None = None,
        **text: Any,
    ) -> Self:
        """Read files.

        Args:
            paths: URIs, or items of the model.
            schema: the columns.
            format: parquet, arrow, orc, dwrf, text, or a format of the model.
            kind: the kind of the paths: uri_file, uri_folder, uri_path or uri_path_glob.
            registry: the extensions.
            text: for text, fields of ``model.relations.DelimiterSeparatedTextReadOptions``.

        Examples:
            >>> read_files("file:///data/orders.parquet", {"id": "i64", "price": "fp64?"})
            <Frame: id: i64, price: fp64?>
        """
        if isinstance(format, str):
            if format != "text" and format not in _FORMATS:
                raise InvalidPlanError(f"there is no file format {format!r}", hint=f"{', '.join(_FORMATS)} or text")
            chosen = DelimiterSeparatedTextReadOptions(**text) if format == "text" else _FORMATS[format]
        else:
            chosen = format
        items = tuple(
            item if isinstance(item, FileOrFiles) else FileOrFiles(path_type=kind, path=item, file_format=chosen)
            for item in ([paths] if isinstance(paths, str) else paths)
        )
        return cls._read(LocalFiles(items=items), schema, registry)

    @classmethod
    def read_iceberg(
        cls,
        metadata_uri: str,
        schema: SchemaLike,
        *,
        snapshot: int | str | datetime.datetime | None = None,
        registry: Registry | None = None,
    ) -> Self:
        """Read an Iceberg table: its current snapshot, one by its id, or the one as of an instant.

        Examples:
            >>> read_iceberg("/data/orders/metadata/v3.json", {"id": "i64"}, snapshot=42)
            <Frame: id: i64>
        """
        moment = None
        if isinstance(snapshot, datetime.datetime):
            if snapshot.tzinfo is None:
                raise InvalidPlanError("the instant of a snapshot has a time zone")
            since = snapshot - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
            moment = since // datetime.timedelta(microseconds=1)
        chosen = None if snapshot is None or moment is not None else str(snapshot)
        table = IcebergTable(metadata_uri=metadata_uri, snapshot_id=chosen, snapshot_timestamp=moment)
        return cls._read(table, schema, registry)

    @classmethod
    def read_extension(cls, detail: AnyMessage, schema: SchemaLike, *, registry: Registry | None = None) -> Self:
        """Read a table of a kind that the specification doesn't define.

        Examples:
            >>> from pyspark_substrait.model.literals import AnyMessage
            >>> read_extension(AnyMessage("example.com/org.example.Range", b""), {"id": "i64"})
            <Frame: id: i64>
        """
        return cls._read(ExtensionTable(detail=detail), schema, registry)

    @classmethod
    def of_relation(cls, node: Relation, names: Sequence[str], *, registry: Registry | None = None) -> Self:
        """Return a frame over a relation of the model that is made by hand.

        Args:
            node: the relation.
            names: the names of its columns; or those of nested fields as well, depth first.
            registry: finds functions and types.

        Examples:
            >>> plan = substrait.load(substrait.samples.plan())
            >>> relation(plan.relations[0].input, ["name", "id", "sales"]).select("name")
            <Frame: name: string?>
        """
        return cls(node, fields_named(names, node.schema), registry)

    @classmethod
    def _read(cls, kind: ReadType, schema: SchemaLike, registry: Registry | None) -> Self:
        described = schema_of(schema, registry)
        return cls(Read(base_schema=described, read_type=kind), fields_of(described), registry)

    def with_read_options(
        self,
        *,
        filter: Callable[[Any], Any] | None = None,
        best_effort_filter: Callable[[Any], Any] | None = None,
        columns: Sequence[str] | None = None,
        mask: MaskExpression | None = None,
    ) -> Self:
        """Return a read that filters and projects by itself; its filters see the columns before the projection.

        Args:
            filter: a condition that records must meet.
            best_effort_filter: a condition that the reader may apply or ignore.
            columns: the columns that are kept, after filtering.
            mask: alternatively, a mask of the model, which keeps parts of nested columns.
        """
        node = self.model
        if not isinstance(node, Read) or node.projection is not None or node.common.emit is not None:
            raise InvalidPlanError("this is not a plain read", hint="Use filter() and select()")
        if columns is not None:
            items = tuple(StructItem(self._position(name)) for name in columns)
            mask = MaskExpression(select=StructSelect(items), maintain_singular_struct=True)
        made = replace(
            node,
            filter=node.filter if filter is None else self._condition([filter]),
            best_effort_filter=(
                node.best_effort_filter if best_effort_filter is None else self._condition([best_effort_filter])
            ),
            projection=mask,
        )
        return self._next(made, fields_of(made.projected))


def _cell(value: Any, type: Type) -> Expression:
    """Return a value of a virtual table as an expression."""
    if not isinstance(value, Column):
        return literal(value, type)
    found = held_by(value, type)
    if found.type.nullable and not type.nullable:
        raise InvalidPlanError(f"the value may be null, but its column is {type}")
    if any(open_tokens(found.expression)):
        raise InvalidPlanError("a value of a table cannot refer to a record")
    return found.expression
