"""Descriptions of joins."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark_substrait.analysis.diff.describe_reads import bag, one
from pyspark_substrait.analysis.diff.description import Description, Item, Kind, Part, Source, Style
from pyspark_substrait.analysis.diff.equivalence import Forms
from pyspark_substrait.analysis.diff.record import Record
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.relations import (
    BuildInput,
    Cross,
    HashJoin,
    Join,
    JoinType,
    LateralJoin,
    MergeJoin,
    NestedLoopJoin,
    Relation,
    SimpleComparisonType,
)

__all__ = ["AnyJoin", "describe"]

AnyJoin = Join | LateralJoin | Cross | HashJoin | MergeJoin | NestedLoopJoin

#: The join type that means the same with the inputs exchanged.
_SWAPPED = {
    JoinType.LEFT: JoinType.RIGHT,
    JoinType.LEFT_SEMI: JoinType.RIGHT_SEMI,
    JoinType.LEFT_ANTI: JoinType.RIGHT_ANTI,
    JoinType.LEFT_SINGLE: JoinType.RIGHT_SINGLE,
    JoinType.LEFT_MARK: JoinType.RIGHT_MARK,
}
_MIRRORED = {**_SWAPPED, **{right: left for left, right in _SWAPPED.items()}}


def describe(
    relation: AnyJoin, inputs: Sequence[tuple[int, ...]], outer: Record | None, forms: Forms, swap: bool
) -> Description:
    """Describe a join; with ``swap``, as if its inputs were exchanged."""
    first, second = (1, 0) if swap else (0, 1)
    left = tuple(forms.number("side", first, column) for column in inputs[0])
    right = tuple(forms.number("side", second, column) for column in inputs[1])
    record = _record(relation, left + right, relation.left.names + relation.right.names, outer, forms, len(left))
    type = JoinType.INNER if isinstance(relation, Cross) else relation.type
    columns, sources = _output(type, left, right, forms)
    said = _MIRRORED.get(type, type) if swap else type
    parts = [] if isinstance(relation, Cross) else [one("join type", Kind.JOIN, type.value, forms, said)]
    after = _record(relation, columns, relation.direct_names, outer, forms, None)
    match relation:
        case Cross():
            pass
        case (
            Join(expression=condition, post_join_filter=filter)
            | LateralJoin(expression=condition, post_join_filter=filter)
        ):
            parts.append(bag("condition", Kind.CONDITION, condition, record, forms))
            parts.append(bag("post-join filter", Kind.CONDITION, filter, after, forms))
        case NestedLoopJoin(expression=condition):
            parts.append(bag("condition", Kind.CONDITION, condition, record, forms))
        case HashJoin() | MergeJoin():
            parts.append(_keys(relation, left, right, outer, forms, swap))
            parts.append(bag("residual condition", Kind.CONDITION, relation.residual_expression, record, forms))
            parts.append(bag("post-join filter", Kind.CONDITION, relation.post_join_filter, after, forms))
            if isinstance(relation, HashJoin):
                built = relation.build_input
                if swap:
                    built = BuildInput.LEFT if built is BuildInput.RIGHT else BuildInput.RIGHT
                parts.append(one("build input", Kind.JOIN, relation.build_input.value, forms, built))
    return Description(parts=tuple(parts), columns=columns, sources=sources)


def _record(
    relation: Relation,
    columns: tuple[int, ...],
    names: tuple[str | None, ...],
    outer: Record | None,
    forms: Forms,
    left: int | None,
) -> Record:
    above = 0 if outer is None else outer.number
    types = relation.direct_schema.types
    if left is not None:
        types = tuple(type for item in relation.inputs for type in item.schema.types)
    return Record(
        columns=columns,
        names=names,
        types=types,
        left=left,
        anchor=relation.common.rel_anchor,
        outer=outer,
        number=1 + forms.number("record", columns, relation.common.rel_anchor, above),
    )


def _output(
    type: JoinType, left: tuple[int, ...], right: tuple[int, ...], forms: Forms
) -> tuple[tuple[int, ...], tuple[Source, ...]]:
    lefts: list[Source] = [(0, at) for at in range(len(left))]
    rights: list[Source] = [(1, at) for at in range(len(right))]
    match type:
        case JoinType.LEFT_SEMI | JoinType.LEFT_ANTI:
            return left, tuple(lefts)
        case JoinType.RIGHT_SEMI | JoinType.RIGHT_ANTI:
            return right, tuple(rights)
        case JoinType.LEFT_MARK:
            return (*left, forms.number("mark")), (*lefts, None)
        case JoinType.RIGHT_MARK:
            return (*right, forms.number("mark")), (*rights, None)
        case _:
            return left + right, (*lefts, *rights)


def _keys(
    relation: HashJoin | MergeJoin,
    left: tuple[int, ...],
    right: tuple[int, ...],
    outer: Record | None,
    forms: Forms,
    swap: bool,
) -> Part:
    items = []
    for key in relation.keys:
        record = _record(relation, left + right, relation.left.names + relation.right.names, outer, forms, len(left))
        sides: list[Expression] = [key.left, key.right]
        pair = [
            forms.expression(node, Record(columns=columns)) for node, columns in zip(sides, (left, right), strict=True)
        ]
        turned = swap and isinstance(key.comparison, SimpleComparisonType)  # a function may give another result
        form = forms.of(("key", key.comparison, key.taken), pair[::-1] if turned else pair)
        items.append(Item(form=form, node=key, record=record))
    return Part("join key", Kind.JOIN, Style.BAG, tuple(items))
