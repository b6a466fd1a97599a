"""Small plans over tables of single letters, and lineage in a short form.

A column is written as the letter of its table and its position: ``a1``. ``~a1`` is depended on as on a condition.
"""

from __future__ import annotations

from pyspark_substrait.analysis.lineage import Kind, Lineage, Port
from pyspark_substrait.model import expressions as e
from pyspark_substrait.model import relations as r
from pyspark_substrait.model import types as t
from pyspark_substrait.model.expressions import Expression, FieldReference, Function, StructField
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.plan import Plan
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.types import NamedStruct, Struct

FUNCTION = Function("extension:org.example:any", "f", "any")
ONE = Literal(type=t.I64(), value=1)


def table(name: str, width: int = 3, **parts: object) -> r.Read:
    """A read of a table whose columns are called x0, x1, …"""
    schema = NamedStruct(names=tuple(f"x{n}" for n in range(width)), struct=Struct(types=(t.I64(),) * width))
    return r.Read(base_schema=schema, read_type=r.NamedTable(names=(name,)), **parts)  # type: ignore[arg-type]


def col(position: int) -> FieldReference:
    """A column of the record."""
    return FieldReference(root=e.RootReference(), reference=(StructField(position),), type=t.I64())


def outer(position: int, *, steps: int | None = None, anchor: int | None = None) -> FieldReference:
    """A column of a record around the query."""
    root = e.OuterReference(steps_out=steps, rel_reference=anchor)
    return FieldReference(root=root, reference=(StructField(position),), type=t.I64())


def f(*arguments: Expression) -> e.ScalarFunction:
    """Some function of some values."""
    type = t.Boolean()
    return e.ScalarFunction(function=FUNCTION, arguments=arguments, output_type=type, derived_type=type)


def measure(*arguments: Expression, **parts: object) -> e.AggregateFunction:
    """Some aggregate of some values."""
    types = {"output_type": t.I64(), "derived_type": t.I64()}
    return e.AggregateFunction(function=FUNCTION, arguments=arguments, **types, **parts)  # type: ignore[arg-type]


def by(*expressions: Expression) -> tuple[e.SortField, ...]:
    """Sort fields."""
    return tuple(e.SortField(expr=item, sort_kind=e.SortDirection.ASC_NULLS_LAST) for item in expressions)


def emit(*positions: int) -> r.RelCommon:
    """The common part of a relation that puts out these."""
    return r.RelCommon(emit=positions)


def plan(*relations: Relation) -> Plan:
    """A plan of trees."""
    return Plan(relations=relations)


def short(lineage: Lineage, port: Port) -> str:
    """A column in the short form; ``?`` stands for a relation that reads no table."""
    number, position = port
    relation = None if number < 0 else lineage.relations[number]
    named = isinstance(relation, r.Read) and isinstance(relation.read_type, r.NamedTable)
    return f"{relation.read_type.names[0] if named else '?'}{position}"  # type: ignore[union-attr]


def columns_of(lineage: Lineage, relation: Relation) -> list[set[str]]:
    """What each column of a relation is directly made of."""
    return [
        {("" if origin.kind is Kind.VALUE else "~") + short(lineage, origin.port) for origin in lineage.origins(port)}
        for port in lineage.ports(lineage.number(relation))
    ]


def conditions_of(lineage: Lineage, relation: Relation) -> set[str]:
    """What decides which records a relation puts out."""
    return {short(lineage, port) for port in lineage.conditions(lineage.number(relation))}
