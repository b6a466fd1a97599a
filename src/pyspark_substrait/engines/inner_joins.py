"""Joins out of a filter over cross products, as the comma of SQL writes them.

Some engines can't take a cross product, or pair the inputs in the order of the plan. The equalities between columns of
two inputs become the conditions of joins, and an input that no equality ties to those before it comes later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyspark_substrait.engines.constructors import BOOLEAN, boolean_call
from pyspark_substrait.model.expressions import (
    EnumArgument,
    Expression,
    FieldReference,
    Function,
    RootReference,
    ScalarFunction,
    StructField,
    TypeArgument,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Cross, Filter, Join, JoinType, Relation, RelCommon

__all__ = [
    "conjunction",
    "conjuncts",
    "disjunction",
    "is_key",
    "left_first",
    "with_inner_joins",
]


def conjuncts(condition: Expression) -> list[Expression]:
    """Return the conditions that must all hold."""
    match condition:
        case ScalarFunction(function=Function(name="and"), arguments=arguments):
            return [
                part
                for item in arguments
                if not isinstance(item, EnumArgument | TypeArgument)
                for part in conjuncts(item)
            ]
        case _:
            return [condition]


def conjunction(conditions: Sequence[Expression]) -> Expression:
    """Return the condition that all of some conditions hold."""
    if len(conditions) == 1:
        return conditions[0]
    return boolean_call(
        Function(BOOLEAN, "and", "bool"), conditions, any(condition.type.nullable for condition in conditions)
    )


def disjunction(conditions: Sequence[Expression]) -> Expression:
    """Return the condition that one of some conditions holds."""
    if len(conditions) == 1:
        return conditions[0]
    return boolean_call(
        Function(BOOLEAN, "or", "bool"), conditions, any(condition.type.nullable for condition in conditions)
    )


def with_inner_joins(node: Filter) -> Relation:
    """Return a filter over cross products as a filter over inner joins, with the same columns in the same order."""
    inputs = _crossed(node.input)
    if len(inputs) < 2:
        return node
    starts = [0]
    for input in inputs:
        starts.append(starts[-1] + len(input.schema.types))
    owner = [number for number, input in enumerate(inputs) for _ in input.schema.types]
    keys: dict[int, tuple[int, int]] = {}
    conditions = conjuncts(node.condition)
    for number, condition in enumerate(conditions):
        columns = _columns(condition)
        if columns is not None and owner[columns[0]] != owner[columns[1]]:
            keys[number] = columns
    if not keys:
        return node

    made, place = inputs[0], {position: position for position in range(starts[1])}
    waiting = list(range(1, len(inputs)))
    while waiting:
        tied = (one for one in waiting if any(_ties(owner, place, one, pair) for pair in keys.values()))
        chosen = next(tied, waiting[0])
        used = [number for number, pair in keys.items() if _ties(owner, place, chosen, pair)]
        width = len(place)
        place |= {starts[chosen] + column: width + column for column in range(starts[chosen + 1] - starts[chosen])}
        right = inputs[chosen]
        if used:
            moved = [_moved(conditions[number], place) for number in used]
            made = Join(left=made, right=right, type=JoinType.INNER, expression=conjunction(moved))
        else:
            made = Cross(left=made, right=right)
        waiting.remove(chosen)
        for number in used:
            del keys[number]
            conditions[number] = Literal(type=conditions[number].type, value=True)
    order = tuple(place[position] for position in range(len(owner)))
    if order != tuple(range(len(owner))):
        made = replace(made, common=RelCommon(emit=order))
    left = [condition for condition in conditions if not (isinstance(condition, Literal) and condition.value is True)]
    if left or not _is_plain(node):
        return replace(node, input=made, condition=conjunction(left or conditions[:1]))
    emit = node.common.emit
    kept = order if emit is None else tuple(order[position] for position in emit)
    return replace(made, common=RelCommon(emit=None if kept == tuple(range(len(owner))) else kept))


def _crossed(node: Relation) -> list[Relation]:
    """Return the inputs of nested cross products."""
    match node:
        case Cross(common=RelCommon(emit=None)) if _is_plain(node):
            return [*_crossed(node.left), *_crossed(node.right)]
        case Join(
            common=RelCommon(emit=None),
            type=JoinType.INNER,
            expression=Literal(value=True),
            post_join_filter=None,
        ) if _is_plain(node):
            return [*_crossed(node.left), *_crossed(node.right)]
        case _:
            return [node]


def _is_plain(node: Filter | Cross | Join) -> bool:
    """Whether nothing but an emit is stated beside what a relation does."""
    return replace(node.common, emit=None) == RelCommon() and node.advanced_extension is None


def _columns(condition: Expression) -> tuple[int, int] | None:
    """Return the positions of two columns that must be equal."""
    match condition:
        case ScalarFunction(
            function=Function(name="equal"),
            arguments=(
                FieldReference(root=RootReference(), reference=(StructField(field=one),)),
                FieldReference(root=RootReference(), reference=(StructField(field=other),)),
            ),
        ):
            return one, other
        case _:
            return None


def _ties(owner: Sequence[int], place: dict[int, int], input: int, pair: tuple[int, int]) -> bool:
    """Whether an equality is one of a column of an input and one of the inputs before."""
    one, other = pair
    return (owner[one] == input and other in place) or (owner[other] == input and one in place)


def _moved(condition: Expression, place: dict[int, int]) -> Expression:
    """Return an equality of two columns that have other positions."""
    columns = _columns(condition)
    assert columns is not None and isinstance(condition, ScalarFunction)
    arguments = tuple(
        replace(argument, reference=(StructField(place[position]),))
        for argument, position in zip(condition.arguments, columns, strict=True)
        if isinstance(argument, FieldReference)
    )
    return replace(condition, arguments=arguments)


def left_first(condition: Expression, width: int) -> Expression:
    """Return a condition; in an equality of two columns, that of the left input comes first."""
    match condition:
        case ScalarFunction(
            function=Function(name="equal" | "is_not_distinct_from"),
            arguments=(
                FieldReference(root=RootReference(), reference=(StructField(field=one),)) as first,
                FieldReference(root=RootReference(), reference=(StructField(field=other),)) as second,
            ),
        ) if other < width <= one:
            return replace(condition, arguments=(second, first))
        case _:
            return condition


def is_key(condition: Expression, width: int) -> bool:
    """Whether a condition is an equality between a column of the left input and one of the right."""
    match condition:
        case ScalarFunction(
            function=Function(name="equal" | "is_not_distinct_from"),
            arguments=(
                FieldReference(root=RootReference(), reference=(StructField(field=one),)),
                FieldReference(root=RootReference(), reference=(StructField(field=other),)),
            ),
        ):
            return one < width <= other
        case _:
            return False
