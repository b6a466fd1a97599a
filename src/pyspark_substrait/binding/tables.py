"""The tables that a plan is bound to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

from pyspark_substrait.binding.conversions import completed, is_cast, is_convertible
from pyspark_substrait.errors import TableError, UnsupportedPlanError
from pyspark_substrait.model.expressions import (
    Cast,
    Expression,
    FailureBehavior,
    FieldReference,
    RootReference,
    StructField,
)
from pyspark_substrait.model.notes import Note
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.relations import NamedTable, Project, Read, Relation, RelCommon
from pyspark_substrait.model.types import NamedStruct, Type, Unbound, name_count
from pyspark_substrait.model.unbound import is_unbound
from pyspark_substrait.model.walk import holds_query, with_children

__all__ = ["Names", "Schemas", "Tables"]

#: the name of a table, in parts
Names: TypeAlias = tuple[str, ...]


class Schemas(Protocol):
    """Tables by name, with their schemas."""

    def names(self) -> Sequence[Names]:
        """Return the names of the tables."""

    def table(self, names: Names) -> tuple[Names, NamedStruct] | None:
        """Return a table's own name and its schema, without columns of types that Substrait doesn't have.

        None if there is no table of exactly this name, whatever its parts are.

        Raises:
            TableError: the table can't be read.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    """A column of a plan's read, and the column of the table that it is.

    Args:
        position: the table's column.
        found: its type in the table.
        stated: its type in the plan.
        type: the same, with the unbound parts filled in.
        names: its name and those of the fields nested in it, as the plan has them.
    """

    position: int
    found: Type
    stated: Type
    type: Type
    names: Names

    @property
    def cast(self) -> bool:
        return is_cast(self.found, self.type)

    def value(self) -> Expression:
        """Return the column's value over the records of the table."""
        type = self.found if self.cast else self.type
        field = FieldReference(root=RootReference(), reference=(StructField(self.position),), type=type)
        if not self.cast:
            return field
        return Cast(type=self.type, input=field, failure_behavior=FailureBehavior.THROW_EXCEPTION)


class _Table:
    """A table with its columns by name.

    Args:
        name: its name.
        schema: its schema.
    """

    def __init__(self, name: Names, schema: NamedStruct) -> None:
        self.name = name
        self.schema = schema
        self._starts: list[int] = []  # where the names of each column begin
        self._exact: dict[str, list[int]] = {}
        self._folded: dict[str, list[int]] = {}
        start = 0
        for position, type in enumerate(schema.struct.types):
            self._starts.append(start)
            self._exact.setdefault(schema.names[start], []).append(position)
            self._folded.setdefault(schema.names[start].casefold(), []).append(position)
            start += 1 + name_count(type)

    def column(self, name: str) -> int:
        """Return the position of a column of a name, or else of one that differs from it in case only.

        Raises:
            TableError: there is none, or there are several.
        """
        found = self._exact.get(name) or self._folded.get(name.casefold(), [])
        if len(found) == 1:
            return found[0]
        number = f"{len(found)} columns" if found else "no column"
        listed = ", ".join(self.schema.top_level_names())
        raise TableError(f"the table {_dotted(self.name)} has {number} {name}", hint=f"Its columns: {listed}")

    def fields(self, position: int) -> Names:
        """Return the names of the fields nested in a column."""
        start = self._starts[position] + 1
        return self.schema.names[start : start + name_count(self.schema.struct.types[position])]


