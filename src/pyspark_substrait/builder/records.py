"""The basis of all frames: a relation, the names of its columns, and the record that expressions see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from typing_extensions import Self

from pyspark_substrait.builder.aggregates import sort_fields
from pyspark_substrait.builder.columns import Column, Records, column, condition
from pyspark_substrait.builder.functions import call
from pyspark_substrait.builder.schemas import near
from pyspark_substrait.builder.scoping import closed, new_token, open_reference
from pyspark_substrait.builder.subqueries import isin
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.deep_stack import with_enough_stack
from pyspark_substrait.model.expressions import Expression, FieldReference, RootReference, SortField, StructField
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.types import List, Map, NamedStruct, OpenStruct, Struct, Type, concrete, name_count

__all__ = ["Base", "Field", "Record", "conjunction", "fields_named", "fields_of", "refer"]


#: The prefixes of names that Python and notebooks look up on every object.
_FOREIGN = ("__", "_repr_", "_ipython_")


@dataclass(frozen=True, slots=True)
class Field:
    """A column's name, and the names of the fields nested in it, depth first."""

    name: str
    inner: tuple[str, ...] = ()


def fields_of(schema: NamedStruct) -> tuple[Field, ...]:
    """Return the columns of a schema."""
    found, position = [], 0
    for type in schema.struct.types:
        end = position + 1 + name_count(type)
        found.append(Field(schema.names[position], schema.names[position + 1 : end]))
        position = end
    return tuple(found)


def fields_named(names: Sequence[str], schema: Struct) -> tuple[Field, ...]:
    """Return the columns of a relation that is made by hand.

    Args:
        names: the names of the columns; or those of nested fields as well, depth first. Without these, nested fields
            are called ``field_0``, ``field_1`` …, by their positions.
        schema: the types of the columns.

    Raises:
        InvalidPlanError: there are more or fewer names.
    """
    if isinstance(schema, OpenStruct):
        return tuple(map(Field, names))
    if len(names) == len(schema.types):
        return tuple(Field(name, tuple(_numbered(type))) for name, type in zip(names, schema.types, strict=True))
    if len(names) == name_count(schema):
        return fields_of(NamedStruct(names=tuple(names), struct=schema))
    nested = (
        f", which have {name_count(schema)} with all nested fields" if name_count(schema) > len(schema.types) else ""
    )
    raise InvalidPlanError(f"{len(names)} names were given for {len(schema.types)} columns{nested}")


def _numbered(type: Type) -> Iterator[str]:
    """Return the names of the fields nested inside a type, depth first."""
    match concrete(type):
        case Struct(types=types):
            for position, part in enumerate(types):
                yield f"field_{position}"
                yield from _numbered(part)
        case List(type=element):
            yield from _numbered(element)
        case Map(key=key, value=value):
            yield from _numbered(key)
            yield from _numbered(value)


class Record:
    """The record that an expression sees: its columns are attributes, ``o.price``, and items, ``o["weird name"]``.

    An item may also be a position, from 0.

    Examples:
        >>> orders = read("orders", {"unit price": "fp64?", "count": "i64"})
        >>> orders.select(total=lambda o: o["unit price"] * 2, n=lambda o: o[1])
        <Frame: total: fp64?, n: i64>
    """

    __slots__ = ("_fields", "_registry", "_token", "_types")

    def __init__(
        self, fields: Sequence[Field], types: Sequence[Type], registry: Registry, token: int | None = None
    ) -> None:
        self._fields = tuple(fields)
        self._types = tuple(types)
        self._registry = registry
        self._token = new_token() if token is None else token

    def __getattr__(self, name: str) -> Column:
        if name.startswith(_FOREIGN):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, key: str | int) -> Column:
        if isinstance(key, int):
            if not 0 <= key < len(self._fields):
                raise InvalidPlanError(f"there is no column {key}; there are {len(self._fields)}, counted from 0")
            return self._at(key)
        found = [position for position, field in enumerate(self._fields) if field.name == key]
        if len(found) != 1:
            near(key, [field.name for field in self._fields], "column")
        return self._at(found[0])

    def __iter__(self) -> Iterator[Column]:
        return map(self._at, range(len(self._fields)))

    def __len__(self) -> int:
        return len(self._fields)

    def __dir__(self) -> list[str]:
        return [field.name for field in self._fields]

    def _at(self, position: int) -> Column:
        field = self._fields[position]
        node = open_reference(self._token, position, self._types[position])
        return Column(node, name=field.name, inner=field.inner, registry=self._registry)


