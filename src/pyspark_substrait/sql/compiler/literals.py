r"""Literals as Spark SQL text of exactly their type.

This is one of the two places (the other is ``names``) where content of a plan becomes text. Strings are written so
that they survive everything that processes the text: Spark's parser (quotes and backslashes are escaped), its variable
substitution (``${env:HOME}`` is replaced even inside a literal) and PySpark's formatter for bound arguments
(``{name}``). The latter two never see a brace, because braces are written as ``\u007B`` and ``\u007D``.

A negative number or an interval needs brackets as an operand; :func:`constant` gives it some.

A value outside the range that the specification gives for its type (types/type_classes) is an error. Dates and
timestamps may be outside of the years 1 to 9999, as far as Spark supports them.
"""

from __future__ import annotations

import decimal
import math
import struct
import unicodedata
import uuid
from typing import Final

from typing_extensions import assert_never

from pyspark_substrait.errors import InvalidPlanError, UnsupportedPlanError
from pyspark_substrait.model.literals import AnyMessage, Compound, DayTime, Literal
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
    same_type,
)
from pyspark_substrait.sql.compiler.types import (
    FINEST,
    INTEGERS,
    field_name,
    spark_type,
    units_per_second,
    unsigned_bits,
)
from pyspark_substrait.sql.fragment import UNKNOWN, Constant

__all__ = ["constant", "literal", "string_literal"]

_SUFFIXES: Final[dict[type[Type], str]] = {I8: "Y", I16: "S", I32: "", I64: "L"}
_MICROS_OF_DAY: Final = 86_400_000_000
_SECONDS_OF_DAY: Final = 86_400
_MOST_MONTHS: Final = 120_000
_MOST_DAYS: Final = 3_650_000
_ESCAPED: Final = {"'": r"\'", "\\": r"\\", "{": r"\u007B", "}": r"\u007D"}


def constant(node: Literal) -> Constant:
    """Return a literal as an operand; errors are those of :func:`literal`."""
    text, value = literal(node), node.value
    known = value if value is None or (isinstance(value, str | int) and not isinstance(value, bool)) else UNKNOWN
    signed = text.startswith(("-", "INTERVAL "))
    return Constant(f"({text})" if signed else text, known)


def literal(node: Literal) -> str:
    """The text of a literal.

    Raises:
        InvalidPlanError: the value isn't one of the type.
        UnsupportedPlanError: Spark has no type for it, or cannot represent this value.
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
        case ((I8() | I16() | I32() | I64()), int(value)) if not isinstance(value, bool):
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
                raise InvalidPlanError(f"a literal of {len(value)} characters cannot be a {type}")
            return string_literal(value if isinstance(type, VarChar) else value.ljust(length))
        case Binary(), bytes(value):
            return f"X'{value.hex().upper()}'"
        case FixedBinary(length=length), bytes(value):
            if len(value) != length:
                raise InvalidPlanError(f"a literal of {len(value)} bytes cannot be a {type}")
            return f"X'{value.hex().upper()}'"
        case Date(), int(value):
            return f"DATE'{_date(value)}'"
        case ((PrecisionTimestamp(precision=precision) | PrecisionTimestampTZ(precision=precision)), int(value)):
            if precision > FINEST:
                return _long(type, value)
            zone = isinstance(type, PrecisionTimestampTZ)
            text = _timestamp(type, value, precision)
            return f"TIMESTAMP'{text}Z'" if zone else f"TIMESTAMP_NTZ'{text}'"
        case PrecisionTime(precision=precision), int(value):
            return _time(type, value, precision)
        case IntervalYear(), int(value):
            return _months(type, value)
        case IntervalDay(precision=precision), DayTime() as parts:
            return _day_time(type, parts, precision)
        case IntervalCompound(precision=precision), Compound() as whole:
            months = _months(type, whole.months)
            rest = _day_time(type, DayTime(whole.days, whole.seconds, whole.subseconds), precision)
            return f"named_struct('{field_name(0)}', {months}, '{field_name(1)}', {rest})"
        case UUID(), uuid.UUID() as value:
            return f"X'{value.hex.upper()}'"
        case List(), tuple(items):
            elements = [literal(item) for item in items if isinstance(item, Literal)]
            return f"array({', '.join(elements)})" if elements else f"CAST(array() AS {carrier})"
        case Map(), tuple(items):
            return _map(items, carrier)
        case Struct(), tuple(items):
            return _struct(items, carrier)
        case UserDefined(), tuple(items):
            return _user_defined(type, items)
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
            | (IntervalYear() | IntervalDay() | IntervalCompound() | UUID(), _)
            | (List() | Map() | Struct() | UserDefined(), _)
        ):
            raise InvalidPlanError(f"{node.value!r} cannot be the value of a {type} literal")
        case ((Func() | Unbound()), _):
            raise AssertionError("nothing carries these types")
        case other, _:
            assert_never(other)


def string_literal(value: str) -> str:
    r"""Return a string literal, whatever characters it has.

    Letters, digits, punctuation and symbols of all scripts stay as they are; invisible and special characters are
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


def _long(type: Type, value: int) -> str:
    _bounded(type, value, 64)
    return f"{value}L"


