"""The lineage of a document: for each column, the columns that it is computed from and those that it depends on."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from pyspark_substrait.analysis.lineage.column_sources import Source, ends
from pyspark_substrait.analysis.lineage.expressions import dependencies
from pyspark_substrait.analysis.lineage.graph_builder import Building
from pyspark_substrait.analysis.lineage.relations import Columns, Kind, measure_uses
from pyspark_substrait.analysis.lineage.text import as_json, as_text
from pyspark_substrait.analysis.lineage.traversal import BASE_SCHEMA, ordered
from pyspark_substrait.analysis.lineage.written_columns import written_nodes
from pyspark_substrait.model.expressions import AggregateFunction
from pyspark_substrait.model.plan import ExtendedExpression, Plan, PlanRel, RelRoot
from pyspark_substrait.model.relations import Reference, Relation
from pyspark_substrait.model.types import NamedStruct, OpenStruct

__all__ = ["EXPRESSIONS", "Lineage", "Origin", "Output", "Port", "Written", "lineage"]

#: A column: the number of the relation that puts it out, and its position there, after emit.
Port: TypeAlias = tuple[int, int]

#: The relation number that stands for the expressions of an extended expression, each of which is a column.
EXPRESSIONS: Final = -2


@dataclass(frozen=True, slots=True)
class Origin:
    """A column that another one is directly computed from, or depends on."""

    port: Port
    kind: Kind


@dataclass(frozen=True, slots=True)
class Output:
    """A result of a document: the names of its columns, None for those without a name, and the columns."""

    names: tuple[str | None, ...]
    ports: tuple[Port, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """A column of a table, or of a view, that a relation writes.

    Args:
        relation: the number of the relation.
        table: the table, like ``db.orders``, or a description of the other target.
        column: the name of the column.
        sources: the columns of tables that its new values are computed from.
        conditions: the other columns that they depend on.
    """

    relation: int
    table: str
    column: str
    sources: tuple[Source, ...]
    conditions: tuple[Source, ...]


class Lineage:
    """The dependencies between the columns of a plan.

    A column is a :data:`Port`. Relations have the numbers of ``relations``; in an extended expression,
    :data:`BASE_SCHEMA` stands for its base schema and :data:`EXPRESSIONS` for its expressions.

    A value is computed from every column in its expression, the conditions of an ``IfThen`` included. It depends, as a
    condition, on columns that decide which records there are, or how they are grouped, sorted or cut: those of filters,
    joins, grouping keys, sort fields, partitions of windows, filters of measures. Where the behaviour of a relation
    isn't specified (extensions), every column may be computed from all columns of its inputs; of a broken relation,
    nothing is known.

    Attributes:
        relations: every relation of the document, by identity, numbered in the order of a depth-first walk: a
            relation before its inputs, then its subqueries. A subtree that several references use is there once.
    """

    relations: tuple[Relation, ...]

    def __init__(self, document: Plan | ExtendedExpression) -> None:
        order = ordered(document)
        self._document = document
        self._order = order
        self.relations = tuple(order.relations)
        self._building = building = Building(order)
        if isinstance(document, ExtendedExpression):
            building.base_schema(document.base_schema)
        building.lay_out()
        building.connect()
        self._graph = building.graph
        if isinstance(document, ExtendedExpression):
            building.columns[EXPRESSIONS] = Columns(self._expressions(document), None, None)
        self._ports: dict[int, Port] = {
            node: (number, position)
            for number, columns in building.columns.items()
            for position, node in enumerate(columns.ports)
        }
        self._by_records: dict[int, int] = {
            columns.records: number for number, columns in building.columns.items() if columns.records is not None
        }
        self._ends = dict(ends(document, building))
        self._written = [*written_nodes(building)]

    def __repr__(self) -> str:
        return f"<Lineage: {len(self.relations)} relations, {sum(map(len, self.outputs))} columns in the result>"

    def _expressions(self, document: ExtendedExpression) -> range:
        nodes = self._graph.add(len(document.referred_expr))
        for node, reference in zip(nodes, document.referred_expr, strict=True):
            expression = reference.expr
            if isinstance(expression, AggregateFunction):
                found = dependencies(self._building, BASE_SCHEMA, measure_uses(expression.arguments, expression.sorts))
            else:
                found = dependencies(self._building, BASE_SCHEMA, measure_uses((expression,), ()))
            self._graph.values[node] = found.values
            if found.conditions:
                self._graph.conditions[node] = found.conditions
        return nodes

    # --- relations and columns ----------------------------------------------------------------------------------------

    def number(self, relation: Relation) -> int:
        """Return the number of a relation.

        Raises:
            KeyError: it isn't a relation of this document.
        """
        found = self._order.number(relation)
        if found is None:
            raise KeyError(f"this {type(relation).__name__} is not a relation of the document")
        return found

    def ports(self, number: int) -> tuple[Port, ...]:
        """Return the columns that a relation puts out; none if they aren't known.

        Raises:
            KeyError: there is no such relation.
        """
        return tuple((number, position) for position in range(len(self._columns(number).ports)))

    @property
    def outputs(self) -> tuple[tuple[Port, ...], ...]:
        """The columns of each result: of each root, and of each tree without a root that no reference uses."""
        if isinstance(self._document, ExtendedExpression):
            return (self.ports(EXPRESSIONS),)
        return tuple(self._outputs_of(tree) for tree in self._results())

    def results(self) -> tuple[Output, ...]:
        """The results of the document: ``outputs`` with the names of the columns."""
        if isinstance(self._document, ExtendedExpression):
            names = [reference.output_names[:1] or (None,) for reference in self._document.referred_expr]
            return (Output(tuple(name for (name,) in names), self.ports(EXPRESSIONS)),)
        self._order.derive()
        return tuple(
            Output(_names(tree, len(ports)), ports) for tree, ports in zip(self._results(), self.outputs, strict=True)
        )

    def written(self) -> tuple[Written, ...]:
        """Return the columns that the document writes, with their sources; deleted records don't count."""
        found = []
        for item in self._written:
            values = self._sources([item.node], False)
            known = frozenset(values)
            beside = [source for source in self._sources([item.node], True) if source not in known]
            found.append(Written(item.relation, item.table, item.column, values, tuple(beside)))
        return tuple(found)

    def _results(self) -> list[PlanRel]:
        if isinstance(self._document, ExtendedExpression):
            return []
        used = {id(relation.subtree) for relation in self.relations if isinstance(relation, Reference)}
        return [tree for tree in self._document.relations if isinstance(tree, RelRoot) or id(tree) not in used]

    def _outputs_of(self, tree: PlanRel) -> tuple[Port, ...]:
        return self.ports(self.number(tree.input if isinstance(tree, RelRoot) else tree))

    # --- what depends on what -----------------------------------------------------------------------------------------

    def origins(self, port: Port) -> tuple[Origin, ...]:
        """Return the direct dependencies of a column: columns of inputs, subqueries or enclosing queries.

        The conditions that all records of the relation share aren't included: see :meth:`conditions`. An EXISTS is
        computed from the columns that decide which records its query has.

        Raises:
            KeyError: there is no such column.
        """
        node = self._node(port)
        values = self._visible(self._graph.values[node])
        known = frozenset(values)
        conditions = self._visible(self._graph.conditions.get(node, ()))
        return (
            *(Origin(item, Kind.VALUE) for item in values),
            *(Origin(item, Kind.CONDITION) for item in conditions if item not in known),
        )

    def conditions(self, relation_number: int) -> tuple[Port, ...]:
        """Return the columns that decide which records a relation puts out, or how they are grouped or sorted.

        They are columns of its inputs, of subqueries or of enclosing queries. For a read, they are its own columns; the
        columns of its table that it doesn't put out are left out: :meth:`sources` has them.

        Raises:
            KeyError: there is no such relation.
        """
        records = self._columns(relation_number).records
        return () if records is None else self._visible(self._building.deciding[relation_number])

    def fed_by(self, relation_number: int) -> tuple[int, ...]:
        """Return the relations whose records decide which records one puts out: its inputs, and the queries of EXISTS.

        The conditions on the records of these are their own.

        Raises:
            KeyError: there is no such relation.
        """
        records = self._columns(relation_number).records
        found = () if records is None else self._graph.values[records]
        return tuple(sorted(self._by_records[node] for node in found if node in self._by_records))

    def upstream(self, port: Port, *, conditions: bool = False) -> frozenset[Port]:
        """Return all columns that one is computed from, itself included; with ``conditions``, all that it depends on.

        Raises:
            KeyError: there is no such column.
        """
        return self._as_ports(self._graph.up([self._node(port)], conditions=conditions))

    def downstream(self, port: Port, *, conditions: bool = False) -> frozenset[Port]:
        """Return all columns that are computed from one, itself included; with ``conditions``, all that depend on it.

        Raises:
            KeyError: there is no such column.
        """
        return self._as_ports(self._graph.down([self._node(port)], conditions=conditions))

    def sources(self, port: Port, *, conditions: bool = False) -> tuple[Source, ...]:
        """Return the columns of tables, and of other origins of records, that a column is computed from.

        With ``conditions``, all that it depends on, including columns of a table that its read only filters by.

        Raises:
            KeyError: there is no such column.
        """
        return self._sources([self._node(port)], conditions)

    def deciding_sources(self, relation_number: int) -> tuple[Source, ...]:
        """Return the columns of tables that decide which records a relation and those below it put out.

        Raises:
            KeyError: there is no such relation.
        """
        records = self._columns(relation_number).records
        return () if records is None else self._sources([records], True)

    def _sources(self, start: Iterable[int], conditions: bool) -> tuple[Source, ...]:
        nodes = self._graph.up(start, conditions=conditions)
        found = {self._ends[node] for node in nodes if node in self._ends}
        return tuple(end.source for end in sorted(found))

    def _node(self, port: Port) -> int:
        number, position = port
        ports = self._columns(number).ports
        if not 0 <= position < len(ports):
            raise KeyError(f"relation {number} puts out no column {position}")
        return ports[position]

    def _columns(self, number: int) -> Columns:
        found = self._building.columns.get(number)
        if found is None:
            raise KeyError(f"there is no relation {number}")
        return found

    def _as_ports(self, nodes: Iterable[int]) -> frozenset[Port]:
        return frozenset(self._ports[node] for node in nodes if node in self._ports)

    def _visible(self, nodes: Iterable[int]) -> tuple[Port, ...]:
        """Return the columns among nodes, and for other nodes the columns that they are computed from."""
        found: dict[Port, None] = {}
        seen: set[int] = set()
        pending = [*reversed([*nodes])]
        while pending:
            node = pending.pop()
            if node in seen:
                continue
            seen.add(node)
            if node in self._ports:
                found[self._ports[node]] = None
            else:
                pending.extend(reversed(self._graph.values[node]))
        return tuple(found)

    # --- as text ------------------------------------------------------------------------------------------------------

    def known_names(self) -> tuple[str, ...]:
        """Return the names of the columns that :meth:`text` can show."""
        names = [name for output in self.results() for name in output.names if name]
        return tuple(dict.fromkeys([*names, *(item.column for item in self._written)]))

    def text(self, *, column: str | None = None, conditions: bool = False) -> str:
        """Return a line for each column of each result, and for each written column, with its source columns.

        Args:
            column: only columns of this name.
            conditions: include the other dependencies of each column, and the conditions that choose the records.

        Raises:
            KeyError: there is no column of that name.
        """
        return as_text(self, column=column, conditions=conditions)

    def to_json(self, *, column: str | None = None, conditions: bool = False) -> str:
        """The same as JSON: ``results`` and ``written``. Arguments and errors are those of :meth:`text`."""
        return as_json(self, column=column, conditions=conditions)

    def __str__(self) -> str:
        return self.text(conditions=True)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))  # the form that IPython shows


def lineage(document: Plan | ExtendedExpression) -> Lineage:
    """Return which columns of a plan or an extended expression are computed from which.

    No error is raised, however broken the document is and however deeply it is nested.
    """
    return Lineage(document)


def _names(tree: PlanRel, width: int) -> tuple[str | None, ...]:
    """Return the names of a result's columns, without those of nested fields."""
    known: tuple[str | None, ...] = ()
    with suppress(Exception):  # a document that contradicts itself has no schema, and its columns have no names
        if isinstance(tree, RelRoot):
            known, schema = tree.names, tree.input.schema
            if not isinstance(schema, OpenStruct):
                known = NamedStruct(names=tree.names, struct=schema).top_level_names()
        else:
            known = tree.names
    return (*known[:width], *(None,) * (width - len(known)))
