"""Random literals: common and extreme values of each type."""

from __future__ import annotations

import math
import random
import uuid
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from pyspark_substrait.model import types as t
from pyspark_substrait.model.expressions import Expression
from pyspark_substrait.model.literals import Compound, DayTime, Literal
from pyspark_substrait.model.types import Type, with_nullability
from pyspark_substrait.model.values import literal_of

__all__ = ["CONSTANTS", "EXTREMES", "VALUES", "constant", "literal", "null"]

_INTEGERS = (0, 1, -1, 2, 3, 7)
_TEXTS = ("", "a", "b", "abc", "A", " ", "a b", "é", "日本", "😀", "a%", "_", "1", "-2.5")
_SECOND = 1_000_000

#: values by type, in the forms that :func:`literal_of` takes
VALUES: Final[Mapping[type[Type], Callable[[Any], Sequence[object]]]] = {
    t.Boolean: lambda type: (True, False),
    t.I8: lambda type: _INTEGERS,
    t.I16: lambda type: _INTEGERS,
    t.I32: lambda type: _INTEGERS,
    t.I64: lambda type: _INTEGERS,
    t.FP32: lambda type: (0.0, 1.0, -1.5, 0.25, 100.0),
    t.FP64: lambda type: (0.0, 1.0, -1.5, 0.25, 100.0, 1e10),
    t.String: lambda type: _TEXTS,
    t.VarChar: lambda type: [text for text in _TEXTS if len(text) <= type.length],
    t.FixedChar: lambda type: [text for text in _TEXTS if len(text) <= type.length],
    t.Binary: lambda type: (b"", b"a", b"\0", b"\xff"),
    t.FixedBinary: lambda type: (b"\0" * type.length, b"a" * type.length),
    t.Decimal: lambda type: (
        [
            value.quantize(Decimal(1).scaleb(-type.scale))
            for value in (Decimal(0), Decimal(1), Decimal(-1))
            if type.precision > type.scale
        ]
        + [Decimal(1).scaleb(-type.scale), Decimal(0)]
    ),
    t.Date: lambda type: (),
    t.PrecisionTime: lambda type: (0, 10**type.precision, 86_399 * 10**type.precision),
    t.PrecisionTimestamp: lambda type: (0, -1, 1_709_251_199 * 10**type.precision),
    t.PrecisionTimestampTZ: lambda type: (0, -1, 1_711_848_600 * 10**type.precision),
    t.IntervalYear: lambda type: (0, 1, -1, 13),
    t.IntervalDay: lambda type: (
        DayTime(0, 0, 0), DayTime(1, 0, 0), DayTime(-1, 3600, 0), DayTime(30, 1, 0), DayTime(0, 1, _half(type)),
    ),
    t.IntervalCompound: lambda type: (
        Compound(0, 0, 0, 0), Compound(1, 1, 0, 0), Compound(-1, 0, 1, 0), Compound(0, 0, 1, _half(type)),
    ),
    t.UUID: lambda type: (uuid.UUID(int=0), uuid.UUID(int=2**128 - 1), uuid.UUID(int=1)),
}  # fmt: skip


def _half(type: Any) -> int:
    """Half a second in the smallest unit of a type; 0 if that is the second."""
    return int(10**type.precision // 2) if type.precision else 0


_DAYS = (0, -1, 19_782, 11_016, 10_957)

EXTREMES: Final[Mapping[type[Type], Sequence[object]]] = {
    t.I8: (-128, 127),
    t.I16: (-(2**15), 2**15 - 1),
    t.I32: (-(2**31), 2**31 - 1),
    t.I64: (-(2**63), 2**63 - 1),
    t.FP32: (math.nan, math.inf, -math.inf, -0.0),
    t.FP64: (math.nan, math.inf, -math.inf, -0.0, 1e308, 5e-324),
}
"""Values at the ends of the types' ranges."""

CONSTANTS: Final[Mapping[str, tuple[object, ...]]] = {
    "pattern": ("a", "a.*", "[ab]+", "^b", "x|y", ""),
    "match": ("a%", "%b", "_", "%", "a", "%b%"),
    "format": ("%Y-%m-%d", "%H:%M", "%Y"),
    "timestamp_format": ("%Y-%m-%d %H:%M:%S",),
    "date_string": ("2024-02-29",),
    "timezone": ("UTC", "America/New_York", "Asia/Tokyo"),
    "characters": ("a", "ab", " ", ""),
}
"""Arguments that make sense for few values only, by their names in extension files."""


def null(type: Type) -> Literal:
    """Return the null of a type."""
    return Literal(type=with_nullability(type, True), value=None)


def literal(type: Type, chance: random.Random, *, nulls: float = 0.15, extremes: float = 0.05) -> Expression:
    """Return a random literal; null only where the type is nullable. A text may be one of few, so that values meet."""
    if type.nullable and chance.random() < nulls:
        return null(type)
    return literal_of(_value(type, chance, extremes), type)


def constant(name: str, type: Type, chance: random.Random) -> Expression:
    """Return a literal for an argument that should be a constant, by its name."""
    values = CONSTANTS.get(name, ())
    if values and isinstance(type, t.String | t.VarChar | t.FixedChar):
        value = chance.choice(values)
        if isinstance(type, t.String) or (isinstance(value, str) and len(value) <= type.length):
            return literal_of(value, with_nullability(type, False))
    return literal(with_nullability(type, False), chance, extremes=0.0)


def _value(type: Type, chance: random.Random, extremes: float) -> object:
    if type.__class__ in EXTREMES and chance.random() < extremes:
        return chance.choice(EXTREMES[type.__class__])
    match type:
        case t.Date():
            return Literal(type=type, value=chance.choice(_DAYS))
        case t.List(type=element):
            return [_part(element, chance) for _ in range(chance.randrange(4))]
        case t.Struct(types=types):
            return [_part(field, chance) for field in types]
        case t.Map(key=key, value=value):
            keys = {_value(key, chance, 0.0) for _ in range(chance.randrange(3))}
            return [(item, _part(value, chance)) for item in sorted(keys, key=repr)]
    return chance.choice(VALUES[type.__class__](type))


def _part(type: Type, chance: random.Random) -> object:
    return None if type.nullable and chance.random() < 0.2 else _value(type, chance, 0.0)
