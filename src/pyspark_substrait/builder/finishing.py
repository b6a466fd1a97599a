"""Plans from built relations: with references to shared parts, final anchors, and no open references."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pyspark_substrait.builder.joining import FIRST_ANCHOR
from pyspark_substrait.builder.scoping import open_tokens_of
from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model.expressions import (
    Expression,
    FieldReference,
    InPredicate,
    OuterReference,
    ScalarSubquery,
    SetComparison,
    SetPredicate,
)
from pyspark_substrait.model.plan import Plan, RelRoot, Version
from pyspark_substrait.model.relations import LateralJoin, Reference, Relation
from pyspark_substrait.model.walk import relation_subqueries, with_children, with_expressions, with_inputs

__all__ = ["finished"]


def finished(relation: Relation, names: Sequence[str], producer: str) -> Plan:
    """Return the plan of a relation.

    Raises:
        InvalidPlanError: it refers to a record that isn't around it.
    """
    if any(open_tokens_of(relation)):
        raise InvalidPlanError(
            "the plan refers to a record that is not around it",
            hint="A function of a record may use that record, and those of the queries around it",
        )
    counts: dict[int, int] = {}
    _count(relation, counts)
    finishing = _Finishing(counts)
    root = finishing.relation(relation, {})
    trees = tuple(finishing.trees)
    return Plan(relations=(*trees, RelRoot(input=root, names=tuple(names))), version=Version.current(producer))


def _count(relation: Relation, counts: dict[int, int]) -> None:
    """Count the uses of each shared part."""
    if isinstance(relation, Reference):
        counts[relation.subtree_ordinal] = counts.get(relation.subtree_ordinal, 0) + 1
        if counts[relation.subtree_ordinal] == 1:
            _count(relation.subtree, counts)
    for query in relation_subqueries(relation):
        _count(query, counts)
    for input in relation.inputs:
        _count(input, counts)


@dataclass(eq=False)
class _Finishing:
    """The state while one plan is finished."""

    counts: Mapping[int, int]
    trees: list[Relation] = field(default_factory=list)
    ordinals: dict[int, int] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def relation(self, node: Relation, anchors: Mapping[int, int]) -> Relation:
        """Return a relation with final numbers; ``anchors`` are those of the lateral joins around it."""
        if isinstance(node, Reference) and node.subtree_ordinal < 0:
            return self._reference(node)
        anchor = node.common.rel_anchor
        if isinstance(node, LateralJoin) and anchor is not None and anchor >= FIRST_ANCHOR:
            anchors = {**anchors, anchor: next(self.numbers)}
            node = replace(node, common=replace(node.common, rel_anchor=anchors[anchor]))
        below = with_inputs(node, lambda input: self.relation(input, anchors))
        return with_expressions(below, lambda expression: self.expression(expression, anchors))

    def _reference(self, node: Reference) -> Relation:
        key = node.subtree_ordinal
        if self.counts[key] == 1:
            return self.relation(node.subtree, {})
        if key not in self.ordinals:
            tree = self.relation(node.subtree, {})
            self.ordinals[key] = len(self.trees)
            self.trees.append(tree)
        ordinal = self.ordinals[key]
        return Reference(subtree_ordinal=ordinal, subtree=self.trees[ordinal])

    def expression(self, node: Expression, anchors: Mapping[int, int]) -> Expression:
        """Return an expression with final numbers."""

        def inside(child: Expression) -> Expression:
            return self.expression(child, anchors)

        match node:
            case FieldReference(root=OuterReference(rel_reference=int(anchor))) if anchor in anchors:
                return replace(node, root=OuterReference(rel_reference=anchors[anchor]))
            case ScalarSubquery(input=query):
                return replace(node, input=self.relation(query, anchors))
            case SetPredicate(tuples=query):
                return replace(node, tuples=self.relation(query, anchors))
            case InPredicate(needles=needles, haystack=query):
                return replace(node, needles=tuple(map(inside, needles)), haystack=self.relation(query, anchors))
            case SetComparison(left=left, right=query):
                return replace(node, left=inside(left), right=self.relation(query, anchors))
            case _:
                return with_children(node, inside)
