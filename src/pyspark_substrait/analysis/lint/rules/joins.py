"""Rules about joins and set operations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pyspark_substrait.analysis.lint.expression_match import (
    COMPARISON,
    arguments,
    called,
    conjuncts,
    harmless,
    is_constant,
    logical,
    plain,
)
from pyspark_substrait.analysis.lint.rule import Context, Remark, rule
from pyspark_substrait.codes import Code
from pyspark_substrait.model.expressions import Expression, ScalarFunction
from pyspark_substrait.model.literals import Literal
from pyspark_substrait.model.relations import Cross, Filter, Join, JoinType, NestedLoopJoin, Relation, Set, SetOp
from pyspark_substrait.model.types import Boolean, OpenStruct
from pyspark_substrait.model.walk import holds_query, root_fields

__all__: list[str] = []

_TESTS = ("equal", "is_not_distinct_from")
_FLAT = (SetOp.UNION_ALL, SetOp.UNION_DISTINCT)


@rule(Code.LINT_CROSS_WITH_EQUALITY, Filter, fixes=True)
def cross_with_equality(node: Filter, context: Context) -> Iterator[Remark]:
    """A filter above a cross product with an equality between columns of both sides is an inner join. The join has the
    same records; an engine that does not recognise it computes all pairs first."""
    cross = node.input
    if not isinstance(cross, Cross) or isinstance(cross.schema, OpenStruct):
        return
    emit, width = cross.common.emit, len(cross.left.schema.types)
    if not any(_joins(part, width, emit) for part in conjuncts(node.condition)):
        return
    instead: Relation | None = None
    if emit is None and not holds_query(node.condition) and context.replaceable(cross) and context.replaceable(node):
        instead = Join(
            common=node.common,
            left=cross.left,
            right=cross.right,
            type=JoinType.INNER,
            expression=node.condition,
            advanced_extension=node.advanced_extension,
        )
    yield Remark(what="a filter compares the two sides of a cross product", fix="Write an inner join", instead=instead)


@rule(Code.LINT_CROSS_WITH_EQUALITY, Join, fixes=True)
def cross_below_join(node: Join, context: Context) -> Iterator[Remark]:
    """The condition of an inner join may contain an equality between the two sides of a cross product below its left
    input. The cross product is then an inner join by that equality."""
    if node.type is not JoinType.INNER or isinstance(node.input_schema, OpenStruct):
        return
    moved: list[Expression] = []
    kept: list[Expression] = []
    for part in conjuncts(node.expression):
        (moved if harmless(part) and _sinks(part, node.left, context) else kept).append(part)
    if moved:
        rest = logical("and", tuple(kept)) if kept else Literal(type=Boolean(), value=True)
        yield Remark(
            what="the condition of a join compares the two sides of a cross product below it",
            fix="Write an inner join there",
            at=node.left,
            instead=replace(node, left=_narrowed(node.left, moved), expression=rest),
        )


def _sinks(part: Expression, node: Relation, context: Context) -> bool:
    """Whether a condition compares the two sides of a cross product: ``node``, or one below its left inputs."""
    fields = root_fields(part)
    inner = isinstance(node, Cross) or (
        isinstance(node, Join) and node.type is JoinType.INNER and node.post_join_filter is None
    )
    if not fields or not inner or node.common.emit is not None or not context.replaceable(node):
        return False
    left, right = node.inputs
    width = len(left.schema.types)
    if isinstance(node, Cross) and _joins(part, width, None):
        return max(fields) < width + len(right.schema.types)
    return max(fields) < width and _sinks(part, left, context)


def _narrowed(node: Relation, parts: list[Expression]) -> Relation:
    """Add conditions to an inner join or a cross product."""
    match node:
        case Join(expression=expression):
            return replace(node, expression=logical("and", (*conjuncts(expression), *parts)))
        case Cross():
            return Join(
                common=node.common,
                left=node.left,
                right=node.right,
                type=JoinType.INNER,
                expression=logical("and", tuple(parts)),
                advanced_extension=node.advanced_extension,
            )
        case _:
            return node


def _joins(part: Expression, width: int, emit: tuple[int, ...] | None) -> bool:
    """Whether a condition is an equality between the two sides."""
    if not isinstance(part, ScalarFunction) or not called(part, COMPARISON, *_TESTS):
        return False
    sides = []
    for item in arguments(part):
        fields = root_fields(plain(item))
        if not fields:
            return False
        sides.append({(field if emit is None else emit[field]) < width for field in fields})
    return sides in ([{True}, {False}], [{False}, {True}])


@rule(Code.LINT_JOIN_WITH_CONSTANT, Join, NestedLoopJoin, fixes=True)
def join_with_constant(node: Join | NestedLoopJoin, context: Context) -> Iterator[Remark]:
    """A join whose condition is true pairs every record with every other, which is a cross product; one whose condition
    is false or null pairs none."""
    condition = node.expression
    if condition is None:
        return
    if is_constant(condition, True):
        instead: Relation | None = None
        if isinstance(node, Join) and node.type is JoinType.INNER and node.post_join_filter is None:
            instead = Cross(
                common=node.common, left=node.left, right=node.right, advanced_extension=node.advanced_extension
            )
        elif isinstance(node, NestedLoopJoin):
            instead = replace(node, expression=None)
        yield Remark(
            what="the condition of the join is true for every pair", fix="Write a cross product", instead=instead
        )
    elif is_constant(condition, False) or is_constant(condition, None):
        yield Remark(what="the condition of the join is never true, so that no records match", at=condition)


@rule(Code.LINT_JOIN_ON_ONE_SIDE, Join)
def join_on_one_side(node: Join, context: Context) -> Iterator[Remark]:
    """A condition on one input only does not relate the records of both: each record that meets it is paired with all
    of the other side. A filter below an inner join means the same; for other joins, it is likely a slip."""
    fields = root_fields(node.expression)
    if not fields or isinstance(node.left.schema, OpenStruct):
        return
    width = len(node.left.schema.types)
    if all(field < width for field in fields) or all(field >= width for field in fields):
        side = "left" if min(fields) < width else "right"
        yield Remark(what=f"the condition of the join looks at its {side} input only", at=node.expression)


@rule(Code.LINT_NESTED_UNION, Set, fixes=True)
def nested_union(node: Set, context: Context) -> Iterator[Remark]:
    """A union takes any number of inputs, so a union inside a union of the same kind can be replaced by its inputs."""
    if node.op not in _FLAT:
        return
    flat: list[Relation] = []
    for member in node.members:
        if (
            isinstance(member, Set)
            and member.op is node.op
            and member.common.emit is None
            and context.replaceable(member)
        ):
            flat.extend(member.members)
        else:
            flat.append(member)
    if len(flat) > len(node.members):
        what = f"a {node.op.value} has a {node.op.value} as an input"
        yield Remark(what=what, fix="Write one with all inputs", instead=replace(node, members=tuple(flat)))
