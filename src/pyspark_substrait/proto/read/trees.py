"""The relation trees of a plan, which relations can refer to by their position."""

from __future__ import annotations

from pyspark_substrait.codes import Code
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.relations import BrokenRelation, Relation
from pyspark_substrait.proto.read import relations
from pyspark_substrait.proto.read.context import Detached, OpenReference, Reading, Scope, invalid

__all__ = ["detached", "tree"]


def detached(ordinal: int, reading: Reading) -> Detached:
    """The detached parts of a tree."""
    lists = reading.detached.get(ordinal)
    if lists is None:
        message, path = reading.trees[ordinal], ((None, "relations"), ordinal)
        lists = Detached(message.detached_expressions, message.detached_rels, path)
        reading.detached[ordinal] = lists
    return lists


def tree(ordinal: int, scope: Scope, path: Path) -> Relation:
    """Read the relation tree at a position of the plan; of a root, its input. It may come after its uses.

    A tree is read once, by itself. A tree with outer references that lead out of it is read at each use.

    Raises:
        InvalidPlanError: there is no such tree, or it contains itself.
    """
    reading = scope.reading
    if not 0 <= ordinal < len(reading.trees):
        fault = f"there are {len(reading.trees)} relation trees, no number {ordinal}"
        raise invalid(fault, path, code=Code.LINK_MISSING_PART)
    if ordinal not in reading.open_trees:
        notes, remarked = len(reading.notes), set(reading.remarked)
        places, findings = len(reading.places), len(reading.findings or ())
        try:
            return _bound(ordinal, Scope(reading, closed=True, detached=detached(ordinal, reading)))
        except OpenReference:
            reading.open_trees[ordinal] = None
            del reading.notes[notes:]
            reading.places.leave_out(places, len(reading.places))
            if reading.findings is not None:
                del reading.findings[findings:]
            reading.remarked = remarked
            reading.bare_names.clear()  # what is kept there was noted
    inner = Scope(
        reading, outer=scope.outer, fence=len(scope.outer), closed=scope.closed, detached=detached(ordinal, reading)
    )
    subtree = _bound(ordinal, inner)
    if reading.open_trees[ordinal] is None:
        reading.open_trees[ordinal] = subtree
    return subtree


def _bound(ordinal: int, scope: Scope) -> Relation:
    reading, path = scope.reading, ((None, "relations"), ordinal)
    message = reading.trees[ordinal]

    def bind() -> Relation:
        match message.WhichOneof("rel_type"):
            case "rel":
                return relations.relation(message.rel, scope, (path, "rel"))
            case "root":
                return relations.relation(message.root.input, scope, ((path, "root"), "input"))
            case _:
                fault = invalid("a relation is missing", path, code=Code.RELATION_MISSING)
                reading.fault(fault)
                return BrokenRelation(kind="", fault=fault.message)

    key = (ordinal, scope.outer)
    return reading.once(reading.bound_trees, key, ("tree", ordinal), "a relation tree", path, bind)
