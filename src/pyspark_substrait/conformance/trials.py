"""A trial: a plan, the tables that it reads, and the result that an engine must give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pyarrow as pa

from pyspark_substrait.conformance.values import Row
from pyspark_substrait.documents import Plan
from pyspark_substrait.model.expressions import NestedStruct
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.plan import RelRoot
from pyspark_substrait.model.relations import NamedTable, Read, Relation, VirtualTable
from pyspark_substrait.model.types import NamedStruct, name_count
from pyspark_substrait.model.walk import mapped
from pyspark_substrait.spark import arrow
from pyspark_substrait.spark.reading.literal_arrays import literal_array

__all__ = ["Expected", "Function", "Table", "Trial"]


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a trial: its columns, and the literals of its records."""

    schema: NamedStruct
    rows: tuple[tuple[Literal, ...], ...]

    def read(self, name: str | None = None) -> Read:
        """Return a relation with the records: that of a named table, or with None, one that holds them itself."""
        if name is not None:
            return Read(base_schema=self.schema, read_type=NamedTable(names=(name,)))
        records = tuple(NestedStruct(fields=row) for row in self.rows)
        return Read(base_schema=self.schema, read_type=VirtualTable(expressions=records))

    def to_arrow(self) -> pa.Table:
        """Return the table as Arrow data, in the natural type of each column.

        Raises:
            SubstraitError, UnrepresentableValue: Arrow has no type for a column, or not for a value.
        """
        types = self.schema.struct.types
        arrays = [literal_array([row[place] for row in self.rows], type) for place, type in enumerate(types)]
        carried = pa.Table.from_arrays(arrays, names=[str(place) for place in range(len(types))])
        return arrow.table(carried, self.schema)


@dataclass(frozen=True, slots=True)
class Expected:
    """The result that a plan must have.

    Args:
        schema: the names and types of its columns.
        rows: its records; None where it has to fail while it runs.
        ordered: whether the records must come in this order.
    """

    schema: NamedStruct
    rows: tuple[Row, ...] | None
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Function:
    """The function that a trial is about: its overload, and the options that the call states."""

    urn: str
    name: str
    signature: str
    kind: str
    options: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A plan that is tried on engines.

    Args:
        id: what selects it: the file without its suffix, a colon, and the line or the name.
        suite: ``specification`` or ``ours`` for functions, ``relations``.
        text: the case as it is written.
        rule: the sentence or section of the specification that it checks; empty for cases of functions.
        relation: the root of the plan, whose reads of named tables are those of ``tables``.
        others: trees that it may refer to.
        tables: the tables that it reads, by name.
        expected: its result.
        function: the function that it is about; None for relations.
        subject: the term of the relation that it is about in dialect files; empty for functions.
        control: for a trial that must fail, the one that shows that the engine runs the rest of it; empty for a
            function, where every trial of the same overload does.
        contradiction: why its expected result can't be right, or isn't determined; such a trial isn't run.
    """

    id: str
    suite: str
    text: str
    rule: str = ""
    relation: Relation
    others: tuple[Relation, ...] = ()
    tables: Mapping[str, Table] = field(default_factory=dict)
    expected: Expected
    function: Function | None = None
    subject: str = ""
    control: str = ""
    contradiction: str = ""

    @property
    def area(self) -> str:
        """Return the part of the specification: an extension, or the file of a relation case."""
        if self.function is not None:
            return self.function.urn.rpartition(":")[2].removeprefix("functions_")
        return self.id.partition(":")[0].partition("/")[0]

    def plan(self, *, inline: bool) -> Plan:
        """Return the plan.

        Args:
            inline: whether its tables are in the plan, as virtual tables; else they are named.
        """
        names = self.expected.schema.names
        if not names:
            names = tuple(f"c{place}" for place in range(name_count(self.relation.schema)))
        trees = (*self.others, self.relation)
        if inline:
            trees = mapped(*trees, change=self._inlined)
        return Plan(relations=(*trees[:-1], RelRoot(input=trees[-1], names=names)))

    def _inlined(self, relation: Relation) -> Relation:
        if isinstance(relation, Read) and isinstance(relation.read_type, NamedTable):
            table = self.tables[".".join(relation.read_type.names)]
            return replace(relation, read_type=table.read().read_type)
        return relation
