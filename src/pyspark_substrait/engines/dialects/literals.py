"""Constants as dialects write them."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal as Number
from typing import Final
from uuid import UUID as Identifier

from sqlglot import exp

from pyspark_substrait.engines.dialects.tree import number, type_tree
from pyspark_substrait.model.literals import DayTime, Literal
from pyspark_substrait.model.types import (
    FP32,
    FP64,
    I8,
    I16,
    I32,
    I64,
    UUID,
    Binary,
    Boolean,
    Date,
    Decimal,
    FixedBinary,
    FixedChar,
    IntervalDay,
    IntervalYear,
    PrecisionTime,
    PrecisionTimestamp,
    PrecisionTimestampTZ,
    String,
    Type,
    VarChar,
    concrete,
)

__all__ = ["Literals", "moment_text", "with_exponent"]

_EPOCH: Final = datetime.datetime(1970, 1, 1)
#: the digits of a decimal; DuckDB takes a number of more, as 0.1 with 38 places, for a floating-point number
_MOST_DIGITS: Final = 38
_DAYS: Final = range(datetime.date.min.toordinal() - 719163, datetime.date.max.toordinal() - 719163 + 1)


def with_exponent(value: float) -> str:
    """Return a finite number as digits with an exponent, by which engines tell it from a decimal."""
    text = repr(value)
    return text if "e" in text else f"{text}e0"


def moment_text(units: int, precision: int) -> str | None:
    """Return a date and time as text, of units since 1970; None for a year that has no four digits."""
    seconds, fraction = divmod(units, 10**precision)
    if seconds // 86400 not in _DAYS:
        return None
    text = (_EPOCH + datetime.timedelta(seconds=seconds)).isoformat(" ")
    return f"{text}.{fraction:0{precision}}" if fraction else text


def _interval_text(node: Literal) -> str:
    """Return an interval as the numbers of its units."""
    if isinstance(node.value, int):
        return f"{node.value} months"
    type = concrete(node.type)
    assert isinstance(node.value, DayTime) and isinstance(type, IntervalDay)
    days, seconds, fraction = node.value
    micros = fraction * 10 ** (6 - type.precision)
    parts = [f"{count} {unit}" for count, unit in ((days, "days"), (seconds, "seconds"), (micros, "microseconds"))]
    return " ".join(part for part in parts if not part.startswith("0 ")) or "0 days"


@dataclass(frozen=True, slots=True, kw_only=True)
class Literals:
    """The forms of a dialect's constants.

    Args:
        sqlglot: sqlglot's name of the dialect.
        types: returns its type for a type of a plan.
        integer: the type of a plan whose integers are written as they are; others are cast.
        any_integer: whether those of the other types are, too.
        decimals: whether a number with a point is a decimal; if not, decimals are cast from texts.
        whole_digits: the most digits of a number without a point that may be a decimal.
        texts: whether a text is of the type of texts; if not, it is cast where that counts.
        infinite: whether texts of infinities and NaN are cast to floating-point numbers.
        double: returns a floating-point number that is written as it is; None where it is cast from a text.
        bytes: returns a binary value.
        intervals: whether it has intervals.
    """

    sqlglot: str
    types: Callable[[Type], str | None]
    integer: type[Type]
    any_integer: bool = False
    decimals: bool = True
    whole_digits: int = _MOST_DIGITS
    texts: bool = True
    infinite: bool = True
    double: Callable[[float], str | None] = lambda value: None
    bytes: Callable[[bytes], exp.Expression | None] = lambda value: None

    def __call__(self, node: Literal, plain: bool) -> exp.Expression | None:
        """Return a constant that isn't null, or None if it has no form."""
        type = concrete(node.type)
        if self.types(type) is None:
            return None
        match type, node.value:
            case Boolean(), bool(value):
                return exp.true() if value else exp.false()
            case ((I8() | I16() | I32() | I64()), int(value)):
                if value == -(2**63):  # the digits alone are too large
                    return exp.Paren(this=exp.Sub(this=number(value + 1), expression=number(1)))
                fits = isinstance(type, self.integer) and value != -(2**31)
                return number(value) if plain or fits or self.any_integer else self._cast(number(value), type)
            case ((FP32() | FP64()), float(value)):
                return self._float(value, type)
            case Decimal(), Number() as value:
                text = f"{value:f}"
                most = _MOST_DIGITS if "." in text else self.whole_digits
                if not self.decimals or sum(map(str.isdigit, text)) > most:
                    return self._cast(exp.Literal.string(text), type)
                made: exp.Expression = exp.Literal.number(text.lstrip("-"))
                made = exp.Neg(this=made) if text.startswith("-") else made
                return made if plain else self._cast(made, type)
            case ((String() | VarChar() | FixedChar()), str(text)):
                if "\0" in text:
                    return None
                made = exp.Literal.string(text)
                return made if plain or self.texts else self._cast(made, type)
            case Date(), int(days):
                return self._cast(exp.Literal.string(_date(days)), type) if days in _DAYS else None
            case PrecisionTime(precision=precision), int(units):
                found = moment_text(units, precision)
                return None if found is None else self._cast(exp.Literal.string(found.partition(" ")[2]), type)
            case PrecisionTimestamp(precision=precision), int(units):
                found = moment_text(units, precision)
                return None if found is None else self._cast(exp.Literal.string(found), type)
            case PrecisionTimestampTZ(precision=precision), int(units):
                found = moment_text(units, precision)
                return None if found is None else self._cast(exp.Literal.string(f"{found}+00:00"), type)
            case ((IntervalYear() | IntervalDay()), _):
                return self._cast(exp.Literal.string(_interval_text(node)), type)
            case UUID(), Identifier() as identifier:
                return self._cast(exp.Literal.string(str(identifier)), type)
            case ((Binary() | FixedBinary()), bytes(content)):
                return self.bytes(content)
            case _:
                return None

    def _float(self, value: float, type: Type) -> exp.Expression | None:
        if not math.isfinite(value):
            text = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
            return self._cast(exp.Literal.string(text), type) if self.infinite else None
        found = self.double(value) if isinstance(type, FP64) else None
        if found is None:
            return self._cast(exp.Literal.string(repr(value)), type)
        made: exp.Expression = exp.Literal.number(found.lstrip("-"))
        return exp.Neg(this=made) if found.startswith("-") else made

    def _cast(self, value: exp.Expression, type: Type) -> exp.Expression:
        text = self.types(type)
        assert text is not None
        return exp.Cast(this=value, to=type_tree(text, self.sqlglot).copy())


def _date(days: int) -> str:
    return datetime.date.fromordinal(719163 + days).isoformat()
