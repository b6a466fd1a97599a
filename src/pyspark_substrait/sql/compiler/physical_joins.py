"""Hash, merge and nested-loop joins as Spark SQL: logical joins with a hint for the algorithm.

Spark follows a hint if possible, and otherwise uses another algorithm: the records are the same. It builds no hash
table of the side that a semi, anti or mark join keeps, and merges or hashes nothing without equality conditions on
keys.
"""

from __future__ import annotations

from typing_extensions import assert_never

from pyspark_substrait.model.relations import BuildInput, HashJoin, JoinType, MergeJoin, NestedLoopJoin
from pyspark_substrait.sql.compiler import joins
from pyspark_substrait.sql.compiler.query import Query
from pyspark_substrait.sql.compiler.scope import Compilation, Record
from pyspark_substrait.sql.decorrelation.physical_joins import PhysicalJoin, conditions, logical

__all__ = ["physical_join"]

_KEEPS_LEFT = (JoinType.LEFT_SEMI, JoinType.LEFT_ANTI, JoinType.LEFT_MARK)
_KEEPS_RIGHT = (JoinType.RIGHT_SEMI, JoinType.RIGHT_ANTI, JoinType.RIGHT_MARK)


def physical_join(node: PhysicalJoin, outer: tuple[Record, ...], compilation: Compilation) -> Query:
    """The query of a physical join, post-join filter included."""
    parts = conditions(node)
    left, right = joins.inputs(node, outer, compilation)
    left_hint, right_hint = _hints(node)
    return joins.matched(logical(node), parts, left.hinted(left_hint), right.hinted(right_hint), outer, compilation)


def _hints(node: PhysicalJoin) -> tuple[str, str]:
    """Return the hints for the left and the right input."""
    match node:
        case HashJoin(build_input=BuildInput.LEFT):
            return ("" if node.type in _KEEPS_LEFT else "SHUFFLE_HASH"), ""
        case HashJoin():
            return "", ("" if node.type in _KEEPS_RIGHT else "SHUFFLE_HASH")
        case MergeJoin():
            # for either side; but Spark ignores it on the side that a filter keeps
            return ("MERGE", "") if node.type in _KEEPS_RIGHT else ("", "MERGE")
        case NestedLoopJoin(type=JoinType.INNER):
            return "", "SHUFFLE_REPLICATE_NL"
        case NestedLoopJoin():
            # each record of the left input is compared with all of the right one
            return "", "BROADCAST"
        case _:
            assert_never(node)
