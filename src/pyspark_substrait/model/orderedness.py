"""The relations whose records have an order. Spec: relations/basics, "Orderedness"."""

from __future__ import annotations

from dataclasses import replace

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.relations import (
    Broadcast,
    ConsistentPartitionWindow,
    DetachedRel,
    Exchange,
    Expand,
    Fetch,
    Filter,
    MultiBucketExpression,
    Project,
    Reference,
    Relation,
    SortBase,
)

__all__ = ["gathered", "in_order"]


def in_order(node: Relation) -> bool:
    """Whether the records of a relation are in order: sorted, with no relation above that loses the order."""
    match node:
        case SortBase(sorts=sorts):
            return bool(sorts)
        case (
            Filter(input=input)
            | Project(input=input)
            | Fetch(input=input)
            | ConsistentPartitionWindow(input=input)
            | Expand(input=input)
            | Exchange(input=input)
            | DetachedRel(relation=input)
            | Reference(subtree=input)
        ):
            return in_order(input)
        case _:
            return False


def gathered(node: Relation) -> Relation:
    """Return a relation whose order is that of all its records, for a consumer that reads them all.

    An exchange keeps an order within each partition; here it has one partition only.

    Raises:
        UnsupportedPlanError: the exchange is in a shared subtree, whose other consumers need its partitions.
    """
    if not _distributes(node):
        return node
    match node:
        case Exchange(exchange_kind=kind):
            if isinstance(kind, MultiBucketExpression):
                kind = replace(kind, constrained_to_count=False)
            return replace(node, input=gathered(node.input), exchange_kind=kind, partition_count=1)
        case Filter() | Project() | ConsistentPartitionWindow() | Expand():
            return replace(node, input=gathered(node.input))
        case DetachedRel(relation=inner):
            return gathered(inner)
        case _:
            raise UnsupportedPlanError(
                "the order of a shared subtree with an exchange in it is that of each partition, not of all records",
                hint="Sort after the reference",
            )


def _distributes(node: Relation) -> bool:
    """Whether there is an exchange between a relation and the relation that orders its records."""
    match node:
        case Exchange(exchange_kind=kind):
            return in_order(node.input) and (not isinstance(kind, Broadcast) or _distributes(node.input))
        case (
            Filter(input=input)
            | Project(input=input)
            | ConsistentPartitionWindow(input=input)
            | Expand(input=input)
            | DetachedRel(relation=input)
            | Reference(subtree=input)
        ):
            return in_order(input) and _distributes(input)
        case _:
            return False
