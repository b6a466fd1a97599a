"""What an expression of Catalyst is translated in: which columns there are, and where they stand."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pyspark_substrait.extensions import calls
from pyspark_substrait.extensions.calls import Options
from pyspark_substrait.extensions.registry import Registry
from pyspark_substrait.model.computed_once import computed_once
from pyspark_substrait.model.expressions import Argument, Expression, FieldReference, RootReference, ScalarFunction
from pyspark_substrait.model.expressions import StructField as _Field
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.types import Struct
from pyspark_substrait.spark.producer.catalyst import Node

__all__ = [
    "DEFAULT_ROWS",
    "Column",
    "CommonTable",
    "LambdaParameters",
    "NamedFrame",
    "Output",
    "Production",
    "Scope",
    "column",
    "columns_of",
    "field_of",
    "references",
    "scope_of",
    "urn_of",
]

#: how many rows of in-memory data a plan may hold
DEFAULT_ROWS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Column:
    """A column that a relation puts out: the number by which Catalyst knows it, its name, its type in Spark's JSON."""

    id: int
    name: str
    type: Any


@dataclass(frozen=True)
class Output:
    """A relation of Catalyst, translated: the relation, and its columns in order."""

    relation: Relation
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class CommonTable:
    """A common table expression: its query, and whether that becomes a relation tree of its own."""

    query: Node
    shared: bool


@dataclass(frozen=True)
class NamedFrame:
    """A DataFrame that goes out as a read of a named table.

    Args:
        names: the name, in parts.
        plan: its analysed plan in the JVM, without the aliases around it.
        kind: the class of that plan.
        fields: its columns, in Spark's JSON.
    """

    names: tuple[str, ...]
    plan: Any
    kind: str
    fields: Sequence[Mapping[str, Any]]


@dataclass(eq=False)
class Production:
    """One translation of a plan: what holds for all of it, and what is found on the way.

    Args:
        session: the classic Spark session of the plan.
        registry: the extensions.
        tables: the views and tables that go out by names of the caller's, in parts, by their dotted names, case folded.
        frames: the DataFrames that do.
        named: which views and tables went out so, by the names that they got.
        short_names: whether tables of the session's database may be named by one part.
        max_rows: how many rows of in-memory data may become a virtual table.
        portable: whether to refuse what only Spark has.
        trees: the relation trees that others refer to, in order; the plan's first trees.
        shared: where in ``trees`` a common table expression stands, and its columns, by its number.
        definitions: the common table expressions, by their number.
        conditions: the IN (SELECT ...) expressions in whose place null counts as false.
        anchors: how many relations have got an anchor.
        collected: the records of RDDs, as Arrow data, by the number of the RDD.
        writing: whether what is translated is the input of a write.
        stand_ins: the names of the tables in whose place there is an RDD without records, by its number.
        type_urls: of the messages that aren't the specification's.
    """

    session: Any
    registry: Registry
    tables: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    frames: tuple[NamedFrame, ...] = ()
    named: dict[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)
    short_names: bool = False
    max_rows: int = DEFAULT_ROWS
    portable: bool = False
    trees: list[Relation] = field(default_factory=list)
    shared: dict[int, tuple[int, tuple[Column, ...]]] = field(default_factory=dict)
    definitions: dict[int, CommonTable] = field(default_factory=dict)
    conditions: set[Node] = field(default_factory=set)
    anchors: int = 0
    collected: dict[int, Any] = field(default_factory=dict)
    writing: bool = False
    stand_ins: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    type_urls: set[str] = field(default_factory=set)

    @computed_once
    def database(self) -> tuple[str, ...]:
        """The catalog and database of the session, case folded."""
        catalogs = self.session._jsparkSession.sessionState().catalogManager()
        return tuple(part.lower() for part in (catalogs.currentCatalog().name(), *catalogs.currentNamespace()))

    def call(
        self, urn: str, name: str, arguments: Sequence[Argument], options: Options | None = None
    ) -> ScalarFunction:
        """A call of a scalar function of one of the specification's extensions, or of ours.

        Args:
            urn: the extension; of the specification's own, the name of the file is enough: ``functions_string``.
            name: the function.
            arguments: what it is called with.
            options: option values.
        """
        return calls.scalar(self.registry, urn_of(urn), name, arguments, options)

    def anchor(self) -> int:
        """A new anchor for a relation."""
        self.anchors += 1
        return self.anchors


def urn_of(name: str) -> str:
    """The URN of an extension of the specification by the name of its file; a URN stays what it is."""
    return name if ":" in name else f"extension:io.substrait:{name}"


@dataclass(frozen=True, slots=True)
class LambdaParameters:
    """The parameters of a lambda: the numbers of its variables, and their types."""

    ids: tuple[int, ...]
    types: Struct


@dataclass(frozen=True)
class Scope:
    """What an expression sees.

    Args:
        production: the translation it belongs to.
        columns: the columns of the record, in order.
        schema: their types.
        outer: what the query around this one sees; None outside subqueries.
        anchor: the anchor of the relation that expressions inside subqueries and lateral joins refer to; None where
            they count the subqueries that they stand in.
        parameters: those of the lambdas around the expression, the innermost last.
        replaced: expressions, by their signature, that are a column of the record: the grouping expressions and
            aggregate functions in what is computed of them.
    """

    production: Production
    columns: tuple[Column, ...] = ()
    schema: Struct = field(default_factory=lambda: Struct(types=()))
    outer: Scope | None = None
    anchor: int | None = None
    parameters: tuple[LambdaParameters, ...] = ()
    replaced: Mapping[Hashable, Expression] = field(default_factory=dict)

    @computed_once
    def positions(self) -> Mapping[int, int]:
        """The position of each column by its number; of the first one where it is there several times."""
        found: dict[int, int] = {}
        for position, one in enumerate(self.columns):
            found.setdefault(one.id, position)
        return found

    def reference(self, id: int) -> FieldReference | None:
        """A reference to a column of the record; None if it hasn't got it."""
        position = self.positions.get(id)
        return None if position is None else field_of(self.schema, position)


def field_of(schema: Struct, position: int) -> FieldReference:
    """A reference to a column of the record at hand."""
    return FieldReference(root=RootReference(), reference=(_Field(position),), type=schema.types[position])


def references(relation: Relation) -> tuple[Expression, ...]:
    """A reference to each column of a relation."""
    return tuple(field_of(relation.schema, position) for position in range(len(relation.schema.types)))


def scope_of(output: Output, production: Production, outer: Scope | None) -> Scope:
    """What expressions over the records of a relation see."""
    return Scope(production, output.columns, output.relation.schema, outer)


def column(attribute: Node) -> Column:
    """The column that an attribute of Catalyst is."""
    return Column(attribute.expression_id, attribute.value("name"), attribute.value("dataType"))


def columns_of(node: Node) -> tuple[Column, ...]:
    """The columns that a relation of Catalyst puts out, without translating it."""
    if "output" in node.fields:
        return tuple(map(column, node.trees("output")))
    if node.name == "Project" and all(item.name == "AttributeReference" for item in node.trees("projectList")):
        return tuple(map(column, node.trees("projectList")))
    if node.name in _TRANSPARENT:
        return columns_of(node.children[0])
    attributes = node.java.output()
    return tuple(
        Column(attribute.exprId().id(), attribute.name(), json.loads(attribute.dataType().json()))
        for attribute in map(attributes.apply, range(attributes.size()))
    )


_TRANSPARENT: Final = frozenset({"SubqueryAlias", "View", "Filter", "Sort", "GlobalLimit", "LocalLimit", "Offset"})
