"""Translate literals: by the text in the JSON if that is exact, else by the value in the JVM."""

from __future__ import annotations

import datetime
import decimal
import re
import struct
from collections.abc import Callable, Mapping
from typing import Any, Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.literals import Compound, DayTime, Literal
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    Binary,
    Boolean,
    Date,
    Decimal,
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
)
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.scope import Scope
from pyspark_substrait.spark.producer.types import type_of

__all__ = ["FORMS", "day_time", "of_java"]

_MICROS: Final = 1_000_000
_SECONDS_OF_DAY: Final = 86_400
_EPOCH: Final = datetime.date(1970, 1, 1).toordinal()
_PLAIN_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
#: the longest interval of the specification
_MOST_MONTHS: Final = 120_000
_MOST_DAYS: Final = 3_650_000
#: the replacement character for invalid bytes
_REPLACED: Final = "\ufffd"


def literal(node: Node, scope: Scope) -> Expression:
    """Translate a literal.

    Raises:
        UnsupportedPlanError: its type, or its value, can't be in a plan.
    """
    text, json = node.value("value"), node.value("dataType")
    type = type_of("boolean" if json == "void" else json, text is None)  # the use of a null casts it to a type
    if text is None:
        return Literal(type=type, value=None)
    read = _BY_TEXT.get(type.__class__)
    value = None if read is None else read(text, type)
    return Literal(type=type, value=of_java(node.java.value(), node.java.dataType(), type) if value is None else value)


def day_time(microseconds: int) -> DayTime:
    """Return the interval of a number of microseconds, whose parts all have its sign.

    Raises:
        UnsupportedPlanError: it is longer than the specification allows.
    """
    sign = -1 if microseconds < 0 else 1
    seconds, rest = divmod(abs(microseconds), _MICROS)
    if seconds + (rest > 0) > _MOST_DAYS * _SECONDS_OF_DAY:
        raise UnsupportedPlanError(
            f"an interval of {microseconds} microseconds is too long for a plan",
            hint=f"It has at most {_MOST_DAYS:,} days",
        )
    days, seconds = divmod(seconds, _SECONDS_OF_DAY)
    return DayTime(sign * days, sign * seconds, sign * rest)


def _months(months: int) -> int:
    if abs(months) > _MOST_MONTHS:
        raise UnsupportedPlanError(
            f"an interval of {months} months is too long for a plan", hint=f"It has at most {_MOST_MONTHS:,} months"
        )
    return months


def _single(value: float) -> float:
    """Round a number to 32 bits."""
    found: float = struct.unpack("f", struct.pack("f", value))[0]
    return found


def _decimal(text: str, type: Type) -> decimal.Decimal:
    assert isinstance(type, Decimal)
    with decimal.localcontext(decimal.Context(prec=100)):
        return decimal.Decimal(text).quantize(decimal.Decimal(1).scaleb(-type.scale))


def _date(text: str, type: Type) -> int | None:
    """Return the days since 1970; None if the text isn't a plain date."""
    if _PLAIN_DATE.fullmatch(text) is None or text < "0001":
        return None
    return datetime.date.fromisoformat(text).toordinal() - _EPOCH


_BY_TEXT: Final[Mapping[type, Callable[[str, Any], Any]]] = {
    Boolean: lambda text, type: text == "true",
    I8: lambda text, type: int(text),
    I16: lambda text, type: int(text),
    I32: lambda text, type: int(text),
    I64: lambda text, type: int(text),
    FP32: lambda text, type: _single(float(text)),
    FP64: lambda text, type: float(text),
    String: lambda text, type: None if _REPLACED in text else text,
    Decimal: _decimal,
    Date: _date,
    IntervalYear: lambda text, type: _months(int(text)),
    IntervalDay: lambda text, type: day_time(int(text)),
}


def of_java(value: Any, java_type: Any, type: Type) -> Any:
    """Convert a value of the JVM, which isn't null, to the value of a literal."""
    match type:
        case Boolean() | I8() | I16() | I32() | I64() | Date() | PrecisionTimestamp() | PrecisionTimestampTZ():
            return value
        case FP32():
            return _single(value)
        case FP64():
            return value
        case String():
            return _text(value)
        case Binary():
            return bytes(value)
        case Decimal():
            return _decimal(value.toString(), type)
        case PrecisionTime(precision=precision):
            return value // 10 ** (9 - precision)
        case IntervalYear():
            return _months(value)
        case IntervalDay():
            return day_time(value)
        case IntervalCompound():
            return _compound(value)
        case List(type=element):
            return _elements(value, java_type.elementType(), element)
        case Map(key=key, value=item):
            keys = _elements(value.keyArray(), java_type.keyType(), key)
            return tuple(zip(keys, _elements(value.valueArray(), java_type.valueType(), item), strict=True))
        case Struct(types=types):
            kinds = [java_type.fields()[position].dataType() for position in range(len(types))]
            return tuple(_at(value, position, kinds[position], one) for position, one in enumerate(types))
        case _:
            raise UnsupportedPlanError(f"a literal of {type} cannot be in a plan")


def _elements(array: Any, java_type: Any, type: Type) -> tuple[Literal, ...]:
    return tuple(_at(array, position, java_type, type) for position in range(array.numElements()))


def _at(values: Any, position: int, java_type: Any, type: Type) -> Literal:
    """Return the literal at a position of an array or a row."""
    if values.isNullAt(position):
        return Literal(type=type, value=None)
    return Literal(type=type, value=of_java(values.get(position, java_type), java_type, type))


def _text(value: Any) -> str:
    try:
        return bytes(value.getBytes()).decode()
    except UnicodeDecodeError as error:
        raise UnsupportedPlanError(
            "a string literal has bytes that are not valid UTF-8", hint="Make it a BINARY"
        ) from error


def _compound(value: Any) -> Compound:
    from py4j.java_gateway import get_field

    days = int(get_field(value, "days"))
    rest = day_time(int(get_field(value, "microseconds")))
    if abs(days) > _MOST_DAYS:
        raise UnsupportedPlanError(f"an interval of {days} days is too long for a plan")
    seconds = rest.days * _SECONDS_OF_DAY + rest.seconds
    return Compound(_months(int(get_field(value, "months"))), days, seconds, rest.subseconds)


FORMS: Final = {"Literal": literal}
