"""The columns of a plan's reads that are used above them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.plan import Plan, RelRoot
from pyspark_substrait.model.relations import (
    Aggregate,
    Cross,
    Fetch,
    Filter,
    Join,
    JoinType,
    Project,
    Read,
    Reference,
    Relation,
    Sort,
    VirtualTable,
)
from pyspark_substrait.model.types import OpenStruct
from pyspark_substrait.model.walk import (
    refers_out,
    relation_expressions,
    relation_subqueries,
    root_fields,
)

__all__ = ["unused_columns"]

_LEFT_ONLY = (JoinType.LEFT_SEMI, JoinType.LEFT_ANTI)
_RIGHT_ONLY = (JoinType.RIGHT_SEMI, JoinType.RIGHT_ANTI)
_BOTH = (JoinType.INNER, JoinType.OUTER, JoinType.LEFT, JoinType.RIGHT, JoinType.LEFT_SINGLE, JoinType.RIGHT_SINGLE)


@dataclass(slots=True)
class _Needs:
    """The columns of each read that are needed; a read may be reached several times."""

    reads: dict[int, tuple[Read, set[int]]] = field(default_factory=dict)

    def of(self, node: Relation, needed: set[int]) -> None:
        """Record what ``node`` and the relations below it need, given that ``needed`` of its columns are."""
        if isinstance(node, Reference):
            self.of(node.subtree, set(range(len(node.subtree.schema.types))))
            return
        direct = needed
        if node.common.emit is not None:
            direct = {node.common.emit[number] for number in needed if number < len(node.common.emit)}
        for query in relation_subqueries(node):
            self.of(query, _all(query))
        match node:
            case Read():
                self._read(node, direct)
            case Filter() | Sort() | Fetch():
                self._input(node.input, direct, relation_expressions(node))
            case Project(input=input, expressions=expressions):
                width = len(input.schema.types)
                used = [item for number, item in enumerate(expressions) if width + number in direct]
                self._input(input, {number for number in direct if number < width}, used)
            case Aggregate(input=input):
                self._input(input, set(), relation_expressions(node))
            case Join() | Cross():
                self._join(node, direct)
            case _:
                for input in node.inputs:
                    self.of(input, _all(input))

    def _read(self, node: Read, direct: set[int]) -> None:
        if isinstance(node.read_type, VirtualTable) or isinstance(node.direct_schema, OpenStruct):
            return
        self.reads.setdefault(id(node), (node, set()))[1].update(direct)

    def _input(
        self, input: Relation, needed: set[int], expressions: Sequence[Expression] | Iterator[Expression]
    ) -> None:
        self.of(input, needed | _fields(expressions, input))

    def _join(self, node: Join | Cross, direct: set[int]) -> None:
        width = len(node.left.schema.types)
        whole = width + len(node.right.schema.types)
        kind = JoinType.INNER if isinstance(node, Cross) else node.type
        if kind in _BOTH or kind in _LEFT_ONLY:
            needed = {number for number in direct if number < whole}
        elif kind in _RIGHT_ONLY:
            needed = {number + width for number in direct}
        else:
            needed = set(range(whole))
        if isinstance(node, Join):
            fields = root_fields(node.expression)
            needed |= set(range(whole)) if fields is None or node.post_join_filter is not None else fields
        self.of(node.left, {number for number in needed if number < width})
        self.of(node.right, {number - width for number in needed if number >= width})


def _all(node: Relation) -> set[int]:
    return set(range(len(node.schema.types)))


def _fields(expressions: Sequence[Expression] | Iterator[Expression], input: Relation) -> set[int]:
    found: set[int] = set()
    for item in expressions:
        fields = root_fields(item)
        if fields is None:
            return _all(input)
        found |= fields
    return found


def unused_columns(plan: Plan) -> Iterator[tuple[Read, set[int]]]:
    """Return each read with the columns that nothing above it uses, by their positions before emit.

    Outer references may lead anywhere by an anchor; a plan that has some yields nothing.
    """
    if refers_out(*plan.trees):
        return
    needs = _Needs()
    for item in plan.relations:
        node = item.input if isinstance(item, RelRoot) else item
        needs.of(node, _all(node))
    for read, used in needs.reads.values():
        put_out = set(read.common.emit if read.common.emit is not None else range(len(read.direct_schema.types)))
        unused = put_out - used
        if unused:
            yield read, unused
