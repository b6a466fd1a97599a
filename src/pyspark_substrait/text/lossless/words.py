"""The words and marks of the text form: names, quoted text and numbers, both ways."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping

from pyspark_substrait.text.lossless.type_forms import TYPE_NAMES

__all__ = ["FORMS", "INTERVALS", "name", "number_text", "parse_number", "quoted", "split_name", "unquoted"]

FORMS = frozenset(
    re.findall(
        r"\w+",
        """
        cast list struct map nested_list nested_struct nested_map if switch in multi_in in_query scalar exists unique
        compare parameter lambda invoke named_lambda schema detached interval_year interval_day interval_compound any
        outer relation argument over
        """,
    )
)
"""The names of syntactic forms that look like calls; a function with such a name is written in backticks."""

_YEARS = {"interval_year_to_month": ("years", "months")}
_DAYS = {"interval_day_to_second": ("days", "seconds", "subseconds", "precision")}
INTERVALS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "interval_year": _YEARS,
    "interval_day": _DAYS,
    "interval_compound": {**_YEARS, **_DAYS},
}
"""The parts of interval literals, by the messages that hold them."""

_RESERVED = TYPE_NAMES | {"true", "false", "null", "empty", "inf", "nan"}
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SIGNED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*):[A-Za-z0-9_!]*")
_PART = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|`(?:[^`\\\n]|\\.)*`")
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}
_UNESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
_SPECIAL = re.compile(
    r"[\\\x00-\x1f\x7f-\xa0\xad\u0600-\u0605\u061c\u2000-\u200f\u2028-\u202f\u205f-\u206f\ufeff\ufff9-\ufffb]"
)
_ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|(.))", re.DOTALL)


def quoted(text: str, mark: str = '"') -> str:
    """Return the text in quotation marks, with invisible characters escaped."""
    if text.isascii() and text.isalnum():
        return f"{mark}{text}{mark}"
    escaped = _SPECIAL.sub(lambda found: _ESCAPES.get(found[0]) or f"\\u{{{ord(found[0]):x}}}", text)
    return f"{mark}{escaped.replace(mark, chr(92) + mark)}{mark}"


def unquoted(text: str) -> str:
    """Return the text between the quotation marks, with its escapes resolved.

    Raises:
        ValueError: it has an unknown escape.
    """
    inner = text[1:-1]
    return _ESCAPE.sub(_unescaped, inner) if "\\" in inner else inner


def _unescaped(found: re.Match[str]) -> str:
    code, plain = found.groups()
    if code is not None:
        number = int(code, 16)
        if number > 0x10FFFF or 0xD800 <= number < 0xE000:
            raise ValueError(f"{found[0]} is not a character")
        return chr(number)
    if plain in _UNESCAPES:
        return _UNESCAPES[plain]
    if plain.isalnum():
        raise ValueError(f"{found[0]} is an unknown escape; a backslash is written as \\\\")
    return str(plain)


def name(text: str, *, of_function: bool = False) -> str:
    """Return a name as it is where possible, otherwise in backticks."""
    if _WORD.fullmatch(text) and text not in _RESERVED and not (of_function and text in FORMS):
        return text
    if of_function:
        signed = _SIGNED.fullmatch(text)
        if signed and signed[1] not in _RESERVED:
            return text
    return quoted(text, "`")


def split_name(token: str) -> tuple[str, ...]:
    """Return the parts of a dotted name."""
    return tuple(unquoted(part) if part.startswith("`") else part for part in _PART.findall(token))


_NOT_A_NUMBER = 0x7FF8000000000000


def number_text(value: float, *, single: bool) -> str:
    """Return a floating-point number in the fewest digits that round-trip; NaN with its bits if they are unusual."""
    if value != value:
        (bits,) = struct.unpack(">Q", struct.pack(">d", value))
        return "nan" if bits == _NOT_A_NUMBER else f"nan({bits:016x})"
    if value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    if single:
        for digits in range(1, 10):
            text = f"{value:.{digits}g}"
            if float(text) == value or _as_single(float(text)) == value:
                return repr(float(text))
    return repr(value)


def _as_single(value: float) -> float | None:
    try:
        rounded: float = struct.unpack(">f", struct.pack(">f", value))[0]
    except OverflowError:
        return None
    return rounded


def parse_number(text: str) -> float | str:
    """Return the number that :func:`number_text` wrote, bit by bit; infinity by its name in protobuf's JSON."""
    if text.startswith("nan("):
        value: float = struct.unpack(">d", bytes.fromhex(text[4:-1]))[0]
        return value
    if text == "nan":
        value = struct.unpack(">d", _NOT_A_NUMBER.to_bytes(8, "big"))[0]
        return value
    if text.endswith("inf"):
        return "Infinity" if text == "inf" else "-Infinity"
    return float(text)
