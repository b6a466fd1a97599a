"""The look of a node in a drawing: its family, which has a colour, and its symbol."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from typing_extensions import assert_never

from pyspark_substrait.model.relations import (
    HashJoin,
    Join,
    JoinType,
    MergeJoin,
    NestedLoopJoin,
    Relation,
    Set,
    SetOp,
)
from pyspark_substrait.text.explain.graph import Node
from pyspark_substrait.text.explain.lines import LineKind

__all__ = ["FAMILIES", "Icon", "icon_of"]

#: The families; each has a class ``k-…`` in the style sheet.
FAMILIES = (
    "read",
    "filter",
    "project",
    "join",
    "aggregate",
    "set",
    "write",
    "exchange",
    "extension",
    "broken",
    "result",
)


@dataclass(frozen=True, slots=True)
class Icon:
    """The family and symbol of a node.

    Args:
        family: one of ``FAMILIES``.
        symbol: the lines of its symbol, as SVG path data in a square of 16.
        area: the filled part of it; empty for none.
    """

    family: str
    symbol: str
    area: str = ""


_LEFT = "M10 8a4 4 0 1 1-8 0 4 4 0 0 1 8 0z"
_RIGHT = "M14 8a4 4 0 1 1-8 0 4 4 0 0 1 8 0z"
_BOTH = "M8 4.5A4 4 0 0 1 8 11.5A4 4 0 0 1 8 4.5z"
_LEFT_ONLY = "M8 4.5A4 4 0 1 0 8 11.5A4 4 0 0 1 8 4.5z"
_RIGHT_ONLY = "M8 4.5A4 4 0 1 1 8 11.5A4 4 0 0 0 8 4.5z"
_TABLE = "M2.5 2.5h11v11h-11zM2.5 6h11"
_FAN = "M2 8h3.5l5.5-4.5M5.5 8H12M5.5 8l5.5 4.5"
_LINK = "M6.4 9.6l3.2-3.2M7 4.8l1.7-1.7a2.7 2.7 0 0 1 4 4L11 8.8M9 11.2l-1.7 1.7a2.7 2.7 0 0 1-4-4L5 7.2"
_CUBE = "M8 1.8l5.4 3.1v6.2L8 14.2l-5.4-3.1V4.9zM8 8v6M8 8L2.8 5M8 8l5.2-3"

_READ = Icon("read", "M3 4c0-1.4 2.2-2.5 5-2.5s5 1.1 5 2.5-2.2 2.5-5 2.5S3 5.4 3 4v8c0 1.4 2.2 2.5 5 2.5s5-1.1 5-2.5V4M3 8c0 1.4 2.2 2.5 5 2.5s5-1.1 5-2.5")  # fmt: skip # noqa: E501
_REFERENCE = Icon("read", _LINK)
_FILTER = Icon("filter", "M2 3h12L9.5 8.5V13l-3 1.5v-6z")
_FETCH = Icon("filter", "M3 3.5h10M3 7h10M3 10.5h1.6M7.2 10.5h1.6M11.4 10.5H13M3 13.5h1.6M7.2 13.5h1.6M11.4 13.5H13")
_SORT = Icon("filter", "M4 2.5v11M1.8 11.2L4 13.5l2.2-2.3M8 3.5h6M8 7.5h4.5M8 11.5h3")
_TOP = Icon("filter", "M4 13.5v-11M1.8 4.8L4 2.5l2.2 2.3M8 3.5h6M8 7.5h4.5M8 11.5h1.4M11 11.5h1.4")
_PROJECT = Icon("project", "M2.5 2.5h11v11h-11zM6.2 2.5v11M9.8 2.5v11")
_EXPAND = Icon("project", _FAN)
_AGGREGATE = Icon("aggregate", "M12 4.5v-2H4L8.5 8 4 13.5h8v-2")
_WINDOW = Icon("aggregate", "M2.5 2.5h11v11h-11zM2.5 6h11M2.5 10h11", "M2.5 6h11v4h-11z")
_CROSS = Icon("join", "M4 4l8 8M12 4l-8 8")
_LATERAL = Icon("join", "M2 8h8.5M7 4.5L10.5 8 7 11.5M13.5 3v10")
_UNION = Icon("set", "M3.5 2.5V8a4.5 4.5 0 0 0 9 0V2.5")
_INTERSECTION = Icon("set", "M3.5 13.5V8a4.5 4.5 0 0 1 9 0v5.5")
_MINUS = Icon("set", "M3 8h10")
_WRITE = Icon("write", "M8 2v7M5 6.2L8 9.2l3-3M2.5 10.5v3h11v-3")
_DDL = Icon("write", f"{_TABLE}M8 7.8v4M6 9.8h4")
_UPDATE = Icon("write", "M3 13l.8-3.2L11 2.6 13.4 5 6.2 12.2zM9.4 4.2l2.4 2.4")
_EXCHANGE = Icon("exchange", "M2 5h10M9.5 2.5L12 5 9.5 7.5M14 11H4M6.5 8.5L4 11l2.5 2.5")
_EXTENSION = Icon("extension", _CUBE)
_BROKEN = Icon("broken", "M8 2.2l6.3 11.3H1.7zM8 6.5v3.2M8 11.6v.2")
_RESULT = Icon("result", "M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0z", "M10.5 8a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0z")
_SCHEMA = Icon("read", f"{_TABLE}M6.5 6v7.5")
_EXPRESSION = Icon("project", "M10 3.2c-2-1.2-3-.2-3.3 1.8l-1 6.2c-.3 2-1.3 2.6-2.8 1.9M4.4 7H9M10 9.5l4 4M14 9.5l-4 4")
_DEFINITION = Icon("extension", "M4 2.5c2 0 2.4 1 3 2.5l3.4 7.6c.4.9 1 1 1.9.6M8.2 7.6L4 13.6")


#: The icons of relations that always have the same one, by name.
_ICONS: Final = {
    "generate": Icon("extension", _FAN),
    "read": _READ,
    "reference": _REFERENCE,
    "filter": _FILTER,
    "fetch": _FETCH,
    "sort": _SORT,
    "top": _TOP,
    "project": _PROJECT,
    "expand": _EXPAND,
    "aggregate": _AGGREGATE,
    "window": _WINDOW,
    "lateral": _LATERAL,
    "cross": _CROSS,
    "write": _WRITE,
    "ddl": _DDL,
    "update": _UPDATE,
    "exchange": _EXCHANGE,
    "extension": _EXTENSION,
    "broken": _BROKEN,
}


def icon_of(node: Node) -> Icon:
    """Return the icon of a node."""
    if node.relation is not None:
        return _of_relation(node.relation)
    match node.kind:
        case LineKind.ROOT:
            return _RESULT
        case LineKind.SCHEMA:
            return _SCHEMA
        case LineKind.EXPRESSION:
            return _EXPRESSION
        case _:
            return _DEFINITION


def _of_relation(relation: Relation) -> Icon:
    match relation:
        case Join(type=type) | HashJoin(type=type) | MergeJoin(type=type) | NestedLoopJoin(type=type):
            return Icon("join", _LEFT + _RIGHT, _joined(type))
        case Set(op=op):
            return _of_set(op)
        case _:
            return _ICONS[relation.info.icon]


def _joined(type: JoinType) -> str:
    """Return the parts of the two circles' area that a join keeps."""
    match type:
        case JoinType.INNER | JoinType.LEFT_SEMI | JoinType.RIGHT_SEMI:
            return _BOTH
        case JoinType.LEFT | JoinType.LEFT_SINGLE | JoinType.LEFT_MARK:
            return _LEFT
        case JoinType.RIGHT | JoinType.RIGHT_SINGLE | JoinType.RIGHT_MARK:
            return _RIGHT
        case JoinType.OUTER:
            return _LEFT + _RIGHT
        case JoinType.LEFT_ANTI:
            return _LEFT_ONLY
        case JoinType.RIGHT_ANTI:
            return _RIGHT_ONLY
        case _:
            assert_never(type)


def _of_set(op: SetOp) -> Icon:
    match op:
        case SetOp.UNION_ALL | SetOp.UNION_DISTINCT:
            return _UNION
        case SetOp.INTERSECTION_PRIMARY | SetOp.INTERSECTION_MULTISET | SetOp.INTERSECTION_MULTISET_ALL:
            return _INTERSECTION
        case SetOp.MINUS_PRIMARY | SetOp.MINUS_PRIMARY_ALL | SetOp.MINUS_MULTISET:
            return _MINUS
        case _:
            assert_never(op)
