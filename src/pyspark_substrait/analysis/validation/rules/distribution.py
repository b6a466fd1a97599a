"""Exchanges and expansions. Spec: relations/physical_relations."""

from __future__ import annotations

from collections.abc import Iterator

from pyspark_substrait.codes import Code, Level
from pyspark_substrait.model.findings import Finding
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.relations import (
    Exchange,
    Expand,
    MultiBucketExpression,
    SingleBucketExpression,
    SwitchingField,
)
from pyspark_substrait.model.types import I32, List, Type, Unbound, concrete

__all__ = ["exchange", "expand"]


def exchange(relation: Exchange, path: Path) -> Iterator[Finding]:
    """Check the types of bucket expressions, and the numbers of partitions."""
    match relation.exchange_kind:
        case SingleBucketExpression(expression=expression):
            place: Path = ((path, "single_target"), "expression")
            yield from _buckets(concrete(expression.type), "i32", place)
        case MultiBucketExpression(expression=expression, constrained_to_count=constrained):
            type, place = concrete(expression.type), ((path, "multi_target"), "expression")
            element = concrete(type.type) if isinstance(type, List) else None if not isinstance(type, Unbound) else type
            yield from _buckets(element, "list<i32>", place, type)
            if constrained and relation.partition_count == 0:
                what = "the buckets are constrained to the number of partitions, which is not stated"
                fix = "Set partition_count"
                yield Finding.of(Code.RELATION_INVALID, path, what, level=Level.WARNING, fix=fix)
        case _:
            pass
    count = relation.partition_count
    if count < 0:
        yield Finding.of(Code.ILLEGAL_VALUE, (path, "partition_count"), f"the number of partitions is {count}")
    for index, target in enumerate(relation.targets):
        for number in target.partition_id:
            if number < 0 or 0 < count <= number:
                what = f"there is no partition {number}; there are {count}"
                place = (((path, "targets"), index), "partition_id")
                yield Finding.of(Code.ILLEGAL_VALUE, place, what, fix="Partitions are counted from 0")


def _buckets(type: Type | None, wanted: str, path: Path, shown: Type | None = None) -> Iterator[Finding]:
    if not isinstance(type, I32 | Unbound):
        what = f"the bucket is {shown or type}, not {wanted}"
        yield Finding.of(Code.TYPE_MISMATCH, path, what, why="A bucket is given by an i32.", fix=f"Cast it to {wanted}")


def expand(relation: Expand, path: Path) -> Iterator[Finding]:
    """Check for switching fields with different numbers of duplicates."""
    counts = [len(field.duplicates) if isinstance(field, SwitchingField) else None for field in relation.fields]
    most = max((count for count in counts if count is not None), default=0)
    for index, count in enumerate(counts):
        if count is not None and count < most:
            what = f"the switching field has {count} duplicates, another one {most}; the rest is null"
            why = "All switching fields have the same number of duplicates."
            place: Path = ((path, "fields"), index)
            yield Finding.of(Code.RELATION_INVALID, place, what, level=Level.WARNING, why=why)
