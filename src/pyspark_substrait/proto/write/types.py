"""Types into ``Type`` messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from typing_extensions import assert_never

from pyspark_substrait.errors import InvalidPlanError
from pyspark_substrait.model import types
from pyspark_substrait.model.types import NamedStruct, Struct, Type, TypeParameter
from pyspark_substrait.proto import messages
from pyspark_substrait.proto.write.context import Declarations

__all__ = ["data_type", "list_type", "map_type", "named_struct", "struct", "type_parameters"]

_NULLABLE = messages.Type.NULLABILITY_NULLABLE
_REQUIRED = messages.Type.NULLABILITY_REQUIRED


def data_type(type: Type, into: Any, declarations: Declarations) -> None:
    """Write a type into a ``Type`` message."""
    match type:
        case types.Boolean():
            _marks(type, into.bool, declarations)
        case types.I8():
            _marks(type, into.i8, declarations)
        case types.I16():
            _marks(type, into.i16, declarations)
        case types.I32():
            _marks(type, into.i32, declarations)
        case types.I64():
            _marks(type, into.i64, declarations)
        case types.FP32():
            _marks(type, into.fp32, declarations)
        case types.FP64():
            _marks(type, into.fp64, declarations)
        case types.String():
            _marks(type, into.string, declarations)
        case types.Binary():
            _marks(type, into.binary, declarations)
        case types.Date():
            _marks(type, into.date, declarations)
        case types.IntervalYear():
            _marks(type, into.interval_year, declarations)
        case types.IntervalDay():
            into.interval_day.precision = type.precision
            _marks(type, into.interval_day, declarations)
        case types.IntervalCompound():
            into.interval_compound.precision = type.precision
            _marks(type, into.interval_compound, declarations)
        case types.UUID():
            _marks(type, into.uuid, declarations)
        case types.FixedChar():
            into.fixed_char.length = type.length
            _marks(type, into.fixed_char, declarations)
        case types.VarChar():
            into.varchar.length = type.length
            _marks(type, into.varchar, declarations)
        case types.FixedBinary():
            into.fixed_binary.length = type.length
            _marks(type, into.fixed_binary, declarations)
        case types.Decimal():
            into.decimal.precision = type.precision
            into.decimal.scale = type.scale
            _marks(type, into.decimal, declarations)
        case types.PrecisionTime():
            into.precision_time.precision = type.precision
            _marks(type, into.precision_time, declarations)
        case types.PrecisionTimestamp():
            into.precision_timestamp.precision = type.precision
            _marks(type, into.precision_timestamp, declarations)
        case types.PrecisionTimestampTZ():
            into.precision_timestamp_tz.precision = type.precision
            _marks(type, into.precision_timestamp_tz, declarations)
        case types.OpenStruct():
            raise InvalidPlanError("the columns of an extension relation are not known, so no type can be made of them")
        case types.Struct():
            struct(type, into.struct, declarations)
        case types.List():
            list_type(type, into.list, declarations)
        case types.Map():
            map_type(type, into.map, declarations)
        case types.Func():
            _all(type.parameter_types, into.func.parameter_types, declarations)
            data_type(type.return_type, into.func.return_type, declarations)
            into.func.nullability = _NULLABLE if type.nullable else _REQUIRED
        case types.Unbound():
            into.unbound.SetInParent()
        case types.UserDefined():
            into.user_defined.type_reference = declarations.type(type)
            type_parameters(type.type_parameters, into.user_defined.type_parameters, declarations)
            _marks(type, into.user_defined, declarations)
        case types.AliasedType():
            into.alias.type_alias_reference = declarations.alias(type.type)
            into.alias.nullability = _NULLABLE if type.nullable else _REQUIRED
        case _:
            assert_never(type)


def _marks(type: types.TypeBase, into: Any, declarations: Declarations) -> None:
    """Write the nullability and the variation of a type."""
    into.nullability = _NULLABLE if type.nullable else _REQUIRED
    if type.variation is not None:
        into.type_variation_reference = declarations.variation(type.variation)


def _all(written: Iterable[Type], into: Any, declarations: Declarations) -> None:
    for type in written:
        data_type(type, into.add(), declarations)


def struct(type: Struct, into: Any, declarations: Declarations) -> None:
    """Write a struct into a ``Type.Struct`` message."""
    _all(type.types, into.types, declarations)
    _marks(type, into, declarations)


def list_type(type: types.List, into: Any, declarations: Declarations) -> None:
    """Write a list into a ``Type.List`` message."""
    data_type(type.type, into.type, declarations)
    _marks(type, into, declarations)


def map_type(type: types.Map, into: Any, declarations: Declarations) -> None:
    """Write a map into a ``Type.Map`` message."""
    data_type(type.key, into.key, declarations)
    data_type(type.value, into.value, declarations)
    _marks(type, into, declarations)


def type_parameters(parameters: Iterable[TypeParameter], into: Any, declarations: Declarations) -> None:
    """Write the parameters of a user-defined type into a repeated field."""
    for parameter in parameters:
        item = into.add()
        match parameter.value:
            case None:
                item.null.SetInParent()
            case bool() | int() | str() as value:
                setattr(item, parameter.kind, value)
            case type:
                data_type(type, item.data_type, declarations)


def named_struct(schema: NamedStruct, into: Any, declarations: Declarations) -> None:
    """Write a schema into a ``NamedStruct`` message."""
    into.names.extend(schema.names)
    struct(schema.struct, into.struct, declarations)
