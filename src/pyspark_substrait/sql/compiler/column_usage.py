"""The columns of each table that a plan refers to.

Most producers name the columns that they read; others read whole tables. Spark drops unused columns by itself, but
only after analysing each of them, and not where a column has to be checked for nulls.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pyspark_substrait.errors import SubstraitError
from pyspark_substrait.model.expressions import (
    Expression,
    FieldReference,
    Function,
    Lambda,
    LambdaInvocation,
    NamedLambdaReference,
    OuterReference,
    PredicateOp,
    RootReference,
    SetPredicate,
    StructField,
    WindowFunction,
)
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import (
    Aggregate,
    Cross,
    DetachedRel,
    Fetch,
    Filter,
    Join,
    JoinType,
    LateralJoin,
    Project,
    Read,
    Reference,
    Relation,
    Sort,
    VirtualTable,
)
from pyspark_substrait.model.walk import computed_expressions, expression_children, subquery_relation

__all__ = ["needed_columns"]

_BOTH = (JoinType.INNER, JoinType.OUTER, JoinType.LEFT, JoinType.RIGHT)
_LEFT = (JoinType.LEFT_SEMI, JoinType.LEFT_ANTI)
_RIGHT = (JoinType.RIGHT_SEMI, JoinType.RIGHT_ANTI)


def needed_columns(tree: Relation) -> Mapping[int, frozenset[int]]:
    """Return the columns of its ``base_schema`` that a read without a projection needs, by the read's identity.

    A read that isn't in the result needs all of its columns. If the target of some reference is unknown, the result is
    empty.
    """
    if not _reads_whole_tables(tree):
        return {}
    search = _Search()
    try:
        search.go(tree)
    except (_Unknown, SubstraitError):
        # faults of the plan are reported where it is compiled
        return {}
    return {key: frozenset(fields) for key, fields in search.reads.items()}


def _reads_whole_tables(tree: Relation) -> bool:
    """Whether there is such a read outside of subqueries."""
    pending, found = [tree], False
    while pending:
        node = pending.pop()
        if isinstance(node, LateralJoin):
            return False
        if isinstance(node, Read):
            found = found or (node.projection is None and not isinstance(node.read_type, VirtualTable))
        pending.extend(node.inputs)
    return found


class _Unknown(Exception):
    """The target of a reference is unknown."""


@dataclass(frozen=True, slots=True)
class _Around:
    """A relation whose expressions contain the subquery, and the relations around it."""

    node: Relation
    around: _Surroundings


_Surroundings: TypeAlias = "tuple[_Around, ...]"


class _Search:
    """A top-down walk through a tree with the columns that are needed of each relation.

    Args:
        reads: the columns of each read without a projection, by its identity.
    """

    def __init__(self) -> None:
        self.reads: dict[int, set[int]] = {}
        self._known: dict[tuple[int, ...], set[int]] = {}
        self._pending: list[tuple[Relation, set[int], _Surroundings]] = []

    def go(self, tree: Relation) -> None:
        """Find the columns of all reads."""
        self._all(tree, ())
        while self._pending:
            node, wanted, around = self._pending.pop()
            place = (id(node), *(id(item.node) for item in around))
            first = place not in self._known
            known = self._known.setdefault(place, set())
            if first or not wanted <= known:
                known |= wanted
                self._relation(node, wanted, first, around)

    def _all(self, node: Relation, around: _Surroundings) -> None:
        """All columns of a relation are needed."""
        self._pending.append((node, set(range(len(node.schema.types))), around))

    def _relation(self, node: Relation, wanted: set[int], first: bool, around: _Surroundings) -> None:
        """Add the columns that a relation needs of its inputs.

        Args:
            node: the relation.
            wanted: the columns that are needed of it, after emit.
            first: whether it is visited for the first time.
            around: the enclosing relations, whose expressions contain it.
        """
        match node:
            case Reference(subtree=subtree):
                if first:
                    # without surroundings: a reference out of it may have another target at each of its uses
                    self._all(subtree, ())
                return
            case DetachedRel(relation=inner):
                self._pending.append((inner, wanted, around))
                return
        emit, hint = node.common.emit, node.common.hint
        if hint is not None and (hint.alias or hint.output_names):
            wanted = set(range(len(node.schema.types)))
        direct = wanted if emit is None else {emit[position] for position in wanted if position < len(emit)}
        own = self._fields(node, around)
        inputs = node.inputs
        match node:
            case Read():
                if node.projection is None and own is not None:
                    self.reads.setdefault(id(node), set()).update(direct, own)
                elif node.projection is None:
                    self.reads.setdefault(id(node), set()).update(range(len(node.base_schema.struct.types)))
            case Filter() | Sort() if own is not None:
                self._pending.append((node.input, direct | own, around))
            case Fetch(offset_expr=offset, count_expr=count) if _is_plain(offset) and _is_plain(count):
                self._pending.append((node.input, direct, around))
            case Project(input=input) if own is not None:
                width = len(input.schema.types)
                self._pending.append((input, {field for field in direct if field < width} | own, around))
            case Aggregate() if own is not None:
                self._pending.append((node.input, own, around))
            case Cross() if own is not None:
                self._pair(node.left, node.right, direct, around)
            case Join(type=type) if own is not None and type in (*_BOTH, *_LEFT, *_RIGHT):
                # the columns of a right semi or anti join are the right ones
                start = len(node.left.schema.types) if type in _RIGHT else 0
                moved = {field + start for field in direct}
                if node.post_join_filter is not None and start:
                    moved |= {field + start for field in own}
                self._pair(node.left, node.right, moved | own, around)
            case _:
                for item in inputs:
                    self._all(item, around)

    def _pair(self, left: Relation, right: Relation, fields: set[int], around: _Surroundings) -> None:
        width = len(left.schema.types)
        self._pending.append((left, {field for field in fields if field < width}, around))
        self._pending.append((right, {field - width for field in fields if field >= width}, around))

    def _fields(self, node: Relation, around: _Surroundings) -> set[int] | None:
        """Return the columns that a relation's expressions refer to; None where that may be all.

        Expressions in their subqueries are included.
        """
        inside = (*around, _Around(node, around))
        fields: set[int] | None = set()
        if isinstance(node, Sort) and any(isinstance(field.sort_kind, Function) for field in node.sorts):
            fields = None
        pending: list[Expression] = list(computed_expressions(node))
        while pending:
            expression = pending.pop()
            query = subquery_relation(expression)
            if query is not None:
                if isinstance(expression, SetPredicate) and expression.predicate_op is PredicateOp.EXISTS:
                    self._pending.append((query, set(), inside))
                else:
                    self._all(query, inside)
            match expression:
                case FieldReference(root=RootReference(), reference=(StructField(field=field), *_)):
                    if fields is not None:
                        fields.add(field)
                case FieldReference(root=RootReference()):
                    fields = None
                case FieldReference(root=OuterReference() as root, reference=reference):
                    self._outer(root, reference if isinstance(reference, tuple) else (), around)
                case WindowFunction() | Lambda() | LambdaInvocation() | NamedLambdaReference():
                    # these may need their own levels of SELECT, through which whole records pass
                    fields = None
                    pending.extend(expression_children(expression))
                    if isinstance(expression, NamedLambdaReference):
                        pending.append(expression.lambda_.lambda_.body)
                case _:
                    pending.extend(expression_children(expression))
        return fields

    def _outer(self, root: OuterReference, reference: Sequence[object], around: _Surroundings) -> None:
        """Add the column of an enclosing record that an outer reference needs."""
        if root.steps_out is not None:
            if not 1 <= root.steps_out <= len(around):
                raise _Unknown
            found = around[-root.steps_out]
        else:
            anchored = [item for item in around if item.node.common.rel_anchor == root.rel_reference]
            if not anchored:
                raise _Unknown
            found = anchored[-1]
        node = found.node
        first = reference[0] if reference else None
        field = first.field if isinstance(first, StructField) else None
        match node:
            case Read():
                fields: Iterable[int] = range(len(node.base_schema.struct.types)) if field is None else (field,)
                if node.projection is None:
                    self.reads.setdefault(id(node), set()).update(fields)
            case Filter() | Project() | Sort() | Aggregate() if field is not None:
                self._pending.append((node.input, {field}, found.around))
            case _:
                for item in node.inputs:
                    self._all(item, found.around)


def _is_plain(bound: Expression | None) -> bool:
    return bound is None or (isinstance(bound, Literal) and isinstance(bound.value, int) and bound.value < 2**31)
