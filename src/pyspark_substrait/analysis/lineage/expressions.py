"""The columns that an expression depends on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from pyspark_substrait.analysis.lineage.relations import Columns, Kind, Use
from pyspark_substrait.analysis.lineage.traversal import Site
from pyspark_substrait.model.expressions import (
    EnumArgument,
    Expression,
    FieldReference,
    Following,
    LambdaParameterReference,
    NamedLambdaReference,
    NestedStruct,
    OuterReference,
    Preceding,
    PredicateOp,
    ReferenceSegment,
    RootReference,
    SetPredicate,
    StructField,
    TypeArgument,
    WindowFunction,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.masks import MaskExpression
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.walk import expression_children, subquery_relation

__all__ = ["Dependencies", "Record", "Surroundings", "dependencies"]


class Dependencies(NamedTuple):
    """The nodes whose values something is computed from, and those that it depends on in other ways."""

    values: tuple[int, ...]
    conditions: tuple[int, ...]

    def every(self) -> tuple[int, ...]:
        """Return both, values first."""
        return (*self.values, *self.conditions)


class Record(NamedTuple):
    """The nodes that field references resolve to.

    Args:
        known: for each position, the nodes of its column.
        beyond: the nodes that any later position may mean.
    """

    known: Sequence[tuple[int, ...]]
    beyond: tuple[int, ...]

    @classmethod
    def of(cls, inputs: Sequence[Columns]) -> Record:
        """Return the columns of several relations in a row; positions after one with unknown columns are unknown."""
        known: list[tuple[int, ...]] = []
        for position, input in enumerate(inputs):
            if input.pool is not None:
                return cls(known, tuple(node for item in inputs[position:] for node in item.every()))
            known.extend((node,) for node in input.ports)
        return cls(known, ())

    def at(self, position: int) -> tuple[int, ...]:
        """Return the nodes of a column; none if it doesn't exist."""
        return self.known[position] if 0 <= position < len(self.known) else self.beyond

    def referred(self, reference: tuple[ReferenceSegment, ...] | MaskExpression) -> Iterable[int]:
        """Return the nodes of the columns that a reference uses."""
        match reference:
            case (StructField(field=position), *_):
                return self.at(position)
            case MaskExpression(select=select):
                return [node for item in select.struct_items for node in self.at(item.field)]
            case _:
                return [*(node for nodes in self.known for node in nodes), *self.beyond]


class Surroundings(Protocol):
    """The surroundings that expressions can refer to."""

    def record(self, site: Site) -> Record:
        """Return the record that an expression of a relation sees."""

    def query(self, relation: Relation) -> Columns | None:
        """Return the columns of a subquery."""

    def steps_out(self, number: int, steps: int) -> frozenset[Site]:
        """Return the places that many subquery boundaries around a relation; several for a shared relation."""

    def anchored(self, number: int, anchor: int) -> frozenset[Site]:
        """Return the places around a relation that an anchor means."""


def dependencies(around: Surroundings, number: int, uses: Iterable[Use]) -> Dependencies:
    """Return the columns that expressions of a relation depend on, each once; a value isn't repeated as a condition."""
    values: dict[int, None] = {}
    conditions: dict[int, None] = {}
    for use in uses:
        site = Site(number, use.place)
        seen: set[tuple[int, Kind]] = set()
        pending: list[tuple[Expression, Kind]] = [(use.expression, use.kind)]
        while pending:
            current, kind = pending.pop()
            if isinstance(current, Literal) or (id(current), kind) in seen:
                continue
            seen.add((id(current), kind))
            into = values if kind is Kind.VALUE else conditions
            into.update(dict.fromkeys(_directly(around, site, current)))
            pending.extend(reversed([*_inside(current, kind)]))
    return Dependencies(tuple(values), tuple(node for node in conditions if node not in values))


def _directly(around: Surroundings, site: Site, expression: Expression) -> Iterable[int]:
    """Return the nodes that an expression refers to itself, without those of its subexpressions."""
    match expression:
        case FieldReference(root=RootReference(), reference=reference):
            return around.record(site).referred(reference)
        case FieldReference(root=OuterReference(steps_out=steps, rel_reference=anchor), reference=reference):
            number = site.relation
            sites = around.steps_out(number, steps or 0) if anchor is None else around.anchored(number, anchor)
            return [node for found in sorted(sites, key=_key) for node in around.record(found).referred(reference)]
        case SetPredicate(predicate_op=PredicateOp.EXISTS, tuples=relation):
            # its columns don't count: EXISTS depends on what decides which records there are
            columns = around.query(relation)
            return () if columns is None or columns.records is None else (columns.records,)
        case _:
            query = subquery_relation(expression)
            columns = None if query is None else around.query(query)
            return () if columns is None else columns.every()


def _key(site: Site) -> tuple[int, str]:
    return site.relation, site.place.value


def _inside(expression: Expression, kind: Kind) -> Iterable[tuple[Expression, Kind]]:
    """Return the subexpressions of an expression, and how its value depends on each."""
    match expression:
        case FieldReference(root=RootReference() | OuterReference() | LambdaParameterReference()):
            return
        case FieldReference(root=NestedStruct(fields=fields), reference=(StructField(field=field), *_)):
            yield from ((item, kind) for item in fields[max(field, 0) : field + 1])
        case NamedLambdaReference(lambda_=named):
            yield named.lambda_.body, kind
        case WindowFunction(arguments=arguments):
            yield from ((item, kind) for item in arguments if not isinstance(item, EnumArgument | TypeArgument))
            beside = [sort.expr for sort in expression.sorts]
            bounds = (expression.lower_bound, expression.upper_bound)
            beside += [bound.offset for bound in bounds if isinstance(bound, Preceding | Following)]
            yield from ((item, Kind.CONDITION) for item in (*expression.partitions, *beside))
        case _:
            yield from ((item, kind) for item in expression_children(expression))
