"""References to records whose distance from the expression isn't known yet.

An expression refers to a record, or to the parameters of a lambda, by a token. When the expression becomes part of a
relation (or lambda), the references to its own records are closed: they become root references, outer references with
the number of subqueries between, or lambda parameter references. The others stay open for an enclosing relation.

A token is a negative ``rel_reference`` of an :class:`OuterReference`, which no finished plan has.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias

from pyspark_substrait.model.expressions import (
    Expression,
    FieldReference,
    InPredicate,
    Lambda,
    LambdaParameterReference,
    OuterReference,
    RootReference,
    ScalarSubquery,
    SetComparison,
    SetPredicate,
    StructField,
)
from pyspark_substrait.model.relations import Relation
from pyspark_substrait.model.types import Type
from pyspark_substrait.model.walk import with_children, with_expressions, with_inputs

__all__ = [
    "beside",
    "closed",
    "new_token",
    "open_reference",
    "open_tokens",
    "open_tokens_of",
    "rewritten",
    "rewritten_relation",
    "with_parameters",
]

#: Replaces an open reference, given its token, the reference, and the numbers of lambdas and subqueries around it.
Change: TypeAlias = Callable[[int, FieldReference, int, int], Expression | None]

_tokens = itertools.count(1)


def new_token() -> int:
    """Return a new, unique token."""
    return next(_tokens)


def open_reference(token: int, position: int | None, type: Type) -> FieldReference:
    """Return an open reference to a column of a record; without a position, to something else by its token."""
    path = () if position is None else (StructField(position),)
    return FieldReference(root=OuterReference(rel_reference=-token), reference=path, type=type)


def rewritten(node: Expression, change: Change, lambdas: int = 0, queries: int = 0) -> Expression:
    """Return the expression with ``change`` applied to its open references, including those inside subqueries."""

    def inside(child: Expression) -> Expression:
        return rewritten(child, change, lambdas, queries)

    def query(relation: Relation) -> Relation:
        return rewritten_relation(relation, change, lambdas, queries + 1)

    match node:
        case FieldReference(root=OuterReference(rel_reference=int(number))) if number < 0:
            found = change(-number, node, lambdas, queries)
            return node if found is None else found
        case Lambda(body=body):
            return replace(node, body=rewritten(body, change, lambdas + 1, queries))
        case ScalarSubquery(input=relation):
            return replace(node, input=query(relation))
        case SetPredicate(tuples=relation):
            return replace(node, tuples=query(relation))
        case InPredicate(needles=needles, haystack=relation):
            return replace(node, needles=tuple(map(inside, needles)), haystack=query(relation))
        case SetComparison(left=left, right=relation):
            return replace(node, left=inside(left), right=query(relation))
        case _:
            return with_children(node, inside)


def rewritten_relation(node: Relation, change: Change, lambdas: int = 0, queries: int = 0) -> Relation:
    """Return the relation with ``change`` applied to the open references in it and in its inputs."""
    below = with_inputs(node, lambda input: rewritten_relation(input, change, lambdas, queries))
    return with_expressions(below, lambda expression: rewritten(expression, change, lambdas, queries))


def closed(expression: Expression, offsets: Mapping[int, int]) -> Expression:
    """Return the expression as part of a relation whose input records have these tokens.

    Args:
        expression: the expression.
        offsets: by token, the position of the first column of that record among the columns of all inputs.
    """

    def change(token: int, node: FieldReference, lambdas: int, queries: int) -> Expression | None:
        offset = offsets.get(token)
        if offset is None:
            return None
        assert isinstance(node.reference, tuple)
        first, *rest = node.reference
        assert isinstance(first, StructField)
        root = RootReference() if queries == 0 else OuterReference(steps_out=queries)
        return replace(node, root=root, reference=(StructField(first.field + offset), *rest))

    return rewritten(expression, change)


def with_parameters(body: Expression, token: int) -> Expression:
    """Return the body of a lambda whose parameters have the token."""

    def change(found: int, node: FieldReference, lambdas: int, queries: int) -> Expression | None:
        return replace(node, root=LambdaParameterReference(lambdas)) if found == token else None

    return rewritten(body, change)


def beside(relation: Relation, token: int, anchor: int) -> Relation:
    """Return the right input of a lateral join whose left record has the token; the join gets the anchor."""

    def change(found: int, node: FieldReference, lambdas: int, queries: int) -> Expression | None:
        return replace(node, root=OuterReference(rel_reference=anchor)) if found == token else None

    return rewritten_relation(relation, change)


def open_tokens(expression: Expression) -> Iterator[int]:
    """Return the tokens of the open references of an expression."""
    found: list[int] = []
    rewritten(expression, lambda token, *_: found.append(token))
    return iter(found)


def open_tokens_of(relation: Relation) -> Iterator[int]:
    """Return the tokens of the open references in a relation."""
    found: list[int] = []
    rewritten_relation(relation, lambda token, *_: found.append(token))
    return iter(found)
