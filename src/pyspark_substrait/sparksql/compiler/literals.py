r"""Literals as Spark SQL text of exactly their type.

This is one of the two places (the other is ``names``) where something from a plan becomes text. Strings are written so
that they survive everything that looks at the text on its way: Spark's parser (quotes and backslashes are escaped), its
variable substitution (``${env:HOME}`` is replaced even inside a literal) and PySpark's formatter for bound arguments
(``{name}``). The latter two never see a brace, because braces are written as ``\u007B`` and ``\u007D``.

The text of a literal is an atom: it can stand anywhere in an expression without brackets.
"""

from __future__ import annotations

import decimal
import math
import struct
import unicodedata
from typing import Final

from typing_extensions import assert_never

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.model.literals import AnyMessage, DayTime, Literal
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    UUID,
    AliasedType,
    Binary,
    Boolean,
    Date,
    Decimal,
    FixedBinary,
    FixedChar,
    Func,
    IntervalCompound,
    IntervalDay,
    IntervalYear,
    List,
    Map,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Struct,
    Type,
    Unbound,
    UserDefined,
    VarChar,
    concrete,
)
from pyspark_substrait.sparksql.compiler.types import FINEST, INTEGERS, field_name, spark_type

__all__ = ["literal", "string_literal"]

_SUFFIXES: Final[dict[type[Type], str]] = {I8: "Y", I16: "S", I32: "", I64: "L"}
_MICROS_OF_DAY: Final = 86_400_000_000
_ESCAPED: Final = {"'": r"\'", "\\": r"\\", "{": r"\u007B", "}": r"\u007D"}


def literal(node: Literal) -> str:
    """The text of a literal.

    Raises:
        InvalidPlanError: the value isn't one of the type.
        UnsupportedPlanError: Spark has nothing that carries the type or this value of it.
    """
    type = node.type
    carrier = spark_type(type)
    if node.value is None:
        return f"CAST(NULL AS {carrier})"
    match type, node.value:
        case AliasedType(), value:
            return literal(Literal(type=concrete(type), value=value))
        case Boolean(), bool(value):
            return "true" if value else "false"
        case ((I8() | I16() | I32() | I64()), int(value)):
            return _integer(type, value)
        case FP32(), float(value):
            return _single(value)
        case FP64(), float(value):
            return f"{value!r}D" if math.isfinite(value) else f"CAST('{_special(value)}' AS DOUBLE)"
        case Decimal(), decimal.Decimal() as value:
            return _decimal(type, value)
        case String(), str(value):
            return string_literal(value)
        case ((VarChar(length=length) | FixedChar(length=length)), str(value)):
            if len(value) > length:
                raise InvalidPlanError(f"a literal of {len(value)} characters can't be a {type}")
            return string_literal(value if isinstance(type, VarChar) else value.ljust(length))
        case Binary(), bytes(value):
            return f"X'{value.hex().upper()}'"
        case FixedBinary(length=length), bytes(value):
            if len(value) != length:
                raise InvalidPlanError(f"a literal of {len(value)} bytes can't be a {type}")
            return f"X'{value.hex().upper()}'"
        case Date(), int(value):
            return f"DATE'{_date(value)}'"
        case PrecisionTimestamp(precision=precision), int(value):
            return f"TIMESTAMP_NTZ'{_timestamp(type, value, precision)}'"
        case PrecisionTimestampTZ(precision=precision), int(value):
            return f"TIMESTAMP'{_timestamp(type, value, precision)}Z'"
        case PrecisionTime(precision=precision), int(value):
            return _time(type, value, precision)
        case IntervalYear(), int(value):
            _bounded(type, value, 32)
            sign = "-" if value < 0 else ""
            return f"INTERVAL '{sign}{abs(value) // 12}-{abs(value) % 12}' YEAR TO MONTH"
        case IntervalDay(precision=precision), DayTime() as parts:
            return _day_time(type, parts, precision)
        case List(), tuple(items):
            elements = [literal(item) for item in items if isinstance(item, Literal)]
            return f"array({', '.join(elements)})" if elements else f"CAST(array() AS {carrier})"
        case Map(), tuple(items):
            return _map(items, carrier)
        case Struct(), tuple(items):
            return _struct(items, carrier)
        case UserDefined(structure=Struct()), tuple(items):
            return _struct(items, carrier)
        case UserDefined(), AnyMessage(type_url=url):
            raise UnsupportedPlanError(f"a literal of {type} is a message `{url}`, which only its makers can read")
        case (
            (
                Boolean()
                | I8()
                | I16()
                | I32()
                | I64()
                | FP32()
                | FP64()
                | Decimal()
                | String()
                | VarChar()
                | FixedChar(),
                _,
            )
            | (Binary() | FixedBinary() | Date() | PrecisionTimestamp() | PrecisionTimestampTZ() | PrecisionTime(), _)
            | (IntervalYear() | IntervalDay() | List() | Map() | Struct() | UserDefined(), _)
        ):
            raise InvalidPlanError(f"{node.value!r} can't be the value of a {type} literal")
        case ((IntervalCompound() | UUID() | Func() | Unbound()), _):
            raise UnsupportedPlanError(f"there is no Spark literal of {type} yet")
        case other, _:
            assert_never(other)


def string_literal(value: str) -> str:
    r"""A string literal, whatever characters it has.

    Letters, digits, punctuation and symbols of all scripts stand for themselves; what can't be seen or is special is
    escaped.

    >>> print(string_literal("it's {a}\n"))
    'it\'s \u007Ba\u007D\u000A'
    """
    if value.isascii() and value.isprintable() and not _ESCAPED.keys() & set(value):
        return f"'{value}'"
    return "'" + "".join(_character(character) for character in value) + "'"


