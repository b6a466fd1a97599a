"""Relations: fetch, aggregate, virtual tables, physical joins, and joins whose output changed."""

from __future__ import annotations

from typing import Any

from google.protobuf.message import DecodeError

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model.paths import Path, render
from pyspark_substrait.proto.depth import parse_message
from pyspark_substrait.proto.upgrade.context import Context

__all__ = [
    "upgrade_aggregate",
    "upgrade_fetch",
    "upgrade_file",
    "upgrade_physical_join",
    "upgrade_virtual_table",
]

_EQUAL = 1
_PARQUET = 1
_ALL_RECORDS = -1


def upgrade_fetch(message: Any, path: Path, context: Context) -> None:
    """`FetchRel`: ``offset`` and ``count`` (gone in 0.98) become expressions."""
    modern = message.HasField("offset_expr") or message.HasField("count_expr")
    if message.HasField("offset"):
        offset = message.offset
        message.ClearField("offset")
        if offset and not message.HasField("offset_expr"):
            message.offset_expr.literal.i64 = offset
            context.note("fetch-offset", path, f"offset {offset}", f"offset_expr, the literal {offset}")
    if message.HasField("count"):
        count = message.count
        message.ClearField("count")
        if message.HasField("count_expr"):
            return
        if count == _ALL_RECORDS:
            context.note("fetch-count", path, "count -1", "no count_expr: all records")
        else:
            message.count_expr.literal.i64 = count
            context.note("fetch-count", path, f"count {count}", f"count_expr, the literal {count}")
    elif not modern and context.older_than(63):
        message.count_expr.literal.i64 = 0
        context.note(
            "fetch-count-absent",
            path,
            "no count, which before 0.63 could not be told from count 0",
            "count_expr, the literal 0: no record",
        )


def upgrade_aggregate(message: Any, path: Path, context: Context) -> None:
    """`AggregateRel`: the groupings' expressions (gone in 0.88) move to the relation, each once.

    A grouping that has both forms keeps its references: an expression may stand in the relation more than once.

    Raises:
        InvalidPlanError: a grouping has both forms, and they differ.
    """
    if not any(grouping.grouping_expressions for grouping in message.groupings):
        return
    stated = [expression.SerializeToString() for expression in message.grouping_expressions]
    known: dict[bytes, int] = {}
    for index, key in enumerate(stated):
        known.setdefault(key, index)
    for index, grouping in enumerate(message.groupings):
        if not grouping.grouping_expressions:
            continue
        here = ((path, "groupings"), index)
        keys = [expression.SerializeToString() for expression in grouping.grouping_expressions]
        if grouping.expression_references:
            given = [stated[place] if place < len(stated) else None for place in grouping.expression_references]
            if given != keys:
                raise InvalidPlanError(
                    "expression_references and the older grouping_expressions of the grouping set differ",
                    path=render(here),
                    hint="Leave grouping_expressions out; since 0.88 only expression_references count",
                )
            after = "expression_references, which were there already"
        else:
            for key, expression in zip(keys, grouping.grouping_expressions, strict=True):
                if key not in known:
                    known[key] = len(message.grouping_expressions)
                    message.grouping_expressions.add().CopyFrom(expression)
            grouping.expression_references[:] = [known[key] for key in keys]
            after = f"expression_references {list(grouping.expression_references)}"
        grouping.ClearField("grouping_expressions")
        context.note("grouping-expressions", here, f"{len(keys)} grouping_expressions", after)


def upgrade_virtual_table(message: Any, path: Path, context: Context) -> None:
    """`ReadRel.VirtualTable`: ``values`` (gone in 0.98), and the rows of release 0.58."""
    if message.values:
        count = len(message.values)
        for row in message.values:
            expressions = message.expressions.add()
            for value in row.fields:
                expressions.fields.add().literal.CopyFrom(value)
        message.ClearField("values")
        context.note("virtual-table-values", path, f"values, {count} rows", "expressions")
    if context.version is not None and context.version[:2] == (0, 58):
        for index, row in enumerate(message.expressions):
            _upgrade_row(row, ((path, "expressions"), index), context)


def _upgrade_row(row: Any, path: Path, context: Context) -> None:
    """Upgrade a row of release 0.58, which was an expression (a struct), so that its bytes have to be parsed again."""
    expression_class = type(row.fields.add())
    del row.fields[-1]
    try:
        expression: Any = parse_message(expression_class, row.SerializeToString())
    except DecodeError:
        return
    if expression.HasField("nested") and expression.nested.HasField("struct"):
        fields = list(expression.nested.struct.fields)
    elif expression.HasField("literal") and expression.literal.HasField("struct"):
        fields = []
        for value in expression.literal.struct.fields:
            wrapped = expression_class()
            wrapped.literal.CopyFrom(value)
            fields.append(wrapped)
    else:
        return
    row.Clear()
    for each in fields:
        row.fields.add().CopyFrom(each)
    context.note("virtual-table-row", path, "an expression", "a struct of expressions")


def upgrade_file(message: Any, path: Path, context: Context) -> None:
    """`FileOrFiles`: the enum ``format`` (gone in 0.5)."""
    if not message.HasField("format"):
        return
    old = message.format
    message.ClearField("format")
    if message.WhichOneof("file_format") is not None:
        return
    if old == _PARQUET:
        message.parquet.SetInParent()
        context.note("file-format", path, "format 1", "parquet")


def upgrade_physical_join(message: Any, path: Path, context: Context) -> None:
    """`HashJoinRel` and `MergeJoinRel`: ``left_keys`` and ``right_keys`` (gone in 0.98) become ``keys``."""
    if message.left_keys or message.right_keys:
        left, right = len(message.left_keys), len(message.right_keys)
        if not message.keys:
            if left != right:
                raise InvalidPlanError(
                    f"the join has {left} left keys and {right} right keys", path=render(path), hint="They go in pairs"
                )
            for one, other in zip(message.left_keys, message.right_keys, strict=True):
                key = message.keys.add()
                key.left.CopyFrom(one)
                key.right.CopyFrom(other)
                key.comparison.simple = _EQUAL
            context.note("join-keys", path, f"left_keys and right_keys, {left} each", "keys")
        else:
            context.note("join-keys", path, "left_keys and right_keys beside keys", "keys")
        message.ClearField("left_keys")
        message.ClearField("right_keys")
    if context.older_than(91) and message.HasField("post_join_filter"):
        names = message.DESCRIPTOR.fields_by_name["type"].enum_type.values_by_number
        kind = names[message.type].name if message.type in names else str(message.type)
        if not kind.endswith("_INNER"):
            context.note(
                "post-join-filter-meaning",
                path,
                f"post_join_filter of a join of type {kind}, part of the match or a filter of the output",
                "a filter of the output, as since 0.91; a match condition is residual_expression",
            )
