"""The read relation and its sources. Spec: relations/logical_relations, "Read Operator"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pyspark_substrait.model.computed_once import computed_once
from pyspark_substrait.model.expressions import Expression, NestedStruct
from pyspark_substrait.model.fields import CONDITION, PART, Over
from pyspark_substrait.model.literals import AnyMessage
from pyspark_substrait.model.masks import MaskExpression, masked_schema
from pyspark_substrait.model.relations.base import (
    LOGICAL,
    AdvancedExtension,
    ExtensibleRelation,
    Names,
    RelationInfo,
)
from pyspark_substrait.model.relations.description import Declared, Description, Part, Subject, condition
from pyspark_substrait.model.relations.literal_columns import LiteralColumns
from pyspark_substrait.model.types import NamedStruct, Struct

__all__ = [
    "ArrowReadOptions",
    "DelimiterSeparatedTextReadOptions",
    "DwrfReadOptions",
    "ExtensionTable",
    "FileFormat",
    "FileOrFiles",
    "IcebergTable",
    "LocalFiles",
    "NamedTable",
    "OrcReadOptions",
    "ParquetReadOptions",
    "PathType",
    "Read",
    "ReadType",
    "VirtualTable",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedTable:
    """A table known by name to producer and consumer, like ``("database", "table")``."""

    names: tuple[str, ...]
    advanced_extension: AdvancedExtension | None = None


class _ByColumn:
    """The place of the columns of a :class:`VirtualTable`, which are no field: they say the same as its expressions."""

    __slots__ = ("columns",)

    #: the columns of a table of plain literals; None if it was made of rows
    columns: LiteralColumns | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VirtualTable(_ByColumn):
    """A table whose records are in the plan, each made of expressions without input.

    A large table of plain literals is held by column. Its ``expressions`` are made when they are first asked for, and
    kept: what can do without them asks for ``columns``, :attr:`row_count` and :meth:`first_rows`.
    """

    expressions: Annotated[tuple[Annotated[NestedStruct, PART], ...], Over.NOTHING]

    @staticmethod
    def of_columns(columns: LiteralColumns) -> VirtualTable:
        """Create a table that is held by column."""
        table = object.__new__(VirtualTable)
        object.__setattr__(table, "columns", columns)
        return table

    @property
    def row_count(self) -> int:
        """The number of records."""
        return len(self.expressions if self.columns is None else self.columns)

    def first_rows(self, count: int) -> tuple[NestedStruct, ...]:
        """Return up to ``count`` records from the start."""
        if self.columns is None:
            return self.expressions[:count]
        return self.columns.rows(0, min(count, len(self.columns)))

    if not TYPE_CHECKING:  # it would allow any name

        def __getattr__(self, name: str) -> Any:
            """Return what isn't set: the columns of a table of rows, or the rows of one that is held by column."""
            if name == "columns":
                return None
            if name == "expressions" and self.columns is not None:
                rows = self.columns.rows()
                object.__setattr__(self, name, rows)
                return rows
            raise AttributeError(f"a virtual table has no {name}", name=name, obj=self)

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not VirtualTable:
            return NotImplemented
        assert isinstance(other, VirtualTable)
        if self.columns is not None and other.columns is not None:
            return self.columns is other.columns or self.columns.same_as(other.columns)
        return self.row_count == other.row_count and self.expressions == other.expressions

    def __hash__(self) -> int:
        """Return a hash of the number of records and of the first, so that the others need not be made."""
        return hash((self.row_count, self.first_rows(_HASHED)))


#: how many records of a virtual table its hash depends on
_HASHED = 20


@dataclass(frozen=True, slots=True)
class ParquetReadOptions:
    """The file is Parquet."""


@dataclass(frozen=True, slots=True)
class ArrowReadOptions:
    """The file is Arrow IPC."""


@dataclass(frozen=True, slots=True)
class OrcReadOptions:
    """The file is ORC."""


@dataclass(frozen=True, slots=True)
class DwrfReadOptions:
    """The file is DWRF."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DelimiterSeparatedTextReadOptions:
    """The file is text with delimiters. ``max_line_size`` is in bytes; 0 is unset."""

    field_delimiter: str = ""
    max_line_size: int = 0
    quote: str = ""
    header_lines_to_skip: int = 0
    escape: str = ""
    value_treated_as_null: str | None = None


FileFormat: TypeAlias = (
    ParquetReadOptions
    | ArrowReadOptions
    | OrcReadOptions
    | DwrfReadOptions
    | DelimiterSeparatedTextReadOptions
    | AnyMessage
)

#: The meaning of :attr:`FileOrFiles.path`: the protobuf field that holds it.
PathType: TypeAlias = Literal["uri_path", "uri_path_glob", "uri_file", "uri_folder"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOrFiles:
    """One item of a file read. ``start`` and ``length`` are in bytes; both 0 means the whole file."""

    path_type: PathType
    path: str
    partition_index: int = 0
    start: int = 0
    length: int = 0
    file_format: FileFormat | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalFiles:
    """Files that the consumer can open itself."""

    items: tuple[FileOrFiles, ...]
    advanced_extension: AdvancedExtension | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtensionTable:
    """A table of a kind that the specification doesn't define."""

    detail: AnyMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class IcebergTable:
    """An Iceberg table by its metadata file: the current snapshot, one by id, or one by time (µs since 1970, UTC)."""

    metadata_uri: str
    snapshot_id: str | None = None
    snapshot_timestamp: int | None = None


ReadType: TypeAlias = NamedTable | VirtualTable | LocalFiles | ExtensionTable | IcebergTable


@dataclass(frozen=True, kw_only=True)
class Read(ExtensibleRelation):
    """Read a table: filter its records, then keep what the projection mask keeps.

    Both filters see the columns of ``base_schema``. ``best_effort_filter`` may be applied or not.
    """

    info = RelationInfo(
        "Reads a table: keeps the records that its filter lets through, and some columns.",
        field="read",
        page=LOGICAL,
        icon="read",
    )

    base_schema: NamedStruct
    read_type: ReadType
    filter: Annotated[Expression | None, Over.TABLE, CONDITION] = None
    best_effort_filter: Annotated[Expression | None, Over.TABLE, CONDITION] = None
    projection: MaskExpression | None = None

    def describe(self) -> Description:
        return Description(
            (
                Part(title="table", subject=Subject.TABLE, value=self.read_type),
                Part(title="column", subject=Subject.SCHEMA, value=self.base_schema, line=""),
                condition("filter", self.filter, "filter {}", over=Over.TABLE),
                condition("best-effort filter", self.best_effort_filter, "best-effort filter {}", over=Over.TABLE),
            ),
            (Declared(self.base_schema),),
        )

    @computed_once
    def projected(self) -> NamedStruct:
        """The columns, with all their names, after the projection."""
        return self.base_schema if self.projection is None else masked_schema(self.base_schema, self.projection)

    def assume(self, projected: NamedStruct) -> None:
        """Set the columns after the projection, which has already been applied."""
        vars(self)["projected"] = projected

    @computed_once
    def direct_schema(self) -> Struct:
        return self.projected.struct

    @computed_once
    def direct_names(self) -> Names:
        return self.projected.top_level_names()
