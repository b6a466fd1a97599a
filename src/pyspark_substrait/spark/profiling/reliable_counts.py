"""Select the counts of one complete pass over the records.

Spark may compute a part of a plan more than once, so that a count covers all passes; or stop before the end.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark_substrait.spark.profiling.operators import Operator

__all__ = ["reliable_counts"]


def reliable_counts(top: Operator | None, counts: Mapping[str, int]) -> tuple[dict[str, int], frozenset[str]]:
    """Return the reliable counts, and the names of those that may be too low.

    Args:
        top: the operators that Spark ran, with the names of their counts; None if they aren't known.
        counts: the counts, by name.

    Returns:
        the counts of operators that were computed once, and the names of those below a merge join, which stops when
        one of its inputs ends.
    """
    repeated: set[str] = set()
    short: set[str] = set()
    pending: list[tuple[Operator, tuple[str, ...], bool, bool]] = [] if top is None else [(top, (), False, False)]
    while pending:
        node, above, again, stops = pending.pop()
        if node.observes:
            # all names if this one isn't known
            names = {node.observation} if node.observation else set(counts)
            repeated |= names if again else set()
            short |= names if stops else set()
        if node.is_border:
            # a sort samples its input for the bounds of its ranges, which computes the input once more
            again, stops = _ranges(node, above), False
        else:
            # each partition of one side is computed again for each partition of the other
            again = again or node.name == "CartesianProduct"
            stops = stops or node.name == "SortMergeJoin"
        above = above if node.is_wrapper else (node.name, *above[:1])
        pending.extend((child, above, again, stops) for child in node.children)
    kept = {name: count for name, count in counts.items() if name not in repeated}
    return kept, frozenset(short & set(kept))


def _ranges(node: Operator, above: tuple[str, ...]) -> bool:
    """Whether a shuffle partitions records by ranges, for a sort.

    Args:
        node: the shuffle.
        above: the operator above it, and the one above that.
    """
    if node.text:
        return "rangepartitioning" in node.text
    local = above[1:] and above[1].startswith(_SORTED_BY_KEY)
    return above[:1] == ("Sort",) and not local and node.metrics.get("partitions", 2) > 1


#: operators whose inputs are sorted within each partition
_SORTED_BY_KEY = ("SortMergeJoin", "SortAggregate", "Window")
