"""Text to literals."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Context, Decimal
from typing import Any

from pyspark_substrait.text.lossless.words import INTERVALS, parse_number

__all__ = [
    "BadLiteral",
    "bare_number",
    "hex_literal",
    "interval_literal",
    "number_literal",
    "text_literal",
    "word_literal",
]

_Message = Mapping[str, Any]
_EPOCH = date(1970, 1, 1).toordinal()
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.(\d+))?(Z?)")
_INTEGER = re.compile(r"-?[0-9]+")
_EXACT = Context(prec=100, Emin=-1_000, Emax=1_000)


class BadLiteral(ValueError):
    """A literal whose text doesn't fit its type; the message states the reason."""


def _modifiers(type: _Message) -> dict[str, Any]:
    ((_, parts),) = type.items()
    found: dict[str, Any] = {}
    if parts.get("nullability") == "NULLABILITY_NULLABLE":
        found["nullable"] = True
    if variation := parts.get("type_variation_reference"):
        found["type_variation_reference"] = variation
    return found


def text_literal(text: str, type: _Message) -> dict[str, Any]:
    """``'text':type``."""
    ((kind, parts),) = type.items()
    value: Any
    match kind:
        case "string":
            value = text
        case "fixed_char":
            if len(text) != parts["length"]:
                raise BadLiteral(f"the text has {len(text)} characters, its type {parts['length']}")
            value = text
        case "varchar":
            return {"var_char": {"value": text, "length": parts["length"]}, **_modifiers(type)}
        case "date":
            value = _days(text)
        case "uuid":
            try:
                value = uuid.UUID(text).bytes
            except ValueError as error:
                raise BadLiteral(f"{text!r} is not a UUID") from error
        case "precision_timestamp" | "precision_timestamp_tz":
            value = _moment(text, kind, parts["precision"])
        case "decimal":
            value = _decimal(text, parts)
        case _:
            raise BadLiteral(f"a text cannot be of the type {kind}")
    return {kind: value, **_modifiers(type)}


def hex_literal(value: bytes, type: _Message) -> dict[str, Any]:
    """``x'00ff':type``."""
    ((kind, parts),) = type.items()
    if kind == "fixed_binary" and len(value) != parts["length"]:
        raise BadLiteral(f"there are {len(value)} bytes, the type has {parts['length']}")
    if kind not in ("binary", "fixed_binary", "uuid"):
        raise BadLiteral(f"bytes cannot be of the type {kind}")
    return {kind: value, **_modifiers(type)}


def number_literal(text: str, type: _Message) -> dict[str, Any]:
    """``10:type``."""
    ((kind, parts),) = type.items()
    value: Any
    match kind:
        case "fp32" | "fp64":
            value = parse_number(text)
        case "decimal":
            value = _decimal(text, parts)
        case "i8" | "i16" | "i32" | "i64" | "date":
            value = _whole(text, kind)
        case "precision_time" | "precision_timestamp" | "precision_timestamp_tz":
            value = {"precision": parts["precision"], "value": _whole(text, kind)}
        case _:
            raise BadLiteral(f"a number cannot be of the type {kind}")
    return {kind: value, **_modifiers(type)}


def bare_number(text: str) -> dict[str, Any]:
    """A number without a type: i64, or fp64 if it has a point or an exponent."""
    return {"i64": _whole(text, "i64")} if _INTEGER.fullmatch(text) else {"fp64": float(text)}


def word_literal(word: str, type: _Message) -> dict[str, Any]:
    """``null:type``, ``true:type``, ``empty:list<…>``, ``inf:fp64``."""
    ((kind, parts),) = type.items()
    match word:
        case "null":
            return {"null": dict(type)}
        case "true" | "false" if kind == "bool":
            return {"boolean": word == "true", **_modifiers(type)}
        case "empty" if kind in ("list", "map"):
            return {f"empty_{kind}": dict(parts)}
    if kind in ("fp32", "fp64") and word not in ("true", "false", "empty"):
        return {kind: parse_number(word), **_modifiers(type)}
    raise BadLiteral(f"{word} cannot be of the type {kind}")


def interval_literal(kind: str, parts: _Message) -> dict[str, Any]:
    """``interval_day(days: 1, precision: 6)``."""
    known = [key for names in INTERVALS[kind].values() for key in names]
    for key in parts:
        if key not in known:
            raise BadLiteral(f"{kind} has no {key}: it has {', '.join(known)}")
    messages = {
        message: {key: parts[key] for key in names if key in parts} for message, names in INTERVALS[kind].items()
    }
    return messages if len(messages) == 1 else {kind: messages}


def _whole(text: str, kind: str) -> int:
    if not _INTEGER.fullmatch(text) or len(text) > 40:
        raise BadLiteral(f"{kind} takes whole numbers")
    return int(text)


def _days(text: str) -> int:
    try:
        return date.fromisoformat(text).toordinal() - _EPOCH
    except ValueError as error:
        raise BadLiteral(f"{text!r} is not a date like 2020-12-31") from error


def _moment(text: str, kind: str, precision: int) -> dict[str, Any]:
    found = _MOMENT.fullmatch(text)
    zone = "Z" if kind.endswith("tz") else ""
    if found is None or found[4] != zone:
        raise BadLiteral(f"{text!r} is not a time like 2020-12-31 23:59:59{zone}")
    fraction = found[3] or ""
    if precision > 12:
        raise BadLiteral(f"there are at most 12 digits after the second, not {precision}")
    if len(fraction) > precision:
        raise BadLiteral(f"the type has {precision} digits after the second, the text {len(fraction)}")
    try:
        since = datetime.fromisoformat(f"{found[1]} {found[2]}") - datetime(1970, 1, 1)
    except ValueError as error:
        raise BadLiteral(f"{text!r} is not a time: {error}") from error
    seconds = since.days * 86_400 + since.seconds
    return {"precision": precision, "value": seconds * 10**precision + int(fraction.ljust(precision, "0") or "0")}


def _decimal(text: str, parts: _Message) -> dict[str, Any]:
    precision, scale = parts["precision"], parts["scale"]
    if len(text) > 80:
        raise BadLiteral("the number has too many digits")
    try:
        unscaled = Decimal(text).scaleb(scale, context=_EXACT)
    except ArithmeticError as error:
        raise BadLiteral(f"{text!r} is not a decimal number") from error
    if unscaled != unscaled.to_integral_value() or not -(2**127) <= unscaled < 2**127:
        raise BadLiteral(f"{text} does not fit decimal<{precision}, {scale}>")
    return {"value": int(unscaled).to_bytes(16, "little", signed=True), "precision": precision, "scale": scale}