def _character(character: str) -> str:
    if character in _ESCAPED:
        return _ESCAPED[character]
    if character == " " or unicodedata.category(character)[0] not in "CZ":
        return character
    code = ord(character)
    if 0xD800 <= code <= 0xDFFF:
        raise InvalidPlanError(f"a string literal has half a character, U+{code:04X}")
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"


def _bounded(type: Type, value: int, bits: int) -> None:
    if not -(1 << bits - 1) <= value < 1 << bits - 1:
        raise InvalidPlanError(f"{value} is too large for a {type}")


def _integer(type: Type, value: int) -> str:
    _bounded(type, value, INTEGERS[type.__class__])
    return f"{value}{_SUFFIXES[type.__class__]}"


def _special(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def _single(value: float) -> str:
    if not math.isfinite(value):
        return f"CAST('{_special(value)}' AS FLOAT)"
    single = struct.unpack("f", struct.pack("f", value))[0]
    if single != value:
        raise InvalidPlanError(f"{value!r} isn't an fp32 number")
    if abs(value) > 3e38:
        # the parser compares with the largest float's exact value, and the shortest text of that is above it
        return f"CAST({value!r}D AS FLOAT)"
    for digits in range(1, 9):
        text = f"{value:.{digits}g}"
        if struct.unpack("f", struct.pack("f", float(text)))[0] == value:
            return f"{text}F"
    return f"{value:.9g}F"


def _decimal(type: Decimal, value: decimal.Decimal) -> str:
    if not value.is_finite():
        raise InvalidPlanError(f"{value} can't be the value of a {type} literal")
    text = f"{value:f}"
    whole, _, fraction = text.lstrip("-").partition(".")
    digits = len(whole.lstrip("0")) + len(fraction)
    if len(fraction) != type.scale or digits > type.precision:
        raise InvalidPlanError(f"{text} isn't a {type}")
    # what the parser gives it: as many digits as are needed, at least one, and no fewer than the scale
    natural = max(len(str(abs(int(value.scaleb(len(fraction), decimal.Context(prec=76)))))), len(fraction))
    return f"{text}BD" if natural == type.precision else f"CAST({text}BD AS {spark_type(type)})"


def _date(days: int) -> str:
    """A count of days since 1970-01-01 as text: the proleptic Gregorian calendar, of any year."""
    # days since 0000-03-01 of a cycle of 400 years; a year that starts in March has its leap day at the end
    cycle, day = divmod(days + 719_468, 146_097)
    year_of_cycle = (day - day // 1460 + day // 36_524 - day // 146_096) // 365
    day_of_year = day - (365 * year_of_cycle + year_of_cycle // 4 - year_of_cycle // 100)
    month = (5 * day_of_year + 2) // 153
    day_of_month = day_of_year - (153 * month + 2) // 5 + 1
    year = cycle * 400 + year_of_cycle + (month >= 10)
    sign = "-" if year < 0 else "+" if year > 9999 else ""
    return f"{sign}{abs(year):04d}-{month + 3 if month < 10 else month - 9:02d}-{day_of_month:02d}"


def _micros(type: Type, value: int, precision: int) -> int:
    micros = value * int(10 ** (FINEST - precision))
    if not -(1 << 63) <= micros < 1 << 63:
        raise UnsupportedPlanError(f"{value} as a {type} is beyond the years that Spark can hold")
    return micros


def _clock(micros: int) -> str:
    seconds, fraction = divmod(micros, 1_000_000)
    text = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{text}.{fraction:06d}".rstrip("0") if fraction else text


def _timestamp(type: Type, value: int, precision: int) -> str:
    days, micros = divmod(_micros(type, value, precision), _MICROS_OF_DAY)
    return f"{_date(days)} {_clock(micros)}"


def _time(type: Type, value: int, precision: int) -> str:
    micros = value * int(10 ** (FINEST - precision))
    if not 0 <= micros < _MICROS_OF_DAY:
        raise InvalidPlanError(f"{value} isn't within the day as a {type}")
    text = f"TIME'{_clock(micros)}'"
    return text if precision == FINEST else f"CAST({text} AS TIME({precision}))"


def _day_time(type: IntervalDay, parts: DayTime, precision: int) -> str:
    fraction = parts.subseconds * int(10 ** (FINEST - precision))
    micros = parts.days * _MICROS_OF_DAY + parts.seconds * 1_000_000 + fraction
    if not -(1 << 63) <= micros < 1 << 63:
        raise UnsupportedPlanError(f"an interval of {parts.days} days is longer than Spark can hold as {type}")
    days, rest = divmod(abs(micros), _MICROS_OF_DAY)
    return f"INTERVAL '{'-' if micros < 0 else ''}{days} {_clock(rest)}' DAY TO SECOND"


def _map(items: tuple[object, ...], carrier: str) -> str:
    if not items:
        return f"CAST(map() AS {carrier})"
    keys: list[object] = []
    parts: list[str] = []
    for item in items:
        assert isinstance(item, tuple)
        key, value = item
        if key.value is None:
            raise InvalidPlanError("a key of a map literal is null")
        if key in keys:
            raise UnsupportedPlanError(f"the key {literal(key)} stands twice in a map literal, and Spark has only one")
        keys.append(key)
        parts += [literal(key), literal(value)]
    return f"map({', '.join(parts)})"


def _struct(items: tuple[object, ...], carrier: str) -> str:
    if not items:
        return f"CAST(named_struct() AS {carrier})"
    fields = [f"'{field_name(i)}', {literal(item)}" for i, item in enumerate(items) if isinstance(item, Literal)]
    return f"named_struct({', '.join(fields)})"
