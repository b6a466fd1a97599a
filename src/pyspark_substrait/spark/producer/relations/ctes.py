"""Translate common table expressions: inlined at their use, or as a relation tree that others refer to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.relations import Reference
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.relations import relation
from pyspark_substrait.spark.producer.scope import CommonTable, Output, Production, Scope, columns_of

__all__ = ["FORMS"]


def with_ctes(node: Node, production: Production, outer: Scope | None) -> Output:
    """``WithCTE``: register its definitions for their uses, and translate its plan."""
    uses: dict[int, int] = {}
    for number in _referred(node):
        uses[number] = uses.get(number, 0) + 1
    around = {column.id for scope in _outwards(outer) for column in scope.columns}
    for definition in node.listed("cteDefs"):
        number = int(definition.value("id"))
        shared = uses.get(number, 0) > 1 and not (around and around & set(_outer_columns(definition)))
        production.definitions[number] = CommonTable(definition.children[0], shared)
    return relation(node.child("plan"), production, outer)


def reference(node: Node, production: Production, outer: Scope | None) -> Output:
    """``CTERelationRef``: a reference to a tree with several uses; a definition with a single use is inlined.

    A definition that refers to columns of an enclosing query is inlined at each use, as in Spark itself.
    """
    number = int(node.value("cteId"))
    if node.value("recursive"):
        raise _recursive()
    definition = production.definitions[number]
    if not definition.shared:
        found = relation(definition.query, production, outer)
        return Output(found.relation, columns_of(node))
    if number not in production.shared:
        found = relation(definition.query, production)
        production.shared[number] = (len(production.trees), found.columns)
        production.trees.append(found.relation)
    ordinal, _ = production.shared[number]
    return Output(Reference(subtree_ordinal=ordinal, subtree=production.trees[ordinal]), columns_of(node))


def recursive(node: Node, production: Production, outer: Scope | None) -> Output:
    """``UnionLoop`` and ``UnionLoopRef``, of a recursive common table expression."""
    raise _recursive()


def _recursive() -> UnsupportedPlanError:
    return UnsupportedPlanError(
        "a recursive common table expression (WITH RECURSIVE) has no Substrait form",
        hint="Run it in Spark and make the plan of its result, a table",
    )


def _outwards(scope: Scope | None) -> Iterator[Scope]:
    while scope is not None:
        yield scope
        scope = scope.outer


def _referred(node: Node) -> Iterator[int]:
    """Yield the id of every use of a common table expression, including those in subqueries."""
    for item in _below(node):
        if item["class"].endswith(".CTERelationRef"):
            yield int(item["cteId"])


def _outer_columns(node: Node) -> Iterator[int]:
    """Yield the ids of the columns in outer references below a node."""
    for item in _below(node):
        if item["class"].endswith(".OuterReference"):
            yield from (int(inner["exprId"]["id"]) for inner in item["e"] if "exprId" in inner)


def _below(node: Node) -> Iterator[Any]:
    """Yield the JSON object of each node of a tree, including the trees in their fields."""
    for item in node.walk():
        yield from _nodes_in(item.fields)


def _nodes_in(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        if "num-children" in value:
            yield value
        for inner in value.values():
            if isinstance(inner, dict | list):
                yield from _nodes_in(inner)
    elif isinstance(value, list):
        for inner in value:
            if isinstance(inner, dict | list):
                yield from _nodes_in(inner)


FORMS: Final = {
    "WithCTE": with_ctes,
    "CTERelationRef": reference,
    "UnionLoop": recursive,
    "UnionLoopRef": recursive,
}
