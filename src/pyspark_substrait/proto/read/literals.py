"""``Expression.Literal`` messages."""

from __future__ import annotations

import decimal
import uuid
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from pyspark_substrait.codes import Code, Level
from pyspark_substrait.model import types
from pyspark_substrait.model.literals import AnyMessage, Compound, DayTime, Literal, LiteralValue
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.types import Type, TypeVariation, with_nullability
from pyspark_substrait.model.unbound import is_unbound
from pyspark_substrait.proto import messages
from pyspark_substrait.proto.read import arrow
from pyspark_substrait.proto.read.context import Reading, invalid
from pyspark_substrait.proto.read.quirks import unsigned_literal, whole_interval
from pyspark_substrait.proto.read.types import (
    SIMPLE,
    aliased_type,
    data_type,
    nested_type,
    type_parameter,
    user_defined,
    variation,
)

__all__ = ["CERTAIN_DAYS", "PLAIN", "any_message", "literal", "literals"]


class _Marks(NamedTuple):
    """The nullability and the variation of a literal's type, which the message has beside the value."""

    nullable: bool
    variation: TypeVariation | None


@lru_cache(maxsize=4096)
def _type(cls: Any, marks: _Marks, **parameters: Any) -> Any:
    """Return a type, shared by literals: a plan may have millions of the same type, which compare quickly then.

    Unbound if there is no such type, which has been reported before.
    """
    precision = parameters.get("precision", 1)
    scale = parameters.get("scale")
    possible = 0 <= precision <= 12 if scale is None else 1 <= precision <= 38 and 0 <= scale <= precision
    return cls(**marks._asdict(), **parameters) if possible else types.Unbound(nullable=True)


_Reader = Callable[[Any, _Marks, Reading, Path], Literal]


def any_message(message: Any) -> AnyMessage:
    """A ``google.protobuf.Any``."""
    return AnyMessage(message.type_url, message.value)


def literal(message: messages.Expression.Literal, reading: Reading, path: Path) -> Literal:
    """Read a literal. An invalid one keeps its type and its value as they are, if findings are collected.

    Raises:
        InvalidPlanError: it is missing, or its value is not one of its type.
    """
    kind = message.WhichOneof("literal_type")
    if kind is None:
        reading.fault(invalid("a literal is missing", path, code=Code.PROTO_MISSING_FIELD))
        return _NONE
    anchor = message.type_variation_reference
    plain = PLAIN.get(kind)
    if kind == "date":
        _check_date(message.date, reading, (path, kind))
    if plain is not None and anchor == 0:
        return Literal(type=plain[message.nullable], value=getattr(message, kind))
    marks = _Marks(message.nullable, None if anchor == 0 else variation(anchor, reading, path))
    value, path = getattr(message, kind), (path, kind)
    if plain is not None:
        cls: Any = plain[0].__class__
        if cls in _BITS:
            unsigned_literal(value, _BITS[cls], reading, path)
        return Literal(type=_type(cls, marks), value=value)
    return _READERS[kind](value, marks, reading, path)


#: 1000-01-01 and 9999-12-31, in days since 1970-01-01: the days that every engine has
CERTAIN_DAYS = (-354_285, 2_932_896)


def _check_date(days: int, reading: Reading, path: Path) -> None:
    if not CERTAIN_DAYS[0] <= days <= CERTAIN_DAYS[1]:
        what = f"day {days} since 1970-01-01 is before the year 1000 or behind 9999; not every engine has it"
        reading.find(_ILLEGAL, path, what, level=Level.WARNING)


def literals(messages: Any, reading: Reading, path: Path) -> tuple[Literal, ...]:
    """Several literals; ``path`` is that of the repeated field."""
    return tuple([literal(message, reading, (path, index)) for index, message in enumerate(messages)])


_BITS = {types.I32: 32, types.I64: 64}
_NONE = Literal(type=types.Unbound(nullable=True), value=None)
_ILLEGAL = Code.EXPRESSION_ILLEGAL_LITERAL

#: the kinds of literals that consist of a value only, and their types without variation: required and nullable
PLAIN: dict[str, tuple[Type, Type]] = {
    "boolean": SIMPLE["bool"],
    **{kind: SIMPLE[kind] for kind in ("i32", "i64", "fp32", "fp64", "string", "binary", "date")},
}


