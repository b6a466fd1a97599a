"""Literals into ``Expression.Literal`` messages."""

from __future__ import annotations

import decimal
import uuid
from typing import Any, TypeVar, cast

from typing_extensions import assert_never

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model import types
from pyspark_substrait.model.literals import AnyMessage, Compound, DayTime, Literal
from pyspark_substrait.proto.write.context import Declarations
from pyspark_substrait.proto.write.types import data_type, list_type, map_type, type_parameters

__all__ = ["any_message", "literal", "literals"]

_Text = TypeVar("_Text", str, bytes)
_Pairs = tuple[tuple[Literal, Literal], ...]


def any_message(message: AnyMessage, into: Any) -> None:
    """Write a custom message into a ``google.protobuf.Any``."""
    into.SetInParent()
    into.type_url = message.type_url
    into.value = message.value


def literals(items: tuple[Literal, ...], into: Any, declarations: Declarations) -> None:
    """Write literals into a repeated field."""
    for item in items:
        literal(item, into.add(), declarations)


def literal(node: Literal, into: Any, declarations: Declarations) -> None:
    """Write a literal.

    Raises:
        InvalidPlanError: the value is not one of its type.
    """
    type = node.type
    # The Substrait type determines the Python type of the value, which the annotations of the model can't express.
    value: Any = node.value
    if value is None:
        data_type(type, into.null, declarations)
        return
    if value == ():
        if isinstance(type, types.List):
            list_type(type, into.empty_list, declarations)
            return
        if isinstance(type, types.Map):
            map_type(type, into.empty_map, declarations)
            return
    match type:
        case types.Boolean():
            into.boolean = value
        case types.I8():
            into.i8 = value
        case types.I16():
            into.i16 = value
        case types.I32():
            into.i32 = value
        case types.I64():
            into.i64 = value
        case types.FP32():
            into.fp32 = value
        case types.FP64():
            into.fp64 = value
        case types.String():
            into.string = value
        case types.Binary():
            into.binary = value
        case types.Date():
            into.date = value
        case types.IntervalYear():
            _months(value, into.interval_year_to_month)
        case types.IntervalDay():
            _day_time(value, type.precision, into.interval_day_to_second)
        case types.IntervalCompound():
            _compound(value, type.precision, into.interval_compound)
        case types.UUID():
            into.uuid = cast(uuid.UUID, value).bytes
        case types.FixedChar():
            into.fixed_char = _of_length(value.ljust(type.length), type)
        case types.VarChar():
            into.var_char.value = value
            into.var_char.length = type.length
        case types.FixedBinary():
            into.fixed_binary = _of_length(value, type)
        case types.Decimal():
            into.decimal.value = _decimal_bytes(value, type)
            into.decimal.precision = type.precision
            into.decimal.scale = type.scale
        case types.PrecisionTime():
            _units(value, type.precision, into.precision_time)
        case types.PrecisionTimestamp():
            _units(value, type.precision, into.precision_timestamp)
        case types.PrecisionTimestampTZ():
            _units(value, type.precision, into.precision_timestamp_tz)
        case types.Struct():
            into.struct.SetInParent()
            literals(value, into.struct.fields, declarations)
        case types.List():
            literals(value, into.list.values, declarations)
        case types.Map():
            _map(value, into.map.key_values, declarations)
        case types.UserDefined():
            into.user_defined.type_reference = declarations.type(type)
            type_parameters(type.type_parameters, into.user_defined.type_parameters, declarations)
            _user_defined(value, into.user_defined, declarations)
        case types.AliasedType(type=types.UserDefined() as aliased):
            into.user_defined.type_alias_reference = declarations.alias(aliased)
            _user_defined(value, into.user_defined, declarations)
        case types.AliasedType() | types.Func() | types.Unbound():
            raise InvalidPlanError(f"there are no literals of type {type}")
        case _:
            assert_never(type)
    if type.nullable:
        into.nullable = True
    if type.variation is not None:
        into.type_variation_reference = declarations.variation(type.variation)


def _of_length(value: _Text, type: types.FixedChar | types.FixedBinary) -> _Text:
    """Return a value whose length is that of its type, which the message doesn't tell otherwise.

    Raises:
        InvalidPlanError: it has another length.
    """
    if len(value) != type.length:
        raise InvalidPlanError(f"{value!r} has the length {len(value)}, which is not that of a {type}")
    return value


def _months(months: int, into: Any) -> None:
    years = abs(months) // 12 * (-1 if months < 0 else 1)
    into.SetInParent()
    into.years, into.months = years, months - 12 * years


def _day_time(value: DayTime, precision: int, into: Any) -> None:
    into.SetInParent()
    into.days, into.seconds, into.subseconds, into.precision = *value, precision


def _compound(value: Compound, precision: int, into: Any) -> None:
    _months(value.months, into.interval_year_to_month)
    _day_time(DayTime(value.days, value.seconds, value.subseconds), precision, into.interval_day_to_second)


def _units(value: int, precision: int, into: Any) -> None:
    into.SetInParent()
    into.value, into.precision = value, precision


def _decimal_bytes(value: decimal.Decimal, type: types.Decimal) -> bytes:
    sign, digits, exponent = value.as_tuple()
    if exponent != -type.scale or len(digits) > type.precision:
        raise InvalidPlanError(
            f"{value} is no {type}", hint="It has exactly the digits behind the point that scale says"
        )
    number = int("".join(map(str, digits)))
    return (-number if sign else number).to_bytes(16, "little", signed=True)


def _map(pairs: _Pairs, into: Any, declarations: Declarations) -> None:
    for key, value in pairs:
        pair = into.add()
        literal(key, pair.key, declarations)
        literal(value, pair.value, declarations)


def _user_defined(value: Any, into: Any, declarations: Declarations) -> None:
    if isinstance(value, AnyMessage):
        any_message(value, into.value)
    else:
        into.struct.SetInParent()
        literals(value, into.struct.fields, declarations)
