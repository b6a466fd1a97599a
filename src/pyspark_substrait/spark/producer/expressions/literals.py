"""Literals."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable, Mapping
from typing import Any, Final

from pyspark_substrait.errors import UnsupportedPlanError
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.literals import DayTime, Literal
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    Boolean,
    Date,
    Decimal,
    IntervalDay,
    IntervalYear,
    PrecisionTimestamp,
    String,
    Type,
)
from pyspark_substrait.spark.producer.catalyst import Node
from pyspark_substrait.spark.producer.scope import Scope
from pyspark_substrait.spark.producer.types import type_of

__all__ = ["FORMS"]


def literal(node: Node, scope: Scope) -> Expression:
    """A literal: by its text where that says it exactly, else by its value in the JVM."""
    text, json = node.value("value"), node.value("dataType")
    type = type_of(json, text is None)
    if text is None:
        return Literal(type=type, value=None)
    read = _BY_TEXT.get(type.__class__)
    return Literal(type=type, value=_of_java(node, type) if read is None else read(text, type))


def _decimal(text: str, type: Type) -> decimal.Decimal:
    assert isinstance(type, Decimal)
    with decimal.localcontext(decimal.Context(prec=100)):
        return decimal.Decimal(text).quantize(decimal.Decimal(1).scaleb(-type.scale))


def _date(text: str, type: Type) -> int:
    return (datetime.date.fromisoformat(text) - datetime.date(1970, 1, 1)).days


def _day_time(text: str, type: Type) -> DayTime:
    microseconds = int(text)
    sign = -1 if microseconds < 0 else 1
    seconds, rest = divmod(abs(microseconds), 1_000_000)
    days, seconds = divmod(seconds, 86_400)
    return DayTime(sign * days, sign * seconds, sign * rest)


_BY_TEXT: Final[Mapping[type, Callable[[str, Any], Any]]] = {
    Boolean: lambda text, type: text == "true",
    I8: lambda text, type: int(text),
    I16: lambda text, type: int(text),
    I32: lambda text, type: int(text),
    I64: lambda text, type: int(text),
    FP32: lambda text, type: float(text),
    FP64: lambda text, type: float(text),
    String: lambda text, type: text,
    Decimal: _decimal,
    Date: _date,
    PrecisionTimestamp: lambda text, type: int(text),
    IntervalYear: lambda text, type: int(text),
    IntervalDay: _day_time,
}


def _of_java(node: Node, type: Type) -> Any:
    raise UnsupportedPlanError(f"the literal {node.sql} of {type} can't go out yet")


FORMS: Final = {"Literal": literal}