def _integer(cls: Any, bits: int) -> _Reader:
    limit = 1 << (bits - 1)

    def read(value: int, marks: _Marks, reading: Reading, path: Path) -> Literal:
        if not -limit <= value < limit:
            hint = f"An i{bits} is from {-limit} to {limit - 1}"
            reading.fault(invalid(f"{value} is out of range", path, hint, _ILLEGAL))
        return Literal(type=_type(cls, marks), value=value)

    return read


def _precision(value: Any, reading: Reading, path: Path) -> int:
    precision: int = value.precision
    if not 0 <= precision <= 12:
        hint = "It is from 0 (seconds) to 12 (picoseconds)"
        reading.fault(invalid(f"precision is {precision}", path, hint, Code.TYPE_MISMATCHED_PARAMETERS))
    return precision


def _months(value: Any, reading: Reading, path: Path) -> int:
    for name, most in (("years", 10_000), ("months", 120_000)):
        _at_most(value, name, most, reading, path)
    whole = 12 * value.years + value.months
    if abs(whole) > 120_000 and abs(value.years) <= 10_000 and abs(value.months) <= 120_000:
        what = f"{whole} months are more than 10,000 years, which is the range that the specification asks for"
        reading.find(_ILLEGAL, path, what, level=Level.WARNING)
    return int(12 * value.years + value.months)


def _at_most(value: Any, name: str, most: int, reading: Reading, path: Path) -> None:
    """Check that no single part of an interval exceeds the longest interval of the specification."""
    number = getattr(value, name)
    if abs(number) > most:
        hint = f"At most {most}, which are 10,000 years"
        reading.fault(invalid(f"{number} {name} are too many", (path, name), hint, _ILLEGAL))


def _interval_year(value: Any, marks: _Marks, reading: Reading, path: Path) -> Literal:
    return Literal(type=_type(types.IntervalYear, marks), value=_months(value, reading, path))


def _interval_day(value: Any, marks: _Marks, reading: Reading, path: Path) -> Literal:
    _at_most(value, "days", 3_650_000, reading, path)
    type = _type(types.IntervalDay, marks, precision=_precision(value, reading, path))
    whole_interval(value.seconds, value.subseconds, reading, path)
    return Literal(type=type, value=DayTime(value.days, value.seconds, value.subseconds))


def _interval_compound(value: Any, marks: _Marks, reading: Reading, path: Path) -> Literal:
    years, days = value.interval_year_to_month, value.interval_day_to_second
    type = _type(types.IntervalCompound, marks, precision=_precision(days, reading, (path, "interval_day_to_second")))
    _at_most(days, "days", 3_650_000, reading, (path, "interval_day_to_second"))
    months = _months(years, reading, (path, "interval_year_to_month"))
    return Literal(type=type, value=Compound(months, days.days, days.seconds, days.subseconds))


def _fixed_char(value: str, marks: _Marks, reading: Reading, path: Path) -> Literal:
    _not_empty(value, reading, path)
    return Literal(type=_type(types.FixedChar, marks, length=len(value)), value=value)


def _not_empty(value: str | bytes, reading: Reading, path: Path) -> None:
    if not value:
        what = "the value is empty, but a type of a fixed length has a length of at least 1"
        reading.find(Code.TYPE_MISMATCHED_PARAMETERS, path, what, level=Level.WARNING)


def _fixed_binary(value: bytes, marks: _Marks, reading: Reading, path: Path) -> Literal:
    _not_empty(value, reading, path)
    return Literal(type=_type(types.FixedBinary, marks, length=len(value)), value=value)


def _var_char(value: Any, marks: _Marks, reading: Reading, path: Path) -> Literal:
    if len(value.value) > value.length:
        fault = f"{len(value.value)} characters are too long for varchar<{value.length}>"
        place = path if reading.findings is None else (path, "value")
        reading.fault(invalid(fault, place, code=_ILLEGAL))
    return Literal(type=_type(types.VarChar, marks, length=value.length), value=value.value)


def _decimal(value: Any, marks: _Marks, reading: Reading, path: Path) -> Literal:
    if len(value.value) != 16:
        fault = f"a decimal has 16 bytes, this one {len(value.value)}"
        reading.fault(invalid(fault, (path, "value"), code=_ILLEGAL))
    possible = 1 <= value.precision <= 38 and 0 <= value.scale <= value.precision
    if not possible:
        fault = f"there is no decimal<{value.precision}, {value.scale}>"
        hint = "1 to 38 digits, some of them behind the point"
        reading.fault(invalid(fault, path, hint, Code.TYPE_MISMATCHED_PARAMETERS))
    # more bytes, or more digits after the point, would make a number that can't be printed
    number = int.from_bytes(value.value[:16], "little", signed=True)
    scale = value.scale if possible else 0
    digits = str(abs(number))
    if possible and len(digits) > value.precision:
        reading.fault(invalid(f"{number} has more than {value.precision} digits", (path, "value"), code=_ILLEGAL))
    exact = decimal.Decimal((int(number < 0), tuple(map(int, digits)), -scale))
    return Literal(type=_type(types.Decimal, marks, precision=value.precision, scale=value.scale), value=exact)


