"""``Type`` and ``NamedStruct`` messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from substrait import type_pb2

from pyspark_substrait.model import types
from pyspark_substrait.model.paths import Path
from pyspark_substrait.model.plan import ExtensionKind
from pyspark_substrait.model.types import NamedStruct, Struct, Type, TypeParameter, TypeVariation, name_count
from pyspark_substrait.proto.read import arrow
from pyspark_substrait.proto.read.context import Reading, invalid

__all__ = [
    "SIMPLE",
    "data_type",
    "named_struct",
    "schema_struct",
    "struct",
    "type_parameter",
    "user_defined",
    "variation",
]


def data_type(message: type_pb2.Type, reading: Reading, path: Path) -> Type:
    """A type.

    Raises:
        InvalidPlanError: it is missing, refers to something undeclared, or a parameter is out of range.
    """
    kind = message.WhichOneof("kind")
    if kind is None:
        raise invalid("a type is missing", path)
    fields = getattr(message, kind)
    path = (path, kind)
    simple = SIMPLE.get(kind)
    if simple is None:
        return _READERS[kind](fields, reading, path)
    nullable = _nullable(fields.nullability, reading, path)
    anchor = fields.type_variation_reference
    if anchor == 0:
        return simple[nullable]
    return replace(simple[nullable], variation=variation(anchor, reading, path))


def _nullable(number: int, reading: Reading, path: Path) -> bool:
    if number == type_pb2.Type.NULLABILITY_REQUIRED:
        return False
    if number != type_pb2.Type.NULLABILITY_NULLABLE:
        if number != type_pb2.Type.NULLABILITY_UNSPECIFIED:
            raise invalid(f"nullability is {number}, which the specification doesn't have", path)
        reading.note_once("unspecified-nullability", path, "nullability is unspecified", "nullable")
    return True


def variation(anchor: int, reading: Reading, path: Path) -> TypeVariation | None:
    """The type variation of an anchor; None for 0, the system-preferred one, and for one that isn't declared."""
    if anchor == 0:
        return None
    declared = reading.variations.get(anchor)
    if declared is None:
        reading.note_once(
            "undeclared-variation",
            path,
            f"type_variation_reference {anchor} is not declared",
            "the system-preferred variation",
        )
        return None
    reading.used.add((ExtensionKind.TYPE_VARIATION, anchor))
    return TypeVariation(declared.urn, declared.name)


def _marks(fields: Any, reading: Reading, path: Path) -> dict[str, Any]:
    """What all types have."""
    anchor = fields.type_variation_reference
    return {
        "nullable": _nullable(fields.nullability, reading, path),
        "variation": None if anchor == 0 else variation(anchor, reading, path),
    }


def _in_range(value: int, name: str, low: int, high: int, path: Path) -> int:
    if not low <= value <= high:
        raise invalid(f"{name} is {value}", path, f"It is at least {low} and at most {high}")
    return value


_MAX_LENGTH = 2**31 - 1
_MAX_PRECISION = 12

_SIMPLE_CLASSES: dict[str, Any] = {
    "bool": types.Boolean,
    "i8": types.I8,
    "i16": types.I16,
    "i32": types.I32,
    "i64": types.I64,
    "fp32": types.FP32,
    "fp64": types.FP64,
    "string": types.String,
    "binary": types.Binary,
    "date": types.Date,
    "interval_year": types.IntervalYear,
    "uuid": types.UUID,
}
#: the types without parameters, required and nullable
SIMPLE: dict[str, tuple[Type, Type]] = {kind: (cls(), cls(nullable=True)) for kind, cls in _SIMPLE_CLASSES.items()}


def _with_precision(cls: Any) -> Callable[[Any, Reading, Path], Type]:
    def read(fields: Any, reading: Reading, path: Path) -> Type:
        precision = _in_range(fields.precision, "precision", 0, _MAX_PRECISION, path)
        made: Type = cls(precision=precision, **_marks(fields, reading, path))
        return made

    return read


def _with_length(cls: Any) -> Callable[[Any, Reading, Path], Type]:
    def read(fields: Any, reading: Reading, path: Path) -> Type:
        length = _in_range(fields.length, "length", 1, _MAX_LENGTH, path)
        made: Type = cls(length=length, **_marks(fields, reading, path))
        return made

    return read


def _interval_day(fields: Any, reading: Reading, path: Path) -> Type:
    if not fields.HasField("precision"):
        raise invalid("the precision of an interval_day is not set", path, "Set it, 0 for whole seconds")
    precision = _in_range(fields.precision, "precision", 0, _MAX_PRECISION, path)
    return types.IntervalDay(precision=precision, **_marks(fields, reading, path))


def _decimal(fields: Any, reading: Reading, path: Path) -> Type:
    precision = _in_range(fields.precision, "precision", 1, 38, path)
    scale = _in_range(fields.scale, "scale", 0, precision, path)
    return types.Decimal(precision=precision, scale=scale, **_marks(fields, reading, path))


def struct(fields: type_pb2.Type.Struct, reading: Reading, path: Path) -> Struct:
    """A struct type."""
    return Struct(types=_all(fields.types, reading, (path, "types")), **_marks(fields, reading, path))


def _all(messages: Any, reading: Reading, path: Path) -> tuple[Type, ...]:
    return tuple([data_type(message, reading, (path, index)) for index, message in enumerate(messages)])


def _list(fields: Any, reading: Reading, path: Path) -> Type:
    return types.List(type=data_type(fields.type, reading, (path, "type")), **_marks(fields, reading, path))


