"""Literals as text."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any

from pyspark_substrait.text.lossless.symbols import Symbols
from pyspark_substrait.text.lossless.words import INTERVALS, number_text, quoted
from pyspark_substrait.text.lossless.write_types import Odd, only, type_text

__all__ = ["literal_text"]

_Message = Mapping[str, Any]
_MODIFIERS = ("nullable", "type_variation_reference")
_EPOCH = date(1970, 1, 1)
_MIDNIGHT = datetime(1970, 1, 1)


def literal_text(message: _Message, symbols: Symbols) -> str:
    """A literal with its type.

    Raises:
        Odd: it has none of the short forms.
    """
    kinds = [key for key in message if key not in _MODIFIERS]
    if len(kinds) != 1:
        raise Odd
    kind = kinds[0]
    value = message[kind]
    mark = "?" if message.get("nullable") else ""
    variation = message.get("type_variation_reference", 0)
    if kind in ("null", "empty_list", "empty_map"):
        return _without_value(kind, value, mark, variation, symbols)
    if kind.startswith("interval"):
        if variation:
            raise Odd
        return f"{_interval(kind, value)}{mark}"
    if kind in ("list", "struct", "map"):
        if variation:
            raise Odd
        return f"{kind}({_elements(kind, value, symbols)}){mark}"
    written, name, parameters = _scalar(kind, value)
    if variation:
        mark += f"[{symbols.name('variations', variation)}]"
    if name in ("string", "boolean") and not mark and not parameters:
        return written
    return f"{written}:{name}{mark}{parameters}"


def _without_value(kind: str, value: _Message, mark: str, variation: int, symbols: Symbols) -> str:
    if mark or variation:
        raise Odd
    type = value if kind == "null" else {kind.removeprefix("empty_"): value}
    return f"{'null' if kind == 'null' else 'empty'}:{type_text(type, symbols)}"


def _interval(kind: str, value: _Message) -> str:
    name = kind.partition("_to_")[0]
    messages = value if kind == name else {kind: value}
    if messages.keys() != INTERVALS[name].keys():
        raise Odd
    parts: list[str] = []
    for key, known in INTERVALS[name].items():
        only(messages[key], *known)
        parts += (f"{part}: {number}" for part, number in messages[key].items())
    return f"{name}({', '.join(parts)})"


def _elements(kind: str, value: _Message, symbols: Symbols) -> str:
    match kind:
        case "list":
            only(value, "values")
            return ", ".join(_element(each, symbols) for each in value.get("values", ()))
        case "struct":
            only(value, "fields")
            return ", ".join(_element(each, symbols) for each in value.get("fields", ()))
    only(value, "key_values")
    entries = []
    for each in value.get("key_values", ()):
        if set(each) != {"key", "value"}:
            raise Odd
        entries.append(f"{_element(each['key'], symbols)} = {_element(each['value'], symbols)}")
    return ", ".join(entries)


def _element(message: _Message, symbols: Symbols) -> str:
    if not message:
        raise Odd
    return literal_text(message, symbols)


def _scalar(kind: str, value: Any) -> tuple[str, str, str]:
    """The value as text, the name of its type, and the parameters of the type."""
    match kind:
        case "boolean":
            return ("true" if value else "false"), "boolean", ""
        case "i8" | "i16" | "i32" | "i64":
            return str(value), kind, ""
        case "fp32" | "fp64":
            return number_text(value, single=kind == "fp32"), kind, ""
        case "string":
            return quoted(value, "'"), "string", ""
        case "binary":
            return f"x'{value.hex()}'", "binary", ""
        case "fixed_binary":
            return f"x'{value.hex()}'", "fixedbinary", f"<{len(value)}>"
        case "fixed_char":
            return quoted(value, "'"), "fixedchar", f"<{len(value)}>"
        case "var_char":
            only(value, "value", "length")
            return quoted(value.get("value", ""), "'"), "varchar", f"<{value.get('length', 0)}>"
        case "date":
            return _date_text(value), "date", ""
        case "uuid" if len(value) == 16:
            return quoted(str(uuid.UUID(bytes=value)), "'"), "uuid", ""
        case "decimal":
            return _decimal(value)
        case "precision_time" | "precision_timestamp" | "precision_timestamp_tz":
            only(value, "precision", "value")
            precision = value.get("precision", 0)
            written = str(value.get("value", 0))
            if kind != "precision_time":
                written = _timestamp_text(value.get("value", 0), precision, "Z" if kind.endswith("tz") else "")
            return written, kind, f"<{precision}>"
    raise Odd


def _date_text(days: int) -> str:
    try:
        return quoted((_EPOCH + timedelta(days=days)).isoformat(), "'")
    except OverflowError:
        return str(days)


def _timestamp_text(value: int, precision: int, zone: str) -> str:
    if not 0 <= precision <= 12:
        return str(value)
    seconds, fraction = divmod(value, 10**precision)
    try:
        moment = (_MIDNIGHT + timedelta(seconds=seconds)).isoformat(sep=" ")
    except OverflowError:
        return str(value)
    digits = f".{fraction:0{precision}}" if precision else ""
    return quoted(f"{moment}{digits}{zone}", "'")


def _decimal(value: _Message) -> tuple[str, str, str]:
    only(value, "value", "precision", "scale")
    precision, scale = value.get("precision", 0), value.get("scale", 0)
    unscaled = value.get("value", b"")
    if len(unscaled) != 16 or not 0 <= scale <= 38:
        raise Odd
    number = int.from_bytes(unscaled, "little", signed=True)
    digits = f"{abs(number):0{scale + 1}}"
    point = len(digits) - scale
    text = f"{'-' if number < 0 else ''}{digits[:point]}{'.' if scale else ''}{digits[point:]}"
    return text, "decimal", f"<{precision}, {scale}>"
