"""What each kind of relation is, in a sentence, and the page of the specification that says more."""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import assert_never

from pyspark_substrait.display.graph import Node
from pyspark_substrait.display.lines import LineKind
from pyspark_substrait.model.relations import (
    Aggregate,
    BrokenRelation,
    ConsistentPartitionWindow,
    Cross,
    Ddl,
    DetachedRel,
    Exchange,
    Expand,
    ExtensionLeaf,
    ExtensionMulti,
    ExtensionSingle,
    Fetch,
    Filter,
    HashJoin,
    Join,
    LateralJoin,
    MergeJoin,
    NestedLoopJoin,
    Project,
    Read,
    Reference,
    Relation,
    Set,
    Sort,
    TopN,
    Update,
    Write,
)

__all__ = ["KindOfNode", "kind_of"]


@dataclass(frozen=True, slots=True)
class KindOfNode:
    """What a node is.

    Args:
        sentence: what it does, for who doesn't know the kind.
        page: the page of the specification, like ``relations/logical_relations``; empty for none.
    """

    sentence: str
    page: str = ""


_LOGICAL = "relations/logical_relations"
_PHYSICAL = "relations/physical_relations"


def kind_of(node: Node) -> KindOfNode:
    """What a node of a graph is."""
    if node.relation is not None:
        return _of_relation(node.relation)
    match node.kind:
        case LineKind.ROOT:
            return KindOfNode(
                "The result of the plan: its columns, under the names that people see.", "relations/basics"
            )
        case LineKind.SCHEMA:
            return KindOfNode("The columns that the expressions can refer to.", "expressions/extended_expression")
        case LineKind.EXPRESSION:
            return KindOfNode("An expression that can be evaluated by itself.", "expressions/extended_expression")
        case _:
            return KindOfNode("Something that the plan defines beside its relations.")


def _of_relation(relation: Relation) -> KindOfNode:
    match relation:
        case Read():
            return KindOfNode(
                "Reads a table: keeps the records that its filter lets through, and some columns.", _LOGICAL
            )
        case Filter():
            return KindOfNode(
                "Keeps the records for which a condition is true; false and null both drop one.", _LOGICAL
            )
        case Fetch():
            return KindOfNode("Skips some records, then keeps a number of them.", _LOGICAL)
        case Aggregate():
            return KindOfNode("Groups the records, and computes the measures of each group.", _LOGICAL)
        case Sort():
            return KindOfNode("Puts the records in order.", _LOGICAL)
        case Join():
            return KindOfNode("Pairs the records of two inputs by a condition.", _LOGICAL)
        case LateralJoin():
            return KindOfNode(
                "For each left record, evaluates the right input, which may refer to that record.", _LOGICAL
            )
        case Project():
            return KindOfNode("Keeps the columns of its input, and puts computed ones behind them.", _LOGICAL)
        case Set():
            return KindOfNode(
                "Combines the records of inputs that have the same columns; null is equal to null.", _LOGICAL
            )
        case ExtensionSingle() | ExtensionMulti() | ExtensionLeaf():
            return KindOfNode("A relation of an extension: only its makers know what it does.", _LOGICAL)
        case Cross():
            return KindOfNode("Pairs every left record with every right one.", _LOGICAL)
        case Reference():
            return KindOfNode("Takes the records of another relation tree of the plan.", _LOGICAL)
        case Write():
            return KindOfNode("Changes a table by the records of its input.", _LOGICAL)
        case Ddl():
            return KindOfNode("Creates, changes or removes a table or a view.", _LOGICAL)
        case Update():
            return KindOfNode("Changes columns of the records of a table for which a condition is true.", _LOGICAL)
        case HashJoin():
            return KindOfNode("Joins two inputs by a table of hashed keys.", _PHYSICAL)
        case MergeJoin():
            return KindOfNode("Joins two inputs that are sorted by their keys.", _PHYSICAL)
        case NestedLoopJoin():
            return KindOfNode("Joins two inputs by trying every pair of records.", _PHYSICAL)
        case ConsistentPartitionWindow():
            return KindOfNode("Computes window functions that share their partitions and their order.", _PHYSICAL)
        case Exchange():
            return KindOfNode("Distributes the records anew.", _PHYSICAL)
        case Expand():
            return KindOfNode("Puts out each record several times, with some columns changed each time.", _PHYSICAL)
        case TopN():
            return KindOfNode("Puts the records in order, and keeps the first of them.", _PHYSICAL)
        case DetachedRel():
            return KindOfNode("Stands for a relation that the message keeps apart.", "relations/basics")
        case BrokenRelation():
            return KindOfNode(
                "Something here is wrong, so that what the relation does can't be told.", "relations/basics"
            )
        case _:
            assert_never(relation)