def _map(fields: Any, reading: Reading, path: Path) -> Type:
    key = data_type(fields.key, reading, (path, "key"))
    value = data_type(fields.value, reading, (path, "value"))
    return types.Map(key=key, value=value, **_marks(fields, reading, path))


def _func(fields: Any, reading: Reading, path: Path) -> Type:
    return types.Func(
        parameter_types=_all(fields.parameter_types, reading, (path, "parameter_types")),
        return_type=data_type(fields.return_type, reading, (path, "return_type")),
        nullable=_nullable(fields.nullability, reading, path),
    )


def _unbound(fields: Any, reading: Reading, path: Path) -> Type:
    return types.Unbound(nullable=True)


def _user_defined(fields: Any, reading: Reading, path: Path) -> Type:
    parameters = tuple(
        type_parameter(message, reading, ((path, "type_parameters"), index))
        for index, message in enumerate(fields.type_parameters)
    )
    return user_defined(fields.type_reference, parameters, reading, path, **_marks(fields, reading, path))


def user_defined(
    anchor: int,
    parameters: tuple[TypeParameter, ...],
    reading: Reading,
    path: Path,
    *,
    nullable: bool,
    variation: TypeVariation | None,
) -> Type:
    """The type that an extension declares, by the anchor it has in the message; for Arrow's, the standard one."""
    declared = reading.types.get(anchor)
    if declared is None:
        raise invalid(f"the type {anchor} is not declared", path, "Add an extension_type with this type_anchor")
    reading.used.add((ExtensionKind.TYPE, anchor))
    standard = arrow.standard_type(declared, reading, path, nullable=nullable)
    if standard is not None:
        return standard
    definition = reading.registry.type(declared.urn, declared.name)
    return types.UserDefined(
        urn=declared.urn if definition is None else definition.urn,
        name=declared.name if definition is None else definition.name,
        type_parameters=parameters,
        structure=None if definition is None else definition.structure,
        nullable=nullable,
        variation=variation,
    )


def type_parameter(message: type_pb2.Type.Parameter, reading: Reading, path: Path) -> TypeParameter:
    """One parameter of a user-defined type."""
    kind = message.WhichOneof("parameter")
    if kind is None:
        raise invalid("a type parameter is missing", path, "Write null to select the default")
    if kind == "null":
        return TypeParameter(kind, None)
    if kind == "data_type":
        return TypeParameter(kind, data_type(message.data_type, reading, (path, kind)))
    return TypeParameter(kind, getattr(message, kind))


def _alias(fields: Any, reading: Reading, path: Path) -> Type:
    nullable = _nullable(fields.nullability, reading, path)
    return types.AliasedType(type=aliased_type(fields.type_alias_reference, reading, path), nullable=nullable)


def aliased_type(anchor: int, reading: Reading, path: Path) -> Type:
    """The type that a type alias stands for."""
    if reading.aliases is None:
        raise invalid("an extended expression has no type aliases", path, "Spell the type out")
    if anchor not in reading.aliases:
        raise invalid(f"the type alias {anchor} is not declared", path)
    message, place = reading.aliases[anchor]
    if message.type.WhichOneof("kind") == "alias":
        raise invalid("a type alias can't be that of another alias", (place, "type"))

    def bind() -> Type:
        return data_type(message.type, reading, (place, "type"))

    return reading.once(reading.bound_aliases, anchor, ("alias", anchor), "a type alias", place, bind)


_READERS: dict[str, Callable[[Any, Reading, Path], Type]] = {
    "interval_day": _interval_day,
    "interval_compound": _with_precision(types.IntervalCompound),
    "fixed_char": _with_length(types.FixedChar),
    "varchar": _with_length(types.VarChar),
    "fixed_binary": _with_length(types.FixedBinary),
    "decimal": _decimal,
    "precision_time": _with_precision(types.PrecisionTime),
    "precision_timestamp": _with_precision(types.PrecisionTimestamp),
    "precision_timestamp_tz": _with_precision(types.PrecisionTimestampTZ),
    "struct": struct,
    "list": _list,
    "map": _map,
    "func": _func,
    "unbound": _unbound,
    "user_defined": _user_defined,
    "alias": _alias,
}


def schema_struct(message: type_pb2.Type.Struct, reading: Reading, path: Path) -> Struct:
    """The struct of a record, which is never null itself, whatever its nullability says."""
    if message.nullability == type_pb2.Type.NULLABILITY_NULLABLE:
        reading.loose("nullable-record", path, "the struct of a record is nullable", "required")
    return Struct(
        types=_all(message.types, reading, (path, "types")),
        variation=variation(message.type_variation_reference, reading, path),
    )


def named_struct(message: type_pb2.NamedStruct, reading: Reading, path: Path) -> NamedStruct:
    """A schema with names.

    Raises:
        InvalidPlanError: it has not as many names as named fields, nested ones included.
    """
    fields = schema_struct(message.struct, reading, (path, "struct"))
    names = tuple(message.names)
    check_names(names, fields, (path, "names"))
    return NamedStruct(names=names, struct=fields)


def check_names(names: tuple[str, ...], fields: Struct, path: Path) -> None:
    """Refuse names that aren't as many as the fields of ``fields``, nested ones included."""
    expected = name_count(fields)
    if len(names) != expected:
        raise invalid(
            f"there are {len(names)} names for {expected} fields",
            path,
            "Every field has a name, those of nested structs included, in depth-first order",
        )
