"""The context in which expressions of Catalyst are translated: the available columns and their positions."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
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
    "Forms",
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

#: the default for the most rows of in-memory data in a plan
DEFAULT_ROWS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Column:
    """An output column of a relation: its id in Catalyst, its name, its type in Spark's JSON."""

    id: int
    name: str
    type: Any


@dataclass(frozen=True)
class Output:
    """A translated relation of Catalyst: the relation, and its columns in order."""

    relation: Relation
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class CommonTable:
    """A common table expression: its query, and whether it becomes a relation tree of its own."""

    query: Node
    shared: bool


@dataclass(frozen=True)
class NamedFrame:
    """A DataFrame that is translated to a read of a named table.

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


@dataclass(frozen=True)
class Forms:
    """The functions that translate any expression and any relation of Catalyst, and use each other for its parts."""

    expression: Callable[[Node, Scope], Expression]
    relation: Callable[[Node, Production, Scope | None], Output]


@dataclass(eq=False)
class Production:
    """The state of one translation of a plan: its settings, and the intermediate results.

    Args:
        forms: the translation functions.
        session: the classic Spark session of the plan.
        registry: the extensions.
        tables: the caller's names, in parts, for views and tables that the plan reads by name; keyed by their dotted
            names in lower case.
        frames: the DataFrames that the plan reads by name.
        named: the views and tables that were translated in this way, by their names in the plan.
        short_names: whether tables of the session's database may be named by one part.
        max_rows: the most rows of in-memory data for a virtual table.
        portable: whether to refuse Spark-specific functions and relations.
        trees: the relation trees that others refer to, in order; the plan's first trees.
        shared: the position in ``trees`` and the columns of a common table expression, by its id.
        definitions: the common table expressions, by their id.
        conditions: the IN (SELECT ...) expressions in conditions, where null counts as false.
        anchors: the number of anchors given to relations.
        collected: the records of RDDs, as Arrow data, by the id of the RDD.
        writing: whether the input of a write is being translated.
        stand_ins: the names of the tables that an empty RDD represents, by its id.
        type_urls: the type URLs of custom messages in the plan.
    """

    forms: Forms
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

    @computed_once
    def allows_precision_loss(self) -> bool:
        """Whether decimal arithmetic in the session may keep fewer digits behind the point than are exact."""
        value = self.session.conf.get("spark.sql.decimalOperations.allowPrecisionLoss", "true")
        return str(value).lower() == "true"

    @computed_once
    def reads_older_patterns(self) -> bool:
        """Whether patterns of times have the meaning in the session that they had before Spark 3."""
        return str(self.session.conf.get("spark.sql.legacy.timeParserPolicy")).upper() == "LEGACY"

    def call(
        self, urn: str, name: str, arguments: Sequence[Argument], options: Options | None = None
    ) -> ScalarFunction:
        """Return a call of a scalar function of one of the specification's extensions, or of ours.

        Args:
            urn: the extension; for the specification's own, the name of the file is enough: ``functions_string``.
            name: the function.
            arguments: its arguments.
            options: option values.
        """
        return calls.scalar(self.registry, urn_of(urn), name, arguments, options)

    def anchor(self) -> int:
        """Return a new anchor for a relation."""
        self.anchors += 1
        return self.anchors


def urn_of(name: str) -> str:
    """Return the URN of an extension of the specification, by the name of its file; a URN is returned unchanged."""
    return name if ":" in name else f"extension:io.substrait:{name}"


@dataclass(frozen=True, slots=True)
class LambdaParameters:
    """The parameters of a lambda: the ids of its variables, and their types."""

    ids: tuple[int, ...]
    types: Struct


@dataclass(frozen=True)
class Scope:
    """The columns and parameters that an expression can refer to.

    Args:
        production: the translation it belongs to.
        columns: the columns of the record, in order.
        schema: their types.
        outer: the scope of the enclosing query; None outside subqueries.
        anchor: the anchor by which expressions inside subqueries and lateral joins refer to the record; None if they
            refer to it by the number of subqueries in between.
        parameters: those of the enclosing lambdas, the innermost last.
        replaced: the translations of expressions that are already computed, by their signature: grouping expressions
            and aggregate functions, which are columns of the record.
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
        """The position of each column by its id; the first one if it occurs several times."""
        found: dict[int, int] = {}
        for position, one in enumerate(self.columns):
            found.setdefault(one.id, position)
        return found

    def reference(self, id: int) -> FieldReference | None:
        """Return a reference to a column of the record, by its id; None if the record doesn't have it."""
        position = self.positions.get(id)
        return None if position is None else field_of(self.schema, position)


def field_of(schema: Struct, position: int) -> FieldReference:
    """Return a reference to a column of the current record."""
    return FieldReference(root=RootReference(), reference=(_Field(position),), type=schema.types[position])


def references(relation: Relation) -> tuple[Expression, ...]:
    """Return a reference to each column of a relation."""
    return tuple(field_of(relation.schema, position) for position in range(len(relation.schema.types)))


def scope_of(output: Output, production: Production, outer: Scope | None) -> Scope:
    """Return the scope of expressions over the records of a relation."""
    return Scope(production, output.columns, output.relation.schema, outer)


def column(attribute: Node) -> Column:
    """Return the column for an attribute of Catalyst."""
    return Column(attribute.expression_id, attribute.value("name"), attribute.value("dataType"))


def columns_of(node: Node) -> tuple[Column, ...]:
    """Return the output columns of a relation of Catalyst, without translating it."""
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