def refer(types: Sequence[Type], position: int) -> FieldReference:
    """Return a reference to a column of the relation's own record."""
    return FieldReference(root=RootReference(), reference=(StructField(position),), type=types[position])


def conjunction(conditions: Sequence[Any]) -> Column:
    """Return the conjunction of conditions."""
    found = [condition(item) for item in conditions]
    if not found:
        raise InvalidPlanError("there is no condition")
    return found[0] if len(found) == 1 else call("and", *found)


class Base(Records):
    """The base class of all frames. Immutable: each step returns a new frame."""

    def __init__(self, model: Relation, fields: Sequence[Field], registry: Registry | None = None) -> None:
        self.model = model
        self.fields = tuple(fields)
        self.registry = registry or Registry.default()
        schema = model.schema
        if len(self.fields) != len(schema.types) and not isinstance(schema, OpenStruct):
            raise InvalidPlanError(f"{len(self.fields)} names were given for {len(schema.types)} columns")

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(field.name for field in self.fields)

    @property
    def types(self) -> tuple[Type, ...]:
        """The types of the columns."""
        return self.model.schema.types

    @property
    def schema(self) -> NamedStruct:
        """The schema, with the names of nested fields."""
        names = tuple(name for field in self.fields for name in (field.name, *field.inner))
        return NamedStruct(names=names, struct=self.model.schema)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}: {type}" for name, type in zip(self.columns, self.types, strict=True))
        return f"<{self.__class__.__name__}: {shown}>"

    def record(self) -> Record:
        """Return the record of this frame that expressions see."""
        return Record(self.fields, self.types, self.registry)

    def _contain(self, values: tuple[Any, ...]) -> Column:
        return isin(values, self)

    # helpers of the steps ---------------------------------------------------------------------------------------------

    def _next(self, model: Relation, fields: Sequence[Field] | None = None) -> Self:
        """Return a frame over another relation."""
        return self.__class__(model, self.fields if fields is None else fields, self.registry)

    def _scalar(self, given: Any, record: Record) -> Expression:
        """Return an expression over this frame's records, with its references closed."""
        value = _plain(_of(given, record))
        return with_enough_stack(lambda: closed(value.expression, {record._token: 0}))

    def _condition(self, conditions: Sequence[Any]) -> Expression:
        record = self.record()
        return self._scalar(conjunction([_of(item, record) for item in conditions]), record)

    def _named(self, items: Sequence[Any], named: Mapping[str, Any], record: Record) -> list[tuple[str, Column]]:
        """Return columns with their names; their references stay open."""
        found: list[tuple[str, Column]] = []
        for item in items:
            value = _of(item, record)
            if isinstance(value, Mapping):
                found += [(str(name), column(_of(one, record))) for name, one in value.items()]
                continue
            several = value if isinstance(value, list | tuple) else [value]
            for one in several:
                made = column(_of(one, record))
                if made._name is None:
                    raise InvalidPlanError(
                        "a computed column has no name", hint='Give it one: name=…, or .alias("name")'
                    )
                found.append((made._name, made))
        return found + [(name, column(_of(item, record, literal=True))) for name, item in named.items()]

    def _sorts(self, keys: Sequence[Any]) -> tuple[SortField, ...]:
        record = self.record()
        found: list[SortField] = []
        for key in keys:
            value = _of(key, record)
            found += sort_fields(value if isinstance(value, list | tuple) else [value])
        if not found:
            raise InvalidPlanError("there is nothing to sort by")
        return tuple(replace(sort, expr=closed(sort.expr, {record._token: 0})) for sort in found)

    def _position(self, name: str | int) -> int:
        """Return the position of a column."""
        node = self.record()[name].expression
        assert isinstance(node, FieldReference) and isinstance(node.reference, tuple)
        (segment,) = node.reference
        assert isinstance(segment, StructField)
        return segment.field


def _of(item: Any, record: Record, *, literal: bool = False) -> Any:
    """Return the value of an argument: a column by its name, or the result of a function of the record.

    With ``literal``, a string is a constant.
    """
    if isinstance(item, str) and not literal:
        return record[item]
    return item(record) if callable(item) else item


def _plain(value: Any) -> Column:
    """Return a column that is not an aggregate, or raise an error."""
    found = column(value)
    if found._measures:
        raise InvalidPlanError("an aggregate has no place here", hint="It belongs in agg(); or add .over(…)")
    return found
