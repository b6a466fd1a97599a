"""Translate set operations and the removal of duplicates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.extensions.calls import resolved
from pyspark_substrait.model.expressions import BoundsType, Cast, Expression, FailureBehavior, WindowFunction
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Aggregate, Fetch, Filter, Grouping, Project, Relation, Set, SetOp
from pyspark_substrait.model.types import I64, List, Map, Struct, Type, concrete, with_nullability
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.expressions.normalizing import normal
from pyspark_substrait.spark.producer.relations import relation
from pyspark_substrait.spark.producer.relations.columns import projected
from pyspark_substrait.spark.producer.scope import Output, Production, Scope, field_of, references, urn_of

__all__ = ["FORMS"]


def union(node: Node, production: Production, outer: Scope | None) -> Output:
    """``Union``: UNION ALL, with duplicates."""
    return _combined(tuple(_united(node, "Union")), SetOp.UNION_ALL, production, outer)


def distinct(node: Node, production: Production, outer: Scope | None) -> Output:
    """``Distinct``; over a union, UNION DISTINCT."""
    below = node.children[0]
    if below.name == "Union":
        return _combined(tuple(_united(below, "Distinct")), SetOp.UNION_DISTINCT, production, outer)
    found = relation(below, production, outer)
    return Output(_different(found.relation), found.columns)


def _united(node: Node, above: str) -> Iterator[Node]:
    """Yield the members of a union, with nested unions flattened."""
    for member in node.children:
        if member.name == "Union":
            yield from _united(member, above)
        elif above == "Distinct" and member.name == "Distinct" and member.children[0].name == "Union":
            yield from _united(member.children[0], above)
        else:
            yield member


def intersect(node: Node, production: Production, outer: Scope | None) -> Output:
    """``Intersect``, ALL or not."""
    op = SetOp.INTERSECTION_MULTISET_ALL if node.value("isAll") else SetOp.INTERSECTION_MULTISET
    return _combined(node.children, op, production, outer)


def except_(node: Node, production: Production, outer: Scope | None) -> Output:
    """``Except``, ALL or not."""
    op = SetOp.MINUS_PRIMARY_ALL if node.value("isAll") else SetOp.MINUS_PRIMARY
    return _combined(node.children, op, production, outer)


def _combined(nodes: Sequence[Node], op: SetOp, production: Production, outer: Scope | None) -> Output:
    members = [relation(member, production, outer) for member in nodes]
    if len(members) == 1:
        only = members[0].relation
        return Output(_different(only) if op is SetOp.UNION_DISTINCT else only, members[0].columns)
    schemas = [member.relation.schema for member in members]
    types = [_merged([schema.types[position] for schema in schemas]) for position in range(len(schemas[0].types))]
    relations = tuple(_of_types(member.relation, types) for member in members)
    return Output(Set(members=relations, op=op), members[0].columns)


def _of_types(member: Relation, types: Sequence[Type]) -> Relation:
    """Cast the columns of a member to the merged types, in which nested values are nullable if any member's are."""
    values: list[Expression] = []
    for value, type in zip(references(member), types, strict=True):
        wanted = with_nullability(type, value.type.nullable)
        changed = wanted != value.type
        values.append(
            Cast(type=wanted, input=value, failure_behavior=FailureBehavior.THROW_EXCEPTION) if changed else value
        )
    return projected(member, values)


def _merged(types: Sequence[Type]) -> Type:
    """Merge types that differ only in nullability: a part is nullable if it is so in any of them."""
    first, nullable = concrete(types[0]), any(type.nullable for type in types)
    match first:
        case List():
            inner = _merged([type.type for type in map(concrete, types) if isinstance(type, List)])
            return List(type=inner, nullable=nullable)
        case Map(key=key):
            value = _merged([type.value for type in map(concrete, types) if isinstance(type, Map)])
            return Map(key=key, value=value, nullable=nullable)
        case Struct(types=fields):
            structs = [type for type in map(concrete, types) if isinstance(type, Struct)]
            merged = tuple(_merged([type.types[position] for type in structs]) for position in range(len(fields)))
            return Struct(types=merged, nullable=nullable)
        case _:
            return with_nullability(types[0], nullable)


def _different(input: Relation) -> Relation:
    """Remove duplicate records."""
    keys = references(input)
    if not keys:  # all records are equal
        return Fetch(input=input, count_expr=Literal(type=I64(), value=1))
    return Aggregate(
        input=input, groupings=(Grouping(tuple(range(len(keys)))),), grouping_expressions=keys, measures=()
    )


def deduplicate(node: Node, production: Production, outer: Scope | None) -> Output:
    """``Deduplicate``: any one whole record for each combination of keys, by its row number."""
    below = relation(node.children[0], production, outer)
    ids = {key.expression_id for key in node.trees("keys")}
    keys = [position for position, one in enumerate(below.columns) if one.id in ids]
    if len(keys) == len(below.columns) or not keys:
        one = Fetch(input=below.relation, count_expr=Literal(type=I64(), value=1))
        return Output(_different(below.relation) if keys else one, below.columns)
    width = len(below.columns)
    columns = references(below.relation)
    number = _row_number([columns[position] for position in keys], production)
    ranked = Project(input=below.relation, expressions=(number,))
    first = Literal(type=number.type, value=1)
    is_first = production.call("functions_comparison", "equal", (field_of(ranked.schema, width), first))
    values = [normal(value, production) if position in keys else value for position, value in enumerate(columns)]
    return Output(projected(Filter(input=ranked, condition=is_first), values), below.columns)


def _row_number(partitions: Sequence[Expression], production: Production) -> WindowFunction:
    called = resolved(production.registry, urn_of("functions_arithmetic"), "row_number", (), {}, "window")
    return WindowFunction(
        function=called.function,
        arguments=(),
        output_type=called.type,
        derived_type=called.type,
        partitions=tuple(partitions),
        bounds_type=BoundsType.ROWS,
    )


def refused(node: Node, production: Production, outer: Scope | None) -> Output:
    """Refuse ``DeduplicateWithinWatermark``, which is for streams."""
    raise UnsupportedPlanError(
        "dropDuplicatesWithinWatermark has no Substrait form: it is for streams", hint="Use dropDuplicates"
    )


FORMS: Final = {
    "Union": union,
    "Distinct": distinct,
    "Intersect": intersect,
    "Except": except_,
    "Deduplicate": deduplicate,
    "DeduplicateWithinWatermark": refused,
}
