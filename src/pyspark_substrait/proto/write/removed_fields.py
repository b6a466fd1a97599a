"""Write plans with the removed fields of earlier releases, for engines that read only these.

The groupings of an aggregate also get their grouping expressions, and fetch relations their numbers. Casts, calls and
literals are the same in both forms. Parts that the old form can't express are only in the current fields.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from google.protobuf.message import Message

from pyspark_substrait.proto.depth import is_repeated, parse_message
from pyspark_substrait.proto.legacy import union

__all__ = ["with_removed_fields"]


def with_removed_fields(message: Message, kinds: frozenset[str]) -> Message:
    """Return a plan as a message that has the fields of earlier releases in addition to the current ones.

    Args:
        message: the plan.
        kinds: the messages that get them, by their names: AggregateRel, FetchRel, Preceding, Following.
    """
    made: Any = parse_message(union().named("Plan"), message.SerializeToString())
    for part in _messages(made):
        match part.DESCRIPTOR.name:
            case kind if kind not in kinds:
                continue
            case "AggregateRel":
                for grouping in part.groupings:
                    for number in grouping.expression_references:
                        grouping.grouping_expressions.add().CopyFrom(part.grouping_expressions[number])
            case "FetchRel":
                _limits(part)
            case "Preceding" | "Following":
                part.offset = _number(part.offset_expr) or 0
            case _:
                pass
    written: Message = made
    return written


def _limits(fetch: Any) -> None:
    """Set the removed fields ``offset`` and ``count`` from literals; -1 means no limit."""
    for field, expression in (("offset", "offset_expr"), ("count", "count_expr")):
        number = _number(getattr(fetch, expression)) if fetch.HasField(expression) else None
        if number is not None:
            setattr(fetch, field, number)
        elif field == "count" and not fetch.HasField(expression):
            fetch.count = -1


def _number(expression: Any) -> int | None:
    kind = expression.literal.WhichOneof("literal_type") if expression.WhichOneof("rex_type") == "literal" else None
    return int(getattr(expression.literal, kind)) if kind in ("i8", "i16", "i32", "i64") else None


def _messages(message: Any) -> Iterator[Any]:
    """Yield a message and all messages inside it."""
    yield message
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        for item in value if is_repeated(field) else (value,):
            yield from _messages(item)