def _uuid(value: bytes, marks: _Marks, reading: Reading, path: Path) -> Literal:
    if len(value) != 16:
        reading.fault(invalid(f"a uuid has 16 bytes, this one {len(value)}", path, code=_ILLEGAL))
        value = value[:16].ljust(16, b"\0")
    return Literal(type=_type(types.UUID, marks), value=uuid.UUID(bytes=value))


def _precision_time(value: Any, marks: _Marks, reading: Reading, path: Path) -> Literal:
    precision = _precision(value, reading, path)
    if not 0 <= value.value < 86_400 * 10 ** min(max(precision, 0), 12):
        hint = "It counts from midnight, and a day has 86,400 seconds"
        reading.fault(invalid(f"{value.value} is not a time of day", path, hint, _ILLEGAL))
    return Literal(type=_type(types.PrecisionTime, marks, precision=precision), value=value.value)


def _precision_timestamp(cls: Any) -> _Reader:
    def read(value: Any, marks: _Marks, reading: Reading, path: Path) -> Literal:
        return Literal(type=_type(cls, marks, precision=_precision(value, reading, path)), value=value.value)

    return read


def _struct(value: Any, marks: _Marks, reading: Reading, path: Path) -> Literal:
    fields = literals(value.fields, reading, (path, "fields"))
    return Literal(type=_type(types.Struct, marks, types=tuple(field.type for field in fields)), value=fields)


def _list(value: Any, marks: _Marks, reading: Reading, path: Path) -> Literal:
    items = literals(value.values, reading, (path, "values"))
    if not items:
        fault = "a list without elements has no type"
        reading.fault(invalid(fault, path, "Use empty_list", Code.PROTO_MISSING_FIELD))
    element = _element_type(items, reading, (path, "values"))
    return Literal(type=_type(types.List, marks, type=element), value=items)


def _map(value: Any, marks: _Marks, reading: Reading, path: Path) -> Literal:
    whole, path = path, (path, "key_values")
    pairs = []
    for index, pair in enumerate(value.key_values):
        key = literal(pair.key, reading, ((path, index), "key"))
        if key.value is None:
            fault = "the key of a map is null"
            reading.fault(invalid(fault, ((path, index), "key"), code=Code.TYPE_MISMATCHED_NULLABILITY))
        pairs.append((key, literal(pair.value, reading, ((path, index), "value"))))
    if not pairs:
        place = path if reading.findings is None else whole
        reading.fault(invalid("a map without entries has no type", place, "Use empty_map", Code.PROTO_MISSING_FIELD))
    key_type = _element_type([key for key, _ in pairs], reading, path)
    value_type = _element_type([value for _, value in pairs], reading, path)
    return Literal(type=_type(types.Map, marks, key=key_type, value=value_type), value=tuple(pairs))


def _element_type(items: Any, reading: Reading, path: Path) -> Type:
    """The common type of all elements, nullable if one of them is."""
    if not items:
        return types.Unbound(nullable=True)
    type: Type = items[0].type
    for index, item in enumerate(items):
        merged = type if item.type == type else _merged(type, item.type)
        if merged is None:
            if reading.findings is None or not (is_unbound(item.type) or is_unbound(type)):
                fault = f"the element is {item.type}, those before are {type}"
                reading.fault(invalid(fault, (path, index), code=Code.TYPE_MISMATCH))
            continue
        type = merged
    return type


def _merged(left: Type, right: Type) -> Type | None:
    """The type that two types have in common apart from nullability; None if they differ otherwise."""
    nullable = left.nullable or right.nullable
    left, right = with_nullability(left, nullable), with_nullability(right, nullable)
    if left == right:
        return left
    if left.variation != right.variation:
        return None
    match left, right:
        case types.Struct(types=ones), types.Struct(types=others) if len(ones) == len(others):
            merged = [_merged(one, other) for one, other in zip(ones, others, strict=True)]
            fields = tuple(field for field in merged if field is not None)
            return replace(left, types=fields) if len(fields) == len(ones) else None
        case types.List(type=one), types.List(type=other):
            element = _merged(one, other)
            return None if element is None else replace(left, type=element)
        case types.Map(key=one_key, value=one_value), types.Map(key=other_key, value=other_value):
            key, value = _merged(one_key, other_key), _merged(one_value, other_value)
            return None if key is None or value is None else replace(left, key=key, value=value)
        case _:
            return None


