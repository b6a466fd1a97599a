"""Outer references: their targets, and redirecting them.

Inside a relation, levels count the records that an expression sees: level 0 is the record it is evaluated on, level 1
that of the nearest enclosing query, and so on. The left record of a lateral join is also a level for its right input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError
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
from pyspark_substrait.model.masks import MaskExpression
from pyspark_substrait.model.relations import LateralJoin, Reference, Relation
from pyspark_substrait.model.walk import (
    computed_expressions,
    expression_children,
    subquery_relation,
    with_children,
    with_expressions,
    with_inputs,
    with_query,
)

__all__ = [
    "Subquery",
    "Target",
    "is_closed",
    "outer_fields",
    "own_fields",
    "redirected",
    "redirected_relation",
    "references",
    "relation_references",
    "resolved",
    "uses_parameters",
]

#: The redirection of references: from level and field to level and field.
Target: TypeAlias = Callable[[int, int], tuple[int, int]]

Subquery: TypeAlias = ScalarSubquery | InPredicate | SetPredicate | SetComparison


# by counting ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Frame:
    """An enclosing record: the anchor of its relation, and whether it can only be referred to by an anchor."""

    anchor: int | None
    lateral: bool = False


class _OpenReference(Exception):
    """A shared relation refers out of itself."""


def resolved(node: Relation) -> Relation:
    """Return the relation with every outer reference counted in levels (``steps_out``), lateral ones included.

    A shared relation with references out of itself is inlined at each of its uses.
    """
    return _Resolving().relation(node, ())


class _Resolving:
    def __init__(self) -> None:
        self._shared: dict[int, Relation | None] = {}

    def relation(self, node: Relation, frames: tuple[_Frame, ...], fence: int = 0, closed: bool = False) -> Relation:
        if isinstance(node, Reference):
            return self._reference(node, frames, closed)

        def input(child: Relation) -> Relation:
            return self.relation(child, frames, fence, closed)

        if isinstance(node, LateralJoin):
            beside = (*frames, _Frame(node.common.rel_anchor, lateral=True))
            node = replace(node, left=input(node.left), right=self.relation(node.right, beside, fence, closed))
        else:
            node = with_inputs(node, input)
        own = (*frames, _Frame(node.common.rel_anchor))

        def change(expression: Expression) -> Expression:
            if isinstance(expression, FieldReference) and isinstance(expression.root, OuterReference):
                return replace(expression, root=_counted(expression.root, frames, fence, closed))
            expression = with_children(expression, change)
            if isinstance(expression, Subquery):
                inner = subquery_relation(expression)
                assert inner is not None
                return with_query(expression, self.relation(inner, own, fence, closed))
            return expression

        return with_expressions(node, change)

    def _reference(self, node: Reference, frames: tuple[_Frame, ...], closed: bool) -> Relation:
        key = id(node.subtree)
        if key not in self._shared:
            try:
                self._shared[key] = self.relation(node.subtree, (), closed=True)
            except _OpenReference:
                self._shared[key] = None
        known = self._shared[key]
        if known is None:
            return self.relation(node.subtree, frames, len(frames), closed)
        return replace(node, subtree=known)


def _counted(root: OuterReference, frames: Sequence[_Frame], fence: int, closed: bool) -> OuterReference:
    if root.steps_out is not None:
        inside = [position for position in range(fence, len(frames)) if not frames[position].lateral]
        if not 1 <= root.steps_out <= len(inside):
            raise InvalidPlanError(
                f"the reference goes {root.steps_out} queries out, but there are {len(inside)}",
                hint="In a shared relation, refer to outer records by rel_reference" if fence or closed else None,
            )
        return OuterReference(steps_out=len(frames) - inside[-root.steps_out])
    for position in range(len(frames) - 1, -1, -1):
        if frames[position].anchor == root.rel_reference:
            return OuterReference(steps_out=len(frames) - position)
    if closed:
        raise _OpenReference
    raise InvalidPlanError(f"no enclosing relation has the rel_anchor {root.rel_reference}")


# reading --------------------------------------------------------------------------------------------------------------


def references(node: Expression, depth: int = 0) -> Iterator[tuple[int, int]]:
    """Yield level and field of the references in an expression, without those that stay inside a subquery.

    Args:
        node: the expression.
        depth: the number of levels between the expression and the record that counts as level 0.
    """
    if isinstance(node, FieldReference) and isinstance(node.root, OuterReference):
        steps = node.root.steps_out
        assert steps is not None
        if steps >= depth:
            yield from ((steps - depth, field) for field in _fields(node))
    elif isinstance(node, FieldReference) and isinstance(node.root, RootReference):
        if depth == 0:
            yield from ((0, field) for field in _fields(node))
    else:
        for child in expression_children(node):
            yield from references(child, depth)
        inner = subquery_relation(node)
        if inner is not None:
            yield from relation_references(inner, depth + 1)


def relation_references(node: Relation, depth: int) -> Iterator[tuple[int, int]]:
    """Yield the same for a relation whose expressions are ``depth`` levels inside the record that counts as level 0."""
    for expression in computed_expressions(node):
        yield from references(expression, depth)
    for position, input in enumerate(node.inputs):
        yield from relation_references(input, depth + (isinstance(node, LateralJoin) and position == 1))


def _fields(node: FieldReference) -> list[int]:
    """Return the fields of the record at the start of a reference."""
    if isinstance(node.reference, MaskExpression):
        return [item.field for item in node.reference.select.struct_items]
    if not node.reference or not isinstance(node.reference[0], StructField):
        raise InvalidPlanError("a reference into a record starts with a struct field")
    return [node.reference[0].field]


def is_closed(node: Relation) -> bool:
    """Whether no outer reference leads out of a relation."""
    return next(relation_references(node, 1), None) is None


def outer_fields(node: Relation, level: int = 1) -> set[int]:
    """The fields of an enclosing record that a relation uses; those of the nearest one are at level 1."""
    return {field for found, field in relation_references(node, 1) if found == level - 1}


def own_fields(node: Expression) -> set[int]:
    """Return the fields of its record that an expression uses, also inside subqueries."""
    return {field for level, field in references(node) if level == 0}


def uses_parameters(node: Expression) -> bool:
    """Whether an expression refers to the parameters of an enclosing lambda, also inside a subquery."""
    return _uses_parameters(node, 0)


def _uses_parameters(node: Expression, depth: int) -> bool:
    match node:
        case FieldReference(root=LambdaParameterReference(steps_out=steps)):
            return steps >= depth
        case Lambda(body=body):
            return _uses_parameters(body, depth + 1)
    inner = subquery_relation(node)
    if inner is not None and _relation_uses_parameters(inner, depth):
        return True
    return any(_uses_parameters(child, depth) for child in expression_children(node))


def _relation_uses_parameters(node: Relation, depth: int) -> bool:
    return any(_uses_parameters(item, depth) for item in computed_expressions(node)) or any(
        _relation_uses_parameters(input, depth) for input in node.inputs
    )


# redirecting ----------------------------------------------------------------------------------------------------------


def redirected(node: Expression, target: Target, depth: int = 0) -> Expression:
    """Return the expression with its references redirected by ``target``, except those that stay inside a subquery."""
    if isinstance(node, FieldReference) and isinstance(node.root, OuterReference | RootReference):
        steps = 0 if isinstance(node.root, RootReference) else node.root.steps_out
        assert steps is not None
        return node if steps < depth else _led(node, steps - depth, target, depth)
    node = with_children(node, lambda child: redirected(child, target, depth))
    if isinstance(node, Subquery):
        inner = subquery_relation(node)
        assert inner is not None
        return with_query(node, redirected_relation(inner, target, depth + 1))
    return node


def redirected_relation(node: Relation, target: Target, depth: int) -> Relation:
    """Redirect the references of a relation whose expressions are ``depth`` levels inside the record at level 0."""
    if next(relation_references(node, depth), None) is None:
        return node
    if isinstance(node, LateralJoin):
        left, right = redirected_relation(node.left, target, depth), redirected_relation(node.right, target, depth + 1)
        node = replace(node, left=left, right=right)
    else:
        node = with_inputs(node, lambda input: redirected_relation(input, target, depth))
    return with_expressions(node, lambda expression: redirected(expression, target, depth))


def _led(node: FieldReference, level: int, target: Target, depth: int) -> FieldReference:
    levels = set()
    path = node.reference
    if isinstance(path, MaskExpression):
        items = []
        for item in path.select.struct_items:
            found, field = target(level, item.field)
            levels.add(found)
            items.append(replace(item, field=field))
        path = replace(path, select=replace(path.select, struct_items=tuple(items)))
    else:
        found, field = target(level, _fields(node)[0])
        levels.add(found)
        path = (StructField(field), *path[1:])
    if len(levels) > 1:
        raise UnsupportedPlanError("a mask over a record that is taken apart cannot run on Spark")
    steps = (levels.pop() if levels else level) + depth
    root = OuterReference(steps_out=steps) if steps else RootReference()
    return replace(node, root=root, reference=path)


def shifted(node: Expression, by: int) -> Expression:
    """Return the expression with its references to the relation's own record shifted by ``by`` columns."""
    return redirected(node, lambda level, field: (level, field + by * (level == 0)))


def replaced(
    node: Expression,
    values: Sequence[tuple[Expression, Expression]],
    place: Callable[[int, int], tuple[int, int]],
) -> Expression:
    """Return the expression with values in place of some subqueries, and with its references redirected."""
    for query, value in values:
        if node is query:
            return value
    direct = isinstance(node, FieldReference) and isinstance(node.root, RootReference | OuterReference)
    if direct or isinstance(node, Subquery):
        return redirected(node, place)
    return with_children(node, lambda child: replaced(child, values, place))