def _special(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def _single(value: float) -> str:
    if not math.isfinite(value):
        return f"CAST('{_special(value)}' AS FLOAT)"
    single = struct.unpack("f", struct.pack("f", value))[0]
    if single != value:
        raise InvalidPlanError(f"{value!r} is not an fp32 number")
    if abs(value) > 3e38:
        # the parser compares with the exact value of the largest float, and the shortest text of that is above it
        return f"CAST({value!r}D AS FLOAT)"
    for digits in range(1, 9):
        text = f"{value:.{digits}g}"
        if struct.unpack("f", struct.pack("f", float(text)))[0] == value:
            return f"{text}F"
    return f"{value:.9g}F"


def _decimal(type: Decimal, value: decimal.Decimal) -> str:
    if not value.is_finite():
        raise InvalidPlanError(f"{value} cannot be the value of a {type} literal")
    text = f"{value:f}"
    whole, _, fraction = text.lstrip("-").partition(".")
    digits = len(whole.lstrip("0")) + len(fraction)
    if len(fraction) != type.scale or digits > type.precision:
        raise InvalidPlanError(f"{text} is not a {type}")
    # the type that the parser gives it: as many digits as needed, at least one, and no fewer than the scale
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
    if not 0 <= value < _SECONDS_OF_DAY * units_per_second(precision):
        raise InvalidPlanError(f"{value} is not within the day as a {type}")
    if precision > FINEST:
        return _long(type, value)
    text = f"TIME'{_clock(value * units_per_second(FINEST - precision))}'"
    return text if precision == FINEST else f"CAST({text} AS TIME({precision}))"


def _months(type: Type, value: int) -> str:
    if abs(value) > _MOST_MONTHS:
        raise InvalidPlanError(f"{value} months are too many for a {type}", hint="It has at most 10,000 years")
    sign = "-" if value < 0 else ""
    return f"INTERVAL '{sign}{abs(value) // 12}-{abs(value) % 12}' YEAR TO MONTH"


def _day_time(type: Type, parts: DayTime, precision: int) -> str:
    # only the sum counts, so a fraction may hold whole seconds
    units = units_per_second(precision)
    most = _MOST_DAYS * _SECONDS_OF_DAY * units
    components = (parts.days * _SECONDS_OF_DAY * units, parts.seconds * units, parts.subseconds)
    if any(abs(number) > most for number in (*components, sum(components))):
        raise InvalidPlanError(
            f"{parts.days} days, {parts.seconds} seconds and {parts.subseconds} parts are too long for a {type}",
            hint=f"It has at most {_MOST_DAYS:,} days",
        )
    total = sum(components)
    if precision > FINEST:
        return _decimal(Decimal(precision=38, scale=0), decimal.Decimal(total))
    days, rest = divmod(abs(total) * units_per_second(FINEST - precision), _MICROS_OF_DAY)
    return f"INTERVAL '{'-' if total < 0 else ''}{days} {_clock(rest)}' DAY TO SECOND"


def _map(items: tuple[object, ...], carrier: str) -> str:
    if not items:
        return f"CAST(map() AS {carrier})"
    keys: set[str] = set()
    parts: list[str] = []
    for item in items:
        assert isinstance(item, tuple)
        key, value = item
        if key.value is None:
            raise InvalidPlanError("a key of a map literal is null")
        if isinstance(key.value, float) and key.value == 0 and math.copysign(1, key.value) < 0:
            raise UnsupportedPlanError("a key of a map literal is -0.0, which a map of Spark holds as 0.0")
        text = literal(key)
        if text in keys:
            raise UnsupportedPlanError(f"the key {text} stands twice in a map literal, and a map of Spark has it once")
        keys.add(text)
        parts += [text, literal(value)]
    return f"map({', '.join(parts)})"


def _user_defined(type: UserDefined, items: tuple[object, ...]) -> str:
    """Return the value in the form of the type's structure: its fields, or its only part if that isn't a struct."""
    structure = type.structure
    assert structure is not None, "a type without structure has no carrier"
    fields = [item for item in items if isinstance(item, Literal)]
    wanted = structure.types if isinstance(structure, Struct) else (structure,)
    if len(fields) != len(wanted) or not all(
        same_type(one.type, other) for one, other in zip(fields, wanted, strict=True)
    ):
        given = ", ".join(str(item.type) for item in fields)
        raise InvalidPlanError(f"a literal of {type} has the fields ({given})", hint=f"{type} is made of {structure}")
    if any(item.value is None and not other.nullable for item, other in zip(fields, wanted, strict=True)):
        raise InvalidPlanError(f"a field of a literal of {type} is null", hint=f"{type} is made of {structure}")
    bits = unsigned_bits(type)
    if bits is not None:
        return _unsigned(type, fields[0].value, bits)
    return _struct(items, spark_type(type)) if isinstance(structure, Struct) else literal(fields[0])


def _unsigned(type: UserDefined, value: object, bits: int) -> str:
    if not isinstance(value, str) or not value.isascii() or not value.isdigit():
        raise InvalidPlanError(f"{value!r} cannot be the value of a {type} literal", hint="It is a decimal number")
    number = int(value)
    if number >= 1 << bits:
        raise InvalidPlanError(f"{value} is too large for a {type}", hint=f"The largest is {(1 << bits) - 1}")
    match bits:
        case 8:
            return f"{number}S"
        case 16:
            return str(number)
        case 32:
            return f"{number}L"
        case _:
            return _decimal(Decimal(precision=20, scale=0), decimal.Decimal(number))


def _struct(items: tuple[object, ...], carrier: str) -> str:
    if not items:
        return f"CAST(named_struct() AS {carrier})"
    fields = [f"'{field_name(i)}', {literal(item)}" for i, item in enumerate(items) if isinstance(item, Literal)]
    return f"named_struct({', '.join(fields)})"
