"""Writes, DDL and updates. Spec: relations/logical_relations, "Write Operator", "DDL", "Update"."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Annotated, TypeAlias

from pyspark_substrait.model.computed_once import computed_once
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.fields import CONDITION, Over
from pyspark_substrait.model.literals import AnyMessage, Literal
from pyspark_substrait.model.relations.base import (
    LOGICAL,
    AdvancedExtension,
    ExtensibleRelation,
    Names,
    RelationInfo,
)
from pyspark_substrait.model.relations.description import Declared, Description, Own, Part, Records, Subject, condition
from pyspark_substrait.model.relations.reads import NamedTable
from pyspark_substrait.model.types import I64, NamedStruct, Struct

if TYPE_CHECKING:
    from pyspark_substrait.model.relations import Relation

__all__ = [
    "CreateMode",
    "Ddl",
    "DdlObject",
    "DdlOp",
    "ExtensionObject",
    "Files",
    "InMemoryTable",
    "NamedObjectWrite",
    "OutputMode",
    "TransformExpression",
    "Update",
    "Write",
    "WriteOp",
    "WriteTarget",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedObjectWrite:
    """A table or view known by name."""

    names: tuple[str, ...]
    advanced_extension: AdvancedExtension | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InMemoryTable:
    """Records that the session holds under a name; with ``pin``, in memory."""

    name: str
    pin: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """Parquet files in a folder; ``{name}`` in its path stands for the value of a column."""

    path: str


WriteTarget: TypeAlias = InMemoryTable | Files


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtensionObject:
    """A target of a kind that the specification doesn't define.

    Args:
        detail: the message that describes it.
        target: the target; None if the message is unknown here.
    """

    detail: AnyMessage
    target: WriteTarget | None = None


class WriteOp(Enum):
    """The operation of a write."""

    INSERT = "insert"
    DELETE = "delete"
    UPDATE = "update"
    CTAS = "create table as"


class CreateMode(Enum):
    """The behavior of a CTAS if the table exists."""

    UNSPECIFIED = "unspecified"
    APPEND_IF_EXISTS = "append if exists"
    REPLACE_IF_EXISTS = "replace if exists"
    IGNORE_IF_EXISTS = "ignore if exists"
    ERROR_IF_EXISTS = "error if exists"


class OutputMode(Enum):
    """The output of a write."""

    UNSPECIFIED = "unspecified"
    NO_OUTPUT = "no output"
    MODIFIED_RECORDS = "modified records"


@dataclass(frozen=True, kw_only=True)
class Write(ExtensibleRelation):
    """Change a table with the records of the input."""

    info = RelationInfo("Changes a table by the records of its input.", field="write", page=LOGICAL, icon="write")

    write_type: NamedObjectWrite | ExtensionObject
    table_schema: NamedStruct
    op: WriteOp
    input: Relation
    create_mode: CreateMode = CreateMode.UNSPECIFIED
    output: OutputMode = OutputMode.UNSPECIFIED

    def describe(self) -> Description:
        source = " from the input" if self.op is WriteOp.CTAS else ""
        modes = [
            Part(title=title, subject=Subject.WRITE, value=mode)
            for title, mode in (("create mode", self.create_mode), ("output", self.output))
            if mode.name != "UNSPECIFIED"
        ]
        return Description(
            (
                Part(title="operation", subject=Subject.WRITE, value=self.op, lead=True),
                Part(title="table", subject=Subject.TABLE, value=self.write_type, lead=True),
                Part(
                    title="column of the table",
                    subject=Subject.SCHEMA,
                    value=self.table_schema,
                    line=f"{{}}{source}",
                    lead=True,
                ),
                Part(title="column written", subject=Subject.WRITE, value=Records(), line=""),
                *modes,
            ),
            (Declared(self.table_schema),) if self.output is OutputMode.MODIFIED_RECORDS else (),
        )

    @computed_once
    def direct_schema(self) -> Struct:
        if self.output is not OutputMode.MODIFIED_RECORDS:
            return Struct(types=())
        given, width = self.input.schema, len(self.table_schema.struct.types)
        if self.op is WriteOp.UPDATE and len(given.types) == 2 * width:
            # the records before the update, and those after it, which are put out
            return Struct(types=given.types[width:])
        return given

    @computed_once
    def direct_names(self) -> Names:
        return self.table_schema.top_level_names() if self.output is OutputMode.MODIFIED_RECORDS else ()


class DdlObject(Enum):
    """The kind of object of a DDL relation."""

    TABLE = "table"
    VIEW = "view"


class DdlOp(Enum):
    """The operation of a DDL relation."""

    CREATE = "create"
    CREATE_OR_REPLACE = "create or replace"
    ALTER = "alter"
    DROP = "drop"
    DROP_IF_EXIST = "drop if exist"


@dataclass(frozen=True, kw_only=True)
class Ddl(ExtensibleRelation):
    """Create, change or remove a table or view. There is no output."""

    info = RelationInfo("Creates, changes or removes a table or a view.", field="ddl", page=LOGICAL, icon="ddl")

    write_type: NamedObjectWrite | ExtensionObject
    object: DdlObject
    op: DdlOp
    table_schema: NamedStruct | None = None
    table_defaults: Annotated[tuple[Literal, ...] | None, Over.NOTHING] = None
    view_definition: Relation | None = None

    def describe(self) -> Description:
        parts = [
            Part(title="operation", subject=Subject.WRITE, value=(self.op, self.object), lead=True),
            Part(title="table", subject=Subject.TABLE, value=self.write_type, lead=True),
        ]
        if self.table_schema is not None:
            parts.append(Part(title="column of the table", subject=Subject.SCHEMA, value=self.table_schema, lead=True))
        if self.table_defaults is not None:
            parts.append(
                Part(
                    title="default",
                    subject=Subject.WRITE,
                    nodes=self.table_defaults,
                    over=Over.NOTHING,
                    line="defaults ({})",
                    absent="",
                    ordered=True,
                )
            )
        if self.view_definition is not None:
            parts.append(Part(title="column", subject=Subject.WRITE, value=Records(), line=""))
        return Description(tuple(parts), ())

    @computed_once
    def direct_schema(self) -> Struct:
        return Struct(types=())


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformExpression:
    """A new value for the column at position ``column_target``."""

    transformation: Annotated[Expression, Over.TABLE]
    column_target: int


@dataclass(frozen=True, kw_only=True)
class Update(ExtensibleRelation):
    """Change columns of the records of a table for which the condition is true. The output is their number."""

    info = RelationInfo(
        "Changes columns of the records of a table for which a condition is true.",
        field="update",
        page=LOGICAL,
        icon="update",
    )

    update_type: NamedTable
    table_schema: NamedStruct
    condition: Annotated[Expression | None, Over.TABLE, CONDITION] = None
    transformations: tuple[TransformExpression, ...] = ()

    def describe(self) -> Description:
        return Description(
            (
                Part(title="table", subject=Subject.TABLE, value=self.update_type, lead=True),
                Part(title="column of the table", subject=Subject.SCHEMA, value=self.table_schema, lead=True),
                Part(
                    title="new value",
                    subject=Subject.WRITE,
                    nodes=self.transformations,
                    over=Over.TABLE,
                    line="set {}",
                    each=True,
                ),
                condition("condition", self.condition, "where {}", over=Over.TABLE),
            ),
            (Own("number of changed records"),),
        )

    @computed_once
    def direct_schema(self) -> Struct:
        return Struct(types=(I64(),))
