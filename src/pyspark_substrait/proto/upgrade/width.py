"""How many columns a relation has, as far as its own fields and those below say."""

from __future__ import annotations

from typing import Any

__all__ = ["width"]

_JOINS = ("join", "lateral_join", "hash_join", "merge_join", "nested_loop_join")


def width(rel: Any) -> int | None:
    """The number of columns of a `Rel`; None when it takes more than the plan's own fields to know."""
    kind = rel.WhichOneof("rel_type")
    if kind is None or kind == "detached_rel_ordinal":
        return None
    node = getattr(rel, kind)
    if "common" in node.DESCRIPTOR.fields_by_name and node.common.WhichOneof("emit_kind") == "emit":
        return len(node.common.emit.output_mapping)
    if kind == "read":
        if node.HasField("projection") and node.projection.HasField("select"):
            return len(node.projection.select.struct_items)
        return len(node.base_schema.struct.types)
    if kind in ("filter", "fetch", "sort", "top_n", "exchange"):
        return width(node.input)
    if kind == "project":
        return _plus(width(node.input), len(node.expressions))
    if kind == "window":
        return _plus(width(node.input), len(node.window_functions))
    if kind == "expand":
        return len(node.fields) + 1
    if kind == "set":
        return width(node.inputs[0]) if node.inputs else None
    if kind == "aggregate":
        return _aggregate(node)
    if kind == "cross":
        return _plus(width(node.left), width(node.right))
    if kind in _JOINS:
        return _join(node)
    return None


def _plus(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def _aggregate(node: Any) -> int:
    keys = {expression.SerializeToString() for expression in node.grouping_expressions}
    for grouping in node.groupings:
        keys |= {expression.SerializeToString() for expression in getattr(grouping, "grouping_expressions", ())}
    return len(keys) + len(node.measures) + (1 if len(node.groupings) > 1 else 0)


def _join(node: Any) -> int | None:
    names = node.DESCRIPTOR.fields_by_name["type"].enum_type.values_by_number
    kind: str = names[node.type].name if node.type in names else ""
    if kind.endswith(("LEFT_SEMI", "LEFT_ANTI")):
        return width(node.left)
    if kind.endswith(("RIGHT_SEMI", "RIGHT_ANTI")):
        return width(node.right)
    if kind.endswith("LEFT_MARK"):
        return _plus(width(node.left), 1)
    if kind.endswith("RIGHT_MARK"):
        return _plus(width(node.right), 1)
    return _plus(width(node.left), width(node.right))
