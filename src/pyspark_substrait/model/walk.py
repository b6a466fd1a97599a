"""Walking and rewriting trees: the expressions and relations in a node, and the node rebuilt with others.

All of it follows from the fields of the nodes (:mod:`~pyspark_substrait.model.fields`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Final, TypeVar

from pyspark_substrait.model.expressions import (
    DetachedExpression,
    EnumArgument,
    Expression,
    FieldReference,
    NamedLambdaReference,
    OuterReference,
    RootReference,
    ScalarFunction,
    StructField,
    TypeArgument,
    WindowFunction,
)
from pyspark_substrait.model.fields import (
    EXPRESSIONS,
    PLACED_EXPRESSIONS,
    RELATIONS,
    WITH_EXPRESSIONS,
    WITH_RELATIONS,
    Over,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Ddl, Read, Reference, Relation, Update, VirtualTable, Write

__all__ = [
    "all_expressions",
    "computed_expressions",
    "expression_children",
    "expressions_within",
    "holds_query",
    "holds_window",
    "is_outer_reference",
    "mapped",
    "placed_expressions",
    "refers_out",
    "relation_expressions",
    "relation_subqueries",
    "relations_within",
    "root_fields",
    "subqueries",
    "subquery_relation",
    "with_children",
    "with_expressions",
    "with_inputs",
    "with_queries",
    "with_query",
    "writes",
]

_E = TypeVar("_E", bound=Expression)
_R = TypeVar("_R", bound=Relation)


def subquery_relation(expression: Expression) -> Relation | None:
    """The relation inside a subquery expression; None for every other expression."""
    found: tuple[Relation, ...] = RELATIONS[expression.__class__](expression)
    return found[0] if found else None


def expression_children(expression: Expression) -> tuple[Expression, ...]:
    """The expressions directly inside an expression, in order.

    They don't include the expressions of a subquery's relation, the values of a switch, which are literals, or the body
    of a lambda that the plan defines by name.
    """
    return EXPRESSIONS[expression.__class__](expression)


def relation_expressions(relation: Relation) -> tuple[Expression, ...]:
    """The expressions directly in a relation, without those of its inputs, in order."""
    return EXPRESSIONS[relation.__class__](relation)


def computed_expressions(relation: Relation) -> tuple[Expression, ...]:
    """The :func:`relation_expressions` without the literals of a virtual table that is held by column.

    Making these takes long, and they have nothing inside them.
    """
    if not isinstance(relation, Read) or not isinstance(relation.read_type, VirtualTable):
        return relation_expressions(relation)
    if relation.read_type.columns is None:
        return relation_expressions(relation)
    return tuple(item for item in (relation.filter, relation.best_effort_filter) if item is not None)


def placed_expressions(relation: Relation) -> tuple[tuple[Expression, Over], ...]:
    """The :func:`relation_expressions`, each with the record over which it is computed."""
    return PLACED_EXPRESSIONS[relation.__class__](relation)


def with_children(node: _E, change: Callable[[Expression], Expression]) -> _E:
    """The expression with ``change`` applied to each of its :func:`expression_children`.

    Raises:
        TypeError: a lambda that is invoked became something else.
    """
    made: _E = WITH_EXPRESSIONS[node.__class__](node, change)
    return made


def with_expressions(node: _R, change: Callable[[Expression], Expression]) -> _R:
    """The relation with ``change`` applied to each of its :func:`relation_expressions`.

    Raises:
        TypeError: a key that must be a reference to a field, or a default value that must be a literal, became
            something else.
    """
    made: _R = WITH_EXPRESSIONS[node.__class__](node, change)
    return made


def with_inputs(node: _R, change: Callable[[Relation], Relation]) -> _R:
    """The relation with ``change`` applied to each of its inputs. The subtree of a reference isn't an input."""
    made: _R = WITH_RELATIONS[node.__class__](node, change)
    return made


def with_query(node: _E, query: Relation) -> _E:
    """The subquery expression over another relation; every other expression unchanged."""
    made: _E = WITH_RELATIONS[node.__class__](node, lambda _: query)
    return made


def with_queries(node: _E, change: Callable[[Relation], Relation]) -> _E:
    """The expression with ``change`` applied to the relation of each subquery in it, not to those within these."""
    node = with_children(node, lambda child: with_queries(child, change))
    query = subquery_relation(node)
    return node if query is None else with_query(node, change(query))


def mapped(*trees: Relation, change: Callable[[Relation], Relation]) -> tuple[Relation, ...]:
    """The trees with ``change`` applied to each of their relations, from the innermost out.

    It is called once for each relation, in inputs, subqueries and the subtrees of references. Two places that have the
    same relation have the same one afterwards.
    """
    made: dict[int, Relation] = {}

    def relation(node: Relation) -> Relation:
        if id(node) not in made:
            if isinstance(node, Reference):
                made[id(node)] = replace(node, subtree=relation(node.subtree))
            else:
                made[id(node)] = change(with_expressions(with_inputs(node, relation), expression))
        return made[id(node)]

    def expression(node: Expression) -> Expression:
        node = with_children(node, expression)
        query = subquery_relation(node)
        return node if query is None else with_query(node, relation(query))

    return tuple(map(relation, trees))


