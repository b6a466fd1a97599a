"""The relations of a document, and the subqueries in its expressions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pyspark_substrait.model.expressions import (
    AggregateFunction,
    EnumArgument,
    Expression,
    TypeArgument,
)
from pyspark_substrait.model.plan import ExtendedExpression, Plan
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.walk import (
    relation_expressions,
    relations_within,
    subqueries,
)

__all__ = ["queries_in", "queries_of", "relations_of"]


def relations_of(document: Plan | ExtendedExpression) -> Iterator[Relation]:
    """Return every relation of a document, once: before its inputs, and these before its subqueries."""
    tops: list[Relation] = []
    if isinstance(document, Plan):
        tops += document.trees
        tops += queries_in(named.lambda_ for named in document.named_lambdas)
    else:
        tops += queries_in(reference.expr for reference in document.referred_expr)
    return relations_within(*tops, queries=queries_of)


def queries_of(relation: Relation) -> list[Relation]:
    """Return the subqueries in the expressions of a relation itself."""
    return subqueries(relation_expressions(relation), named_lambdas=True)


def queries_in(nodes: Iterable[Expression | AggregateFunction]) -> list[Relation]:
    """Return the subqueries in expressions, in their order, without those nested in these."""
    found: list[Expression] = []
    for node in nodes:
        found.extend(_arguments(node) if isinstance(node, AggregateFunction) else [node])
    return subqueries(found, named_lambdas=True)


def _arguments(node: AggregateFunction) -> list[Expression]:
    found: list[Expression] = [x for x in node.arguments if not isinstance(x, EnumArgument | TypeArgument)]
    return [*found, *(sort.expr for sort in node.sorts)]
