"""Choose the relations to count while a plan runs.

To count the records of a relation, its query is cut out of the statement and bound as a DataFrame that Spark observes
(``DataFrame.observe``). A relation is counted if its rows can't be derived otherwise, and if that doesn't prevent an
optimization (``pushing``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from pyspark_substrait.analysis.profile.rows import (
    derived_row_count,
    inner_queries,
    relations_of,
    same_rows,
    stopped_early,
)
from pyspark_substrait.model.findings import Places
from pyspark_substrait.model.orderedness import in_order
from pyspark_substrait.model.relations import (
    BrokenRelation,
    Ddl,
    DetachedRel,
    Fetch,
    FetchBase,
    Filter,
    HashJoin,
    Join,
    JoinType,
    LateralJoin,
    MergeJoin,
    NestedLoopJoin,
    Project,
    Read,
    Reference,
    Relation,
    Sort,
    Update,
    Write,
)
from pyspark_substrait.spark.profiling.predicate_pushdown import Condition, is_pushed_into, pushed_conditions
from pyspark_substrait.sql.decorrelation.outer import is_closed

__all__ = ["ObservationPlanner"]

_JOINS = (Join, LateralJoin, HashJoin, MergeJoin, NestedLoopJoin)
_OUTER = (JoinType.LEFT, JoinType.RIGHT, JoinType.OUTER)


@dataclass(slots=True)
class ObservationPlanner:
    """Chooses the relations to count, in the tree that is compiled after rewriting.

    Args:
        places: the paths of the relations of the plan. Others, which rewriting made, aren't counted.
        stored: returns the number of rows of the table of a read, or None if it isn't known without reading the table.
        limited: whether only some records of the result are wanted.
        exact: whether to count all relations, even if that prevents optimizations.
        names: the relations that were chosen, by the names of their observations.
        tree: the tree that was compiled.
    """

    places: Places
    stored: Callable[[Read], int | None]
    limited: bool = False
    exact: bool = False
    names: dict[str, Relation] = field(default_factory=dict)
    tree: Relation | None = None
    stored_rows: dict[int, int] = field(default_factory=dict)
    _reasons: dict[int, str] = field(default_factory=dict)

    def reason(self, node: Relation) -> str:
        """Return why the rows of a relation of the plan aren't known."""
        if id(node) in self._reasons:
            return self._reasons[id(node)]
        if any(node is other for other in self.names.values()):
            return "Spark left it out, or computed it more than once"
        return "" if self._compiled(node) else "rewritten as a join: Spark cannot run the query as it stands"

    def _compiled(self, node: Relation) -> bool:
        return self.tree is not None and any(node is other for other in relations_of(self.tree))

    def __call__(self, tree: Relation) -> tuple[Mapping[int, str], frozenset[int]]:
        """Return the names of observations, by the identity of the relation; and the identity of the result's sort."""
        self.names.clear()
        self._reasons.clear()
        self.tree = tree
        nodes = relations_of(tree)
        for node in nodes:
            if isinstance(node, Read) and (count := self.stored(node)) is not None:
                self.stored_rows[id(node)] = count
        known = _Originals(self.places, nodes)
        chosen: dict[int, str] = {}
        for node in self._worth(tree, nodes):
            original = known.of(node)
            if original is not None:
                name = f"rows_{len(chosen)}"
                chosen[id(node)] = name
                self.names[name] = original
        return chosen, frozenset() if self.limited else _sorts(tree)

    def _worth(self, tree: Relation, nodes: list[Relation]) -> list[Relation]:
        early = stopped_early(tree, self.limited)
        uses = Counter(node.subtree_ordinal for node in nodes if isinstance(node, Reference))
        fixed = _fixed(nodes, uses)
        result = None if self.limited else _result(tree)
        found: list[Relation] = []
        seen: set[int] = set()
        pending: list[tuple[Relation, list[Condition], bool]] = [(tree, [], True)]
        while pending:
            node, above, closed = pending.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            free = self.exact or not any(is_pushed_into(node, condition) for condition in above)
            if id(node) in early and isinstance(node, _JOINS) and node.type in _OUTER:
                free = free and self.exact  # a limit is pushed into the side that is kept
            if node is not result and self._unknown(node):
                ordered = in_order(node) and not isinstance(node, Fetch)
                if closed and free and not ordered and id(node) not in fixed:
                    found.append(node)
                else:
                    self._reasons[id(node)] = _reason(closed, ordered, id(node) in fixed)
            below = (node.subtree,) if isinstance(node, Reference) else node.inputs
            for number, (input, conditions) in enumerate(zip(below, pushed_conditions(node, above), strict=True)):
                lateral = isinstance(node, LateralJoin) and number == 1
                pending.append((input, conditions, closed and not lateral))
            pending.extend((query, [], closed and is_closed(query)) for query in inner_queries(node))
        return found

    def _unknown(self, node: Relation) -> bool:
        """Whether the number of a relation's rows can't be derived from those of its inputs."""
        if isinstance(node, Reference | DetachedRel | Write | Update | Ddl | BrokenRelation):
            return False
        if isinstance(node, FetchBase):
            return True
        if same_rows(node) is not None:
            return False
        if isinstance(node, Read):
            return derived_row_count(node, [], self.stored_rows.get(id(node))) is None
        return derived_row_count(node, [1 for _ in node.inputs]) is None


def _sorts(tree: Relation) -> frozenset[int]:
    """The identity of the sort that determines the order of the result; empty without one."""
    while not isinstance(tree, Sort):
        if not isinstance(tree, Filter | Project | DetachedRel):
            return frozenset()
        tree = tree.relation if isinstance(tree, DetachedRel) else tree.input
    return frozenset([id(tree)])


def _reason(closed: bool, ordered: bool, fixed: bool) -> str:
    if not closed:
        return "in a query for each record around it"
    if ordered:
        return "counting would lose its order"
    return "above a shared subtree, computed once" if fixed else "Spark runs it together with what is above"


def _result(tree: Relation) -> Relation:
    """The lowest relation with as many rows as the result."""
    while (below := same_rows(tree)) is not None:
        tree = below
    return tree


def _fixed(nodes: list[Relation], uses: Counter[int]) -> set[int]:
    """The relations that can't be cut out: a subtree below them is shared with another part of the statement."""
    found: set[int] = set()
    for node in reversed(nodes):
        below = [*node.inputs, *inner_queries(node)]
        shared = isinstance(node, Reference) and uses[node.subtree_ordinal] > 1
        if isinstance(node, Reference):
            below.append(node.subtree)
        if shared or any(id(inner) in found for inner in below):
            found.add(id(node))
    return found


class _Originals:
    """Maps relations of a rewritten tree to the equal relations of the plan."""

    def __init__(self, places: Places, nodes: list[Relation]) -> None:
        self._places = places
        self._equal: dict[Relation, list[Relation]] = {}
        if all(node in places for node in nodes):
            return
        with suppress(TypeError):  # a user-defined value may be unhashable
            for node, _ in places:
                if hasattr(node, "inputs"):
                    self._equal.setdefault(node, []).append(node)

    def of(self, node: Relation) -> Relation | None:
        if node in self._places:
            return node
        same = self._equal.get(node) if self._equal else None
        return same.pop(0) if same else None
