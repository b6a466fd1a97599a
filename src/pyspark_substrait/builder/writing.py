"""Writes, DDL and updates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from typing_extensions import Self

from pyspark_substrait.builder.columns import column, held_by, plain
from pyspark_substrait.builder.constants import literal
from pyspark_substrait.builder.records import Base, Field, Record, _of, conjunction, fields_of
from pyspark_substrait.builder.schemas import SchemaLike, schema_of
from pyspark_substrait.builder.scoping import closed, open_tokens
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.relations import (
    CreateMode,
    Ddl,
    DdlObject,
    DdlOp,
    ExtensionObject,
    NamedObjectWrite,
    NamedTable,
    OutputMode,
    TransformExpression,
    Update,
    Write,
    WriteOp,
)
from pyspark_substrait.model.types import NamedStruct

__all__ = ["Writing"]

#: A table by its name, or by the parts of its name; or an extension object.
Target: TypeAlias = "str | Sequence[str] | ExtensionObject"


class Writing(Base):
    """The methods that change tables. Such a frame has no columns, unless it puts out the changed records."""

    def write(
        self,
        target: Target,
        op: str = "insert",
        *,
        schema: SchemaLike | None = None,
        create_mode: str = "unspecified",
        output: str = "unspecified",
    ) -> Self:
        """Change a table with the records of this frame.

        Args:
            target: the table.
            op: insert, delete, update, or create table as.
            schema: the columns of the table; by default those of this frame.
            create_mode: the handling of an existing table when one is created: append if exists, replace if exists,
                ignore if exists or error if exists.
            output: no output, or modified records.
        """
        described = self.schema if schema is None else schema_of(schema, self.registry)
        node = Write(
            write_type=_object(target),
            table_schema=described,
            op=_member(WriteOp, op),
            input=self.model,
            create_mode=_member(CreateMode, create_mode),
            output=_member(OutputMode, output),
        )
        fields = fields_of(described) if node.output is OutputMode.MODIFIED_RECORDS else ()
        return self._next(node, fields)

    def insert_into(self, target: Target, *, schema: SchemaLike | None = None, output: str = "unspecified") -> Self:
        """Insert the records into a table."""
        return self.write(target, "insert", schema=schema, output=output)

    def create_table_as(self, target: Target, *, mode: str = "error if exists") -> Self:
        """Create a table from the records."""
        return self.write(target, "create table as", create_mode=mode)

    def create_view(self, target: Target, *, replace: bool = False) -> Self:
        """Create a view with this frame as its definition."""
        op = DdlOp.CREATE_OR_REPLACE if replace else DdlOp.CREATE
        node = Ddl(
            write_type=_object(target),
            object=DdlObject.VIEW,
            op=op,
            table_schema=self.schema,
            view_definition=self.model,
        )
        return self._next(node, ())

    @classmethod
    def ddl(
        cls,
        target: Target,
        op: str,
        object: str = "table",
        *,
        schema: SchemaLike | None = None,
        defaults: Mapping[str, Any] | None = None,
        registry: Registry | None = None,
    ) -> Self:
        """Create, alter or drop a table or view.

        Args:
            target: the table or view.
            op: create, create or replace, alter, drop, or drop if exist.
            object: table or view.
            schema: its columns.
            defaults: the default values of columns, by name.
            registry: the extensions.

        Examples:
            >>> plan = ddl("orders", "create", schema={"id": "i64", "price": "fp64?"}).to_plan()
            >>> print(substrait.explain(plan))
            Plan (0.108.0 by pyspark-substrait)
            Root[no columns]
              Ddl[create table orders (id: i64, price: fp64?)]
        """
        described = None if schema is None else schema_of(schema, registry)
        values = None
        if defaults is not None:
            if described is None:
                raise InvalidPlanError("there are defaults, but no schema")
            values = tuple(
                literal(defaults[name], type)
                for name, type in zip(described.top_level_names(), described.struct.types, strict=True)
                if name in defaults
            )
            if len(values) != len(described.struct.types):
                raise InvalidPlanError("there is a default for each column, or none at all")
        node = Ddl(
            write_type=_object(target),
            object=_member(DdlObject, object),
            op=_member(DdlOp, op),
            table_schema=described,
            table_defaults=values,
        )
        return cls(node, (), registry)

    @classmethod
    def update(
        cls,
        table: str | Sequence[str],
        schema: SchemaLike,
        values: Mapping[str, Any],
        where: Callable[[Record], Any] | None = None,
        *,
        registry: Registry | None = None,
    ) -> Self:
        """Change columns of the records of a table; the frame has their number in the column ``updated``.

        Args:
            table: the table.
            schema: its columns.
            values: the new values by column: constants, or functions of the record.
            where: the condition of records to change; all if it isn't given.
            registry: the extensions.

        Examples:
            >>> update("orders", {"id": "i64", "price": "fp64?"}, {"price": 0.0}, lambda o: o.id == 7)
            <Frame: updated: i64>
        """
        described: NamedStruct = schema_of(schema, registry)
        extensions = registry or Registry.default()
        record = Record(fields_of(described), described.struct.types, extensions)
        names = [field.name for field in record._fields]
        changes = []
        for name, value in values.items():
            target = record[name].type
            found = _of(value, record, literal=True)
            made = literal(found, target) if plain(found) else held_by(column(found), target).expression
            change = closed(made, {record._token: 0})
            changes.append(TransformExpression(transformation=change, column_target=names.index(name)))
        condition = None
        if where is not None:
            condition = closed(conjunction([where(record)]).expression, {record._token: 0})
        parts = [*(change.transformation for change in changes), *([] if condition is None else [condition])]
        if any(token for part in parts for token in open_tokens(part)):
            raise InvalidPlanError("an update refers to a record that is not of its table")
        node = Update(
            update_type=NamedTable(names=(table,) if isinstance(table, str) else tuple(table)),
            table_schema=described,
            condition=condition,
            transformations=tuple(changes),
        )
        return cls(node, (Field("updated"),), registry)


def _object(target: Target) -> NamedObjectWrite | ExtensionObject:
    if isinstance(target, ExtensionObject):
        return target
    return NamedObjectWrite(names=(target,) if isinstance(target, str) else tuple(target))


def _member(kind: Any, given: str) -> Any:
    name = given.lower().replace("_", " ")
    found = next((one for one in kind if one.value == name), None)
    if found is None:
        raise InvalidPlanError(f"there is no {given!r} here", hint=f"There are: {', '.join(one.value for one in kind)}")
    return found
