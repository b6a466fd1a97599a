"""The relations of a document, and the queries inside their expressions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pyspark_substrait.model.expressions import (
    AggregateFunction,
    EnumArgument,
    Expression,
    NamedLambdaReference,
    TypeArgument,
)
from pyspark_substrait.model.plan import ExtendedExpression, Plan, RelRoot
from pyspark_substrait.model.relations import (
    Exchange,
    MultiBucketExpression,
    Relation,
    SingleBucketExpression,
    Update,
)
from pyspark_substrait.model.walk import (
    expression_children,
    relation_expressions,
    relations_within,
    subquery_relation,
)

__all__ = ["queries_in", "queries_of", "relations_of"]


def relations_of(document: Plan | ExtendedExpression) -> Iterator[Relation]:
    """Every relation of a document, each once: before its inputs, and these before the queries in its expressions."""
    tops: list[Relation] = []
    if isinstance(document, Plan):
        tops += [tree.input if isinstance(tree, RelRoot) else tree for tree in document.relations]
        tops += queries_in(named.lambda_ for named in document.named_lambdas)
    else:
        tops += queries_in(reference.expr for reference in document.referred_expr)
    return relations_within(*tops, queries=queries_of)


def queries_of(relation: Relation) -> Iterator[Relation]:
    """The queries that stand in the expressions of a relation itself."""
    return queries_in([*relation_expressions(relation), *_further(relation)])


def queries_in(nodes: Iterable[Expression | AggregateFunction]) -> Iterator[Relation]:
    """The queries that stand in expressions, in their order; not those that stand in these."""
    seen: set[int] = set()
    pending: list[Expression] = []
    for node in nodes:
        pending.extend(_arguments(node) if isinstance(node, AggregateFunction) else [node])
    pending.reverse()
    while pending:
        expression = pending.pop()
        if isinstance(expression, NamedLambdaReference):
            if id(expression.lambda_) not in seen:
                seen.add(id(expression.lambda_))
                pending.append(expression.lambda_.lambda_)
            continue
        query = subquery_relation(expression)
        if query is not None:
            yield query
        pending.extend(reversed([*expression_children(expression)]))


def _arguments(node: AggregateFunction) -> list[Expression]:
    found: list[Expression] = [x for x in node.arguments if not isinstance(x, EnumArgument | TypeArgument)]
    return [*found, *(sort.expr for sort in node.sorts)]


def _further(relation: Relation) -> Iterator[Expression]:
    """Expressions that say how records are written or distributed."""
    match relation:
        case Update(transformations=transformations, condition=condition):
            yield from (item.transformation for item in transformations)
            if condition is not None:
                yield condition
        case Exchange(exchange_kind=SingleBucketExpression(expression=node) | MultiBucketExpression(expression=node)):
            yield node