def expressions_within(expressions: Iterable[Expression], *, named_lambdas: bool = False) -> Iterator[Expression]:
    """Yield the expressions and all expressions inside them, outer ones first, without those of subqueries' relations.

    Args:
        expressions: where to start.
        named_lambdas: whether to visit the lambdas that the plan defines by name, each once.

    A detached expression is visited once, however often it is referred to.
    """
    seen: set[int] = set()
    pending = [*expressions][::-1]
    while pending:
        current = pending.pop()
        yield current
        # most are one of these three
        if isinstance(current, ScalarFunction):
            arguments = reversed(current.arguments)
            pending += [item for item in arguments if not isinstance(item, EnumArgument | TypeArgument)]
        elif isinstance(current, Literal):
            continue
        elif isinstance(current, DetachedExpression):
            if id(current.expression) not in seen:  # it may be used several times
                seen.add(id(current.expression))
                pending.append(current.expression)
        elif isinstance(current, NamedLambdaReference):
            if named_lambdas and id(current.lambda_) not in seen:
                seen.add(id(current.lambda_))
                pending.append(current.lambda_.lambda_)
        else:
            pending += expression_children(current)[::-1]


def subqueries(expressions: Iterable[Expression], *, named_lambdas: bool = False) -> list[Relation]:
    """The relations of the subqueries in expressions, in order, without those nested in these relations.

    Args:
        expressions: the expressions to search.
        named_lambdas: whether to visit the lambdas that the plan defines by name.
    """
    found: list[Relation] = []
    for current in expressions_within(expressions, named_lambdas=named_lambdas):
        found += RELATIONS[current.__class__](current)
    return found


def holds_query(expression: Expression) -> bool:
    """Whether an expression contains a subquery."""
    return bool(subqueries((expression,)))


def relation_subqueries(relation: Relation) -> tuple[Relation, ...]:
    """The relations of the subqueries directly in a relation, as :func:`subqueries`; cached on the relation."""
    kept: tuple[Relation, ...] | None = vars(relation).get(_SUBQUERIES)
    if kept is None:
        kept = vars(relation)[_SUBQUERIES] = tuple(subqueries(computed_expressions(relation)))
    return kept


#: the attribute in which a relation caches its subqueries; no field has this name
_SUBQUERIES: Final = "subqueries of its expressions"


def relations_within(
    *trees: Relation, queries: Callable[[Relation], Iterable[Relation]] = relation_subqueries
) -> Iterator[Relation]:
    """Yield the relations of some trees, each once: first itself, then its inputs, then its subqueries and references.

    Args:
        trees: the trees, in this order.
        queries: returns the subqueries directly in a relation.
    """
    seen: set[int] = set()
    pending = list(reversed(trees))
    while pending:
        node = pending.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        below = [*node.inputs, *queries(node)]
        if isinstance(node, Reference):
            below.append(node.subtree)
        pending.extend(reversed(below))


def all_expressions(*trees: Relation, named_lambdas: bool = False) -> Iterator[Expression]:
    """The :func:`computed_expressions` of all :func:`relations_within` some trees, and all expressions inside them.

    Args:
        trees: the trees.
        named_lambdas: whether to visit the lambdas that the plan defines by name.
    """

    def queries(relation: Relation) -> list[Relation]:
        return subqueries(computed_expressions(relation), named_lambdas=True)

    for relation in relations_within(*trees, queries=queries if named_lambdas else relation_subqueries):
        yield from expressions_within(computed_expressions(relation), named_lambdas=named_lambdas)


def refers_out(*trees: Relation) -> bool:
    """Whether trees contain an outer reference; one to a query inside them counts, too."""
    return any(map(is_outer_reference, all_expressions(*trees)))


def is_outer_reference(expression: Expression) -> bool:
    """Whether an expression is a reference to the record of an enclosing query."""
    return isinstance(expression, FieldReference) and isinstance(expression.root, OuterReference)


def holds_window(expression: Expression) -> bool:
    """Whether an expression contains a window function, subqueries aside."""
    return any(isinstance(item, WindowFunction) for item in expressions_within((expression,)))


def root_fields(expression: Expression) -> set[int] | None:
    """The columns of the record that an expression refers to.

    None if unknown: a subquery may refer to any of them from inside.
    """
    fields: set[int] = set()
    pending = [expression]
    while pending:
        current = pending.pop()
        if subquery_relation(current) is not None:
            return None
        match current:
            case FieldReference(root=RootReference(), reference=(StructField(field=field), *_)):
                fields.add(field)
            case FieldReference(root=RootReference()):
                return None
            case _:
                pending.extend(expression_children(current))
    return fields


def writes(relation: Relation) -> bool:
    """Whether a relation, or one below it or in a subtree that it refers to, changes a table; subqueries aside."""
    found = relations_within(relation, queries=lambda _: ())
    return any(isinstance(item, Write | Update | Ddl) for item in found)
