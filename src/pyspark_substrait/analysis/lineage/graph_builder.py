"""The columns of all relations of a document as nodes of a graph, from the reads upwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from typing_extensions import assert_never

from pyspark_substrait.analysis.lineage.expressions import Dependencies, Record, Surroundings, dependencies
from pyspark_substrait.analysis.lineage.graph import Graph
from pyspark_substrait.analysis.lineage.relations import (
    Column,
    Columns,
    ComputedColumn,
    OpaqueColumn,
    Shape,
    TableColumn,
    shape,
)
from pyspark_substrait.analysis.lineage.traversal import BASE_SCHEMA, Order, Place, Site, inputs_of
from pyspark_substrait.model.relations import Generate, Relation
from pyspark_substrait.model.types import NamedStruct, OpenStruct

__all__ = ["Building"]

_EMPTY = Record((), ())


@dataclass(slots=True)
class Building(Surroundings):
    """A graph of columns under construction.

    Args:
        order: the relations.
        graph: the graph.
        columns: the columns of each relation.
        tables: for each relation that reads or changes a table, a node for each column of the table.
        deciding: for each relation, the nodes that its choice of records depends on.
        pools: for relations whose columns or dependencies aren't known, a node on which any column may depend.
    """

    order: Order
    graph: Graph = field(default_factory=Graph)
    columns: dict[int, Columns] = field(default_factory=dict)
    tables: dict[int, Sequence[int]] = field(default_factory=dict)
    deciding: dict[int, tuple[int, ...]] = field(default_factory=dict)
    pools: dict[int, int] = field(default_factory=dict)
    _shapes: dict[int, Shape] = field(default_factory=dict)
    _put_out: dict[int, list[Column]] = field(default_factory=dict)
    _seen: dict[tuple[int, Place], Record] = field(default_factory=dict)
    _anchors: dict[int, list[int]] = field(default_factory=dict)

    # --- nodes --------------------------------------------------------------------------------------------------------

    def base_schema(self, schema: NamedStruct) -> None:
        """Add the record that an extended expression is evaluated on."""
        opened = isinstance(schema.struct, OpenStruct)
        ports = self.graph.add(0 if opened else len(schema.struct.types))
        self.columns[BASE_SCHEMA] = Columns(ports, self.graph.add(1)[0] if opened else None, None)
        self.tables[BASE_SCHEMA] = ports

    def lay_out(self) -> None:
        """Give every column a node, without its dependencies."""
        for number in self.order.bottom_up:
            relation = self.order.relations[number]
            if isinstance(relation, Generate):
                self.order.derive(number)
            if relation.common.rel_anchor is not None:
                self._anchors.setdefault(relation.common.rel_anchor, []).append(number)
            self._shapes[number] = made = shape(relation, self._inputs(number))
            put_out = _emitted(made, relation.common.emit)
            records = self.graph.add(1)[0]
            ports = self.graph.add(len(put_out), records)
            pool = None if made.pool is None else self.graph.add(1, records)[0]
            if pool is not None:
                self.pools[number] = pool
            self._put_out[number] = put_out
            shown = pool if made.open and relation.common.emit is None else None
            self.columns[number] = Columns(ports, shown, records)
            if made.base:
                self.tables[number] = self._table(made, put_out, ports)

    def _inputs(self, number: int) -> list[Columns]:
        return [self.columns[self.order.numbers[id(input)]] for input in inputs_of(self.order.relations[number])]

    def _table(self, made: Shape, put_out: list[Column], ports: range) -> list[int]:
        """Return a node for each column of a table: that of the column if it is put out, or a new one."""
        nodes: dict[int, int] = {}
        for port, column in zip(ports, put_out, strict=True):
            if isinstance(column, TableColumn):
                nodes.setdefault(column.field, port)
        hidden = [field for field in range(len(made.base)) if field not in nodes]
        nodes.update(zip(hidden, self.graph.add(len(hidden)), strict=True))
        return [nodes[field] for field in range(len(made.base))]

    def fields(self, number: int) -> Iterator[tuple[int, int]]:
        """Return the columns that a read puts out, with the position of each in its table."""
        for port, column in zip(self.columns[number].ports, self._put_out[number], strict=True):
            if isinstance(column, TableColumn):
                yield port, column.field

    # --- edges --------------------------------------------------------------------------------------------------------

    def connect(self) -> None:
        """Set the dependencies of every node."""
        for number in self.order.bottom_up:
            self._connect_columns(number)
            self._connect_pool(number)
            self._connect_records(number)

    def _connect_columns(self, number: int) -> None:
        known: dict[int, Dependencies] = {}  # by identity: emit may put out a column several times
        for port, column in zip(self.columns[number].ports, self._put_out[number], strict=True):
            found = known.get(id(column))
            if found is None:
                found = known[id(column)] = self._made_of(number, column)
            self._set(port, found)
        for node, column in zip(self.tables.get(number, ()), self._shapes[number].base, strict=False):
            if node not in self.columns[number].ports:
                self._set(node, self._made_of(number, column))

    def _connect_pool(self, number: int) -> None:
        """Make the unknown columns of a relation depend on everything that the relation has."""
        if number not in self.pools:
            return
        made = self._shapes[number]
        nodes = [*(made.pool or ())]
        for column in made.columns:
            if not isinstance(column, OpaqueColumn):
                nodes.extend(self._made_of(number, column).every())
        self.graph.values[self.pools[number]] = tuple(dict.fromkeys(nodes))

    def _connect_records(self, number: int) -> None:
        """Make the records depend on the conditions that choose them, and on the records of the inputs."""
        made, records = self._shapes[number], self.columns[number].records
        decided = dependencies(self, number, made.conditions)
        self.deciding[number] = tuple(dict.fromkeys([*decided.every(), *made.deciding]))
        fed = [input.records for input in self._inputs(number) if made.fed and input.records is not None]
        if records is not None:
            self.graph.values[records] = (*self.deciding[number], *fed)

    def _set(self, node: int, found: Dependencies) -> None:
        self.graph.values[node] = found.values
        if found.conditions:
            self.graph.conditions[node] = found.conditions

    def _made_of(self, number: int, column: Column) -> Dependencies:
        match column:
            case int():
                return Dependencies((column,), ())
            case ComputedColumn(uses=uses, columns=columns):
                found = dependencies(self, number, uses)
                return Dependencies((*columns, *found.values), found.conditions) if columns else found
            case TableColumn(field=field):
                base = self._shapes[number].base
                return self._made_of(number, base[field]) if 0 <= field < len(base) else Dependencies((), ())
            case OpaqueColumn():
                return Dependencies((self.pools[number],), ())
            case _:
                assert_never(column)

    # --- what expressions see -----------------------------------------------------------------------------------------

    def record(self, site: Site) -> Record:
        found = self._seen.get(site)
        if found is None:
            found = self._seen[site] = self._record(site)
        return found

    def _record(self, site: Site) -> Record:
        number, place = site
        if number == BASE_SCHEMA:
            return Record.of([self.columns[BASE_SCHEMA]])
        relation = self.order.relations[number]
        match place:
            case Place.NONE:
                return _EMPTY
            case Place.OUTPUT:
                shown = [self._made_of(number, column).every() for column in self._shapes[number].columns]
                return Record(shown, (self.pools[number],) if number in self.pools else ())
            case Place.INPUT if number in self.tables or not inputs_of(relation):
                pool = (self.pools[number],) if number in self.pools else ()
                return Record([(node,) for node in self.tables.get(number, ())], pool)
            case Place.INPUT:
                return Record.of(self._inputs(number))
            case Place.LEFT:
                return Record.of(self._inputs(number)[:1])
            case Place.RIGHT:
                return Record.of(self._inputs(number)[1:])
            case _:
                assert_never(place)

    def query(self, relation: Relation) -> Columns | None:
        number = self.order.numbers.get(id(relation))
        return None if number is None else self.columns[number]

    def steps_out(self, number: int, steps: int) -> frozenset[Site]:
        around = self._around(number)
        while steps > 1 and around:
            around = frozenset().union(*(self._around(site.relation) for site in around))
            steps -= 1
        return around if steps == 1 else frozenset()

    def _around(self, number: int) -> frozenset[Site]:
        return frozenset() if number == BASE_SCHEMA else self.order.around[number]

    def anchored(self, number: int, anchor: int) -> frozenset[Site]:
        found: set[Site] = set()
        for target in self._anchors.get(anchor, ()):
            places = self.order.holding.get(target, set())
            if len(places) < 2:
                # a lateral join whose right input refers to it holds no subquery
                found.add(Site(target, next(iter(places), Place.INPUT)))
            else:
                found.update(self._climb(number, target) or {Site(target, Place.INPUT)})
        return frozenset(found)

    def _climb(self, number: int, target: int) -> set[Site]:
        """Return the places in a relation around a query, directly or further out, in which another relation is."""
        seen: set[Site] = set()
        pending = [*self._around(number)]
        while pending:
            site = pending.pop()
            if site not in seen:
                seen.add(site)
                pending.extend(self._around(site.relation))
        return {site for site in seen if site.relation == target}


def _emitted(made: Shape, emit: tuple[int, ...] | None) -> list[Column]:
    """Return the columns after emit; nothing is known of a column that doesn't exist."""
    if emit is None:
        return [] if made.open else [*made.columns]
    if made.open:
        return [OpaqueColumn()] * len(emit)
    width = len(made.columns)
    return [made.columns[position] if 0 <= position < width else ComputedColumn() for position in emit]