def _null(value: Any, marks: _Marks, reading: Reading, path: Path) -> Literal:
    type = data_type(value, reading, path)
    if marks.variation is not None:
        fault, hint = "the variation of a null stands in its type", "Remove type_variation_reference beside it"
        reading.fault(invalid(fault, path, hint, Code.TYPE_MISMATCHED_VARIATION))
    if not type.nullable:
        reading.loose("required-null", path, f"a null of the required type {type}", "the nullable type")
    return Literal(type=with_nullability(type, True), value=None)


def _empty_list(value: Any, marks: _Marks, reading: Reading, path: Path) -> Literal:
    return Literal(type=_empty("list", value, marks, reading, path), value=())


def _empty_map(value: Any, marks: _Marks, reading: Reading, path: Path) -> Literal:
    return Literal(type=_empty("map", value, marks, reading, path), value=())


def _empty(kind: str, value: Any, marks: _Marks, reading: Reading, path: Path) -> Type:
    """The type of an empty list or map. Its message has the nullability; the variation is there or in the literal."""
    type = nested_type(kind, value, reading, path[0] if path else None)
    if marks.variation is None or marks.variation == type.variation:
        return type
    if type.variation is not None:
        fault = "the variation beside the literal differs from that in its type"
        reading.fault(invalid(fault, path, code=Code.TYPE_MISMATCHED_VARIATION))
    return replace(type, variation=marks.variation)


def _user_defined(value: Any, marks: _Marks, reading: Reading, path: Path) -> Literal:
    parameters = tuple(
        type_parameter(message, reading, ((path, "type_parameters"), index))
        for index, message in enumerate(value.type_parameters)
    )
    type: Type
    if value.WhichOneof("type_anchor_type") == "type_alias_reference":
        if parameters or marks.variation is not None:
            fault, hint = "a type alias brings its own parameters and variation", "Remove those of the literal"
            reading.fault(invalid(fault, path, hint, Code.TYPE_MISMATCHED_PARAMETERS))
        aliased = aliased_type(value.type_alias_reference, reading, path)
        if not isinstance(aliased, types.UserDefined | types.Unbound):
            fault = f"the type alias stands for {aliased}, which is not user-defined"
            reading.fault(invalid(fault, path, code=Code.TYPE_MISMATCH))
        type = types.AliasedType(type=aliased, nullable=marks.nullable)
    else:
        type = user_defined(value.type_reference, parameters, reading, path, **marks._asdict())
    content: LiteralValue
    match value.WhichOneof("val"):
        case "value":
            content = any_message(value.value)
            declared = reading.types.get(value.type_reference)
            if declared is not None and declared.urn == arrow.TYPES and not arrow.is_own(type):
                with reading.going_on(code=_ILLEGAL):
                    return arrow.literal(type, content, path)
        case "struct":
            content = literals(value.struct.fields, reading, ((path, "struct"), "fields"))
        case _:
            if not isinstance(type, types.Unbound):
                fault = f"the literal of type {type} has no value"
                reading.fault(invalid(fault, path, code=Code.PROTO_MISSING_FIELD))
            content = AnyMessage("", b"")
    return Literal(type=type, value=content)


_READERS: dict[str, _Reader] = {
    "i8": _integer(types.I8, 8),
    "i16": _integer(types.I16, 16),
    "interval_year_to_month": _interval_year,
    "interval_day_to_second": _interval_day,
    "interval_compound": _interval_compound,
    "fixed_char": _fixed_char,
    "var_char": _var_char,
    "fixed_binary": _fixed_binary,
    "decimal": _decimal,
    "precision_time": _precision_time,
    "precision_timestamp": _precision_timestamp(types.PrecisionTimestamp),
    "precision_timestamp_tz": _precision_timestamp(types.PrecisionTimestampTZ),
    "struct": _struct,
    "map": _map,
    "uuid": _uuid,
    "null": _null,
    "list": _list,
    "empty_list": _empty_list,
    "empty_map": _empty_map,
    "user_defined": _user_defined,
}
