"""Types and literals: timestamps and times without precision, intervals, references to user-defined types."""

from __future__ import annotations

from typing import Any

from google.protobuf.unknown_fields import UnknownFieldSet

from pyspark_substrait.model.paths import Path
from pyspark_substrait.proto.upgrade.context import Context

__all__ = ["upgrade_interval_literal", "upgrade_literal", "upgrade_type"]

_MICROSECONDS = 6
_REQUIRED = 2
_PRECISE = {"timestamp": "precision_timestamp", "timestamp_tz": "precision_timestamp_tz", "time": "precision_time"}
_OLD_LITERALS = {34: "precision_timestamp", 35: "precision_timestamp_tz"}


def upgrade_type(message: Any, path: Path, context: Context) -> None:
    """`Type`: ``timestamp``, ``timestamp_tz``, ``time`` (gone in 0.88) and more."""
    kind = message.WhichOneof("kind")
    if kind in _PRECISE:
        old = getattr(message, kind)
        variation, nullability = old.type_variation_reference, old.nullability
        new = getattr(message, _PRECISE[kind])
        new.precision = _MICROSECONDS
        new.type_variation_reference = variation
        new.nullability = nullability
        context.note("timestamp-type", path, kind, f"{_PRECISE[kind]}<6>")
    elif kind == "interval_day":
        if context.older_than(97) and not message.interval_day.HasField("precision"):
            message.interval_day.precision = _MICROSECONDS
            context.note("interval-day-precision", path, "interval_day without precision", "interval_day<6>")
    elif kind == "user_defined_type_reference":
        anchor = message.user_defined_type_reference
        message.user_defined.type_reference = anchor
        message.user_defined.nullability = _REQUIRED
        context.note("user-defined-type", path, f"user_defined_type_reference {anchor}", "user_defined, required")
    if message.HasField("user_defined") and message.user_defined.type_reference in context.unknown_types:
        message.unbound.SetInParent()
        context.note("unknown-type", path, "user_defined 'unknown'", "unbound")


def upgrade_literal(message: Any, path: Path, context: Context) -> None:
    """`Expression.Literal`: ``timestamp``, ``timestamp_tz``, ``time`` (gone in 0.88), bare precision timestamps."""
    kind = message.WhichOneof("literal_type")
    if kind in _PRECISE:
        value = getattr(message, kind)
        new = getattr(message, _PRECISE[kind])
        new.precision = _MICROSECONDS
        new.value = value
        context.note("timestamp-literal", path, f"{kind} {value}", f"{_PRECISE[kind]} {value}, precision 6")
    elif kind is None:
        _upgrade_bare_timestamp(message, path, context)


def _upgrade_bare_timestamp(message: Any, path: Path, context: Context) -> None:
    """Upgrade a literal of 0.43 to 0.51, which was a bare number: now an unknown field of another wire type."""
    unknown: Any = UnknownFieldSet(message)
    if len(unknown) != 1:
        return
    number, value = unknown[0].field_number, unknown[0].data
    if number not in _OLD_LITERALS or unknown[0].wire_type != 0:
        return
    if value >= 2**63:
        value -= 2**64
    precision = _surrounding_precision(path, context)
    message.DiscardUnknownFields()
    new = getattr(message, _OLD_LITERALS[number])
    new.precision = precision
    new.value = value
    context.note("precision-timestamp-literal", path, f"the number {value}", f"precision {precision}, value {value}")


def _surrounding_precision(path: Path, context: Context) -> int:
    """The precision of a bare literal: microseconds, or nanoseconds in a column with more than six digits."""
    message = context.plan
    segments: list[str | int] = []
    while path is not None:
        path, segment = path
        segments.append(segment)
    steps = list(reversed(segments))
    for position, step in enumerate(steps):
        if step == "virtual_table":
            columns = message.base_schema.struct.types
            after = steps[position + 1 :]
            if len(after) >= 4 and isinstance(after[3], int) and after[3] < len(columns):
                column = columns[after[3]]
                declared = column.WhichOneof("kind")
                if declared in _OLD_LITERALS.values() and getattr(column, declared).precision > _MICROSECONDS:
                    return 9
        message = message[step] if isinstance(step, int) else getattr(message, step)
    return _MICROSECONDS


def upgrade_interval_literal(message: Any, path: Path, context: Context) -> None:
    """`Literal.IntervalDayToSecond`: ``microseconds`` (gone in 0.98), and an implicit precision."""
    if message.HasField("microseconds"):
        value = message.microseconds
        message.ClearField("microseconds")
        message.precision = _MICROSECONDS
        message.subseconds = value
        context.note("interval-microseconds", path, f"microseconds {value}", f"precision 6, subseconds {value}")
    elif context.older_than(97) and not message.HasField("precision"):
        message.precision = _MICROSECONDS
        context.note("interval-day-precision", path, "no precision", "precision 6")