class Tables:
    """The tables that a plan is bound to, found by the names in its reads: as they are, then in another case.

    Args:
        schemas: the tables.
        rename: the names of tables by those that the plan has for them, dotted.
        only_unbound: fill in the types that the plan leaves unbound, and change nothing else.
    """

    def __init__(
        self, schemas: Schemas, rename: Mapping[str, Names] | None = None, *, only_unbound: bool = False
    ) -> None:
        self._schemas = schemas
        self._rename = dict(rename or {})
        self._only_unbound = only_unbound
        self._known: dict[Names, _Table] = {}
        #: what was changed, in the order of the reads
        self.notes: list[Note] = []

    def complete(self, names: Names, schema: NamedStruct) -> NamedStruct:
        """Return the schema that a plan states for a table, with types for all columns.

        Raises:
            TableError: there is no such table or column, or a column is of another type than the plan says.
        """
        if self._only_unbound and not is_unbound(schema.struct):
            return schema
        columns = self._columns(names, schema)
        return NamedStruct(
            names=tuple(name for column in columns for name in column.names),
            struct=replace(schema.struct, types=tuple(column.type for column in columns)),
        )

    def fit(self, node: Read, stated: NamedStruct, path: Path) -> Relation:
        """Return a read of the table itself that puts out what a read does whose schema is complete.

        Args:
            node: the read.
            stated: its schema as the plan states it.
            path: its place.

        Raises:
            UnsupportedPlanError: it keeps parts of columns that the table has in another place or of another type.
        """
        assert isinstance(node.read_type, NamedTable)
        names = node.read_type.names
        if self._only_unbound and not is_unbound(stated.struct):
            return node
        table, columns = self._table(names), self._columns(names, stated)
        self._note_changes(names, columns, path)
        if self._only_unbound:
            return node
        node = replace(node, read_type=replace(node.read_type, names=table.name))
        positions = [column.position for column in columns]
        if positions != [*range(len(table.schema.struct.types))] or any(column.cast for column in columns):
            return _over(node, table.schema, columns)
        if node.base_schema.names == table.schema.names:
            return node
        return replace(node, base_schema=replace(node.base_schema, names=table.schema.names))

    def _columns(self, names: Names, schema: NamedStruct) -> list[_Column]:
        """Return the columns that a plan reads of a table."""
        table = self._table(names)
        place = f"the table {_dotted(table.name)}"
        columns: list[_Column] = []
        types, given = schema.struct.types, schema.names
        index, start = 0, 0
        while index < len(types):
            stated, name = types[index], given[start]
            position = table.column(name)
            there, fields = table.schema.struct.types[position], table.fields(position)
            inside = name_count(stated)
            index, start = index + 1, start + 1
            if isinstance(stated, Unbound) and _same(given[start : start + len(fields)], fields):
                # names without types are those of nested fields, too
                inside = len(fields)
                index += inside
            own = given[start : start + inside] if inside else fields
            start += inside
            type = completed(stated, there)
            if not is_convertible(there, type) or not _same(own, fields):
                raise TableError(
                    f"{name} is {there} in {place}, and {stated} in the plan",
                    hint="bind adds only casts that lose nothing. Cast it in the plan, or pass a table of this type",
                )
            columns.append(_Column(position=position, found=there, stated=stated, type=type, names=(name, *own)))
        return columns

    def _table(self, names: Names) -> _Table:
        """Return the table that a plan means by a name."""
        if names not in self._known:
            wanted = self._rename.get(_dotted(names), names)
            found = self._schemas.table(wanted)
            if found is None:
                others = {_dotted(name): name for name in self._schemas.names()}
                near = [name for text, name in others.items() if text.casefold() == _dotted(wanted).casefold()]
                if len(near) > 1:
                    listed = ", ".join(sorted(map(_dotted, near)))
                    raise TableError(f"{_dotted(wanted)} may be each of {listed}", hint="Only their case differs")
                found = self._schemas.table(near[0]) if near else None
            if found is None:
                listed = ", ".join(sorted(map(_dotted, self._schemas.names()))) or "none"
                raise TableError(
                    f"there is no table {_dotted(wanted)}",
                    hint=f"Tables given: {listed}. If one of them is meant, rename it (--rename)",
                )
            self._known[names] = _Table(*found)
        return self._known[names]

    def _note_changes(self, names: Names, columns: Sequence[_Column], path: Path) -> None:
        """Note in which ways a table isn't what the plan says."""
        name = self._table(names).name
        found = _dotted(name)
        if name != names and not self._only_unbound:
            self._note("bound-table", (path, "named_table"), f"the table {_dotted(names)}", f"the table {found}")
        for column in columns:
            before = f"{column.names[0]} as {column.stated}"
            if is_unbound(column.stated):
                after = str(column.type)
            elif column.cast:
                after = f"cast from {column.found}"
            elif column.type.nullable and not column.stated.nullable:
                after = str(column.type)
            else:
                continue
            self._note("bound-column", (path, "base_schema"), before, f"{after}, as it is in the table {found}")

    def _note(self, rule: str, path: Path, before: str, after: str) -> None:
        note = Note(rule=rule, path=path, before=before, after=after)
        if note not in self.notes:  # a tree that several others refer to is read more than once
            self.notes.append(note)


def _over(node: Read, table: NamedStruct, columns: Sequence[_Column]) -> Relation:
    """Return a read of all columns of a table that puts out those of a plan's read, in a projection if any is cast."""
    kept = list(columns)
    if node.projection is not None:
        items = node.projection.select.struct_items
        if any(item.child is not None for item in items):
            raise _unfit("keeps parts of columns")
        kept = [columns[item.field] for item in items]
    types = list(table.struct.types)
    for column in columns:
        if not column.cast:
            types[column.position] = column.type

    def moved(condition: Expression) -> Expression:
        match condition:
            case FieldReference(root=RootReference(), reference=(StructField(field=field), *inside)):
                column = columns[field]
                if not inside:
                    return column.value()
                if column.cast:
                    raise _unfit("filters by a part of a column")
                return replace(condition, reference=(StructField(column.position), *inside))
            case _ if holds_query(condition):
                raise _unfit("filters by a subquery")
            case _:
                return with_children(condition, moved)

    inner = replace(
        node,
        common=RelCommon(),
        base_schema=NamedStruct(names=table.names, struct=replace(table.struct, types=tuple(types))),
        filter=None if node.filter is None else moved(node.filter),
        best_effort_filter=None if node.best_effort_filter is None else moved(node.best_effort_filter),
        projection=None,
    )
    emit = range(len(kept)) if node.common.emit is None else node.common.emit
    if not any(column.cast for column in kept):
        return replace(inner, common=replace(node.common, emit=tuple(kept[number].position for number in emit)))
    return Project(
        common=replace(node.common, emit=tuple(len(types) + number for number in emit)),
        input=inner,
        expressions=tuple(column.value() for column in kept),
    )


def _unfit(what: str) -> UnsupportedPlanError:
    return UnsupportedPlanError(
        f"the read {what} of a table that has its columns in another order or of other types",
        hint="Do so in a relation above the read",
    )


def _folded(names: Names) -> Names:
    return tuple(name.casefold() for name in names)


def _dotted(names: Names) -> str:
    return ".".join(names)


def _same(names: Sequence[str], others: Sequence[str]) -> bool:
    return _folded(tuple(names)) == _folded(tuple(others))
