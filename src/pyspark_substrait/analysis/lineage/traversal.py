"""The relations of a document, their order, and the queries around each of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple, TypeAlias

from pyspark_substrait.model.expressions import AggregateFunction, EnumArgument, Expression, TypeArgument
from pyspark_substrait.model.fields import Over
from pyspark_substrait.model.plan import ExtendedExpression, Plan, RelRoot
from pyspark_substrait.model.relations import Reference, Relation
from pyspark_substrait.model.walk import placed_expressions, subqueries

__all__ = ["BASE_SCHEMA", "PLACES", "Order", "Place", "Site", "inputs_of", "measure_expressions", "ordered"]

#: The relation number that stands for the base schema of an extended expression.
BASE_SCHEMA: Final = -1


class Place(Enum):
    """The record of a relation that an expression sees.

    INPUT: the columns of its inputs, or of its table. OUTPUT: its columns before emit. LEFT, RIGHT: the columns of one
    input of a join. NONE: no record.
    """

    INPUT = "input"
    OUTPUT = "output"
    LEFT = "left"
    RIGHT = "right"
    NONE = "none"


#: The places of the expressions of a relation.
PLACES: Final = {
    Over.INPUT: Place.INPUT,
    Over.TABLE: Place.INPUT,
    Over.LEFT: Place.LEFT,
    Over.RIGHT: Place.RIGHT,
    Over.OUTPUT: Place.OUTPUT,
    Over.NOTHING: Place.NONE,
}


class Site(NamedTuple):
    """The place of a subquery: an expression of this relation that sees this record."""

    relation: int
    place: Place


class _Inside(Enum):
    """The role of a relation in another one: an input, or the subtree of a reference, which sees nothing around it."""

    INPUT = "input"
    SUBTREE = "subtree"


_Edge: TypeAlias = "tuple[Relation, Site | _Inside]"
_NOTHING: Final[frozenset[Site]] = frozenset()


@dataclass(slots=True)
class Order:
    """The relations of a document.

    Args:
        relations: each once, in the order of a depth-first walk: a relation, then its inputs, then its subqueries.
        numbers: the position of each in ``relations``, by identity.
        bottom_up: the same positions, with every relation after its inputs and subqueries.
        around: for each relation, the place of the query that it is part of; several places for a shared relation.
        holding: the places of each relation that hold subqueries.
    """

    relations: list[Relation] = field(default_factory=list)
    numbers: dict[int, int] = field(default_factory=dict)
    bottom_up: list[int] = field(default_factory=list)
    around: list[frozenset[Site]] = field(default_factory=list)
    holding: dict[int, set[Place]] = field(default_factory=dict)
    _derived: int = 0

    def derive(self, last: int | None = None) -> None:
        """Derive the schemas and names of relations, each after those below it, so that no derivation recurses deeply.

        With ``last``, stop before that one. A relation that contradicts itself has no schema.
        """
        while self._derived < len(self.bottom_up) and self.bottom_up[self._derived] != last:
            relation = self.relations[self.bottom_up[self._derived]]
            with suppress(Exception):
                _ = relation.schema
            with suppress(Exception):
                _ = relation.names
            self._derived += 1

    def number(self, relation: Relation) -> int | None:
        """Return the position of a relation; None if it isn't in this document."""
        return self.numbers.get(id(relation))


def inputs_of(relation: Relation) -> tuple[Relation, ...]:
    """Return the relations whose columns a relation sees: its inputs, or the subtree of a reference."""
    return (relation.subtree,) if isinstance(relation, Reference) else relation.inputs


def ordered(document: Plan | ExtendedExpression) -> Order:
    """Return the relations of a document, including those of subqueries and of named lambdas."""
    order = Order()
    inside: list[list[tuple[int, Site | _Inside]]] = []

    def enter(relation: Relation) -> tuple[int, Iterator[_Edge]]:
        number = len(order.relations)
        order.relations.append(relation)
        order.numbers[id(relation)] = number
        inside.append([])
        return number, _edges(relation, number)

    for top in _tops(document):
        if id(top) in order.numbers:
            continue
        stack = [enter(top)]
        while stack:
            number, edges = stack[-1]
            for child, how in edges:
                known = order.numbers.get(id(child))
                inside[number].append((len(order.relations) if known is None else known, how))
                if known is None:
                    stack.append(enter(child))
                    break
            else:
                order.bottom_up.append(number)
                stack.pop()
    _surround(order, inside, document)
    return order


def _tops(document: Plan | ExtendedExpression) -> Iterator[Relation]:
    if isinstance(document, ExtendedExpression):
        for reference in document.referred_expr:
            for expression in measure_expressions(reference.expr):
                yield from subqueries((expression,), named_lambdas=True)
        return
    for tree in document.relations:
        yield tree.input if isinstance(tree, RelRoot) else tree
    for named in document.named_lambdas:
        yield from subqueries((named.lambda_,), named_lambdas=True)


def _surround(
    order: Order, inside: list[list[tuple[int, Site | _Inside]]], document: Plan | ExtendedExpression
) -> None:
    """Set what is around each relation, from the top down, so that the surroundings of a relation are known first."""
    found: list[list[frozenset[Site]]] = [[] for _ in order.relations]
    if isinstance(document, ExtendedExpression):
        at_the_top = frozenset({Site(BASE_SCHEMA, Place.INPUT)})
        for top in _tops(document):
            found[order.numbers[id(top)]].append(at_the_top)
    order.around = [_NOTHING] * len(order.relations)
    for number in reversed(order.bottom_up):
        here = found[number]
        # nearly always all are the same set, which is then shared, as there may be many relations
        order.around[number] = around = (
            _NOTHING if not here else here[0] if all(item is here[0] for item in here) else frozenset().union(*here)
        )
        for child, how in inside[number]:
            if isinstance(how, Site):
                found[child].append(frozenset({how}))
                order.holding.setdefault(how.relation, set()).add(how.place)
            elif how is _Inside.INPUT:
                found[child].append(around)


def _edges(relation: Relation, number: int) -> Iterator[_Edge]:
    """Return the relations directly inside one."""
    for input in inputs_of(relation):
        yield input, _Inside.SUBTREE if isinstance(relation, Reference) else _Inside.INPUT
    for expression, over in placed_expressions(relation):
        for query in subqueries((expression,), named_lambdas=True):
            yield query, Site(number, PLACES[over])


def measure_expressions(expression: Expression | AggregateFunction) -> Iterator[Expression]:
    """Return the expression itself, or the arguments and the sort fields of a measure."""
    if not isinstance(expression, AggregateFunction):
        yield expression
        return
    yield from (item for item in expression.arguments if not isinstance(item, EnumArgument | TypeArgument))
    yield from (sort.expr for sort in expression.sorts)
